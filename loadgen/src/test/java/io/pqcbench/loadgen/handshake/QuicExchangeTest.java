package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.QuicServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class QuicExchangeTest {

  private static final ServerOptions DEFAULTS = ServerOptions.defaults();

  private static Plans to(InetSocketAddress address) {
    return Plans.to(address.getPort());
  }

  private static LoadPlan quic(Plans plans) {
    return plans.plan().over(LoadPlan.Transport.QUIC);
  }

  private static ServerFacts preflight(LoadPlan plan) throws PreflightException {
    return new Preflight(plan, NanoClock.SYSTEM).run();
  }

  /** What a run makes of one arrival, by what a preflight had found. */
  private static QuicExchange run(LoadPlan plan, ServerFacts facts) throws Exception {
    return run(plan, facts, attempt -> {});
  }

  private static QuicExchange run(LoadPlan plan, ServerFacts facts, Consumer<Attempt> eachTurn)
      throws Exception {
    ManualIoEventLoop loop =
        new ManualIoEventLoop(Thread.currentThread(), EpollIoHandler.newFactory());
    int[] told = new int[1];
    try (Client client = Client.of(plan, facts, NanoClock.SYSTEM);
        Connections connections = client.connections(loop, finished -> told[0]++, null)) {
      QuicExchange exchange = (QuicExchange) connections.prepare(null, false);
      long begin = NanoClock.SYSTEM.nanos();
      exchange.start(
          7, begin, new InetSocketAddress(InetAddress.getLoopbackAddress(), plan.target().port()));
      while (!exchange.isClosed()) {
        loop.run(5_000_000L);
        eachTurn.accept(exchange.attempt());
        if (NanoClock.SYSTEM.nanos() - begin > plan.limits().timeoutNanos()) {
          exchange.expire();
        }
      }
      // What is left in the loop must tell nothing twice.
      loop.runNow();
      assertThat(told[0]).as("times that the owner was told").isEqualTo(1);
      return exchange;
    } finally {
      loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
      while (!loop.isTerminated()) {
        loop.runNow();
      }
    }
  }

  @Test
  void anExchangeHasItsGroupVerifiedAndItsMilestonesInOrder() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false)) {
      LoadPlan plan = quic(to(server.address()));
      ServerFacts facts = preflight(plan);

      Attempt attempt = run(plan, facts).attempt();

      assertThat(attempt.failure()).isNull();
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.group()).isEqualTo(NamedGroup.X25519MLKEM768.codePoint());
      assertThat(attempt.cipherSuite()).isEqualTo(CipherSuites.codePoint(facts.cipherSuite()));
      assertThat(ExchangeTest.instants(attempt))
          .as("all but the settings of HTTP/2")
          .hasSize(Milestone.values().length - 1)
          .isSorted();
      assertThat(attempt.nanos(Phase.CONNECT)).as("there is none").isEqualTo(Attempt.UNSET);
      assertThat(attempt.nanos(Phase.HANDSHAKE)).isPositive();
      assertThat(attempt.bodyBytes()).isEqualTo(3);
      assertThat(attempt.handshakeBytesOut())
          .as("two Initial packets of the ClientHello and the last flight")
          .isBetween(3 * 1200L, attempt.bytesOut());
      assertThat(attempt.handshakeBytesIn()).isBetween(1200L, attempt.bytesIn());
      assertThat(attempt.recordsOut()).as("datagrams").isBetween(3, 20);
      assertThat(attempt.localPort()).isPositive();
      assertThat(attempt.rttMicros()).isBetween(1L, 300_000L);
      assertThat(server.requests()).isEqualTo(2);
      assertThat(server.handshakes()).isEqualTo(2);
    }
  }

  /** What follows the ServerHello is held back for 50 ms after the client has read that. */
  @Test
  void theWaitForTheRestOfTheServersFlightIsInTheFlight() throws Exception {
    long wait = 50_000_000L;
    CountDownLatch read = new CountDownLatch(1);
    InetAddress here = InetAddress.getLoopbackAddress();
    try (QuicServer server = QuicServer.start(DEFAULTS, false);
        DatagramSocket front = new DatagramSocket(0, here);
        DatagramSocket back = new DatagramSocket(0, here)) {
      LoadPlan plan = quic(to(server.address()));
      ServerFacts facts = preflight(plan);
      AtomicReference<SocketAddress> client = new AtomicReference<>();
      relay(
          front,
          back,
          datagram -> {
            client.set(datagram.getSocketAddress());
            datagram.setSocketAddress(new InetSocketAddress(here, server.address().getPort()));
          });
      AtomicBoolean begun = new AtomicBoolean();
      relay(
          back,
          front,
          datagram -> {
            if (begun.get()) {
              read.await();
            }
            // One that only acknowledges is shorter.
            begun.compareAndSet(false, datagram.getLength() >= 1_000);
            datagram.setSocketAddress(client.get());
          });
      Attempt attempt =
          run(
                  quic(Plans.to(front.getLocalPort())),
                  facts,
                  now -> {
                    if (now.bytesIn() >= 1_000 && read.getCount() > 0) {
                      long from = System.nanoTime();
                      while (System.nanoTime() - from < wait) {
                        LockSupport.parkNanos(wait);
                      }
                      read.countDown();
                    }
                  })
              .attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.nanos(Phase.FLIGHT)).isGreaterThanOrEqualTo(wait);
      assertThat(ExchangeTest.instants(attempt)).isSorted();
    }
  }

  /** Sends what a socket receives by another, changed. */
  private static void relay(DatagramSocket from, DatagramSocket to, Change change) {
    Thread thread =
        new Thread(
            () -> {
              byte[] bytes = new byte[2000];
              try {
                while (true) {
                  DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
                  from.receive(packet);
                  change.make(packet);
                  to.send(packet);
                }
              } catch (IOException | InterruptedException e) {
                return; // It was closed.
              }
            },
            "relay");
    thread.setDaemon(true);
    thread.start();
  }

  private interface Change {
    void make(DatagramPacket packet) throws InterruptedException;
  }

  @Test
  void thePreflightDescribesTheServer() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false)) {
      ServerFacts facts = preflight(quic(to(server.address())));

      assertThat(facts.protocol()).isEqualTo("TLSv1.3");
      assertThat(facts.group()).isEqualTo("X25519MLKEM768");
      assertThat(facts.keyShares()).containsExactly("X25519MLKEM768:1216");
      assertThat(facts.serverKeyShareBytes()).isEqualTo(1120);
      assertThat(facts.clientHelloBytes()).isGreaterThan(1216);
      assertThat(facts.helloRetryRequest()).isFalse();
      assertThat(facts.certificate().keyType()).isEqualTo("EC 256");
      assertThat(facts.certificate().trust()).isEqualTo("pinned");
      assertThat(facts.quic()).isEqualTo(new ServerFacts.QuicFacts(false));
      assertThat(facts.alpn()).isEqualTo("hq-interop");
      assertThat(facts.ticketsIssued()).isNull();
    }
  }

  @Test
  void anotherGroupThanInThePreflightIsNoSuccess() throws Exception {
    try (QuicServer other = QuicServer.start(DEFAULTS.withGroups("X25519"), false);
        QuicServer server = QuicServer.start(DEFAULTS, false)) {
      Plans plans = to(server.address()).groups(NamedGroup.X25519MLKEM768, NamedGroup.X25519);
      plans.trust(LoadPlan.Trust.INSECURE, null);
      ServerFacts facts = preflight(quic(plans));
      LoadPlan plan = quic(plans.target(to(other.address()).plan().target()));

      Attempt attempt = run(plan, facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.WRONG_GROUP);
      assertThat(attempt.lastReached()).isEqualTo(Milestone.SECURED);
      assertThat(attempt.group()).isEqualTo(NamedGroup.X25519.codePoint());
    }
  }

  @Test
  void aHelloRetryRequestIsSeen() throws Exception {
    try (QuicServer onlyP384 = QuicServer.start(DEFAULTS.withGroups("P-384"), false)) {
      // The client sends a share for the first classical group only.
      LoadPlan plan = quic(to(onlyP384.address()).groups(NamedGroup.X25519, NamedGroup.P384));
      ServerFacts facts = preflight(plan);

      Attempt attempt = run(plan, facts).attempt();

      assertThat(facts.helloRetryRequest()).isTrue();
      assertThat(attempt.outcome()).isEqualTo(Outcome.HELLO_RETRY);
    }
  }

  @Test
  void noCommonGroupIsTheServersAlert() throws Exception {
    try (QuicServer classical = QuicServer.start(DEFAULTS.withGroups("X25519"), false);
        QuicServer server = QuicServer.start(DEFAULTS, false)) {
      Plans plans = to(server.address()).trust(LoadPlan.Trust.INSECURE, null);
      ServerFacts facts = preflight(quic(plans));

      Attempt attempt =
          run(quic(plans.target(to(classical.address()).plan().target())), facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_ALERT);
      assertThat(TlsAlert.name(attempt.detail())).isEqualTo("handshake_failure");
      assertThatThrownBy(() -> preflight(quic(to(classical.address()))))
          .isInstanceOf(PreflightException.class)
          .hasMessageContaining("it does accept: X25519");
    }
  }

  @Test
  void anotherCertificateThanThePinnedOneIsRefused() throws Exception {
    try (QuicServer other = QuicServer.start(DEFAULTS, false);
        QuicServer server = QuicServer.start(DEFAULTS, false)) {
      Plans plans = to(server.address());
      ServerFacts facts = preflight(quic(plans));

      Attempt attempt =
          run(quic(plans.target(to(other.address()).plan().target())), facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.CERTIFICATE_CHANGED);
      assertThat(attempt.failure()).hasMessageContaining("CN=server.example");
      assertThat(attempt.reached(Milestone.HELLO_RECEIVED)).isTrue();
    }
  }

  @Test
  void aRetryIsExpectedOfAServerThatSentOneInThePreflight() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, true)) {
      LoadPlan plan = quic(to(server.address()));
      ServerFacts facts = preflight(plan);

      QuicExchange exchange = run(plan, facts);

      assertThat(facts.quic().retry()).isTrue();
      assertThat(exchange.attempt().failure()).isNull();
      assertThat(exchange.attempt().outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(exchange.retried()).isTrue();
      assertThat(exchange.attempt().group()).isEqualTo(NamedGroup.X25519MLKEM768.codePoint());
    }
  }

  @Test
  void aRetryThatThePreflightDidNotSeeIsNoSuccess() throws Exception {
    try (QuicServer asks = QuicServer.start(DEFAULTS, true);
        QuicServer server = QuicServer.start(DEFAULTS, false)) {
      Plans plans = to(server.address()).trust(LoadPlan.Trust.INSECURE, null);
      ServerFacts facts = preflight(quic(plans));

      Attempt attempt =
          run(quic(plans.target(to(asks.address()).plan().target())), facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.QUIC_RETRY);
    }
  }

  @Test
  void aServerOfOtherVersionsIsNamedWithThem() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false);
        DatagramSocket other = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      ServerFacts facts = preflight(quic(to(server.address())));
      Thread thread = new Thread(() -> negotiate(other));
      // Ends when the socket is closed.
      thread.setDaemon(true);
      thread.start();

      Attempt attempt = run(quic(Plans.to(other.getLocalPort()).timeout(2)), facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.QUIC_VERSION);
      assertThat(attempt.failure()).hasMessageContaining("spoken=0xff00001d");
    }
  }

  /** Answers every packet as a server that speaks draft 29 only (RFC 9000, section 17.2.1). */
  private static void negotiate(DatagramSocket socket) {
    byte[] bytes = new byte[2000];
    DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
    try {
      while (true) {
        socket.receive(packet);
        int destination = bytes[5];
        int source = bytes[6 + destination];
        ByteBuffer answer = ByteBuffer.allocate(100);
        answer.put((byte) 0x80).putInt(0);
        answer.put((byte) source).put(bytes, 7 + destination, source);
        answer.put((byte) destination).put(bytes, 6, destination);
        answer.putInt(0xff00001d);
        socket.send(
            new DatagramPacket(answer.array(), answer.position(), packet.getSocketAddress()));
      }
    } catch (IOException e) {
      return; // It was closed.
    }
  }

  @Test
  void aPortThatNobodyListensOnIsRefused() throws Exception {
    LoadPlan plan;
    ServerFacts facts;
    try (QuicServer server = QuicServer.start(DEFAULTS, false)) {
      plan = quic(to(server.address()));
      facts = preflight(plan);
    }

    Attempt attempt = run(plan, facts).attempt();

    assertThat(attempt.outcome()).isEqualTo(Outcome.TCP_REFUSED);
    assertThatThrownBy(() -> preflight(plan)).hasMessageContaining("nothing listens on UDP at");
  }

  @Test
  void aServerThatSaysNothingIsATimeoutOfTheHandshake() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false);
        DatagramSocket mute = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      ServerFacts facts = preflight(quic(to(server.address())));
      LoadPlan plan = quic(Plans.to(mute.getLocalPort()).timeout(0.3));

      Attempt attempt = run(plan, facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_TIMEOUT);
      assertThat(attempt.lastReached()).isEqualTo(Milestone.HELLO_SENT);
      assertThatThrownBy(() -> preflight(plan)).hasMessageContaining("answers no packet of QUIC");
    }
  }

  @Test
  void anAnswerThatIsLateIsATimeoutOfTheResponse() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false);
        QuicServer slow = QuicServer.start(DEFAULTS.withDelayNanos(5_000_000_000L), false)) {
      Plans plans = to(server.address()).trust(LoadPlan.Trust.INSECURE, null);
      ServerFacts facts = preflight(quic(plans));

      Attempt attempt =
          run(quic(plans.target(to(slow.address()).plan().target()).timeout(0.5)), facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.HTTP_TIMEOUT);
      assertThat(attempt.lastReached()).isEqualTo(Milestone.REQUEST_SENT);
    }
  }

  @Test
  void withoutARequestTheHandshakeIsAll() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false)) {
      LoadPlan plan = quic(to(server.address()).handshakeOnly());

      Attempt attempt = run(plan, preflight(plan)).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.at(Milestone.DONE)).isEqualTo(attempt.at(Milestone.SECURED));
      assertThat(attempt.nanos(Phase.TTFB)).isEqualTo(Attempt.UNSET);
      assertThat(attempt.group()).isEqualTo(NamedGroup.X25519MLKEM768.codePoint());
    }
  }

  @Test
  void aLongBodyIsReadToItsEnd() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false)) {
      Plans plans = to(server.address()).path("/bytes/1000000");

      LoadPlan plan = quic(plans.expectBytes(1_000_000));
      assertThat(run(plan, preflight(plan)).attempt().bodyBytes()).isEqualTo(1_000_000);

      ServerFacts facts = preflight(plan);
      Attempt attempt = run(quic(plans.expectBytes(999_999)), facts).attempt();
      assertThat(attempt.outcome()).isEqualTo(Outcome.WRONG_LENGTH);
    }
  }

  @Test
  void aRequestThatIsRefusedIsAnErrorOfHttp() throws Exception {
    try (QuicServer server = QuicServer.start(DEFAULTS, false)) {
      ServerFacts facts = preflight(quic(to(server.address())));

      Attempt attempt = run(quic(to(server.address()).path("/none")), facts).attempt();

      assertThat(attempt.outcome()).isEqualTo(Outcome.HTTP_ERROR);
      assertThat(attempt.failure()).hasMessageContaining("reset the stream: applicationError=0x1");
    }
  }

  @Test
  void whatQuicHasNotIsRefusedInThePlan() {
    assertThatThrownBy(() -> quic(Plans.to(1).pooled(2, 0))).hasMessageContaining("--session");
    assertThatThrownBy(() -> quic(Plans.to(1).tls("1.2").groups(NamedGroup.X25519)))
        .hasMessageContaining("TLS 1.3 only");
    assertThatThrownBy(() -> quic(Plans.to(1).headers("A: b"))).hasMessageContaining("HTTP/0.9");
    assertThatThrownBy(() -> quic(Plans.to(1).close(LoadPlan.Close.RST)))
        .hasMessageContaining("--close rst");
  }
}

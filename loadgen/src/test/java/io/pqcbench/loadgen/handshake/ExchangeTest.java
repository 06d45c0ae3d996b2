package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.plan.TlsStack;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ExchangeTest {

  private static Attempt once(LoadPlan plan) throws Exception {
    try (OneShot shot = OneShot.afterPreflight(plan)) {
      return shot.run();
    }
  }

  private static EmbeddedServer server() throws Exception {
    return EmbeddedServer.start(ServerOptions.defaults());
  }

  /** The milestones that were reached. */
  static long[] instants(Attempt attempt) {
    long[] instants = new long[Milestone.values().length];
    attempt.copyMilestones(instants, 0);
    return Arrays.stream(instants).filter(instant -> instant != Attempt.UNSET).toArray();
  }

  @ParameterizedTest
  @EnumSource(LoadPlan.Close.class)
  void timesEveryPhaseOfASuccessAndThePhasesAddUp(LoadPlan.Close close) throws Exception {
    try (EmbeddedServer server = server()) {
      Attempt attempt = once(Plans.to(server.address().getPort()).close(close).plan());

      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.detail()).isEqualTo(200);
      assertThat(attempt.bodyBytes()).isEqualTo(3);
      // ClientHello, ChangeCipherSpec, Finished, request.
      assertThat(attempt.recordsOut()).isEqualTo(4);
      // ServerHello, ChangeCipherSpec, EncryptedExtensions to Finished in one or more, response.
      assertThat(attempt.recordsIn()).isGreaterThanOrEqualTo(4);
      assertThat(attempt.localPort()).isPositive();
      assertThat(instants(attempt)).hasSize(Milestone.values().length - 1).isSorted();
      assertThat(attempt.reached(Milestone.SETTINGS_RECEIVED)).isFalse();
      for (Phase phase : Phase.ALL) {
        if (phase != Phase.SETTINGS) {
          assertThat(attempt.nanos(phase)).as(phase.label()).isNotNegative();
        }
      }
      assertThat(attempt.nanos(Phase.LAG) + attempt.nanos(Phase.SERVICE))
          .isEqualTo(attempt.nanos(Phase.RESPONSE));
      assertThat(
              attempt.nanos(Phase.HELLO)
                  + attempt.nanos(Phase.FLIGHT)
                  + attempt.nanos(Phase.FINISH))
          .isEqualTo(attempt.nanos(Phase.HANDSHAKE));
    }
  }

  @Test
  void sendsThe198BytesOfAnX25519HelloAnd64ToFinish() throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot =
            OneShot.blind(Plans.to(server.address().getPort()).groups(NamedGroup.X25519).plan())) {
      Attempt attempt = shot.run();

      assertThat(shot.exchange.client.recordBytes()).isEqualTo(198);
      assertThat(attempt.group()).isEqualTo(NamedGroup.X25519.codePoint());
      assertThat(attempt.handshakeBytesOut()).isEqualTo(198 + finished(attempt));
    }
  }

  @Test
  void sendsThe1382BytesOfAHybridHello() throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot = OneShot.blind(Plans.to(server.address().getPort()).plan())) {
      Attempt attempt = shot.run();

      ClientHello hello = shot.exchange.client.hello();
      assertThat(shot.exchange.client.recordBytes()).isEqualTo(1382);
      assertThat(hello.keyShares()).isEqualTo(1);
      assertThat(hello.keyShareGroup(0)).isEqualTo(0x11EC);
      assertThat(hello.keyShareLength(0)).isEqualTo(1216);
      assertThat(hello.pskOffered()).isFalse();
      assertThat(attempt.handshakeBytesOut()).isEqualTo(1382 + finished(attempt));
    }
  }

  @Test
  void offersBothVersionsWithTheSharesAndTheSizeOfAClientThatLeavesThemAtTheirDefaults()
      throws Exception {
    try (EmbeddedServer server = server();
        OneShot classical =
            OneShot.blind(
                Plans.to(server.address().getPort())
                    .tls("1.2,1.3")
                    .groups(NamedGroup.X25519)
                    .sni(null)
                    .plan());
        OneShot mixed =
            OneShot.blind(
                Plans.to(server.address().getPort())
                    .tls("1.2,1.3")
                    .groups(
                        NamedGroup.X25519MLKEM768,
                        NamedGroup.X25519,
                        NamedGroup.P256,
                        NamedGroup.P384,
                        NamedGroup.P521)
                    .sni(null)
                    .plan())) {
      assertThat(classical.run().outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(classical.exchange.client.recordBytes()).isEqualTo(224);
      assertThat(mixed.run().outcome()).isEqualTo(Outcome.SUCCESS);
      ClientHello hello = mixed.exchange.client.hello();
      assertThat(mixed.exchange.client.recordBytes()).isGreaterThanOrEqualTo(1450);
      assertThat(hello.keyShares()).isEqualTo(2);
      assertThat(hello.keyShareGroup(0)).isEqualTo(0x11EC);
      assertThat(hello.keyShareGroup(1)).isEqualTo(0x001D);
    }
  }

  /**
   * ChangeCipherSpec (6) and Finished in a record: header 5, message 4 and the hash, type 1, tag
   * 16.
   */
  private static int finished(Attempt attempt) {
    return 6 + 5 + 4 + (attempt.cipherSuite() == 0x1302 ? 48 : 32) + 1 + 16;
  }

  @Test
  void theHybridGroupCosts1184MoreBytesOutAnd1088MoreIn() throws Exception {
    try (EmbeddedServer server = server()) {
      Attempt classical =
          once(Plans.to(server.address().getPort()).groups(NamedGroup.X25519).plan());
      Attempt hybrid = once(Plans.to(server.address().getPort()).plan());

      assertThat(hybrid.handshakeBytesOut() - classical.handshakeBytesOut()).isEqualTo(1184);
      // An ECDSA signature in DER is 70 to 72 bytes long.
      assertThat(hybrid.handshakeBytesIn() - classical.handshakeBytesIn())
          .isBetween(1088L - 4, 1088L + 4);
    }
  }

  /** RFC 6066, section 3: a name, also one without a dot, but no address. */
  @ParameterizedTest
  @CsvSource({"server.example,server.example", "nginx,nginx", "127.0.0.1,", "::1,", ","})
  void sendsAServerNameThatIsAName(String given, String sent) throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot = OneShot.blind(Plans.to(server.address().getPort()).sni(given).plan())) {
      assertThat(shot.run().outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(shot.exchange.client.hello().serverName()).isEqualTo(sent);
    }
  }

  @Test
  void aListOfAClassicalAndAHybridGroupSendsBothKeyShares() throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot =
            OneShot.blind(
                Plans.to(server.address().getPort())
                    .groups(NamedGroup.X25519, NamedGroup.X25519MLKEM768)
                    .plan())) {
      shot.run();

      assertThat(shot.exchange.client.hello().keyShares()).isEqualTo(2);
      assertThat(shot.exchange.client.recordBytes()).isEqualTo(1420);
    }
  }

  @Test
  void countsAHelloRetryRequestAsItsOwnOutcome() throws Exception {
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withGroups(List.of("P-256")))) {
      LoadPlan plan =
          Plans.to(server.address().getPort()).groups(NamedGroup.X25519, NamedGroup.P256).plan();
      assertThat(new Preflight(plan, NanoClock.SYSTEM).run().helloRetryRequest()).isTrue();
      assertThat(once(plan).outcome()).isEqualTo(Outcome.HELLO_RETRY);
    }
  }

  @Test
  void tellsWhenAnotherGroupIsNegotiatedThanExpected() throws Exception {
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withGroups(List.of("X25519")))) {
      LoadPlan plan =
          Plans.to(server.address().getPort())
              .groups(NamedGroup.X25519MLKEM768, NamedGroup.X25519)
              .expectGroup(NamedGroup.X25519MLKEM768)
              .plan();
      Attempt attempt = once(plan);
      assertThat(attempt.outcome()).isEqualTo(Outcome.WRONG_GROUP);
      assertThat(attempt.group()).isEqualTo(NamedGroup.X25519.codePoint());
    }
  }

  @Test
  void tellsWhenAnotherSuiteIsNegotiatedThanExpected() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan =
          Plans.to(server.address().getPort()).expectCipher("TLS_CHACHA20_POLY1305_SHA256").plan();
      assertThat(once(plan).outcome()).isEqualTo(Outcome.WRONG_CIPHER);
    }
  }

  @Test
  void neverResumesByItselfWhateverTheServerOffers() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTickets(true));
        OneShot shot = OneShot.blind(Plans.to(server.address().getPort()).plan())) {
      for (int i = 0; i < 3; i++) {
        assertThat(shot.run().outcome()).isEqualTo(Outcome.SUCCESS);
        assertThat(shot.exchange.client.hello().pskOffered()).isFalse();
        assertThat(shot.exchange.server.hello().pskSelected()).isFalse();
      }
    }
  }

  @Test
  void tellsWhenTheServerPresentsAnotherCertificateThanInThePreflight() throws Exception {
    LoadPlan plan;
    ServerFacts facts;
    int port;
    try (EmbeddedServer first = server()) {
      port = first.address().getPort();
      plan = Plans.to(port).plan();
      facts = new Preflight(plan, NanoClock.SYSTEM).run();
      assertThat(facts.certificate().trust()).isEqualTo("pinned");
    }
    try (EmbeddedServer second = EmbeddedServer.start(ServerOptions.defaults().withPort(port));
        OneShot shot = new OneShot(plan, new TlsClient(plan, facts, NanoClock.SYSTEM))) {
      assertThat(second.address().getPort()).isEqualTo(port);
      assertThat(shot.run().outcome()).isEqualTo(Outcome.CERTIFICATE_CHANGED);
    }
  }

  @Test
  void theWaitWithinTheServersFlightIsInTheFlightAndKnownApart() throws Exception {
    CountDownLatch read = new CountDownLatch(1);
    try (EmbeddedServer server = server();
        RudeServer between =
            new RudeServer(
                client -> {
                  try (Socket to =
                      new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
                    byte[] hello = new byte[16_384];
                    to.getOutputStream().write(hello, 0, client.getInputStream().read(hello));
                    InputStream in = to.getInputStream();
                    byte[] head = in.readNBytes(5);
                    client.getOutputStream().write(head);
                    client
                        .getOutputStream()
                        .write(in.readNBytes((head[3] & 0xFF) << 8 | (head[4] & 0xFF)));
                    read.await();
                    in.transferTo(client.getOutputStream());
                  } catch (InterruptedException e) {
                    throw new IOException(e);
                  }
                });
        OneShot shot = OneShot.blind(Plans.to(between.port()).handshakeOnly().plan())) {
      long[] hello = {Attempt.UNSET};
      Attempt attempt =
          shot.run(
              now -> {
                if (read.getCount() > 0 && now.reached(Milestone.HELLO_RECEIVED)) {
                  hello[0] = now.at(Milestone.HELLO_RECEIVED);
                  read.countDown();
                }
              });

      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.flightGapNanos()).isPositive();
      assertThat(attempt.at(Milestone.HELLO_RECEIVED) - attempt.flightGapNanos())
          .isEqualTo(hello[0]);
    }
  }

  @Test
  void aHandshakeWithoutARequestIsDoneWhenItIsSecured() throws Exception {
    try (EmbeddedServer server = server()) {
      Attempt attempt = once(Plans.to(server.address().getPort()).handshakeOnly().plan());

      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.at(Milestone.DONE)).isEqualTo(attempt.at(Milestone.SECURED));
      assertThat(attempt.reached(Milestone.REQUEST_SENT)).isFalse();
      assertThat(attempt.bytesOut()).isEqualTo(attempt.handshakeBytesOut());
    }
  }

  @Test
  void aHandshakeThatIsResetWithoutARequestIsCompleteAtTheServerToo() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan =
          Plans.to(server.address().getPort()).handshakeOnly().close(LoadPlan.Close.RST).plan();
      assertThat(once(plan).outcome()).isEqualTo(Outcome.SUCCESS);
      // The preflight's and this one.
      Awaitility.await().until(() -> server.handshakes() == 2);
    }
  }

  @Test
  void readsLargeBodiesToTheirEnd() throws Exception {
    try (EmbeddedServer server = server()) {
      Attempt attempt = once(Plans.to(server.address().getPort()).path("/bytes/1000000").plan());
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.bodyBytes()).isEqualTo(1_000_000);
      assertThat(attempt.bytesIn()).isGreaterThan(1_000_000);
    }
  }

  /** Far more than the buffers of both sockets hold, so the client has to wait for the server. */
  @Test
  void aRequestThatTheSocketDoesNotTakeAtOnceIsSentAsItDoes() throws Exception {
    X509Bundle certificate =
        new CertificateBuilder()
            .ecp256()
            .setIsCertificateAuthority(true)
            .subject("CN=server.example")
            .buildSelfSigned();
    try (JdkTlsServer server = new JdkTlsServer(certificate, null);
        OneShot shot =
            OneShot.blind(
                Plans.to(server.port())
                    .groups(NamedGroup.X25519)
                    .headers("X-Long: " + "a".repeat(20_000_000))
                    .plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.bytesOut()).isGreaterThan(20_000_000);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"BORINGSSL", "BC"})
  void offersNoVersionThatWasNotAskedFor(TlsStack stack) throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot =
            OneShot.blind(
                Plans.to(server.address().getPort())
                    .stack(stack)
                    .tls("1.2")
                    .groups(NamedGroup.P256)
                    .plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_ALERT);
      assertThat(attempt.detail()).isEqualTo(TlsAlert.PROTOCOL_VERSION);
      assertThat(shot.exchange.client.hello().keyShares()).isZero();
    }
  }

  @Test
  void speaksTls12WithAClassicalGroup() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTls("1.2"))) {
      Attempt attempt =
          once(
              Plans.to(server.address().getPort())
                  .tls("1.2")
                  .groups(NamedGroup.X25519, NamedGroup.P256)
                  .plan());
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.reached(Milestone.HELLO_RECEIVED)).isTrue();
    }
  }

  @Test
  void aClientCertificateThatIsMissingOrNotAcceptedIsTheServersAlert(@TempDir Path directory)
      throws Exception {
    X509Bundle known = identity("CN=known").buildSelfSigned();
    X509Bundle stranger = identity("CN=stranger").buildSelfSigned();
    Path cert = Files.writeString(directory.resolve("c.pem"), stranger.getCertificatePEM());
    Path key = Files.writeString(directory.resolve("c.key"), stranger.getPrivateKeyPEM());
    try (JdkTlsServer server =
        new JdkTlsServer(identity("CN=server.example").buildSelfSigned(), known)) {
      Plans plans = Plans.to(server.port()).groups(NamedGroup.X25519);
      try (OneShot missing = OneShot.blind(plans.plan());
          OneShot wrong = OneShot.blind(plans.clientCertificate(cert, key).plan())) {
        // Complete here, because the server answers to the last that it is sent.
        Attempt attempt = missing.run();
        assertThat(attempt.reached(Milestone.SECURED)).isTrue();
        assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_ALERT);
        // Of older JDKs the one, of newer ones the other.
        assertThat(TlsAlert.name(attempt.detail())).isIn("bad_certificate", "certificate_required");
        attempt = wrong.run();
        assertThat(attempt.reached(Milestone.SECURED)).isTrue();
        assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_ALERT);
        assertThat(TlsAlert.name(attempt.detail())).isEqualTo("certificate_unknown");
      }
    }
  }

  private static CertificateBuilder identity(String subject) {
    return new CertificateBuilder().ecp256().subject(subject).setIsCertificateAuthority(true);
  }

  @Test
  void connectsFromTheSourceAddressThatIsAskedFor() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan =
          Plans.to(server.address().getPort()).sources(InetAddress.getByName("127.0.0.9")).plan();
      assertThat(once(plan).outcome()).isEqualTo(Outcome.SUCCESS);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = TlsStack.class,
      names = {"BORINGSSL", "BC"})
  void aProxyHeaderGoesOutWithTheClientHelloAndIsInNoCount(TlsStack stack) throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        OneShot shot =
            OneShot.blind(
                Plans.to(listener.getLocalPort())
                    .stack(stack)
                    .proxyProtocol(LoadPlan.ProxyProtocol.V1)
                    .plan())) {
      CompletableFuture<byte[]> first =
          CompletableFuture.supplyAsync(
              () -> {
                byte[] some = new byte[4_096];
                try (Socket socket = listener.accept()) {
                  return Arrays.copyOf(some, socket.getInputStream().read(some));
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      Attempt attempt = shot.run();

      String header =
          "PROXY TCP4 127.0.0.1 127.0.0.1 %d %d\r\n"
              .formatted(attempt.localPort(), listener.getLocalPort());
      String read = new String(first.join(), StandardCharsets.ISO_8859_1);
      int hello = shot.exchange.client.recordBytes();
      assertThat(hello).as("with a key share of X25519MLKEM768").isBetween(1216, 1500);
      assertThat(read).startsWith(header + (char) 22 + (char) 3).hasSize(header.length() + hello);
      assertThat(attempt.bytesOut()).isEqualTo(hello);
      assertThat(attempt.recordsOut()).isEqualTo(1);
    }
  }

  private static Outcome against(RudeServer.Manner manner, Plans plans) throws Exception {
    try (RudeServer rude = new RudeServer(manner);
        OneShot shot =
            OneShot.blind(
                plans
                    .target(new io.pqcbench.loadgen.plan.Target("127.0.0.1", rude.port(), "/"))
                    .plan())) {
      return shot.run().outcome();
    }
  }

  @Test
  void aServerThatClosesAfterAcceptIsClosedEarly() throws Exception {
    assertThat(against(RudeServer.CLOSES, Plans.to(1)))
        .isIn(Outcome.CLOSED_EARLY, Outcome.TCP_RESET);
  }

  @Test
  void aServerThatResetsAfterTheHelloIsAReset() throws Exception {
    assertThat(against(RudeServer.RESETS, Plans.to(1))).isEqualTo(Outcome.TCP_RESET);
  }

  @Test
  void aServerThatSaysNothingIsAHandshakeTimeout() throws Exception {
    assertThat(against(RudeServer.SILENT, Plans.to(1).timeout(0.2))).isEqualTo(Outcome.TLS_TIMEOUT);
  }

  @Test
  void aServerThatSpeaksPlainHttpIsNotTls() throws Exception {
    assertThat(against(RudeServer.PLAIN_HTTP, Plans.to(1))).isEqualTo(Outcome.TLS_ERROR);
  }

  @Test
  void aPortOnWhichNobodyListensRefuses() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    try (OneShot shot = OneShot.blind(Plans.to(port).plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.TCP_REFUSED);
      assertThat(attempt.lastReached()).isEqualTo(Milestone.STARTED);
    }
  }

  @Test
  void aServerWithoutACommonGroupSendsAnAlertThatIsNamed() throws Exception {
    try (EmbeddedServer server =
            EmbeddedServer.start(ServerOptions.defaults().withGroups(List.of("P-256")));
        OneShot shot = OneShot.blind(Plans.to(server.address().getPort()).plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_ALERT);
      assertThat(TlsAlert.name(attempt.detail())).isEqualTo("handshake_failure");
    }
  }

  @Test
  void anErrorStatusIsAnHttpErrorWithTheStatus() throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot = OneShot.blind(Plans.to(server.address().getPort()).path("/nosuch").plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.HTTP_ERROR);
      assertThat(attempt.detail()).isEqualTo(404);
      assertThat(attempt.reached(Milestone.DONE)).isFalse();
    }
  }

  @Test
  void aServerThatDoesNotAnswerTheRequestIsAResponseTimeout() throws Exception {
    try (EmbeddedServer server =
            EmbeddedServer.start(ServerOptions.defaults().withDelayNanos(60_000_000_000L));
        OneShot shot = OneShot.blind(Plans.to(server.address().getPort()).timeout(0.3).plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.HTTP_TIMEOUT);
      assertThat(attempt.lastReached()).isEqualTo(Milestone.REQUEST_SENT);
    }
  }

  @Test
  void aDefectIsNoFailureOfTheServerAndLeavesNoConnectionOpen() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan = Plans.to(server.address().getPort()).plan();
      ServerFacts facts = new Preflight(plan, NanoClock.SYSTEM).run();
      IllegalStateException defect = new IllegalStateException("of the test");
      List<RuntimeException> told = new ArrayList<>();
      Connection.Owner broken =
          new Connection.Owner() {
            @Override
            public void finished(Connection exchange) {
              throw defect;
            }

            @Override
            public void broke(RuntimeException cause) {
              told.add(cause);
            }
          };
      try (OneShot shot = new OneShot(plan, new TlsClient(plan, facts, NanoClock.SYSTEM), broken)) {
        shot.run();

        assertThat(told).containsExactly(defect);
        assertThat(shot.exchange.isClosed()).isTrue();
      }
    }
  }
}

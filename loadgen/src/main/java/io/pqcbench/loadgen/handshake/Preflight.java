package io.pqcbench.loadgen.handshake;

import io.netty.channel.ChannelException;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/**
 * One real exchange before the load: finds out whether the target can be measured, and describes
 * it.
 *
 * <p>It never makes a connection without a handshake, which would leave an error in the server's
 * log.
 */
public final class Preflight {

  /** As many as servers issue at most; those beyond are not kept. */
  private static final int MAX_TICKETS = 8;

  private static final int TLS_13 = 0x0304;

  private final LoadPlan plan;
  private final NanoClock clock;

  public Preflight(LoadPlan plan, NanoClock clock) {
    this.plan = plan;
    this.clock = clock;
  }

  /**
   * Resolves, connects, shakes hands, sends one request. Blocks for at most the plan's timeouts, a
   * few times over when the server refuses the groups.
   *
   * @return what was found
   * @throws PreflightException when there is no such exchange to be had
   */
  public ServerFacts run() throws PreflightException {
    if (quic()) {
      QuicClient.requireNative();
    } else {
      NativeTls.require(plan.tls().stack());
    }
    InetAddress[] addresses = resolve(plan.target().connectHost());
    InetSocketAddress address = new InetSocketAddress(addresses[0], plan.target().connectPort());
    ServerTrust.Probe trust = new ServerTrust.Probe(verifier());
    Probe probe = probe(address, plan.tls().groups(), trust);
    Attempt attempt = probe.exchange.attempt();
    if (attempt.outcome() != Outcome.SUCCESS) {
      throw new PreflightException(
          new PreflightAdvice(plan, address, group -> accepts(address, group))
              .explain(probe.exchange),
          attempt.failure());
    }
    return describe(addresses, address, probe, trust);
  }

  private boolean quic() {
    return plan.transport() == LoadPlan.Transport.QUIC;
  }

  private ServerTrust.ChainVerifier verifier() throws PreflightException {
    try {
      return ServerTrust.verifier(plan);
    } catch (CertificateException e) {
      throw new PreflightException(e.getMessage(), e);
    }
  }

  private static InetAddress[] resolve(String host) throws PreflightException {
    try {
      return InetAddress.getAllByName(host);
    } catch (UnknownHostException e) {
      throw new PreflightException("the target's name cannot be resolved: host=" + host, e);
    }
  }

  /**
   * One connection, driven by this thread.
   *
   * @param sessionKept whether the server issued a session
   */
  private record Probe(Connection exchange, boolean sessionKept) {}

  /** Looks at the exchange itself instead. */
  private static final class Watcher implements Connection.Owner {
    private RuntimeException defect;

    @Override
    public void finished(Connection exchange) {}

    @Override
    public void broke(RuntimeException defect) {
      this.defect = defect;
    }
  }

  private Probe probe(InetSocketAddress address, List<NamedGroup> groups, ServerTrust.Probe trust)
      throws PreflightException {
    ManualIoEventLoop loop =
        new ManualIoEventLoop(Thread.currentThread(), EpollIoHandler.newFactory());
    Watcher watcher = new Watcher();
    try (Client client = client(groups, trust);
        Tickets tickets = new Tickets(MAX_TICKETS);
        Connections connector =
            client instanceof TlsClient tls
                ? tls.connector(loop, watcher, tickets, /* offers= */ false)
                : client.connections(loop, watcher, null)) {
      List<InetAddress> sources = plan.limits().sources();
      Connection exchange =
          connector.prepare(
              sources.isEmpty() ? null : sources.get(0),
              address.getAddress() instanceof Inet6Address);
      long begin = clock.nanos();
      exchange.start(0, begin, address);
      while (!exchange.isClosed()) {
        loop.run(10_000_000L);
        if (watcher.defect != null) {
          throw watcher.defect;
        }
        long age = clock.nanos() - begin;
        boolean connecting = !exchange.attempt().reached(Milestone.CONNECTED);
        if (age
            > (connecting ? plan.limits().connectTimeoutNanos() : plan.limits().timeoutNanos())) {
          exchange.expire();
        }
      }
      return new Probe(exchange, tickets.issued() > 0);
    } catch (SSLException e) {
      throw new PreflightException(e.getMessage(), e);
    } catch (ChannelException e) {
      throw new PreflightException("no socket can be had for the preflight: " + e.getMessage(), e);
    } finally {
      loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
      while (!loop.isTerminated()) {
        loop.runNow();
      }
    }
  }

  private Client client(List<NamedGroup> groups, ServerTrust.Probe trust) throws SSLException {
    return quic()
        ? new QuicClient(plan, groups, trust, Expectation.ANYTHING, /* expectRetry= */ null, clock)
        : new TlsClient(plan, groups, trust, Expectation.ANYTHING, /* describes= */ true, clock);
  }

  private boolean accepts(InetSocketAddress address, NamedGroup group) {
    try {
      ServerTrust.Probe trust = new ServerTrust.Probe(verifier());
      return probe(address, List.of(group), trust).exchange.attempt().reached(Milestone.SECURED);
    } catch (PreflightException e) {
      // This build of the TLS stack does not have the group: then it is no advice either.
      return false;
    }
  }

  private ServerFacts describe(
      InetAddress[] addresses, InetSocketAddress address, Probe probe, ServerTrust.Probe trust)
      throws PreflightException {
    Attempt attempt = probe.exchange.attempt();
    ServerHello server = probe.exchange.serverHello();
    ClientHello client = probe.exchange.clientHello();
    List<String> shares = new ArrayList<>();
    for (int i = 0; i < client.keyShares(); i++) {
      shares.add(NamedGroup.nameOf(client.keyShareGroup(i)) + ":" + client.keyShareLength(i));
    }
    return new ServerFacts(
        Arrays.stream(addresses).map(InetAddress::getHostAddress).toList(),
        address,
        server.version() == TLS_13 ? "TLSv1.3" : "TLSv1.2",
        group(probe.exchange),
        CipherSuites.name(attempt.cipherSuite()),
        shares,
        probe.exchange.clientHelloBytes(),
        server.keyShareBytes(),
        server.helloRetryRequests() > 0,
        certificate(trust, server.version() == TLS_13, probe.exchange.signatureScheme()),
        server.version() == TLS_13 && attempt.mss() > 0
            ? ServerFacts.Flight.of(
                attempt.handshakeBytesIn(), attempt.handshakeSegmentsIn(), attempt.mss())
            : null,
        ticketsIssued(probe),
        probe.exchange.negotiatedProtocol(),
        attempt.detail(),
        attempt.bodyBytes(),
        probe.exchange.software(),
        attempt.handshakeBytesOut(),
        attempt.handshakeBytesIn(),
        attempt.bytesOut(),
        attempt.bytesIn(),
        attempt.rttMicros(),
        attempt.nanos(Phase.HANDSHAKE) / 1e3,
        probe.exchange instanceof QuicExchange quic
            ? new ServerFacts.QuicFacts(quic.retried())
            : null,
        trust.chain[0]);
  }

  /** Null for unknown. */
  private Boolean ticketsIssued(Probe probe) {
    boolean told =
        plan.tls().stack().name().compiled() && !plan.request().handshakeOnly() && !quic();
    return told ? probe.sessionKept : null;
  }

  /** A stack that does not tell leaves the wire to say it, where that does. */
  private static String group(Connection exchange) {
    String told = exchange.negotiatedGroup();
    int onTheWire = exchange.serverHello().group();
    return told == null && onTheWire != Attempt.NONE
        ? NamedGroup.nameOf(onTheWire)
        : Expectation.name(told, exchange.tellsGroup());
  }

  private ServerFacts.CertificateFacts certificate(
      ServerTrust.Probe trust, boolean tls13, String signatureScheme) throws PreflightException {
    X509Certificate leaf = trust.chain[0];
    String complaint = trust.complaint == null ? null : rootMessage(trust.complaint);
    if (complaint != null && plan.tls().trust() == LoadPlan.Trust.VERIFY) {
      throw new PreflightException(
          "the certificate of "
              + plan.target().authority()
              + " does not verify: subject="
              + leaf.getSubjectX500Principal().getName()
              + " reason='"
              + complaint
              + "'; name its root with --cacert, or leave --verify out to pin the certificate",
          trust.complaint);
    }
    try {
      int chainBytes = 0;
      for (X509Certificate each : trust.chain) {
        chainBytes += each.getEncoded().length;
      }
      return new ServerFacts.CertificateFacts(
          leaf.getSubjectX500Principal().getName(),
          SignatureNames.keyType(leaf),
          SignatureNames.algorithm(leaf),
          leaf.getEncoded().length,
          trust.chain.length,
          chainBytes,
          signatureScheme,
          tls13 ? SignatureNames.schemes(leaf) : List.of(),
          leaf.getNotAfter().toInstant().toString(),
          HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(leaf.getEncoded())),
          plan.tls().trust() == LoadPlan.Trust.INSECURE
              ? "unchecked"
              : complaint == null ? "verified" : "pinned",
          complaint);
    } catch (GeneralSecurityException e) {
      throw new PreflightException("the server's certificate cannot be read: " + e.getMessage(), e);
    }
  }

  private static String rootMessage(Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return String.valueOf(root.getMessage());
  }
}

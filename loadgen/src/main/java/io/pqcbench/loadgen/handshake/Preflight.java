package io.pqcbench.loadgen.handshake;

import io.netty.channel.ChannelException;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.TlsStack;
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
import java.util.stream.Collectors;
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

  private static final int BAD_REQUEST = 400;

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
      throw new PreflightException(explain(address, probe), attempt.failure());
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

  private String explain(InetSocketAddress address, Probe probe) throws PreflightException {
    Attempt attempt = probe.exchange.attempt();
    String where = plan.target().authority() + " (" + address.getAddress().getHostAddress() + ")";
    String version = "TLS " + plan.tls().version();
    return switch (attempt.outcome()) {
      case TCP_REFUSED ->
          (quic() ? "nothing listens on UDP at " : "nothing accepts connections at ")
              + where
              + ": "
              + attempt.failure().getMessage()
              + "; is the server running?";
      case TCP_TIMEOUT ->
          "no answer from "
              + where
              + " within --connect-timeout="
              + Quantity.format(plan.limits().connectTimeoutNanos())
              + ": a firewall may drop the packets";
      case TLS_TIMEOUT ->
          where
              + (quic() && attempt.bytesIn() == 0
                  ? " answers no packet of QUIC, a firewall may drop UDP, or nothing listens; no "
                  : quic()
                      ? " answers over QUIC but did not finish a "
                      : " accepts connections but did not finish a ")
              + version
              + " handshake within --timeout="
              + Quantity.format(plan.limits().timeoutNanos());
      case HTTP_TIMEOUT ->
          where
              + " finished the handshake but did not answer the request within --timeout="
              + Quantity.format(plan.limits().timeoutNanos())
              + "; without a request: --handshake-only";
      case HTTP_ERROR ->
          attempt.detail() > 0
              ? where
                  + " answers "
                  + plan.request().path()
                  + " with HTTP status "
                  + attempt.detail()
                  + (attempt.detail() == BAD_REQUEST
                      ? ", as nginx does without a client certificate that it accepts"
                          + clientCertificateHint()
                      : "; try --path")
              : where
                  + " did not answer with HTTP/"
                  + (quic() ? "0.9" : plan.request().http())
                  + ": "
                  + attempt.failure().getMessage();
      case WRONG_PROTOCOL ->
          where
              + " does not take HTTP/2: of "
              + plan.tls().alpn()
              + " it took "
              + (probe.exchange.negotiatedProtocol() == null
                  ? "none"
                  : probe.exchange.negotiatedProtocol())
              + " (ALPN); to measure with HTTP/1.1: --http 1.1";
      case WRONG_LENGTH ->
          where
              + " answers "
              + plan.request().path()
              + " with a body of another length than --expect-bytes says: "
              + attempt.failure().getMessage();
      case TCP_RESET, CLOSED_EARLY ->
          where
              + " "
              + (attempt.outcome() == Outcome.TCP_RESET ? "reset" : "closed")
              + " the connection after "
              + stage(attempt.lastReached())
              + ", before the exchange was over"
              + said(attempt)
              + (quic() ? "" : "; is it a TLS server?" + proxyDoubt());
      case TLS_ALERT -> explainAlert(address, where, attempt);
      case NO_PORT -> "this machine has no ephemeral port left for " + where;
      default ->
          "no "
              + version
              + " handshake with "
              + where
              + ": "
              + attempt.failure().getMessage()
              + proxyHint();
    };
  }

  /** What is known beyond the outcome, which may be nothing. */
  private static String said(Attempt attempt) {
    String message = attempt.failure() == null ? null : attempt.failure().getMessage();
    return message == null ? "" : ": " + message;
  }

  private String explainAlert(InetSocketAddress address, String where, Attempt attempt)
      throws PreflightException {
    String alert = TlsAlert.name(attempt.detail());
    if (attempt.reached(Milestone.SECURED) || TlsAlert.aboutCertificate(attempt.detail())) {
      // In TLS 1.3 the client's certificate is the last thing that it sends, so the answer to it
      // comes when the handshake is over here.
      return where
          + " ended the connection "
          + (attempt.reached(Milestone.SECURED) ? "after" : "in")
          + " the handshake with the alert "
          + alert
          + clientCertificateHint();
    }
    if (quic() && attempt.detail() == TlsAlert.NO_APPLICATION_PROTOCOL) {
      return where
          + " speaks none of the offered protocols over QUIC (alert "
          + alert
          + "); this client can ask by "
          + QuicClient.HQ
          + " only, without a request any will do: --handshake-only, and --alpn to name one";
    }
    if (attempt.detail() == TlsAlert.PROTOCOL_VERSION) {
      return where
          + " does not speak TLS "
          + plan.tls().version()
          + " (alert "
          + alert
          + ")"
          + (plan.tls().tls13() ? "; to measure TLS 1.2: --tls 1.2 with a classical group" : "")
          + proxyHint();
    }
    if (attempt.detail() == TlsAlert.NO_APPLICATION_PROTOCOL) {
      return where
          + " takes none of the protocols that were offered by ALPN (alert "
          + alert
          + "): alpn="
          + plan.tls().alpn()
          + (plan.request().http2() ? "; to measure with HTTP/1.1: --http 1.1" : "");
    }
    List<NamedGroup> accepted = new ArrayList<>();
    for (NamedGroup group : NamedGroup.offered(plan.tls().stack().name())) {
      boolean possible = !group.needsTls13() || plan.tls().tls13();
      if (possible && !plan.tls().groups().contains(group)) {
        if (accepts(address, group)) {
          accepted.add(group);
        }
      }
    }
    String offered = names(plan.tls().groups());
    return accepted.isEmpty()
        ? where
            + " refuses the handshake with the alert "
            + alert
            + ", whatever group is offered: groups="
            + offered
            + certificateHint()
        : where
            + " accepts none of the groups that were offered (alert "
            + alert
            + "): groups="
            + offered
            + ", it does accept: "
            + names(accepted)
            + (plan.tls().stack().name() == TlsStack.BC ? certificateHint() : "");
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

  private String certificateHint() {
    LoadPlan.Stack stack = plan.tls().stack();
    if (!stack.sigalgs().isEmpty()) {
      return "; its certificate may need another signature scheme than those that were offered:"
          + " sigalgs="
          + stack.sigalgs();
    }
    return switch (stack.name()) {
      case BORINGSSL, JDK ->
          "; its certificate may need a signature scheme that the TLS stack "
              + stack.name().label()
              + " does not offer, as one of ML-DSA does: "
              + (quic() ? "over TCP " : "")
              + "--tls-stack openssl and bc offer mldsa44, mldsa65 and mldsa87";
      case OPENSSL ->
          "; its certificate may need a signature scheme that the TLS stack OpenSSL does not offer;"
              + " see loadgen stacks";
      case BC ->
          "; Bouncy Castle offers the signature scheme of a curve only with its group, so a"
              + " certificate with a key on P-256 needs that too: --groups "
              + plan.tls().groups().get(0)
              + ",P-256";
    };
  }

  private String proxyDoubt() {
    return plan.limits().proxyProtocol() == LoadPlan.ProxyProtocol.NONE
        ? " Behind a load balancer it may expect a PROXY header: --proxy-protocol"
        : proxyHint();
  }

  private String proxyHint() {
    return plan.limits().proxyProtocol() == LoadPlan.ProxyProtocol.NONE
        ? ""
        : "; was it told to expect the PROXY header that --proxy-protocol sends?";
  }

  private String clientCertificateHint() {
    return plan.tls().cert() == null
        ? "; if it wants a client certificate: --cert and --key"
        : "; the client's certificate is " + plan.tls().cert();
  }

  private static String names(List<NamedGroup> groups) {
    return groups.stream().map(NamedGroup::label).collect(Collectors.joining(", "));
  }

  private static String stage(Milestone last) {
    return switch (last) {
      case PLANNED, STARTED -> "the connect call";
      case CONNECTED -> "accepting it";
      case HELLO_SENT -> "the ClientHello";
      case HELLO_RECEIVED -> "its ServerHello";
      case SECURED, REQUEST_SENT, SETTINGS_RECEIVED -> "the request";
      case FIRST_BYTE, DONE -> "a part of the response";
    };
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

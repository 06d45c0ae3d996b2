package io.pqcbench.loadgen.handshake;

import io.netty.channel.IoEventLoop;
import io.netty.handler.codec.quic.BoringSSLContextOption;
import io.netty.handler.codec.quic.Quic;
import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * The client of a run over QUIC: quiche with a BoringSSL of its own, by Netty's codec. No session
 * is ever kept or offered, so every handshake is a full one.
 */
final class QuicClient implements Client {

  /** HTTP/0.9 over a stream, as the interoperability tests of QUIC speak it. */
  static final String HQ = "hq-interop";

  /** A server of QUIC must refuse a client that offers no protocol (RFC 9001, section 8.1). */
  private static final List<String> ANY_SERVER = List.of("h3", HQ);

  final QuicSslContext context;
  final EngineTrust trust;
  final Expectation expected;

  /** Whether every handshake must have a Retry, or must have none; null for either. */
  final Boolean expectRetry;

  /** Name to send; null for none. */
  final String serverName;

  final int port;

  /** The request on the wire; null for none. */
  final byte[] request;

  final long expectBytes;
  final NanoClock clock;

  QuicClient(LoadPlan plan, ServerFacts facts, NanoClock clock) throws SSLException {
    this(
        plan,
        plan.tls().groups(),
        facts.trust(plan),
        facts.expectation(plan.tls()),
        facts.quic().retry(),
        clock);
  }

  QuicClient(
      LoadPlan plan,
      List<NamedGroup> groups,
      ServerTrust trust,
      Expectation expected,
      Boolean expectRetry,
      NanoClock clock)
      throws SSLException {
    requireNative();
    this.expected = expected;
    this.expectRetry = expectRetry;
    this.serverName = plan.tls().sni();
    this.port = plan.target().port();
    this.request =
        plan.request().handshakeOnly()
            ? null
            : ("GET " + plan.request().path() + "\r\n").getBytes(StandardCharsets.US_ASCII);
    this.expectBytes = plan.request().expectBytes();
    this.clock = clock;
    this.trust = new EngineTrust(trust);
    List<String> protocols =
        !plan.tls().alpn().isEmpty()
            ? plan.tls().alpn()
            : request == null ? ANY_SERVER : List.of(HQ);
    String[] names = groups.stream().map(NamedGroup::label).toArray(String[]::new);
    try {
      context =
          QuicSslContextBuilder.forClient()
              .trustManager(this.trust)
              // Names are checked by the trust manager, and in the preflight only.
              .endpointIdentificationAlgorithm("")
              .option(BoringSSLContextOption.GROUPS, names)
              .applicationProtocols(protocols.toArray(String[]::new))
              .sessionCacheSize(0)
              .build();
    } catch (IllegalStateException e) {
      throw new SSLException(
          "the TLS stack of QUIC (BoringSSL) does not know these groups: groups=" + List.of(names),
          e);
    }
  }

  /**
   * Checks that the native libraries can be loaded.
   *
   * @throws IllegalStateException with the reason and what to do
   */
  static void requireNative() {
    // ServerTrust is made of a class of the TLS stack for TCP.
    NativeTls.require(LoadPlan.Stack.DEFAULT);
    if (!Quic.isAvailable()) {
      throw new IllegalStateException(
          "QUIC (quiche) cannot be loaded: run on Linux x86-64 or aarch64 with glibc, and with a"
              + " temporary directory from which libraries may be loaded (-Djava.io.tmpdir=DIR)",
          Quic.unavailabilityCause());
    }
  }

  @Override
  public Connections connections(IoEventLoop loop, Connection.Owner owner, Tickets tickets) {
    if (tickets != null) {
      throw new IllegalArgumentException(
          "no session is resumed over QUIC: tickets=" + tickets.size());
    }
    return new QuicConnections(this, loop, owner);
  }

  @Override
  public void close() {
    // What is native is freed with its last connection, and by the collector.
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.channel.IoEventLoop;
import io.netty.handler.codec.quic.BoringSSLContextOption;
import io.netty.handler.codec.quic.Quic;
import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.X509ExtendedTrustManager;

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
  final Trust trust;
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
    this.trust = new Trust(trust);
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

  /** Asks {@link ServerTrust}, and keeps why a certificate was refused, which the codec drops. */
  static final class Trust extends X509ExtendedTrustManager {
    private final ServerTrust trust;
    private final Map<SSLEngine, CertificateException> refusals = new ConcurrentHashMap<>();

    private Trust(ServerTrust trust) {
      this.trust = trust;
    }

    /** Returns why a connection's certificate was refused, once; null if it was not. */
    CertificateException takeRefusal(SSLEngine engine) {
      return engine == null ? null : refusals.remove(engine);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
        throws CertificateException {
      try {
        byte[][] encoded = new byte[chain.length][];
        for (int i = 0; i < chain.length; i++) {
          encoded[i] = chain[i].getEncoded();
        }
        trust.check(encoded, authType);
      } catch (CertificateException e) {
        refusals.put(engine, e);
        throw e;
      } catch (RuntimeException e) {
        // A certificate that breaks its reader is none to trust.
        CertificateException refusal =
            new CertificateException("the certificate cannot be read", e);
        refusals.put(engine, refusal);
        throw refusal;
      }
    }

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType) {
      throw new UnsupportedOperationException("a server is checked with its engine");
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {
      throw new UnsupportedOperationException("a server is checked with its engine");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType) {
      throw new UnsupportedOperationException("this is a client");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {
      throw new UnsupportedOperationException("this is a client");
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
      throw new UnsupportedOperationException("this is a client");
    }
  }
}

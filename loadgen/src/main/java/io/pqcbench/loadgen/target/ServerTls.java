package io.pqcbench.loadgen.target;

import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.ReferenceCountedOpenSslContext;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.SSL;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.CertificateBuilder.KeyUsage;
import io.netty.pkitesting.X509Bundle;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import javax.net.ssl.SSLException;

/** The server's side of TLS: its certificate, its groups, and whether it hands out tickets. */
final class ServerTls {

  private static final int CERTIFICATE_DAYS = 365;

  private final ReferenceCountedOpenSslContext context;
  private final X509Certificate certificate;
  private final boolean tickets;

  /**
   * Makes a key, a certificate and a BoringSSL context, which has to be {@linkplain #release given
   * back}.
   *
   * @throws IllegalArgumentException if BoringSSL refuses the groups
   */
  ServerTls(ServerOptions options) {
    X509Bundle identity = selfSigned();
    certificate = identity.getCertificate();
    tickets = options.tickets();
    try {
      context =
          (ReferenceCountedOpenSslContext)
              SslContextBuilder.forServer(
                      identity.getKeyPair().getPrivate(), identity.getCertificatePath())
                  .sslProvider(SslProvider.OPENSSL_REFCNT)
                  .protocols("TLSv" + options.tls())
                  .applicationProtocolConfig(
                      new ApplicationProtocolConfig(
                          ApplicationProtocolConfig.Protocol.ALPN,
                          ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                          ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                          ApplicationProtocolNames.HTTP_2,
                          ApplicationProtocolNames.HTTP_1_1))
                  .option(OpenSslContextOption.USE_TASKS, false)
                  .option(OpenSslContextOption.GROUPS, options.groups().toArray(new String[0]))
                  .build();
    } catch (SSLException e) {
      throw new IllegalArgumentException(
          "BoringSSL refuses these settings, check the names of the groups: groups="
              + options.groups(),
          e);
    }
    OpenSslSessionContext sessions = context.sessionContext();
    // TLS 1.3 has no resumption by session id, and in TLS 1.2 the cache would resume sessions
    // behind the back of a server that was told to issue no tickets.
    sessions.setSessionCacheEnabled(false);
    if (tickets) {
      // No keys given: BoringSSL makes its own and rotates them.
      sessions.setTicketKeys();
    }
  }

  /** The certificate that clients get. */
  X509Certificate certificate() {
    return certificate;
  }

  /**
   * The handler of one new connection.
   *
   * @param allocator the connection's own
   */
  SslHandler newHandler(ByteBufAllocator allocator) {
    SslHandler handler = context.newHandler(allocator);
    if (!tickets) {
      // Netty sets this option on the context, but where TLS 1.3 is spoken each new engine clears
      // it for itself. Only what is set on the engine afterwards keeps the tickets away.
      long ssl = ((ReferenceCountedOpenSslEngine) handler.engine()).sslPointer();
      SSL.setOptions(ssl, SSL.SSL_OP_NO_TICKET);
    }
    return handler;
  }

  /** Frees the native context once the last connection is gone. To be called once. */
  void release() {
    context.release();
  }

  /** A key and a certificate as every server here has them. */
  static X509Bundle selfSigned() {
    Instant now = Instant.now();
    try {
      return new CertificateBuilder()
          .ecp256()
          .subject("CN=server.example")
          .addSanDnsName("server.example")
          .addSanDnsName("localhost")
          .addSanIpAddress("127.0.0.1")
          .addExtendedKeyUsageServerAuth()
          // It is its own issuer, and the builder signs by nothing that is not an authority.
          .setIsCertificateAuthority(true)
          .setKeyUsage(true, KeyUsage.digitalSignature, KeyUsage.keyCertSign)
          // Begins in the past, for clients whose clock is behind.
          .notBefore(now.minus(1, ChronoUnit.DAYS))
          .notAfter(now.plus(CERTIFICATE_DAYS, ChronoUnit.DAYS))
          .buildSelfSigned();
    } catch (Exception e) {
      throw new IllegalStateException("this JVM cannot make an ECDSA P-256 certificate", e);
    }
  }
}

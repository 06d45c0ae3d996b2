package io.pqcbench.loadgen.bench;

import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.internal.tcnative.SSL;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.ReferenceCountUtil;
import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/**
 * A BoringSSL client and server that speak TLS 1.3 over memory, set up as those of a run are: one
 * context each, an ECDSA P-256 certificate, full handshakes, no tickets, no tasks. Any certificate
 * is accepted; its signature is checked all the same.
 *
 * <p>Confined to one thread.
 */
final class InMemoryTls implements AutoCloseable {

  private static final String HOST = "server.example";
  private static final int PORT = 443;

  /** Holds a whole flight of either side, and all that a single wrap may ask for. */
  private static final int BUFFER_BYTES = 1 << 16;

  private final SslContext client;
  private final SslContext server;
  private final ByteBuffer plaintext = ByteBuffer.allocateDirect(BUFFER_BYTES);

  /**
   * @param group the only one that either side offers
   */
  InMemoryTls(String group) throws Exception {
    X509Bundle identity =
        new CertificateBuilder()
            .ecp256()
            .subject("CN=" + HOST)
            .addSanDnsName(HOST)
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    client =
        common(SslContextBuilder.forClient(), group)
            .trustManager(InsecureTrustManagerFactory.INSTANCE)
            .endpointIdentificationAlgorithm(null)
            .build();
    server =
        common(
                SslContextBuilder.forServer(
                    identity.getKeyPair().getPrivate(), identity.getCertificatePath()),
                group)
            .build();
    ((OpenSslSessionContext) client.sessionContext()).setSessionCacheEnabled(false);
    ((OpenSslSessionContext) server.sessionContext()).setSessionCacheEnabled(false);
  }

  private static SslContextBuilder common(SslContextBuilder builder, String group) {
    return builder
        .sslProvider(SslProvider.OPENSSL_REFCNT)
        .protocols("TLSv1.3")
        .option(OpenSslContextOption.USE_TASKS, false)
        .option(OpenSslContextOption.GROUPS, new String[] {group});
  }

  /** Returns a handler as a connection gets it, around an engine that is to be released. */
  SslHandler clientHandler() {
    return client.newHandler(PooledByteBufAllocator.DEFAULT, HOST, PORT);
  }

  /** Returns an engine that has done nothing yet, not even made a key. */
  SSLEngine clientEngine() {
    return clientHandler().engine();
  }

  /** Returns an engine that waits for a ClientHello. */
  SSLEngine serverEngine() throws SSLException {
    SSLEngine engine = server.newHandler(PooledByteBufAllocator.DEFAULT).engine();
    // Only what is set on the engine keeps the tickets away; Netty clears the context's option.
    SSL.setOptions(((ReferenceCountedOpenSslEngine) engine).sslPointer(), SSL.SSL_OP_NO_TICKET);
    engine.beginHandshake();
    return engine;
  }

  static ByteBuffer newFlight() {
    return ByteBuffer.allocateDirect(BUFFER_BYTES);
  }

  /** Lets an engine say all that it has to say, into an emptied buffer, to be read afterwards. */
  void send(SSLEngine engine, ByteBuffer flight) throws SSLException {
    flight.clear();
    plaintext.clear().limit(0);
    // The engine's status does not tell whether the end of a flight is still with it.
    int sent;
    do {
      sent = engine.wrap(plaintext, flight).bytesProduced();
    } while (sent > 0);
    flight.flip();
  }

  /** Lets an engine read a whole flight. */
  void receive(SSLEngine engine, ByteBuffer flight) throws SSLException {
    plaintext.clear();
    while (flight.hasRemaining()) {
      SSLEngineResult result = engine.unwrap(flight, plaintext);
      if (result.bytesConsumed() == 0) {
        throw new SSLException("the engine does not take its peer's flight: result=" + result);
      }
    }
  }

  /** Fails unless an engine has completed its handshake. */
  static void requireSecured(SSLEngine engine) throws SSLException {
    if (engine.getHandshakeStatus() != SSLEngineResult.HandshakeStatus.NOT_HANDSHAKING
        || !engine.getSession().getProtocol().equals("TLSv1.3")) {
      throw new SSLException(
          "the handshake is not complete: status="
              + engine.getHandshakeStatus()
              + " protocol="
              + engine.getSession().getProtocol());
    }
  }

  static void release(SSLEngine engine) {
    ReferenceCountUtil.release(engine);
  }

  @Override
  public void close() {
    ReferenceCountUtil.release(client);
    ReferenceCountUtil.release(server);
  }
}

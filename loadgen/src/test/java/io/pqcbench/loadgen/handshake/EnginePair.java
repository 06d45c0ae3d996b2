package io.pqcbench.loadgen.handshake;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.OpenSslSessionTicketKey;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/** A BoringSSL client and server in memory: real handshakes whose bytes a test can look at. */
final class EnginePair implements AutoCloseable {
  /** 14 characters, which the record lengths in the tests depend on. */
  static final String HOST = "server.example";

  private static final int BUFFER = 1 << 16;

  private final SslContext client;
  private final SslContext server;

  /** What each side sent during one handshake. */
  record Wire(ByteBuf client, ByteBuf server) {}

  private EnginePair(SslContext client, SslContext server) {
    this.client = client;
    this.server = server;
  }

  static EnginePair tls13(List<String> clientGroups, List<String> serverGroups) throws Exception {
    return of("TLSv1.3", clientGroups, serverGroups);
  }

  static EnginePair of(String protocol, List<String> clientGroups, List<String> serverGroups)
      throws Exception {
    assumeTrue(OpenSsl.isAvailable(), () -> "BoringSSL: " + OpenSsl.unavailabilityCause());
    SslContext client =
        SslContextBuilder.forClient()
            .sslProvider(SslProvider.OPENSSL)
            .trustManager(InsecureTrustManagerFactory.INSTANCE)
            .endpointIdentificationAlgorithm(null)
            .protocols(protocol)
            .option(OpenSslContextOption.GROUPS, clientGroups.toArray(String[]::new))
            .build();
    SslContext server =
        SslContextBuilder.forServer(
                new CertificateBuilder()
                    .ecp256()
                    .subject("CN=" + HOST)
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned()
                    .toKeyManagerFactory())
            .sslProvider(SslProvider.OPENSSL)
            .protocols(protocol)
            .option(OpenSslContextOption.GROUPS, serverGroups.toArray(String[]::new))
            .build();
    return new EnginePair(client, server);
  }

  EnginePair resuming() {
    ((OpenSslSessionContext) client.sessionContext()).setSessionCacheEnabled(true);
    OpenSslSessionContext sessions = (OpenSslSessionContext) server.sessionContext();
    sessions.setSessionCacheEnabled(true);
    sessions.setTicketKeys(new OpenSslSessionTicketKey(new byte[16], new byte[16], new byte[16]));
    return this;
  }

  /** Runs one handshake until both sides fall silent, successfully or not. */
  Wire handshake() throws SSLException {
    SSLEngine c = client.newEngine(ByteBufAllocator.DEFAULT, HOST, 443);
    SSLEngine s = server.newEngine(ByteBufAllocator.DEFAULT);
    try {
      List<byte[]> fromClient = new ArrayList<>();
      List<byte[]> fromServer = new ArrayList<>();
      byte[] toServer = wrap(c, 0);
      byte[] toClient = new byte[0];
      while (toServer.length + toClient.length > 0) {
        fromClient.add(toServer);
        unwrap(s, toServer);
        toClient = wrap(s, 0);
        fromServer.add(toClient);
        unwrap(c, toClient);
        toServer = wrap(c, 0);
      }
      // BoringSSL keeps its session tickets back until the server's first application data.
      unwrap(c, wrap(s, 1));
      return new Wire(concat(fromClient), concat(fromServer));
    } finally {
      ReferenceCountUtil.release(c);
      ReferenceCountUtil.release(s);
    }
  }

  private static byte[] wrap(SSLEngine engine, int plaintextBytes) {
    ByteArrayOutputStream sent = new ByteArrayOutputStream();
    ByteBuffer in = ByteBuffer.allocate(plaintextBytes);
    while (true) {
      ByteBuffer out = ByteBuffer.allocate(BUFFER);
      try {
        SSLEngineResult result = engine.wrap(in, out);
        runTasks(engine);
        if (result.bytesProduced() == 0) {
          return sent.toByteArray();
        }
      } catch (SSLException e) {
        return sent.toByteArray(); // The peer has failed; nothing more will come.
      }
      sent.write(out.array(), 0, out.position());
    }
  }

  private static void unwrap(SSLEngine engine, byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    ByteBuffer out = ByteBuffer.allocate(BUFFER);
    try {
      SSLEngineResult result;
      do {
        result = engine.unwrap(in, out);
        runTasks(engine);
      } while (result.bytesConsumed() > 0);
    } catch (SSLException e) {
      // The alert that says why is what the next wrap() sends.
    }
  }

  private static void runTasks(SSLEngine engine) {
    for (Runnable task = engine.getDelegatedTask(); task != null; ) {
      task.run();
      task = engine.getDelegatedTask();
    }
  }

  private static ByteBuf concat(List<byte[]> parts) {
    return Unpooled.copiedBuffer(parts.toArray(byte[][]::new));
  }

  @Override
  public void close() {
    ReferenceCountUtil.release(client);
    ReferenceCountUtil.release(server);
  }
}

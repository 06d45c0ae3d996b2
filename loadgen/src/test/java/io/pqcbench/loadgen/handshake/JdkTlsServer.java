package io.pqcbench.loadgen.handshake;

import io.netty.pkitesting.X509Bundle;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.TrustManager;

/**
 * A TLS server of the JDK with a given certificate, which may ask for the client's, and which
 * serves one connection after the other.
 */
public final class JdkTlsServer implements AutoCloseable {

  private final SSLServerSocket listener;
  private final RudeServer.Manner manner;

  /**
   * @param certificate of the server
   * @param clients whom to trust; null to ask for no client certificate
   */
  JdkTlsServer(X509Bundle certificate, X509Bundle clients) throws Exception {
    this(certificate, clients, JdkTlsServer::answer);
  }

  /** Takes h2 by ALPN, and does with a connection as it is told. */
  public static JdkTlsServer http2(X509Bundle certificate, RudeServer.Manner manner)
      throws Exception {
    JdkTlsServer server = new JdkTlsServer(certificate, null, manner);
    SSLParameters parameters = server.listener.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {"h2"});
    server.listener.setSSLParameters(parameters);
    return server;
  }

  private JdkTlsServer(X509Bundle certificate, X509Bundle clients, RudeServer.Manner manner)
      throws Exception {
    this.manner = manner;
    SSLContext context = SSLContext.getInstance("TLS");
    TrustManager[] trust =
        clients == null ? null : clients.toTrustManagerFactory().getTrustManagers();
    context.init(certificate.toKeyManagerFactory().getKeyManagers(), trust, new SecureRandom());
    listener =
        (SSLServerSocket)
            context
                .getServerSocketFactory()
                .createServerSocket(0, 100, InetAddress.getLoopbackAddress());
    listener.setNeedClientAuth(clients != null);
    Thread serving = new Thread(this::serve, "jdk-tls");
    serving.setDaemon(true);
    serving.start();
  }

  private void serve() {
    while (!listener.isClosed()) {
      try (Socket socket = listener.accept()) {
        manner.treat(socket);
      } catch (IOException expected) {
        // A client that was refused; the next one may do better.
      }
    }
  }

  private static void answer(Socket socket) throws IOException {
    readHead(socket.getInputStream());
    socket
        .getOutputStream()
        .write(
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nOK\n"
                .getBytes(StandardCharsets.US_ASCII));
  }

  private static void readHead(InputStream in) throws IOException {
    byte[] some = new byte[16_384];
    String end = "";
    while (!end.endsWith("\r\n\r\n")) {
      int read = in.read(some);
      if (read < 0) {
        return;
      }
      int tail = Math.min(4, read);
      end += new String(some, read - tail, tail, StandardCharsets.US_ASCII);
      end = end.substring(Math.max(0, end.length() - 4));
    }
  }

  public int port() {
    return listener.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}

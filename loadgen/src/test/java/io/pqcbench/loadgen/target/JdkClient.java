package io.pqcbench.loadgen.target;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.security.KeyStore;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/** The JDK's own TLS and HTTP clients, which trust one server and nobody else. */
final class JdkClient {

  private JdkClient() {}

  static HttpRequest.Builder request(EmbeddedServer server, String path) {
    return request(server, "127.0.0.1", path);
  }

  static HttpRequest.Builder request(EmbeddedServer server, String host, String path) {
    return HttpRequest.newBuilder(
        URI.create("https://" + host + ":" + server.address().getPort() + path));
  }

  static HttpClient http(EmbeddedServer server) throws Exception {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .sslContext(context(server))
        .build();
  }

  /** A connection whose handshake is complete. */
  static SSLSocket connect(EmbeddedServer server) throws Exception {
    SSLSocket socket =
        (SSLSocket)
            context(server)
                .getSocketFactory()
                .createSocket(server.address().getAddress(), server.address().getPort());
    socket.startHandshake();
    return socket;
  }

  /** Trusts the server's certificate and no other. */
  private static SSLContext context(EmbeddedServer server) throws Exception {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry("server", server.certificate());
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  static void send(SSLSocket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(US_ASCII));
  }

  /** What came up to and with {@code end}. */
  static String readUntil(SSLSocket socket, String end) throws IOException {
    StringBuilder text = new StringBuilder();
    while (text.length() < end.length()
        || !text.substring(text.length() - end.length()).equals(end)) {
      int next = socket.getInputStream().read();
      assertThat(next).as("end of stream after: %s", text).isNotNegative();
      text.append((char) next);
    }
    return text.toString();
  }

  /** What came before the end, whether that was an orderly one or a reset. */
  static String readToTheEnd(SSLSocket socket) {
    StringBuilder text = new StringBuilder();
    try {
      for (int next; (next = socket.getInputStream().read()) >= 0; ) {
        text.append((char) next);
      }
    } catch (IOException e) {
      // A reset is an end as well.
      return text.toString();
    }
    return text.toString();
  }
}

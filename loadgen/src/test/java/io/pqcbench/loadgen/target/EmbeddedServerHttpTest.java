package io.pqcbench.loadgen.target;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.target.BoringClient.Exchange;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is answered, and when the connection ends. */
class EmbeddedServerHttpTest {

  private static final String GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  private static final String GET_AND_CLOSE =
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

  private final ServerOptions defaults = ServerOptions.defaults();
  private EmbeddedServer server;

  @AfterEach
  void closeServer() {
    if (server != null) {
      server.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1", "localhost"})
  void shouldAnswerOkToAClientThatVerifiesItsCertificate(String host) throws Exception {
    start(defaults);
    HttpResponse<String> response =
        JdkClient.http(server)
            .send(JdkClient.request(server, host, "/").build(), BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.body()).isEqualTo("OK\n");
    assertThat(response.headers().map()).containsEntry("content-length", List.of("3"));
    assertThat(server.certificate().getSubjectX500Principal().getName())
        .isEqualTo("CN=server.example");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 65_536, 65_537, 100_000, 64 * 1024 * 1024})
  void shouldAnswerAsManyBytesOfThePatternAsAsked(int length) throws Exception {
    start(defaults);
    HttpResponse<InputStream> response =
        JdkClient.http(server)
            .send(
                JdkClient.request(server, "/bytes/" + length).build(),
                BodyHandlers.ofInputStream());
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValueAsLong("content-length")).hasValue(length);
    byte[] body = response.body().readAllBytes();
    assertThat(body).hasSize(length);
    for (int i = 0; i < length; i++) {
      if (body[i] != PatternBody.PATTERN.charAt(i % PatternBody.PATTERN.length())) {
        assertThat(i).as("first byte off the pattern").isEqualTo(-1);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-1", "67108865", "99999999999", "99999999999999999999", "ten", ""})
  void shouldRefuseABodyLengthOutOfRange(String length) throws Exception {
    HttpResponse<String> response = get("/bytes/" + length);
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).endsWith("0 to 67108864: bytes=" + length + "\n");
    assertThat(response.headers().firstValueAsLong("content-length"))
        .hasValue(response.body().length());
  }

  @Test
  void shouldAnswerNotFoundToAnyOtherPathOrMethod() throws Exception {
    assertThat(get("/index.html").statusCode()).isEqualTo(404);
    assertThat(get("/bytes").statusCode()).isEqualTo(404);
    HttpRequest post = JdkClient.request(server, "/").POST(BodyPublishers.ofString("body")).build();
    assertThat(JdkClient.http(server).send(post, BodyHandlers.ofString()).statusCode())
        .isEqualTo(404);
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 100_000})
  void shouldAnswerHeadWithTheLengthAndWithoutTheBody(int length) throws Exception {
    start(defaults);
    String path = length == 3 ? "/" : "/bytes/" + length;
    // A body sent by mistake would stand in front of the second answer.
    try (SSLSocket socket = JdkClient.connect(server)) {
      JdkClient.send(socket, "HEAD " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" + GET_AND_CLOSE);
      String answers = new String(socket.getInputStream().readAllBytes(), US_ASCII);
      assertThat(answers)
          .containsPattern("(?i)content-length: " + length + "\r\n\r\nHTTP/1.1 200")
          .endsWith("\r\n\r\nOK\n");
    }
  }

  @Test
  void shouldKeepTheConnectionForASecondRequestAndCountBoth() throws Exception {
    start(defaults);
    try (SSLSocket socket = JdkClient.connect(server)) {
      for (int i = 1; i <= 2; i++) {
        JdkClient.send(socket, GET);
        assertThat(JdkClient.readUntil(socket, "OK\n")).startsWith("HTTP/1.1 200 OK\r\n");
        assertThat(server.requests()).isEqualTo(i);
      }
    }
    assertThat(server.accepted()).isEqualTo(1);
    assertThat(server.handshakes()).isEqualTo(1);
  }

  @Test
  void shouldAnswerPipelinedRequestsInTheirOrder() throws Exception {
    start(defaults.withDelayNanos(1_000_000));
    try (SSLSocket socket = JdkClient.connect(server)) {
      JdkClient.send(
          socket, "GET /bytes/1000000 HTTP/1.1\r\nHost: x\r\n\r\n" + GET + GET_AND_CLOSE + GET);
      String answers = new String(socket.getInputStream().readAllBytes(), US_ASCII);
      assertThat(answers.split("HTTP/1.1 200 OK\r\n", -1))
          .hasSize(4)
          .satisfies(parts -> assertThat(parts[1]).hasSizeGreaterThan(1_000_000))
          .satisfies(parts -> assertThat(parts[2]).endsWith("\r\n\r\nOK\n"))
          .satisfies(parts -> assertThat(parts[3]).endsWith("\r\n\r\nOK\n"));
    }
    assertThat(server.requests()).as("what follows Connection: close").isEqualTo(3);
  }

  @Test
  void shouldEndWithCloseNotifyWhenAskedToClose() throws Exception {
    start(defaults);
    try (BoringClient client = new BoringClient(server, "1.3", "X25519")) {
      Exchange exchange = client.exchange(GET_AND_CLOSE);
      assertThat(exchange.response())
          .containsIgnoringCase("connection: close\r\n")
          .endsWith("\r\n\r\nOK\n");
      assertThat(exchange.closeNotify()).isTrue();
    }
  }

  @Test
  void shouldRefuseWhatIsNotHttpAndClose() throws Exception {
    start(defaults);
    try (BoringClient client = new BoringClient(server, "1.3", "X25519")) {
      Exchange exchange = client.exchange("NONSENSE\r\n\r\n" + GET);
      assertThat(exchange.response())
          .startsWith("HTTP/1.1 400 Bad Request\r\n")
          .containsIgnoringCase("connection: close\r\n")
          .containsOnlyOnce("HTTP/1.1 ");
      assertThat(exchange.closeNotify()).isTrue();
      assertThat(server.requests()).isZero();
    }
  }

  @Test
  void shouldHoldTheAnswerBackForTheDelay() throws Exception {
    long delayNanos = TimeUnit.MILLISECONDS.toNanos(200);
    start(defaults.withDelayNanos(delayNanos));
    try (SSLSocket socket = JdkClient.connect(server)) {
      long asked = System.nanoTime();
      JdkClient.send(socket, GET);
      assertThat(JdkClient.readUntil(socket, "OK\n")).startsWith("HTTP/1.1 200");
      assertThat(System.nanoTime() - asked).isGreaterThanOrEqualTo(delayNanos);
    }
  }

  private void start(ServerOptions options) {
    server = EmbeddedServer.start(options);
  }

  private HttpResponse<String> get(String path) throws Exception {
    if (server == null) {
      start(defaults);
    }
    return JdkClient.http(server)
        .send(JdkClient.request(server, path).build(), BodyHandlers.ofString());
  }
}

package io.pqcbench.loadgen.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.pqcbench.loadgen.target.BoringClient.Exchange;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Listening, TLS and closing. What is answered is in {@link EmbeddedServerHttpTest}. */
class EmbeddedServerTest {

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
  @ValueSource(strings = {"X25519MLKEM768", "X25519", "P-256"})
  void shouldNegotiateEachOfTheDefaultGroups(String group) throws Exception {
    start(defaults);
    try (BoringClient client = new BoringClient(server, "1.3", group)) {
      assertThat(client.exchange(GET_AND_CLOSE).group()).isEqualTo(group);
    }
  }

  @Test
  void shouldPreferItsOwnOrderOfGroupsToTheClients() throws Exception {
    start(defaults);
    try (BoringClient client = new BoringClient(server, "1.3", "P-256", "X25519")) {
      assertThat(client.exchange(GET_AND_CLOSE).group()).isEqualTo("X25519");
    }
  }

  @Test
  void shouldFailTheHandshakeWhenNoGroupIsShared() throws Exception {
    start(defaults.withGroups("P-256"));
    try (BoringClient client = new BoringClient(server, "1.3", "X25519")) {
      assertThat(client.exchange(GET_AND_CLOSE).failure()).isNotNull();
    }
    assertThat(server.accepted()).isEqualTo(1);
    assertThat(server.handshakes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.3", "1.2"})
  void shouldNotLetASessionBeResumedByDefault(String tls) throws Exception {
    start(defaults.withTls(tls));
    try (BoringClient client = new BoringClient(server, tls, "X25519", "P-256")) {
      for (int i = 0; i < 3; i++) {
        Exchange exchange = client.exchange(GET_AND_CLOSE);
        assertThat(exchange.failure()).isNull();
        assertThat(exchange.resumed()).isFalse();
        assertThat(exchange.recordsAfterHandshake())
            .as("the answer and close_notify, and no ticket")
            .isEqualTo(2);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.3", "1.2"})
  void shouldLetASessionBeResumedWithTickets(String tls) throws Exception {
    start(defaults.withTls(tls).withTickets(true));
    try (BoringClient client = new BoringClient(server, tls, "X25519", "P-256")) {
      assertThat(client.exchange(GET_AND_CLOSE).resumed()).isFalse();
      Exchange second = client.exchange(GET_AND_CLOSE);
      assertThat(second.resumed()).isTrue();
      assertThat(second.response()).endsWith("OK\n");
    }
  }

  @Test
  void shouldSpeakOnlyTheVersionAskedFor() throws Exception {
    start(defaults.withTls("1.2"));
    try (SSLSocket socket = JdkClient.connect(server)) {
      assertThat(socket.getSession().getProtocol()).isEqualTo("TLSv1.2");
    }
    try (BoringClient client = new BoringClient(server, "1.3", "X25519")) {
      assertThat(client.exchange(GET_AND_CLOSE).failure()).isNotNull();
    }
  }

  @Test
  void shouldSpreadConnectionsOverItsThreads() throws Exception {
    start(defaults.withThreads(2));
    try (SSLSocket first = JdkClient.connect(server);
        SSLSocket second = JdkClient.connect(server)) {
      JdkClient.send(first, GET);
      JdkClient.send(second, GET);
      assertThat(JdkClient.readUntil(first, "OK\n")).startsWith("HTTP/1.1 200");
      assertThat(JdkClient.readUntil(second, "OK\n")).startsWith("HTTP/1.1 200");
    }
    assertThat(server.accepted()).isEqualTo(2);
    assertThat(server.handshakes()).isEqualTo(2);
  }

  @Test
  void shouldCloseConnectionsWhoseAnswersAreStillHeldBack() throws Exception {
    start(defaults.withDelayNanos(TimeUnit.HOURS.toNanos(1)));
    try (SSLSocket socket = JdkClient.connect(server)) {
      JdkClient.send(socket, GET);
      await().until(() -> server.requests() == 1);
      server.close();
      server.close();
      assertThat(JdkClient.readToTheEnd(socket)).isEmpty();
    }
  }

  @Test
  void shouldFreeThePortWhenClosed() throws Exception {
    start(defaults);
    ServerOptions samePort = defaults.withPort(server.address().getPort());
    assertThatThrownBy(() -> EmbeddedServer.start(samePort))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("address=127.0.0.1:" + samePort.port());
    try (SSLSocket socket = JdkClient.connect(server)) {
      server.close();
      start(samePort);
      assertThat(server.address().getPort()).isEqualTo(samePort.port());
      assertThat(JdkClient.readToTheEnd(socket)).isEmpty();
    }
  }

  @Test
  void shouldSayWhichGroupsBoringSslRefuses() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EmbeddedServer.start(defaults.withGroups("X25519", "X448")))
        .withMessageEndingWith("groups=[X25519, X448]");
  }

  @Test
  void shouldSayWhatToDoWhenANativeLibraryIsMissing() {
    Throwable cause = new UnsatisfiedLinkError("no such file");
    assertThatThrownBy(() -> EmbeddedServer.requireNative("epoll", cause))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("epoll cannot be loaded")
        .hasMessageContaining("--target")
        .hasMessageEndingWith("os.arch=" + System.getProperty("os.arch"))
        .hasCause(cause);
  }

  private void start(ServerOptions options) {
    server = EmbeddedServer.start(options);
  }
}

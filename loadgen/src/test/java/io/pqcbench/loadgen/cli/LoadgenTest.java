package io.pqcbench.loadgen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.ValidationMessage;
import io.pqcbench.loadgen.handshake.RudeServer;
import io.pqcbench.loadgen.it.BundleFiles;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.QuicServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoadgenTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  private record Result(int exitCode, String out, String err) {}

  private static Result loadgen(String... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream newOut = new ByteArrayOutputStream();
    ByteArrayOutputStream newErr = new ByteArrayOutputStream();
    System.setOut(new PrintStream(newOut, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(newErr, true, StandardCharsets.UTF_8));
    try {
      int exitCode = Loadgen.execute(arguments);
      return new Result(
          exitCode,
          newOut.toString(StandardCharsets.UTF_8),
          newErr.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  private Result run(int port, String... more) {
    List<String> arguments =
        new ArrayList<>(List.of("--target", "127.0.0.1:" + port, "--out", out().toString()));
    arguments.addAll(List.of(more));
    return loadgen(arguments.toArray(new String[0]));
  }

  private Path out() {
    return directory.resolve("bundle");
  }

  private JsonNode json(String name) throws Exception {
    return JSON.readTree(out().resolve(name).toFile());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--groups nosuch | known: X25519, X25519MLKEM768, P-256",
        "--groups SecP256r1MLKEM768 | BoringSSL",
        "--rate 0 | rate='0'",
        "--rate= | rate=''",
        "--rate -5 | rate='-5'",
        "--rate fast | such as 300, 0.5, 1k",
        "--duration 10s --warmup 10s | --warmup must be shorter than --duration",
        "--duration 0 | --duration must be positive",
        "--target host:0 | port=0",
        "--target host:70000 | port=70000",
        "--target http://host | must be https",
        "--cert /etc/hostname | --cert is a PEM file, whose key must be given by --key",
        "--key /etc/hostname | --key needs --cert",
        "--key-password-env PASS | --cert is missing",
        "--cert /etc/hostname --key /etc/hostname --key-password-env P --key-password-file"
            + " /etc/hostname | take one",
        "--cacert /nosuch/file | file=/nosuch/file",
        "--ciphers TLS_AES_128_GCM_SHA256 | cannot restrict the cipher suites of TLS 1.3",
        "--ciphersuites nosuch --tls-stack openssl | unknown cipher suite",
        "--ciphersuites TLS_AES_128_GCM_SHA256 --tls-stack openssl --tls 1.2 --groups X25519 |"
            + " TLS 1.3, which is not offered",
        "--sigalgs mldsa65 | BoringSSL cannot be told its signature schemes",
        "--sigalgs nosuch --tls-stack openssl | known: mldsa44, mldsa65",
        "--tls-stack nosuch | BORINGSSL, OPENSSL, JDK, BC",
        "--openssl-lib /usr/lib | --openssl-lib is for --tls-stack openssl",
        "--tls-stack jdk --groups MLKEM768 | --tls-stack openssl, --tls-stack bc",
        "--tls-stack bc --session resumed | boringssl or openssl",
        "--tls-stack jdk --groups X25519 --session resumed | boringssl or openssl",
        "--tls-stack bc --cert /etc/hostname --key /etc/hostname | no client certificate here",
        "--tls-stack jdk --cert /etc/hostname --key /etc/hostname | no client certificate here",
        "--expect-cipher nosuch | unknown cipher suite",
        "--transport nio | rounds timers to a millisecond",
        "--transport sctp | --transport must be tcp or quic",
        "--transport quic --session pooled | full handshakes only",
        "--transport quic --tls 1.2 --groups X25519 | TLS 1.3 only",
        "--transport quic -H a:b | HTTP/0.9, which has no headers",
        "--transport quic --close rst | --close rst resets a TCP connection",
        "--transport quic --proxy-protocol v2 | leave out --proxy-protocol or --transport quic:"
            + " proxyProtocol=v2",
        "--transport quic --http 2 | leave out --http or --transport quic: http=2",
        "--transport quic --tls-stack openssl | leave out --tls-stack or --transport quic:"
            + " tlsStack=openssl",
        "--transport quic --cert /etc/hostname --key /etc/hostname | no certificate over QUIC",
        "--http 3 | --http must be 1.1 or 2: http=3",
        "--http 2 --alpn http/1.1 | --http 2 needs h2 among the protocols of --alpn",
        "--alpn h2 | wants HTTP/2, which is --http 2",
        "--http 2 -H connection:close | no place in HTTP/2",
        "--tls 1.1 | --tls must be 1.3, 1.2 or 1.2,1.3",
        "--tls 1.2 --groups X25519MLKEM768 | TLS 1.3 only",
        "--insecure --verify | contradict",
        "--proxy-protocol v3 | 'v3'",
        "-H nocolon | Name: value",
        "--path nopath | slash",
        "--lanes 0 | --lanes must be positive",
        "--max-in-flight 0 | --max-in-flight must be positive",
        "--timeout 0 | --timeout must be positive",
        "--source-address nosuch.invalid | --source-address",
        "--source-address 192.0.2.1 | no address of this machine",
        "--prometheus here | --prometheus must be PORT, HOST:PORT or [V6]:PORT",
        "--prometheus 70000 | address='70000'",
        "--prometheus ::1:9100 | address='::1:9100'",
        "--shard 2/2 --target h:1 | shard=2/2",
        "--shard half --target h:1 | shard='half'",
        "--shard 0/2 --target h:1 | --shard needs --start-at",
        "--shard 0/2 --start-at SOON | --shard needs --target",
        "--shard 0/2 --start-at SOON --target h:1 --arrival poisson | needs --seed",
        "--shard 7/9 --start-at SOON --target h:1 --rate 1 --duration 3s | fewer",
        "--start-at 2001-01-01T00:00:00Z --target h:1 | --start-at is past",
        "--start-at 10:00 --target h:1 | startAt='10:00'",
        "--start-at 2999-01-01T00:00:00Z --target h:1 | --start-at is more than 24 h ahead",
        "--nosuch | --nosuch",
        "--arrival sometimes | sometimes",
        "--abort-on sometimes | sometimes",
        "--fail-on trusted | trusted",
        "--rate 10 run | --rate stands before run",
        "--target host:443 calibrate | behind the subcommand",
        "calibrate --from 100 --max-rate 10 | --max-rate must not be below --from",
        "monitor --duration 0x --process nginx | 0x"
      })
  void wrongUsageIsExplainedAndEndsWithTwo(String arguments, String message) {
    String soon = Instant.now().plusSeconds(3_600).toString();
    Result result = loadgen((arguments.replace("SOON", soon) + " --out " + out()).split(" ", -1));
    assertThat(result.err()).contains(message).doesNotContain("\tat ");
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(out()).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--target 127.0.0.1:1 | nothing accepts connections",
        "--target nosuch.invalid:443 | cannot be resolved: host=nosuch.invalid",
        "probe 127.0.0.1:1 | nothing accepts connections",
        "probe --transport quic 127.0.0.1:1 | nothing listens on UDP"
      })
  void aTargetThatCannotBeReachedIsExplainedAndEndsWithFour(String arguments, String message) {
    Result result = loadgen(arguments.split(" ", -1));
    assertThat(result.err()).contains(message).doesNotContain("\tat ");
    assertThat(result.exitCode()).isEqualTo(4);
  }

  @Test
  void aPlainHttpPortEndsWithFour() throws Exception {
    try (RudeServer rude = new RudeServer(RudeServer.PLAIN_HTTP)) {
      Result result = run(rude.port());
      assertThat(result.err()).contains("does not speak TLS");
      assertThat(result.exitCode()).isEqualTo(4);
    }
  }

  @Test
  void aResultDirectoryThatIsNotEmptyEndsWithFourAndIsLeftAlone() throws Exception {
    Files.createDirectories(out());
    Files.writeString(out().resolve("mine"), "mine");
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Result result = run(server.address().getPort());
      assertThat(result.err()).contains("not empty");
      assertThat(result.exitCode()).isEqualTo(4);
      assertThat(out().resolve("mine")).hasContent("mine");
    }
  }

  @Test
  void aPortForMetricsThatIsInUseEndsWithFourBeforeTheRun() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      String address = "127.0.0.1:" + taken.getLocalPort();
      Result result = run(server.address().getPort(), "--prometheus", address);
      assertThat(result.err().lines())
          .singleElement()
          .asString()
          .contains("--prometheus", "in use", "address=" + address);
      assertThat(result.exitCode()).isEqualTo(4);
      assertThat(out()).doesNotExist();
    }
  }

  @Test
  void theAddressOfTheMetricsIsPrintedAndTheResultIsNotTouched() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Result result =
          run(
              server.address().getPort(),
              "--rate",
              "20",
              "--duration",
              "1s",
              "--prometheus",
              "[::1]:0",
              "--json");
      assertThat(result.err()).containsPattern("metrics at http://\\[[0-9a-f:]+]:\\d+/metrics");
      assertThat(JSON.readTree(result.out())).isEqualTo(json("summary.json"));
    }
  }

  @Test
  void aRunOverQuicLeavesACompleteBundleThatSaysSo() throws Exception {
    try (QuicServer server = QuicServer.start(ServerOptions.defaults(), /* retry= */ false)) {
      Result result =
          run(
              server.address().getPort(),
              "--transport",
              "quic",
              "--rate",
              "50",
              "--duration",
              "2s",
              "--warmup",
              "500ms",
              "--code-warmup",
              "1s");

      assertThat(result.exitCode()).as(result.err()).isIn(0, 1, 3);
      assertThat(result.out())
          .contains("QUIC, a new UDP socket each", "quic       version 1, hq-interop, no Retry")
          .containsPattern("handshake +75 ")
          .containsPattern("connect +0 ");
      assertThat(json("run.json").at("/plan/transport").asText()).isEqualTo("QUIC");
      assertThat(json("run.json").at("/server/quic/retry").asBoolean()).isFalse();
      assertThat(json("run.json").at("/versions/tlsStack").asText()).contains("quiche");
      assertThat(json("summary.json").at("/outcomes/SUCCESS").asInt()).isEqualTo(75);
      assertThat(json("summary.json").get("errors")).isEmpty();
      // All of the run, the preflight, and what the warm-up made elsewhere is none of it.
      assertThat(server.requests()).isEqualTo(101);
    }
  }

  @Test
  void aRunPrintsWhereItsNumbersComeFromAndLeavesACompleteBundle() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Result result =
          run(server.address().getPort(), "--rate", "50", "--duration", "2s", "--warmup", "500ms");

      assertThat(result.exitCode()).isIn(0, 1, 3);
      assertThat(result.out())
          .containsSubsequence(
              "loadgen ",
              "target ",
              "X25519MLKEM768",
              "pinned",
              "load ",
              "response ",
              "n<1000",
              "verdict ",
              "bundle ");
      assertThat(out()).isDirectoryContaining("glob:**/{run,summary}.json");
      JsonNode summary = json("summary.json");
      assertThat(summary.get("planned").asInt()).isEqualTo(100);
      assertThat(summary.get("outcomes").get("SUCCESS").asInt()).isEqualTo(75);
      assertThat(json("run.json").at("/plan/tls/groups/0").asText()).isEqualTo("X25519MLKEM768");
      assertThat(violations("run")).isEmpty();
      assertThat(violations("summary")).isEmpty();
    }
  }

  private Set<ValidationMessage> violations(String name) throws Exception {
    return new BundleFiles(out()).violations(name);
  }

  @Test
  void theJsonOnStandardOutputIsTheSummaryAndNothingElse() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Result result = run(server.address().getPort(), "--rate", "20", "--duration", "1s", "--json");
      assertThat(JSON.readTree(result.out())).isEqualTo(json("summary.json"));
      assertThat(result.err()).contains("verdict ");
    }
  }

  @Test
  void aServerThatAsksForAnotherShareMakesTheRunInvalid() throws Exception {
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withGroups("P-256"))) {
      Result result =
          run(
              server.address().getPort(),
              "--groups",
              "X25519,P-256",
              "--rate",
              "20",
              "--duration",
              "1s");
      assertThat(result.out()).contains("HelloRetryRequest");
      assertThat(json("summary.json").get("outcomes").get("HELLO_RETRY").asInt()).isEqualTo(16);
      assertThat(result.exitCode()).isEqualTo(3);
      assertThat(violations("summary")).isEmpty();
    }
  }

  @Test
  void probeDescribesTheServer() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Result result = loadgen("probe", "127.0.0.1:" + server.address().getPort());
      assertThat(result.exitCode()).isZero();
      assertThat(result.out()).contains("TLSv1.3", "X25519MLKEM768:1216", "EC 256", "status 200");
      Result json = loadgen("probe", "127.0.0.1:" + server.address().getPort(), "--json");
      assertThat(JSON.readTree(json.out()).get("group").asText()).isEqualTo("X25519MLKEM768");
    }
  }

  @ParameterizedTest
  @CsvSource({"--version", "run --version", "calibrate --version", "monitor --version"})
  void theVersionNamesTheLibraries(String arguments) {
    assertThat(loadgen(arguments.split(" ", -1)).out()).contains("Netty 4.", "BoringSSL", "JDK ");
  }

  @ParameterizedTest
  @CsvSource({"suspect, 3", "saturated, 3", "never, 0"})
  void theExitCodeDependsOnWhatTheUserCallsAFailure(String failOn, int exitCode) throws Exception {
    // An invalid run: every handshake costs a HelloRetryRequest.
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withGroups("P-256"))) {
      Result result =
          run(
              server.address().getPort(),
              "--groups",
              "X25519,P-256",
              "--rate",
              "20",
              "--duration",
              "1s",
              "--fail-on",
              failOn);
      assertThat(result.exitCode()).isEqualTo(exitCode);
      assertThat(json("summary.json").get("verdict").asText()).isEqualTo("INVALID");
    }
  }

  @Test
  void everyOptionHasAHelpThatNamesItsDefault() {
    picocli.CommandLine command = new picocli.CommandLine(new Loadgen());
    List<picocli.CommandLine.Model.OptionSpec> options =
        new ArrayList<>(command.getCommandSpec().options());
    command
        .getSubcommands()
        .values()
        .forEach(sub -> options.addAll(sub.getCommandSpec().options()));
    assertThat(options)
        .filteredOn(option -> !option.hidden())
        .allSatisfy(
            option -> {
              assertThat(option.description()).as(option.longestName()).isNotEmpty();
              if (option.arity().max() > 0) {
                assertThat(option.description()[0]).as(option.longestName()).contains("Default: ");
              }
            });
  }

  @Test
  void thereIsACompletionScript() {
    assertThat(loadgen("generate-completion").out())
        .contains("--groups", "probe", "calibrate", "--server-monitor");
  }

  @Test
  void warnsWhenTheRateNeedsMorePortsThanThereAre() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      String[] load = {"--rate", "100k", "--duration", "1s", "--max-in-flight", "1"};
      assertThat(run(server.address().getPort(), load).err())
          .contains("ephemeral ports", "--close rst");
    }
  }
}

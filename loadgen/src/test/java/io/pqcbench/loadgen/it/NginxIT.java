package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Tag("side-by-side")
class NginxIT {

  @TempDir private Path directory;
  private Nginx nginx;

  @BeforeEach
  void findNginx() throws Exception {
    nginx = Nginx.require();
  }

  private BundleFiles bundle() {
    return new BundleFiles(directory.resolve("bundle"));
  }

  private Command start(String target, String... more) throws Exception {
    List<String> arguments =
        new ArrayList<>(List.of("--target", target, "--out", bundle().directory().toString()));
    arguments.addAll(List.of(more));
    // What is looked at here does not depend on compiled code.
    arguments.addAll(List.of("--code-warmup", "0s"));
    return Command.loadgen(arguments.toArray(new String[0]));
  }

  /** nginx writes the name of a curve that it knows, and the number of one that it does not. */
  @ParameterizedTest
  @CsvSource({
    "X25519, constant, x25519",
    "X25519, poisson, x25519",
    "X25519MLKEM768, constant, 0x11ec|x25519mlkem768",
    "X25519MLKEM768, poisson, 0x11ec|x25519mlkem768"
  })
  void nginxSawExactlyTheHandshakesThatTheBundleHolds(String group, String arrival, String curve)
      throws Exception {
    String path = "/?exactly" + group + arrival;
    Command command =
        start(
            nginx.target() + path,
            "--groups",
            group,
            "--arrival",
            arrival,
            "--rate",
            "150",
            "--duration",
            "4s");
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);

    JsonNode summary = bundle().json("summary.json");
    assertThat(summary.get("planned").asInt()).isEqualTo(600);
    List<String[]> samples = bundle().samples();
    assertThat(samples).hasSize(600).allMatch(row -> row[3].equals("SUCCESS"));
    // Other tests go on meanwhile. One more line is the preflight's.
    assertThat(nginx.log().stream().filter(line -> line.contains(path + " ")))
        .hasSize(601)
        .allMatch(
            line ->
                line.toLowerCase(java.util.Locale.ROOT)
                    .matches("tlsv1.3 (" + curve + ") tls_\\S+ \\. 200 3 .*"));
  }

  @Test
  void hdrHistogramsOwnToolReadsTheLog() throws Exception {
    assertThat(
            start(nginx.target(), "--rate", "100", "--duration", "3s", "--warmup", "1s").exitCode())
        .isIn(0, 1, 3);

    Command processor =
        Command.of(
            System.getProperty("java.home") + "/bin/java",
            "-cp",
            System.getProperty("loadgen.jar"),
            "org.HdrHistogram.HistogramLogProcessor",
            "-i",
            bundle().directory().resolve("latency.hlog").toString(),
            "-tag",
            "handshake");
    assertThat(processor.exitCode()).isZero();
    assertThat(processor.out()).containsPattern("Total count *= +200]");
  }

  @Test
  void aBundleWhoseWriterWasKilledReads() throws Exception {
    Command command =
        start(nginx.target(), "--rate", "100", "--duration", "120s", "--warmup", "1s");
    Path samples = bundle().directory().resolve("samples.csv.gz");
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> Files.exists(samples) && Files.size(samples) > 4_000);
    command.signal("KILL");
    assertThat(command.exitCode()).isEqualTo(137);

    assertThat(bundle().json("run.json").at("/plan/pace/ratePerSecond").asDouble()).isEqualTo(100);
    int columns = bundle().columns().size();
    assertThat(bundle().samples()).isNotEmpty().allMatch(row -> row.length == columns);
    assertThat(Files.readString(bundle().directory().resolve("latency.hlog")))
        .contains("Tag=handshake,");
    assertThat(bundle().directory().resolve("summary.json")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"INT", "TERM"})
  void aSignalDrainsWritesAndEndsWith130(String signal) throws Exception {
    Command command =
        start(nginx.target(), "--rate", "100", "--duration", "120s", "--warmup", "1s");
    Path log = bundle().directory().resolve("latency.hlog");
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> Files.exists(log) && Files.readString(log).contains("Tag=handshake,"));
    command.signal(signal);

    assertThat(command.exitCode()).isEqualTo(130);
    JsonNode summary = bundle().json("summary.json");
    assertThat(summary.get("interrupted").asBoolean()).isTrue();
    assertThat(summary.get("outcomes").get("SUCCESS").asInt()).isPositive();
    assertThat(bundle().samples()).hasSize(summary.get("planned").asInt());
    assertThat(command.out()).contains("interrupted");
  }

  @Test
  void saysThatTheServerSpeaksTls12Only() throws Exception {
    Command command = start(nginx.tls12());
    assertThat(command.exitCode()).isEqualTo(4);
    assertThat(command.err()).contains("does not speak TLS 1.3");
  }

  @Test
  void measuresTls12WhenAsked() throws Exception {
    Command command =
        start(
            nginx.tls12(),
            "--tls",
            "1.2",
            "--groups",
            "X25519,P-256",
            "--rate",
            "50",
            "--duration",
            "2s");
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(bundle().samples()).hasSize(100).allMatch(row -> row[3].equals("SUCCESS"));
  }

  @Test
  void saysWhichGroupsTheServerAccepts() throws Exception {
    Command command = start(nginx.p256());
    assertThat(command.exitCode()).isEqualTo(4);
    assertThat(command.err()).contains("it does accept: P-256");
  }

  @Test
  void countsHelloRetryRequestsOfARealServer() throws Exception {
    Command command =
        start(nginx.p256(), "--groups", "X25519,P-256", "--rate", "50", "--duration", "2s");
    assertThat(command.exitCode()).isEqualTo(3);
    assertThat(bundle().samples()).hasSize(100).allMatch(row -> row[3].equals("HELLO_RETRY"));
  }

  @Test
  void neverResumesAgainstAServerThatIssuesTickets() throws Exception {
    Command command = start(nginx.tickets(), "--rate", "50", "--duration", "2s");
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(command.out()).contains("issued by the server");
    assertThat(bundle().samples()).hasSize(100).allMatch(row -> row[3].equals("SUCCESS"));
  }

  @Test
  void readsLargerPayloads() throws Exception {
    Command command =
        start("https://" + nginx.target() + "/payload/100K", "--rate", "20", "--duration", "2s");
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    int column = bundle().columns().indexOf("body_bytes");
    assertThat(bundle().samples())
        .hasSize(40)
        .allMatch(row -> Integer.parseInt(row[column]) >= 100_000);
  }
}

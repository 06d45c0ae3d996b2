package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that watch: monitor beside a server, and calibrate. */
class MonitorIT {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;

  private BundleFiles files(String name) {
    return new BundleFiles(directory.resolve(name));
  }

  @Test
  void aMonitorBesideTheServerIsJoinedToTheRunsTimeline() throws Exception {
    BundleFiles watched = files("server");
    Command monitor =
        Command.loadgen(
            "monitor", "--out", watched.directory().toString(), "--process", "java,nginx");
    Path rows = watched.directory().resolve("monitor.csv");
    Awaitility.await().until(() -> Files.exists(rows) && Files.size(rows) > 2_000);
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Command run =
          Command.loadgen(
              "--target",
              "127.0.0.1:" + server.address().getPort(),
              "--rate",
              "50",
              "--duration",
              "4s",
              "--server-monitor",
              watched.directory().toString(),
              "--out",
              files("bundle").directory().toString());
      assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);
      assertThat(run.out()).contains("the same machine's clock, exact");
    }
    monitor.signal("TERM");
    assertThat(monitor.exitCode()).isZero();

    JsonNode summary = files("bundle").json("summary.json");
    assertThat(summary.get("serverClock").asText()).contains("exact");
    assertThat(summary.get("findings"))
        .noneMatch(f -> f.get("rule").asText().equals("server-monitor"));
    assertThat(watched.violations("monitor")).isEmpty();
    JsonNode about = watched.json("monitor.json");
    assertThat(about.get("endedAt").isNull()).isFalse();
    // This test's own JVM is one of the watched processes.
    assertThat(about.at("/totals/watchedCpuSeconds").asDouble()).isPositive();
    assertThat(watched.lines("monitor.csv")).hasSizeGreaterThan(30);
  }

  @Test
  void aMonitorThatIsNoneIsExplained() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Command run =
          Command.loadgen(
              "--target",
              "127.0.0.1:" + server.address().getPort(),
              "--server-monitor",
              directory.toString(),
              "--out",
              files("bundle").directory().toString());
      assertThat(run.exitCode()).isEqualTo(4);
      assertThat(run.err()).contains("no monitor.json", "serverMonitor=");
    }
  }

  @Test
  void aRunWatchesItsMachineTenTimesASecond() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Command run =
          Command.loadgen(
              "--target",
              "127.0.0.1:" + server.address().getPort(),
              "--rate",
              "50",
              "--duration",
              "3s",
              "--out",
              files("bundle").directory().toString());
      assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);
    }
    List<String> header =
        List.of(Files.readAllLines(directory.resolve("bundle/monitor.csv")).get(0).split(",", -1));
    assertThat(header).contains("cpu0_steal_ms", "lane_run_delay_us", "hiccup_us", "syn_retrans");
    assertThat(files("bundle").lines("monitor.csv"))
        .hasSizeGreaterThan(20)
        .allMatch(line -> line.split(",", -1).length == header.size());
    assertThat(files("bundle").lines("slow.csv"))
        .isNotEmpty()
        .allMatch(line -> line.matches(".*,[a-z-]+,\".+\""));
    assertThat(files("bundle").violations("run")).isEmpty();
    assertThat(files("bundle").violations("summary")).isEmpty();
  }

  @Test
  void aCalibrationSaysWhichRateToUseAndLaterRunsAboveItAreWarned() throws Exception {
    String state = "export XDG_STATE_HOME=" + directory.resolve("state");
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      String target = "127.0.0.1:" + server.address().getPort();
      Command calibrate =
          Command.loadgenAfter(
              state,
              "calibrate",
              "--target",
              target,
              "--from",
              "20",
              "--max-rate",
              "30",
              "--trial",
              "3s",
              "--out",
              files("calibration").directory().toString());
      assertThat(calibrate.exitCode()).as(calibrate.err() + calibrate.out()).isIn(0, 3);
      assertThat(calibrate.out()).contains("lag p99 us", "result ", "floor ");
      assertThat(files("calibration").violations("calibration")).isEmpty();
      JsonNode found = files("calibration").json("calibration.json");
      String first = found.at("/steps/0/directory").asText();
      assertThat(files("calibration/" + first).json("summary.json").get("planned").asInt())
          .isEqualTo(60);

      // Whatever this machine could do just now: the warning depends on the file alone.
      Path kept;
      try (var walk = Files.walk(directory.resolve("state"))) {
        kept = walk.filter(Files::isRegularFile).findFirst().orElseThrow();
      }
      ObjectNode edited = (ObjectNode) JSON.readTree(kept.toFile());
      edited.put("highestTrustedPerSecond", 10).put("recommendedPerSecond", 5);
      JSON.writeValue(kept.toFile(), edited);
      Command above =
          Command.loadgenAfter(
              state,
              "--target",
              target,
              "--rate",
              "20",
              "--duration",
              "1s",
              "--out",
              files("bundle").directory().toString());
      assertThat(above.exitCode()).isIn(0, 1, 3);
      assertThat(above.err()).contains("above the highest that was trusted", "10/s");
    }
  }
}

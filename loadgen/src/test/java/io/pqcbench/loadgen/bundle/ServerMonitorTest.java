package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerMonitorTest {

  private static final long SECOND = 1_000_000_000L;
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir private Path directory;

  private ServerMonitor open(String ownBootId) throws IOException {
    Files.writeString(
        directory.resolve("monitor.json"),
        """
        {"schema": "loadgen-monitor/1", "startedAt": "2026-01-01T00:00:00Z",
         "startMonotonicNanos": 5000000000, "bootId": "here"}
        """);
    return ServerMonitor.open(directory, ownBootId);
  }

  private void append(String file, String text) throws IOException {
    Files.writeString(
        directory.resolve(file), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static List<Disturbance> disturbances(ServerMonitor monitor) throws IOException {
    List<Disturbance> taken = new ArrayList<>();
    monitor.takeDisturbances(taken::add);
    return taken;
  }

  @Test
  void onTheSameMachineTimesAreExact() throws IOException {
    append("disturbances.csv", MonitorFormat.DISTURBANCES);
    append("disturbances.csv", "steal,1000000,1100000,20000.0,\"\"\n");
    ServerMonitor monitor = open("here");
    monitor.align(6 * SECOND, START.plusSeconds(700)); // a wall clock that was set means nothing
    Disturbance steal = disturbances(monitor).get(0);
    assertThat(steal.startNanos()).isEqualTo(6 * SECOND);
    assertThat(steal.amountNanos()).isEqualTo(20_000_000);
    assertThat(monitor.alignment()).contains("exact");
  }

  @Test
  void betweenMachinesTheWallClocksTieThem() throws IOException {
    append("disturbances.csv", MonitorFormat.DISTURBANCES);
    append("disturbances.csv", "steal,10000000,10100000,20000.0,\"\"\n");
    ServerMonitor monitor = open("elsewhere");
    monitor.align(100 * SECOND, START.plusSeconds(4));
    assertThat(disturbances(monitor).get(0).startNanos()).isEqualTo(106 * SECOND);
    assertThat(monitor.alignment()).contains("wall clocks");
  }

  @Test
  void followsAFileThatGrowsAndWaitsForTheEndOfALine() throws IOException {
    append("disturbances.csv", MonitorFormat.DISTURBANCES + "steal,1000000,1100000,200");
    ServerMonitor monitor = open("here");
    monitor.align(5 * SECOND, START);
    assertThat(disturbances(monitor)).isEmpty();
    append("disturbances.csv", "00.0,\"a, b\"\n");
    assertThat(disturbances(monitor))
        .singleElement()
        .extracting(Disturbance::detail)
        .isEqualTo("a, b");
    assertThat(disturbances(monitor)).isEmpty();
  }

  /**
   * The monitor's own JVM serves nobody: its pauses, and what they explain, are not the server's.
   */
  @Test
  void whatTheMonitorsOwnJvmDoesIsNotTheServers() throws IOException {
    append("disturbances.csv", MonitorFormat.DISTURBANCES);
    append("disturbances.csv", "gc-pause,1000000,1020000,20000.0,\"\"\n");
    append("disturbances.csv", "hiccup,1000000,1020000,20000.0,\"\"\n");
    append("disturbances.csv", "hiccup,2000000,2030000,30000.0,\"\"\n");
    ServerMonitor monitor = open("here");
    monitor.align(5 * SECOND, START);
    assertThat(disturbances(monitor))
        .extracting(Disturbance::amountNanos)
        .containsExactly(30_000_000L);
  }

  @Test
  void whatWasLongBeforeTheRunIsPassedOver() throws IOException {
    append(
        "monitor.csv",
        "start_us,length_us,cpu3_user_ms,cpu3_system_ms,cpu3_irq_ms,cpu3_iowait_ms,cpu3_idle_ms,"
            + "cpu3_steal_ms,listen_overflows\n"
            + "1000000,100000,10,0,0,0,90,0,7\n"
            + "99000000,100000,30,10,0,0,50,10,2\n");
    ServerMonitor monitor = open("here");
    monitor.align(105 * SECOND, START);
    List<Interval> taken = new ArrayList<>();
    monitor.takeIntervals(taken::add);
    assertThat(taken).hasSize(1);
    Interval interval = taken.get(0);
    assertThat(interval.startNanos()).isEqualTo(104 * SECOND);
    assertThat(interval.cpus()).hasSize(1);
    assertThat(interval.cpus().get(0).cpu()).isEqualTo(3);
    assertThat(interval.stealNanos()).isEqualTo(10_000_000);
    assertThat(interval.net().listenOverflows()).isEqualTo(2);
    assertThat(interval.net().synRetrans()).isEqualTo(-1);
  }

  @Test
  void aFormatThatIsNotKnownIsRefused() throws IOException {
    Files.writeString(directory.resolve("monitor.json"), "{\"schema\": \"loadgen-monitor/9\"}");
    assertThatThrownBy(() -> ServerMonitor.open(directory, "here"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("schema=loadgen-monitor/9");
  }
}

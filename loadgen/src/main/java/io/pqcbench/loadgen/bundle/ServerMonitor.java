package io.pqcbench.loadgen.bundle;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pqcbench.loadgen.monitor.CpuTimes;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.monitor.NetCounters;
import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Follows the files of a {@code loadgen monitor} that runs beside the server, and puts what they
 * say on the run's clock. They may be on the same machine, on a shared file system, or complete
 * already. Used by the writer's thread alone.
 *
 * <p>On the same machine, told by its boot id, both count from the same monotonic clock and nothing
 * is estimated. Otherwise the two wall clocks are taken to agree, and how well they do is estimated
 * in the end from the traffic, which both have counted: see {@link ClockOffset}.
 */
public final class ServerMonitor {

  private final Tail intervals;
  private final Tail disturbances;
  private final boolean sameMachine;
  private final long serverStartNanos;
  private final Instant serverStart;
  private final ClockOffset traffic = new ClockOffset();
  private long shiftNanos;

  private ServerMonitor(Path directory, JsonNode about, String ownBootId) {
    intervals = new Tail(directory.resolve("monitor.csv"));
    disturbances = new Tail(directory.resolve("disturbances.csv"));
    sameMachine = about.path("bootId").asText("").equals(ownBootId);
    serverStartNanos = about.path("startMonotonicNanos").asLong();
    serverStart = Instant.parse(about.path("startedAt").asText());
  }

  /**
   * Opens the directory of a server's monitor.
   *
   * @param where the directory, or a file in it
   * @param ownBootId of this machine; null if unknown
   * @throws IOException with a message for the user when it is none
   */
  public static ServerMonitor open(Path where, String ownBootId) throws IOException {
    Path directory = Files.isDirectory(where) ? where : where.toAbsolutePath().getParent();
    Path about = directory.resolve("monitor.json");
    if (!Files.isReadable(about)) {
      throw new IOException(
          "--server-monitor must be the directory that 'loadgen monitor' writes on the server, and"
              + " there is no monitor.json in it: serverMonitor="
              + where);
    }
    JsonNode json = new ObjectMapper().readTree(about.toFile());
    if (!json.path("schema").asText().equals("loadgen-monitor/1")) {
      throw new IOException(
          "the server's monitor has a format that this version does not know: schema="
              + json.path("schema").asText()
              + " file="
              + about);
    }
    return new ServerMonitor(directory, json, ownBootId);
  }

  /**
   * Fixes how the server's times become the run's.
   *
   * @param runStart on the run's clock
   * @param wall the same instant
   */
  public void align(long runStart, Instant wall) {
    shiftNanos =
        sameMachine
            ? serverStartNanos
            : runStart
                + (serverStart.getEpochSecond() - wall.getEpochSecond()) * 1_000_000_000L
                + (serverStart.getNano() - wall.getNano());
  }

  /** Returns the intervals that were added since the last call, on the run's clock. */
  public List<Interval> takeIntervals() throws IOException {
    List<Interval> fresh = new ArrayList<>();
    for (Map<String, String> row : intervals.take()) {
      Interval interval = interval(row);
      traffic.server(interval);
      fresh.add(interval);
    }
    return fresh;
  }

  /** Takes note of what the client did, to compare the two clocks by it. */
  public void compare(Interval client) {
    traffic.client(client);
  }

  /** Returns the disturbances that were added since the last call, on the run's clock. */
  public List<Disturbance> takeDisturbances() throws IOException {
    List<Disturbance> fresh = new ArrayList<>();
    for (Map<String, String> row : disturbances.take()) {
      for (Disturbance.Source source : Disturbance.Source.values()) {
        if (source.label().equals(row.get("source"))) {
          fresh.add(
              new Disturbance(
                  source,
                  nanos(row, "start_us") + shiftNanos,
                  nanos(row, "end_us") + shiftNanos,
                  nanos(row, "amount_us"),
                  row.getOrDefault("detail", "")));
        }
      }
    }
    return fresh;
  }

  /**
   * Returns how the clocks were brought together, in a sentence with numbers.
   *
   * @see ClockOffset#estimate
   */
  public String alignment() {
    return sameMachine
        ? "the same machine's clock, exact"
        : "wall clocks, taken to agree; by the traffic: " + traffic.estimate();
  }

  private Interval interval(Map<String, String> row) {
    long start = nanos(row, "start_us") + shiftNanos;
    List<CpuTimes> cpus = new ArrayList<>();
    for (String column : row.keySet()) {
      if (column.startsWith("cpu") && column.endsWith("_user_ms")) {
        String cpu = column.substring(0, column.length() - "user_ms".length());
        cpus.add(
            new CpuTimes(
                Integer.parseInt(cpu.substring(3, cpu.length() - 1)),
                ticks(row, cpu + "user_ms"),
                0,
                ticks(row, cpu + "system_ms"),
                ticks(row, cpu + "idle_ms"),
                ticks(row, cpu + "iowait_ms"),
                0,
                ticks(row, cpu + "irq_ms"),
                row.getOrDefault(cpu + "steal_ms", "").isEmpty()
                    ? -1
                    : ticks(row, cpu + "steal_ms")));
      }
    }
    return new Interval(
        start,
        start + Math.max(1, nanos(row, "length_us")),
        cpus,
        Map.of(
            Role.WATCHED,
            new Interval.ThreadTimes(
                nanos(row, "watched_cpu_us"), nanos(row, "watched_run_delay_us"), 0)),
        0,
        nanos(row, "process_cpu_us"),
        number(row, "pressure_us"),
        nanos(row, "throttled_us"),
        Math.max(0, number(row, "throttled_periods")),
        nanos(row, "hiccup_us"),
        List.of(),
        new NetCounters(
            number(row, "retrans_segs"),
            number(row, "out_segs"),
            -1,
            number(row, "syn_retrans"),
            number(row, "tcp_timeouts"),
            number(row, "delayed_acks"),
            number(row, "loss_probes"),
            number(row, "listen_overflows"),
            number(row, "listen_drops"),
            -1,
            number(row, "sockets_used"),
            number(row, "tcp_in_use"),
            number(row, "orphans"),
            number(row, "time_wait"),
            number(row, "softnet_dropped"),
            number(row, "softnet_squeezed")),
        number(row, "wall_step_us") * 1000,
        (int) number(row, "frequency_mhz"),
        number(row, "thermal_throttles"));
  }

  private static long ticks(Map<String, String> row, String column) {
    return number(row, column) * 1_000_000L / Interval.TICK_NANOS;
  }

  private static long nanos(Map<String, String> row, String column) {
    String text = row.getOrDefault(column, "");
    return text.isEmpty() ? 0 : Math.round(Double.parseDouble(text) * 1e3);
  }

  private static long number(Map<String, String> row, String column) {
    String text = row.getOrDefault(column, "");
    return text.isEmpty() ? -1 : Long.parseLong(text);
  }

  /** The rows that come to stand at the end of a CSV file. */
  private static final class Tail {
    private final Path file;
    private long read;
    private String torn = "";
    private String[] columns;

    Tail(Path file) {
      this.file = file;
    }

    List<Map<String, String>> take() throws IOException {
      List<Map<String, String>> rows = new ArrayList<>();
      if (!Files.exists(file)) {
        return rows;
      }
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        ByteBuffer fresh = ByteBuffer.allocate((int) Math.min(1 << 26, channel.size() - read));
        int got = channel.read(fresh, read);
        while (got > 0 && fresh.hasRemaining()) {
          got = channel.read(fresh, read + fresh.position());
        }
        read += fresh.position();
        String text = torn + new String(fresh.array(), 0, fresh.position(), StandardCharsets.UTF_8);
        int end = text.lastIndexOf('\n') + 1;
        torn = text.substring(end);
        text.substring(0, end).lines().forEach(line -> add(rows, line));
      }
      return rows;
    }

    private void add(List<Map<String, String>> rows, String line) {
      if (columns == null) {
        columns = line.split(",", -1);
        return;
      }
      // Only the last column is text, and only it may hold a comma.
      String[] fields = line.split(",", columns.length);
      Map<String, String> row = new HashMap<>();
      for (int i = 0; i < fields.length; i++) {
        row.put(columns[i], fields[i].replace("\"", ""));
      }
      rows.add(row);
    }
  }
}

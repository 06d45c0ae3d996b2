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
import java.util.function.Consumer;
import java.util.function.Predicate;

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

  /** The clocks may differ by this much, and are compared from before the run on. */
  private static final long BEFORE_RUN_NANOS = 10_000_000_000L;

  private final Tail intervals;
  private final Tail disturbances;
  private final boolean sameMachine;
  private final long serverStartNanos;
  private final Instant serverStart;
  private final ClockOffset traffic = new ClockOffset();
  private long shiftNanos;
  private long runStartNanos;

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
    runStartNanos = runStart;
    shiftNanos =
        sameMachine
            ? serverStartNanos
            : runStart
                + (serverStart.getEpochSecond() - wall.getEpochSecond()) * 1_000_000_000L
                + (serverStart.getNano() - wall.getNano());
  }

  /**
   * Hands over the intervals that were added since the last call, on the run's clock; those from
   * well before the run are passed over.
   */
  public void takeIntervals(Consumer<Interval> to) throws IOException {
    intervals.take(
        row -> {
          Interval interval = interval(row);
          traffic.server(interval);
          to.accept(interval);
        },
        line -> micros(line, 0) >= earliestMicros());
  }

  /** Takes note of what the client did, to compare the two clocks by it. */
  public void compare(Interval client) {
    traffic.client(client);
  }

  /**
   * Hands over the disturbances that were added since the last call and that tell of the server:
   * what its hypervisor, its quota and other processes took from it. Of the monitor's own JVM only
   * hiccups are, and of those the ones that its collector does not explain.
   */
  public void takeDisturbances(Consumer<Disturbance> to) throws IOException {
    List<Disturbance> fresh = new ArrayList<>();
    disturbances.take(
        row -> {
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
        },
        line -> micros(line, 2) >= earliestMicros());
    for (Disturbance disturbance : fresh) {
      switch (disturbance.source()) {
        case STEAL, THROTTLED, RUN_DELAY, CLOCK_STEP -> to.accept(disturbance);
        case HICCUP -> {
          if (fresh.stream().noneMatch(other -> isPause(other) && meet(other, disturbance))) {
            to.accept(disturbance);
          }
        }
        default -> {
          // Of the monitor's own JVM, which serves nobody.
        }
      }
    }
  }

  private static boolean isPause(Disturbance disturbance) {
    return disturbance.source() == Disturbance.Source.GC_PAUSE
        || disturbance.source() == Disturbance.Source.SAFEPOINT;
  }

  private static boolean meet(Disturbance pause, Disturbance hiccup) {
    return pause.atMostWithin(hiccup.startNanos(), hiccup.endNanos()) >= hiccup.amountNanos() / 2;
  }

  /** What ended earlier, by the server's own count, is of no use to the run. */
  private long earliestMicros() {
    return (runStartNanos - BEFORE_RUN_NANOS - shiftNanos) / 1000;
  }

  /** Returns a field of a line; the largest number for what is none, such as a header. */
  private static double micros(String line, int field) {
    String[] fields = line.split(",", field + 2);
    try {
      return Double.parseDouble(fields[field]);
    } catch (NumberFormatException | ArrayIndexOutOfBoundsException e) {
      return Double.MAX_VALUE;
    }
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
        nanos(row, "worst_lane_run_delay_us"),
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
    private static final int PIECE_BYTES = 64 * 1024;

    private final Path file;
    private long read;
    private String torn = "";
    private String[] columns;

    Tail(Path file) {
      this.file = file;
    }

    /**
     * @param to gets each new row
     * @param wanted says of a line whether it is worth to be taken apart
     */
    void take(Consumer<Map<String, String>> to, Predicate<String> wanted) throws IOException {
      if (!Files.exists(file)) {
        return;
      }
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
        for (int got = channel.read(piece, read); got > 0; got = channel.read(piece, read)) {
          read += got;
          String text = torn + new String(piece.array(), 0, got, StandardCharsets.ISO_8859_1);
          piece.clear();
          int end = text.lastIndexOf('\n') + 1;
          torn = text.substring(end);
          text.substring(0, end).lines().forEach(line -> add(line, to, wanted));
        }
      }
    }

    private void add(String line, Consumer<Map<String, String>> to, Predicate<String> wanted) {
      if (columns == null) {
        columns = line.split(",", -1);
        return;
      }
      if (!wanted.test(line)) {
        return;
      }
      // Only the last column is text, and only it may hold a comma.
      String[] fields = line.split(",", columns.length);
      Map<String, String> row = new HashMap<>();
      for (int i = 0; i < fields.length; i++) {
        row.put(columns[i], fields[i].replace("\"", ""));
      }
      to.accept(row);
    }
  }
}

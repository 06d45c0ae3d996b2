package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.MonitorFiles;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.monitor.MachineRecord;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.monitor.Platform;
import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code loadgen monitor}. */
@Command(
    name = "monitor",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description =
        "Watches this machine as a run does, without load: on the server, beside nginx. Give the"
            + " directory to 'run --server-monitor', or keep it with the bundle.")
final class MonitorCommand implements Callable<Integer> {

  private static final String SCHEMA = "loadgen-monitor/1";

  private static final String FILE = "monitor.json";

  private static final long CALIBRATION_NANOS = 1_000_000_000L;

  /** What the last second's files may take before a signal ends the JVM. */
  private static final long END_SECONDS = 10;

  private static final int PLAIN_EVERY = 10;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      required = true,
      description = "Result directory, new or empty. Default: none, it must be given")
  private Path out;

  @Option(
      names = "--process",
      paramLabel = "NAME[,NAME]",
      split = ",",
      description =
          "Processes whose run delay is wanted, by their name as ps -o comm shows it. Default:"
              + " nginx")
  private List<String> processes = List.of("nginx");

  @Option(
      names = {"-d", "--duration"},
      paramLabel = "TIME",
      converter = ConnectionOptions.Nanos.class,
      description = "End after this time. Default: at SIGINT or SIGTERM")
  private Long durationNanos;

  @Option(
      names = {"-q", "--quiet"},
      description = "No progress")
  private boolean quiet;

  private final CountDownLatch stop = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile boolean succeeded;

  /**
   * What {@code monitor.json} holds; rewritten at the end.
   *
   * @param schema name and version of this format
   * @param startedAt wall clock, ISO 8601, from which the times of the files count
   * @param startMonotonicNanos the same instant on CLOCK_MONOTONIC
   * @param bootId of the machine; null if unknown
   * @param endedAt wall clock; null while it runs
   * @param processes that are watched
   * @param host the machine and the JVM
   * @param platform what the machine lets be seen
   * @param noise of the first second
   * @param totals null while it runs
   */
  record MonitorJson(
      String schema,
      String startedAt,
      long startMonotonicNanos,
      String bootId,
      String endedAt,
      List<String> processes,
      HostFacts host,
      Platform platform,
      Monitor.Calibration noise,
      Totals totals) {}

  /** Sums over the whole time; what is not reported is null. */
  record Totals(
      double seconds,
      double busyCpus,
      double leastIdleShare,
      double watchedCpuSeconds,
      double watchedRunDelaySeconds,
      double stealSeconds,
      double throttledSeconds,
      long listenOverflows,
      long retransmits,
      Map<String, Long> disturbances) {

    static Totals of(MachineRecord machine) {
      Map<String, Long> disturbances = new TreeMap<>();
      for (Disturbance.Source source : Disturbance.Source.values()) {
        if (machine.disturbances(source).count() > 0) {
          disturbances.put(source.label(), machine.disturbances(source).count());
        }
      }
      return new Totals(
          machine.lengthNanos() / 1e9,
          machine.processCpus() + machine.otherCpus(),
          machine.leastIdle().share(),
          machine.threads(Role.WATCHED).cpuNanos() / 1e9,
          machine.threads(Role.WATCHED).runDelayNanos() / 1e9,
          machine.steal().total() / 1e9,
          machine.throttled().total() / 1e9,
          machine.net() == null ? -1 : machine.net().listenOverflows(),
          machine.net() == null ? -1 : machine.net().retransSegs(),
          disturbances);
    }
  }

  @Override
  public Integer call() throws Exception {
    Bundle.create(out, Long.MAX_VALUE).close();
    Thread hook = new Thread(this::interrupt, "interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      int exitCode = watch();
      succeeded = true;
      return exitCode;
    } finally {
      done.countDown();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // A signal is what ended it: the hook finishes.
        stop.countDown();
      }
    }
  }

  private int watch() throws Exception {
    NanoClock clock = NanoClock.SYSTEM;
    try (Monitor monitor = Monitor.start(clock, processes)) {
      Monitor.Calibration noise = monitor.calibrate(CALIBRATION_NANOS);
      long start = clock.nanos();
      String startedAt = Instant.now().toString();
      HostFacts host = HostFacts.read();
      MonitorJson about =
          new MonitorJson(
              SCHEMA,
              startedAt,
              start,
              host.bootId(),
              null,
              processes,
              host,
              monitor.platform(),
              noise,
              null);
      Bundle.writeJson(out, FILE, about);
      MachineRecord machine = new MachineRecord(start, start, Long.MAX_VALUE);
      watch(monitor, machine, start, clock);
      Bundle.writeJson(
          out,
          FILE,
          new MonitorJson(
              SCHEMA,
              startedAt,
              start,
              about.bootId(),
              Instant.now().toString(),
              processes,
              host,
              monitor.platform(),
              noise,
              Totals.of(machine)));
      System.out.println("monitor    " + out);
      return 0;
    }
  }

  private void watch(Monitor monitor, MachineRecord machine, long start, NanoClock clock)
      throws IOException, InterruptedException {
    try (MonitorFiles files = new MonitorFiles(out, start)) {
      boolean more = true;
      for (int second = 1; more; second++) {
        long elapsed = clock.nanos() - start;
        boolean last = durationNanos != null && durationNanos - elapsed <= 1_000_000_000L;
        more =
            !stop.await(
                    last ? Math.max(0, durationNanos - elapsed) : 1_000_000_000L,
                    TimeUnit.NANOSECONDS)
                && !last;
        if (!more) {
          monitor.settle();
        }
        Interval latest = null;
        for (Interval interval : monitor.takeIntervals()) {
          machine.add(interval);
          files.write(interval);
          latest = interval;
        }
        for (Disturbance disturbance : monitor.disturbances().takeOver()) {
          machine.add(disturbance);
          files.write(disturbance);
        }
        monitor.disturbances().forgetBefore(clock.nanos());
        files.flush();
        if (!quiet && latest != null && second % PLAIN_EVERY == 0) {
          System.err.printf(
              Locale.ROOT,
              "%5d s  busy %.2f of %d processors  %s CPU %.2f s, run delay %.0f ms  steal %.0f ms"
                  + "  listen overflows %d%n",
              second,
              machine.processCpus() + machine.otherCpus(),
              latest.cpus().size(),
              String.join(",", processes),
              machine.threads(Role.WATCHED).cpuNanos() / 1e9,
              machine.threads(Role.WATCHED).runDelayNanos() / 1e6,
              machine.steal().total() / 1e6,
              machine.net().listenOverflows());
        }
      }
    }
  }

  /** A monitor is ended by a signal as a rule; its files are complete then, and the exit code 0. */
  private void interrupt() {
    stop.countDown();
    try {
      if (done.await(END_SECONDS, TimeUnit.SECONDS) && succeeded) {
        System.out.flush();
        Runtime.getRuntime().halt(0);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

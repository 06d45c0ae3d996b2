package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToLongFunction;
import org.HdrHistogram.Histogram;

/**
 * Watches the machine and the process: everything that could have made a request slow and is not
 * the target. It needs no root, runs on threads of its own, and never touches a lane.
 */
public final class Monitor implements AutoCloseable {

  private static final long SAMPLE_NANOS = 100_000_000L;

  /** Two clocks that were read within so short a time can be compared to a microsecond or two. */
  private static final long CLOSE_NANOS = 5_000L;

  /** The recorder's clock is compared with the run's so often, in samples. */
  private static final int BEACON = 10;

  private final NanoClock clock;
  private final Disturbances disturbances = new Disturbances();
  private final KernelText.Files files = new KernelText.Files();
  private final Queue<Interval> intervals = new ConcurrentLinkedQueue<>();
  private final HiccupMeter hiccups;
  private final JvmProbe jvm;
  private final Sampler sampler;
  private final Platform platform;
  private final Thread thread;
  private volatile boolean closed;
  private final AtomicLong failedSamples = new AtomicLong();
  private Calibration calibration;

  /**
   * The noise of the machine while it had nothing to do.
   *
   * @param hiccupThresholdMicros stops of the process that are longer are reported
   * @param wakeP50Micros by how much a thread that slept a millisecond woke late
   * @param wakeP99Micros the same
   * @param wakeMaxMicros the same
   * @param hiccupSleepMicros how long the watching threads sleep from now on: stops that are
   *     shorter can go unseen
   * @param wakeRunDelayMicros of it, what the kernel counts as run delay: the time from being
   *     runnable to running, though nobody else had the processor; NaN if not reported
   */
  public record Calibration(
      double hiccupThresholdMicros,
      double wakeP50Micros,
      double wakeP99Micros,
      double wakeMaxMicros,
      double hiccupSleepMicros,
      double wakeRunDelayMicros) {}

  private Monitor(NanoClock clock, List<String> watched) {
    this.clock = clock;
    hiccups = new HiccupMeter(clock, disturbances);
    jvm = new JvmProbe(clock, disturbances);
    platform = Platform.read(files, clock);
    var os =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    sampler =
        new Sampler(
            files,
            new ProcTasks(files, watched),
            watched.isEmpty()
                ? platform.throttleFiles()
                : Platform.throttleFilesOf(files, ProcTasks.pids(files, watched)),
            cpuFiles("cpufreq/scaling_cur_freq"),
            cpuFiles("thermal_throttle/core_throttle_count"),
            () -> wallOffsetNanos(clock),
            os::getProcessCpuTime,
            disturbances);
    thread = new Thread(this::sampleUntilClosed, "monitor");
    thread.setDaemon(true);
  }

  /**
   * Starts to watch.
   *
   * @param clock the run's
   * @param watchedProcesses names of other processes whose run delay is wanted, as in
   *     /proc/PID/comm; may be empty
   */
  public static Monitor start(NanoClock clock, List<String> watchedProcesses) {
    Monitor monitor = new Monitor(clock, watchedProcesses);
    monitor.jvm.start();
    monitor.hiccups.start();
    monitor.thread.start();
    return monitor;
  }

  /**
   * Returns the wall clock minus the run's. The two cannot be read at once, so the pair that lay
   * closest together is taken: between the readings of a pair the thread may have lost its
   * processor.
   */
  static long wallOffsetNanos(NanoClock clock) {
    long closest = Long.MAX_VALUE;
    long offset = 0;
    for (int i = 0; i < 10 && closest > CLOSE_NANOS; i++) {
      long before = clock.nanos();
      Instant wall = Instant.now();
      long apart = clock.nanos() - before;
      if (apart < closest) {
        closest = apart;
        offset = wall.getEpochSecond() * 1_000_000_000L + wall.getNano() - before - apart / 2;
      }
    }
    return offset;
  }

  /**
   * Returns a monitor that watches nothing, to find out what watching costs.
   *
   * @param clock the run's
   */
  public static Monitor blind(NanoClock clock) {
    return new Monitor(clock, List.of());
  }

  /** Returns whether it watches. */
  public boolean watches() {
    return thread.getState() != Thread.State.NEW;
  }

  private static List<String> cpuFiles(String name) {
    List<String> found = new ArrayList<>();
    try (DirectoryStream<Path> cpus =
        Files.newDirectoryStream(Path.of("/sys/devices/system/cpu"), "cpu[0-9]*")) {
      for (Path cpu : cpus) {
        Path file = cpu.resolve(name);
        if (Files.isReadable(file)) {
          found.add(file.toString());
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    return found;
  }

  private void sampleUntilClosed() {
    long next = clock.nanos();
    for (int i = 0; !closed; i++) {
      long now = clock.nanos();
      while (now < next) {
        LockSupport.parkNanos(next - now);
        now = clock.nanos();
      }
      next += SAMPLE_NANOS * (1 + (now - next) / SAMPLE_NANOS);
      try {
        sample(now);
        if (i % BEACON == 0 && jvm.isRecorder()) {
          jvm.sendBeacon();
        }
      } catch (RuntimeException e) {
        // The verdict sees that intervals are missing; the next reading may succeed.
        failedSamples.incrementAndGet();
      }
    }
  }

  private void sample(long now) {
    Interval interval = sampler.sample(now, hiccups.takeLongest());
    if (interval != null) {
      intervals.add(interval);
    }
  }

  /**
   * Watches the machine for a while in which it should have nothing to do, and takes its noise as
   * the threshold of hiccups. Blocks the caller.
   *
   * @param nanos for how long
   */
  public Calibration calibrate(long nanos) {
    hiccups.calibrate();
    long from = clock.nanos();
    long until = from + nanos;
    for (long left = nanos; left > 0; left = until - clock.nanos()) {
      LockSupport.parkNanos(left);
    }
    Histogram late = hiccups.takeLateness();
    double wake = perSlice(from, until, Interval.ThreadTimes::runDelayNanos);
    if (!Double.isNaN(wake)) {
      sampler.usualWake(Math.round(wake));
    }
    double cost = perSlice(from, until, Interval.ThreadTimes::cpuNanos);
    long sleep = hiccups.wakingCosts(Double.isNaN(cost) ? 0 : cost);
    calibration =
        new Calibration(
            hiccups.calibrated() / 1e3,
            late.getValueAtPercentile(50) / 1e3,
            late.getValueAtPercentile(99) / 1e3,
            late.getMaxValue() / 1e3,
            sleep / 1e3,
            wake / 1e3);
    return calibration;
  }

  /**
   * What the hiccup threads used each time they were given a processor: the median over the tenths
   * of a second, so that a stop in one of them does not count.
   */
  private double perSlice(long from, long to, ToLongFunction<Interval.ThreadTimes> what) {
    double[] each =
        intervals.stream()
            .filter(interval -> interval.startNanos() >= from && interval.endNanos() <= to)
            .map(interval -> interval.threads(ThreadRoles.Role.HICCUP))
            .filter(threads -> threads.slices() > 0)
            .mapToDouble(threads -> what.applyAsLong(threads) / (double) threads.slices())
            .sorted()
            .toArray();
    return each.length == 0 ? Double.NaN : each[each.length / 2];
  }

  /** Returns the last calibration; null before it. */
  public Calibration calibration() {
    return calibration;
  }

  /** Looks at these lanes, and no others, from now on. */
  public void watch(List<LaneWatch> lanes) {
    sampler.watch(lanes);
    hiccups.alsoHear(
        () -> lanes.stream().mapToLong(LaneWatch::lastTurn).max().orElse(Long.MIN_VALUE));
    lanes.forEach(lane -> lane.tells(hiccups::laneRuns));
  }

  /** Returns the timeline, to which lanes report as well. */
  public Disturbances disturbances() {
    return disturbances;
  }

  /** Returns the intervals since the last call. For the writer's thread. */
  public List<Interval> takeIntervals() {
    List<Interval> taken = new ArrayList<>();
    for (Interval next = intervals.poll(); next != null; next = intervals.poll()) {
      taken.add(next);
    }
    return taken;
  }

  /** Returns what this machine lets be seen, and what it does not. */
  public Platform platform() {
    return platform;
  }

  /** Returns what cannot be watched here, and why. */
  public List<String> notReported() {
    List<String> missing = new ArrayList<>(platform.notReported());
    if (failedSamples.get() > 0) {
      missing.add(failedSamples.get() + " readings of the counters (they failed)");
    }
    if (watches() && !jvm.isRecorder()) {
      missing.add("safepoints (this JVM has no flight recorder; collections to the millisecond)");
    }
    return missing;
  }

  /** Returns how long a stop of the process must be to be more than the machine's usual noise. */
  public long pauseThresholdNanos() {
    return calibration == null
        ? HiccupMeter.MIN_THRESHOLD_NANOS
        : Math.round(calibration.hiccupThresholdMicros() * 1e3);
  }

  /** Waits, up to three seconds, until everything that has happened so far was reported. */
  public void settle() {
    jvm.flush();
  }

  @Override
  public void close() {
    closed = true;
    hiccups.close();
    jvm.close();
    try {
      thread.join(1_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the median cost of reading the clock once, in nanoseconds. */
  static double clockCost(NanoClock clock) {
    int reads = 1_000;
    long[] batches = new long[101];
    for (int i = 0; i < batches.length; i++) {
      long from = clock.nanos();
      for (int j = 0; j < reads; j++) {
        clock.nanos();
      }
      batches[i] = clock.nanos() - from;
    }
    Arrays.sort(batches);
    return batches[batches.length / 2] / (reads + 1.0);
  }
}

package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.monitor.Interval.LaneTimes;
import io.pqcbench.loadgen.monitor.Interval.ThreadTimes;
import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Takes readings of everything that is a counter, and makes intervals of two of them. Time and
 * texts come from outside, so that tests can make any machine.
 */
final class Sampler {

  /** Wall-clock movement in one interval that is a step: a slew is 500 ppm at most (adjtimex). */
  static final long STEP_NANOS = 1_000_000L;

  /** A lane that waited for a processor for so long in one interval is reported. */
  static final long RUN_DELAY_NANOS = 1_000_000L;

  /** Threads come and go; who they are is looked up this often, in readings. */
  private static final int RESCAN = 10;

  /** Read only as often: they disturb nobody, and reading costs. */
  private static final Set<Role> SELDOM = EnumSet.of(Role.MONITOR, Role.VM, Role.GC);

  private final KernelText files;
  private final Tasks tasks;
  private final List<String> throttleFiles;
  private final List<String> frequencyFiles;
  private final List<String> thermalFiles;
  private final LongSupplier wallOffsetNanos;
  private final LongSupplier processCpuNanos;
  private final Disturbances disturbances;
  private final List<LaneWatch> lanes = new ArrayList<>();

  private volatile long usualWakeNanos;
  private Reading last;

  /** The last known times of each thread; of those that matter little they are older. */
  private final Map<String, SchedStat> lastTimes = new HashMap<>();

  private int readings;
  private int frequencyMhz = -1;
  private long thermalCount = -1;

  /** Where threads are: a directory of /proc for each, and who they are. */
  interface Tasks {
    /** Returns directories such as /proc/self/task/17 with the role of their threads. */
    Map<String, Role> find();
  }

  private record Reading(
      long nanos,
      long wallOffset,
      List<CpuTimes> cpus,
      Map<String, SchedStat> threads,
      long processCpu,
      long pressure,
      Map<String, CgroupCpu> groups,
      NetCounters net,
      long thermal,
      List<LaneReading> lanes) {}

  private record LaneReading(long busyNanos, long pollingNanos, long gapNanos) {}

  private Map<String, Role> roles = Map.of();

  /**
   * @param files where text comes from
   * @param tasks which threads there are
   * @param throttleFiles cpu.stat of the control groups above this process
   * @param frequencyFiles scaling_cur_freq of each processor
   * @param thermalFiles counters of thermal throttling
   * @param wallOffsetNanos wall clock minus the run's clock
   * @param processCpuNanos user and system time of this process
   * @param disturbances where to report
   */
  Sampler(
      KernelText files,
      Tasks tasks,
      List<String> throttleFiles,
      List<String> frequencyFiles,
      List<String> thermalFiles,
      LongSupplier wallOffsetNanos,
      LongSupplier processCpuNanos,
      Disturbances disturbances) {
    this.files = files;
    this.tasks = tasks;
    this.throttleFiles = throttleFiles;
    this.frequencyFiles = frequencyFiles;
    this.thermalFiles = thermalFiles;
    this.wallOffsetNanos = wallOffsetNanos;
    this.processCpuNanos = processCpuNanos;
    this.disturbances = disturbances;
  }

  /**
   * Tells what waking up costs on this machine when it is idle: the kernel counts it as run delay,
   * and in a virtual machine, whose processor has to be woken too, it is most of it.
   */
  void usualWake(long nanos) {
    usualWakeNanos = nanos;
  }

  /** From now on these lanes are looked at, and no others. */
  synchronized void watch(List<LaneWatch> present) {
    lanes.clear();
    lanes.addAll(present);
    last = null;
    readings = 0;
  }

  /**
   * Takes a reading.
   *
   * @param now on the run's clock
   * @param hiccupNanos the longest stop since the reading before
   * @return the interval since the reading before; null for the first one
   */
  synchronized Interval sample(long now, long hiccupNanos) {
    if (readings % RESCAN == 0) {
      roles = tasks.find();
      lastTimes.keySet().retainAll(roles.keySet());
      frequencyMhz = frequency();
      thermalCount = thermal();
    }
    readings++;
    Reading before = last;
    last = read(now);
    if (before == null || before.nanos() >= now) {
      lastTimes.putAll(last.threads());
      return null;
    }
    Interval interval = between(before, last, hiccupNanos);
    report(interval);
    return interval;
  }

  private Reading read(long now) {
    Map<String, SchedStat> threads = new HashMap<>();
    for (Map.Entry<String, Role> task : roles.entrySet()) {
      String directory = task.getKey();
      if (SELDOM.contains(task.getValue()) && readings % RESCAN != 1) {
        continue;
      }
      SchedStat times = SchedStat.parse(files.read(directory + "/schedstat"));
      if (times != null) {
        threads.put(directory, times);
      }
    }
    Map<String, CgroupCpu> groups = new HashMap<>();
    for (String file : throttleFiles) {
      CgroupCpu group = CgroupCpu.parse(files.read(file));
      if (group != null) {
        groups.put(file, group);
      }
    }
    List<LaneReading> laneReadings =
        lanes.stream()
            .map(lane -> new LaneReading(lane.busyNanos(), lane.pollingNanos(), lane.gapNanos()))
            .toList();
    return new Reading(
        now,
        wallOffsetNanos.getAsLong(),
        CpuTimes.parse(files.read("/proc/stat")),
        threads,
        processCpuNanos.getAsLong(),
        Pressure.someTotalMicros(files.read("/proc/pressure/cpu")),
        groups,
        NetCounters.parse(
            files.read("/proc/self/net/snmp"),
            files.read("/proc/self/net/netstat"),
            files.read("/proc/self/net/sockstat"),
            files.read("/proc/net/softnet_stat")),
        thermalCount,
        laneReadings);
  }

  private Interval between(Reading before, Reading after, long hiccupNanos) {
    Map<Role, ThreadTimes> threads = new EnumMap<>(Role.class);
    long worstLane = 0;
    for (Map.Entry<String, SchedStat> entry : after.threads().entrySet()) {
      // A thread that was not there in the reading before has begun since.
      SchedStat earlier = lastTimes.put(entry.getKey(), entry.getValue());
      Role role = roles.get(entry.getKey());
      if (earlier != null && role != null) {
        long cpu = entry.getValue().onCpuNanos() - earlier.onCpuNanos();
        long delay = entry.getValue().runDelayNanos() - earlier.runDelayNanos();
        long slices = entry.getValue().slices() - earlier.slices();
        threads.merge(role, new ThreadTimes(cpu, delay, slices), ThreadTimes::plus);
        // Without lanes, beside a server, it is the watched processes that matter.
        if (role == Role.LANE || (role == Role.WATCHED && lanes.isEmpty())) {
          worstLane = Math.max(worstLane, delay - slices * usualWakeNanos);
        }
      }
    }
    long throttled = 0;
    long periods = 0;
    for (Map.Entry<String, CgroupCpu> entry : after.groups().entrySet()) {
      // A file that could not be read in between says nothing of this interval.
      CgroupCpu earlier = before.groups().get(entry.getKey());
      if (earlier != null) {
        throttled += entry.getValue().throttledNanos() - earlier.throttledNanos();
        periods += entry.getValue().throttledPeriods() - earlier.throttledPeriods();
      }
    }
    // A lane that loses its processor in the middle of its work is not busy meanwhile.
    long worked = 0;
    for (int i = 0; i < lanes.size(); i++) {
      worked += after.lanes().get(i).busyNanos() - before.lanes().get(i).busyNanos();
      worked += after.lanes().get(i).pollingNanos() - before.lanes().get(i).pollingNanos();
    }
    ThreadTimes ran = threads.get(Role.LANE);
    double real = ran == null || worked == 0 ? 1 : Math.min(1, ran.cpuNanos() / (double) worked);
    List<LaneTimes> laneTimes = new ArrayList<>();
    for (int i = 0; i < lanes.size(); i++) {
      LaneWatch lane = lanes.get(i);
      laneTimes.add(
          new LaneTimes(
              Math.round(
                  real * (after.lanes().get(i).busyNanos() - before.lanes().get(i).busyNanos())),
              lane.takeLongestTurn(),
              after.lanes().get(i).gapNanos() - before.lanes().get(i).gapNanos(),
              lane.behindNanos(after.nanos()),
              lane.inFlight()));
    }
    return new Interval(
        before.nanos(),
        after.nanos(),
        cpus(before.cpus(), after.cpus()),
        threads,
        worstLane,
        after.processCpu() - before.processCpu(),
        difference(before.pressure(), after.pressure()),
        throttled,
        periods,
        hiccupNanos,
        List.copyOf(laneTimes),
        after.net().since(before.net()),
        after.wallOffset() - before.wallOffset(),
        frequencyMhz,
        difference(before.thermal(), after.thermal()));
  }

  private static long difference(long before, long after) {
    return before < 0 || after < 0 ? -1 : after - before;
  }

  /** A processor that was taken off line or brought back in between is left out. */
  private static List<CpuTimes> cpus(List<CpuTimes> before, List<CpuTimes> after) {
    List<CpuTimes> differences = new ArrayList<>(after.size());
    for (CpuTimes now : after) {
      for (CpuTimes then : before) {
        if (then.cpu() == now.cpu()) {
          differences.add(now.since(then));
        }
      }
    }
    return differences;
  }

  private int frequency() {
    long sum = 0;
    int count = 0;
    for (String file : frequencyFiles) {
      long kilohertz = number(files.read(file));
      if (kilohertz > 0) {
        sum += kilohertz;
        count++;
      }
    }
    return count == 0 ? -1 : (int) (sum / count / 1000);
  }

  private long thermal() {
    long sum = -1;
    for (String file : thermalFiles) {
      long count = number(files.read(file));
      if (count >= 0) {
        sum = Math.max(0, sum) + count;
      }
    }
    return sum;
  }

  private static long number(String text) {
    try {
      return text == null ? -1 : Long.parseLong(text.strip());
    } catch (NumberFormatException e) {
      return -1;
    }
  }

  private void report(Interval interval) {
    if (interval.worstLaneRunDelayNanos() > RUN_DELAY_NANOS) {
      add(
          Disturbance.Source.RUN_DELAY,
          interval,
          interval.worstLaneRunDelayNanos(),
          interval.threads().containsKey(Role.LANE) ? "lanes" : "watched processes");
    }
    if (interval.stealNanos() > 0) {
      add(Disturbance.Source.STEAL, interval, interval.stealNanos(), "");
    }
    if (interval.throttledNanos() > 0) {
      add(Disturbance.Source.THROTTLED, interval, interval.throttledNanos(), "");
    }
    if (Math.abs(interval.wallStepNanos()) > STEP_NANOS) {
      disturbances.report(
          new Disturbance(
              Disturbance.Source.CLOCK_STEP,
              interval.startNanos(),
              interval.endNanos(),
              0,
              interval.wallStepNanos() / 1000 + " us"));
    }
  }

  private void add(Disturbance.Source source, Interval interval, long amount, String detail) {
    disturbances.report(
        new Disturbance(
            source,
            interval.startNanos(),
            interval.endNanos(),
            Math.min(amount, interval.lengthNanos()),
            detail));
  }
}

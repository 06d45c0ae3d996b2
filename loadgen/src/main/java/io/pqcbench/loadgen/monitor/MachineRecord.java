package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.monitor.Interval.ThreadTimes;
import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What the machine did during the measured part of a run: sums, and the worst of each window, so
 * that its size does not grow with the run (but for one number a second). Used by the writer's
 * thread alone.
 */
public final class MachineRecord {

  /** Length of the window in which a processor must have had some idle time (Hyperfoil's). */
  private static final long IDLE_WINDOW_NANOS = 5_000_000_000L;

  private static final long SECOND_NANOS = 1_000_000_000L;

  private final int pollingLanes;
  private final long start;
  private final long from;
  private final long to;

  private final Map<Disturbance.Source, Tally> disturbances =
      new EnumMap<>(Disturbance.Source.class);
  private final Map<Role, ThreadTimes> threads = new EnumMap<>(Role.class);
  private final Deque<Interval> window = new ArrayDeque<>();
  private final Worst leastIdle = new Worst();
  private final Tally steal = new Tally();
  private final Tally runDelay = new Tally();
  private final Tally throttled = new Tally();
  private final Tally longestTurn = new Tally();
  private final Tally behind = new Tally();
  private long throttledPeriods;
  private long lengthNanos;
  private long[] laneBusyNanos = {};
  private long busySeconds;
  private long gapNanos;
  private long processCpuNanos;
  private double otherCpuNanos;
  private long pressureMicros = -1;
  private long wallDriftNanos;
  private long thermalThrottles = -1;
  private NetCounters net;
  private double[] inFlight = new double[256];
  private double inFlightSum;
  private int inFlightCount;
  private int seconds;
  private long secondEnd;
  private double busiestShare;
  private long[] secondBusy = {};
  private double secondLength;

  /** How often, how much in all, and when it was worst. */
  public static final class Tally {
    private long count;
    private long total;
    private long max;
    private long maxAt;

    void add(long amount, long at) {
      count++;
      total += amount;
      if (amount > max) {
        max = amount;
        maxAt = at;
      }
    }

    /** Returns how often. */
    public long count() {
      return count;
    }

    /** Returns the sum, in nanoseconds where it is a time. */
    public long total() {
      return total;
    }

    /** Returns the largest, in nanoseconds where it is a time. */
    public long max() {
      return max;
    }

    /** Returns when the largest was, in nanoseconds after the start of the run. */
    public long maxAt() {
      return maxAt;
    }
  }

  /** The smallest value of a share, where and when. */
  public static final class Worst {
    private double share = Double.NaN;
    private int cpu = -1;
    private long at;

    void offer(double value, int which, long when) {
      if (Double.isNaN(share) || value < share) {
        share = value;
        cpu = which;
        at = when;
      }
    }

    /** Returns the share, 0 to 1; NaN when there was no whole window. */
    public double share() {
      return share;
    }

    /** Returns the processor. */
    public int cpu() {
      return cpu;
    }

    /** Returns the end of the window, in nanoseconds after the start of the run. */
    public long at() {
      return at;
    }
  }

  /**
   * @param start of the run, on the run's clock
   * @param from where the measured part begins, on the run's clock
   * @param to where it ends
   */
  public MachineRecord(long start, long from, long to) {
    this(start, from, to, 0);
  }

  /**
   * @param start of the run, on the run's clock
   * @param from where the measured part begins, on the run's clock
   * @param to where it ends
   * @param pollingLanes lanes that poll: so many processors are never idle, and say nothing
   */
  public MachineRecord(long start, long from, long to, int pollingLanes) {
    this.pollingLanes = pollingLanes;
    this.start = start;
    this.from = from;
    this.to = to;
    this.secondEnd = from + SECOND_NANOS;
  }

  /** Adds an interval; one that is not wholly in the measured part is passed over. */
  public void add(Interval interval) {
    if (interval.startNanos() < from || interval.endNanos() > to) {
      return;
    }
    long at = interval.startNanos() - start;
    lengthNanos += interval.lengthNanos();
    interval.threads().forEach((role, times) -> threads.merge(role, times, ThreadTimes::plus));
    processCpuNanos += interval.processCpuNanos();
    otherCpuNanos += interval.otherCpus() * interval.lengthNanos();
    if (interval.pressureMicros() >= 0) {
      pressureMicros = Math.max(0, pressureMicros) + interval.pressureMicros();
    }
    if (interval.thermalThrottles() >= 0) {
      thermalThrottles = Math.max(0, thermalThrottles) + interval.thermalThrottles();
    }
    wallDriftNanos += interval.wallStepNanos();
    throttledPeriods += interval.throttledPeriods();
    tally(steal, interval.stealNanos(), at);
    tally(throttled, interval.throttledNanos(), at);
    runDelay.add(interval.worstLaneRunDelayNanos(), at);
    net = net == null ? interval.net() : net.plus(interval.net());
    lanes(interval, at);
    idle(interval, interval.endNanos() - start);
  }

  private static void tally(Tally tally, long amount, long at) {
    if (amount > 0) {
      tally.add(amount, at);
    }
  }

  private void lanes(Interval interval, long at) {
    int lanes = interval.lanes().size();
    if (lanes > laneBusyNanos.length) {
      laneBusyNanos = Arrays.copyOf(laneBusyNanos, lanes);
      secondBusy = Arrays.copyOf(secondBusy, lanes);
    }
    for (int i = 0; i < lanes; i++) {
      laneBusyNanos[i] += interval.lanes().get(i).busyNanos();
      secondBusy[i] += interval.lanes().get(i).busyNanos();
    }
    interval.lanes().forEach(lane -> gapNanos += lane.gapNanos());
    tally(
        longestTurn,
        interval.lanes().stream().mapToLong(Interval.LaneTimes::longestTurnNanos).max().orElse(0),
        at);
    tally(behind, interval.behindNanos(), at);
    inFlightSum += interval.inFlight();
    inFlightCount++;
    secondLength += interval.lengthNanos();
    if (interval.endNanos() >= secondEnd) {
      if (seconds == inFlight.length) {
        inFlight = Arrays.copyOf(inFlight, 2 * seconds);
      }
      inFlight[seconds++] = inFlightSum / inFlightCount;
      double second = max(secondBusy) / secondLength;
      busiestShare = Math.max(busiestShare, second);
      if (second > BUSY_SECOND) {
        busySeconds++;
      }
      inFlightSum = 0;
      inFlightCount = 0;
      Arrays.fill(secondBusy, 0);
      secondLength = 0;
      secondEnd += SECOND_NANOS * (1 + (interval.endNanos() - secondEnd) / SECOND_NANOS);
    }
  }

  /** A lane that works for more of a second than this has no room for an arrival's bad luck. */
  public static final double BUSY_SECOND = 0.85;

  private static long max(long[] values) {
    return Arrays.stream(values).max().orElse(0);
  }

  private void idle(Interval interval, long at) {
    window.add(interval);
    while (window.size() > 1
        && interval.endNanos() - window.peekFirst().endNanos() >= IDLE_WINDOW_NANOS) {
      window.removeFirst();
    }
    if (interval.endNanos() - window.peekFirst().startNanos() < IDLE_WINDOW_NANOS) {
      return;
    }
    List<Idle> idle = new ArrayList<>();
    for (CpuTimes cpu : interval.cpus()) {
      long busy = 0;
      long total = 0;
      for (Interval past : window) {
        for (CpuTimes times : past.cpus()) {
          if (times.cpu() == cpu.cpu()) {
            busy += times.busy() + Math.max(0, times.steal());
            total += times.total();
          }
        }
      }
      if (total > 0) {
        idle.add(new Idle((total - busy) / (double) total, cpu.cpu()));
      }
    }
    idle.sort(Comparator.comparingDouble(Idle::share));
    if (idle.size() > pollingLanes) {
      Idle least = idle.get(pollingLanes);
      leastIdle.offer(least.share(), least.cpu(), at);
    }
  }

  private record Idle(double share, int cpu) {}

  /** Adds a disturbance; one that does not touch the measured part is passed over. */
  public void add(Disturbance disturbance) {
    if (disturbance.overlaps(from, to)) {
      disturbances
          .computeIfAbsent(disturbance.source(), source -> new Tally())
          .add(disturbance.amountNanos(), disturbance.startNanos() - start);
    }
  }

  /** Returns the disturbances of a source; never null. */
  public Tally disturbances(Disturbance.Source source) {
    return disturbances.getOrDefault(source, new Tally());
  }

  /** Returns the length of all intervals in nanoseconds; 0 before the first. */
  public long lengthNanos() {
    return lengthNanos;
  }

  /** Returns what threads of a role used. */
  public ThreadTimes threads(Role role) {
    return threads.getOrDefault(role, ThreadTimes.NONE);
  }

  /** Returns the processor that had the least idle time in any five seconds. */
  public Worst leastIdle() {
    return leastIdle;
  }

  /** Returns intervals with steal, by the processor that lost most. */
  public Tally steal() {
    return steal;
  }

  /** Returns the run delay of the lane that waited longest, in every interval. */
  public Tally runDelay() {
    return runDelay;
  }

  /** Returns intervals in which the control group was kept from running. */
  public Tally throttled() {
    return throttled;
  }

  /** Returns periods in which the control group was kept from running. */
  public long throttledPeriods() {
    return throttledPeriods;
  }

  /** Returns the longest turns of a lane's loop. */
  public Tally longestTurn() {
    return longestTurn;
  }

  /** Returns by how much the next arrival was overdue, where it was. */
  public Tally behind() {
    return behind;
  }

  /** Returns the share of the busiest lane's time that was work; NaN before the first interval. */
  public double laneBusyShare() {
    return lengthNanos == 0 ? Double.NaN : max(laneBusyNanos) / (double) lengthNanos;
  }

  /** Returns the share in the busiest second. */
  public double busiestSecond() {
    return busiestShare;
  }

  /** Returns how many seconds were busier than {@link #BUSY_SECOND}. */
  public long busySeconds() {
    return busySeconds;
  }

  /** Returns the time in which polling lanes did not get to run, summed over the lanes. */
  public long gapNanos() {
    return gapNanos;
  }

  /** Returns how many whole seconds there are in {@link #inFlight(int)}. */
  public int seconds() {
    return seconds;
  }

  /** Returns the mean number of attempts in flight in a second of the measured part. */
  public double inFlight(int second) {
    return inFlight[second];
  }

  /** Returns processors' worth of this process's work; NaN before the first interval. */
  public double processCpus() {
    return lengthNanos == 0 ? Double.NaN : processCpuNanos / (double) lengthNanos;
  }

  /** Returns processors' worth of others' work; NaN before the first interval. */
  public double otherCpus() {
    return lengthNanos == 0 ? Double.NaN : otherCpuNanos / lengthNanos;
  }

  /** Returns the share of time in which some task waited for a processor; NaN if not reported. */
  public double pressure() {
    return pressureMicros < 0 ? Double.NaN : pressureMicros * 1e3 / lengthNanos;
  }

  /** Returns by how much the wall clock moved against the monotonic one, in nanoseconds. */
  public long wallDriftNanos() {
    return wallDriftNanos;
  }

  /** Returns thermal throttling events; -1 where they are not counted. */
  public long thermalThrottles() {
    return thermalThrottles;
  }

  /** Returns the network counters' increase; null before the first interval. */
  public NetCounters net() {
    return net;
  }
}

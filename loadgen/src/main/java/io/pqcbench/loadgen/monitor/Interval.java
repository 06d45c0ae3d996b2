package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.util.List;
import java.util.Map;

/**
 * What the machine and the process did in about a tenth of a second: differences of the kernel's
 * counters between two readings, and some values at the end. A counter that the platform does not
 * have is -1.
 *
 * @param startNanos on the run's clock
 * @param endNanos on the run's clock
 * @param cpus ticks of 10 ms by processor
 * @param threads CPU time and run delay of this process's threads by what they do; of the watched
 *     processes under {@link Role#WATCHED}
 * @param worstLaneRunDelayNanos run delay of the lane that had to wait longest (without lanes: of
 *     the watched thread), beyond what waking up costs on this machine when it is idle
 * @param processCpuNanos user and system time of this process
 * @param pressureMicros time in which some task of the machine waited for a processor (PSI)
 * @param throttledNanos time for which the control group was kept from running
 * @param throttledPeriods periods in which it was
 * @param hiccupNanos the longest time in which no thread of this process ran
 * @param lanes what the lanes did; empty without load
 * @param net counters of the network namespace
 * @param wallStepNanos by how much the wall clock moved against the monotonic one
 * @param frequencyMhz mean over the processors; -1 where it is not shown
 * @param thermalThrottles events since the reading before; -1 where they are not counted
 */
public record Interval(
    long startNanos,
    long endNanos,
    List<CpuTimes> cpus,
    Map<Role, ThreadTimes> threads,
    long worstLaneRunDelayNanos,
    long processCpuNanos,
    long pressureMicros,
    long throttledNanos,
    long throttledPeriods,
    long hiccupNanos,
    List<LaneTimes> lanes,
    NetCounters net,
    long wallStepNanos,
    int frequencyMhz,
    long thermalThrottles) {

  /** Ticks of /proc/stat are hundredths of a second on every Linux (USER_HZ). */
  public static final long TICK_NANOS = 10_000_000L;

  /**
   * Of some threads together.
   *
   * @param cpuNanos they ran
   * @param runDelayNanos they were runnable and did not run; waking up is a part of it
   * @param slices how often they were given a processor
   */
  public record ThreadTimes(long cpuNanos, long runDelayNanos, long slices) {
    ThreadTimes plus(ThreadTimes other) {
      return new ThreadTimes(
          cpuNanos + other.cpuNanos, runDelayNanos + other.runDelayNanos, slices + other.slices);
    }

    /** None. */
    public static final ThreadTimes NONE = new ThreadTimes(0, 0, 0);
  }

  /**
   * Of one lane.
   *
   * @param busyNanos in which it did something useful
   * @param longestTurnNanos of its loop
   * @param gapNanos in which a polling lane did not get to run
   * @param behindNanos by how much its next arrival is overdue at the end
   * @param inFlight attempts at the end
   */
  public record LaneTimes(
      long busyNanos, long longestTurnNanos, long gapNanos, long behindNanos, int inFlight) {}

  /** Returns the length in nanoseconds; positive. */
  public long lengthNanos() {
    return endNanos - startNanos;
  }

  /** Returns what threads of a role used; never null. */
  public ThreadTimes threads(Role role) {
    return threads.getOrDefault(role, ThreadTimes.NONE);
  }

  /** Returns the share of the busiest lane's time that was work, 0 to about 1; 0 without lanes. */
  public double laneBusyShare() {
    return lanes.stream().mapToLong(LaneTimes::busyNanos).max().orElse(0) / (double) lengthNanos();
  }

  /** Returns the attempts in flight at the end, over all lanes. */
  public int inFlight() {
    return lanes.stream().mapToInt(LaneTimes::inFlight).sum();
  }

  /** Returns by how much the lane that is furthest behind is late at the end. */
  public long behindNanos() {
    return lanes.stream().mapToLong(LaneTimes::behindNanos).max().orElse(0);
  }

  /** Returns processors' worth of work that was not this process's; never negative. */
  public double otherCpus() {
    long ticks = cpus.stream().mapToLong(CpuTimes::busy).sum();
    return Math.max(0, (ticks * TICK_NANOS - processCpuNanos) / (double) lengthNanos());
  }

  /** Returns the steal of the processor that lost most; 0 also when it is not reported. */
  public long stealNanos() {
    return TICK_NANOS * cpus.stream().mapToLong(cpu -> Math.max(0, cpu.steal())).max().orElse(0);
  }
}

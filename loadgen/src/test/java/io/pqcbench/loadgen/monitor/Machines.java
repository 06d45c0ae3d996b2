package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.monitor.Interval.LaneTimes;
import java.util.List;
import java.util.Map;

/**
 * Makes records of machines that never were: tenths of a second, one after the other, each as the
 * settings say that were made before it. Two processors and one lane; quiet at first.
 */
public final class Machines {

  private static final long SECOND = 1_000_000_000L;
  private static final long TENTH = SECOND / 10;

  private final MachineRecord record;
  private long now;
  private int busyTicks = 1;
  private int stealTicks;
  private long processCpuNanos = 10_000_000L;
  private long runDelayNanos;
  private long throttledNanos;
  private double laneBusy = 0.1;
  private long behindNanos;
  private int inFlight = 1;
  private NetCounters net = net(0, 0, 0);
  private long wallStepNanos;
  private long pressureMicros = -1;
  private long thermalThrottles = -1;

  /**
   * @param warmupSeconds of the run, which starts at 0 of the clock; intervals begin after it
   * @param seconds at which the run ends
   */
  public Machines(long warmupSeconds, long seconds) {
    this(warmupSeconds, seconds, 0);
  }

  /** The same with lanes that poll, so that as many processors are never idle. */
  public Machines(long warmupSeconds, long seconds, int pollingLanes) {
    record = new MachineRecord(0, warmupSeconds * SECOND, seconds * SECOND, pollingLanes);
    now = warmupSeconds * SECOND;
  }

  /** From here on processor 0 works for so many of ten ticks, and loses so many. */
  public Machines cpu(int busy, int stolen) {
    busyTicks = busy;
    stealTicks = stolen;
    return this;
  }

  /** From here on this process uses so much of each tenth; what else is busy is others'. */
  public Machines process(long cpuNanos) {
    processCpuNanos = cpuNanos;
    return this;
  }

  /** From here on the lane waits for a processor for so long in each tenth. */
  public Machines runDelay(long nanos) {
    runDelayNanos = nanos;
    return this;
  }

  /** From here on the quota stops the process for so long in each tenth. */
  public Machines throttled(long nanos) {
    throttledNanos = nanos;
    return this;
  }

  /** From here on the lane works for this share of its time. */
  public Machines laneBusy(double share) {
    laneBusy = share;
    return this;
  }

  /** From here on the lane's next arrival is overdue by so much. */
  public Machines behind(long nanos) {
    behindNanos = nanos;
    return this;
  }

  /** From here on so many attempts are in flight. */
  public Machines inFlight(int attempts) {
    inFlight = attempts;
    return this;
  }

  /** From here on so many in each tenth. */
  public Machines network(long synRetrans, long listenOverflows, long softnetDropped) {
    net = net(synRetrans, listenOverflows, softnetDropped);
    return this;
  }

  /** From here on the wall clock gains so much in each tenth. */
  public Machines wallStep(long nanos) {
    wallStepNanos = nanos;
    return this;
  }

  /** From here on tasks wait for so long in each tenth; -1 for a kernel that does not tell. */
  public Machines pressure(long micros) {
    pressureMicros = micros;
    return this;
  }

  /** From here on so many events in each tenth; -1 for a machine that does not tell. */
  public Machines thermal(long events) {
    thermalThrottles = events;
    return this;
  }

  /** Adds so many tenths of a second. */
  public Machines tenths(int count) {
    for (int i = 0; i < count; i++) {
      record.add(next());
    }
    return this;
  }

  /** Returns the next tenth of a second without adding it. */
  public Interval next() {
    long from = now;
    now += TENTH;
    return new Interval(
        from,
        now,
        List.of(
            new CpuTimes(0, busyTicks, 0, 0, 10 - busyTicks - stealTicks, 0, 0, 0, stealTicks),
            new CpuTimes(1, 1, 0, 0, 9, 0, 0, 0, 0)),
        Map.of(ThreadRoles.Role.LANE, new Interval.ThreadTimes(5_000_000, runDelayNanos, 0)),
        runDelayNanos,
        processCpuNanos,
        pressureMicros,
        throttledNanos,
        throttledNanos > 0 ? 1 : 0,
        0,
        List.of(new LaneTimes(Math.round(laneBusy * TENTH), 300_000, 0, behindNanos, inFlight)),
        net,
        wallStepNanos,
        -1,
        thermalThrottles);
  }

  /** Passes over so many tenths of a second. */
  public Machines skip(int tenths) {
    now += tenths * TENTH;
    return this;
  }

  /** Adds a disturbance that took all of its length. */
  public Machines stop(Disturbance.Source source, long fromNanos, long lengthNanos) {
    record.add(new Disturbance(source, fromNanos, fromNanos + lengthNanos, lengthNanos, ""));
    return this;
  }

  /** Returns the record. */
  public MachineRecord record() {
    return record;
  }

  private static NetCounters net(long synRetrans, long listenOverflows, long softnetDropped) {
    return new NetCounters(
        0, 600, 0, synRetrans, 0, 0, 0, listenOverflows, 0, 0, 50, 20, 0, 0, softnetDropped, 0);
  }
}

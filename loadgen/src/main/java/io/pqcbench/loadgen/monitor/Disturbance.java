package io.pqcbench.loadgen.monitor;

/**
 * Something that took time from the client, with its place on the run's clock.
 *
 * @param source what it was; not null
 * @param startNanos on the run's clock; the true begin for sources that are events, the begin of
 *     the sampling window for sources that are counters
 * @param endNanos on the run's clock, not before the start
 * @param amountNanos time taken, at most the length; less for a counter, which does not tell where
 *     in its window the time went
 * @param detail what it was in a few words, such as the collector's phase; may be empty
 */
public record Disturbance(
    Source source, long startNanos, long endNanos, long amountNanos, String detail) {

  /** Where disturbances come from. */
  public enum Source {
    /** A pause of the garbage collector (JFR jdk.GCPhasePause; else the collector's bean). */
    GC_PAUSE("gc-pause", true),
    /** The JVM stopped all Java threads, for whatever reason (JFR jdk.SafepointBegin and End). */
    SAFEPOINT("safepoint", true),
    /** A thread had to wait for the collector to free memory (JFR jdk.ZAllocationStall). */
    ALLOCATION_STALL("allocation-stall", true),
    /**
     * Both hiccup threads woke late: the process or the machine stood still. What it was is told by
     * the others, if by any.
     */
    HICCUP("hiccup", true),
    /** A lane was runnable and did not run (schedstat): other threads had the processors. */
    RUN_DELAY("run-delay", false),
    /** The hypervisor ran somebody else (/proc/stat). */
    STEAL("steal", false),
    /** The control group's CPU quota was used up (cpu.stat). */
    THROTTLED("throttled", false),
    /** One turn of a lane's loop took long: its own work, or it was stopped in it. */
    LANE_STALL("lane-stall", true),
    /** A sleeping lane was woken late. */
    LATE_WAKE("late-wake", true),
    /** A polling lane that had nothing to do did not poll for a while: it was not running. */
    POLL_GAP("poll-gap", true),
    /** The JIT compiler was at work: it takes a processor, and stops nobody. */
    COMPILATION("compilation", true),
    /** The wall clock was set; latencies do not use it. */
    CLOCK_STEP("clock-step", true);

    private final String label;
    private final boolean exact;

    Source(String label, boolean exact) {
      this.label = label;
      this.exact = exact;
    }

    /** Returns the name in files and findings. */
    public String label() {
      return label;
    }

    /** Returns whether it is of one lane alone, which its detail names. */
    public boolean isOfOneLane() {
      return this == LANE_STALL || this == LATE_WAKE || this == POLL_GAP;
    }

    /** Returns whether start and end are those of the event, not of a sampling window. */
    public boolean isExact() {
      return exact;
    }
  }

  /** Returns the detail of what a lane reports of itself. */
  static String ofLane(int lane) {
    return "lane " + lane;
  }

  /** Returns whether it can have delayed what this lane ran: not if it is another lane's own. */
  public boolean concerns(int lane) {
    return !source.isOfOneLane() || detail.equals(ofLane(lane));
  }

  /** Returns whether it shares an instant with a span of the run's clock. */
  public boolean overlaps(long fromNanos, long toNanos) {
    return startNanos < toNanos && endNanos > fromNanos;
  }

  /**
   * Returns how much of a span it can have taken at most: the common part, but no more than its
   * amount.
   */
  public long atMostWithin(long fromNanos, long toNanos) {
    return Math.max(0, Math.min(common(fromNanos, toNanos), amountNanos));
  }

  /**
   * Returns how much of a span it is expected to have taken. A quota and a hypervisor take their
   * time in one piece; a run delay is the sum of many, so only that part of it counts which falls
   * to the common part of its window.
   */
  public long within(long fromNanos, long toNanos) {
    long length = endNanos - startNanos;
    return source != Source.RUN_DELAY || length == 0
        ? atMostWithin(fromNanos, toNanos)
        : Math.max(0, Math.round(amountNanos * (common(fromNanos, toNanos) / (double) length)));
  }

  private long common(long fromNanos, long toNanos) {
    return Math.min(endNanos, toNanos) - Math.max(startNanos, fromNanos);
  }
}

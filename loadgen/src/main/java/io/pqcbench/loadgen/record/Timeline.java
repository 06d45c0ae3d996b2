package io.pqcbench.loadgen.record;

import io.pqcbench.loadgen.handshake.Attempt;
import java.util.Arrays;

/**
 * Counts by tenths of a second. A run's average hides a stall and the burst that follows it; these
 * do not.
 */
public final class Timeline {

  /** Length of a slot in nanoseconds. */
  public static final long SLOT_NANOS = 100_000_000L;

  private int[] planned = new int[1024];
  private int[] started = new int[1024];
  private int[] done = new int[1024];
  private int slots;

  /**
   * Adds an attempt; instants in nanoseconds after the start of the run, or {@link Attempt#UNSET}.
   */
  void add(long plannedNanos, long startedNanos, long doneNanos) {
    planned = count(planned, plannedNanos);
    started = count(started, startedNanos);
    done = count(done, doneNanos);
  }

  private int[] count(int[] counts, long nanos) {
    if (nanos == Attempt.UNSET || nanos < 0) {
      return counts;
    }
    int slot = (int) Math.min(nanos / SLOT_NANOS, Integer.MAX_VALUE - 8);
    int[] fitting =
        slot < counts.length
            ? counts
            : Arrays.copyOf(counts, Math.max(slot + 1, counts.length * 2));
    fitting[slot]++;
    slots = Math.max(slots, slot + 1);
    return fitting;
  }

  /** Returns the number of slots up to the last one in which something happened. */
  public int slots() {
    return slots;
  }

  /** Returns how many attempts were planned in the slots from {@code from} to before {@code to}. */
  public long planned(int from, int to) {
    return sum(planned, from, to);
  }

  /** Returns how many attempts were started in the slots from {@code from} to before {@code to}. */
  public long started(int from, int to) {
    return sum(started, from, to);
  }

  /** Returns how many attempts succeeded in the slots from {@code from} to before {@code to}. */
  public long done(int from, int to) {
    return sum(done, from, to);
  }

  private static long sum(int[] counts, int from, int to) {
    long sum = 0;
    for (int i = Math.max(0, from); i < Math.min(to, counts.length); i++) {
      sum += counts[i];
    }
    return sum;
  }
}

package io.pqcbench.loadgen.record;

import java.util.Arrays;
import java.util.List;

/**
 * Counts by tenths of a second. A run's average hides a stall and the burst that follows it; these
 * do not.
 */
public final class Timeline {

  /** Length of a slot in nanoseconds. */
  public static final long SLOT_NANOS = 100_000_000L;

  private final List<LaneRecorder> lanes;
  private int[] planned = new int[1024];
  private int[] done = new int[1024];
  private int slots;

  Timeline(List<LaneRecorder> lanes) {
    this.lanes = lanes;
  }

  /**
   * Counts an arrival of the schedule.
   *
   * @param nanos after the start of the run; not negative
   */
  public void planned(long nanos) {
    planned = count(planned, nanos);
  }

  /**
   * Counts a success.
   *
   * @param nanos after the start of the run; not negative
   */
  void done(long nanos) {
    done = count(done, nanos);
  }

  private int[] count(int[] counts, long nanos) {
    int slot = (int) Math.min(nanos / SLOT_NANOS, Integer.MAX_VALUE - 8);
    int[] fitting =
        slot < counts.length
            ? counts
            : Arrays.copyOf(counts, Math.max(slot + 1, counts.length * 2));
    fitting[slot]++;
    slots = Math.max(slots, slot + 1);
    return fitting;
  }

  /** Returns the number of slots up to the last one in which something was planned or done. */
  public int slots() {
    return slots;
  }

  /** Returns how many attempts were planned in the slots from {@code from} to before {@code to}. */
  public long planned(int from, int to) {
    return sum(planned, from, to);
  }

  /** Returns how many attempts were started in the slots from {@code from} to before {@code to}. */
  public long started(int from, int to) {
    long sum = 0;
    for (LaneRecorder lane : lanes) {
      sum += lane.started(from, to);
    }
    return sum;
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

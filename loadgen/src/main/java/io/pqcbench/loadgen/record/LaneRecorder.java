package io.pqcbench.loadgen.record;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * What one lane records: histograms by phase, and every sample.
 *
 * <p>Written by the lane's thread alone, read by the writer's thread. Recording is wait-free and
 * allocates nothing but, a few times a second at most, a node of the queue.
 */
public final class LaneRecorder {

  /** Histograms have this many significant digits: 222 KB each, and buckets of 0.5 us at 1 ms. */
  public static final int SIGNIFICANT_DIGITS = 3;

  private final int lane;
  private final long measuredFrom;
  private final long highest;
  private final SingleWriterRecorder[] warmup = new SingleWriterRecorder[Phase.ALL.size()];
  private final SingleWriterRecorder[] measured = new SingleWriterRecorder[Phase.ALL.size()];

  private final Queue<SampleBlock> filled = new ConcurrentLinkedQueue<>();
  private final Queue<SampleBlock> empty = new ConcurrentLinkedQueue<>();
  private SampleBlock current;

  private final AtomicLong started = new AtomicLong();
  private final AtomicLong finished = new AtomicLong();
  private final AtomicLong clamped = new AtomicLong();

  /**
   * @param lane from 0
   * @param measuredFrom attempts that are planned before this instant of the run's clock belong to
   *     the warm-up
   * @param highest the largest value that is told apart, in nanoseconds; larger ones are recorded
   *     as this and counted
   */
  public LaneRecorder(int lane, long measuredFrom, long highest) {
    this.lane = lane;
    this.measuredFrom = measuredFrom;
    this.highest = highest;
    for (int i = 0; i < measured.length; i++) {
      warmup[i] = new SingleWriterRecorder(1, highest, SIGNIFICANT_DIGITS);
      measured[i] = new SingleWriterRecorder(1, highest, SIGNIFICANT_DIGITS);
    }
    current = new SampleBlock(lane);
  }

  /** Counts an attempt that was started just now. */
  public void started() {
    started.lazySet(started.getPlain() + 1);
  }

  /** Keeps an attempt that has its outcome. Only successes enter the histograms. */
  public void record(Attempt attempt) {
    if (attempt.outcome() == Outcome.SUCCESS) {
      SingleWriterRecorder[] recorders =
          attempt.at(Milestone.PLANNED) < measuredFrom ? warmup : measured;
      for (int i = 0; i < recorders.length; i++) {
        long nanos = attempt.nanos(Phase.ALL.get(i));
        if (nanos != Attempt.UNSET) {
          if (nanos > highest) {
            nanos = highest;
            clamped.lazySet(clamped.getPlain() + 1);
          }
          recorders[i].recordValue(nanos);
        }
      }
    }
    if (attempt.outcome() != Outcome.SKIPPED) {
      finished.lazySet(finished.getPlain() + 1);
    }
    current.add(attempt);
    if (current.isFull()) {
      handOver();
    }
  }

  /** Gives the samples so far to the writer. Called by the lane a few times a second. */
  public void handOver() {
    if (current.rows() > 0) {
      filled.add(current);
      SampleBlock recycled = empty.poll();
      current = recycled == null ? new SampleBlock(lane) : recycled;
    }
  }

  /**
   * Returns samples that were handed over; null if there are none. For the writer, which must give
   * them back.
   */
  public SampleBlock poll() {
    return filled.poll();
  }

  /** Takes back a block that the writer is done with. */
  public void recycle(SampleBlock block) {
    block.clear();
    empty.add(block);
  }

  /** Returns how many attempts were started; any thread. */
  public long startedCount() {
    return started.getAcquire();
  }

  /** Returns how many attempts have an outcome, without the skipped; any thread. */
  public long finishedCount() {
    return finished.getAcquire();
  }

  /** Returns how many values were larger than the histograms hold; any thread. */
  public long clampedCount() {
    return clamped.getAcquire();
  }

  /** Adds what was recorded since the last call to {@code sum}. For the writer. */
  void drain(Phase phase, boolean ofMeasured, Histogram[] scratch, Histogram sum) {
    SingleWriterRecorder recorder = (ofMeasured ? measured : warmup)[phase.ordinal()];
    int slot = phase.ordinal() * 2 + (ofMeasured ? 1 : 0);
    scratch[slot] = recorder.getIntervalHistogram(scratch[slot]);
    sum.add(scratch[slot]);
  }
}

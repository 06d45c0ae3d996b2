package io.pqcbench.loadgen.record;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import java.util.List;
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

  private static final List<Phase> SET_UP =
      List.of(
          Phase.CONNECT, Phase.HANDSHAKE, Phase.HELLO, Phase.FLIGHT, Phase.FINISH, Phase.SETTINGS);

  private final int lane;
  private final long start;
  private final long measuredFrom;
  private final long highest;
  private final SingleWriterRecorder[] warmup = new SingleWriterRecorder[Phase.ALL.size()];
  private final SingleWriterRecorder[] measured = new SingleWriterRecorder[Phase.ALL.size()];

  private final Queue<SampleBlock> filled = new ConcurrentLinkedQueue<>();
  private final Queue<SampleBlock> empty = new ConcurrentLinkedQueue<>();
  private SampleBlock current;

  /** Connections of a pool that were opened; made when the first one is. */
  private final Queue<SampleBlock> setUps = new ConcurrentLinkedQueue<>();

  private SampleBlock currentSetUps;

  /** Starts by slot of the {@link Timeline}; published by {@link #started}. */
  private final int[] startedIn;

  private final AtomicLong started = new AtomicLong();
  private final AtomicLong finished = new AtomicLong();
  private final AtomicLong clamped = new AtomicLong();

  /**
   * @param lane from 0
   * @param start of the run, on its clock
   * @param lengthNanos of the run with its drain: starts after it are counted in its last slot
   * @param measuredFrom attempts that are planned before this instant of the run's clock belong to
   *     the warm-up
   * @param highest the largest value that is told apart, in nanoseconds; larger ones are recorded
   *     as this and counted
   */
  public LaneRecorder(int lane, long start, long lengthNanos, long measuredFrom, long highest) {
    this.lane = lane;
    this.start = start;
    this.startedIn = new int[(int) Math.min(lengthNanos / Timeline.SLOT_NANOS, 1 << 28) + 1];
    this.measuredFrom = measuredFrom;
    this.highest = highest;
    for (int i = 0; i < measured.length; i++) {
      warmup[i] = new SingleWriterRecorder(1, highest, SIGNIFICANT_DIGITS);
      measured[i] = new SingleWriterRecorder(1, highest, SIGNIFICANT_DIGITS);
    }
    current = new SampleBlock(lane);
  }

  /**
   * Counts an attempt that was started.
   *
   * @param nanos when, on the run's clock
   */
  public void started(long nanos) {
    long slot = Math.max(0, nanos - start) / Timeline.SLOT_NANOS;
    startedIn[(int) Math.min(slot, startedIn.length - 1)]++;
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

  /**
   * Keeps the opening of a connection that is kept for requests. It is no arrival, so it enters the
   * histograms of TCP, TLS and HTTP/2's settings and no others.
   */
  public void recordSetUp(Attempt attempt) {
    if (attempt.outcome() == Outcome.SUCCESS) {
      SingleWriterRecorder[] recorders =
          attempt.at(Milestone.PLANNED) < measuredFrom ? warmup : measured;
      for (Phase phase : SET_UP) {
        long nanos = attempt.nanos(phase);
        if (nanos != Attempt.UNSET) {
          recorders[phase.ordinal()].recordValue(Math.min(highest, nanos));
        }
      }
    }
    if (currentSetUps == null) {
      SampleBlock recycled = empty.poll();
      currentSetUps = recycled == null ? new SampleBlock(lane) : recycled;
    }
    currentSetUps.add(attempt);
    if (currentSetUps.isFull()) {
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
    if (currentSetUps != null && currentSetUps.rows() > 0) {
      setUps.add(currentSetUps);
      currentSetUps = null;
    }
  }

  /**
   * Returns samples that were handed over; null if there are none. For the writer, which must give
   * them back.
   */
  public SampleBlock poll() {
    return filled.poll();
  }

  /** Returns openings of connections that were handed over; null if there are none. */
  public SampleBlock pollSetUps() {
    return setUps.poll();
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

  /**
   * Returns how many attempts were started in the slots from {@code from} to before {@code to}; any
   * thread.
   */
  long started(int from, int to) {
    long sum = 0;
    if (started.getAcquire() > 0) {
      for (int i = Math.max(0, from); i < Math.min(to, startedIn.length); i++) {
        sum += startedIn[i];
      }
    }
    return sum;
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

package io.pqcbench.loadgen.verdict;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.Disturbances;
import io.pqcbench.loadgen.record.LaneRecorder;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/**
 * The measured successes that no disturbance touched: what they say is compared with what all say,
 * to learn which percentiles depend on the disturbances. No reported number comes from here. Used
 * by the writer's thread alone.
 */
public final class Undisturbed {

  /** Shorter ones are everywhere, and do not move a percentile of a handshake of a millisecond. */
  private static final long COUNTS_FROM_NANOS = 1_000_000L;

  /** A counter tells only that it was in these 100 ms, so it must be worth their loss. */
  private static final long WINDOW_COUNTS_FROM_NANOS = 5_000_000L;

  private static final double NEGLIGIBLE = 0.01;

  private static final Set<Source> IGNORED =
      EnumSet.of(Source.COMPILATION, Source.CLOCK_STEP, Source.LANE_STALL);

  private final Disturbances disturbances;
  private final Map<Phase, Histogram> histograms = new EnumMap<>(Phase.class);
  private final long highest;
  private long disturbed;

  /**
   * @param disturbances the timeline
   * @param highest as the run's histograms have it, in nanoseconds
   */
  public Undisturbed(Disturbances disturbances, long highest) {
    this.disturbances = disturbances;
    this.highest = highest;
    for (Phase phase : Phase.ALL) {
      histograms.put(phase, new Histogram(1, highest, LaneRecorder.SIGNIFICANT_DIGITS));
    }
  }

  /** Takes a measured success into account. */
  public void add(SampleBlock block, int row) {
    for (Disturbance disturbance :
        disturbances.within(block.at(row, Milestone.PLANNED), block.at(row, Milestone.DONE))) {
      long counts = disturbance.source().isExact() ? COUNTS_FROM_NANOS : WINDOW_COUNTS_FROM_NANOS;
      if (disturbance.amountNanos() >= counts
          && !IGNORED.contains(disturbance.source())
          && disturbance.concerns(block.lane())) {
        disturbed++;
        return;
      }
    }
    for (Phase phase : Phase.ALL) {
      long nanos = block.nanos(row, phase);
      if (nanos != Attempt.UNSET) {
        histograms.get(phase).recordValue(Math.min(nanos, highest));
      }
    }
  }

  /** Returns how many measured successes a disturbance touched. */
  public long disturbed() {
    return disturbed;
  }

  /**
   * Returns why a percentile should not be quoted although there are enough samples; null if it may
   * be.
   *
   * <p>It is left out of trust when the undisturbed samples alone put it outside its own 95 %
   * interval of order statistics, which is n p -+ 1.96 sqrt(n p (1 - p)) ranks wide.
   */
  public String doubt(RunRecord record, Phase phase, double percentile) {
    Histogram all = record.total(phase);
    Histogram clean = histograms.get(phase);
    long n = all.getTotalCount();
    if (disturbed == 0 || n == 0) {
      return null;
    }
    if (clean.getTotalCount() < n / 2) {
      return "disturbances touched more than half of the samples";
    }
    double p = percentile / 100;
    double half = 1.96 * Math.sqrt(n * p * (1 - p));
    long low = at(all, n * p - half);
    long high = at(all, n * p + half + 1);
    long without = clean.getValueAtPercentile(percentile);
    // Below a hundredth it is of no consequence, however narrow the interval of many samples is.
    long value = all.getValueAtPercentile(percentile);
    if (Math.abs(without - value) < value * NEGLIGIBLE) {
      return null;
    }
    boolean moved =
        all.highestEquivalentValue(without) < all.lowestEquivalentValue(low)
            || all.lowestEquivalentValue(without) > all.highestEquivalentValue(high);
    return moved
        ? "without the disturbed samples it is "
            + Attribution.millis(without)
            + ", outside its own interval"
        : null;
  }

  private static long at(Histogram histogram, double rank) {
    double n = histogram.getTotalCount();
    return histogram.getValueAtPercentile(100 * Math.max(0, Math.min(n, rank)) / n);
  }
}

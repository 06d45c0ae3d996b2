package io.pqcbench.analysis.statistics;

import java.util.stream.DoubleStream;
import org.apache.commons.statistics.distribution.BinomialDistribution;

/**
 * What one sample says about a quantile of what it was drawn from, by order statistics: no shape is
 * assumed, but independence is.
 *
 * <p>Consecutive latencies are not independent, because one stall makes a run of slow ones, so the
 * interval of a single trial is a lower bound of what is not known. Between arms the unit is the
 * trial, see {@link Shift}.
 */
public final class Quantiles {

  /** A percentile is printed with so many values beyond it, or more (METHOD.md, B2). */
  private static final int LEAST_BEYOND = 10;

  private Quantiles() {}

  /**
   * Ranks between which a quantile lies: the {@code lower}-th and the {@code upper}-th smallest
   * value, counted from 1.
   *
   * @param coverage the probability that the quantile is in the interval, at least that asked for
   */
  public record Ranks(long lower, long upper, double coverage) {}

  /**
   * Returns the ranks of an interval for a quantile, each tail of which has at most half of what
   * the confidence leaves. With X(k) the k-th smallest of n values, P(X(l) &lt;= q &lt; X(u)) is
   * the probability that a binomial variable (n, p) is from l to u - 1 (David and Nagaraja, "Order
   * Statistics", section 7.1).
   *
   * @param n how many values
   * @param p of the quantile, above 0 and below 1
   * @param confidence above 0 and below 1, such as 0.95
   * @return null if there are too few values for both ends to exist
   */
  public static Ranks ranks(long n, double p, double confidence) {
    if (n < least(p, confidence)) {
      return null;
    }
    BinomialDistribution below = BinomialDistribution.of(Math.toIntExact(n), p);
    double tail = (1 - confidence) / 2;
    // The largest l with P(B <= l - 1) <= tail.
    int lower = below.inverseCumulativeProbability(tail);
    while (lower > 0 && below.cumulativeProbability(lower - 1) > tail) {
      lower--;
    }
    while (below.cumulativeProbability(lower) <= tail) {
      lower++;
    }
    // The smallest u with P(B >= u) <= tail.
    int upper = below.inverseSurvivalProbability(tail);
    while (upper > 0 && below.survivalProbability(upper - 2) <= tail) {
      upper--;
    }
    while (below.survivalProbability(upper - 1) > tail) {
      upper++;
    }
    double coverage =
        below.cumulativeProbability(upper - 1) - below.cumulativeProbability(lower - 1);
    return new Ranks(lower, upper, coverage);
  }

  /**
   * Returns the fewest values with which an interval for a quantile has two ends: the smallest n
   * with p^n and (1-p)^n at most half of what the confidence leaves.
   */
  public static long least(double p, double confidence) {
    double tail = (1 - confidence) / 2;
    return (long) Math.ceil(Math.log(tail) / Math.log(Math.max(p, 1 - p)));
  }

  /**
   * Returns the median; of an even number of values the mean of the two in the middle.
   *
   * @param sorted values, the smallest first
   * @return NaN without a value
   */
  public static double median(double[] sorted) {
    int middle = sorted.length / 2;
    return sorted.length == 0
        ? Double.NaN
        : sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** Returns the median of values in any order; NaN without a value. */
  public static double median(DoubleStream values) {
    return median(values.sorted().toArray());
  }

  /**
   * Returns the fewest values with which a percentile is worth printing: those that have ten beyond
   * it.
   *
   * @param p of the quantile, above 0 and below 1
   */
  public static long leastToPrint(double p) {
    return Math.round(LEAST_BEYOND / Math.min(p, 1 - p));
  }
}

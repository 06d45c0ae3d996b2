package io.pqcbench.analysis.statistics;

import java.util.Arrays;

/**
 * By how much one arm lies above another, from one number a trial: the Hodges-Lehmann estimate, its
 * exact distribution-free interval, and the p of no shift. It estimates the median difference,
 * which is not the difference of the medians.
 *
 * <p>Hodges and Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical
 * Statistics 34 (1963); intervals: Hollander, Wolfe and Chicken, "Nonparametric Statistical
 * Methods", sections 3.3 (Walsh averages) and 4.3 (Moses).
 */
public final class Shift {

  /** Up to so many blocks all assignments of signs are tried; 2^20 of them take milliseconds. */
  private static final int ENUMERATED = 20;

  private static final int RANDOM_SIGNS = 200_000;

  private Shift() {}

  /**
   * What trials say about a shift.
   *
   * @param shift estimate and interval, in the unit of the values
   * @param p two-sided, of no shift
   * @param smallestP that this number of trials can give at all
   */
  public record Result(Interval shift, double p, double smallestP) {}

  /**
   * Compares trials that belong together, two of each block.
   *
   * <p>The p is that of the sign-flip permutation test on the sum of the differences, the interval
   * that of the signed-rank test.
   *
   * @param differences one a block, at least one
   * @param confidence such as 0.95
   */
  public static Result paired(double[] differences, double confidence) {
    require(differences.length, "differences");
    double[] walsh = walshAverages(differences);
    double estimate = Quantiles.median(walsh);
    int n = differences.length;
    int k = rank(signedRankCounts(n), Math.pow(2, n), (1 - confidence) / 2);
    Interval interval =
        k == 0
            ? Interval.without(estimate)
            : new Interval(
                estimate,
                walsh[k - 1],
                walsh[walsh.length - k],
                1 - 2 * cumulative(signedRankCounts(n), Math.pow(2, n), k - 1));
    return new Result(interval, signFlip(differences), Math.min(1, Math.pow(2, 1 - n)));
  }

  /**
   * Compares trials that do not belong together.
   *
   * <p>The p is that of the exact rank-sum test; with ties it uses mid-ranks and the permutation
   * distribution's normal approximation would be needed, so values are compared as they are and
   * ties count half, which is conservative for the continuous data that these are.
   *
   * @param baseline at least one
   * @param other at least one
   * @param confidence such as 0.95
   */
  public static Result unpaired(double[] baseline, double[] other, double confidence) {
    require(baseline.length, "baseline");
    require(other.length, "other");
    int m = baseline.length;
    int n = other.length;
    double[] differences = new double[m * n];
    double above = 0;
    int at = 0;
    for (double x : baseline) {
      for (double y : other) {
        double difference = y - x;
        differences[at++] = difference;
        above += difference > 0 ? 1 : difference == 0 ? 0.5 : 0;
      }
    }
    Arrays.sort(differences);
    double estimate = Quantiles.median(differences);
    double[] counts = rankSumCounts(m, n);
    double all = binomial(m + n, n);
    int k = rank(counts, all, (1 - confidence) / 2);
    Interval interval =
        k == 0
            ? Interval.without(estimate)
            : new Interval(
                estimate,
                differences[k - 1],
                differences[differences.length - k],
                1 - 2 * cumulative(counts, all, k - 1));
    double extreme = Math.min(above, (double) m * n - above);
    double p = Math.min(1, 2 * cumulative(counts, all, (int) Math.ceil(extreme)));
    return new Result(interval, p, Math.min(1, 2 / all));
  }

  /** Returns the estimate of {@link #paired} alone. */
  public static double estimate(double[] differences) {
    return Quantiles.median(walshAverages(differences));
  }

  private static void require(int length, String name) {
    if (length == 0) {
      throw new IllegalArgumentException("there is nothing to compare: " + name + "=0");
    }
  }

  /** Returns the means of all pairs, each value with itself too, sorted. */
  static double[] walshAverages(double[] values) {
    int n = values.length;
    double[] averages = new double[n * (n + 1) / 2];
    int at = 0;
    for (int i = 0; i < n; i++) {
      for (int j = i; j < n; j++) {
        averages[at++] = (values[i] + values[j]) / 2;
      }
    }
    Arrays.sort(averages);
    return averages;
  }

  /**
   * Returns the two-sided p of the sign-flip permutation test: how many of all assignments of signs
   * to the differences give a sum at least as far from 0.
   */
  static double signFlip(double[] differences) {
    return signFlips(differences, true);
  }

  /** The same one-sided, for sums at least as large. */
  static double signFlipAbove(double[] differences) {
    return signFlips(differences, false);
  }

  private static double signFlips(double[] differences, boolean twoSided) {
    int n = differences.length;
    double sum = Arrays.stream(differences).sum();
    double observed = twoSided ? Math.abs(sum) : sum;
    // Sums in another order differ in their last digits.
    double limit =
        observed - 1e-9 * Math.max(1e-300, Arrays.stream(differences).map(Math::abs).sum());
    if (n <= ENUMERATED) {
      long extreme = 0;
      for (long signs = 0; signs < 1L << n; signs++) {
        double flipped = 0;
        for (int i = 0; i < n; i++) {
          flipped += (signs >> i & 1) == 0 ? differences[i] : -differences[i];
        }
        extreme += (twoSided ? Math.abs(flipped) : flipped) >= limit ? 1 : 0;
      }
      return (double) extreme / (1L << n);
    }
    var random = Bootstrap.random(n);
    long extreme = 1;
    for (int round = 0; round < RANDOM_SIGNS; round++) {
      double flipped = 0;
      for (double difference : differences) {
        flipped += random.nextBoolean() ? difference : -difference;
      }
      extreme += (twoSided ? Math.abs(flipped) : flipped) >= limit ? 1 : 0;
    }
    return extreme / (RANDOM_SIGNS + 1.0);
  }

  /** The largest k with P(T &lt;= k - 1) at most {@code tail}; 0 for none. */
  private static int rank(double[] counts, double all, double tail) {
    double sum = 0;
    int k = 0;
    while (k < counts.length && (sum + counts[k]) / all <= tail) {
      sum += counts[k++];
    }
    return k;
  }

  private static double cumulative(double[] counts, double all, int to) {
    double sum = 0;
    for (int i = 0; i <= Math.min(to, counts.length - 1); i++) {
      sum += counts[i];
    }
    return sum / all;
  }

  /**
   * How many of the 2^n assignments of signs to the ranks 1 to n have each sum of positive ranks.
   */
  private static double[] signedRankCounts(int n) {
    double[] counts = new double[n * (n + 1) / 2 + 1];
    counts[0] = 1;
    for (int rank = 1; rank <= n; rank++) {
      for (int sum = counts.length - 1; sum >= rank; sum--) {
        counts[sum] += counts[sum - rank];
      }
    }
    return counts;
  }

  /** How many of the orders of m and n values have each number of pairs in the other order. */
  private static double[] rankSumCounts(int m, int n) {
    // The coefficients of the Gaussian binomial: product of (1 - q^(n+i)) / (1 - q^i).
    double[] counts = new double[m * n + 1];
    counts[0] = 1;
    for (int i = 1; i <= m; i++) {
      for (int u = counts.length - 1; u >= n + i; u--) {
        counts[u] -= counts[u - n - i];
      }
      for (int u = i; u < counts.length; u++) {
        counts[u] += counts[u - i];
      }
    }
    return counts;
  }

  private static double binomial(int n, int k) {
    double result = 1;
    for (int i = 1; i <= k; i++) {
      result = result * (n - k + i) / i;
    }
    return Math.rint(result);
  }
}

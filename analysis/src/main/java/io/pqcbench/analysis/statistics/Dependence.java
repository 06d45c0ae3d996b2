package io.pqcbench.analysis.statistics;

import java.util.Arrays;

/** Whether latencies that follow each other resemble each other. */
public final class Dependence {

  private Dependence() {}

  /**
   * Returns Spearman's rank correlation of each value with the next one.
   *
   * @param values in the order of their planned instants, at least 3
   * @return -1 to 1; NaN if all values are equal
   */
  public static double lagOne(double[] values) {
    if (values.length < 3) {
      throw new IllegalArgumentException(
          "a correlation needs at least 3 values: values=" + values.length);
    }
    return spearman(
        Arrays.copyOfRange(values, 0, values.length - 1),
        Arrays.copyOfRange(values, 1, values.length));
  }

  /**
   * Returns Spearman's rank correlation of two series; equal values have their mean rank.
   *
   * @return -1 to 1; NaN if a series has one value only
   */
  public static double spearman(double[] x, double[] y) {
    return pearson(ranks(x), ranks(y));
  }

  private static double pearson(double[] x, double[] y) {
    double meanX = Arrays.stream(x).average().orElse(Double.NaN);
    double meanY = Arrays.stream(y).average().orElse(Double.NaN);
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (int i = 0; i < x.length; i++) {
      xx += (x[i] - meanX) * (x[i] - meanX);
      yy += (y[i] - meanY) * (y[i] - meanY);
      xy += (x[i] - meanX) * (y[i] - meanY);
    }
    return xy / Math.sqrt(xx * yy);
  }

  private static double[] ranks(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    double[] ranks = new double[values.length];
    for (int i = 0; i < values.length; i++) {
      int any = Arrays.binarySearch(sorted, values[i]);
      ranks[i] = (first(sorted, any) + 1 + last(sorted, any) + 1) / 2.0;
    }
    return ranks;
  }

  /** Where the run of equal values begins in which {@code any} is; by halving, as runs are long. */
  private static int first(double[] sorted, int any) {
    int low = 0;
    int high = any;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (sorted[middle] < sorted[any]) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private static int last(double[] sorted, int any) {
    int low = any;
    int high = sorted.length - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (sorted[middle] > sorted[any]) {
        high = middle - 1;
      } else {
        low = middle;
      }
    }
    return low;
  }
}

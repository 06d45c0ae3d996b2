package io.pqcbench.analysis.statistics;

/**
 * An estimate and where the true value may be.
 *
 * @param low NaN if the data are too few for an interval of this confidence
 * @param high NaN likewise
 * @param confidence the coverage that the interval really has, at least the one asked for where it
 *     is exact; NaN without an interval
 */
public record Interval(double estimate, double low, double high, double confidence) {

  static Interval without(double estimate) {
    return new Interval(estimate, Double.NaN, Double.NaN, Double.NaN);
  }

  /** Returns whether the data allowed for an interval at all. */
  public boolean exists() {
    return !Double.isNaN(low);
  }

  /** Returns whether the interval exists and lies within {@code -margin} and {@code margin}. */
  public boolean within(double margin) {
    return exists() && low > -margin && high < margin;
  }
}

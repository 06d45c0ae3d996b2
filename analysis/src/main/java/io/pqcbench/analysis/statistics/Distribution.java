package io.pqcbench.analysis.statistics;

import java.util.Arrays;
import org.apache.commons.rng.sampling.distribution.ChengBetaSampler;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;

/**
 * The samples of one trial as values and how often each occurred, small however many they are, so
 * that those of a whole experiment can be kept and drawn from again.
 */
public final class Distribution {

  private final double[] values;
  private final long[] upTo;
  private final double mean;
  private final double deviation;

  private Distribution(double[] values, long[] upTo, double mean, double deviation) {
    this.values = values;
    this.upTo = upTo;
    this.mean = mean;
    this.deviation = deviation;
  }

  /**
   * Takes samples that are counted already.
   *
   * @param values rising, at least one
   * @param counts of each, at least 1
   */
  public static Distribution of(double[] values, long[] counts) {
    if (values.length == 0) {
      throw new IllegalArgumentException("there is nothing to draw from: values=0");
    }
    long[] upTo = new long[counts.length];
    double sum = 0;
    long n = 0;
    for (int i = 0; i < counts.length; i++) {
      n += counts[i];
      upTo[i] = n;
      sum += values[i] * counts[i];
    }
    double mean = sum / n;
    double squares = 0;
    for (int i = 0; i < counts.length; i++) {
      squares += counts[i] * (values[i] - mean) * (values[i] - mean);
    }
    return new Distribution(values.clone(), upTo, mean, Math.sqrt(squares / n));
  }

  /** Returns how many samples there are. */
  public long count() {
    return upTo[upTo.length - 1];
  }

  /** Returns their mean. */
  public double mean() {
    return mean;
  }

  /** Returns the k-th smallest sample, k from 1. */
  public double value(long k) {
    int at = Arrays.binarySearch(upTo, k);
    return values[at < 0 ? -at - 1 : at];
  }

  /**
   * Returns what draws a quantile: that of as many samples as there are, drawn with replacement.
   *
   * <p>The k-th smallest of n uniform numbers has the beta distribution (k, n - k + 1) (David and
   * Nagaraja, "Order Statistics", section 2.3), and a sample drawn with replacement is the value at
   * a uniform rank. So one beta number stands for n draws, exactly.
   *
   * @param p of the quantile, above 0 and below 1
   */
  public Bootstrap.Resampler quantile(double p) {
    long n = count();
    long k = Math.max(1, (long) Math.ceil(p * n));
    return random -> {
      double rank = ChengBetaSampler.of(random, (double) k, (double) (n - k + 1)).sample() * n;
      return value(Math.min(n, (long) rank + 1));
    };
  }

  /** Returns what draws the mean of as many samples as there are, by the central limit theorem. */
  public Bootstrap.Resampler average() {
    double error = deviation / Math.sqrt((double) count());
    return random -> mean + error * ZigguratSampler.NormalizedGaussian.of(random).sample();
  }
}

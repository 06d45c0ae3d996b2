package io.pqcbench.analysis.statistics;

import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.ArraySampler;

/**
 * Whether values rise or fall in the order in which they were measured.
 *
 * @param correlation of the ranks with the order, -1 to 1; NaN if all values are equal
 * @param p two-sided, by permutation
 */
public record Trend(double correlation, double p) {

  private static final int PERMUTATIONS = 20_000;

  /** Fewer values cannot give a p below 0.05: 2 / 4! is 0.083. */
  public static final int LEAST = 5;

  /**
   * Tests.
   *
   * @param values in their order, at least {@link #LEAST}
   */
  public static Trend of(double[] values) {
    if (values.length < LEAST) {
      throw new IllegalArgumentException(
          "a trend needs at least " + LEAST + " values: values=" + values.length);
    }
    double[] order = IntStream.range(0, values.length).asDoubleStream().toArray();
    double observed = Dependence.spearman(order, values);
    UniformRandomProvider random = Bootstrap.random(values.length);
    double[] shuffled = values.clone();
    int extreme = 1;
    for (int round = 0; round < PERMUTATIONS; round++) {
      ArraySampler.shuffle(random, shuffled);
      extreme +=
          Math.abs(Dependence.spearman(order, shuffled)) >= Math.abs(observed) - 1e-12 ? 1 : 0;
    }
    return new Trend(
        observed, Double.isNaN(observed) ? Double.NaN : extreme / (PERMUTATIONS + 1.0));
  }
}

package io.pqcbench.analysis.statistics;

import java.util.Arrays;
import java.util.List;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.ArraySampler;

/**
 * Whether it matters at which place of its block a trial ran: the first after a pause, or the one
 * after another arm. Random order keeps that out of the differences; it makes them noisier.
 *
 * @param effects mean of each place beyond its block's mean, from the first place on
 * @param p of no effect at all, by permutation within the blocks
 */
public record Position(List<Double> effects, double p) {

  private static final int PERMUTATIONS = 20_000;

  /** With fewer complete blocks of two, no p could be below 0.05: 2 / 2^5 is 0.0625. */
  public static final int LEAST_BLOCKS = 6;

  /**
   * Tests with the sum of the squares of the effects.
   *
   * @param blocks complete ones, at least {@link #LEAST_BLOCKS}: what each trial has beyond its
   *     arm's level, in the order of the places
   */
  public static Position of(double[][] blocks) {
    if (blocks.length < LEAST_BLOCKS) {
      throw new IllegalArgumentException(
          "an effect of the place needs at least "
              + LEAST_BLOCKS
              + " blocks: blocks="
              + blocks.length);
    }
    double[][] rest = new double[blocks.length][];
    for (int i = 0; i < blocks.length; i++) {
      double mean = Arrays.stream(blocks[i]).average().orElse(Double.NaN);
      rest[i] = Arrays.stream(blocks[i]).map(value -> value - mean).toArray();
    }
    double[] effects = effects(rest);
    double observed = squares(effects);
    UniformRandomProvider random = Bootstrap.random(blocks.length);
    int extreme = 1;
    for (int round = 0; round < PERMUTATIONS; round++) {
      for (double[] block : rest) {
        ArraySampler.shuffle(random, block);
      }
      // Sums in another order differ in their last digits.
      extreme += squares(effects(rest)) >= observed * (1 - 1e-9) ? 1 : 0;
    }
    return new Position(Arrays.stream(effects).boxed().toList(), extreme / (PERMUTATIONS + 1.0));
  }

  private static double[] effects(double[][] blocks) {
    double[] effects = new double[blocks[0].length];
    for (double[] block : blocks) {
      for (int i = 0; i < effects.length; i++) {
        effects[i] += block[i] / blocks.length;
      }
    }
    return effects;
  }

  private static double squares(double[] values) {
    return Arrays.stream(values).map(v -> v * v).sum();
  }
}

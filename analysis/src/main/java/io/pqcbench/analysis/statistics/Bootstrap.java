package io.pqcbench.analysis.statistics;

import java.util.Arrays;
import java.util.function.ToDoubleFunction;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.simple.RandomSource;

/**
 * Resampling of whole blocks, and of the samples within each: the two levels at which results of
 * another day would differ (Kalibera and Jones, ISMM 2013).
 */
public final class Bootstrap {

  /** With fewer blocks the outer level understates what is not known (METHOD.md, B3). */
  public static final int LEAST_BLOCKS = 6;

  /** So that the same data give the same report. */
  private static final long SEED = 0x6c6f616467656eL;

  private Bootstrap() {}

  static UniformRandomProvider random(long stream) {
    return RandomSource.XO_RO_SHI_RO_128_PP.create(SEED ^ (stream << 32));
  }

  /** Draws from one trial as many samples as it has, and returns a figure of them. */
  public interface Resampler {
    /** Returns the figure of one draw, in its unit. */
    double draw(UniformRandomProvider random);
  }

  /**
   * One block's two trials.
   *
   * @param baseline resamples the baseline's trial
   * @param other resamples the other arm's
   */
  public record Block(Resampler baseline, Resampler other) {}

  /**
   * Returns the percentile interval of the shift between two arms.
   *
   * @param blocks at least {@link #LEAST_BLOCKS}
   * @param estimate of the shift from differences, one a block
   * @param replicates such as 10,000
   * @param confidence such as 0.95
   * @throws IllegalArgumentException with fewer blocks
   */
  public static Interval shift(
      Block[] blocks, ToDoubleFunction<double[]> estimate, int replicates, double confidence) {
    if (blocks.length < LEAST_BLOCKS) {
      throw new IllegalArgumentException(
          "a bootstrap needs at least " + LEAST_BLOCKS + " blocks: blocks=" + blocks.length);
    }
    UniformRandomProvider random = random(blocks.length);
    double[] values = new double[replicates];
    double[] differences = new double[blocks.length];
    for (int i = 0; i < replicates; i++) {
      for (int j = 0; j < blocks.length; j++) {
        Block block = blocks[random.nextInt(blocks.length)];
        differences[j] = block.other().draw(random) - block.baseline().draw(random);
      }
      values[i] = estimate.applyAsDouble(differences);
    }
    Arrays.sort(values);
    double tail = (1 - confidence) / 2;
    return new Interval(
        Quantiles.median(values),
        values[(int) Math.floor(tail * (replicates - 1))],
        values[(int) Math.ceil((1 - tail) * (replicates - 1))],
        confidence);
  }
}

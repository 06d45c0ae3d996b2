package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BootstrapTest {

  private static Bootstrap.Block block(double shift) {
    return new Bootstrap.Block(
        random -> 100 + random.nextDouble(), random -> 100 + shift + random.nextDouble());
  }

  private static double mean(double[] values) {
    return Arrays.stream(values).average().orElseThrow();
  }

  @Test
  void theIntervalLiesAroundTheShiftAndIsTheSameEachTime() {
    Bootstrap.Block[] blocks = new Bootstrap.Block[8];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = block(i % 2 == 0 ? 9 : 11);
    }
    Interval interval = Bootstrap.shift(blocks, BootstrapTest::mean, 2_000, 0.95);

    assertThat(interval.low()).isBetween(8.5, 10.0);
    assertThat(interval.high()).isBetween(10.0, 11.5);
    assertThat(Bootstrap.shift(blocks, BootstrapTest::mean, 2_000, 0.95)).isEqualTo(interval);
  }

  /**
   * numpy, 40,000 replicates: blocks j of rng.integers(0, 6, 6), in each the p50 of
   * rng.choice(samples, 100) of both arms, the median of the Walsh averages of their differences;
   * np.percentile(..., [2.5, 50, 97.5]) is 19, 26, 33.
   */
  @Test
  void blocksAndTheSamplesWithinThemAreDrawnAgain() {
    Bootstrap.Block[] blocks = new Bootstrap.Block[6];
    for (int i = 1; i <= blocks.length; i++) {
      blocks[i - 1] =
          new Bootstrap.Block(p50From(100 + 5 * i), p50From(100 + 5 * i + 20 + 6 * (i % 3)));
    }
    Interval interval = Bootstrap.shift(blocks, Shift::estimate, 10_000, 0.95);

    assertThat(interval.low()).isCloseTo(19, within(0.75));
    assertThat(interval.estimate()).isCloseTo(26, within(0.5));
    assertThat(interval.high()).isCloseTo(33, within(0.75));
  }

  private static Bootstrap.Resampler p50From(int first) {
    long[] once = new long[100];
    Arrays.fill(once, 1);
    return Distribution.of(IntStream.range(first, first + 100).asDoubleStream().toArray(), once)
        .quantile(0.5);
  }

  @Test
  void fewBlocksAreRefused() {
    assertThatThrownBy(
            () -> Bootstrap.shift(new Bootstrap.Block[5], BootstrapTest::mean, 100, 0.95))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("blocks=5");
  }
}

package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
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

  @Test
  void fewBlocksAreRefused() {
    assertThatThrownBy(
            () -> Bootstrap.shift(new Bootstrap.Block[5], BootstrapTest::mean, 100, 0.95))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("blocks=5");
  }
}

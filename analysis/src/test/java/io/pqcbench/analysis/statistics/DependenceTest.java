package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DependenceTest {

  /** scipy.stats.spearmanr([1,2,2,4,7,3], [3,1,4,4,9,2]).statistic. */
  @Test
  void ranksWithTiesAsScipyDoes() {
    assertThat(
            Dependence.spearman(new double[] {1, 2, 2, 4, 7, 3}, new double[] {3, 1, 4, 4, 9, 2}))
        .isCloseTo(SCIPY, within(1e-12));
  }

  private static final double SCIPY = 0.5735294117647058;

  @Test
  void aRampIsOneAndASawIsMinusOne() {
    double[] ramp = IntStream.range(0, 50).asDoubleStream().toArray();
    double[] saw = IntStream.range(0, 50).mapToDouble(i -> i % 2 == 0 ? i : -i).toArray();

    assertThat(Dependence.lagOne(ramp)).isCloseTo(1, within(1e-12));
    assertThat(Dependence.lagOne(saw)).isLessThan(-0.9);
  }

  @Test
  void equalValuesHaveNoCorrelation() {
    assertThat(Dependence.lagOne(new double[] {5, 5, 5, 5})).isNaN();
  }
}

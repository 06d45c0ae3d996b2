package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class TrendTest {

  /**
   * scipy.stats.spearmanr(range(8), values) has 0.880952; of all 40,320 orders, enumerated with
   * itertools.permutations, a share of 0.00724 is as far from 0.
   */
  @Test
  void theCorrelationIsSpearmansAndThePThatOfAllOrders() {
    Trend trend = Trend.of(new double[] {3.1, 2.9, 4.0, 4.4, 3.8, 5.1, 4.9, 6.0});

    assertThat(trend.correlation()).isCloseTo(0.880952, within(1e-6));
    assertThat(trend.p()).isCloseTo(0.00724, within(0.002));
  }

  @Test
  void equalValuesHaveNoTrend() {
    assertThat(Trend.of(new double[] {1, 1, 1, 1, 1}).correlation()).isNaN();
    assertThat(Trend.of(new double[] {1, 1, 1, 1, 1}).p()).isNaN();
  }

  @Test
  void fewValuesAreRefused() {
    assertThatThrownBy(() -> Trend.of(new double[4]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("values=4");
  }
}

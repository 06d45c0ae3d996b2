package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DistributionTest {

  private static Distribution ramp(int n) {
    long[] once = new long[n];
    Arrays.fill(once, 1);
    return Distribution.of(IntStream.rangeClosed(1, n).asDoubleStream().toArray(), once);
  }

  private static double[] draws(Bootstrap.Resampler resampler) {
    var random = Bootstrap.random(1);
    double[] draws = new double[20_000];
    for (int i = 0; i < draws.length; i++) {
      draws[i] = resampler.draw(random);
    }
    Arrays.sort(draws);
    return draws;
  }

  @Test
  void valuesAreFoundByTheirRank() {
    Distribution distribution = Distribution.of(new double[] {10, 20, 40}, new long[] {2, 1, 3});

    assertThat(distribution.count()).isEqualTo(6);
    assertThat(distribution.mean()).isCloseTo(160 / 6.0, within(1e-12));
    assertThat(IntStream.rangeClosed(1, 6).mapToDouble(distribution::value))
        .containsExactly(10.0, 10.0, 20.0, 40.0, 40.0, 40.0);
  }

  /**
   * python3: draws = np.sort(rng.choice(np.arange(1, 1002), (20000, 1001)), axis=1); then
   * np.percentile(draws[:, 500], [2.5, 50, 97.5]) is 470, 501, 532, of draws[:, 990] 983, 991, 996.
   */
  @Test
  void aQuantileIsDrawnAsThatOfAsManySamplesDrawnOneByOne() {
    double[] median = draws(ramp(1_001).quantile(0.5));
    double[] tail = draws(ramp(1_001).quantile(0.99));

    assertThat(median[499]).isCloseTo(470, within(2.0));
    assertThat(median[9_999]).isCloseTo(501, within(1.0));
    assertThat(median[19_499]).isCloseTo(532, within(2.0));
    assertThat(tail[499]).isCloseTo(983, within(1.0));
    assertThat(tail[9_999]).isCloseTo(991, within(1.0));
    assertThat(tail[19_499]).isCloseTo(996, within(1.0));
  }

  /** The standard error of the mean of 1, ..., n is sqrt((n^2 - 1) / 12 / n): 9.132 for 1,001. */
  @Test
  void aMeanIsDrawnWithItsStandardError() {
    double[] means = draws(ramp(1_001).average());

    assertThat(means[9_999]).isCloseTo(501, within(0.5));
    assertThat(means[19_499] - means[499]).isCloseTo(2 * 1.96 * 9.132, within(0.8));
  }

  @Test
  void nothingCannotBeDrawnFrom() {
    assertThatThrownBy(() -> Distribution.of(new double[0], new long[0]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("values=0");
  }
}

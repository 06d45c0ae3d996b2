package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QuantilesTest {

  /** METHOD.md, B2; the same from scipy, see {@code scipy.txt}. */
  @ParameterizedTest
  @CsvSource({
    "1000, 0.99, 983, 997",
    "6000, 0.99, 5924, 5956",
    "6000, 0.999, 5989, 5999",
    "18000, 0.99, 17793, 17847",
    "18000, 0.999, 17973, 17991",
    "60000, 0.99, 59352, 59448",
    "60000, 0.999, 59924, 59956",
  })
  void theRanksOfAnIntervalAreThoseOfTheBinomialDistribution(
      long n, double p, long lower, long upper) {
    Quantiles.Ranks ranks = Quantiles.ranks(n, p, 0.95);

    assertThat(ranks.lower()).isEqualTo(lower);
    assertThat(ranks.upper()).isEqualTo(upper);
    assertThat(ranks.coverage()).isGreaterThanOrEqualTo(0.95);
  }

  @ParameterizedTest
  @CsvSource({"0.5, 6", "0.9, 36", "0.95, 72", "0.99, 368", "0.999, 3688", "0.9999, 36887"})
  void withFewerValuesThanTheseAnIntervalHasNoUpperEnd(double p, long least) {
    assertThat(Quantiles.least(p, 0.95)).isEqualTo(least);
    assertThat(Quantiles.ranks(least - 1, p, 0.95)).isNull();
    assertThat(Quantiles.ranks(least, p, 0.95).upper()).isLessThanOrEqualTo(least);
  }

  @ParameterizedTest
  @CsvSource({"0.5, 20", "0.9, 100", "0.99, 1000", "0.999, 10000", "0.9999, 100000"})
  void aPercentileIsPrintedWithTenValuesBeyondIt(double p, long least) {
    assertThat(Quantiles.leastToPrint(p)).isEqualTo(least);
  }

  @Test
  void theMedianOfTenLiesBetweenTheSecondAndTheNinth() {
    // Hollander, Wolfe and Chicken, table A.2: 0.979.
    Quantiles.Ranks ranks = Quantiles.ranks(10, 0.5, 0.95);
    assertThat(ranks.lower()).isEqualTo(2);
    assertThat(ranks.upper()).isEqualTo(9);
    assertThat(ranks.coverage()).isCloseTo(0.9785, within(0.0001));
  }
}

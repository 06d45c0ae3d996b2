package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PowerTest {

  /** METHOD.md, B1; alpha 0.05, power 0.8, two-sided t. */
  @ParameterizedTest
  @CsvSource({
    "3, 3.07",
    "5, 2.02",
    "6, 1.80",
    "8, 1.51",
    "10, 1.32",
    "12, 1.20",
    "15, 1.06",
    "20, 0.91",
    "30, 0.74"
  })
  void theSmallestShiftOfTwoGroups(int trials, double deviations) {
    assertThat(Power.unpaired(trials, 0.05, 0.8)).isCloseTo(deviations, within(0.006));
  }

  @ParameterizedTest
  @CsvSource({"6, 1.43", "10, 1.00", "12, 0.89", "20, 0.66"})
  void theSmallestShiftOfPairs(int blocks, double deviations) {
    assertThat(Power.paired(blocks, 0.05, 0.8)).isCloseTo(deviations, within(0.006));
  }

  /** METHOD.md, B1: twelve comparisons after Bonferroni. */
  @ParameterizedTest
  @CsvSource({"3, 6.04", "10, 1.87", "20, 1.24"})
  void twelveComparisonsNeedMore(int trials, double deviations) {
    assertThat(Power.unpaired(trials, 0.05 / 12, 0.8)).isCloseTo(deviations, within(0.02));
  }
}

package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShiftTest {

  private static double[] sequence(int n, double step) {
    return IntStream.range(0, n).mapToDouble(i -> 1 + i * step).toArray();
  }

  /** METHOD.md, B1: what a number of trials can say at all. */
  @ParameterizedTest
  @CsvSource({
    "3, 0.1, 0.25",
    "4, 0.0286, 0.125",
    "5, 0.0079, 0.0625",
    "6, 0.0022, 0.0313",
    "8, 0.00016, 0.0078",
    "10, 1.1e-5, 0.0020",
    "12, 7.4e-7, 0.0005"
  })
  void theSmallestPThatSoManyTrialsCanGive(int trials, double unpaired, double paired) {
    double[] low = sequence(trials, 0.01);
    double[] high = Arrays.stream(low).map(x -> x + 10).toArray();
    Shift.Result groups = Shift.unpaired(low, high, 0.95);
    Shift.Result pairs = Shift.paired(sequence(trials, 0.01), 0.95);

    assertThat(groups.p()).isCloseTo(unpaired, within(unpaired * 0.05));
    assertThat(groups.smallestP()).isEqualTo(groups.p());
    assertThat(pairs.p()).isCloseTo(paired, within(paired * 0.05));
    assertThat(pairs.smallestP()).isEqualTo(pairs.p());
  }

  /** METHOD.md, B1: the k-th smallest and largest of all differences, and their coverage. */
  @ParameterizedTest
  @CsvSource({
    "4, 1, 97.1",
    "5, 3, 96.8",
    "6, 6, 95.9",
    "8, 14, 95.0",
    "10, 24, 95.7",
    "12, 38, 95.5"
  })
  void theIntervalOfTwoGroupsIsBetweenTheKthDifferences(int trials, int k, double coverage) {
    double[] low = sequence(trials, 1);
    double[] high = sequence(trials, Math.PI);
    double[] differences =
        Arrays.stream(low).flatMap(x -> Arrays.stream(high).map(y -> y - x)).sorted().toArray();
    Interval interval = Shift.unpaired(low, high, 0.95).shift();

    assertThat(interval.low()).isEqualTo(differences[k - 1]);
    assertThat(interval.high()).isEqualTo(differences[differences.length - k]);
    assertThat(100 * interval.confidence()).isCloseTo(coverage, within(0.05));
  }

  @Test
  void threeTrialsHaveNoIntervalAndNoPBelowATenth() {
    Shift.Result result = Shift.unpaired(new double[] {4, 5, 5}, new double[] {5, 8, 39}, 0.95);

    assertThat(result.shift().exists()).isFalse();
    assertThat(result.shift().estimate()).isEqualTo(3);
    assertThat(result.smallestP()).isCloseTo(0.1, within(1e-9));
    assertThat(result.p()).isGreaterThanOrEqualTo(0.1);
  }

  @Test
  void nothingToCompareIsRefused() {
    assertThatThrownBy(() -> Shift.paired(new double[0], 0.95))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("differences=0");
  }

  /**
   * Hamilton's depression scores, table 3.1 of Hollander, Wolfe and Chicken. Estimate and interval:
   * R's wilcox.test(y, x, paired = TRUE, conf.int = TRUE); p: scipy.stats.permutation_test((d,),
   * np.sum, permutation_type='samples', n_resamples=np.inf).
   */
  @Test
  void pairedDataGiveTheEstimateTheIntervalAndThePOfTheirTextbook() {
    double[] before = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    double[] after = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    double[] differences = IntStream.range(0, 9).mapToDouble(i -> after[i] - before[i]).toArray();

    Shift.Result result = Shift.paired(differences, 0.95);

    assertThat(result.shift().estimate()).isCloseTo(-0.46, within(1e-9));
    assertThat(result.shift().low()).isCloseTo(-0.786, within(1e-9));
    assertThat(result.shift().high()).isCloseTo(-0.010, within(1e-9));
    assertThat(result.p()).isEqualTo(0.02734375);
  }

  /**
   * Permeability of membranes, table 4.1 of the same. Estimate and interval: R's wilcox.test(y, x,
   * conf.int = TRUE); p: scipy.stats.mannwhitneyu(y, x, method='exact').
   */
  @Test
  void twoGroupsGiveTheEstimateTheIntervalAndThePOfTheirTextbook() {
    double[] term = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
    double[] early = {1.15, 0.88, 0.90, 0.74, 1.21};

    Shift.Result result = Shift.unpaired(term, early, 0.95);

    assertThat(result.shift().estimate()).isCloseTo(-0.305, within(1e-9));
    assertThat(result.shift().low()).isCloseTo(-0.76, within(1e-9));
    assertThat(result.shift().high()).isCloseTo(0.15, within(1e-9));
    assertThat(result.p()).isCloseTo(0.2544122544122544, within(1e-12));
  }
}

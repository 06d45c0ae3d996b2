package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class EquivalenceTest {

  private static final double[] NEAR_NOTHING = {1, -2, 2, -1, 0.5, -0.5, 1.5, -1.5};

  @Test
  void smallDifferencesAreEquivalentWithinALargeMargin() {
    // All eight are on one side of each limit: 1 / 2^8 one-sided.
    assertThat(Equivalence.paired(NEAR_NOTHING, 10)).isEqualTo(1 / 256.0);
  }

  @Test
  void aMarginOfTheSizeOfTheDifferencesShowsNothing() {
    assertThat(Equivalence.paired(NEAR_NOTHING, 0.2)).isGreaterThan(0.05);
  }

  @Test
  void aDifferenceBeyondTheMarginIsNotEquivalent() {
    assertThat(Equivalence.paired(new double[] {20, 21, 22, 20, 19, 23, 20, 21}, 10))
        .isGreaterThan(0.9);
  }

  @Test
  void aMarginOfNothingIsRefused() {
    assertThatThrownBy(() -> Equivalence.paired(NEAR_NOTHING, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("margin=0.0");
  }
}

package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class PositionTest {

  /**
   * All 64 orders enumerated with python3's itertools.product([0, 1], repeat=6): effects of +-7/3,
   * and 8 of the 64 have a sum of squares at least as large, so p = 0.125.
   */
  @Test
  void thePOfTwoPlacesIsThatOfAllOrders() {
    double[][] blocks = {{12, 3}, {9, 4}, {7, 6}, {11, 2}, {3, 8}, {10, 1}};

    Position position = Position.of(blocks);

    assertThat(position.effects().get(0)).isCloseTo(7 / 3.0, within(1e-9));
    assertThat(position.effects().get(1)).isCloseTo(-7 / 3.0, within(1e-9));
    assertThat(position.p()).isCloseTo(0.125, within(0.01));
  }

  @Test
  void aPlaceThatIsAlwaysSlowerIsFoundWhateverTheBlocksDifferBy() {
    double[][] blocks = new double[8][];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = new double[] {1_000 * i + 50 + i % 3, 1_000 * i + i % 2, 1_000 * i};
    }

    assertThat(Position.of(blocks).p()).isLessThan(0.01);
    assertThat(Position.of(blocks).effects().get(0)).isGreaterThan(30);
  }

  @Test
  void fewBlocksAreRefused() {
    assertThatThrownBy(() -> Position.of(new double[5][2]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("blocks=5");
  }
}

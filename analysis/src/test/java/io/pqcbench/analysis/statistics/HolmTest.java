package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

class HolmTest {

  /** R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"). */
  @Test
  void adjustsAsRDoes() {
    assertThat(Holm.adjust(new double[] {0.01, 0.04, 0.03, 0.005}))
        .containsExactly(new double[] {0.03, 0.06, 0.06, 0.02}, Offset.offset(1e-12));
  }

  @Test
  void isNeverAboveOne() {
    assertThat(Holm.adjust(new double[] {0.6, 0.9})).containsExactly(1, 1);
    assertThat(Holm.adjust(new double[0])).isEmpty();
  }
}

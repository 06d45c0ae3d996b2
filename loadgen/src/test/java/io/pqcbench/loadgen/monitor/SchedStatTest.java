package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SchedStatTest {

  @Test
  void readsTheThreeNumbers() {
    assertThat(SchedStat.parse("1257259 434831 2\n"))
        .isEqualTo(new SchedStat(1_257_259, 434_831, 2));
    assertThat(SchedStat.parse("499280103 0 56")).isEqualTo(new SchedStat(499_280_103, 0, 56));
  }

  @Test
  void threeZerosAreAKernelThatKeepsNoAccount() {
    assertThat(SchedStat.parse("0 0 0\n")).isNull();
  }

  @Test
  void anythingElseIsNotThere() {
    assertThat(SchedStat.parse(null)).isNull();
    assertThat(SchedStat.parse("")).isNull();
    assertThat(SchedStat.parse("\n")).isNull();
    assertThat(SchedStat.parse("499280103 1234")).isNull();
    assertThat(SchedStat.parse("499280103 x 56")).isNull();
    assertThat(SchedStat.parse("499280103 -1234 56")).isNull();
    assertThat(SchedStat.parse("99999999999999999999 1 1")).isNull();
  }
}

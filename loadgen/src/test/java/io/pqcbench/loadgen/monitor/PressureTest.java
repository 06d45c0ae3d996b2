package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PressureTest {

  @Test
  void readsTheTotalOfTheLineSome() {
    assertThat(
            Pressure.someTotalMicros(
                """
                some avg10=0.01 avg60=2.90 avg300=2.08 total=10866776
                full avg10=0.00 avg60=0.00 avg300=0.00 total=7
                """))
        .isEqualTo(10_866_776);
  }

  @Test
  void anythingElseIsNotThere() {
    assertThat(Pressure.someTotalMicros(null)).isEqualTo(-1);
    assertThat(Pressure.someTotalMicros("")).isEqualTo(-1);
    assertThat(Pressure.someTotalMicros("some ")).isEqualTo(-1);
    assertThat(Pressure.someTotalMicros("some avg10=0.00\nfull avg10=0.00 total=7\n"))
        .isEqualTo(-1);
    assertThat(Pressure.someTotalMicros("some avg10=0.00 total=\n")).isEqualTo(-1);
    assertThat(Pressure.someTotalMicros("some avg10=0.00 total=x1\n")).isEqualTo(-1);
  }
}

package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WallClockTest {

  private static final WallClock NOT_KNOWN = new WallClock(null, null, null, null);

  private static final String CHRONYC =
      "A9FEA97B,169.254.169.123,4,1764669600.123456789,-0.000012345,0.000003210,0.000010000,"
          + "-5.123,0.001,0.050,0.000400000,0.000100000,16.0,Normal\n";

  /** As version 1.29 prints it. */
  private static final String ADJTIMEX =
      """
               mode: 0
             offset: -12345
          frequency: 1234567
           maxerror: 81500
           esterror: 120
             status: 8193
      time_constant: 2
          precision: 1
          tolerance: 32768000
               tick: 10000
           raw time:  1764669600s 123456us = 1764669600.123456
       return value = 0
      """;

  private static WallClock read(Map<String, String> said) {
    return WallClock.read((List<String> words) -> said.get(words.get(0)), false);
  }

  @Test
  void chronySaysTheOffsetAndABoundOfTheError() {
    WallClock clock = read(Map.of("chronyc", CHRONYC, "adjtimex", ADJTIMEX));
    assertThat(clock.source()).isEqualTo("chronyc");
    assertThat(clock.synchronised()).isTrue();
    assertThat(clock.offsetMicros()).isEqualTo(-12.345);
    // 12.345 us off, 100 us of dispersion, half of 400 us of delay.
    assertThat(clock.errorMicros()).isEqualTo(312.345);
  }

  @Test
  void aChronyWithoutAReferenceHasNoOffset() {
    String lost =
        "00000000,,0,0.0,0.000000000,0.0,0.0,0.0,0.0,0.0,1.000000000,1.000000000,0.0,"
            + "Not synchronised\n";
    assertThat(read(Map.of("chronyc", lost)))
        .isEqualTo(new WallClock("chronyc", false, null, null));
  }

  @Test
  void theKernelSaysABoundOfTheError() {
    assertThat(read(Map.of("adjtimex", ADJTIMEX)))
        .isEqualTo(new WallClock("adjtimex", true, null, 81_500.0));
    assertThat(read(Map.of("adjtimex", ADJTIMEX.replace("value = 0", "value = 5"))))
        .isEqualTo(new WallClock("adjtimex", false, null, null));
    String busybox = "    maxerror: 500\n    return value: 0 (clock synchronized)\n";
    assertThat(read(Map.of("busybox", busybox)))
        .isEqualTo(new WallClock("busybox adjtimex", true, null, 500.0));
  }

  @Test
  void systemdSaysOnlyWhether() {
    assertThat(read(Map.of("timedatectl", "NTPSynchronized=yes\n")))
        .isEqualTo(new WallClock("timedatectl", true, null, null));
    assertThat(read(Map.of("timedatectl", "NTPSynchronized=no\n")))
        .isEqualTo(new WallClock("timedatectl", false, null, null));
  }

  @Test
  void theKernelsBoundIsNotAskedForWhereTimesyncdSetsItToNothing() {
    Map<String, String> said = Map.of("adjtimex", ADJTIMEX, "timedatectl", "NTPSynchronized=yes\n");
    assertThat(WallClock.read(words -> said.get(words.get(0)), true))
        .isEqualTo(new WallClock("timedatectl", true, null, null));
    assertThat(WallClock.read(words -> Map.of("chronyc", CHRONYC).get(words.get(0)), true).source())
        .isEqualTo("chronyc");
  }

  @Test
  void whereNobodySaysAnythingItIsNotKnown() {
    assertThat(read(Map.of())).isEqualTo(NOT_KNOWN);
    assertThat(
            read(
                Map.of(
                    "chronyc", "506 Cannot talk to daemon\n",
                    "adjtimex", "usage\n",
                    "timedatectl", "")))
        .isEqualTo(NOT_KNOWN);
    assertThat(read(Map.of("chronyc", CHRONYC.replace("-0.000012345", "x")))).isEqualTo(NOT_KNOWN);
  }
}

package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CpuTimesTest {

  /** A virtual machine, Linux 6.18; the line of interrupts is cut. */
  private static final String X86 =
      """
      cpu  5346 0 1900 110693 153 0 109 0 0 0
      cpu0 2611 0 856 55579 16 0 54 0 0 0
      cpu1 2734 0 1044 55114 136 0 55 0 0 0
      intr 115401 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 10
      ctxt 229322
      btime 1796140799
      processes 2779
      procs_running 2
      procs_blocked 0
      softirq 70222 0 10657 4 3611 11574 0 4 28007 0 16365
      """;

  @Test
  void readsEveryCpuButNotTheirSum() {
    assertThat(CpuTimes.parse(X86))
        .containsExactly(
            new CpuTimes(0, 2611, 0, 856, 55_579, 16, 0, 54, 0),
            new CpuTimes(1, 2734, 0, 1044, 55_114, 136, 0, 55, 0));
  }

  @Test
  void cpuIdsNeedNotBeContiguous() {
    assertThat(
            CpuTimes.parse(
                """
                cpu  30 0 12 700 3 0 1 0 0 0
                cpu0 10 0 5 300 1 0 1 0 0 0
                cpu2 20 0 7 400 2 0 0 0 0 0
                intr 5
                """))
        .extracting(CpuTimes::cpu)
        .containsExactly(0, 2);
  }

  @Test
  void readsStealOfAGuest() {
    assertThat(
            CpuTimes.parse(
                """
                cpu  1393280 32966 572056 13343292 6130 0 17875 23933 0 0
                cpu0 696640 16483 286028 6671646 3065 0 8937 23933 0 0
                """))
        .singleElement()
        .extracting(CpuTimes::steal)
        .isEqualTo(23_933L);
  }

  @Test
  void tellsAMissingStealColumnFromNoSteal() {
    // Linux 2.6.9 has no steal, 2.4 no iowait either.
    assertThat(CpuTimes.parse("cpu0 100 1 20 3000 5 2 7\nintr 1\n"))
        .containsExactly(new CpuTimes(0, 100, 1, 20, 3000, 5, 2, 7, -1));
    assertThat(CpuTimes.parse("cpu0 100 1 20 3000"))
        .containsExactly(new CpuTimes(0, 100, 1, 20, 3000, 0, 0, 0, -1));
    assertThat(CpuTimes.parse(X86)).extracting(CpuTimes::steal).containsOnly(0L);
  }

  @Test
  void totalHoldsEveryColumnOnceAndBusyOnlyWork() {
    CpuTimes times = new CpuTimes(0, 1, 20, 300, 4_000, 50_000, 600_000, 7_000_000, 80_000_000);
    assertThat(times.total()).isEqualTo(87_654_321);
    assertThat(times.busy()).isEqualTo(7_600_321);
  }

  @Test
  void stealThatIsNotReportedCountsAsNone() {
    assertThat(new CpuTimes(0, 1, 0, 0, 9, 0, 0, 0, -1).total()).isEqualTo(10);
  }

  @Test
  void guestColumnsAreNotCountedTwice() {
    // 40 of the 100 user ticks went to a guest.
    assertThat(CpuTimes.parse("cpu0 100 0 0 0 0 0 0 0 40 0\n").get(0).total()).isEqualTo(100);
  }

  @Test
  void aColumnThatIsNoNumberEndsItsLine() {
    assertThat(CpuTimes.parse("cpu0 1 2 x 4 5 6 7 8\ncpu1 1 1 1 1 1 1 1 1\n"))
        .containsExactly(
            new CpuTimes(0, 1, 2, 0, 0, 0, 0, 0, -1), new CpuTimes(1, 1, 1, 1, 1, 1, 1, 1, 1));
  }

  @Test
  void whatIsNotOfACpuGivesNothing() {
    assertThat(CpuTimes.parse(null)).isEmpty();
    assertThat(CpuTimes.parse("")).isEmpty();
    assertThat(CpuTimes.parse("cpu")).isEmpty();
    assertThat(CpuTimes.parse("cpu0")).isEmpty();
    assertThat(CpuTimes.parse("cpu0 \n\n")).isEmpty();
    assertThat(CpuTimes.parse("cpu99999999999 1 2 3 4\n")).isEmpty();
    assertThat(CpuTimes.parse("cpu0x 1 2 3 4\n")).isEmpty();
    assertThat(CpuTimes.parse("cpu0 99999999999999999999 2 3 4\n")).isEmpty();
    assertThat(CpuTimes.parse("\0\ufffd\n\n cpu0 1 2 3")).isEmpty();
  }
}

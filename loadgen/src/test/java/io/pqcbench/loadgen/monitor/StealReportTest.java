package io.pqcbench.loadgen.monitor;

import static io.pqcbench.loadgen.monitor.StealReport.NOT_REPORTED;
import static io.pqcbench.loadgen.monitor.StealReport.REPORTED;
import static io.pqcbench.loadgen.monitor.StealReport.ZERO_SINCE_BOOT;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StealReportTest {

  private static final List<CpuTimes> NEVER_STOLEN =
      CpuTimes.parse(
          """
          cpu  48117 12 9120 3381002 911 0 402 0 0 0
          cpu0 24001 6 4560 1690501 455 0 201 0 0 0
          cpu1 24116 6 4560 1690501 456 0 201 0 0 0
          intr 5
          """);

  private static final List<CpuTimes> STOLEN_ON_ONE_CPU =
      CpuTimes.parse("cpu0 24001 6 4560 1690501 455 0 201 0 0 0\ncpu1 1 0 1 9 0 0 0 3 0 0\n");

  private static final List<CpuTimes> WITHOUT_COLUMN = CpuTimes.parse("cpu0 100 1 20 3000 5 2 7\n");

  private static final String GUEST = "flags\t\t: fpu vme de rdrand hypervisor lahf_lm\n";

  private static final String BARE_METAL = "flags\t\t: fpu vme de rdrand lahf_lm\n";

  private static final String ARM_LOG =
      """
      [    0.000000] psci: SMC Calling Convention v1.1
      [    0.000317] arm-pv: using stolen time PV
      """;

  @Test
  void stealSinceBootProvesThatItIsReported() {
    assertThat(StealReport.of(STOLEN_ON_ONE_CPU, "amd64", null, GUEST)).isEqualTo(REPORTED);
    assertThat(StealReport.of(STOLEN_ON_ONE_CPU, "aarch64", null, null)).isEqualTo(REPORTED);
  }

  @Test
  void zeroMeansNothingOnArmWithoutAClockOfStolenTime() {
    assertThat(StealReport.of(NEVER_STOLEN, "aarch64", "[ 0.0] Booting Linux\n", null))
        .isEqualTo(NOT_REPORTED);
  }

  @Test
  void zeroMeansNoneOnArmWithAClockOfStolenTime() {
    assertThat(StealReport.of(NEVER_STOLEN, "aarch64", ARM_LOG, null)).isEqualTo(REPORTED);
  }

  @Test
  void aKernelLogThatMayNotBeReadProvesNothingOnArm() {
    assertThat(StealReport.of(NEVER_STOLEN, "aarch64", null, null)).isEqualTo(NOT_REPORTED);
  }

  @Test
  void theLogOfArmSaysNothingOfX86() {
    assertThat(StealReport.of(NEVER_STOLEN, "amd64", ARM_LOG, GUEST)).isEqualTo(ZERO_SINCE_BOOT);
  }

  @Test
  void zeroOnX86IsNeverTakenForProofOfReporting() {
    assertThat(StealReport.of(NEVER_STOLEN, "amd64", null, GUEST)).isEqualTo(ZERO_SINCE_BOOT);
    assertThat(StealReport.of(NEVER_STOLEN, "amd64", null, BARE_METAL)).isEqualTo(ZERO_SINCE_BOOT);
    assertThat(StealReport.of(NEVER_STOLEN, "amd64", null, null)).isEqualTo(ZERO_SINCE_BOOT);
  }

  @Test
  void aKernelWithoutTheColumnDoesNotReport() {
    assertThat(StealReport.of(WITHOUT_COLUMN, "amd64", null, GUEST)).isEqualTo(NOT_REPORTED);
  }

  @Test
  void whatCannotBeReadIsNotReported() {
    assertThat(StealReport.of(null, null, null, null)).isEqualTo(NOT_REPORTED);
    assertThat(StealReport.of(List.of(), "amd64", "", "")).isEqualTo(NOT_REPORTED);
  }
}

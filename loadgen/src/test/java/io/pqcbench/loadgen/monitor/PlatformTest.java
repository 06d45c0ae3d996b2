package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class PlatformTest {

  private static final String RUN_DELAY = "run delay (kernel without CONFIG_SCHED_INFO)";
  private static final String PRESSURE = "CPU pressure (kernel without PSI)";

  private final Map<String, String> texts = new HashMap<>();

  private Platform read() {
    return Platform.read(texts::get, () -> 0);
  }

  @Test
  void aKernelThatShowsItMissesNothingOfIt() {
    texts.put("/proc/self/schedstat", "1200 30 4\n");
    texts.put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    assertThat(read().notReported()).doesNotContain(RUN_DELAY, PRESSURE);
  }

  @Test
  void whatAKernelDoesNotShowIsSaid() {
    assertThat(read().notReported()).contains(RUN_DELAY, PRESSURE);
    assertThat(read().steal()).isEqualTo(StealReport.NOT_REPORTED);
    assertThat(read().clocksource()).isNull();
    assertThat(read().cpuQuota()).isNaN();
    assertThat(read().throttleFiles()).isEmpty();
  }

  /** The file is there, but no account is kept (sched_info_on). */
  @Test
  void threeZerosAreNoRunDelay() {
    texts.put("/proc/self/schedstat", "0 0 0\n");
    assertThat(read().notReported()).contains(RUN_DELAY);
  }

  @Test
  void theSmallestQuotaOfAllGroupsCounts() {
    texts.put("/proc/self/cgroup", "0::/pods/one\n");
    texts.put(
        "/proc/self/mountinfo",
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - cgroup2 cgroup2 rw\n");
    texts.put("/sys/fs/cgroup/pods/one/cpu.max", "max 100000\n");
    texts.put("/sys/fs/cgroup/pods/cpu.max", "150000 100000\n");
    texts.put(
        "/sys/fs/cgroup/pods/one/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n");
    texts.put("/sys/fs/cgroup/cpu.stat", "usage_usec 73848000\n");
    assertThat(read().cpuQuota()).isEqualTo(1.5);
    assertThat(read().throttleFiles()).containsExactly("/sys/fs/cgroup/pods/one/cpu.stat");
    texts.put("/sys/fs/cgroup/pods/one/cpu.max", "50000 100000\n");
    assertThat(read().cpuQuota()).isEqualTo(0.5);
  }

  @Test
  void theClocksourceHasNoNewline() {
    texts.put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "xen\n");
    assertThat(read().clocksource()).isEqualTo("xen");
  }

  @Test
  @Timeout(30)
  void ofACommandThatHangsNothingIsWaitedFor() {
    assertThat(Platform.output(50, "sleep", "600")).isNull();
  }

  @Test
  void whatACommandPrintsIsWholeAlsoIfItIsMoreThanAPipeHolds() {
    assertThat(Platform.output(20_000, "seq", "1", "50000")).hasLineCount(50_000);
  }

  @Test
  void aCommandThatFailsOrIsNotThereSaysNothing() {
    assertThat(Platform.output(20_000, "false")).isNull();
    assertThat(Platform.output(20_000, "no-such-command-anywhere")).isNull();
  }
}

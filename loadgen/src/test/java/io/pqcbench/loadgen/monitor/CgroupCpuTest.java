package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CgroupCpuTest {

  private static final String V2_MOUNT =
      "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2"
          + " rw,nsdelegate,memory_recursiveprot\n";

  /** A virtual machine with both versions; the controller is v1's. */
  private static final String HYBRID_MOUNTS =
      """
      22 1 254:0 / / rw,relatime - ext4 /dev/root rw
      30 22 0:27 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
      32 30 0:29 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
      33 30 0:30 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
      31 30 0:28 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
      39 30 0:36 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
      40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
      """;

  private static final String HYBRID_GROUPS =
      """
      9:name=systemd:/
      4:memory:/service/0768
      3:cpuset:/sets
      2:cpuacct:/
      1:cpu:/
      0::/
      """;

  @Test
  void readsVersion2InMicroseconds() {
    assertThat(
            CgroupCpu.parse(
                """
                usage_usec 73848000
                user_usec 53560000
                system_usec 20288000
                nice_usec 0
                nr_periods 120
                nr_throttled 7
                throttled_usec 431
                nr_bursts 0
                burst_usec 0
                """))
        .isEqualTo(new CgroupCpu(120, 7, 431_000));
  }

  @Test
  void readsVersion1InNanoseconds() {
    assertThat(
            CgroupCpu.parse(
                "nr_periods 120\nnr_throttled 7\nthrottled_time 431\nnr_bursts 0\nburst_time 0\n"))
        .isEqualTo(new CgroupCpu(120, 7, 431));
  }

  @Test
  void theRootOfVersion2HasNoQuota() {
    assertThat(
            CgroupCpu.parse(
                "usage_usec 73848000\nuser_usec 53560000\nsystem_usec 20288000\nnice_usec 0\n"))
        .isNull();
  }

  @Test
  void whatTheTextLacksIsUnknown() {
    assertThat(CgroupCpu.parse("nr_throttled 7\nnr_periods")).isEqualTo(new CgroupCpu(-1, 7, -1));
    assertThat(CgroupCpu.parse(null)).isNull();
    assertThat(CgroupCpu.parse("")).isNull();
    assertThat(CgroupCpu.parse("nr_periods x\n\0")).isNull();
    assertThat(CgroupCpu.parse("throttled_usec 999999999999999999\n")).isNull();
  }

  @Test
  void everyGroupUpToTheRootMayHaveAQuota() {
    assertThat(CgroupCpu.directories("0::/user.slice/user-1000.slice/a.scope\n", V2_MOUNT))
        .containsExactly(
            "/sys/fs/cgroup/user.slice/user-1000.slice/a.scope",
            "/sys/fs/cgroup/user.slice/user-1000.slice",
            "/sys/fs/cgroup/user.slice",
            "/sys/fs/cgroup");
  }

  @Test
  void version1IsFoundByItsController() {
    assertThat(
            CgroupCpu.directories(
                "5:cpuset:/no\n4:cpu,cpuacct:/a:b/c\n",
                "33 30 0:30 / /sys/fs/cgroup/cpuset rw shared:1 - cgroup cgroup rw,cpuset\n"
                    + "34 30 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:2 master:1 - cgroup cgroup"
                    + " rw,cpu,cpuacct\n"))
        .containsExactly(
            "/sys/fs/cgroup/cpu,cpuacct/a:b/c",
            "/sys/fs/cgroup/cpu,cpuacct/a:b",
            "/sys/fs/cgroup/cpu,cpuacct");
  }

  @Test
  void bothVersionsAreLookedAtInAHybridSetUp() {
    assertThat(CgroupCpu.directories(HYBRID_GROUPS, HYBRID_MOUNTS))
        .containsExactly("/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu");
    assertThat(
            CgroupCpu.directories(
                HYBRID_GROUPS.replace("cpu:/", "cpu:/one").replace("0::/", "0::/two"),
                HYBRID_MOUNTS))
        .containsExactly(
            "/sys/fs/cgroup/unified/two",
            "/sys/fs/cgroup/unified",
            "/sys/fs/cgroup/cpu/one",
            "/sys/fs/cgroup/cpu");
  }

  @Test
  void aContainersMountBeginsBelowTheRoot() {
    String mount = "41 40 0:28 /docker/x /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
    assertThat(CgroupCpu.directories("1:cpu:/docker/x\n", mount))
        .containsExactly("/sys/fs/cgroup/cpu");
    assertThat(CgroupCpu.directories("1:cpu:/docker/x/y\n", mount))
        .containsExactly("/sys/fs/cgroup/cpu/y", "/sys/fs/cgroup/cpu");
  }

  @Test
  void aGroupOutsideOfTheMountStandsAtItsRoot() {
    String mount = "41 40 0:28 /docker/x /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n";
    assertThat(CgroupCpu.directories("1:cpu:/docker/xyz/y\n", mount))
        .containsExactly("/sys/fs/cgroup/cpu");
    assertThat(CgroupCpu.directories("1:cpu:/\n", mount)).containsExactly("/sys/fs/cgroup/cpu");
  }

  @Test
  void aGroupOutsideOfTheNamespaceStandsAtTheRoot() {
    assertThat(CgroupCpu.directories("0::/../other\n", V2_MOUNT)).containsExactly("/sys/fs/cgroup");
    assertThat(
            CgroupCpu.directories(
                "0::/\n", "30 23 0:26 /../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"))
        .containsExactly("/sys/fs/cgroup");
  }

  @Test
  void ofSeveralMountsTheOneThatShowsMostIsTaken() {
    String inner = "41 40 0:26 /a /inner rw - cgroup2 cgroup2 rw\n";
    assertThat(CgroupCpu.directories("0::/a/b\n", inner + V2_MOUNT))
        .containsExactly("/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup");
    assertThat(CgroupCpu.directories("0::/a/b\n", V2_MOUNT + inner))
        .containsExactly("/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup");
    String elsewhere = "42 40 0:26 /z /elsewhere rw - cgroup2 cgroup2 rw\n";
    assertThat(CgroupCpu.directories("0::/a/b\n", elsewhere + inner))
        .containsExactly("/inner/b", "/inner");
  }

  @Test
  void mountPointsAreUnescaped() {
    assertThat(
            CgroupCpu.directories(
                "0::/a b\n", "30 23 0:26 / /mnt/c\\040g\\134x rw - cgroup2 none rw\n"))
        .containsExactly("/mnt/c g\\x/a b", "/mnt/c g\\x");
  }

  @Test
  void withoutGroupOrMountThereIsNoDirectory() {
    assertThat(CgroupCpu.directories(null, V2_MOUNT)).isEmpty();
    assertThat(CgroupCpu.directories("0::/\n", null)).isEmpty();
    assertThat(CgroupCpu.directories("", "")).isEmpty();
    assertThat(CgroupCpu.directories("0::\n0:\n::\nx\n\n", V2_MOUNT)).isEmpty();
    assertThat(CgroupCpu.directories("0::/a\n", "1 2 - cgroup2\n - cgroup2 a b\nx\n\n")).isEmpty();
    assertThat(CgroupCpu.directories("2:cpuset:/a\n", HYBRID_MOUNTS)).isEmpty();
  }

  @Test
  void aQuotaIsQuotedInCpus() {
    assertThat(CgroupCpu.cpusOf("50000 100000\n")).isEqualTo(0.5);
    assertThat(CgroupCpu.cpusOf("max 100000\n")).isNaN();
    assertThat(CgroupCpu.cpusOf("150000\n", "100000\n")).isEqualTo(1.5);
    assertThat(CgroupCpu.cpusOf("-1\n", "100000\n")).isNaN();
  }

  @Test
  void aQuotaThatCannotBeReadIsNone() {
    assertThat(CgroupCpu.cpusOf(null)).isNaN();
    assertThat(CgroupCpu.cpusOf("")).isNaN();
    assertThat(CgroupCpu.cpusOf("50000")).isNaN();
    assertThat(CgroupCpu.cpusOf("50000 0")).isNaN();
    assertThat(CgroupCpu.cpusOf(null, "100000")).isNaN();
    assertThat(CgroupCpu.cpusOf("50000", null)).isNaN();
    assertThat(CgroupCpu.cpusOf("50000", "")).isNaN();
    assertThat(CgroupCpu.cpusOf("50000 1", "100000")).isNaN();
  }
}

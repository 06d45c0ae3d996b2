package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HostFactsTest {

  @Test
  void readsTheDescriptorLimit() {
    String limits =
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max processes             94348                94348                processes
        Max open files            1024                 524288               files
        Max locked memory         8388608              8388608              bytes
        """;
    assertThat(HostFacts.descriptorLimit(limits)).isEqualTo(1024);
    assertThat(HostFacts.descriptorLimit(limits.replace("1024  ", "unlimited")))
        .isEqualTo(Long.MAX_VALUE);
    assertThat(HostFacts.descriptorLimit(null)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void countsBothEndsOfThePortRange() {
    assertThat(HostFacts.portCount("32768\t60999")).isEqualTo(28_232);
    assertThat(HostFacts.portCount("1024 65535\n")).isEqualTo(64_512);
  }

  @Test
  void readsTheMemoryInBytes() {
    assertThat(HostFacts.memoryBytes("MemTotal:       24594320 kB\nMemFree:  1 kB\n"))
        .isEqualTo(24_594_320L * 1024);
    assertThat(HostFacts.memoryBytes(null)).isEqualTo(-1);
  }

  @Test
  void leavesOutTheModelThatAnArmKernelDoesNotName() {
    assertThat(
            HostFacts.field(
                "processor\t: 0\nBogoMIPS\t: 2100.00\nCPU part\t: 0xd40\n", "model name"))
        .isNull();
    assertThat(HostFacts.field("processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\n", "model name"))
        .isEqualTo("Intel(R) Xeon(R)");
  }

  @Test
  void readsThisMachineWhole() {
    HostFacts facts = HostFacts.read();
    assertThat(facts.cpus()).isPositive();
    assertThat(facts.ephemeralPorts()).isGreaterThan(100);
    assertThat(facts.openDescriptors()).isPositive();
    // Such files answer only the first read; a partial one would lose the second number.
    assertThat(facts.sysctls().get("net.ipv4.ip_local_port_range")).matches("\\d+ \\d+");
  }
}

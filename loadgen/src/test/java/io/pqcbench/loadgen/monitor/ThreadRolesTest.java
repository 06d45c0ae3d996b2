package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.util.List;
import org.junit.jupiter.api.Test;

class ThreadRolesTest {

  private static void assertRole(Role role, String... names) {
    assertThat(List.of(names)).allSatisfy(n -> assertThat(ThreadRoles.roleOf(n)).isEqualTo(role));
  }

  @Test
  void knowsTheProgramsOwnThreads() {
    assertRole(Role.LANE, "lane-0", "lane-12", "lane-0\n");
    assertRole(Role.HICCUP, "hiccup-0");
    assertRole(Role.MONITOR, "monitor", "monitor\n", "prometheus", "HTTP-Dispatcher");
  }

  @Test
  void flightRecordingObserves() {
    assertRole(
        Role.MONITOR,
        "JFR Event Strea",
        "JFR Recorder Th",
        "JFR Periodic Ta",
        "JFR Thread Samp",
        "JFR Sampler Thr");
  }

  @Test
  void knowsTheCompilers() {
    assertRole(Role.JIT, "C1 CompilerThre", "C2 CompilerThre");
  }

  @Test
  void knowsTheThreadsOfEveryCollector() {
    assertRole(
        Role.GC,
        "GC Thread#0",
        "G1 Main Marker",
        "G1 Conc#0",
        "G1 Refine#0",
        "G1 Service",
        "G1 Young RemSet",
        "Shenandoah GC T",
        "Shenandoah Cont");
    assertRole( // ZGC of JDK 17
        Role.GC,
        "ZDriver",
        "ZWorker#0",
        "ZDirector",
        "ZUncommitter",
        "ZUnmapper",
        "ZStat",
        "RuntimeWorker#0");
    assertRole( // ZGC of JDK 21 to 25
        Role.GC,
        "ZDriverMinor",
        "ZDriverMajor",
        "ZWorkerYoung#0",
        "ZWorkerOld#0",
        "ZUncommitter#0",
        "XWorker#0",
        "XDriver",
        "XDirector",
        "XUncommitter",
        "XUnmapper",
        "XStat");
  }

  @Test
  void knowsTheVirtualMachine() {
    assertRole(Role.VM, "VM Thread", "VM Periodic Tas");
  }

  @Test
  void anyOtherNameIsOther() {
    assertRole(
        Role.OTHER,
        "",
        "\n",
        "java",
        "main",
        "lane",
        "Monitor Deflati",
        "monitoring",
        "Reference Handl",
        "Signal Dispatch",
        "Sweeper thread",
        "Zebra",
        "VM",
        "C3 CompilerThre");
    assertThat(ThreadRoles.roleOf(null)).isEqualTo(Role.OTHER);
  }
}

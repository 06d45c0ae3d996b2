package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.Machines;
import java.util.Comparator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules about what the run ran on: each just within its limit and just beyond. */
class MachineRulesTest {

  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000_000_000L;

  private static Machines machines() {
    return new Machines(0, Judging.SECONDS);
  }

  private static Judging on(Machines machines) {
    return Judging.steady().machine(machines);
  }

  @Test
  void aQuietMachineIsNotObjectedTo() {
    assertThat(Judging.steady().judge().findings()).isEmpty();
  }

  @Test
  void oneThrottledPeriodMakesARunInvalid() {
    Judging judging = on(machines().tenths(50).throttled(12 * MILLI).tenths(1).throttled(0));
    Finding finding = judging.finding("throttled");
    assertThat(finding.level()).isEqualTo(Verdict.INVALID);
    assertThat(finding.fault()).isEqualTo(Fault.MACHINE);
    assertThat(finding.observed())
        .isEqualTo("the CPU quota stopped this process in 1 periods, for 12.00 ms in all");
    assertThat(finding.when()).isEqualTo("5.0 s");
    assertThat(judging.judge().verdict()).isEqualTo(Verdict.INVALID);
  }

  @Test
  void anyStealIsSuspect() {
    Judging judging =
        on(machines().tenths(70).cpu(1, 2).tenths(1).cpu(1, 1).tenths(1).cpu(1, 0).tenths(128));
    Finding finding = judging.finding("steal");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.MACHINE);
    assertThat(finding.observed())
        .isEqualTo("the hypervisor took 30.00 ms in all, at most 20.00 ms in 0.1 s");
    assertThat(finding.when()).isEqualTo("7.0 s");
    assertThat(judging.rules()).containsExactly("steal");
  }

  @Test
  void oneTenthOfASecondOfRunDelayIsSuspect() {
    Machines late = machines().tenths(30).runDelay(21 * MILLI).tenths(1).runDelay(0).tenths(169);
    Finding finding = on(late).finding("run-delay");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.MACHINE);
    assertThat(finding.observed())
        .isEqualTo("a lane waited for a processor 0.11 % of the time, at most 21.00 ms in 0.1 s");
    assertThat(finding.when()).isEqualTo("3.0 s");
    Machines punctual =
        machines().tenths(30).runDelay(20 * MILLI).tenths(1).runDelay(0).tenths(169);
    assertThat(on(punctual).rules()).isEmpty();
  }

  @Test
  void aTwentiethOfTheTimeOfRunDelayIsSuspect() {
    assertThat(on(machines().runDelay(5_100_000L).tenths(200)).finding("run-delay").observed())
        .startsWith("a lane waited for a processor 5.10 % of the time");
    assertThat(on(machines().runDelay(4_900_000L).tenths(200)).rules()).isEmpty();
  }

  @Test
  void aProcessorWithoutIdleTimeIsSaturatedByTheClientIfItsWorkIsItsOwn() {
    Judging judging = on(machines().cpu(9, 0).process(90 * MILLI).tenths(200));
    Finding finding = judging.finding("cpu-idle");
    assertThat(finding.level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
    assertThat(finding.observed())
        .isEqualTo(
            "processor 0 idle for 10.00 % of five seconds (this process 0.90 processors, others"
                + " 0.10)");
    assertThat(judging.rules()).containsExactly("cpu-idle");
  }

  @Test
  void aProcessorWithoutIdleTimeIsTheMachinesFaultIfOthersHaveIt() {
    Finding finding = on(machines().cpu(9, 0).tenths(50).cpu(1, 0).tenths(150)).finding("cpu-idle");
    assertThat(finding.level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding.fault()).isEqualTo(Fault.MACHINE);
    assertThat(finding.when()).isEqualTo("5.0 s");
  }

  @Test
  void aFifthOfIdleTimeIsEnough() {
    assertThat(on(machines().cpu(8, 0).process(80 * MILLI).tenths(200)).rules()).isEmpty();
  }

  @Test
  void whereLanesPollAProcessorIsNeverIdle() {
    assertThat(
            on(new Machines(0, Judging.SECONDS, 1).cpu(10, 0).process(100 * MILLI).tenths(200))
                .rules())
        .isEmpty();
  }

  @Test
  void aLaneThatWorksForHalfOfItsTimeIsSuspect() {
    Finding finding = on(machines().laneBusy(0.51).tenths(200)).finding("lane-busy");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
    assertThat(finding.observed()).isEqualTo("51.00 % of a lane's time is work");
    assertThat(on(machines().laneBusy(0.5).tenths(200)).rules()).isEmpty();
  }

  @Test
  void aLaneAtItsLimitInATenthOfTheSecondsIsSaturated() {
    Judging judging = on(machines().laneBusy(0.86).tenths(30).laneBusy(0.1).tenths(170));
    Finding finding = judging.finding("lane-busy");
    assertThat(finding.level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
    assertThat(finding.observed())
        .isEqualTo("a lane worked for more than 85.00 % of 3 of 20 seconds");
    assertThat(on(machines().laneBusy(0.86).tenths(20).laneBusy(0.1).tenths(180)).rules())
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"xen", "hpet", "acpi_pm", "jiffies", "refined-jiffies"})
  void aSlowClocksourceMakesARunInvalid(String clocksource) {
    Finding finding = Judging.steady().clock(clocksource, 25).finding("clocksource");
    assertThat(finding.level()).isEqualTo(Verdict.INVALID);
    assertThat(finding.fault()).isEqualTo(Fault.MACHINE);
    assertThat(finding.observed()).isEqualTo(clocksource);
  }

  @ParameterizedTest
  @ValueSource(strings = {"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"})
  void aFastClocksourceDoesNot(String clocksource) {
    assertThat(Judging.steady().clock(clocksource, 25).rules()).isEmpty();
  }

  @Test
  void anUnknownClocksourceIsNotJudged() {
    assertThat(Judging.steady().clock(null, 25).rules()).isEmpty();
  }

  @Test
  void aClockThatCostsAMicrosecondMakesARunInvalid() {
    Finding finding = Judging.steady().clock("tsc", 1_001).finding("clock-cost");
    assertThat(finding.level()).isEqualTo(Verdict.INVALID);
    assertThat(finding.observed()).isEqualTo("1001 ns to read the clock");
    assertThat(Judging.steady().clock("tsc", 1_000).rules()).isEmpty();
  }

  @Test
  void aWallClockThatWasSetIsANoteAndNoDoubt() {
    Judging judging = on(machines().tenths(200).stop(Source.CLOCK_STEP, 4 * SECOND, 100 * MILLI));
    assertThat(judging.finding("clock-step").level()).isEqualTo(Verdict.TRUSTED);
    assertThat(judging.judge().verdict()).isEqualTo(Verdict.TRUSTED);
  }

  @Test
  void aProcessorThatWasSlowedDownIsSuspect() {
    Finding finding = on(machines().thermal(0).tenths(100).thermal(1).tenths(1)).finding("thermal");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.MACHINE);
    assertThat(finding.observed()).startsWith("1 times");
    assertThat(on(machines().thermal(0).tenths(200)).rules()).isEmpty();
    assertThat(on(machines().thermal(-1).tenths(200)).rules()).isEmpty();
  }

  @Test
  void theGravestFindingComesFirstAndIsTheVerdict() {
    Judging judging =
        on(machines().cpu(1, 1).laneBusy(0.9).throttled(MILLI).tenths(200)).clock("tsc", 25);
    assertThat(judging.rules()).startsWith("throttled").contains("lane-busy", "steal");
    assertThat(judging.judge().findings())
        .extracting(Finding::level)
        .isSortedAccordingTo(Comparator.reverseOrder());
    assertThat(judging.judge().verdict()).isEqualTo(Verdict.INVALID);
  }

  @Test
  void aGroupThatNobodyTellsIsTold() {
    Finding finding = Judging.steady().groupNotReported().finding("group-not-verified");
    assertThat(finding.level()).isEqualTo(Verdict.TRUSTED);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
  }

  @Test
  void aTlsStackInJavaIsTold() {
    Finding finding = Judging.steady().javaStack("Bouncy Castle").finding("stack-in-java");
    assertThat(finding.level()).isEqualTo(Verdict.TRUSTED);
    assertThat(finding.observed()).isEqualTo("Bouncy Castle");
    assertThat(Judging.steady().rules()).isEmpty();
  }
}

package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.pqcbench.loadgen.monitor.Disturbance.Source;
import org.junit.jupiter.api.Test;

class MachineRecordTest {

  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000_000_000L;

  @Test
  void beforeTheFirstIntervalNothingIsKnown() {
    MachineRecord machine = new Machines(0, 20).record();
    assertThat(machine.laneBusyShare()).isNaN();
    assertThat(machine.processCpus()).isNaN();
    assertThat(machine.otherCpus()).isNaN();
    assertThat(machine.leastIdle().share()).isNaN();
    assertThat(machine.pressure()).isNaN();
    assertThat(machine.thermalThrottles()).isEqualTo(-1);
    assertThat(machine.net()).isNull();
    assertThat(machine.seconds()).isZero();
    assertThat(machine.disturbances(Source.GC_PAUSE).count()).isZero();
  }

  @Test
  void theLeastIdleProcessorIsThatOfTheWorstFiveSeconds() {
    MachineRecord machine =
        new Machines(0, 20).tenths(50).cpu(9, 0).tenths(50).cpu(1, 0).tenths(100).record();
    assertThat(machine.leastIdle().share()).isCloseTo(0.1, within(1e-9));
    assertThat(machine.leastIdle().cpu()).isZero();
    assertThat(machine.leastIdle().at()).isEqualTo(10 * SECOND);
  }

  @Test
  void aShorterLoadIsSeenWithTheIdleTimeAroundIt() {
    MachineRecord machine =
        new Machines(0, 20).tenths(50).cpu(9, 0).tenths(25).cpu(1, 0).tenths(100).record();
    assertThat(machine.leastIdle().share()).isCloseTo(0.5, within(1e-9));
  }

  @Test
  void stolenTimeIsNotIdle() {
    MachineRecord machine = new Machines(0, 20).cpu(3, 6).tenths(60).record();
    assertThat(machine.leastIdle().share()).isCloseTo(0.1, within(1e-9));
  }

  @Test
  void lessThanFiveSecondsHaveNoLeastIdle() {
    assertThat(new Machines(0, 20).cpu(10, 0).tenths(49).record().leastIdle().share()).isNaN();
    assertThat(new Machines(0, 20).cpu(10, 0).tenths(50).record().leastIdle().share()).isZero();
  }

  @Test
  void theBusiestSecondIsFoundAndThoseOverTheLimitAreCounted() {
    MachineRecord machine =
        new Machines(0, 20)
            .tenths(30)
            .laneBusy(0.9)
            .tenths(10)
            .laneBusy(0.85)
            .tenths(10)
            .laneBusy(0.1)
            .tenths(50)
            .record();
    assertThat(machine.busiestSecond()).isCloseTo(0.9, within(1e-9));
    assertThat(machine.busySeconds()).isEqualTo(1);
    assertThat(machine.laneBusyShare()).isCloseTo((8 * 0.1 + 0.9 + 0.85) / 10, within(1e-6));
  }

  /** Half a second at the limit is no second at the limit. */
  @Test
  void aSecondIsTheMeanOfItsTenths() {
    MachineRecord machine =
        new Machines(0, 20).laneBusy(1).tenths(5).laneBusy(0.2).tenths(5).record();
    assertThat(machine.busiestSecond()).isCloseTo(0.6, within(1e-9));
    assertThat(machine.busySeconds()).isZero();
  }

  @Test
  void inFlightIsTheMeanOfEachWholeSecond() {
    MachineRecord machine =
        new Machines(0, 600)
            .inFlight(2)
            .tenths(5)
            .inFlight(4)
            .tenths(5)
            .inFlight(9)
            .tenths(10)
            .inFlight(100)
            .tenths(9)
            .record();
    assertThat(machine.seconds()).isEqualTo(2);
    assertThat(machine.inFlight(0)).isEqualTo(3);
    assertThat(machine.inFlight(1)).isEqualTo(9);
  }

  @Test
  void aRunMayHaveMoreSecondsThanWereAllowedForAtFirst() {
    MachineRecord machine =
        new Machines(0, 600).inFlight(1).tenths(2_990).inFlight(5).tenths(10).record();
    assertThat(machine.seconds()).isEqualTo(300);
    assertThat(machine.inFlight(0)).isEqualTo(1);
    assertThat(machine.inFlight(298)).isEqualTo(1);
    assertThat(machine.inFlight(299)).isEqualTo(5);
  }

  @Test
  void onlyIntervalsWhollyWithinTheMeasuredPartCount() {
    Machines machines = new Machines(5, 7);
    Machines before = new Machines(0, 1).skip(49).cpu(1, 5).runDelay(50 * MILLI);
    machines.record().add(before.next()); // 4.9 to 5.0 s: in the warm-up
    machines.record().add(across(5 * SECOND - 1));
    machines.record().add(across(7 * SECOND - 100 * MILLI + 1));
    assertThat(machines.record().lengthNanos()).isZero();
    assertThat(machines.record().steal().count()).isZero();
    machines.tenths(20);
    assertThat(machines.record().lengthNanos()).isEqualTo(2 * SECOND);
    machines.cpu(1, 5).tenths(1);
    assertThat(machines.record().lengthNanos()).isEqualTo(2 * SECOND);
    assertThat(machines.record().steal().count()).isZero();
    assertThat(machines.record().seconds()).isEqualTo(2);
  }

  private static Interval across(long start) {
    Interval model = new Machines(0, 1).cpu(1, 5).next();
    return new Interval(
        start,
        start + model.lengthNanos(),
        model.cpus(),
        model.threads(),
        0,
        0,
        -1,
        0,
        0,
        0,
        model.lanes(),
        model.net(),
        0,
        -1,
        -1);
  }

  @Test
  void whatIsATimeHasItsSumItsLargestAndItsPlace() {
    MachineRecord machine =
        new Machines(5, 20)
            .tenths(10)
            .cpu(1, 2)
            .runDelay(3 * MILLI)
            .throttled(40 * MILLI)
            .behind(6 * MILLI)
            .tenths(1)
            .cpu(1, 1)
            .runDelay(MILLI)
            .throttled(20 * MILLI)
            .behind(0)
            .tenths(1)
            .cpu(1, 0)
            .runDelay(0)
            .throttled(0)
            .tenths(10)
            .record();
    assertThat(machine.steal().count()).isEqualTo(2);
    assertThat(machine.steal().total()).isEqualTo(30 * MILLI);
    assertThat(machine.steal().max()).isEqualTo(20 * MILLI);
    assertThat(machine.steal().maxAt()).isEqualTo(6 * SECOND);
    assertThat(machine.runDelay().total()).isEqualTo(4 * MILLI);
    assertThat(machine.runDelay().max()).isEqualTo(3 * MILLI);
    assertThat(machine.throttled().total()).isEqualTo(60 * MILLI);
    assertThat(machine.throttledPeriods()).isEqualTo(2);
    assertThat(machine.behind().max()).isEqualTo(6 * MILLI);
    assertThat(machine.behind().count()).isEqualTo(1);
  }

  @Test
  void workIsCountedInProcessorsOwnAndOthers() {
    // Processor 0 works for 80 of 100 ms, processor 1 for 10; 30 ms of it are this process's.
    MachineRecord machine = new Machines(0, 20).cpu(8, 0).process(30 * MILLI).tenths(20).record();
    assertThat(machine.processCpus()).isCloseTo(0.3, within(1e-9));
    assertThat(machine.otherCpus()).isCloseTo(0.6, within(1e-9));
  }

  @Test
  void countersAreSummedAndWhatIsNotShownStaysUnknown() {
    MachineRecord machine =
        new Machines(0, 20)
            .network(1, 2, 3)
            .wallStep(2_000)
            .tenths(10)
            .pressure(5_000)
            .thermal(1)
            .wallStep(-500)
            .tenths(10)
            .record();
    assertThat(machine.net().synRetrans()).isEqualTo(20);
    assertThat(machine.net().listenOverflows()).isEqualTo(40);
    assertThat(machine.net().softnetDropped()).isEqualTo(60);
    assertThat(machine.thermalThrottles()).isEqualTo(10);
    assertThat(machine.wallDriftNanos()).isEqualTo(15_000);
    assertThat(machine.pressure()).isCloseTo(0.025, within(1e-9));
  }

  @Test
  void disturbancesThatTouchTheMeasuredPartAreTalliedBySource() {
    Machines machines =
        new Machines(5, 20)
            .stop(Source.GC_PAUSE, 4 * SECOND, SECOND)
            .stop(Source.GC_PAUSE, 20 * SECOND, SECOND);
    assertThat(machines.record().disturbances(Source.GC_PAUSE).count()).isZero();
    machines
        .stop(Source.GC_PAUSE, 4 * SECOND, SECOND + 3 * MILLI)
        .stop(Source.GC_PAUSE, 7 * SECOND, 12 * MILLI)
        .stop(Source.HICCUP, 8 * SECOND, MILLI);
    MachineRecord.Tally pauses = machines.record().disturbances(Source.GC_PAUSE);
    assertThat(pauses.count()).isEqualTo(2);
    assertThat(pauses.total()).isEqualTo(SECOND + 15 * MILLI);
    assertThat(pauses.maxAt()).isEqualTo(4 * SECOND);
    assertThat(machines.record().disturbances(Source.HICCUP).max()).isEqualTo(MILLI);
  }
}

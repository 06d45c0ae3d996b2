package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class HiccupMeterTest {

  private static final long MICRO = 1_000L;
  private static final long MILLI = 1_000_000L;

  private final Disturbances disturbances = new Disturbances();
  private final HiccupMeter meter = new HiccupMeter(() -> 0, disturbances);

  /** Both threads wake as they should up to an instant; thread 1 half a sleep after thread 0. */
  private void quietUntil(long nanos) {
    meter.isDue(0, MILLI);
    for (long due = MILLI; due <= nanos; due += MILLI) {
      meter.isDue(1, due + MILLI / 2);
      meter.ran(0, due, due + 50 * MICRO);
      meter.isDue(0, due + MILLI);
      meter.ran(1, due + MILLI / 2, due + MILLI / 2 + 50 * MICRO);
    }
  }

  /** Both sleep until one instant, and wake at another. */
  private void stop(long due, long now) {
    meter.isDue(0, due);
    meter.isDue(1, due);
    meter.ran(0, due, now);
    meter.ran(1, due, now);
  }

  @Test
  void quietThreadsReportNothing() {
    meter.calibrated();
    quietUntil(100 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
    assertThat(meter.takeLongest()).isZero();
  }

  @Test
  void oneThreadThatWakesLateIsNoHiccup() {
    meter.calibrated();
    quietUntil(10 * MILLI);
    meter.takeLongest();
    meter.isDue(0, 11 * MILLI);
    for (long due = 11 * MILLI; due <= 30 * MILLI; due += MILLI) {
      meter.isDue(1, due + MILLI / 2);
      meter.ran(1, due + MILLI / 2, due + MILLI / 2 + 50 * MICRO);
    }
    meter.isDue(1, 31 * MILLI + MILLI / 2);
    meter.ran(0, 11 * MILLI, 30 * MILLI + 600 * MICRO);
    assertThat(disturbances.takeOver()).isEmpty();
    assertThat(meter.takeLongest()).isLessThanOrEqualTo(50 * MICRO);
  }

  @Test
  void bothLateAreOneHiccupFromWhenBothWereDue() {
    meter.calibrated();
    quietUntil(10 * MILLI);
    meter.isDue(0, 11 * MILLI);
    meter.isDue(1, 12 * MILLI);
    meter.ran(0, 11 * MILLI, 48 * MILLI);
    meter.ran(1, 12 * MILLI, 48 * MILLI + 20 * MICRO);
    assertThat(disturbances.takeOver())
        .containsExactly(
            new Disturbance(
                Disturbance.Source.HICCUP,
                12 * MILLI,
                48 * MILLI,
                36 * MILLI,
                "process or machine"));
    assertThat(meter.takeLongest()).isEqualTo(36 * MILLI);
    assertThat(meter.takeLongest()).isZero();
  }

  @Test
  void twoStopsInARowAreTwoHiccups() {
    meter.calibrated();
    quietUntil(10 * MILLI);
    stop(11 * MILLI, 20 * MILLI);
    stop(21 * MILLI, 29 * MILLI);
    assertThat(disturbances.takeOver())
        .extracting(Disturbance::amountNanos)
        .containsExactly(9 * MILLI, 8 * MILLI);
  }

  /** The order in which the two come is not known, so this is tried often, on real threads. */
  @Test
  void bothWakingAtOnceReportTheOneStopOnce() throws InterruptedException {
    meter.calibrated();
    int rounds = 2_000;
    AtomicInteger arrived = new AtomicInteger();
    Thread[] threads = new Thread[2];
    for (int thread = 0; thread < 2; thread++) {
      int number = thread;
      threads[thread] =
          new Thread(
              () -> {
                for (long round = 1; round <= rounds; round++) {
                  meter.isDue(number, round * 100 * MILLI);
                  arrived.incrementAndGet();
                  while (arrived.get() < 2 * round) {
                    Thread.onSpinWait();
                  }
                  meter.ran(number, round * 100 * MILLI, round * 100 * MILLI + 40 * MILLI);
                }
              });
      threads[thread].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(disturbances.takeOver())
        .hasSize(rounds)
        .extracting(Disturbance::amountNanos)
        .containsOnly(40 * MILLI);
  }

  @Test
  void nothingIsReportedBeforeTheThresholdIsKnown() {
    stop(MILLI, 500 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
  }

  @Test
  void theThresholdIsTheLongestStopOfTheCalibration() {
    stop(MILLI, 4 * MILLI);
    assertThat(meter.calibrated()).isEqualTo(3 * MILLI);
    stop(101 * MILLI, 104 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
    stop(201 * MILLI, 204 * MILLI + 1);
    assertThat(disturbances.takeOver()).hasSize(1);
  }

  /** The sampler asks for the longest ten times a second, also while the meter is calibrated. */
  @Test
  void theSamplerDoesNotTakeTheNoiseAwayFromTheCalibration() {
    meter.calibrate();
    stop(MILLI, 4 * MILLI);
    assertThat(meter.takeLongest()).isEqualTo(3 * MILLI);
    assertThat(meter.calibrated()).isEqualTo(3 * MILLI);
    assertThat(meter.takeLongest()).isZero();
  }

  @Test
  void whatWasBeforeTheCalibrationDoesNotCount() {
    stop(MILLI, 9 * MILLI);
    meter.calibrate();
    stop(101 * MILLI, 103 * MILLI);
    assertThat(meter.calibrated()).isEqualTo(2 * MILLI);
  }

  @Test
  void theThresholdHasALowerAndAnUpperLimit() {
    stop(MILLI, MILLI + 80 * MICRO);
    assertThat(meter.calibrated()).isEqualTo(1 * MILLI);
    stop(101 * MILLI, 150 * MILLI);
    assertThat(meter.calibrated()).isEqualTo(10 * MILLI);
    List<Disturbance> reported = disturbances.takeOver();
    assertThat(reported).hasSize(1); // by the first of the two thresholds
    stop(201 * MILLI, 211 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
    stop(301 * MILLI, 311 * MILLI + 1);
    assertThat(disturbances.takeOver()).hasSize(1);
  }

  /** One that had nothing to do meanwhile is no witness. */
  @Test
  void aThreadThatIsLateWhileTheOtherSleepsByRightIsNoHiccup() {
    meter.calibrated();
    meter.isDue(0, 10 * MILLI);
    meter.isDue(1, 15 * MILLI);
    meter.ran(0, 10 * MILLI, 14 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
  }

  /** A thread that has looked at the clock and does not sleep yet can be stopped like any other. */
  @Test
  void aStopBetweenALookAndTheNextSleepIsAHiccupTooWhoeverRunsFirst() {
    for (int first = 0; first < 2; first++) {
      HiccupMeter meter = new HiccupMeter(() -> 0, disturbances);
      meter.calibrated();
      meter.isDue(0, 11 * MILLI);
      meter.isDue(1, 12 * MILLI);
      long[] due = {meter.ran(0, 11 * MILLI, 11 * MILLI + 500 * MICRO), 12 * MILLI};
      meter.ran(first, due[first], 48 * MILLI);
      meter.ran(1 - first, due[1 - first], 48 * MILLI + 20 * MICRO);
      assertThat(disturbances.takeOver())
          .extracting(Disturbance::startNanos, Disturbance::endNanos)
          .containsExactly(tuple(12 * MILLI + 500 * MICRO, 48 * MILLI));
    }
  }

  @Test
  void aThreadThatHasNotBegunOrHasEndedIsNotLate() {
    meter.calibrated();
    meter.isDue(0, MILLI);
    meter.ran(0, MILLI, 40 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
    meter.isDue(1, 41 * MILLI);
    meter.close();
    meter.laneRuns(80 * MILLI);
    meter.ran(1, 41 * MILLI, 81 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
  }

  /** On a machine with few processors both threads can have to wait for one while a lane polls. */
  @Test
  void whileALaneRunsNothingStandsStill() {
    meter.calibrated();
    meter.alsoHear(() -> 47 * MILLI);
    stop(11 * MILLI, 48 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
    meter.alsoHear(() -> 120 * MILLI);
    stop(111 * MILLI, 148 * MILLI);
    assertThat(disturbances.takeOver())
        .extracting(Disturbance::amountNanos)
        .containsExactly(28 * MILLI);
  }

  /** The threads are next to wake after 11 and 12 ms. */
  private LaneWatch laneOfAQuietMachine() {
    LaneWatch lane = new LaneWatch(0, disturbances);
    meter.calibrated();
    meter.alsoHear(lane::lastTurn);
    lane.tells(meter::laneRuns);
    quietUntil(10 * MILLI);
    meter.isDue(0, 11 * MILLI);
    meter.isDue(1, 12 * MILLI);
    return lane;
  }

  /** After a stop a lane can be the first to run, and would then hide it from the threads. */
  @Test
  void aLaneThatRunsFirstAfterAStopTellsOfIt() {
    LaneWatch lane = laneOfAQuietMachine();
    lane.turn(9 * MILLI, 10 * MILLI, 0, false);
    lane.woke(13 * MILLI, 48 * MILLI);
    meter.ran(0, 11 * MILLI, 49 * MILLI);
    meter.ran(1, 12 * MILLI, 49 * MILLI);
    assertThat(disturbances.takeOver())
        .filteredOn(disturbance -> disturbance.source() == Disturbance.Source.HICCUP)
        .containsExactly(
            new Disturbance(
                Disturbance.Source.HICCUP,
                12 * MILLI,
                48 * MILLI,
                36 * MILLI,
                "process or machine"));
  }

  @Test
  void aPollingLaneThatRunsFirstAfterAStopTellsOfItToo() {
    LaneWatch lane = laneOfAQuietMachine();
    lane.turn(13 * MILLI - 2 * MICRO, 13 * MILLI, 0, true);
    lane.turn(13 * MILLI, 48 * MILLI, 0, true);
    meter.ran(0, 11 * MILLI, 49 * MILLI);
    assertThat(disturbances.takeOver())
        .filteredOn(disturbance -> disturbance.source() == Disturbance.Source.HICCUP)
        .extracting(Disturbance::amountNanos)
        .containsExactly(35 * MILLI);
  }

  @Test
  void aStopInTheMiddleOfALanesWorkIsAHiccupAndNotOnlyALongTurn() {
    LaneWatch lane = laneOfAQuietMachine();
    lane.woke(14 * MILLI, 13 * MILLI);
    lane.turn(10 * MILLI, 48 * MILLI, 3 * MILLI, false);
    meter.ran(0, 11 * MILLI, 49 * MILLI);
    assertThat(disturbances.takeOver())
        .extracting(Disturbance::source, Disturbance::amountNanos)
        .containsExactly(
            tuple(Disturbance.Source.HICCUP, 35 * MILLI),
            tuple(Disturbance.Source.LANE_STALL, 35 * MILLI));
  }

  @Test
  void aLaneThatRunsAgainIsNoHiccupWhereAThreadRanMeanwhile() {
    LaneWatch lane = laneOfAQuietMachine();
    lane.turn(9 * MILLI, 10 * MILLI, 0, false);
    long due = 12 * MILLI;
    while (due < 39 * MILLI) {
      due = meter.ran(1, due, due + 50 * MICRO);
    }
    lane.woke(11 * MILLI, 40 * MILLI);
    assertThat(disturbances.takeOver())
        .extracting(Disturbance::source)
        .containsExactly(Disturbance.Source.LATE_WAKE);
  }
}

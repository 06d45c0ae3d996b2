package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.Disturbance.Source;
import org.junit.jupiter.api.Test;

class LaneWatchTest {

  private static final long MILLI = 1_000_000L;

  private final Disturbances disturbances = new Disturbances();
  private final LaneWatch watch = new LaneWatch(3, disturbances);

  @Test
  void whatWasNotSleptIsWork() {
    watch.turn(0, 10 * MILLI, 9 * MILLI, false);
    watch.turn(10 * MILLI, 11 * MILLI, 0, false);
    assertThat(watch.busyNanos()).isEqualTo(2 * MILLI);
    assertThat(watch.pollingNanos()).isZero();
    assertThat(disturbances.takeOver()).isEmpty();
  }

  @Test
  void aTurnThatWorksLongerThanTwoMillisecondsIsAStallOfItsLane() {
    watch.turn(0, 2 * MILLI, 0, false);
    assertThat(disturbances.takeOver()).isEmpty();
    watch.turn(2 * MILLI, 12 * MILLI, 8 * MILLI - 1, false);
    assertThat(disturbances.takeOver())
        .containsExactly(
            new Disturbance(
                Source.LANE_STALL, 10 * MILLI - 1, 12 * MILLI, 2 * MILLI + 1, "lane 3"));
  }

  @Test
  void theLongestTurnIsTakenOnce() {
    watch.turn(0, 1 * MILLI, 0, false);
    watch.turn(1 * MILLI, 6 * MILLI, 0, false);
    watch.turn(6 * MILLI, 8 * MILLI, 0, false);
    assertThat(watch.takeLongestTurn()).isEqualTo(5 * MILLI);
    assertThat(watch.takeLongestTurn()).isZero();
  }

  @Test
  void anIdlePollIsNoWorkAndALongOneIsAGap() {
    watch.turn(0, 1_000, 0, true);
    watch.turn(1_000, 201_000, 0, true);
    assertThat(watch.pollingNanos()).isEqualTo(201_000);
    assertThat(disturbances.takeOver()).isEmpty();
    watch.turn(201_000, 402_000, 0, true);
    assertThat(watch.gapNanos()).isEqualTo(201_000);
    assertThat(watch.pollingNanos()).isEqualTo(201_000);
    assertThat(watch.busyNanos()).isZero();
    assertThat(watch.takeLongestTurn()).isZero();
    assertThat(disturbances.takeOver())
        .containsExactly(new Disturbance(Source.POLL_GAP, 201_000, 402_000, 201_000, "lane 3"));
  }

  @Test
  void aSleepThatEndsAMillisecondLateIsStillPunctual() {
    watch.woke(10 * MILLI, 9 * MILLI); // woken before its time
    watch.woke(10 * MILLI, 11 * MILLI);
    assertThat(disturbances.takeOver()).isEmpty();
    watch.woke(10 * MILLI, 11 * MILLI + 1);
    assertThat(disturbances.takeOver())
        .containsExactly(
            new Disturbance(Source.LATE_WAKE, 10 * MILLI, 11 * MILLI + 1, MILLI + 1, "lane 3"));
  }

  @Test
  void isBehindByHowLongTheNextArrivalIsOverdue() {
    assertThat(watch.behindNanos(5 * MILLI)).isZero();
    watch.nextPlanned(3 * MILLI);
    assertThat(watch.behindNanos(5 * MILLI)).isEqualTo(2 * MILLI);
    assertThat(watch.behindNanos(2 * MILLI)).isZero();
    watch.nextPlanned(Long.MAX_VALUE);
    assertThat(watch.behindNanos(-1)).isZero(); // no overflow of a clock that is negative
  }

  @Test
  void tellsItsNumberAndWhatIsInFlight() {
    watch.inFlight(17);
    assertThat(watch.inFlight()).isEqualTo(17);
    assertThat(watch.lane()).isEqualTo(3);
  }
}

package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.Disturbance.Source;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DisturbancesTest {

  private static final long MILLI = 1_000_000L;

  private final Disturbances disturbances = new Disturbances();

  private Disturbance report(long fromMillis, long toMillis) {
    Disturbance disturbance =
        new Disturbance(
            Source.HICCUP,
            fromMillis * MILLI,
            toMillis * MILLI,
            (toMillis - fromMillis) * MILLI,
            "");
    disturbances.report(disturbance);
    return disturbance;
  }

  @Test
  void whatWasReportedIsSeenOnceTheWriterTookItOver() {
    Disturbance first = report(10, 20);
    assertThat(disturbances.within(0, 100 * MILLI)).isEmpty();
    assertThat(disturbances.takeOver()).containsExactly(first);
    assertThat(disturbances.within(0, 100 * MILLI)).containsExactly(first);
    assertThat(disturbances.takeOver()).isEmpty();
  }

  /** It lies from 250 to 450, so in three of the tenths by which it is kept. */
  @ParameterizedTest
  @CsvSource({
    "0, 1000, true",
    "0, 250, false",
    "0, 251, true",
    "449, 1000, true",
    "450, 1000, false",
    "300, 310, true",
    "399, 401, true",
    "260, 440, true",
    "200, 249, false",
    "451, 499, false",
    "500, 600, false"
  })
  void oneThatLiesInSeveralTenthsIsFoundOnceByEverySpanThatItOverlaps(
      long fromMillis, long toMillis, boolean overlaps) {
    report(250, 450);
    disturbances.takeOver();
    assertThat(disturbances.within(fromMillis * MILLI, toMillis * MILLI)).hasSize(overlaps ? 1 : 0);
  }

  @Test
  void twoThatAreAlikeAreBothFound() {
    report(90, 310);
    report(90, 310);
    disturbances.takeOver();
    assertThat(disturbances.within(200 * MILLI, 500 * MILLI)).hasSize(2);
  }

  @Test
  void instantsBeforeTheOriginOfTheClockHaveTheirPlaceToo() {
    Disturbance early = report(-150, -50);
    disturbances.takeOver();
    assertThat(disturbances.within(-60 * MILLI, 5 * MILLI)).containsExactly(early);
    assertThat(disturbances.within(-50 * MILLI, 5 * MILLI)).isEmpty();
  }

  @Test
  void forgetsWhatEndedBeforeAndKeepsWhatReachesBeyond() {
    report(100, 150);
    Disturbance across = report(450, 650);
    Disturbance later = report(700, 710);
    disturbances.takeOver();
    disturbances.forgetBefore(620 * MILLI);
    assertThat(disturbances.within(0, 200 * MILLI)).isEmpty();
    assertThat(disturbances.within(610 * MILLI, 900 * MILLI)).containsExactly(across, later);
  }

  @Test
  void canHaveTakenNoMoreOfASpanThanTheirCommonPartOrItsAmount() {
    Disturbance window = new Disturbance(Source.STEAL, 100, 200, 30, "");
    assertThat(window.within(0, 300)).isEqualTo(30);
    assertThat(window.within(190, 300)).isEqualTo(10);
    assertThat(window.within(120, 130)).isEqualTo(10);
    assertThat(window.within(200, 300)).isZero();
    assertThat(window.within(300, 400)).isZero();
  }

  @Test
  void onlyWhatALaneReportsOfItselfIsOfThatLaneAlone() {
    for (Source source : new Source[] {Source.LANE_STALL, Source.LATE_WAKE, Source.POLL_GAP}) {
      Disturbance own = new Disturbance(source, 0, 1, 1, "lane 1");
      assertThat(own.concerns(1)).isTrue();
      assertThat(own.concerns(0)).isFalse();
      assertThat(own.concerns(11)).isFalse();
    }
    assertThat(new Disturbance(Source.RUN_DELAY, 0, 1, 1, "lanes").concerns(7)).isTrue();
    assertThat(new Disturbance(Source.GC_PAUSE, 0, 1, 1, "").concerns(7)).isTrue();
  }
}

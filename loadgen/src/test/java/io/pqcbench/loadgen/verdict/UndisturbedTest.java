package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.Disturbances;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import io.pqcbench.loadgen.record.Samples;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UndisturbedTest {

  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000_000_000L;
  private static final int COUNT = 10_000;

  private final Disturbances disturbances = new Disturbances();
  private final Samples samples = new Samples(0);
  private Undisturbed undisturbed;
  private RunRecord record;

  /** A hundred a second; every so manieth takes another time than a millisecond or two. */
  private void run(int every, long nanos) {
    for (int i = 0; i < COUNT; i++) {
      samples.success(i * SECOND / 100, 0, i % every == 0 ? nanos : MILLI + i * 7L % 1_000 * 1_000);
    }
    disturbances.takeOver();
    List<SampleBlock> blocks = samples.blocks();
    record = samples.record();
    undisturbed = new Undisturbed(disturbances, 60 * SECOND);
    for (SampleBlock block : blocks) {
      for (int row = 0; row < block.rows(); row++) {
        undisturbed.add(block, row);
      }
    }
  }

  private void stopAtEvery(int every, Source source, long nanos, String detail) {
    for (int i = 0; i < COUNT; i += every) {
      long from = i * SECOND / 100;
      disturbances.report(new Disturbance(source, from, from + nanos, nanos, detail));
    }
  }

  private String doubt(double percentile) {
    return undisturbed.doubt(record, Phase.RESPONSE, percentile);
  }

  @Test
  void withoutADisturbanceNothingIsDoubted() {
    run(50, 50 * MILLI);
    assertThat(undisturbed.disturbed()).isZero();
    assertThat(doubt(50)).isNull();
    assertThat(doubt(99)).isNull();
  }

  /** Of 10,000 the 150 slow ones move the median by 75 ranks, and its interval has 98. */
  @Test
  void aPercentileThatTheDisturbancesMovedIsDoubtedAndOneWithinItsIntervalIsNot() {
    stopAtEvery(66, Source.GC_PAUSE, 9 * MILLI, "");
    run(66, 9 * MILLI);
    assertThat(undisturbed.disturbed()).isEqualTo(COUNT / 66 + 1);
    assertThat(doubt(99))
        .isEqualTo("without the disturbed samples it is 1.99 ms, outside its own interval");
    assertThat(doubt(50)).isNull();
  }

  @Test
  void disturbancesThatMovedNoPercentileRaiseNoDoubt() {
    stopAtEvery(50, Source.GC_PAUSE, 9 * MILLI, "");
    run(COUNT, MILLI); // all as fast as each other
    assertThat(undisturbed.disturbed()).isEqualTo(COUNT / 50);
    assertThat(doubt(50)).isNull();
    assertThat(doubt(90)).isNull();
    assertThat(doubt(99)).isNull();
  }

  /** Slow requests that no disturbance touched are the target's, and its p99 stands. */
  @Test
  void slowRequestsElsewhereThanTheDisturbancesRaiseNoDoubt() {
    for (int i = 1; i < COUNT; i += 50) {
      long from = i * SECOND / 100;
      disturbances.report(new Disturbance(Source.GC_PAUSE, from, from + MILLI, MILLI, ""));
    }
    run(50, 9 * MILLI);
    assertThat(undisturbed.disturbed()).isEqualTo(COUNT / 50);
    assertThat(doubt(99)).isNull();
  }

  @Test
  void ofARunThatWasMostlyDisturbedEveryPercentileIsDoubted() {
    for (int i = 0; i < COUNT; i++) {
      if (i % 5 < 3) {
        long from = i * SECOND / 100;
        disturbances.report(new Disturbance(Source.HICCUP, from, from + MILLI, MILLI, ""));
      }
    }
    run(2, MILLI);
    assertThat(undisturbed.disturbed()).isEqualTo(6_000);
    assertThat(doubt(50)).isEqualTo("disturbances touched more than half of the samples");
  }

  @Test
  void aPhaseWithoutASampleIsNotDoubted() {
    run(50, MILLI);
    assertThat(undisturbed.doubt(new Samples(0).record(), Phase.TTFB, 50)).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "GC_PAUSE, 999999, false",
    "GC_PAUSE, 1000000, true",
    "HICCUP, 1000000, true",
    "RUN_DELAY, 4999999, false",
    "RUN_DELAY, 5000000, true",
    "STEAL, 5000000, true",
    "COMPILATION, 9000000, false",
    "CLOCK_STEP, 9000000, false",
    "LANE_STALL, 9000000, false"
  })
  void onlyWhatIsLongEnoughAndStopsALaneDisturbs(Source source, long nanos, boolean disturbs) {
    stopAtEvery(50, source, nanos, "lane 0");
    run(50, 9 * MILLI);
    assertThat(undisturbed.disturbed() > 0).isEqualTo(disturbs);
  }

  @Test
  void whatALaneReportsOfItselfDoesNotDisturbAnother() {
    stopAtEvery(50, Source.LATE_WAKE, 9 * MILLI, "lane 1");
    run(50, 9 * MILLI);
    assertThat(undisturbed.disturbed()).isZero();
    stopAtEvery(50, Source.LATE_WAKE, 9 * MILLI, "lane 0");
    run(50, 9 * MILLI);
    assertThat(undisturbed.disturbed()).isEqualTo(COUNT / 50);
  }
}

package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.Disturbances;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import io.pqcbench.loadgen.record.Samples;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

class TailTest {

  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000_000_000L;

  private final Disturbances disturbances = new Disturbances();

  /** Punctual arrivals at an even distance, each with a service time of its own. */
  private static Samples run(int count, int perSecond, IntToLongFunction service) {
    Samples samples = new Samples(0);
    for (int i = 0; i < count; i++) {
      samples.success(i * SECOND / perSecond, 0, service.applyAsLong(i));
    }
    return samples;
  }

  private Tail.Report report(Samples samples, long plannedMeasured) {
    disturbances.takeOver();
    List<SampleBlock> blocks = samples.blocks();
    RunRecord record = samples.record();
    Tail tail =
        new Tail(new Attribution(disturbances, new Disturbances(), record), 0, plannedMeasured);
    for (SampleBlock block : blocks) {
      for (int row = 0; row < block.rows(); row++) {
        tail.add(block, row);
      }
    }
    return tail.report();
  }

  @Test
  void aRunWithoutASuccessHasNone() {
    Tail.Report report =
        new Tail(new Attribution(disturbances, new Disturbances(), null), 0, 1_000).report();
    assertThat(report.count()).isZero();
    assertThat(report.causes()).isEmpty();
    assertThat(report.shape()).isEqualTo("none");
    assertThat(report.share(Cause.UNEXPLAINED)).isZero();
  }

  @Test
  void isTheSlowestHundredthAndNothingElse() {
    // 30 slow ones of 2,000: the tail holds the 20 slowest, in whichever order they come.
    Tail.Report report =
        report(run(2_000, 100, i -> i % 66 == 5 ? (40 + (i * 7L) % 31) * MILLI : MILLI), 2_000);
    assertThat(report.count()).isEqualTo(20);
    List<Long> slow = new ArrayList<>();
    for (int i = 5; i < 2_000; i += 66) {
      slow.add((40 + (i * 7L) % 31) * MILLI);
    }
    slow.sort(Comparator.reverseOrder());
    assertThat(report.fromMicros()).isEqualTo(slow.get(19) / 1e3);
  }

  @Test
  void aShareIsOfTheTailAndTheMostFrequentCauseComesFirst() {
    // Every 100th is slow; the collector paused in three of four of them.
    for (int i = 0; i < 40; i++) {
      if (i % 4 != 0) {
        long from = i * SECOND;
        disturbances.report(
            new Disturbance(
                Source.GC_PAUSE, from, from + (20 + i) * MILLI, (20 + i) * MILLI, "GC Pause"));
      }
    }
    Tail.Report report =
        report(run(4_000, 100, i -> i % 100 == 0 ? (20 + i / 100) * MILLI : MILLI), 4_000);
    assertThat(report.count()).isEqualTo(40);
    assertThat(report.causes())
        .extracting(Tail.Share::cause)
        .containsExactly("gc-pause", Cause.SERVER_OR_NETWORK);
    assertThat(report.causes()).extracting(Tail.Share::count).containsExactly(30L, 10L);
    assertThat(report.share("gc-pause")).isCloseTo(0.75, within(1e-9));
    assertThat(report.share("steal")).isZero();
    assertThat(report.causes().get(0).fault()).isEqualTo(Fault.CLIENT);
    // The example is the slowest: that of the last second.
    assertThat(report.causes().get(0).example()).startsWith("gc pause (GC Pause) 59.0 ms");
  }

  @Test
  void tellsInHowManySecondsItLiesAndHowMuchInTheTwoFullest() {
    int[] slow = {301, 350, 399, 410, 420, 430, 510, 620, 730, 840};
    Tail.Report report =
        report(
            run(1_000, 100, i -> Arrays.binarySearch(slow, i) >= 0 ? 50 * MILLI + i : MILLI),
            1_000);
    assertThat(report.count()).isEqualTo(10);
    assertThat(report.distinctSeconds()).isEqualTo(6);
    assertThat(report.clustered()).isCloseTo(0.6, within(1e-9));
  }

  /**
   * METHOD: over 90,000 requests at 300 a second the p99 was 39 ms, the maximum 53, and next to
   * nothing lay between 5 and 39: a timer of 40 ms with its ticks, and a few behind it.
   */
  @Test
  void theClusterOfTheOldRunIsAPlateauAndNoTraceOfAStop() {
    Tail.Report report =
        report(
            run(
                90_000,
                300,
                i -> {
                  if (i % 100 != 17) {
                    return MILLI + i % 4 * MILLI;
                  }
                  int slow = i / 100;
                  return slow % 8 == 0
                      ? (44 + slow * 3 % 10) * MILLI
                      : 39 * MILLI + slow * 37 % 50 * MILLI / 10;
                }),
            90_000);
    assertThat(report.count()).isEqualTo(900);
    assertThat(report.fromMicros()).isEqualTo(39_000);
    assertThat(report.shape()).matches("plateau near 4[0-4]\\.\\d ms, many alike");
    assertThat(report.clustered()).isLessThan(0.05);
    assertThat(report.distinctSeconds()).isEqualTo(300);
  }

  /** Of the 60 arrivals that were due in it each waits 3.3 ms less than the one before. */
  @Test
  void oneStopOf200MillisecondsIsARamp() {
    Tail.Report report = report(run(6_000, 300, TailTest::stopped), 6_000);
    assertThat(report.count()).isEqualTo(60);
    assertThat(report.shape()).isEqualTo("ramp from 201.0 ms, the trace of a stop (55 of 60)");
    assertThat(report.distinctSeconds()).isEqualTo(1);
    assertThat(report.clustered()).isEqualTo(1);
  }

  private static long stopped(int i) {
    long waits = 10 * SECOND + 200 * MILLI - i * SECOND / 300;
    return i >= 3_000 && waits > 0 ? waits + MILLI : MILLI + i % 50;
  }

  /** In a run of a minute it is a third of the tail, and still what made its upper end. */
  @Test
  void oneStopOf200MillisecondsIsARampInALongerRunToo() {
    Tail.Report report = report(run(18_000, 300, TailTest::stopped), 18_000);
    assertThat(report.count()).isEqualTo(180);
    assertThat(report.shape()).startsWith("ramp from 201.0 ms");
  }

  /** METHOD, D2: a cluster from 39 to 53 ms, spread evenly, is no ramp. */
  @Test
  void aClusterFrom39To53MillisecondsIsAPlateau() {
    Tail.Report report =
        report(
            run(
                6_000,
                300,
                i -> i % 100 == 17 ? (39_000 + i / 100 * 7_919L % 14_000) * 1_000 : MILLI),
            6_000);
    assertThat(report.shape()).startsWith("plateau near 4");
  }

  /** Those that waited are worked off one after the other, so the ramp is less steep. */
  @Test
  void aRampThatIsWorkedOffSlowlyIsStillOne() {
    Tail.Report report =
        report(
            run(
                6_000,
                300,
                i -> {
                  long waits = 10 * SECOND + 200 * MILLI - i * SECOND / 300 + (i - 3_000) * MILLI;
                  return i >= 3_000 && waits > 0 ? waits + MILLI : MILLI;
                }),
            6_000);
    assertThat(report.shape()).startsWith("ramp from 201.0 ms");
  }

  /** METHOD: at 300 a second a pause of 39 ms meets 12 arrivals, the first of them by 39 ms. */
  @Test
  void manyShortStopsAreRampsAndNoPlateauAlthoughTheirLongestAreAlike() {
    Tail.Report report =
        report(
            run(
                6_000,
                300,
                i -> {
                  long waits = 40 * MILLI - i % 1_200 * SECOND / 300;
                  return waits > 0 ? waits + MILLI : MILLI + i % 50;
                }),
            6_000);
    assertThat(report.count()).isEqualTo(60);
    assertThat(report.shape()).isEqualTo("ramp from 41.0 ms, the trace of a stop (60 of 60)");
  }

  @Test
  void latenciesOfAllLengthsAtAllTimesAreScattered() {
    Tail.Report report =
        report(
            run(6_000, 300, i -> i % 100 == 17 ? (5 + i / 100 * 37 % 75) * MILLI : MILLI + i % 50),
            6_000);
    assertThat(report.count()).isEqualTo(60);
    assertThat(report.shape()).isEqualTo("scattered");
  }

  @Test
  void threeAreTooFewToTell() {
    Tail.Report report = report(run(300, 100, i -> i % 100 == 0 ? 40 * MILLI : MILLI), 300);
    assertThat(report.count()).isEqualTo(3);
    assertThat(report.shape()).isEqualTo("too few to tell");
  }

  @Test
  void ofARunThatWasCutShortTheTailIsAHundredthOfWhatThereIs() {
    Tail.Report report =
        report(run(1_000, 100, i -> i % 10 == 0 ? (40 + i / 10) * MILLI : MILLI), 10_000);
    assertThat(report.count()).isEqualTo(10);
    assertThat(report.fromMicros()).isEqualTo(130_000); // 139 down to 130 ms
  }

  @Test
  void aRunOfFewerThanAHundredHasATailOfOne() {
    Tail.Report report = report(run(50, 10, i -> (i + 1) * MILLI), 50);
    assertThat(report.count()).isEqualTo(1);
    assertThat(report.fromMicros()).isEqualTo(50_000);
  }
}

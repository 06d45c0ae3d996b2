package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.monitor.Machines;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.Samples;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RulesTest {

  private static final long SECOND = 1_000_000_000L;
  private static final long MILLI = 1_000_000L;

  private static Rules.Judgement judge(Samples samples, long seconds) {
    RunRecord record = samples.record();
    return judge(record, 0, seconds, record.allCount());
  }

  private static Rules.Judgement judge(
      RunRecord record, long warmupSeconds, long seconds, long scheduled) {
    return Rules.judge(
        new Evidence(
            record,
            new Machines(warmupSeconds, seconds)
                .tenths((int) (seconds - warmupSeconds) * 10)
                .record(),
            null,
            null,
            warmupSeconds * SECOND,
            seconds * SECOND,
            scheduled,
            false,
            List.of(),
            new Evidence.Conditions(
                true, false, false, "tsc", 25, MILLI, null, true, List.of(), Map.of())));
  }

  private static Finding finding(Rules.Judgement judgement, String rule) {
    return judgement.findings().stream()
        .filter(f -> f.rule().equals(rule))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aSteadyPunctualRunIsTrusted() {
    Rules.Judgement judgement = judge(new Samples(0).steady(300, 0, 20), 20);
    assertThat(judgement.verdict()).isEqualTo(Verdict.TRUSTED);
    assertThat(judgement.findings()).isEmpty();
  }

  @Test
  void aRunWithoutASuccessIsInvalid() {
    Rules.Judgement judgement = judge(new Samples(0).failure(0, Outcome.TCP_REFUSED), 1);
    assertThat(judgement.verdict()).isEqualTo(Verdict.INVALID);
    assertThat(judgement.findings())
        .extracting(Finding::rule)
        .contains("no-success", "tcp-refused");
  }

  /**
   * The old run at 1000/s: 1001, 1001, ..., 0, 689, 0, 2560 started in each second, and exactly the
   * planned number over the whole run.
   */
  @Test
  void aRunThatStallsAndCatchesUpIsSaturatedAlthoughItsAverageIsRight() {
    Samples samples = new Samples(0);
    int[] startedIn = {1000, 1000, 1000, 0, 1000, 0, 3000, 1000, 0, 689, 0, 3311, 1000, 0, 2000};
    int due = 0;
    for (int second = 0; second < startedIn.length; second++) {
      for (int i = 0; i < startedIn[second]; i++) {
        long planned = due++ * MILLI;
        long started = Math.max(planned, second * SECOND + i * SECOND / startedIn[second]);
        samples.success(planned, started - planned, MILLI);
      }
    }
    assertThat(due).isEqualTo(15_000);
    Rules.Judgement judgement = judge(samples, 15);
    assertThat(judgement.verdict()).isEqualTo(Verdict.SATURATED);
    assertThat(finding(judgement, "rate-per-second").level()).isEqualTo(Verdict.SATURATED);
    assertThat(judgement.findings())
        .extracting(Finding::rule)
        .contains("lag")
        .doesNotContain("achieved-rate");
  }

  @Test
  void oneStalledSecondInAMinuteIsSuspect() {
    Samples samples = new Samples(0).steady(100, 0, 30);
    for (int i = 0; i < 100; i++) {
      long planned = 30 * SECOND + i * 10L * MILLI;
      samples.success(planned, i >= 90 ? 110 * MILLI : 1000, MILLI);
    }
    samples.steady(100, 31, 60);
    Rules.Judgement judgement = judge(samples, 60);
    assertThat(judgement.verdict()).isEqualTo(Verdict.SUSPECT);
    assertThat(judgement.findings())
        .extracting(Finding::rule)
        .contains("rate-per-second", "lag-max");
  }

  @Test
  void arrivalsSkippedWhileTheClientHadRoomAreTheTargetsFault() {
    Samples samples = new Samples(0).steady(300, 0, 9);
    for (int i = 0; i < 300; i++) {
      samples.failure(9 * SECOND + i * 3L * MILLI, Outcome.SKIPPED);
    }
    Rules.Judgement judgement = judge(samples, 10);
    assertThat(judgement.verdict()).isEqualTo(Verdict.INVALID);
    assertThat(finding(judgement, "skipped").observed()).startsWith("10.00 %");
    assertThat(finding(judgement, "skipped").fault()).isEqualTo(Fault.SERVER);
    assertThat(judgement.findings()).extracting(Finding::fault).doesNotContain(Fault.CLIENT);
  }

  @ParameterizedTest
  @EnumSource(
      names = {"WRONG_GROUP", "WRONG_CIPHER", "RESUMED", "HELLO_RETRY", "CERTIFICATE_CHANGED"})
  void aSingleWrongHandshakeMakesARunInvalid(Outcome wrong) {
    Rules.Judgement judgement =
        judge(new Samples(0).steady(300, 0, 10).failure(5 * SECOND, wrong), 10);
    assertThat(judgement.verdict()).isEqualTo(Verdict.INVALID);
    assertThat(judgement.findings())
        .extracting(Finding::rule)
        .contains(wrong.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-'));
  }

  @Test
  void oneErrorInAThousandIsForgiven() {
    assertThat(
            judge(new Samples(0).steady(300, 0, 10).failure(5 * SECOND, Outcome.TCP_RESET), 10)
                .verdict())
        .isEqualTo(Verdict.TRUSTED);
  }

  @Test
  void aClientWithoutPortsIsSaturatedAndNotTheServersFault() {
    Samples samples = new Samples(0).steady(300, 0, 10);
    for (int i = 0; i < 30; i++) {
      samples.failure(5 * SECOND + i, Outcome.NO_PORT);
    }
    Rules.Judgement judgement = judge(samples, 10);
    assertThat(finding(judgement, "no-port").level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding(judgement, "no-port").advice()).contains("client's fault");
  }

  @Test
  void aQueueThatGrowsAtTheTargetIsNotTheClientsFault() {
    Samples samples = new Samples(0);
    for (int i = 0; i < 9_000; i++) {
      // Each takes longer than the one before: 0 to 6 s over 30 s.
      samples.success(i * SECOND / 300, 1_000, MILLI + i * 6L * SECOND / 9_000);
    }
    Rules.Judgement judgement = judge(samples, 30);
    assertThat(judgement.verdict()).isEqualTo(Verdict.TRUSTED);
    assertThat(finding(judgement, "target-saturated").fault()).isEqualTo(Fault.SERVER);
    assertThat(finding(judgement, "target-saturated").advice()).contains("cannot serve the rate");
    assertThat(judgement.findings()).extracting(Finding::fault).containsOnly(Fault.SERVER);
  }

  @Test
  void theWarmUpIsNotJudged() {
    Samples samples = new Samples(5);
    for (int i = 0; i < 100; i++) {
      samples.failure(i * 10L * MILLI, Outcome.TCP_REFUSED);
    }
    samples.steady(300, 5, 15);
    RunRecord record = samples.record();
    assertThat(judge(record, 5, 15, record.allCount()).verdict()).isEqualTo(Verdict.TRUSTED);
  }

  @Test
  void anArrivalAcrossTheBorderOfTwoSecondsIsNoDeviationAtALowRate() {
    Samples samples = new Samples(0);
    for (int i = 0; i < 20; i++) {
      samples.success(i * SECOND + 999_900_000L, i % 3 == 0 ? 300_000 : 0, MILLI);
    }
    assertThat(judge(samples, 20).verdict()).isEqualTo(Verdict.TRUSTED);
  }

  @Test
  void anArrivalWithoutAnOutcomeMakesARunInvalid() {
    RunRecord record = new Samples(0).steady(300, 0, 10).record();
    Rules.Judgement judgement = judge(record, 0, 10, 3_001);
    assertThat(judgement.verdict()).isEqualTo(Verdict.INVALID);
    assertThat(finding(judgement, "unaccounted").observed()).startsWith("3000 of 3001");
  }
}

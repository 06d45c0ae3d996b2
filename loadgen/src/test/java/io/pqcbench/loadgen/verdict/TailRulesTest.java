package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.handshake.Attempts;
import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.Machines;
import io.pqcbench.loadgen.record.Samples;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules about stops and about what shapes the slowest hundredth. */
class TailRulesTest {

  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000_000_000L;

  private static Machines stopped(Source source, long nanos) {
    return new Machines(0, Judging.SECONDS).tenths(200).stop(source, 7 * SECOND, nanos);
  }

  @ParameterizedTest
  @CsvSource({
    "GC_PAUSE, CLIENT",
    "ALLOCATION_STALL, CLIENT",
    "SAFEPOINT, CLIENT",
    "HICCUP, MACHINE",
    "LANE_STALL, CLIENT"
  })
  void aSourceThatExplainsATenthOfTheTailIsSuspect(Source source, Fault fault) {
    Judging judging = Judging.steady().tail(60, source.label(), 0.1);
    Finding finding = judging.machine(stopped(source, 3 * MILLI)).finding(source.label());
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(fault);
    assertThat(finding.observed())
        .isEqualTo("1 of them, the longest 3.00 ms, the cause of 10.00 % of the slowest hundredth");
    assertThat(finding.when()).isEqualTo("7.0 s");
    assertThat(judging.tail(60, source.label(), 0.09).rules()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"GC_PAUSE", "ALLOCATION_STALL", "SAFEPOINT", "HICCUP", "LANE_STALL"})
  void aSingleStopOfMoreThanTenMillisecondsIsSuspectWhateverItExplains(Source source) {
    assertThat(
            Judging.steady()
                .tail(60, "steal", 0)
                .machine(stopped(source, 10 * MILLI + 1))
                .finding(source.label())
                .level())
        .isEqualTo(Verdict.SUSPECT);
    assertThat(Judging.steady().tail(60, "steal", 0).machine(stopped(source, 10 * MILLI)).rules())
        .isEmpty();
  }

  @Test
  void whileTheRunGoesALongStopIsToldWithoutATail() {
    assertThat(
            Judging.steady()
                .live()
                .machine(stopped(Source.GC_PAUSE, 30 * MILLI))
                .finding("gc-pause")
                .observed())
        .isEqualTo("1 of them, the longest 30.00 ms");
  }

  @Test
  void aTailOfAFewHasNoShareToTellOf() {
    Judging judging = Judging.steady().machine(stopped(Source.HICCUP, 30 * MILLI));
    assertThat(judging.tail(9, "hiccup", 1).finding("hiccup").observed())
        .isEqualTo("1 of them, the longest 30.00 ms");
    assertThat(judging.tail(10, "hiccup", 1).finding("hiccup").observed())
        .isEqualTo(
            "1 of them, the longest 30.00 ms, the cause of 100.00 % of the slowest hundredth");
  }

  @Test
  void onAMachineWithALargerNoiseOnlyLongerStopsCount() {
    Judging judging = Judging.steady().pauseThreshold(15 * MILLI);
    assertThat(judging.machine(stopped(Source.HICCUP, 15 * MILLI)).rules()).isEmpty();
    assertThat(judging.machine(stopped(Source.HICCUP, 16 * MILLI)).rules())
        .containsExactly("hiccup");
  }

  @ParameterizedTest
  @CsvSource({"LATE_WAKE", "POLL_GAP"})
  void aTailOfALaneThatDidNotGetToRunIsTheMachinesFault(Source source) {
    Finding finding =
        Judging.steady()
            .tail(60, source.label(), 1)
            .machine(stopped(source, 50 * MILLI))
            .finding(source.label());
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.MACHINE);
  }

  /** A collection is a safepoint and a hiccup; it is told of once. */
  @Test
  void oneStopThatSeveralSourcesSawIsToldOfOnce() {
    Machines machine =
        stopped(Source.GC_PAUSE, 30 * MILLI)
            .stop(Source.SAFEPOINT, 7 * SECOND, 31 * MILLI)
            .stop(Source.HICCUP, 7 * SECOND, 30 * MILLI)
            .stop(Source.LANE_STALL, 7 * SECOND, 32 * MILLI);
    assertThat(Judging.steady().machine(machine).rules()).containsExactly("gc-pause");
  }

  @ParameterizedTest
  @CsvSource({"COMPILATION"})
  void whatHasNoRuleOfItsOwnIsNotObjectedTo(Source source) {
    assertThat(
            Judging.steady()
                .tail(60, source.label(), 1)
                .machine(stopped(source, 50 * MILLI))
                .rules())
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({Cause.UNEXPLAINED, Cause.CLIENT_WORK})
  void aTailOfWhichMoreThanAFifthIsUnexplainedIsSuspect(String cause) {
    Finding finding = Judging.steady().tail(60, cause, 0.21).finding("tail-unexplained");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
    assertThat(finding.observed()).isEqualTo("21.00 % of the slowest hundredth");
    assertThat(Judging.steady().tail(60, cause, 0.2).rules()).isEmpty();
  }

  @Test
  void aTailThatTheServerExplainsIsTheServers() {
    assertThat(Judging.steady().tail(60, Cause.SERVER_OR_NETWORK, 1).rules()).isEmpty();
  }

  @Test
  void ofFewerThanTenNothingIsSaid() {
    assertThat(Judging.steady().tail(9, Cause.UNEXPLAINED, 1, 1).rules()).isEmpty();
    assertThat(Judging.steady().tail(10, Cause.UNEXPLAINED, 1, 1).rules())
        .containsExactlyInAnyOrder("tail-unexplained", "tail-clustered");
  }

  @Test
  void aTailOfWhichMoreThanHalfLiesInTwoSecondsIsSuspect() {
    Finding finding = Judging.steady().tail(60, "steal", 0, 0.51).finding("tail-clustered");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.observed()).isEqualTo("51.00 % of the slowest hundredth lie in two seconds");
    assertThat(Judging.steady().tail(60, "steal", 0, 0.5).rules()).isEmpty();
  }

  @Test
  void inAShortRunEveryTailIsClustered() {
    Samples samples = new Samples(0).steady(300, 0, 10);
    assertThat(Judging.of(samples).seconds(9).tail(60, "steal", 0, 1).rules()).isEmpty();
    assertThat(Judging.of(samples).seconds(10).tail(60, "steal", 0, 1).rules())
        .containsExactly("tail-clustered");
  }

  @Test
  void aTailOfWhichATenthWaitsForADelayedAcknowledgementIsSuspect() {
    Finding finding = Judging.steady().tail(60, Cause.DELAYED_ACK, 0.1).finding("delayed-ack");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.SERVER);
    assertThat(finding.observed()).startsWith("10.00 % of the slowest hundredth");
    assertThat(finding.advice()).contains("TCP_NODELAY");
    assertThat(Judging.steady().tail(60, Cause.DELAYED_ACK, 0.09).rules()).isEmpty();
  }

  private static Samples bodies(long nanos) {
    Samples samples = new Samples(0);
    for (int i = 0; i < 2_000; i++) {
      samples.success(i * SECOND / 100, Attempts.shape().body(nanos));
    }
    return samples;
  }

  /** Then no request is slow beyond the median, and no tail tells of it. */
  @ParameterizedTest
  @CsvSource({"35, false", "37, true", "45, true", "47, false"})
  void aServerThatAlwaysWaitsForAnAcknowledgementIsFoundByItsMedian(long millis, boolean found) {
    Judging judging = Judging.of(bodies(millis * MILLI));
    if (found) {
      assertThat(judging.finding("delayed-ack").observed())
          .startsWith("half of all responses wait " + millis);
    } else {
      assertThat(judging.rules()).isEmpty();
    }
  }
}

package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.handshake.Attempts;
import io.pqcbench.loadgen.monitor.Machines;
import io.pqcbench.loadgen.record.Samples;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules about what lies between the client and the target. */
class NetworkRulesTest {

  private static final long SECOND = 1_000_000_000L;

  private static Samples retransmitting(int connections) {
    Samples samples = new Samples(0);
    for (int i = 0; i < 4_000; i++) {
      Attempts.Shape shape = Attempts.shape();
      samples.success(i * SECOND / 200, i < connections ? shape.retransmits(1, 300) : shape);
    }
    return samples;
  }

  private static Machines network(long synRetrans, long listenOverflows, long softnetDropped) {
    return new Machines(0, Judging.SECONDS)
        .tenths(100)
        .network(synRetrans, listenOverflows, softnetDropped)
        .tenths(1)
        .network(0, 0, 0)
        .tenths(99);
  }

  @Test
  void moreThanOneConnectionInAThousandThatSentASegmentAgainIsSuspect() {
    Finding finding = Judging.of(retransmitting(5)).finding("retransmits");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.NETWORK);
    assertThat(finding.observed()).isEqualTo("0.13 % of connections sent a segment again");
    assertThat(Judging.of(retransmitting(4)).rules()).isEmpty();
  }

  /** Flights over a link, microseconds. */
  private static Samples flights(long roundTrip, long flight, long gap) {
    Samples samples = new Samples(0);
    for (int i = 0; i < 2_000; i++) {
      samples.success(
          i * SECOND / 100,
          Attempts.shape().connect(1_000 * roundTrip).flight(1_000 * flight).gap(1_000 * gap));
    }
    return samples;
  }

  @Test
  void aFlightThatNeedsASecondWindowIsANote() {
    Rules.Judgement judgement = Judging.of(flights(50_100, 101_000, 50_000)).flight(14_481).judge();
    assertThat(judgement.verdict()).isEqualTo(Verdict.TRUSTED);
    assertThat(judgement.findings()).hasSize(1);
    Finding finding = judgement.findings().get(0);
    assertThat(finding.rule()).isEqualTo("initial-window");
    assertThat(finding.level()).isEqualTo(Verdict.TRUSTED);
    assertThat(finding.fault()).isEqualTo(Fault.SERVER);
    assertThat(finding.observed())
        .startsWith("the server's flight is 14481 bytes in 11 segments")
        .containsPattern("connect p50 50\\.\\d\\d? ms, within the flight p50 50\\.\\d\\d? ms");
    assertThat(finding.limit()).isEqualTo("14480 bytes, 10 segments of 1448");
  }

  @Test
  void aFlightThatFitsOrThatTookOneRoundTripAllTheSameIsNone() {
    assertThat(Judging.of(flights(50_100, 101_000, 50_000)).flight(14_480).rules()).isEmpty();
    // The server's initial window is a larger one.
    assertThat(Judging.of(flights(50_100, 52_000, 100)).flight(20_000).rules()).isEmpty();
  }

  /** It takes many round trips of that link to sign, before its flight or in the middle of it. */
  @ParameterizedTest
  @ValueSource(longs = {0, 3_000})
  void aServerNearByThatWorksForLongOnAFlightIsNone(long gap) {
    assertThat(Judging.of(flights(100, 5_000, gap)).flight(20_000).rules()).isEmpty();
  }

  @Test
  void aFlightThatNeedsAThirdWindowIsANoteToo() {
    assertThat(Judging.of(flights(20_000, 62_000, 40_000)).flight(60_000).rules())
        .containsExactly("initial-window");
    assertThat(Judging.of(flights(20_000, 62_000, 40_000)).flight(20_000).rules()).isEmpty();
  }

  @Test
  void oneSynThatWasSentAgainIsSuspect() {
    Finding finding = Judging.steady().machine(network(1, 0, 0)).finding("syn-retransmits");
    assertThat(finding.level()).isEqualTo(Verdict.SUSPECT);
    assertThat(finding.fault()).isEqualTo(Fault.NETWORK);
    assertThat(finding.observed()).startsWith("1 SYNs sent again");
    assertThat(Judging.steady().machine(network(0, 0, 0)).rules()).isEmpty();
  }

  @Test
  void countersThatAreNotShownAreNotObjectedTo() {
    assertThat(Judging.steady().machine(network(-1, -1, -1)).rules()).isEmpty();
  }

  @Test
  void aFullAcceptQueueIsTheServersFaultAndSoAreTheSynsThatItCosts() {
    Judging judging = Judging.steady().machine(network(2, 3, 0));
    assertThat(judging.finding("listen-overflows").level()).isEqualTo(Verdict.SUSPECT);
    assertThat(judging.finding("listen-overflows").fault()).isEqualTo(Fault.SERVER);
    assertThat(judging.finding("listen-overflows").observed())
        .isEqualTo("3 connections found the accept queue full");
    assertThat(judging.finding("syn-retransmits").fault()).isEqualTo(Fault.SERVER);
  }

  @Test
  void packetsThatThisKernelDroppedAreTheMachinesFault() {
    Judging judging = Judging.steady().machine(network(0, 0, 1));
    assertThat(judging.rules()).containsExactly("softnet-drops");
    assertThat(judging.finding("softnet-drops").level()).isEqualTo(Verdict.SUSPECT);
    assertThat(judging.finding("softnet-drops").fault()).isEqualTo(Fault.MACHINE);
  }

  @Test
  void anAllowanceThatWasExceededMakesARunInvalid() {
    Judging judging =
        Judging.steady()
            .allowances(
                Map.of("ens5 pps_allowance_exceeded", 1L, "ens5 bw_in_allowance_exceeded", 0L));
    Finding finding = judging.finding("ena-allowance");
    assertThat(finding.level()).isEqualTo(Verdict.INVALID);
    assertThat(finding.fault()).isEqualTo(Fault.NETWORK);
    assertThat(finding.observed()).isEqualTo("ens5 pps_allowance_exceeded grew by 1");
    assertThat(judging.rules()).containsExactly("ena-allowance");
  }
}

package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.handshake.Attempts;
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

/** One slow request among 300 that take a millisecond, and what was on the timeline meanwhile. */
class AttributionTest {

  private static final long MICRO = 1_000L;
  private static final long MILLI = 1_000_000L;

  /** When the slow one was due. */
  private static final long DUE = 3_000 * MILLI;

  private static Disturbance took(Source source, long fromMillis, long millis, String detail) {
    long from = DUE + fromMillis * MILLI;
    return new Disturbance(source, from, from + millis * MILLI, millis * MILLI, detail);
  }

  /** Of a counter: somewhere in the 100 ms from 20 ms before it was due. */
  private static Disturbance counted(Source source, long millis, String detail) {
    return new Disturbance(source, DUE - 20 * MILLI, DUE + 80 * MILLI, millis * MILLI, detail);
  }

  private static Cause explain(Attempts.Shape slow, Disturbance... timeline) {
    return explain(shape(), slow, timeline);
  }

  private static Cause explain(Attempts.Shape usual, Attempts.Shape slow, Disturbance... timeline) {
    Samples samples = new Samples(0);
    for (int i = 0; i < 300; i++) {
      samples.success(i * 10L * MILLI, usual);
    }
    samples.success(DUE, slow);
    List<SampleBlock> blocks = samples.blocks();
    RunRecord record = samples.record();
    Disturbances disturbances = new Disturbances();
    for (Disturbance disturbance : timeline) {
      disturbances.report(disturbance);
    }
    disturbances.takeOver();
    SampleBlock last = blocks.get(blocks.size() - 1);
    return new Attribution(disturbances, new Disturbances(), record).explain(last, last.rows() - 1);
  }

  private static Attempts.Shape shape() {
    return Attempts.shape();
  }

  /** 12 ms beyond the usual, while the client waits for the response. */
  private static Attempts.Shape slowResponse() {
    return shape().ttfb(12 * MILLI + 100 * MICRO);
  }

  @Test
  void aPauseOfTheCollectorThatOverlaps() {
    Cause cause = explain(slowResponse(), took(Source.GC_PAUSE, 1, 9, "GC Pause Young"));
    assertThat(cause.name()).isEqualTo("gc-pause");
    assertThat(cause.evidence())
        .isEqualTo("gc pause (GC Pause Young) 9.00 ms overlaps 75 % of the excess of 12.0 ms");
    assertThat(cause.fault()).isEqualTo(Fault.CLIENT);
  }

  @Test
  void aSafepointThatOverlaps() {
    Cause cause = explain(slowResponse(), took(Source.SAFEPOINT, 1, 12, "ThreadDump"));
    assertThat(cause.name()).isEqualTo("safepoint");
    assertThat(cause.evidence())
        .isEqualTo("safepoint (ThreadDump) 12.0 ms overlaps 100 % of the excess of 12.0 ms");
  }

  @Test
  void anAllocationStallThatOverlaps() {
    assertThat(explain(slowResponse(), took(Source.ALLOCATION_STALL, 1, 12, "Large")).name())
        .isEqualTo("allocation-stall");
  }

  @Test
  void whatStoppedTheJvmIsABetterReasonThanThatItStood() {
    Cause cause =
        explain(
            slowResponse(),
            took(Source.LANE_STALL, 0, 13, "lane 0"),
            took(Source.HICCUP, 0, 13, "process or machine"),
            took(Source.SAFEPOINT, 0, 13, "G1CollectFull"),
            took(Source.GC_PAUSE, 1, 11, "GC Pause Full"));
    assertThat(cause.name()).isEqualTo("gc-pause");
  }

  @Test
  void aHiccupThatNothingElseTellsOf() {
    Cause cause = explain(slowResponse(), took(Source.HICCUP, 0, 12, "process or machine"));
    assertThat(cause.name()).isEqualTo("hiccup");
    assertThat(cause.fault()).isEqualTo(Fault.MACHINE);
  }

  @Test
  void aDisturbanceThatOverlapsButIsTooShortExplainsNothing() {
    Cause cause = explain(slowResponse(), took(Source.GC_PAUSE, 1, 5, "GC Pause Young"));
    assertThat(cause.name()).isEqualTo(Cause.SERVER_OR_NETWORK);
  }

  @ParameterizedTest
  @CsvSource({"5900, server-or-network", "6100, gc-pause"})
  void halfOfTheExcessIsEnoughForAnExplanation(long micros, String name) {
    Disturbance pause =
        new Disturbance(
            Source.GC_PAUSE, DUE + MILLI, DUE + MILLI + micros * MICRO, micros * MICRO, "");
    assertThat(explain(slowResponse(), pause).name()).isEqualTo(name);
  }

  @Test
  void ofALongDisturbanceOnlyThePartThatOverlapsCounts() {
    // The exchange is over after 13 ms; the pause begins 9 ms after it was due.
    assertThat(explain(slowResponse(), took(Source.GC_PAUSE, 9, 500, "GC Pause Full")).name())
        .isEqualTo(Cause.SERVER_OR_NETWORK);
    assertThat(explain(slowResponse(), took(Source.GC_PAUSE, 6, 500, "GC Pause Full")).name())
        .isEqualTo("gc-pause");
  }

  @Test
  void severalFromTheSameSourceAddUp() {
    assertThat(
            explain(
                    slowResponse(),
                    took(Source.GC_PAUSE, 1, 3, ""),
                    took(Source.GC_PAUSE, 5, 3, ""),
                    took(Source.GC_PAUSE, 9, 3, ""))
                .name())
        .isEqualTo("gc-pause");
  }

  @Test
  void aLaneThatIsLateBecauseItWaitedForAProcessor() {
    Cause cause = explain(shape().lag(8 * MILLI), counted(Source.RUN_DELAY, 8, "lanes"));
    assertThat(cause.name()).isEqualTo("run-delay");
    assertThat(cause.evidence())
        .isEqualTo(
            "lane late by 8.00 ms: run delay (lanes) 8.00 ms within 100.0 ms, 100 % of the excess"
                + " of 8.00 ms");
    assertThat(cause.fault()).isEqualTo(Fault.MACHINE);
  }

  @ParameterizedTest
  @CsvSource({"THROTTLED, throttled", "STEAL, steal"})
  void whatAMachineCountsExplainsUpToItsAmount(Source source, String name) {
    Cause cause = explain(slowResponse(), counted(source, 30, ""));
    assertThat(cause.name()).isEqualTo(name);
    assertThat(cause.evidence())
        .isEqualTo(name + " 30.0 ms within 100.0 ms, 100 % of the excess of 12.0 ms");
    assertThat(cause.fault()).isEqualTo(Fault.MACHINE);
    assertThat(explain(slowResponse(), counted(source, 5, "")).name())
        .isEqualTo(Cause.SERVER_OR_NETWORK);
  }

  @Test
  void anArrivalThatWaitsBehindThoseOfAStop() {
    Cause cause =
        explain(shape().lag(40 * MILLI), took(Source.HICCUP, -65, 60, "process or machine"));
    assertThat(cause.name()).isEqualTo("hiccup");
    assertThat(cause.evidence())
        .isEqualTo("behind by 40.0 ms after hiccup 60.0 ms which ended 5.00 ms earlier");
  }

  @Test
  void aStopThatWasTooShortOrTooLongAgoIsNotWhatAnArrivalWaitsBehind() {
    assertThat(explain(shape().lag(40 * MILLI), took(Source.HICCUP, -20, 15, "")).name())
        .isEqualTo(Cause.CLIENT_QUEUE);
    assertThat(explain(shape().lag(40 * MILLI), took(Source.HICCUP, -1_100, 60, "")).name())
        .isEqualTo(Cause.CLIENT_QUEUE);
  }

  @Test
  void aPunctualArrivalDoesNotWaitBehindAStop() {
    assertThat(explain(slowResponse(), took(Source.HICCUP, -65, 60, "")).name())
        .isEqualTo(Cause.SERVER_OR_NETWORK);
  }

  @Test
  void aSynThatWasSentAgain() {
    Cause cause = explain(shape().connect(1_003 * MILLI).retransmits(1, 210));
    assertThat(cause.name()).isEqualTo(Cause.SYN_RETRANSMIT);
    assertThat(cause.evidence()).isEqualTo("SYN retransmitted once, connect took 1003.0 ms");
    assertThat(cause.fault()).isEqualTo(Fault.NETWORK);
    assertThat(explain(shape().connect(3_003 * MILLI).retransmits(2, 210)).evidence())
        .startsWith("SYN retransmitted twice");
    assertThat(explain(shape().connect(7_003 * MILLI).retransmits(3, 210)).evidence())
        .startsWith("SYN retransmitted 3 times");
  }

  @Test
  void aSynThatWasSentAgainWithoutTheKernelsCount() {
    Cause cause = explain(shape().connect(1_003 * MILLI));
    assertThat(cause.name()).isEqualTo(Cause.SYN_RETRANSMIT);
    assertThat(cause.evidence()).contains("by the time it took", "1003.0 ms");
  }

  /** The process was stopped for more than a second, and no segment was sent again. */
  @Test
  void aStopDuringTheConnectIsNoLostSyn() {
    Cause cause =
        explain(
            shape().connect(1_200 * MILLI), took(Source.HICCUP, -10, 1_205, "process or machine"));
    assertThat(cause.name()).isEqualTo("hiccup");
  }

  @Test
  void aConnectOfLessThanASecondIsNoLostSyn() {
    Cause cause = explain(shape().connect(990 * MILLI));
    assertThat(cause.name()).isEqualTo(Cause.SERVER_OR_NETWORK);
    assertThat(cause.evidence()).startsWith("slow in connect, where the client waits: 989.9 ms");
  }

  @Test
  void segmentsThatWereSentAgain() {
    Cause cause = explain(shape().flight(210 * MILLI + 300 * MICRO).retransmits(2, 350));
    assertThat(cause.name()).isEqualTo(Cause.RETRANSMIT);
    assertThat(cause.evidence())
        .isEqualTo("segments retransmitted: 2, round-trip time 350 us, excess 210.0 ms");
    assertThat(cause.fault()).isEqualTo(Fault.NETWORK);
  }

  @Test
  void aLateStartIsNotTheNetworksFault() {
    assertThat(explain(shape().lag(40 * MILLI).retransmits(1, 350)).name())
        .isEqualTo(Cause.CLIENT_QUEUE);
  }

  @Test
  void aDelayedAcknowledgementInTheBody() {
    Cause cause = explain(shape().body(40_200 * MICRO));
    assertThat(cause.name()).isEqualTo(Cause.DELAYED_ACK);
    assertThat(cause.evidence())
        .isEqualTo(
            "plateau of the delayed acknowledgement (40 ms): 40.1 ms in the body, after its first"
                + " byte");
    assertThat(cause.fault()).isEqualTo(Fault.SERVER);
  }

  @Test
  void aDelayedAcknowledgementInTheServersFlight() {
    Cause cause = explain(shape().flight(40_500 * MICRO).gap(40_100 * MICRO));
    assertThat(cause.name()).isEqualTo(Cause.DELAYED_ACK);
    assertThat(cause.evidence()).contains("40.1 ms in the server's flight");
    Cause second = explain(shape().tls12(), shape().tls12().finish(40_400 * MICRO));
    assertThat(second.name()).isEqualTo(Cause.DELAYED_ACK);
    assertThat(second.evidence()).contains("40.2 ms in the server's flight");
  }

  /** A flight that needs a second window, over a link with a round trip of that length. */
  @Test
  void aFlightThatAlwaysComesApartIsNotWhatWasSlow() {
    Attempts.Shape usual = shape().connect(40 * MILLI).flight(80 * MILLI).gap(40 * MILLI);
    Attempts.Shape slow =
        shape().connect(40 * MILLI).flight(80 * MILLI).gap(40 * MILLI).ttfb(40 * MILLI);
    assertThat(explain(usual, slow).evidence())
        .startsWith("slow in ttfb, where the client waits: 39.9");
  }

  /** In TLS 1.3 nothing is left to wait for between the server's flight and the client's answer. */
  @Test
  void aSlowAnswerToTheServersFlightIsTheClientsWork() {
    Cause cause = explain(shape().finish(40_400 * MICRO));
    assertThat(cause.name()).isEqualTo(Cause.CLIENT_WORK);
    assertThat(cause.evidence())
        .isEqualTo("decapsulation and the certificate's check took 40.2 ms more than usual");
    assertThat(explain(shape().tls12(), shape().tls12().finish(20 * MILLI)).evidence())
        .startsWith("slow in finish, where the client waits: 19.8 ms");
  }

  /** It sends nothing at all before it is ready, so no acknowledgement is waited for. */
  @ParameterizedTest
  @CsvSource({"flight", "ttfb"})
  void aServerThatIsFortyMillisecondsSlowHoldsNothingBack(String where) {
    Attempts.Shape slow =
        where.equals("ttfb") ? shape().ttfb(40_300 * MICRO) : shape().flight(40_500 * MICRO);
    Cause cause = explain(slow);
    assertThat(cause.name()).isEqualTo(Cause.SERVER_OR_NETWORK);
    assertThat(cause.evidence())
        .startsWith("slow in " + where + ", where the client waits: 40.")
        .endsWith("of the excess of 40.2 ms");
    assertThat(cause.fault()).isEqualTo(Fault.SERVER);
  }

  @ParameterizedTest
  @CsvSource({
    "35, server-or-network",
    "37, delayed-ack",
    "45, delayed-ack",
    "47, server-or-network"
  })
  void thePlateauOfTheDelayedAcknowledgementHasTwoEnds(long millis, String name) {
    assertThat(explain(shape().body(millis * MILLI)).name()).isEqualTo(name);
  }

  /** Every request takes 30 ms for its body, so that is not what was slow in this one. */
  @Test
  void aBodyThatAlwaysTakesItsTimeIsNotWhatWasSlow() {
    Attempts.Shape usual = shape().body(30 * MILLI);
    Cause work = explain(usual, shape().body(30 * MILLI).hello(8_100 * MICRO));
    assertThat(work.name()).isEqualTo(Cause.CLIENT_WORK);
    Cause flight = explain(usual, shape().body(30 * MILLI).flight(8_300 * MICRO));
    assertThat(flight.evidence()).startsWith("slow in flight, where the client waits: 8.0");
    Cause body = explain(usual, shape().body(50 * MILLI));
    assertThat(body.evidence()).startsWith("slow in body, where the client waits: 20.0 ms of");
  }

  @ParameterizedTest
  @CsvSource({"199, false", "205, true", "259, true", "261, false"})
  void nearTwoHundredMillisecondsTheServerMayHaveSentAgain(long millis, boolean near) {
    Cause cause = explain(shape().ttfb(millis * MILLI + 100 * MICRO));
    assertThat(cause.name()).isEqualTo(Cause.SERVER_OR_NETWORK);
    assertThat(cause.evidence().contains("near 200 ms")).isEqualTo(near);
  }

  @Test
  void aTurnOfItsLaneThatTookLong() {
    Cause cause = explain(slowResponse(), took(Source.LANE_STALL, 1, 11, "lane 0"));
    assertThat(cause.name()).isEqualTo("lane-stall");
    assertThat(cause.evidence())
        .isEqualTo("lane stall (lane 0) 11.0 ms overlaps 92 % of the excess of 12.0 ms");
    assertThat(cause.fault()).isEqualTo(Fault.CLIENT);
  }

  @ParameterizedTest
  @CsvSource({"LANE_STALL", "LATE_WAKE", "POLL_GAP"})
  void whatHappenedToAnotherLaneExplainsNothing(Source source) {
    assertThat(explain(slowResponse(), took(source, 1, 11, "lane 1")).name())
        .isEqualTo(Cause.SERVER_OR_NETWORK);
    assertThat(explain(shape().lag(40 * MILLI), took(source, -65, 60, "lane 1")).name())
        .isEqualTo(Cause.CLIENT_QUEUE);
  }

  @ParameterizedTest
  @CsvSource({"LATE_WAKE, late-wake", "POLL_GAP, poll-gap"})
  void aLaneThatDidNotRun(Source source, String name) {
    Cause cause = explain(shape().lag(8 * MILLI), took(source, -1, 9, "lane 0"));
    assertThat(cause.name()).isEqualTo(name);
    assertThat(cause.evidence()).startsWith("lane late by 8.00 ms: ").contains("9.00 ms");
  }

  @ParameterizedTest
  @CsvSource({"COMPILATION", "CLOCK_STEP"})
  void whatStopsNobodyExplainsNothing(Source source) {
    assertThat(explain(slowResponse(), took(source, 0, 13, "")).name())
        .isEqualTo(Cause.SERVER_OR_NETWORK);
  }

  @Test
  void aLaneThatWasBusyWithOtherArrivals() {
    Cause cause = explain(shape().lag(8 * MILLI));
    assertThat(cause.name()).isEqualTo(Cause.CLIENT_QUEUE);
    assertThat(cause.evidence()).isEqualTo("lane late by 8.00 ms, busy with other arrivals");
    assertThat(cause.fault()).isEqualTo(Fault.CLIENT);
  }

  @Test
  void aKeyGenerationThatTookLong() {
    Cause cause = explain(shape().hello(8_100 * MICRO));
    assertThat(cause.name()).isEqualTo(Cause.CLIENT_WORK);
    assertThat(cause.evidence()).isEqualTo("key generation took 8.00 ms more than usual");
    assertThat(cause.fault()).isEqualTo(Fault.CLIENT);
  }

  @Test
  void timeThatNoPhaseHoldsIsUnexplained() {
    Cause cause = explain(shape().beforeRequest(8_100 * MICRO));
    assertThat(cause.name()).isEqualTo(Cause.UNEXPLAINED);
    assertThat(cause.evidence()).isEqualTo("excess 8.00 ms, spread over the phases");
    assertThat(cause.fault()).isEqualTo(Fault.CLIENT);
  }
}

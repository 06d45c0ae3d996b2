package io.pqcbench.loadgen.verdict;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.monitor.Machines;
import io.pqcbench.loadgen.record.Samples;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Rules about lateness and about queues, and at which side they grow. */
class QueueRulesTest {

  private static final long MICRO = 1_000L;
  private static final long MILLI = 1_000_000L;
  private static final long SECOND = 1_000_000_000L;

  /** 300 a second, of which every so manieth starts late. */
  private static Samples late(int every, long lag) {
    Samples samples = new Samples(0);
    for (int i = 0; i < 300 * Judging.SECONDS; i++) {
      samples.success(i * SECOND / 300, i % every == 1 ? lag : MICRO, MILLI);
    }
    return samples;
  }

  /** The handshake's p50 is 0.6 ms. */
  @ParameterizedTest
  @CsvSource({"500, ", "700, SUSPECT", "9900, SUSPECT", "10100, SATURATED"})
  void aLagThatIsLongerThanTheHandshakeIsSuspectAndBeyondTenMillisecondsSaturated(
      long micros, Verdict level) {
    Judging judging = Judging.of(late(50, micros * MICRO));
    if (level == null) {
      assertThat(judging.rules()).isEmpty();
    } else {
      assertThat(judging.finding("lag").level()).isEqualTo(level);
      assertThat(judging.finding("lag").fault()).isEqualTo(Fault.CLIENT);
      assertThat(judging.finding("lag").observed()).startsWith("p99 ");
    }
  }

  @Test
  void aLagOfFewerThanAHundredthIsNotTheTailsButItsLargestIsTold() {
    Judging judging = Judging.of(late(1_000, 10_100 * MICRO));
    assertThat(judging.rules()).containsExactly("lag-max");
    assertThat(judging.finding("lag-max").level()).isEqualTo(Verdict.SUSPECT);
    assertThat(judging.finding("lag-max").observed()).startsWith("10.1");
    assertThat(Judging.of(late(1_000, 9_900 * MICRO)).rules()).isEmpty();
  }

  /** In flight grows by so many in each second. */
  private static Machines growing(int by, double laneBusy) {
    Machines machines = new Machines(0, Judging.SECONDS).laneBusy(laneBusy);
    for (int second = 0; second < Judging.SECONDS; second++) {
      machines.inFlight(10 + by * second).tenths(10);
    }
    return machines;
  }

  @Test
  void aQueueThatGrowsBeforeAnIdleClientIsTheTargets() {
    Judging judging = Judging.steady().machine(growing(5, 0.1));
    Finding finding = judging.finding("target-saturated");
    assertThat(finding.level()).isEqualTo(Verdict.TRUSTED);
    assertThat(finding.fault()).isEqualTo(Fault.SERVER);
    assertThat(finding.observed())
        .isEqualTo("in flight from 22.5 in the first to 92.5 in the last third");
    assertThat(judging.rules()).containsExactly("target-saturated");
    assertThat(judging.judge().verdict()).isEqualTo(Verdict.TRUSTED);
  }

  @Test
  void aQueueThatGrowsBeforeABusyClientIsItsOwn() {
    Judging judging = Judging.steady().machine(growing(5, 0.7));
    Finding finding = judging.finding("in-flight-trend");
    assertThat(finding.level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
    assertThat(finding.observed())
        .isEqualTo("in flight from 22.5 in the first to 92.5 in the last third");
    assertThat(judging.rules()).doesNotContain("target-saturated");
  }

  @Test
  void aClientIsIdleBelowThreeFifths() {
    assertThat(Judging.steady().machine(growing(5, 0.59)).rules()).contains("target-saturated");
    assertThat(Judging.steady().machine(growing(5, 0.61)).rules()).contains("in-flight-trend");
  }

  @Test
  void aThrottledClientIsNotIdle() {
    Machines throttled = new Machines(0, Judging.SECONDS).throttled(MILLI);
    for (int second = 0; second < Judging.SECONDS; second++) {
      throttled.inFlight(10 + 5 * second).tenths(10);
    }
    assertThat(Judging.steady().machine(throttled).rules())
        .contains("in-flight-trend", "throttled")
        .doesNotContain("target-saturated");
  }

  @Test
  void aQueueThatGrowsByLessThanHalfOrByLessThanTenIsNoTrend() {
    assertThat(inFlightFromTo(100, 149)).isEmpty();
    assertThat(inFlightFromTo(100, 151)).containsExactly("target-saturated");
    assertThat(inFlightFromTo(2, 11)).isEmpty();
    assertThat(inFlightFromTo(2, 13)).containsExactly("target-saturated");
  }

  /** Three steps, in each of which it rises by a tenth a second. */
  private static List<String> inFlightFromTo(int first, int last) {
    Machines machines = new Machines(0, Judging.SECONDS);
    for (int second = 0; second < Judging.SECONDS; second++) {
      int base = second < 7 ? first : second < 14 ? (first + last) / 2 : last;
      int tenthsWithOneMore = second % 7;
      machines
          .inFlight(base + 1)
          .tenths(tenthsWithOneMore)
          .inFlight(base)
          .tenths(10 - tenthsWithOneMore);
    }
    return Judging.steady().machine(machines).rules();
  }

  @Test
  void aQueueThatGoesUpAndDownIsNoTrend() {
    Machines machines = new Machines(0, Judging.SECONDS);
    for (int second = 0; second < Judging.SECONDS; second++) {
      machines.inFlight(second % 2 == 0 ? 10 + 5 * second : 5 + 4 * second).tenths(10);
    }
    assertThat(Judging.steady().machine(machines).rules()).isEmpty();
  }

  @Test
  void inFewerThanSixSecondsThereIsNoTrend() {
    Machines five = new Machines(0, Judging.SECONDS);
    Machines six = new Machines(0, Judging.SECONDS);
    for (int second = 0; second < 6; second++) {
      six.inFlight(10 + 50 * second).tenths(10);
      if (second < 5) {
        five.inFlight(10 + 50 * second).tenths(10);
      }
    }
    assertThat(Judging.steady().machine(five).rules()).doesNotContain("target-saturated");
    assertThat(Judging.steady().machine(six).rules()).contains("target-saturated");
  }

  /** Each takes longer than the one before: up to 4 s over 20 s. */
  private static Samples slower() {
    Samples samples = new Samples(0);
    for (int i = 0; i < 6_000; i++) {
      samples.success(i * SECOND / 300, MICRO, MILLI + i * 4L * SECOND / 6_000);
    }
    return samples;
  }

  @Test
  void aFallingRateOfCompletionIsTheClientsIfItIsBusy() {
    Judging judging =
        Judging.of(slower()).machine(new Machines(0, Judging.SECONDS).laneBusy(0.7).tenths(200));
    assertThat(judging.finding("completion-trend").level()).isEqualTo(Verdict.SATURATED);
    assertThat(judging.finding("completion-trend").fault()).isEqualTo(Fault.CLIENT);
    assertThat(Judging.of(slower()).rules()).containsExactly("target-saturated");
  }

  @ParameterizedTest
  @EnumSource(names = {"TCP_TIMEOUT", "TLS_TIMEOUT", "HTTP_TIMEOUT", "ABANDONED"})
  void timeoutsMakeARunInvalidButAreOnlyADoubtWhenTheTargetIsFull(Outcome timeout) {
    String rule = timeout.name().toLowerCase(Locale.ROOT).replace('_', '-');
    Samples full = slower();
    Samples steady = new Samples(0).steady(300, 0, Judging.SECONDS);
    for (int i = 0; i < 7; i++) {
      full.failure(15 * SECOND + i, timeout);
      steady.failure(15 * SECOND + i, timeout);
    }
    assertThat(Judging.of(steady).finding(rule).level()).isEqualTo(Verdict.INVALID);
    Judging judging = Judging.of(full);
    assertThat(judging.finding(rule).level()).isEqualTo(Verdict.SUSPECT);
    assertThat(judging.finding(rule).fault()).isEqualTo(Fault.SERVER);
    assertThat(judging.finding("target-saturated").level()).isEqualTo(Verdict.TRUSTED);
  }

  @Test
  void sixTimeoutsInSixThousandAreForgiven() {
    Samples steady = new Samples(0).steady(300, 0, Judging.SECONDS);
    for (int i = 0; i < 6; i++) {
      steady.failure(15 * SECOND + i, Outcome.TLS_TIMEOUT);
    }
    assertThat(Judging.of(steady).rules()).isEmpty();
  }

  @Test
  void timeoutsOfABusyClientAreItsOwnFault() {
    Samples steady = new Samples(0).steady(300, 0, Judging.SECONDS);
    for (int i = 0; i < 7; i++) {
      steady.failure(15 * SECOND + i, Outcome.TLS_TIMEOUT);
    }
    Finding finding =
        Judging.of(steady)
            .machine(new Machines(0, Judging.SECONDS).laneBusy(0.7).tenths(200))
            .finding("tls-timeout");
    assertThat(finding.level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
  }

  private static Samples skipping(int count) {
    Samples samples = new Samples(0).steady(300, 0, Judging.SECONDS);
    for (int i = 0; i < count; i++) {
      samples.failure(i % 20 * SECOND + 500 * MILLI, Outcome.SKIPPED);
    }
    return samples;
  }

  @Test
  void arrivalsForWhichThereWereNoDescriptorsAreTheClientsFault() {
    Finding finding = Judging.of(skipping(7)).fewDescriptors().finding("descriptors");
    assertThat(finding.level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
    assertThat(finding.advice()).isEqualTo("ulimit -n 65536");
    assertThat(Judging.of(skipping(6)).fewDescriptors().rules()).isEmpty();
  }

  @Test
  void arrivalsThatABusyClientDidNotStartAreItsOwnFault() {
    Finding finding =
        Judging.of(skipping(7))
            .machine(new Machines(0, Judging.SECONDS).laneBusy(0.7).tenths(200))
            .finding("skipped");
    assertThat(finding.level()).isEqualTo(Verdict.SATURATED);
    assertThat(finding.fault()).isEqualTo(Fault.CLIENT);
  }

  /**
   * In the third second one of two arrivals is late, which is one; in the sixth it is 30 of 300.
   */
  @Test
  void theWorstSecondIsOneOfThoseThatAreOff() {
    Samples samples = new Samples(0);
    for (int second = 0; second < Judging.SECONDS; second++) {
      int count = second == 3 ? 2 : 300;
      for (int i = 0; i < count; i++) {
        long planned = second * SECOND + i * SECOND / count;
        boolean late = second == 3 ? i == 1 : second == 6 && i >= 270;
        samples.success(planned, late ? (second + 1) * SECOND - planned + MILLI : MICRO, MILLI);
      }
    }
    assertThat(Judging.of(samples).finding("rate-per-second").observed())
        .startsWith("2 of 20 seconds off, the worst: 270 of 300 started");
  }
}

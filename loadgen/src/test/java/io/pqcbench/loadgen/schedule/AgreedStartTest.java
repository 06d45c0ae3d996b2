package io.pqcbench.loadgen.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

class AgreedStartTest {

  private static final long LEAD = 200_000_000L;
  private static final Instant NOW = Instant.parse("2026-12-02T10:00:00Z");

  /** On the run's clock; the wall clock was {@link #NOW} at 0, and follows it unless it steps. */
  private long nanos = 5_000;

  private long stepNanos;
  private final NanoClock clock = () -> nanos;
  private final InstantSource wall = () -> NOW.plusNanos(nanos + stepNanos);

  private AgreedStart agreed(Instant at) {
    return new AgreedStart(at, clock, wall);
  }

  @Test
  void withoutAnAgreementARunStartsAsSoonAsItsLanesCanBeMade() {
    AgreedStart none = agreed(null);
    assertThat(none.idleNanos(LEAD)).isZero();
    AgreedStart.Start start = none.set(LEAD);
    assertThat(start.nanos()).isEqualTo(5_000 + LEAD);
    assertThat(start.wall()).isEqualTo(NOW.plusNanos(5_000 + LEAD));
    assertThat(none.lateMicros(start.wall())).isNull();
  }

  @Test
  void theStartIsTheAgreedInstantToTheNanosecond() {
    AgreedStart start = agreed(NOW.plusSeconds(10));
    assertThat(start.idleNanos(LEAD)).isEqualTo(10_000_000_000L - 5_000 - LEAD);
    nanos = 10_000_000_000L - LEAD;
    assertThat(start.idleNanos(LEAD)).isZero();
    assertThat(start.set(LEAD))
        .isEqualTo(new AgreedStart.Start(10_000_000_000L, NOW.plusSeconds(10)));
    nanos = 11_000_000_000L;
    assertThat(start.startedAt(10_000_000_000L)).isEqualTo(NOW.plusSeconds(10));
    assertThat(start.lateMicros(start.startedAt(10_000_000_000L))).isEqualTo(0.0);
  }

  @Test
  void machinesWhoseClocksCountFromAnywhereStartTogether() {
    AgreedStart here = agreed(NOW.plusSeconds(10));
    long other = 987_654_321_000L;
    AgreedStart there = new AgreedStart(NOW.plusSeconds(10), () -> nanos + other, wall);
    assertThat(there.set(LEAD).nanos() - here.set(LEAD).nanos()).isEqualTo(other);
  }

  @Test
  void aRunThatIsNotReadyInTimeStartsAtOnceAndSaysHowLate() {
    AgreedStart start = agreed(NOW.plusSeconds(10));
    nanos = 12_000_000_000L;
    assertThat(start.idleNanos(LEAD)).isNegative();
    AgreedStart.Start set = start.set(LEAD);
    assertThat(set.nanos()).isEqualTo(12_200_000_000L);
    nanos = 13_000_000_000L;
    assertThat(start.lateMicros(start.startedAt(set.nanos()))).isEqualTo(2_200_000.0);
  }

  @Test
  void aStepOfTheWallClockBeforeTheStartIsFollowedAndOneAfterItIsSeen() {
    AgreedStart start = agreed(NOW.plusSeconds(10));
    stepNanos = 3_000_000_000L;
    nanos = 7_000_000_000L - LEAD;
    assertThat(start.idleNanos(LEAD)).isZero();
    AgreedStart.Start set = start.set(LEAD);
    assertThat(set.nanos()).isEqualTo(7_000_000_000L);
    nanos = 8_000_000_000L;
    assertThat(start.lateMicros(start.startedAt(set.nanos()))).isEqualTo(0.0);
    stepNanos += 250_000_000L;
    assertThat(start.lateMicros(start.startedAt(set.nanos()))).isEqualTo(250_000.0);
  }

  @Test
  void aRunThatIsToldToEndWhileItWaitsDoesNotWaitForItsStart() {
    assertThat(agreed(NOW.plusSeconds(3600)).atOnce(LEAD).nanos()).isEqualTo(5_000 + LEAD);
  }
}

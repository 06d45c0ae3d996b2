package io.pqcbench.loadgen.schedule;

import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;

/**
 * Puts the start of a run on its monotonic clock: as soon as it is ready, or at an instant of the
 * wall clock on which several machines have agreed.
 */
public final class AgreedStart {

  /** So many times both clocks are read; the reading that took the shortest time counts. */
  private static final int READINGS = 5;

  private final Instant agreed;
  private final NanoClock clock;
  private final InstantSource wallClock;

  /**
   * The start of a run on both clocks.
   *
   * @param nanos on the run's clock
   * @param wall by the wall clock as it was just before
   */
  public record Start(long nanos, Instant wall) {}

  /**
   * Makes the start of a run that has not begun.
   *
   * @param agreed null for as soon as possible
   * @param clock the run's
   * @param wallClock the machine's, as far as it is right
   */
  public AgreedStart(Instant agreed, NanoClock clock, InstantSource wallClock) {
    this.agreed = agreed;
    this.clock = clock;
    this.wallClock = wallClock;
  }

  /**
   * Returns how much time is left before the last preparations must begin; 0 or less if none is.
   *
   * @param leadNanos what they take
   */
  public long idleNanos(long leadNanos) {
    return agreed == null ? 0 : wallClock.instant().until(agreed, ChronoUnit.NANOS) - leadNanos;
  }

  /**
   * Sets the start: the agreed instant, or, when that cannot be kept any more, the next possible.
   *
   * @param leadNanos from now to the earliest start
   */
  public Start set(long leadNanos) {
    Reading now = read();
    long wait = agreed == null ? leadNanos : now.wall().until(agreed, ChronoUnit.NANOS);
    return start(now, Math.max(wait, leadNanos));
  }

  /** Sets the start to the next possible, whatever was agreed. */
  public Start atOnce(long leadNanos) {
    return start(read(), leadNanos);
  }

  private static Start start(Reading now, long wait) {
    return new Start(now.nanos() + wait, now.wall().plusNanos(wait));
  }

  /**
   * Returns when the wall clock, as it is now, says that a run has started.
   *
   * @param startNanos on the run's clock
   */
  public Instant startedAt(long startNanos) {
    Reading now = read();
    return now.wall().minusNanos(now.nanos() - startNanos).truncatedTo(ChronoUnit.MICROS);
  }

  /**
   * Returns by how much a start was later than agreed, microseconds; null if nothing was agreed.
   */
  public Double lateMicros(Instant startedAt) {
    return agreed == null ? null : agreed.until(startedAt, ChronoUnit.NANOS) / 1e3;
  }

  private record Reading(long nanos, Instant wall) {}

  /** Reads both clocks as nearly at once as the machine allows. */
  private Reading read() {
    Reading best = null;
    long shortest = Long.MAX_VALUE;
    for (int i = 0; i < READINGS; i++) {
      long before = clock.nanos();
      Instant wall = wallClock.instant();
      long took = clock.nanos() - before;
      if (took < shortest) {
        shortest = took;
        best = new Reading(before + took / 2, wall);
      }
    }
    return best;
  }
}

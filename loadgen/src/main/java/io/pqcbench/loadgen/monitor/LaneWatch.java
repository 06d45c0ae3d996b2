package io.pqcbench.loadgen.monitor;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * What one lane lets be seen of itself while it runs. Written by the lane alone, with plain stores
 * that are published in order; read by the sampler's thread.
 */
public final class LaneWatch {

  /** A turn of the loop that works longer than this is reported: several key exchanges long. */
  static final long LONG_TURN_NANOS = 2_000_000L;

  /** A turn that seems to work longer than this may have been stopped in the middle of its work. */
  private static final long NO_WORK_NANOS = HiccupMeter.MAX_THRESHOLD_NANOS;

  /** A sleep that ends so much after its time is reported. */
  static final long LATE_WAKE_NANOS = 1_000_000L;

  /**
   * A turn that finds nothing to do takes about a microsecond; an interrupt some tens. What is
   * longer was spent elsewhere.
   */
  static final long POLL_GAP_NANOS = 200_000L;

  private final int lane;
  private final Disturbances disturbances;
  private final AtomicLong busy = new AtomicLong();
  private final AtomicLong polling = new AtomicLong();
  private final AtomicLong gaps = new AtomicLong();
  private final AtomicLong longestTurn = new AtomicLong();
  private final AtomicLong lastTurn = new AtomicLong(Long.MIN_VALUE);
  private final AtomicLong nextPlanned = new AtomicLong(Long.MAX_VALUE);
  private final AtomicLong inFlight = new AtomicLong();
  private volatile LongConsumer runsAgain = now -> {};

  /**
   * @param lane its number, from 0
   * @param disturbances where long turns and gaps are reported
   */
  public LaneWatch(int lane, Disturbances disturbances) {
    this.lane = lane;
    this.disturbances = disturbances;
  }

  /** Has someone told when the lane runs that has not for a while, before it counts as running. */
  void tells(LongConsumer whenItRunsAgain) {
    runsAgain = whenItRunsAgain;
  }

  /**
   * One turn of the loop is over. For the lane.
   *
   * @param from when it began, on the run's clock
   * @param to when it ended
   * @param sleptNanos for how long the lane slept in it; 0 when it polls
   * @param idlePoll whether it polled and found nothing to do
   */
  public void turn(long from, long to, long sleptNanos, boolean idlePoll) {
    long length = to - from;
    long worked = idlePoll ? 0 : length - sleptNanos;
    if (idlePoll ? length > LATE_WAKE_NANOS : worked > NO_WORK_NANOS) {
      runsAgain.accept(to);
    }
    lastTurn.lazySet(to);
    if (idlePoll) {
      if (length > POLL_GAP_NANOS) {
        add(gaps, length);
        report(Disturbance.Source.POLL_GAP, from, to);
      } else {
        add(polling, length);
      }
      return;
    }
    add(busy, worked);
    if (worked > longestTurn.getPlain()) {
      longestTurn.lazySet(worked);
    }
    if (worked > LONG_TURN_NANOS) {
      report(Disturbance.Source.LANE_STALL, to - worked, to);
    }
  }

  /**
   * A sleep is over. For the lane.
   *
   * @param due when it was to end at the latest
   * @param now when it ended
   */
  public void woke(long due, long now) {
    if (now - lastTurn.getPlain() > LATE_WAKE_NANOS) {
      runsAgain.accept(now);
    }
    lastTurn.lazySet(now);
    if (now - due > LATE_WAKE_NANOS) {
      report(Disturbance.Source.LATE_WAKE, due, now);
    }
  }

  /** The instant of the next arrival that is not started yet; far away when there is none. */
  public void nextPlanned(long nanos) {
    nextPlanned.lazySet(nanos);
  }

  /** How many attempts are in flight now. For the lane. */
  public void inFlight(int attempts) {
    inFlight.lazySet(attempts);
  }

  private static void add(AtomicLong sum, long nanos) {
    sum.lazySet(sum.getPlain() + nanos);
  }

  private void report(Disturbance.Source source, long from, long to) {
    disturbances.report(new Disturbance(source, from, to, to - from, Disturbance.ofLane(lane)));
  }

  /** Returns when the lane's last turn or sleep ended: it ran then. */
  public long lastTurn() {
    return lastTurn.getAcquire();
  }

  /** Returns the lane's number. */
  public int lane() {
    return lane;
  }

  /** Returns the time in which the lane did something useful so far. */
  public long busyNanos() {
    return busy.getAcquire();
  }

  /** Returns the time that the lane has polled in vain so far; 0 when it sleeps instead. */
  public long pollingNanos() {
    return polling.getAcquire();
  }

  /** Returns the time in which a polling lane did not get to run so far, as far as it can tell. */
  public long gapNanos() {
    return gaps.getAcquire();
  }

  /** Returns the longest turn since the last call. For the sampler. */
  public long takeLongestTurn() {
    return longestTurn.getAndSet(0);
  }

  /** Returns by how much the lane's next arrival is overdue at an instant; 0 when it is not. */
  public long behindNanos(long now) {
    long next = nextPlanned.getAcquire();
    return next == Long.MAX_VALUE ? 0 : Math.max(0, now - next);
  }

  /** Returns how many attempts are in flight. */
  public int inFlight() {
    return (int) inFlight.getAcquire();
  }
}

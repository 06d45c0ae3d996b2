package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.schedule.NanoClock;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * Two threads that do nothing but sleep some milliseconds and look at the clock. When one of them
 * wakes late, that thread was not scheduled; when neither ran since both were due, and no lane did
 * either, the whole process or the whole machine stood still. Only the latter is a hiccup.
 *
 * <p>A thread that has looked is due again one sleep later, whether it sleeps by then or not: a
 * stop can hit it between the two.
 *
 * <p>The idea of the meter is jHiccup's, that of the consensus is LatencyUtils'
 * SimplePauseDetector's, that of the calibrated threshold is JMH's PausesProfiler's.
 */
final class HiccupMeter implements AutoCloseable {

  /** Length of a sleep at first, and at least. A stop that is shorter can go unseen. */
  static final long MIN_SLEEP_NANOS = 1_000_000L;

  /** Length of a sleep at most. */
  static final long MAX_SLEEP_NANOS = 5_000_000L;

  /**
   * What a thread may use of a processor. Waking costs some 3 us on hardware, and ten times that in
   * a virtual machine inside another.
   */
  private static final double SHARE = 0.005;

  /** No threshold is lower, however quiet the machine was while it was calibrated. */
  static final long MIN_THRESHOLD_NANOS = 1_000_000L;

  /** No threshold is higher, however noisy the machine was: such stops are worth telling. */
  static final long MAX_THRESHOLD_NANOS = 10_000_000L;

  private static final long HIGHEST_NANOS = 60_000_000_000L;

  private static final long NOT_OVERDUE = Long.MAX_VALUE;

  private final NanoClock clock;
  private final Disturbances disturbances;

  /** When each thread is to run again. */
  private final AtomicLongArray dues = new AtomicLongArray(2);

  private final AtomicLong longest = new AtomicLong();

  /** The same as the longest, but the sampler does not take it away ten times a second. */
  private final AtomicLong longestOfCalibration = new AtomicLong();

  private final SingleWriterRecorder[] lateness = new SingleWriterRecorder[2];
  private final Thread[] threads = new Thread[2];
  private volatile long thresholdNanos = Long.MAX_VALUE;
  private volatile long sleepNanos = MIN_SLEEP_NANOS;
  private volatile LongSupplier lanesRan = () -> Long.MIN_VALUE;
  private volatile boolean closed;
  private long lastEnd = Long.MIN_VALUE;

  HiccupMeter(NanoClock clock, Disturbances disturbances) {
    this.clock = clock;
    this.disturbances = disturbances;
    for (int i = 0; i < threads.length; i++) {
      lateness[i] = new SingleWriterRecorder(1, HIGHEST_NANOS, 2);
      dues.set(i, NOT_OVERDUE);
    }
  }

  void start() {
    for (int i = 0; i < threads.length; i++) {
      int number = i;
      threads[i] = new Thread(() -> sleepAndLook(number), "hiccup-" + i);
      threads[i].setDaemon(true);
      threads[i].start();
    }
  }

  private void sleepAndLook(int thread) {
    // Half a sleep apart, so that a short stop is seen by one of them at least.
    LockSupport.parkNanos(thread * sleepNanos / 2);
    long due = clock.nanos() + sleepNanos;
    isDue(thread, due);
    while (!closed) {
      long now = clock.nanos();
      if (now < due) {
        LockSupport.parkNanos(due - now);
      } else {
        lateness[thread].recordValue(Math.min(now - due, HIGHEST_NANOS));
        due = ran(thread, due, now);
      }
    }
  }

  /**
   * Hears also from the lanes: while one of them runs, neither process nor machine stands still.
   *
   * @param lastTurnOfTheLanes when one of them last ran
   */
  void alsoHear(LongSupplier lastTurnOfTheLanes) {
    lanesRan = lastTurnOfTheLanes;
  }

  /** A thread is to run again at an instant. */
  void isDue(int thread, long due) {
    dues.set(thread, due);
  }

  /**
   * A thread that was to run at one instant did so at another. If the other one is overdue too,
   * nobody has run since both were to.
   *
   * @return when it is to run next
   */
  long ran(int thread, long due, long now) {
    long otherDue = overdueSince(1 - thread, now);
    long next = now + sleepNanos;
    isDue(thread, next);
    if (otherDue != NOT_OVERDUE) {
      stoodStill(Math.max(due, otherDue), now);
    }
    return next;
  }

  /**
   * A lane runs again that has not for a while. After a stop it can be the first to do so, and then
   * nobody else can tell: once it has run, it is a witness against a stop. For that lane, before it
   * counts as having run.
   */
  void laneRuns(long now) {
    long due = overdueSince(0, now);
    long otherDue = overdueSince(1, now);
    if (due != NOT_OVERDUE && otherDue != NOT_OVERDUE) {
      stoodStill(Math.max(due, otherDue), now);
    }
  }

  private long overdueSince(int thread, long now) {
    long due = dues.get(thread);
    return due <= now ? due : NOT_OVERDUE;
  }

  /** Nobody has run since both threads were to, unless a lane has. */
  private void stoodStill(long bothDue, long now) {
    long from = Math.max(bothDue, lanesRan.getAsLong());
    long late = now - from;
    if (late <= 0) {
      return;
    }
    longest.accumulateAndGet(late, Math::max);
    longestOfCalibration.accumulateAndGet(late, Math::max);
    // Threads that have ended are not late.
    if (late > thresholdNanos && !closed) {
      hiccup(from, now);
    }
  }

  /** Two can wake in the same instant, and then both report the one stop. */
  private synchronized void hiccup(long from, long to) {
    if (from > lastEnd) {
      lastEnd = to;
      disturbances.report(
          new Disturbance(Disturbance.Source.HICCUP, from, to, to - from, "process or machine"));
    }
  }

  /** Makes the sleeps as long as it takes for the threads to use little, within the two limits. */
  long wakingCosts(double nanos) {
    long sleep = Math.round(nanos / SHARE);
    sleepNanos = Math.max(MIN_SLEEP_NANOS, Math.min(MAX_SLEEP_NANOS, sleep));
    return sleepNanos;
  }

  /** Forgets the noise so far, such as that of the program's own start. */
  void calibrate() {
    takeLateness();
    longestOfCalibration.set(0);
  }

  /**
   * Begins to report what is longer than the longest stop since the calibration began, within the
   * two limits.
   */
  long calibrated() {
    long threshold =
        Math.min(
            MAX_THRESHOLD_NANOS, Math.max(MIN_THRESHOLD_NANOS, longestOfCalibration.getAndSet(0)));
    thresholdNanos = threshold;
    return threshold;
  }

  /** Returns the longest stop since the last call, also one below the threshold. */
  long takeLongest() {
    return longest.getAndSet(0);
  }

  /**
   * Returns by how much the threads woke late since the last call, in nanoseconds: the noise floor
   * of the machine.
   */
  Histogram takeLateness() {
    Histogram sum = lateness[0].getIntervalHistogram();
    sum.add(lateness[1].getIntervalHistogram());
    return sum;
  }

  @Override
  public void close() {
    closed = true;
  }
}

package io.pqcbench.loadgen.schedule;

/**
 * The one monotonic clock of a run.
 *
 * <p>Values are nanoseconds from an arbitrary origin that is fixed for the life of the JVM. They
 * may only be subtracted from each other, never compared with a wall clock or with a value of
 * another process. The one seam through which tests drive time by hand.
 */
@FunctionalInterface
public interface NanoClock {

  /** {@link System#nanoTime()}: {@code CLOCK_MONOTONIC} on Linux. */
  NanoClock SYSTEM = System::nanoTime;

  /**
   * Returns the present instant in nanoseconds; never less than an earlier value read by the same
   * thread.
   */
  long nanos();
}

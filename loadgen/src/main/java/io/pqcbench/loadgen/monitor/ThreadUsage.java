package io.pqcbench.loadgen.monitor;

import java.lang.management.ManagementFactory;

/**
 * What one thread has used since it began.
 *
 * @param cpuNanos user and system time
 * @param allocatedBytes on the heap
 */
public record ThreadUsage(long cpuNanos, long allocatedBytes) {

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  /** Reads the counters of a thread; null if it has ended, for then the JVM has forgotten them. */
  public static ThreadUsage of(Thread thread) {
    long cpu = THREADS.getThreadCpuTime(thread.getId());
    long allocated = THREADS.getThreadAllocatedBytes(thread.getId());
    return cpu < 0 || allocated < 0 ? null : new ThreadUsage(cpu, allocated);
  }
}

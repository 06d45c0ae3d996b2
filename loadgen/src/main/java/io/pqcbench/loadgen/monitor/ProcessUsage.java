package io.pqcbench.loadgen.monitor;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.Collection;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * What this process has used so far. Two readings, taken at the two ends of the measured part, make
 * a difference.
 *
 * @param cpuNanos user and system time of the whole process: lanes, compiler, collector and
 *     recording
 * @param laneCpuNanos of the lanes' threads alone
 * @param laneAllocatedBytes allocated on the heap by the lanes' threads
 * @param allocatedBytes allocated on the heap by all threads that live now
 * @param collections number of collections (pauses and concurrent cycles, as the collector's bean
 *     counts them)
 * @param finishedAttempts how many attempts had an outcome at this moment
 */
public record ProcessUsage(
    long cpuNanos,
    long laneCpuNanos,
    long laneAllocatedBytes,
    long allocatedBytes,
    long collections,
    long finishedAttempts) {

  /**
   * Reads the counters. Costs some microseconds.
   *
   * @param lanes what each lane's thread has used, also of one that has ended
   * @param laneThreads the same threads, to tell them from the others
   * @param finishedAttempts as the lanes count them
   */
  public static ProcessUsage now(
      Collection<ThreadUsage> lanes, Collection<Thread> laneThreads, long finishedAttempts) {
    var os =
        (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    Set<Long> laneIds = laneThreads.stream().map(Thread::getId).collect(Collectors.toSet());
    long[] others =
        LongStream.of(threads.getAllThreadIds()).filter(id -> !laneIds.contains(id)).toArray();
    long laneAllocated = lanes.stream().mapToLong(ThreadUsage::allocatedBytes).sum();
    long othersAllocated =
        LongStream.of(threads.getThreadAllocatedBytes(others)).filter(bytes -> bytes > 0).sum();
    return new ProcessUsage(
        os.getProcessCpuTime(),
        lanes.stream().mapToLong(ThreadUsage::cpuNanos).sum(),
        laneAllocated,
        laneAllocated + othersAllocated,
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(GarbageCollectorMXBean::getCollectionCount)
            .sum(),
        finishedAttempts);
  }

  /** Returns what was used since an earlier reading. */
  public ProcessUsage since(ProcessUsage earlier) {
    return new ProcessUsage(
        cpuNanos - earlier.cpuNanos,
        laneCpuNanos - earlier.laneCpuNanos,
        laneAllocatedBytes - earlier.laneAllocatedBytes,
        allocatedBytes - earlier.allocatedBytes,
        collections - earlier.collections,
        finishedAttempts - earlier.finishedAttempts);
  }

  /**
   * Returns CPU time of the whole process per finished attempt in microseconds; NaN without one.
   */
  public double cpuMicrosPerAttempt() {
    return finishedAttempts == 0 ? Double.NaN : cpuNanos / 1e3 / finishedAttempts;
  }

  /** Returns bytes allocated by the lanes per finished attempt; NaN without one. */
  public double laneBytesPerAttempt() {
    return finishedAttempts == 0 ? Double.NaN : (double) laneAllocatedBytes / finishedAttempts;
  }
}

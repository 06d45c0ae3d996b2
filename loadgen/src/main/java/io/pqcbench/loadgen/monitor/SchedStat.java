package io.pqcbench.loadgen.monitor;

/**
 * What the scheduler has done with one thread since it began, from /proc/PID/task/TID/schedstat
 * (fs/proc/base.c, proc_pid_schedstat; Documentation/scheduler/sched-stats.rst).
 *
 * @param onCpuNanos in which it ran
 * @param runDelayNanos in which it was ready to run and waited for a CPU
 * @param slices how often it was put on a CPU
 */
record SchedStat(long onCpuNanos, long runDelayNanos, long slices) {

  /**
   * Returns what the text says; null if it does not. Three zeros do not: that is what a kernel
   * prints that keeps no such account (sched_info_on), and a thread that has never run has nothing
   * to tell either.
   */
  static SchedStat parse(String schedstat) {
    if (schedstat == null) {
      return null;
    }
    int end = schedstat.length();
    int onCpu = ProcText.wordStart(schedstat, 0, end);
    int onCpuEnd = ProcText.wordEnd(schedstat, onCpu, end);
    int delay = ProcText.wordStart(schedstat, onCpuEnd, end);
    int delayEnd = ProcText.wordEnd(schedstat, delay, end);
    int slices = ProcText.wordStart(schedstat, delayEnd, end);
    int slicesEnd = ProcText.wordEnd(schedstat, slices, end);
    SchedStat stat =
        new SchedStat(
            ProcText.decimal(schedstat, onCpu, onCpuEnd),
            ProcText.decimal(schedstat, delay, delayEnd),
            ProcText.decimal(schedstat, slices, slicesEnd));
    boolean there = stat.onCpuNanos >= 0 && stat.runDelayNanos >= 0 && stat.slices >= 0;
    boolean kept = stat.onCpuNanos > 0 || stat.runDelayNanos > 0 || stat.slices > 0;
    return there && kept ? stat : null;
  }
}

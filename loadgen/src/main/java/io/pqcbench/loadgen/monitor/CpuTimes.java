package io.pqcbench.loadgen.monitor;

import java.util.ArrayList;
import java.util.List;

/**
 * What one CPU has done since boot, from /proc/stat (fs/proc/stat.c, show_stat), in ticks of
 * 1/USER_HZ, which are 10 ms on x86 and aarch64. Two readings make a difference; one of {@code
 * idle} or {@code iowait} may be slightly negative, because the kernel estimates them
 * (Documentation/filesystems/proc.rst, 1.7).
 *
 * @param cpu its number; numbers may be missing in between, because a CPU that is offline has no
 *     line
 * @param user in user mode, guests included
 * @param nice in user mode at lowered priority, guests included
 * @param system in the kernel
 * @param idle with nothing to do
 * @param iowait idle while a task of this CPU waited for a disk
 * @param irq in hard interrupts
 * @param softirq in soft interrupts, which is where received packets are handled
 * @param steal ready to run while the hypervisor ran something else; -1 if the kernel has no such
 *     column (before 2.6.11). What a 0 is worth, {@link StealReport} tells.
 */
public record CpuTimes(
    int cpu,
    long user,
    long nice,
    long system,
    long idle,
    long iowait,
    long irq,
    long softirq,
    long steal) {

  private static final String PREFIX = "cpu";

  /** The columns that are read; two more, of guests, are contained in user and nice. */
  private static final int COLUMNS = 8;

  private static final int STEAL = 7;

  /**
   * Returns the CPUs of /proc/stat in its order; an empty list if there are none. The line of all
   * CPUs together is left out. Reads up to the first line that is not of a CPU, since the next one,
   * of interrupts, may be long. A line that ends early, or in something that is no number, has
   * zeros from there on, and no steal; one without any number is left out.
   */
  static List<CpuTimes> parse(String procStat) {
    List<CpuTimes> cpus = new ArrayList<>();
    if (procStat == null) {
      return cpus;
    }
    long[] columns = new long[COLUMNS];
    int at = 0;
    while (procStat.startsWith(PREFIX, at)) {
      int end = ProcText.lineEnd(procStat, at);
      int number = at + PREFIX.length();
      int numberEnd = ProcText.wordEnd(procStat, number, end);
      long cpu = ProcText.decimal(procStat, number, numberEnd);
      if (cpu >= 0 && cpu <= Integer.MAX_VALUE && read(procStat, numberEnd, end, columns)) {
        cpus.add(
            new CpuTimes(
                (int) cpu,
                columns[0],
                columns[1],
                columns[2],
                columns[3],
                columns[4],
                columns[5],
                columns[6],
                columns[STEAL]));
      }
      at = end + 1;
    }
    return cpus;
  }

  /** Fills all columns; returns whether there was any. */
  private static boolean read(String text, int from, int end, long[] columns) {
    int count = 0;
    int at = from;
    while (count < COLUMNS) {
      int start = ProcText.wordStart(text, at, end);
      at = ProcText.wordEnd(text, start, end);
      long value = ProcText.decimal(text, start, at);
      if (value < 0) {
        break;
      }
      columns[count++] = value;
    }
    for (int i = count; i < COLUMNS; i++) {
      columns[i] = i == STEAL ? ProcText.ABSENT : 0;
    }
    return count > 0;
  }

  /** Returns the ticks since an earlier reading of the same CPU. */
  CpuTimes since(CpuTimes earlier) {
    return new CpuTimes(
        cpu,
        user - earlier.user,
        nice - earlier.nice,
        system - earlier.system,
        idle - earlier.idle,
        iowait - earlier.iowait,
        irq - earlier.irq,
        softirq - earlier.softirq,
        steal < 0 || earlier.steal < 0 ? ProcText.ABSENT : steal - earlier.steal);
  }

  /** Returns all ticks; steal that is not reported counts as none. */
  public long total() {
    return user + nice + system + idle + iowait + irq + softirq + Math.max(steal, 0);
  }

  /** Returns the ticks in which this CPU worked for this system. */
  public long busy() {
    return user + nice + system + irq + softirq;
  }
}

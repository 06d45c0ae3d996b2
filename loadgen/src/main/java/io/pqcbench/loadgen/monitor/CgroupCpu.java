package io.pqcbench.loadgen.monitor;

import java.util.ArrayList;
import java.util.List;

/**
 * How a CPU quota has held a control group back since the group was made, from its {@code cpu.stat}
 * (v1: Documentation/scheduler/sched-bwc.rst; v2: Documentation/admin-guide/cgroup-v2.rst; both are
 * printed by kernel/sched/core.c). A number that the text lacks is -1.
 *
 * @param periods of the quota in which the group had something to run
 * @param throttledPeriods of these, in which it used the quota up and had to wait for the next
 * @param throttledNanos for which it waited, summed over CPUs
 */
record CgroupCpu(long periods, long throttledPeriods, long throttledNanos) {

  private static final String[] KEYS = {
    "nr_periods", "nr_throttled", "throttled_usec", "throttled_time"
  };

  private static final int NANOS_PER_MICRO = 1_000;

  private static final String CPU_CONTROLLER = "cpu";

  /**
   * Returns what {@code cpu.stat} of either version says; null if it says nothing of a quota, as
   * that of the root group of v2, which cannot have one.
   */
  static CgroupCpu parse(String cpuStat) {
    if (cpuStat == null) {
      return null;
    }
    long[] values = ProcText.named(cpuStat, 0, cpuStat.length(), KEYS);
    long micros = values[2];
    boolean micro = micros >= 0 && micros <= Long.MAX_VALUE / NANOS_PER_MICRO;
    long nanos = micro ? micros * NANOS_PER_MICRO : values[3];
    return values[0] < 0 && values[1] < 0 && nanos < 0
        ? null
        : new CgroupCpu(values[0], values[1], nanos);
  }

  /**
   * Returns the directories whose {@code cpu.stat} concerns this process: that of its own group and
   * those of all groups above it that are visible here, since a quota may be set on any of them.
   * First those of v2, then those of v1; in a hybrid set-up both are mounted, and only one of them
   * has the controller. A group that lies outside of what is mounted here, as in some containers,
   * stands at the mount's own root.
   *
   * @param selfCgroup the text of /proc/self/cgroup (cgroups(7))
   * @param mountinfo the text of /proc/self/mountinfo (Documentation/filesystems/proc.rst, 3.5)
   * @return an empty list if there are none
   */
  static List<String> directories(String selfCgroup, String mountinfo) {
    List<String> directories = new ArrayList<>();
    if (selfCgroup == null || mountinfo == null) {
      return directories;
    }
    String unified = null;
    String legacy = null;
    for (String line : selfCgroup.lines().toList()) {
      String[] fields = line.split(":", 3); // hierarchy, controllers, path
      if (fields.length < 3 || !fields[2].startsWith("/")) {
        continue;
      }
      if (fields[0].equals("0") && fields[1].isEmpty()) {
        unified = fields[2];
      } else if (contains(fields[1], CPU_CONTROLLER)) {
        legacy = fields[2];
      }
    }
    List<Mount> mounts = mountinfo.lines().map(Mount::parse).toList();
    addUpwards(directories, unified, mounts.stream().filter(Mount::unified).toList());
    addUpwards(directories, legacy, mounts.stream().filter(Mount::legacyCpu).toList());
    return directories;
  }

  /**
   * Adds the group's directory and those above it, in that mount of its hierarchy that shows most
   * of them.
   */
  private static void addUpwards(List<String> directories, String path, List<Mount> mounts) {
    if (path == null || mounts.isEmpty()) {
      return;
    }
    Mount best = mounts.get(0);
    String below = best.below(path);
    for (Mount mount : mounts) {
      String other = mount.below(path);
      if (other != null && (below == null || other.length() > below.length())) {
        best = mount;
        below = other;
      }
    }
    String rest = below == null ? "" : below;
    while (!rest.isEmpty()) {
      directories.add(best.point + rest);
      rest = rest.substring(0, rest.lastIndexOf('/'));
    }
    directories.add(best.point);
  }

  private static boolean contains(String commaSeparated, String word) {
    return ("," + commaSeparated + ",").contains("," + word + ",");
  }

  /**
   * Returns how many CPUs' time the quota of v2 allows, from {@code cpu.max}; NaN if it sets none
   * or is not there.
   *
   * @param cpuMax quota and period in microseconds, or "max" for the quota
   */
  static double cpusOf(String cpuMax) {
    if (cpuMax == null) {
      return Double.NaN;
    }
    int end = cpuMax.length();
    int quota = ProcText.wordStart(cpuMax, 0, end);
    int quotaEnd = ProcText.wordEnd(cpuMax, quota, end);
    int period = ProcText.wordStart(cpuMax, quotaEnd, end);
    int periodEnd = ProcText.wordEnd(cpuMax, period, end);
    return cpus(
        ProcText.decimal(cpuMax, quota, quotaEnd), ProcText.decimal(cpuMax, period, periodEnd));
  }

  /**
   * Returns how many CPUs' time the quota of v1 allows; NaN if it sets none or is not there.
   *
   * @param quota {@code cpu.cfs_quota_us}, in microseconds; -1 for none
   * @param period {@code cpu.cfs_period_us}, in microseconds
   */
  static double cpusOf(String quota, String period) {
    return cpus(ProcText.decimal(quota), ProcText.decimal(period));
  }

  private static double cpus(long quota, long period) {
    return quota < 0 || period <= 0 ? Double.NaN : (double) quota / period;
  }

  /**
   * One line of mountinfo, as far as it matters here.
   *
   * @param root the path within the hierarchy that is mounted
   * @param point where
   * @param unified whether it is of v2
   * @param legacyCpu whether it is v1's hierarchy of the controller {@code cpu}
   */
  private record Mount(String root, String point, boolean unified, boolean legacyCpu) {

    private static final Mount NONE = new Mount("", "", false, false);

    /** Returns a mount that is neither version for any other line. */
    static Mount parse(String line) {
      int separator = line.indexOf(" - "); // ends a list of optional fields
      if (separator < 0) {
        return NONE;
      }
      String[] fields = line.substring(0, separator).split(" ", 6);
      String[] system = line.substring(separator + 3).split(" ", 3); // type, source, options
      if (fields.length < 5 || system.length < 3) {
        return NONE;
      }
      return new Mount(
          unescape(fields[3]),
          unescape(fields[4]),
          system[0].equals("cgroup2"),
          system[0].equals("cgroup") && contains(system[2].strip(), CPU_CONTROLLER));
    }

    /**
     * Returns the part of the path below this mount, which is empty or begins with a slash; null if
     * the path lies elsewhere. A path that begins with {@code /..} lies outside of the process's
     * cgroup namespace (cgroup_namespaces(7)), and so may a root.
     */
    String below(String path) {
      String prefix = root.equals("/") ? "" : root;
      if (!(path + "/").startsWith(prefix + "/")) {
        return null;
      }
      String rest = path.equals("/") ? "" : path.substring(prefix.length());
      return (rest + "/").contains("/../") ? null : rest;
    }

    /** Blanks and backslashes are written in octal, such as {@code \040} (seq_escape). */
    private static String unescape(String field) {
      return field
          .replace("\\040", " ")
          .replace("\\011", "\t")
          .replace("\\012", "\n")
          .replace("\\134", "\\");
    }
  }
}

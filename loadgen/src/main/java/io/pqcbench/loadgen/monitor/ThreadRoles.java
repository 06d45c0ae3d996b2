package io.pqcbench.loadgen.monitor;

import java.util.List;
import java.util.Set;

/**
 * Tells what a thread of this process is there for by its name in /proc/PID/task/TID/comm, which
 * the kernel cuts to 15 characters (TASK_COMM_LEN, include/linux/sched.h). The names are those of
 * HotSpot, JDK 17 to 25.
 */
public final class ThreadRoles {

  /** What a thread is there for. */
  public enum Role {
    /** Drives the load. */
    LANE,
    /** Watches how late a thread is that has nothing else to do. */
    HICCUP,
    /** Observes: this program's own monitor, its live metrics, and flight recording. */
    MONITOR,
    /** Compiles. */
    JIT,
    /** Collects garbage, with the pauses or beside the program. */
    GC,
    /** Safepoints and the virtual machine's clock; with the serial collector also collecting. */
    VM,
    /** A thread of another process that is to be watched, such as the server's. */
    WATCHED,
    /** Anything else. */
    OTHER
  }

  private static final List<String> GC_PREFIXES =
      List.of(
          "GC Thread#",
          "G1 ",
          "Shenandoah ",
          // ZGC; in JDK 21 to 23 its variant without generations is named with an X.
          "ZDirector",
          "ZDriver",
          "ZStat",
          "ZUncommitter",
          "ZUnmapper",
          "ZWorker",
          "XDirector",
          "XDriver",
          "XStat",
          "XUncommitter",
          "XUnmapper",
          "XWorker",
          "RuntimeWorker#"); // ZGC's as well, for the work of safepoints

  /** The last is of the JDK's HTTP server, which serves the live metrics and nothing else. */
  private static final Set<String> OBSERVERS = Set.of("monitor", "prometheus", "HTTP-Dispatcher");

  private ThreadRoles() {}

  /** Returns the role; {@link Role#OTHER} if the name is not known, or null. */
  static Role roleOf(String comm) {
    if (comm == null) {
      return Role.OTHER;
    }
    String name = comm.strip(); // the file ends with a newline
    if (name.startsWith("lane-")) {
      return Role.LANE;
    }
    if (name.startsWith("hiccup-")) {
      return Role.HICCUP;
    }
    if (OBSERVERS.contains(name) || name.startsWith("JFR ")) {
      return Role.MONITOR;
    }
    if (name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler")) {
      return Role.JIT;
    }
    if (GC_PREFIXES.stream().anyMatch(name::startsWith)) {
      return Role.GC;
    }
    return name.startsWith("VM Thread") || name.startsWith("VM Periodic") ? Role.VM : Role.OTHER;
  }
}

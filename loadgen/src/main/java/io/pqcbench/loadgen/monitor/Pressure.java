package io.pqcbench.loadgen.monitor;

/** Reads pressure stall information (Documentation/accounting/psi.rst, kernel/sched/psi.c). */
final class Pressure {

  private static final String SOME = "some ";

  private static final String TOTAL = "total=";

  private Pressure() {}

  /**
   * Returns for how long, in microseconds since boot, at least one task waited for the resource,
   * from a text such as that of /proc/pressure/cpu; -1 if it is not there.
   */
  static long someTotalMicros(String pressure) {
    int line = pressure == null ? -1 : ProcText.lineOf(pressure, SOME);
    if (line < 0) {
      return ProcText.ABSENT;
    }
    int lineEnd = ProcText.lineEnd(pressure, line);
    int end = line;
    while (end < lineEnd) {
      int start = ProcText.wordStart(pressure, end, lineEnd);
      end = ProcText.wordEnd(pressure, start, lineEnd);
      if (pressure.startsWith(TOTAL, start)) {
        return ProcText.decimal(pressure, start + TOTAL.length(), end);
      }
    }
    return ProcText.ABSENT;
  }
}

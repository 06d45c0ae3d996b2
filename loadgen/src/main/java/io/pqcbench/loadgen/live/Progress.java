package io.pqcbench.loadgen.live;

import io.pqcbench.loadgen.verdict.Finding;
import io.pqcbench.loadgen.verdict.Verdict;
import java.io.PrintStream;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * Shows a run while it goes: one line that is rewritten on a terminal, a plain line every ten
 * seconds elsewhere.
 */
public final class Progress {

  private static final int PLAIN_EVERY = 10;

  private final PrintStream out;
  private final boolean terminal;
  private final boolean quiet;
  private int ticks;
  private int lastWidth;

  /**
   * @param out where to; not the stream that carries results
   * @param terminal whether it is one
   * @param quiet whether to show nothing
   */
  public Progress(PrintStream out, boolean terminal, boolean quiet) {
    this.out = out;
    this.terminal = terminal;
    this.quiet = quiet;
  }

  /**
   * One second of a run.
   *
   * @param elapsedSeconds since the start
   * @param totalSeconds planned
   * @param warmup whether it is not measured
   * @param offered planned arrivals a second
   * @param started attempts a second
   * @param finished attempts a second
   * @param inFlight attempts
   * @param failures so far
   * @param response times in nanoseconds
   */
  public record Interval(
      double elapsedSeconds,
      double totalSeconds,
      boolean warmup,
      double offered,
      double started,
      double finished,
      int inFlight,
      long failures,
      Histogram response) {}

  /** Shows that everything is ready and that the agreed start is still so far away. */
  public void waiting(double seconds) {
    if (!quiet) {
      out.printf(Locale.ROOT, "ready, the agreed start is in %.1f s%n", seconds);
      out.flush();
    }
  }

  /** Shows one second. */
  public void interval(Interval interval) {
    ticks++;
    if (quiet || (!terminal && ticks % PLAIN_EVERY != 0)) {
      return;
    }
    Histogram response = interval.response();
    String latency =
        response.getTotalCount() == 0
            ? "response -"
            : String.format(
                Locale.ROOT,
                "response p50 %.0f us p99 %.0f us",
                response.getValueAtPercentile(50) / 1e3,
                response.getValueAtPercentile(99) / 1e3);
    String line =
        String.format(
            Locale.ROOT,
            "%4.0f/%.0f s  %s  offered %.1f/s  started %.1f/s  done %.1f/s  in flight %d  errors %d"
                + "  %s",
            interval.elapsedSeconds(),
            interval.totalSeconds(),
            interval.warmup() ? "warm-up " : "measured",
            interval.offered(),
            interval.started(),
            interval.finished(),
            interval.inFlight(),
            interval.failures(),
            latency);
    if (terminal) {
      out.print("\r" + line + " ".repeat(Math.max(0, lastWidth - line.length())));
      lastWidth = line.length();
    } else {
      out.println(line);
    }
    out.flush();
  }

  /**
   * Shows that a rule has begun to object.
   *
   * @param finding what it says; shown once, also in quiet runs
   * @param seconds after the start of the run
   */
  public void finding(Finding finding, double seconds) {
    clear();
    out.printf(
        Locale.ROOT,
        "%4.0f s  %s %s: %s (limit %s)%n",
        seconds,
        finding.level() == Verdict.TRUSTED ? "note" : finding.level(),
        finding.rule(),
        finding.observed(),
        finding.limit());
    out.flush();
  }

  /** Takes the live line away, so that what follows begins on an empty one. */
  public void clear() {
    if (terminal && lastWidth > 0) {
      out.print("\r" + " ".repeat(lastWidth) + "\r");
      out.flush();
      lastWidth = 0;
    }
  }
}

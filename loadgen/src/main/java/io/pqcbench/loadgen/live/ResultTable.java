package io.pqcbench.loadgen.live;

import io.pqcbench.loadgen.bundle.Summary;
import io.pqcbench.loadgen.bundle.Summary.PhaseSummary;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.verdict.Finding;
import io.pqcbench.loadgen.verdict.Tail;
import io.pqcbench.loadgen.verdict.Verdict;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The final report of a run, as text. */
public final class ResultTable {

  private static final List<Double> PERCENTILES = List.of(50.0, 90.0, 95.0, 99.0, 99.9);

  private final boolean colour;

  /**
   * @param colour whether to mark the verdict with terminal colours
   */
  public ResultTable(boolean colour) {
    this.colour = colour;
  }

  /** Returns the report, with line ends. */
  public String render(Summary summary) {
    StringBuilder text = new StringBuilder();
    text.append(String.format(Locale.ROOT, "%-10s %9s %10s", "us", "count", "mean"));
    for (double percentile : PERCENTILES) {
      text.append(String.format(Locale.ROOT, " %10s", "p" + number(percentile)));
    }
    text.append(String.format(Locale.ROOT, " %10s%n", "max"));
    for (Phase phase : Phase.ALL) {
      row(text, phase, summary.phases().get(phase.label()));
    }
    summary
        .kinds()
        .forEach(
            (kind, values) -> {
              text.append(kind).append(" alone: ").append(outcomes(values.outcomes())).append('\n');
              values.phases().forEach((label, phase) -> row(text, Phase.of(label), phase));
            });
    if (summary.phases().values().stream().anyMatch(phase -> !phase.doubts().isEmpty())) {
      text.append(
          "?  moves by more than its own interval when the disturbed samples are left out\n");
    }
    text.append('\n');
    line(
        text,
        "arrivals",
        "%d planned in %.1f s measured, %s",
        summary.plannedMeasured(),
        summary.measuredSeconds(),
        outcomes(summary.outcomes()));
    line(
        text,
        "rate",
        "offered %.2f/s, started %.2f/s, completed %.2f/s",
        summary.offeredPerSecond(),
        summary.achievedPerSecond(),
        summary.completedPerSecond());
    line(
        text,
        "bytes",
        "handshake %s out, %s in; connection %s out, %s in",
        mean(summary.bytesOutPerHandshake()),
        mean(summary.bytesInPerHandshake()),
        mean(summary.bytesOutPerConnection()),
        mean(summary.bytesInPerConnection()));
    if (summary.bodyBytesPerSecond() > 0) {
      line(
          text,
          "payload",
          "%s bytes a response, %s",
          mean(summary.bodyBytesPerResponse()),
          throughput(summary.bodyBytesPerSecond()));
    }
    line(
        text,
        "client",
        "%s us CPU per handshake (%s us in the lanes%s), %s bytes allocated, %d collections",
        mean(summary.clientCpuMicrosPerHandshake()),
        mean(summary.laneCpuMicrosPerHandshake()),
        polling(summary),
        mean(summary.allocatedBytesPerHandshake()),
        summary.collections());
    Summary.PoolSummary pool = summary.pool();
    if (pool != null) {
      line(
          text,
          "pool",
          "%d connections kept, %d opened, %d failed, %d closed by the server while idle, %d"
              + " requests sent again; %d arrivals waited for a free one, with the warm-up",
          pool.connections(),
          pool.opened(),
          pool.failed(),
          pool.closedByServer(),
          pool.repeated(),
          pool.waited());
    }
    if (summary.sessions() != null) {
      line(
          text,
          "sessions",
          "%d tickets issued, %d offered, with the %d priming handshakes and the warm-up",
          summary.sessions().issued(),
          summary.sessions().offered(),
          summary.sessions().primingHandshakes());
    }
    machine(text, summary.machine());
    tail(text, summary.tail());
    if (summary.serverClock() != null) {
      line(text, "server", "its monitor is on %s", summary.serverClock());
    }
    if (summary.valuesClamped() > 0) {
      line(
          text,
          "note",
          "%d latencies were longer than the histograms hold and count as the longest",
          summary.valuesClamped());
    }
    for (Summary.ErrorSummary error : summary.errors()) {
      line(
          text,
          "error",
          "%d x %s%s in %s%s",
          error.count(),
          error.outcome(),
          error.detail().isEmpty() ? "" : " " + error.detail(),
          error.diedIn(),
          error.example() == null ? "" : ": " + error.example().replaceAll("\\p{Cntrl}+", " "));
    }
    for (Finding finding : summary.findings()) {
      line(
          text,
          "finding",
          "%s [%s, %s] %s%s (limit %s): %s",
          finding.rule(),
          finding.level() == Verdict.TRUSTED ? "note" : finding.level(),
          finding.fault().name().toLowerCase(Locale.ROOT),
          finding.observed(),
          finding.when().isEmpty() ? "" : ", worst at " + finding.when(),
          finding.limit(),
          finding.advice());
    }
    line(
        text,
        "verdict",
        "%s%s%s",
        paint(Verdict.valueOf(summary.verdict())),
        summary.interrupted() ? ", interrupted" : "",
        summary.notReported().isEmpty()
            ? ""
            : " (not reported here: " + String.join(", ", summary.notReported()) + ")");
    return text.toString();
  }

  private static void row(StringBuilder text, Phase phase, PhaseSummary values) {
    if (phase == Phase.SETTINGS && values.count() == 0) {
      // HTTP/1.1 has none, which is no news.
      return;
    }
    text.append(
        String.format(
            Locale.ROOT, "%-10s %9d %10s", phase.label(), values.count(), mean(values.mean())));
    for (double percentile : PERCENTILES) {
      Double value = values.at(percentile);
      text.append(
          String.format(
              Locale.ROOT,
              " %10s",
              value == null
                  ? "n<" + Summary.samplesFor(percentile)
                  : mean(value)
                      + (values.doubts().containsKey(PhaseSummary.name(percentile)) ? "?" : "")));
    }
    text.append(String.format(Locale.ROOT, " %10s  %s%n", mean(values.max()), phase.text()));
  }

  private static void line(StringBuilder text, String name, String format, Object... values) {
    text.append(String.format(Locale.ROOT, "%-10s ", name))
        .append(String.format(Locale.ROOT, format, values));
    text.append('\n');
  }

  private static void machine(StringBuilder text, Summary.MachineSummary machine) {
    line(
        text,
        "machine",
        "lane busy %s (busiest second %s), least idle processor %s, others' work %s processors,"
            + " run delay %s, steal %s",
        percent(machine.laneBusyShare()),
        percent(machine.laneBusiestSecond()),
        percent(machine.leastIdleShare()),
        number(machine.otherCpus(), 2),
        percent(machine.runDelayShare()),
        Double.isNaN(machine.stealMicros())
            ? "not reported"
            : number(machine.stealMicros() / 1e3, 0) + " ms");
    StringBuilder stops = new StringBuilder();
    machine
        .stops()
        .forEach(
            (source, stop) ->
                stops
                    .append(stops.isEmpty() ? "" : ", ")
                    .append(
                        String.format(
                            Locale.ROOT,
                            "%d %s (max %.2f ms)",
                            stop.count(),
                            source,
                            stop.maxMicros() / 1e3)));
    line(text, "stops", "%s", stops.isEmpty() ? "none" : stops);
    line(
        text,
        "monitor",
        "watching cost %s us CPU per handshake, %s of a processor",
        mean(machine.monitorCpuMicrosPerHandshake()),
        percent(machine.monitorCpuShare()));
  }

  private static void tail(StringBuilder text, Tail.Report tail) {
    if (tail.count() == 0) {
      return;
    }
    line(
        text,
        "tail",
        "the slowest %d from %.1f us on, planned in %d distinct seconds; shape: %s",
        tail.count(),
        tail.fromMicros(),
        tail.distinctSeconds(),
        tail.shape());
    for (Tail.Share share : tail.causes()) {
      line(
          text,
          "",
          "%s %s (%d, %s), e.g. %s",
          percent(share.share()),
          share.cause(),
          share.count(),
          share.fault().name().toLowerCase(Locale.ROOT),
          share.example());
    }
  }

  private static String number(double value, int digits) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%." + digits + "f", value);
  }

  private static String percent(double share) {
    return Double.isNaN(share) ? "-" : String.format(Locale.ROOT, "%.1f %%", share * 100);
  }

  private static String polling(Summary summary) {
    return summary.clientCpuIncludesPolling()
        ? ", polling included; work " + mean(summary.laneWorkMicrosPerHandshake()) + " us"
        : "";
  }

  private static String outcomes(Map<Outcome, Long> outcomes) {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<Outcome, Long> outcome : outcomes.entrySet()) {
      text.append(text.isEmpty() ? "" : ", ")
          .append(outcome.getValue())
          .append(' ')
          .append(outcome.getKey());
    }
    return text.toString();
  }

  private static String mean(double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%.1f", value);
  }

  /** With the unit in which it has one to three digits before the point. */
  private static String throughput(double bytesPerSecond) {
    String[] units = {"B/s", "kB/s", "MB/s", "GB/s"};
    int unit = 0;
    double value = bytesPerSecond;
    while (value >= 1000 && unit < units.length - 1) {
      value /= 1000;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
  }

  private static String number(double percentile) {
    return percentile == Math.rint(percentile)
        ? Long.toString((long) percentile)
        : Double.toString(percentile);
  }

  private String paint(Verdict verdict) {
    if (!colour) {
      return verdict.name();
    }
    int code =
        switch (verdict) {
          case TRUSTED -> 32;
          case SUSPECT -> 33;
          case SATURATED, INVALID -> 31;
        };
    return "\u001b[1;" + code + "m" + verdict.name() + "\u001b[0m";
  }
}

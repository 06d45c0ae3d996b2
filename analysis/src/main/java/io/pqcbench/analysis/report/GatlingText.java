package io.pqcbench.analysis.report;

import io.pqcbench.analysis.gatling.GatlingReport;
import io.pqcbench.analysis.gatling.GatlingVerdict;
import java.util.List;
import java.util.Locale;

/** What is said of old reports of Gatling, as Markdown. */
public final class GatlingText {

  private static final int[] PERCENTS = {50, 75, 95, 99};

  private GatlingText() {}

  /**
   * Returns a table of the reports and the verdict on them.
   *
   * @param arm reports of one arm, at least one
   */
  public static String of(List<GatlingReport> arm) {
    StringBuilder text = new StringBuilder();
    text.append(
        "| report | request | n | KO | p50, ms | p75, ms | p95, ms | p99, ms | max, ms |\n");
    text.append("|---|---|---|---|---|---|---|---|---|\n");
    for (GatlingReport report : arm) {
      for (GatlingReport.Row row : report.rows()) {
        text.append("| ").append(report.name()).append(" | ").append(row.name());
        text.append(row.isWarmUp() ? " (warm-up) | " : " | ");
        text.append(row.total()).append(" | ").append(row.ko());
        for (int percent : PERCENTS) {
          text.append(" | ").append(millis(row.printed(percent)));
        }
        text.append(" | ").append(millis(row.max())).append(" |\n");
      }
    }
    GatlingVerdict verdict = GatlingVerdict.of(arm);
    text.append("\nverdict: **").append(verdict.verdict()).append("**\n\n");
    for (GatlingVerdict.Finding finding : verdict.findings()) {
      text.append(
          String.format(
              Locale.ROOT,
              "- %s [%s]: %s (limit %s); %s%n",
              finding.rule(),
              finding.verdict(),
              finding.observed(),
              finding.limit(),
              finding.advice()));
    }
    return text.toString();
  }

  private static String millis(double value) {
    return Double.isNaN(value) ? "not enough samples" : String.format(Locale.ROOT, "%.0f", value);
  }
}

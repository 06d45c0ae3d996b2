package io.pqcbench.analysis.report;

import io.pqcbench.analysis.Claims;
import io.pqcbench.analysis.Comparison;
import io.pqcbench.analysis.Report;
import io.pqcbench.analysis.statistics.Interval;
import io.pqcbench.analysis.statistics.Quantiles;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The short form of a report, for a pull request. */
public final class Markdown {

  private static final List<String> COLUMNS =
      List.of("response.p50", "response.p99", "handshake.p50", "handshake.p99");

  private final StringBuilder text = new StringBuilder();

  private Markdown() {}

  /** Returns a report as Markdown. */
  public static String of(Report report) {
    Markdown markdown = new Markdown();
    markdown.head(report);
    markdown.arms(report);
    markdown.comparisons(report);
    markdown.split(report);
    markdown.variance(report);
    markdown.claims(report);
    return markdown.text.toString();
  }

  private void line(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  private void head(Report report) {
    line("# %s", report.title());
    line("");
    if (report.question() != null) {
      line("%s", report.question());
      line("");
    }
    if (!report.complete()) {
      line("**Not complete: it was interrupted.**");
      line("");
    }
  }

  /** The unit is the trial: medians and ranges over trials, never pooled. */
  private void arms(Report report) {
    line("Median of the trials (smallest to largest), us:");
    line("");
    line("| arm | trials | verdicts | %s |", String.join(" | ", COLUMNS));
    line("|---|---|---|%s", "---|".repeat(COLUMNS.size()));
    for (Report.Arm arm : report.arms()) {
      List<Report.TrialOf> trials =
          report.trials().stream().filter(trial -> trial.arm().equals(arm.name())).toList();
      List<String> cells = new ArrayList<>();
      for (String column : COLUMNS) {
        cells.add(spread(trials, column));
      }
      line(
          "| %s%s | %d | %s | %s |",
          arm.name(),
          arm.again() ? " (A/A)" : "",
          arm.trials(),
          verdicts(trials),
          String.join(" | ", cells));
    }
    line("");
  }

  private static String verdicts(List<Report.TrialOf> trials) {
    return trials.stream()
        .map(trial -> trial.what().verdict())
        .distinct()
        .sorted()
        .map(
            verdict ->
                trials.stream().filter(t -> t.what().verdict().equals(verdict)).count()
                    + " "
                    + verdict)
        .reduce((a, b) -> a + ", " + b)
        .orElse("-");
  }

  private static String spread(List<Report.TrialOf> trials, String column) {
    double[] values =
        trials.stream()
            .mapToDouble(trial -> trial.what().figure(column))
            .filter(value -> !Double.isNaN(value))
            .sorted()
            .toArray();
    if (values.length == 0) {
      return "not enough samples";
    }
    double median = Quantiles.median(values);
    return values.length == 1
        ? String.format(Locale.ROOT, "%.1f", median)
        : String.format(
            Locale.ROOT, "%.1f (%.1f to %.1f)", median, values[0], values[values.length - 1]);
  }

  /** Where more effort would help: in longer trials, or in more of them. */
  private void variance(Report report) {
    List<String> lines = new ArrayList<>();
    for (Report.Arm arm : report.arms()) {
      var variance = arm.variance();
      if (!Double.isNaN(variance.withinTrial())) {
        lines.add(
            String.format(
                Locale.ROOT,
                "- %s: %.1f between samples, which leaves %.1f in a trial's mean; %.1f between"
                    + " trials%s",
                arm.name(),
                variance.withinTrial(),
                variance.ofATrialsMean(),
                variance.betweenTrials(),
                variance.hosts() < 2
                    ? ""
                    : String.format(
                        Locale.ROOT,
                        "; %.1f between %d machines",
                        variance.betweenHosts(),
                        variance.hosts())));
      }
    }
    if (!lines.isEmpty()) {
      line("Standard deviations of the handshake, us:");
      line("");
      lines.forEach(text -> line("%s", text));
      line("");
    }
  }

  private void comparisons(Report report) {
    List<Comparison> primary = report.comparisons().stream().filter(Comparison::primary).toList();
    if (primary.isEmpty()) {
      return;
    }
    line("Differences from the baseline, by block, us:");
    line("");
    line(
        "| comparison | blocks | shift | interval | two-level bootstrap | p (Holm) | margin |"
            + " conclusion |");
    line("|---|---|---|---|---|---|---|---|");
    for (Comparison c : primary) {
      if (c.shift() == null) {
        line("| %s, %s | 0 | | | | | | no block has both |", c.arm(), c.metric());
        continue;
      }
      Interval shift = c.shift().shift();
      line(
          "| %s%s, %s | %d | %+.1f | %s | %s | %s | %s | %s |",
          c.arm(),
          c.again() ? " (A/A)" : "",
          c.metric(),
          c.differences().size(),
          shift.estimate(),
          shift.exists()
              ? String.format(
                  Locale.ROOT,
                  "%+.1f to %+.1f (%.1f %%)",
                  shift.low(),
                  shift.high(),
                  100 * shift.confidence())
              : "none at 95 %",
          c.bootstrap() == null
              ? "-"
              : String.format(
                  Locale.ROOT, "%+.1f to %+.1f", c.bootstrap().low(), c.bootstrap().high()),
          Double.isNaN(c.adjustedP())
              ? String.format(Locale.ROOT, "%.3g, not adjusted", c.shift().p())
              : String.format(Locale.ROOT, "%.3g", c.adjustedP()),
          Double.isNaN(c.margin()) ? "-" : String.format(Locale.ROOT, "%.1f", c.margin()),
          c.conclusion().name().toLowerCase(Locale.ROOT).replace('_', ' '));
    }
    line("");
  }

  private void split(Report report) {
    if (report.split().isEmpty()) {
      return;
    }
    line("Where the mean differs, us (lag, connect, hello, flight, finish, request to last byte):");
    line("");
    for (Report.Split split : report.split()) {
      List<String> parts = new ArrayList<>();
      split
          .parts()
          .forEach(
              (phase, c) ->
                  parts.add(
                      String.format(Locale.ROOT, "%s %+.1f", phase, c.shift().shift().estimate())));
      line(
          "- %s against %s: %s; client CPU %+.1f us a handshake; handshake bytes %+.0f out, %+.0f"
              + " in",
          split.arm(),
          split.baseline(),
          String.join(", ", parts),
          split.cpuMicros(),
          split.bytesOut(),
          split.bytesIn());
    }
    line("");
  }

  private void claims(Report report) {
    line("## What these numbers can and cannot support");
    claims(report, "They support:", true);
    claims(report, "They do not, or it has to be known:", false);
  }

  private void claims(Report report, String heading, boolean supported) {
    List<Claims.Claim> claims =
        report.claims().stream().filter(claim -> claim.supported() == supported).toList();
    if (!claims.isEmpty()) {
      line("");
      line("%s", heading);
      line("");
      claims.forEach(claim -> line("- **%s**: %s", claim.topic(), claim.text()));
    }
  }
}

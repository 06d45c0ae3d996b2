package io.pqcbench.analysis;

import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.statistics.Holm;
import io.pqcbench.analysis.statistics.Quantiles;
import io.pqcbench.analysis.statistics.Shift;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two experiments of different days, arm by arm, and conditions that must not come true: for a
 * nightly job that has to tell a slower server from a noisy night.
 *
 * @param rows one an arm and metric
 */
public record Regression(List<Row> rows) {

  /**
   * What became of one figure.
   *
   * @param arm by name, the same in both
   * @param metric such as {@code handshake.p99}
   * @param before median over the trials of the first, microseconds
   * @param after median over the trials of the second, microseconds
   * @param trialsBefore how many the first has
   * @param trialsAfter how many the second has
   * @param shift of the second; the trials do not belong together in pairs
   * @param adjustedP by Holm over all rows
   * @param broken conditions that came true and are significant
   * @param unsure conditions that came true in numbers and are not significant
   */
  public record Row(
      String arm,
      String metric,
      double before,
      double after,
      int trialsBefore,
      int trialsAfter,
      Shift.Result shift,
      double adjustedP,
      List<String> broken,
      List<String> unsure) {}

  /**
   * A condition such as {@code handshake.p99 > +10%}, {@code hybrid:response.p50 > +200us} or
   * {@code handshake.p50 < -5%}.
   *
   * @param text as it was given
   * @param arm to which it applies; null for all
   * @param metric it is about
   * @param more whether it comes true above the limit; else below
   * @param limit of the change, microseconds or percent
   * @param percent which of them
   */
  public record Condition(
      String text, String arm, String metric, boolean more, double limit, boolean percent) {

    private static final Pattern FORM =
        Pattern.compile(
            "(?:([A-Za-z0-9@=._/-]+):)?([a-z]+\\.(?:p50|p90|p95|p99|p99\\.9|mean))"
                + "\\s*([<>])\\s*([+-]?\\d+(?:\\.\\d+)?)\\s*(%|us|ms)");

    /**
     * Reads a condition.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Condition parse(String text) {
      Matcher matcher = FORM.matcher(text.strip());
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            "a condition has the form [ARM:]PHASE.FIGURE > CHANGE, e.g. 'handshake.p99 > +10%' or"
                + " 'hybrid:response.p50 > +200us': condition='"
                + text
                + "'");
      }
      double limit = Double.parseDouble(matcher.group(4));
      return new Condition(
          text.strip(),
          matcher.group(1),
          matcher.group(2),
          matcher.group(3).equals(">"),
          matcher.group(5).equals("ms") ? limit * 1000 : limit,
          matcher.group(5).equals("%"));
    }

    private boolean comesTrue(double before, double shift) {
      double change = percent ? 100 * shift / before : shift;
      return more ? change > limit : change < limit;
    }
  }

  /** Returns whether a condition came true beyond what chance explains. */
  public boolean fails() {
    return rows.stream().anyMatch(row -> !row.broken().isEmpty());
  }

  /**
   * Compares.
   *
   * @param first experiment's directory
   * @param second experiment's directory
   * @param conditions that must not come true; empty to compare only
   */
  public static Regression of(Path first, Path second, List<Condition> conditions)
      throws UnreadableException, IOException {
    Experiment before = Experiment.read(List.of(first));
    Experiment after = Experiment.read(List.of(second));
    List<String> metrics = new ArrayList<>(List.of("handshake.p50", "response.p99"));
    conditions.stream()
        .map(Condition::metric)
        .filter(metric -> !metrics.contains(metric))
        .forEach(metrics::add);
    List<Row> rows = new ArrayList<>();
    for (Experiment.Arm arm : before.arms()) {
      if (after.arms().stream().anyMatch(other -> other.name().equals(arm.name()))) {
        for (String metric : metrics) {
          double[] old = figures(before, arm.name(), metric);
          double[] now = figures(after, arm.name(), metric);
          if (old.length > 0 && now.length > 0) {
            rows.add(
                new Row(
                    arm.name(),
                    metric,
                    Quantiles.median(old),
                    Quantiles.median(now),
                    old.length,
                    now.length,
                    Shift.unpaired(old, now, 1 - Comparison.ALPHA),
                    Double.NaN,
                    List.of(),
                    List.of()));
          }
        }
      }
    }
    if (rows.isEmpty()) {
      throw new UnreadableException(
          "the experiments have no arm with trials in common: " + first + " " + second);
    }
    double[] adjusted = Holm.adjust(rows.stream().mapToDouble(row -> row.shift().p()).toArray());
    List<Row> judged = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      judged.add(judge(rows.get(i), adjusted[i], conditions));
    }
    return new Regression(judged);
  }

  private static Row judge(Row row, double adjustedP, List<Condition> conditions) {
    List<String> broken = new ArrayList<>();
    List<String> unsure = new ArrayList<>();
    for (Condition condition : conditions) {
      boolean applies =
          condition.metric().equals(row.metric())
              && (condition.arm() == null || condition.arm().equals(row.arm()));
      if (applies && condition.comesTrue(row.before(), row.shift().shift().estimate())) {
        (adjustedP <= Comparison.ALPHA ? broken : unsure).add(condition.text());
      }
    }
    return new Row(
        row.arm(),
        row.metric(),
        row.before(),
        row.after(),
        row.trialsBefore(),
        row.trialsAfter(),
        row.shift(),
        adjustedP,
        broken,
        unsure);
  }

  /** Returns what an arm's trials that count have, the smallest first. */
  private static double[] figures(Experiment experiment, String arm, String metric) {
    return experiment.present(arm, false).stream()
        .mapToDouble(trial -> trial.figure(metric))
        .filter(value -> !Double.isNaN(value))
        .sorted()
        .toArray();
  }

  /** Returns the comparison as a Markdown table, with what came true below it. */
  public String toMarkdown() {
    StringBuilder text =
        new StringBuilder(
            "| arm | figure | before, us | after, us | shift, us | interval, us | p (Holm) | trials"
                + " |\n|---|---|---|---|---|---|---|---|\n");
    List<String> notes = new ArrayList<>();
    for (Row row : rows) {
      var shift = row.shift().shift();
      text.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %.1f | %.1f | %+.1f (%+.1f %%) | %s | %.3g | %d, %d |%n",
              row.arm(),
              row.metric(),
              row.before(),
              row.after(),
              shift.estimate(),
              100 * shift.estimate() / row.before(),
              shift.exists()
                  ? String.format(Locale.ROOT, "%+.1f to %+.1f", shift.low(), shift.high())
                  : "none at 95 %",
              row.adjustedP(),
              row.trialsBefore(),
              row.trialsAfter()));
      for (String condition : row.broken()) {
        notes.add("FAILED " + condition + " (" + row.arm() + ")");
      }
      for (String condition : row.unsure()) {
        notes.add(
            String.format(
                Locale.ROOT,
                "not significant: %s (%s), p = %.3g; so many trials can give %.3g at best",
                condition,
                row.arm(),
                row.adjustedP(),
                row.shift().smallestP()));
      }
    }
    notes.forEach(note -> text.append('\n').append(note).append('\n'));
    return text.toString();
  }
}

package io.pqcbench.analysis.gatling;

import io.pqcbench.analysis.gatling.GatlingReport.Row;
import io.pqcbench.analysis.statistics.Quantiles;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What this project says about an arm of which only Gatling's reports are left: the rules of
 * loadgen's own verdict, as far as a page has the numbers for them. A page says nothing about the
 * machine, the negotiated group or the plan, so this verdict can only be too mild.
 */
public final class GatlingVerdict {

  /** One in a thousand: fewer cannot move a p99. */
  private static final double KO_LIMIT = 0.001;

  /** Gatling's clock ({@code clock.nowMillis}). */
  private static final double STEP_MILLIS = 1;

  /** More than this, and the figure itself is in doubt. */
  private static final double COARSE = 0.1;

  /** Below this a step of the clock is more than a tenth of what is measured. */
  private static final double COARSE_BELOW_MILLIS = STEP_MILLIS / COARSE;

  /** Six against six, or six pairs: the fewest that METHOD.md (B1) lets claim anything. */
  private static final int LEAST_REPORTS = 6;

  /** What is published as a difference; the same as in the rest of the analysis. */
  private static final double ALPHA = 0.05;

  private static final int[] PERCENTS = {50, 75, 95, 99};

  private final List<GatlingReport> arm;
  private final List<Finding> findings = new ArrayList<>();
  private final Level verdict;

  /** Whether numbers may be believed; from the best to the worst, as loadgen has it. */
  public enum Level {
    /** No rule objects; or a finding that only has to be known. */
    TRUSTED,
    /** The numbers are there, with a doubt that is named. */
    SUSPECT,
    /** The client could not offer the load: the numbers measure the client. */
    SATURATED,
    /** What was asked for was not measured. */
    INVALID
  }

  /**
   * One thing that speaks against the numbers, or that has to be known to read them.
   *
   * @param rule its name, stable, for scripts and tests
   * @param verdict what the arm becomes by it; TRUSTED for what only has to be known
   * @param observed what was seen, with its unit; it names the report if there are several
   * @param limit what is allowed, with its unit
   * @param advice what to do next
   */
  public record Finding(String rule, Level verdict, String observed, String limit, String advice) {}

  private GatlingVerdict(List<GatlingReport> arm) {
    this.arm = List.copyOf(arm);
    for (GatlingReport report : this.arm) {
      if (report.measuredRows().stream().allMatch(row -> row.total() == 0)) {
        add(
            "nothing-measured",
            Level.INVALID,
            which(report) + "no request but those of a warm-up",
            "at least 1",
            "give the report of a run that was long enough");
      }
      failures(report);
      findings.addAll(Saturation.of(report, which(report)));
      warmUp(report);
      tails(report);
      estimates(report);
    }
    resolution();
    tooFew();
    add(
        "coordinated-omission",
        Level.TRUSTED,
        "times count from the send, not from when the request was due",
        "from when it was due",
        "a stall of the client delays the send and is in no time: a tail here is a lower bound, and"
            + " is to be compared with loadgen's service, not with its response");
    // Stable, so that the order of reports is kept.
    findings.sort(Comparator.comparing(Finding::verdict).reversed());
    this.verdict = findings.get(0).verdict();
  }

  /**
   * Judges what is left of an arm.
   *
   * @param arm all reports of it, one a trial, in any order
   * @throws IllegalArgumentException if there is none
   */
  public static GatlingVerdict of(List<GatlingReport> arm) {
    if (arm.isEmpty()) {
      throw new IllegalArgumentException("an arm needs a report: reports=0");
    }
    return new GatlingVerdict(arm);
  }

  /** Returns the gravest of what the findings say. */
  public Level verdict() {
    return verdict;
  }

  /** Returns what speaks against the arm, the gravest first; never empty. */
  public List<Finding> findings() {
    return List.copyOf(findings);
  }

  /**
   * Returns the smallest two-sided p that a comparison of so many reports with so many others can
   * give, whatever was measured: two of all ways to deal the 2n reports into two arms are as
   * extreme as the most extreme one (Mann-Whitney without ties).
   *
   * @param reports of an arm, 1 or more
   */
  public static double smallestP(int reports) {
    double ways = 1;
    for (int i = 1; i <= reports; i++) {
      ways = ways * (reports + i) / i;
    }
    return 2 / ways;
  }

  private void add(String rule, Level level, String observed, String limit, String advice) {
    findings.add(new Finding(rule, level, observed, limit, advice));
  }

  /** Returns a name to begin a sentence with, if there is a choice. */
  private String which(GatlingReport report) {
    return arm.size() == 1 ? "" : report.name() + ": ";
  }

  private void failures(GatlingReport report) {
    for (Row row : report.measuredRows()) {
      if (row.koShare() > KO_LIMIT) {
        add(
            "ko",
            Level.INVALID,
            which(report)
                + text(
                    "%d of %d \"%s\" failed (%.2f %%)",
                    row.ko(), row.total(), row.name(), 100 * row.koShare()),
            text("%.1f %%", 100 * KO_LIMIT),
            "times of failed requests are among the others in the row: find the cause in the"
                + " report's errors, measure again");
      }
    }
  }

  private void warmUp(GatlingReport report) {
    long mixed = report.all().total();
    long warmUp = 0;
    for (Row row : report.rows()) {
      warmUp += row.isWarmUp() ? row.total() : 0;
    }
    if (warmUp > 0) {
      add(
          "mixed-row",
          Level.TRUSTED,
          which(report)
              + text(
                  "%d of the %d requests of the row \"%s\" are a warm-up",
                  warmUp, mixed, report.all().name()),
          "0",
          "read the rows of the requests: a warm-up moves every percentile of the sum");
    }
  }

  private void tails(GatlingReport report) {
    for (Row row : report.measuredRows()) {
      for (int percent : PERCENTS) {
        if (row.total() > 0 && row.total() < Quantiles.leastToPrint(percent / 100.0)) {
          add(
              "percentile",
              Level.TRUSTED,
              which(report)
                  + text(
                      "p%d of \"%s\" is not printed, it has only %d values",
                      percent, row.name(), row.total()),
              text("%d values, ten of them beyond it", Quantiles.leastToPrint(percent / 100.0)),
              "let it run longer");
        }
      }
    }
  }

  /**
   * Gatling estimates percentiles (AVLTreeDigest), and anew with other dice for each row. How far
   * that can be off shows where two rows are of the same requests.
   */
  private void estimates(GatlingReport report) {
    Row all = report.all();
    List<Row> twins = report.rows().stream().filter(row -> row.total() == all.total()).toList();
    for (Row row : twins) {
      for (int percent : PERCENTS) {
        double one = all.printed(percent);
        double other = row.printed(percent);
        double apart = Math.abs(other - one);
        // False for what is not printed.
        if (apart > STEP_MILLIS && apart > COARSE * Math.min(one, other)) {
          add(
              "estimated-percentile",
              Level.SUSPECT,
              which(report)
                  + text(
                      "p%d of the same %d requests is %.0f ms in the row \"%s\" and %.0f ms in the"
                          + " row \"%s\"",
                      percent, row.total(), one, all.name(), other, row.name()),
              text("%.0f %% apart", 100 * COARSE),
              "Gatling estimates percentiles, with chance in it: believe none of the two, and no"
                  + " difference between reports that is not larger");
        }
      }
    }
  }

  private void resolution() {
    Row fastest = null;
    for (GatlingReport report : arm) {
      for (Row row : report.measuredRows()) {
        if (!Double.isNaN(row.p50()) && (fastest == null || row.p50() < fastest.p50())) {
          fastest = row;
        }
      }
    }
    if (fastest != null) {
      add(
          "resolution",
          fastest.p50() < COARSE_BELOW_MILLIS ? Level.SUSPECT : Level.TRUSTED,
          text(
              "times are whole milliseconds, the p50 of \"%s\" is %.0f ms",
              fastest.name(), fastest.p50()),
          text("a p50 of %.0f ms", COARSE_BELOW_MILLIS),
          text(
              "differences below %.0f ms cannot be seen in these reports, and one of %.0f ms may be"
                  + " rounding",
              STEP_MILLIS, STEP_MILLIS));
    }
  }

  private void tooFew() {
    int n = arm.size();
    if (n < LEAST_REPORTS) {
      double paired = Math.scalb(1.0, 1 - n);
      add(
          "too-few-reports",
          Level.SUSPECT,
          n == 1 ? "1 report" : n + " reports",
          LEAST_REPORTS + " an arm",
          text(
              "the smallest two-sided p of %d against %d is %.2g, and of %d pairs %.2g, whatever"
                  + " was measured: %s",
              n,
              n,
              smallestP(n),
              n,
              paired,
              smallestP(n) > ALPHA
                  ? "no p below 0.05 is possible, so no difference can be claimed"
                  : text(
                      "no p below 0.05 is possible with pairs, and without them only if at most"
                          + " %.0f are compared (Holm)",
                      Math.floor(ALPHA / smallestP(n)))));
    }
  }

  static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}

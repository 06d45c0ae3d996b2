package io.pqcbench.analysis.gatling;

import io.pqcbench.analysis.gatling.GatlingReport.Row;
import io.pqcbench.analysis.gatling.GatlingReport.Second;
import io.pqcbench.analysis.statistics.Quantiles;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * What this project says about an arm of which only Gatling's reports are left: the rules of
 * loadgen's own verdict, as far as a page has the numbers for them. A page says nothing about the
 * machine, the negotiated group or the plan, so this verdict can only be too mild.
 *
 * <p>The rules of saturation are for an open model with a constant rate, which is what a benchmark
 * of latency needs. A page does not say which model it was: in a closed one, and on a ramp, they
 * object to what was asked for.
 */
public final class GatlingVerdict {

  /**
   * A steady system answers as many as arrive; the same limit as loadgen's for the last third
   * against the first.
   */
  private static final double LEAST_ANSWERED = 0.98;

  /**
   * A queue that grows from nothing has five times the wait in its last third as in its first (5/6
   * against 1/6 of its end); noise and a slow start do not come to three.
   */
  private static final double MEAN_GROWTH = 3;

  /** Ten steps of Gatling's clock; from 1 to 3 ms is threefold, too, and may be rounding. */
  private static final double MEAN_GROWTH_MILLIS = 10;

  /** With fewer users in a third, what is in flight at its two ends weighs too much. */
  private static final double LEAST_USERS = 500;

  /** A fixed rate on an idle machine has no reason to miss 1 %. */
  private static final double START_TOLERANCE = 0.01;

  /** At a low rate 1 % is less than a user, and one at either end can be in the next second. */
  private static final double START_TOLERANCE_USERS = 2;

  /** So many seconds below the rate are a client that cannot keep up, and not one stall. */
  private static final double SECONDS_SATURATED = 0.05;

  /** Two of them, so that one stall in a short run is none. */
  private static final int LEAST_SECONDS_SATURATED = 2;

  /** In a single second a stall of 50 ms is worth telling. */
  private static final double STALL = 0.05;

  /**
   * The median distance of a normal variable from its median, in standard deviations. Users that
   * scatter at least half as much as Poisson arrivals were asked to ({@code randomized()}).
   */
  private static final double NORMAL_MAD = 0.6745;

  /** Of randomized arrivals, one second in 30,000 is below this many standard deviations. */
  private static final double RANDOM_DEVIATIONS = 4;

  /** One in a thousand: fewer cannot move a p99. */
  private static final double KO_LIMIT = 0.001;

  /** Gatling's clock ({@code clock.nowMillis}). */
  private static final double STEP_MILLIS = 1;

  /** Below this a step of the clock is more than a tenth of what is measured. */
  private static final double COARSE_BELOW_MILLIS = 10;

  /** Six against six, or six pairs: the fewest that METHOD.md (B1) lets claim anything. */
  private static final int LEAST_REPORTS = 6;

  /** What is published as a difference; the same as in the rest of the analysis. */
  private static final double ALPHA = 0.05;

  private static final int[] PERCENTS = {50, 75, 95, 99};

  /** Stretches of seconds that a finding names; the rest is counted. */
  private static final int STRETCHES = 12;

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
      saturation(report);
      warmUp(report);
      tails(report);
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

  /**
   * Returns the measured seconds in which fewer users were started than the rate asks for, by more
   * than a rate that is kept can miss it; {@link Second#at()} of each. The rate is the median of
   * the measured seconds, because a page does not say what was planned.
   */
  public static List<Integer> secondsBehind(GatlingReport report) {
    return below(report.measuredSeconds(), START_TOLERANCE);
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

  private void saturation(GatlingReport report) {
    List<Second> measured = report.measuredSeconds();
    int third = measured.size() / 3;
    List<Second> first = measured.subList(0, third);
    List<Second> last = measured.subList(measured.size() - third, measured.size());
    if (report.seconds().isEmpty()) {
      add(
          "no-series",
          Level.SUSPECT,
          which(report) + "the page has no chart of users started",
          "users started and responses by the second",
          "it is of an older Gatling; whether the client kept the rate cannot be told from it");
      return;
    }
    if (Math.min(started(first), started(last)) < LEAST_USERS) {
      add(
          "too-short",
          Level.SUSPECT,
          which(report)
              + text(
                  "%d seconds were measured in full, with %.0f users in the last third of them",
                  measured.size(), started(last)),
          text("%.0f users in a third", LEAST_USERS),
          "whether responses keep up cannot be told from so few: let it run longer");
    } else {
      responses(report, measured, first, last);
      growth(report, first, last);
    }
    starts(report, measured);
  }

  /** Looks for users that were started and not answered. */
  private void responses(
      GatlingReport report, List<Second> measured, List<Second> first, List<Second> last) {
    // A user can have several requests, and the two charts count in slightly different steps, so
    // what a user is worth is taken from the page: from all that came in the end, or from the first
    // third if more came in it. The second before is the first with users, some of them.
    List<Second> all = report.seconds();
    List<Second> toTheEnd = all.subList(all.indexOf(measured.get(0)) - 1, all.size());
    double expected = Math.max(answered(first), answered(toTheEnd));
    if (answered(last) < LEAST_ANSWERED * expected) {
      add(
          "responses-behind",
          Level.SATURATED,
          which(report)
              + text(
                  "in %s came %.1f %% of the responses that the users started in them get",
                  span(last), 100 * answered(last) / expected),
          text("%.0f %%", 100 * LEAST_ANSWERED),
          "client or server cannot keep the rate, so times grow with the length of the run: lower"
              + " it");
    }
  }

  /** Looks for a queue that grows. */
  private void growth(GatlingReport report, List<Second> first, List<Second> last) {
    double before = mean(first);
    double after = mean(last);
    // False for what the page does not have.
    if (after > MEAN_GROWTH * before && after - before > MEAN_GROWTH_MILLIS) {
      add(
          "response-growth",
          Level.SATURATED,
          which(report)
              + text(
                  "the mean response time is %.0f ms in %s and %.0f ms in %s",
                  before, span(first), after, span(last)),
          text("%.0f times", MEAN_GROWTH),
          "a queue grows, so times depend on the length of the run: lower the rate");
    }
  }

  private void starts(GatlingReport report, List<Second> measured) {
    List<Integer> behind = below(measured, START_TOLERANCE);
    List<Integer> stalls = below(measured, STALL);
    boolean saturated =
        behind.size() >= LEAST_SECONDS_SATURATED
            && behind.size() > SECONDS_SATURATED * measured.size();
    if (!saturated && stalls.isEmpty()) {
      return;
    }
    List<Integer> named = saturated ? behind : stalls;
    double least = measured.stream().mapToDouble(Second::started).min().orElseThrow();
    add(
        "start-rate",
        saturated ? Level.SATURATED : Level.SUSPECT,
        which(report)
            + text(
                "in %d of %d seconds fewer users were started than %.0f a second, down to %.0f: %s",
                named.size(), measured.size(), rate(measured), least, stretches(named)),
        saturated
            ? text(
                "less than %.0f %% in %.0f %% of seconds",
                100 * START_TOLERANCE, 100 * SECONDS_SATURATED)
            : text("%.0f %% in a second", 100 * STALL),
        saturated
            ? "the client did not offer the rate, and what it sent late counts from the send: lower"
                + " the rate, or give it more CPU and ports"
            : "the client stalled, and what it sent late counts from the send: look at what ran"
                + " beside it");
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

  private static List<Integer> below(List<Second> seconds, double tolerance) {
    if (seconds.isEmpty()) {
      return List.of();
    }
    double rate = rate(seconds);
    double[] distances =
        seconds.stream().mapToDouble(s -> Math.abs(s.started() - rate)).sorted().toArray();
    double poisson = Math.sqrt(rate);
    double limit =
        median(distances) > NORMAL_MAD / 2 * poisson
            ? rate - Math.max(tolerance * rate, RANDOM_DEVIATIONS * poisson)
            : rate - Math.max(tolerance * rate, START_TOLERANCE_USERS);
    return seconds.stream().filter(s -> s.started() < limit).map(Second::at).toList();
  }

  /** Returns what was to be started in each second, as far as a page can say. */
  private static double rate(List<Second> seconds) {
    double median = median(seconds.stream().mapToDouble(Second::started).sorted().toArray());
    double mean = started(seconds) / seconds.size();
    // Of users that come in bursts more than half of the seconds can be without any.
    return median < mean / 2 ? mean : median;
  }

  private static double median(double[] sorted) {
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  private static double started(List<Second> seconds) {
    return seconds.stream().mapToDouble(Second::started).sum();
  }

  private static double answered(List<Second> seconds) {
    return seconds.stream().mapToDouble(Second::responses).sum() / started(seconds);
  }

  /** Returns the mean of what was sent in these seconds, milliseconds; NaN if it is unknown. */
  private static double mean(List<Second> seconds) {
    double sum = 0;
    double weight = 0;
    for (Second second : seconds) {
      if (second.times() != null) {
        sum += second.times().mean() * second.requests();
        weight += second.requests();
      }
    }
    return sum / weight;
  }

  private static String span(List<Second> seconds) {
    return "seconds " + seconds.get(0).at() + " to " + seconds.get(seconds.size() - 1).at();
  }

  /** Returns such as "seconds 3, 5-9, 12". */
  private static String stretches(List<Integer> seconds) {
    List<String> names = new ArrayList<>();
    int unnamed = 0;
    for (int i = 0; i < seconds.size(); ) {
      int end = i;
      while (end + 1 < seconds.size() && seconds.get(end + 1) == seconds.get(end) + 1) {
        end++;
      }
      if (names.size() == STRETCHES) {
        unnamed += end - i + 1;
      } else {
        names.add(end == i ? seconds.get(i).toString() : seconds.get(i) + "-" + seconds.get(end));
      }
      i = end + 1;
    }
    return (seconds.size() == 1 ? "second " : "seconds ")
        + String.join(", ", names)
        + (unnamed == 0 ? "" : " and " + unnamed + " more");
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}

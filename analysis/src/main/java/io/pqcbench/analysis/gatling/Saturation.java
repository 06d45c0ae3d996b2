package io.pqcbench.analysis.gatling;

import static io.pqcbench.analysis.gatling.GatlingVerdict.text;

import io.pqcbench.analysis.gatling.GatlingReport.Second;
import io.pqcbench.analysis.gatling.GatlingVerdict.Finding;
import io.pqcbench.analysis.gatling.GatlingVerdict.Level;
import io.pqcbench.analysis.statistics.Quantiles;
import java.util.ArrayList;
import java.util.List;

/**
 * Whether the rate was kept, by what a page has second by second: users started, responses, and
 * response times.
 *
 * <p>The rules are for an open model with a constant rate, which is what a benchmark of latency
 * needs. A page does not say which model it was: in a closed one, and on a ramp, they object to
 * what was asked for.
 */
final class Saturation {

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

  /**
   * In a single second a stall of 50 ms is worth telling; the same limit as loadgen's. A client
   * that keeps its rate misses some seconds by up to 5 %, and makes up for them in the next, when
   * the machine has something else to do.
   */
  private static final double SECOND_TOLERANCE = 0.05;

  /** At a low rate 5 % is less than a user, and one at either end can be in the next second. */
  private static final double SECOND_TOLERANCE_USERS = 2;

  /** So many seconds below the rate are a client that cannot keep up, and not one stall. */
  private static final double SECONDS_SATURATED = 0.05;

  /** Two of them, so that one stall in a short run is none. */
  private static final int LEAST_SECONDS_SATURATED = 2;

  /**
   * The median distance of a normal variable from its median, in standard deviations. Users that
   * scatter at least half as much as Poisson arrivals were asked to ({@code randomized()}).
   */
  private static final double NORMAL_MAD = 0.6745;

  /** Of randomized arrivals, one second in 30,000 is below this many standard deviations. */
  private static final double RANDOM_DEVIATIONS = 4;

  /** Stretches of seconds that a finding names; the rest is counted. */
  private static final int STRETCHES = 12;

  private final GatlingReport report;
  private final String name;
  private final List<Finding> findings = new ArrayList<>();

  private Saturation(GatlingReport report, String name) {
    this.report = report;
    this.name = name;
  }

  /**
   * Returns what speaks against the rate of a report; empty if nothing does.
   *
   * @param name to begin what was observed with
   */
  static List<Finding> of(GatlingReport report, String name) {
    Saturation saturation = new Saturation(report, name);
    saturation.judge();
    return saturation.findings;
  }

  /**
   * Returns the seconds in which fewer users were started than the rate asks for, by more than a
   * rate that is kept can miss it; {@link Second#at()} of each.
   *
   * @param measured the seconds that were measured in full
   */
  static List<Integer> secondsBehind(List<Second> measured) {
    if (measured.isEmpty()) {
      return List.of();
    }
    double rate = rate(measured);
    double distance =
        Quantiles.median(measured.stream().mapToDouble(s -> Math.abs(s.started() - rate)));
    double poisson = Math.sqrt(rate);
    double limit =
        distance > NORMAL_MAD / 2 * poisson
            ? rate - Math.max(SECOND_TOLERANCE * rate, RANDOM_DEVIATIONS * poisson)
            : rate - Math.max(SECOND_TOLERANCE * rate, SECOND_TOLERANCE_USERS);
    return measured.stream().filter(s -> s.started() < limit).map(Second::at).toList();
  }

  private void add(String rule, Level level, String observed, String limit, String advice) {
    findings.add(new Finding(rule, level, observed, limit, advice));
  }

  private void judge() {
    List<Second> measured = report.measuredSeconds();
    int third = measured.size() / 3;
    List<Second> first = measured.subList(0, third);
    List<Second> last = measured.subList(measured.size() - third, measured.size());
    if (report.seconds().isEmpty()) {
      add(
          "no-series",
          Level.SUSPECT,
          name + "the page has no chart of users started",
          "users started and responses by the second",
          "it is of an older Gatling; whether the client kept the rate cannot be told from it");
      return;
    }
    if (Math.min(started(first), started(last)) < LEAST_USERS) {
      add(
          "too-short",
          Level.SUSPECT,
          name
              + text(
                  "%d seconds were measured in full, with %.0f users in the last third of them",
                  measured.size(), started(last)),
          text("%.0f users in a third", LEAST_USERS),
          "whether responses keep up cannot be told from so few: let it run longer");
    } else {
      responses(measured, first, last);
      growth(first, last);
    }
    starts(measured);
  }

  /** Looks for users that were started and not answered. */
  private void responses(List<Second> measured, List<Second> first, List<Second> last) {
    // A user can have several requests, and the two charts count in slightly different steps, so
    // what a user is worth is taken from the page: from all that came in the end, or by the end of
    // the first third if more came by then. It is counted from the second with the first users,
    // because what a cold client answers late is in the first third, and is no more than it gets.
    List<Second> all = report.seconds();
    int from = all.indexOf(measured.get(0)) - 1;
    double expected =
        Math.max(
            answered(all.subList(from, from + 1 + first.size())),
            answered(all.subList(from, all.size())));
    if (answered(last) < LEAST_ANSWERED * expected) {
      add(
          "responses-behind",
          Level.SATURATED,
          name
              + text(
                  "in %s came %.1f %% of the responses that the users started in them get",
                  span(last), 100 * answered(last) / expected),
          text("%.0f %%", 100 * LEAST_ANSWERED),
          "client or server cannot keep the rate, so times grow with the length of the run: lower"
              + " it");
    }
  }

  /** Looks for a queue that grows. */
  private void growth(List<Second> first, List<Second> last) {
    double before = mean(first);
    double after = mean(last);
    // False for what the page does not have.
    if (after > MEAN_GROWTH * before && after - before > MEAN_GROWTH_MILLIS) {
      add(
          "response-growth",
          Level.SATURATED,
          name
              + text(
                  "the mean response time is %.0f ms in %s and %.0f ms in %s",
                  before, span(first), after, span(last)),
          text("%.0f times", MEAN_GROWTH),
          "a queue grows, so times depend on the length of the run: lower the rate");
    }
  }

  private void starts(List<Second> measured) {
    List<Integer> behind = secondsBehind(measured);
    if (behind.isEmpty()) {
      return;
    }
    boolean saturated =
        behind.size() >= LEAST_SECONDS_SATURATED
            && behind.size() > SECONDS_SATURATED * measured.size();
    double least = measured.stream().mapToDouble(Second::started).min().orElseThrow();
    add(
        "start-rate",
        saturated ? Level.SATURATED : Level.SUSPECT,
        name
            + text(
                "in %d of %d seconds fewer users were started than %.0f a second, down to %.0f: %s",
                behind.size(), measured.size(), rate(measured), least, stretches(behind)),
        text("%.0f %% less in a second", 100 * SECOND_TOLERANCE)
            + (saturated ? text(", in %.0f %% of seconds", 100 * SECONDS_SATURATED) : ""),
        saturated
            ? "the client did not offer the rate, and what it sent late counts from the send: lower"
                + " the rate, or give it more CPU and ports"
            : "the client stalled, and what it sent late counts from the send: look at what ran"
                + " beside it");
  }

  /** Returns what was to be started in each second: the median, as a page has no plan. */
  private static double rate(List<Second> seconds) {
    double median = Quantiles.median(seconds.stream().mapToDouble(Second::started));
    double mean = started(seconds) / seconds.size();
    // Of users that come in bursts more than half of the seconds can be without any.
    return median < mean / 2 ? mean : median;
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
}

package io.pqcbench.loadgen.verdict;

import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * Every rule and every threshold. They look at what was recorded; what else went on on the machine
 * (steal, run delay, collector) they do not see yet, and {@link #NOT_LOOKED_AT} says so wherever a
 * verdict is printed.
 */
public final class Rules {

  /** What no rule looks at. */
  public static final String NOT_LOOKED_AT =
      "steal, run delay, collector and safepoint pauses, network counters";

  /**
   * Lancet accepts 0.90 to 1.10 (lancet-tool, coordinator); a fixed rate on an idle machine has no
   * reason to miss 1 %.
   */
  private static final double ACHIEVED_TOLERANCE = 0.01;

  /**
   * In a single second a stall of 50 ms is worth telling; by Poisson's luck nothing changes, the
   * plan is compared.
   */
  private static final double SECOND_TOLERANCE = 0.05;

  /** So many seconds out of tolerance are a client that cannot keep up, and not one stall. */
  private static final double SECONDS_SATURATED = 0.05;

  /** One in a thousand: fewer cannot move a p99. */
  private static final double SKIPPED_LIMIT = 0.001;

  private static final double ERROR_LIMIT = 0.001;

  /**
   * A steady system completes as many as arrive; the first third is left for it to become steady.
   */
  private static final double TREND_LIMIT = 0.98;

  /** With fewer, what is in flight at the two ends weighs too much. */
  private static final long TREND_MIN_ARRIVALS = 500;

  /** A lateness of the client's own that stands in the response's tail. */
  private static final long LAG_MAX_NANOS = 10_000_000L;

  private Rules() {}

  /** The verdict and what speaks against the run. */
  public record Judgement(Verdict verdict, List<Finding> findings) {}

  /**
   * Judges the measured part of a run.
   *
   * @param record what was recorded
   * @param warmupNanos length of the part that is not measured
   * @param durationNanos length of the whole run as planned
   * @param scheduled arrivals of the whole run, each of which must have an outcome
   * @param interrupted whether it was stopped before its end
   */
  public static Judgement judge(
      RunRecord record, long warmupNanos, long durationNanos, long scheduled, boolean interrupted) {
    List<Finding> findings = new ArrayList<>();
    long planned = record.measuredCount();
    long successes = record.measured(Outcome.SUCCESS);
    if (successes == 0) {
      findings.add(
          new Finding(
              "no-success",
              Verdict.INVALID,
              "0 of " + planned + " succeeded",
              "at least 1",
              planned == 0 ? "let it run longer than its warm-up" : "see the errors"));
    }
    if (record.allCount() != scheduled) {
      findings.add(
          new Finding(
              "unaccounted",
              Verdict.INVALID,
              record.allCount() + " of " + scheduled + " arrivals have an outcome",
              "all",
              "this is a defect of loadgen, please report it"));
    }
    wrongHandshakes(record, findings);
    errors(record, planned, interrupted, findings);
    if (planned > 0) {
      skipped(record, planned, findings);
      perSecond(record.timeline(), warmupNanos, durationNanos, interrupted, findings);
      trend(record.timeline(), warmupNanos, durationNanos, interrupted, findings);
      lag(record, findings);
    }
    Verdict verdict = Verdict.TRUSTED;
    for (Finding finding : findings) {
      if (finding.level().compareTo(verdict) > 0) {
        verdict = finding.level();
      }
    }
    return new Judgement(verdict, List.copyOf(findings));
  }

  private static void wrongHandshakes(RunRecord record, List<Finding> findings) {
    for (Outcome wrong :
        List.of(
            Outcome.WRONG_GROUP,
            Outcome.WRONG_CIPHER,
            Outcome.RESUMED,
            Outcome.HELLO_RETRY,
            Outcome.CERTIFICATE_CHANGED)) {
      long count = record.measured(wrong);
      if (count > 0) {
        findings.add(
            new Finding(
                wrong.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                Verdict.INVALID,
                count + " handshakes: " + wrong.text(),
                "0",
                wrong == Outcome.HELLO_RETRY
                    ? "offer a group that the server prefers, so that no extra round trip is"
                        + " measured"
                    : "make the server negotiate one thing only, or name what is expected"));
      }
    }
  }

  private static void errors(
      RunRecord record, long planned, boolean interrupted, List<Finding> findings) {
    for (Outcome outcome : Outcome.values()) {
      boolean judgedElsewhere =
          switch (outcome) {
            case SUCCESS,
                SKIPPED,
                WRONG_GROUP,
                WRONG_CIPHER,
                RESUMED,
                HELLO_RETRY,
                CERTIFICATE_CHANGED ->
                true;
            default -> false;
          };
      long count = record.measured(outcome);
      // An interruption itself abandons what is in flight.
      boolean expected = interrupted && outcome == Outcome.ABANDONED;
      if (!judgedElsewhere && !expected && count > planned * ERROR_LIMIT) {
        boolean ours = outcome == Outcome.NO_PORT || outcome == Outcome.NO_FD;
        findings.add(
            new Finding(
                outcome.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                ours ? Verdict.SATURATED : Verdict.INVALID,
                percent(count, planned) + " of attempts: " + outcome.text(),
                percent(ERROR_LIMIT),
                ours
                    ? "the client's fault: see the warnings before the run"
                    : "see the errors, and the server's log"));
      }
    }
  }

  private static void skipped(RunRecord record, long planned, List<Finding> findings) {
    long skipped = record.measured(Outcome.SKIPPED);
    if (skipped > planned * SKIPPED_LIMIT) {
      findings.add(
          new Finding(
              "skipped",
              Verdict.SATURATED,
              percent(skipped, planned) + " of arrivals were not started",
              percent(SKIPPED_LIMIT),
              "the target, or this client, does not keep up with the rate: lower it, or raise"
                  + " --max-in-flight"));
    }
  }

  private static void perSecond(
      Timeline timeline,
      long warmupNanos,
      long durationNanos,
      boolean interrupted,
      List<Finding> findings) {
    int slots = (int) (1_000_000_000L / Timeline.SLOT_NANOS);
    int first = (int) ((warmupNanos + 999_999_999L) / 1_000_000_000L);
    int end = (int) (interrupted ? timeline.slots() / slots : durationNanos / 1_000_000_000L);
    int seconds = 0;
    int off = 0;
    double worst = 0;
    int worstAt = -1;
    for (int second = first; second < end; second++) {
      long planned = timeline.planned(second * slots, (second + 1) * slots);
      long started = timeline.started(second * slots, (second + 1) * slots);
      double deviation = Math.abs(started - planned) / (double) Math.max(1, planned);
      seconds++;
      // One arrival across the border of two seconds is no deviation, however low the rate.
      if (deviation > SECOND_TOLERANCE && Math.abs(started - planned) > 1) {
        off++;
      }
      if (deviation > worst) {
        worst = deviation;
        worstAt = second;
      }
    }
    if (off > 0) {
      long planned = timeline.planned(worstAt * slots, (worstAt + 1) * slots);
      long started = timeline.started(worstAt * slots, (worstAt + 1) * slots);
      boolean saturated = off > Math.max(1, seconds * SECONDS_SATURATED);
      findings.add(
          new Finding(
              "rate-per-second",
              saturated ? Verdict.SATURATED : Verdict.SUSPECT,
              off
                  + " of "
                  + seconds
                  + " seconds off, the worst at "
                  + worstAt
                  + " s: "
                  + started
                  + " of "
                  + planned
                  + " started",
              percent(SECOND_TOLERANCE) + " in each second",
              "the client was stalled or starved: give it an idle machine, or lower the rate"));
    }
    long planned = timeline.planned(first * slots, end * slots);
    long started = timeline.started(first * slots, end * slots);
    if (planned > 0 && Math.abs(started - planned) > Math.max(1, planned * ACHIEVED_TOLERANCE)) {
      findings.add(
          new Finding(
              "achieved-rate",
              Verdict.SATURATED,
              started + " of " + planned + " started in time",
              percent(ACHIEVED_TOLERANCE),
              "lower the rate, or give the client more CPU"));
    }
  }

  private static void trend(
      Timeline timeline,
      long warmupNanos,
      long durationNanos,
      boolean interrupted,
      List<Finding> findings) {
    int first = (int) ((warmupNanos + Timeline.SLOT_NANOS - 1) / Timeline.SLOT_NANOS);
    int end = (int) Math.min(timeline.slots(), durationNanos / Timeline.SLOT_NANOS);
    int from = first + (end - first) / 3;
    long planned = timeline.planned(from, end);
    if (interrupted || planned < TREND_MIN_ARRIVALS) {
      return;
    }
    double done = timeline.done(from, end) / (double) planned;
    if (done < TREND_LIMIT) {
      findings.add(
          new Finding(
              "completion-trend",
              Verdict.SATURATED,
              percent(done) + " of the arrivals of the last two thirds were done in them",
              "at least " + percent(TREND_LIMIT),
              "a queue is growing, at the target or here, or attempts fail: lower the rate"));
    }
  }

  private static void lag(RunRecord record, List<Finding> findings) {
    Histogram lag = record.total(Phase.LAG);
    Histogram handshake = record.total(Phase.HANDSHAKE);
    if (lag.getTotalCount() == 0) {
      return;
    }
    long p99 = lag.getValueAtPercentile(99);
    if (p99 > Math.max(LAG_MAX_NANOS, handshake.getValueAtPercentile(50))) {
      findings.add(
          new Finding(
              "lag",
              Verdict.SATURATED,
              "p99 " + millis(p99),
              millis(Math.max(LAG_MAX_NANOS, handshake.getValueAtPercentile(50))),
              "the client starts too late to say anything about a tail: lower the rate, or give it"
                  + " more CPU"));
    } else if (lag.getMaxValue() > LAG_MAX_NANOS) {
      findings.add(
          new Finding(
              "lag-max",
              Verdict.SUSPECT,
              millis(lag.getMaxValue()),
              millis(LAG_MAX_NANOS),
              "the client was late at least once; see the slow log before quoting a tail"));
    }
  }

  private static String percent(long part, long whole) {
    return percent(part / (double) whole);
  }

  private static String percent(double fraction) {
    return String.format(Locale.ROOT, "%.2f %%", fraction * 100);
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
  }
}

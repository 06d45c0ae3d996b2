package io.pqcbench.analysis;

import io.pqcbench.analysis.bundle.Calibration;
import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.statistics.Bootstrap;
import io.pqcbench.analysis.statistics.Interval;
import io.pqcbench.analysis.statistics.Position;
import io.pqcbench.analysis.statistics.Quantiles;
import io.pqcbench.analysis.statistics.Trend;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What the numbers of an experiment can and cannot support: sentences, each of which is computed
 * from the data, so that none of them says more than they do.
 */
public final class Claims {

  private static final String TRUSTED = "TRUSTED";

  /** Machines of a type differ; from fewer pairs nothing follows for others (METHOD.md, B3). */
  private static final int LEAST_HOSTS = 3;

  private final Experiment experiment;
  private final List<Comparison> comparisons;
  private final List<Comparison> withExcluded;
  private final List<Claim> claims = new ArrayList<>();

  /**
   * A sentence.
   *
   * @param topic what it is about, one or two words
   * @param supported whether it says what the numbers show, not what they cannot
   * @param text the sentence
   */
  public record Claim(String topic, boolean supported, String text) {}

  private Claims(
      Experiment experiment, List<Comparison> comparisons, List<Comparison> withExcluded) {
    this.experiment = experiment;
    this.comparisons = comparisons;
    this.withExcluded = withExcluded;
  }

  /**
   * Returns the sentences for an experiment, in the order in which a reader asks.
   *
   * @param comparisons of the trials that count
   * @param withExcluded the same with the trials that the plan excludes
   */
  public static List<Claim> of(
      Experiment experiment, List<Comparison> comparisons, List<Comparison> withExcluded) {
    Claims claims = new Claims(experiment, comparisons, withExcluded);
    claims.completeness();
    claims.differences();
    claims.noise();
    claims.drift();
    claims.position();
    claims.resampled();
    claims.clientShare();
    claims.exclusions();
    claims.saturation();
    claims.tails();
    claims.scope();
    claims.undeclared();
    return List.copyOf(claims.claims);
  }

  /** Returns the sentences for a calibration: what the load generator can be trusted with. */
  public static List<Claim> of(Calibration calibration) {
    List<Claim> claims = new ArrayList<>();
    boolean any = !Double.isNaN(calibration.highestTrusted());
    claims.add(
        new Claim(
            "rate",
            any,
            any
                ? String.format(
                    Locale.ROOT,
                    "The highest rate whose trial was trusted is %.0f/s; use no more than %.0f/s.",
                    calibration.highestTrusted(),
                    calibration.recommended())
                : "No trial was trusted, at no rate."));
    if (!calibration.gaveOut().isEmpty()) {
      claims.add(
          new Claim(
              "rate",
              false,
              "What gave out first: " + String.join(", ", calibration.gaveOut()) + "."));
    }
    if (calibration.sharesMachine()) {
      claims.add(
          new Claim(
              "machines",
              false,
              "Client and target shared a machine: alone, the client may be able to do more."));
    }
    claims.add(
        new Claim(
            "trials",
            false,
            "One short trial a rate: it says where to measure, not what a measurement gives."));
    return List.copyOf(claims);
  }

  private void yes(String topic, String format, Object... values) {
    claims.add(new Claim(topic, true, String.format(Locale.ROOT, format, values)));
  }

  private void no(String topic, String format, Object... values) {
    claims.add(new Claim(topic, false, String.format(Locale.ROOT, format, values)));
  }

  private void completeness() {
    if (!experiment.isComplete()) {
      no(
          "completeness",
          "The experiment was interrupted: %d of %d blocks have a trial of every arm. What is"
              + " missing was not chosen by its numbers, but it is missing.",
          completeBlocks(),
          experiment.blocks());
    }
  }

  private long completeBlocks() {
    long complete = 0;
    for (int block = 0; block < experiment.blocks(); block++) {
      int number = block;
      complete +=
          experiment.arms().stream()
                  .allMatch(arm -> experiment.trials(arm.name(), true).get(number) != null)
              ? 1
              : 0;
    }
    return complete;
  }

  private void differences() {
    for (Comparison comparison : comparisons) {
      if (comparison.primary() && !comparison.again()) {
        difference(comparison);
      }
    }
  }

  private void difference(Comparison c) {
    String what = c.metric() + " of " + c.arm() + " against " + c.baseline();
    if (c.shift() == null) {
      no("difference", "%s: no block has both, so nothing can be said.", what);
      return;
    }
    Interval shift = c.shift().shift();
    String size = String.format(Locale.ROOT, "%+.1f us", shift.estimate());
    String limits =
        shift.exists()
            ? String.format(
                Locale.ROOT,
                " (%.1f %% interval %+.1f to %+.1f us)",
                100 * shift.confidence(),
                shift.low(),
                shift.high())
            : "";
    switch (c.conclusion()) {
      case TOO_FEW_TRIALS ->
          no(
              "difference",
              "%s: %d blocks cannot give a p below %.3g, whatever was measured, so no difference"
                  + " can be claimed. The differences were %s us.",
              what,
              c.differences().size(),
              c.shift().smallestP(),
              range(c.differences()));
      case DIFFERENT ->
          yes(
              "difference",
              "%s: %s%s, p = %.2g%s.%s",
              what,
              size,
              limits,
              Double.isNaN(c.adjustedP()) ? c.shift().p() : c.adjustedP(),
              Double.isNaN(c.adjustedP()) ? "" : " after Holm",
              c.isBelowMargin()
                  ? String.format(
                      Locale.ROOT,
                      " It is smaller than the margin of %.1f us that was declared to matter.",
                      c.margin())
                  : "");
      case EQUIVALENT ->
          yes(
              "difference",
              "%s: no difference as large as the declared margin of %.1f us: %s%s, p = %.2g of one"
                  + " that large.",
              what,
              c.margin(),
              size,
              limits,
              c.equivalenceP());
      case UNDECIDED ->
          no(
              "difference",
              "%s: neither a difference nor its absence can be claimed: %s%s, p = %.2g%s. A shift"
                  + " below about %.0f us would have been missed one time in five or more often.",
              what,
              size,
              limits,
              Double.isNaN(c.adjustedP()) ? c.shift().p() : c.adjustedP(),
              Double.isNaN(c.adjustedP()) ? "" : " after Holm",
              c.smallest());
    }
  }

  private static String range(List<Double> values) {
    List<String> texts = new ArrayList<>();
    for (double value : values) {
      texts.add(String.format(Locale.ROOT, "%+.1f", value));
    }
    return String.join(", ", texts);
  }

  private void noise() {
    boolean any = false;
    for (Comparison c : comparisons) {
      if (!c.again() || !c.primary() || c.shift() == null) {
        continue;
      }
      any = true;
      Interval shift = c.shift().shift();
      if (c.shift().p() <= Comparison.ALPHA) {
        no(
            "noise floor",
            "The baseline differs from itself: %s by %+.1f us, p = %.2g. That happens by chance"
                + " once in %.0f experiments; if it happens again, the bench is at fault.",
            c.metric(),
            shift.estimate(),
            c.shift().p(),
            1 / Comparison.ALPHA);
      } else {
        yes(
            "noise floor",
            "The baseline against itself: %s differs by %+.1f us%s, which is nothing but noise.",
            c.metric(),
            shift.estimate(),
            shift.exists()
                ? String.format(Locale.ROOT, " (%+.1f to %+.1f)", shift.low(), shift.high())
                : "");
      }
    }
    if (!any) {
      no(
          "noise floor",
          "There was no A/A arm, so how large a difference this bench shows where there is none is"
              + " not known.");
    }
  }

  /** Whether what was measured later is slower, whatever the arm. */
  private void drift() {
    for (String metric : primaries()) {
      double[] residuals =
          residuals(metric).values().stream().mapToDouble(Double::doubleValue).toArray();
      if (residuals.length < Trend.LEAST) {
        continue;
      }
      Trend trend = Trend.of(residuals);
      if (trend.p() <= Comparison.ALPHA) {
        no(
            "drift",
            "%s %s over the experiment, whatever the arm (rank correlation %+.2f, p = %.2g). Blocks"
                + " keep it out of the differences, not out of the levels.",
            metric,
            trend.correlation() > 0 ? "rose" : "fell",
            trend.correlation(),
            trend.p());
      } else {
        yes(
            "drift",
            "%s: no drift over the experiment was found (rank correlation %+.2f, p = %.2g).",
            metric,
            trend.correlation(),
            trend.p());
      }
    }
  }

  /** Whether it matters at which place of its block a trial ran. */
  private void position() {
    for (String metric : primaries()) {
      double[][] blocks = byPosition(metric);
      if (blocks.length < Position.LEAST_BLOCKS || blocks[0].length < 2) {
        continue;
      }
      Position position = Position.of(blocks);
      if (position.p() <= Comparison.ALPHA) {
        no(
            "order",
            "%s depends on the place in the block, whatever the arm: %s us from the first place on,"
                + " p = %.2g. Random order keeps it out of the differences, and makes them"
                + " noisier.",
            metric,
            range(position.effects()),
            position.p());
      } else {
        yes(
            "order",
            "%s: that the place in the block mattered was not found (p = %.2g).",
            metric,
            position.p());
      }
    }
  }

  /** What the trials of each complete block have beyond their arms' medians, by their place. */
  private double[][] byPosition(String metric) {
    Map<Experiment.Trial, Double> residuals = residuals(metric);
    List<double[]> blocks = new ArrayList<>();
    for (int block = 1; block <= experiment.blocks(); block++) {
      int number = block;
      List<Experiment.Trial> trials =
          residuals.keySet().stream()
              // A repetition did not run at its place.
              .filter(trial -> trial.block() == number && trial.attempt() == 1)
              .sorted(Comparator.comparingInt(Experiment.Trial::position))
              .toList();
      if (trials.size() == experiment.arms().size()) {
        blocks.add(trials.stream().mapToDouble(residuals::get).toArray());
      }
    }
    return blocks.toArray(double[][]::new);
  }

  /** The bootstrap knows nothing of ranks: where it disagrees with them, that has to be said. */
  private void resampled() {
    for (Comparison c : comparisons) {
      if (c.bootstrap() == null || c.again()) {
        continue;
      }
      Interval interval = c.bootstrap();
      boolean differs = interval.low() > 0 || interval.high() < 0;
      boolean claimed = c.conclusion() == Comparison.Conclusion.DIFFERENT;
      String text =
          String.format(
              Locale.ROOT,
              "%s of %s: drawing blocks, and the samples within each trial, again gives %+.1f to"
                  + " %+.1f us",
              c.metric(),
              c.arm(),
              interval.low(),
              interval.high());
      if (differs == claimed) {
        yes("bootstrap", "%s, which agrees.", text);
      } else {
        no(
            "bootstrap",
            "%s, which %s 0 and so does not agree with the exact test, which Holm's adjustment is"
                + " part of; with so few blocks that is the one to trust.",
            text,
            differs ? "excludes" : "includes");
      }
    }
  }

  private List<String> primaries() {
    return comparisons.stream()
        .filter(Comparison::primary)
        .map(Comparison::metric)
        .distinct()
        .toList();
  }

  /** What trials differ by from the median of their arm, in the order in which they were made. */
  private Map<Experiment.Trial, Double> residuals(String metric) {
    Map<Experiment.Trial, Double> residuals = new LinkedHashMap<>();
    for (Experiment.Arm arm : experiment.arms()) {
      List<Experiment.Trial> trials =
          experiment.present(arm.name(), false).stream()
              .filter(trial -> !Double.isNaN(trial.figure(metric)))
              .toList();
      double[] sorted = trials.stream().mapToDouble(t -> t.figure(metric)).sorted().toArray();
      for (Experiment.Trial trial : trials) {
        residuals.put(trial, trial.figure(metric) - Quantiles.median(sorted));
      }
    }
    Map<Experiment.Trial, Double> ordered = new LinkedHashMap<>();
    experiment.attempts().stream()
        .filter(residuals::containsKey)
        .forEach(trial -> ordered.put(trial, residuals.get(trial)));
    return ordered;
  }

  /** Key generation, decapsulation and certificate check are the client's own work. */
  private void clientShare() {
    for (Experiment.Arm arm : experiment.arms()) {
      double whole = shift(arm, "handshake.mean");
      double hello = shift(arm, "hello.mean");
      double finish = shift(arm, "finish.mean");
      if (!arm.again() && !Double.isNaN(whole + hello + finish) && Math.abs(whole) > 1) {
        yes(
            "client's share",
            "Of the %+.1f us by which the mean handshake of %s differs, %+.1f us are the client's"
                + " key generation and %+.1f us its decapsulation and certificate check; the rest"
                + " is network and server.",
            whole,
            arm.name(),
            hello,
            finish);
      }
    }
  }

  private double shift(Experiment.Arm arm, String metric) {
    return comparisons.stream()
        .filter(c -> c.arm().equals(arm.name()) && c.metric().equals(metric))
        .filter(c -> c.shift() != null)
        .mapToDouble(c -> c.shift().shift().estimate())
        .findFirst()
        .orElse(Double.NaN);
  }

  private void exclusions() {
    long excluded = 0;
    for (Experiment.Arm arm : experiment.arms()) {
      List<Experiment.Trial> counting = experiment.trials(arm.name(), false);
      List<Experiment.Trial> all = experiment.trials(arm.name(), true);
      for (int block = 0; block < counting.size(); block++) {
        excluded += counting.get(block) == null && all.get(block) != null ? 1 : 0;
      }
    }
    if (excluded == 0) {
      yes("exclusions", "No trial was left out.");
      return;
    }
    List<String> changed = new ArrayList<>();
    for (int i = 0; i < comparisons.size(); i++) {
      Comparison without = comparisons.get(i);
      Comparison with = withExcluded.get(i);
      if (without.primary()
          && !without.again()
          && without.shift() != null
          && with.shift() != null) {
        changed.add(
            String.format(
                Locale.ROOT,
                "%s of %s %+.1f us without them, %+.1f us with them",
                without.metric(),
                without.arm(),
                without.shift().shift().estimate(),
                with.shift().shift().estimate()));
      }
    }
    yes(
        "exclusions",
        "Left out whole, by the rule that was fixed before: %d of the trials. %s.",
        excluded,
        String.join("; ", changed));
  }

  private void saturation() {
    Map<String, Long> verdicts = new LinkedHashMap<>();
    Set<String> rules = new LinkedHashSet<>();
    for (Experiment.Arm arm : experiment.arms()) {
      for (Experiment.Trial trial : experiment.present(arm.name(), true)) {
        verdicts.merge(trial.verdict(), 1L, Long::sum);
        rules.addAll(trial.objections());
      }
    }
    if (verdicts.keySet().equals(Set.of(TRUSTED))) {
      yes(
          "client",
          "Every trial is TRUSTED: nothing that was watched kept the client from its work.");
    } else if (!verdicts.isEmpty()) {
      no(
          "client",
          "Not every trial is TRUSTED (%s): %s. Their latencies may be in part the client's or its"
              + " machine's.",
          verdicts.entrySet().stream()
              .map(entry -> entry.getValue() + " " + entry.getKey())
              .collect(Collectors.joining(", ")),
          String.join(", ", rules));
    }
  }

  private void tails() {
    long least =
        experiment.attempts().stream()
            .filter(Experiment.Trial::isComplete)
            .mapToLong(Experiment.Trial::count)
            .min()
            .orElse(0);
    Trial.PERCENTILES.forEach(
        (name, p) -> {
          long need = Quantiles.leastToPrint(p);
          if (least < need) {
            no(
                "tail",
                "%s cannot be said of a trial: the smallest has %d samples, it takes %d.",
                name,
                least,
                need);
          }
        });
    int blocks = experiment.blocks();
    if (blocks < Bootstrap.LEAST_BLOCKS) {
      no(
          "tail",
          "%d blocks are too few for a bootstrap over blocks, it takes %d.",
          blocks,
          Bootstrap.LEAST_BLOCKS);
    }
  }

  /** What was held constant is what nothing can be said beyond. */
  private void scope() {
    scope("rates", "offered rate", "Nothing is said of other rates than %s.");
    scope("concurrency", "in flight at most", "At most %s attempts were in flight.");
    scope("resumption", "sessions", "Sessions: %s. Nothing is said of others.");
    scope("payload", "payload", "Responses had %s. Nothing is said of larger ones.");
    scope("architecture", "client", "The client was %s. Nothing is said of other machines.");
    scope("architecture", "server", "The server says: %s.");
    scope("certificates", "certificate", "The certificate: %s. Post-quantum signatures cost more.");
    scope("resolution", "resolution", "Resolution: %s.");
    long hosts = experiment.attempts().stream().map(Experiment.Trial::host).distinct().count();
    if (hosts >= LEAST_HOSTS) {
      yes("machines", "%d clients took part, each with its server.", hosts);
    } else {
      no(
          "machines",
          "Clients that took part: %d. The result holds for this pair of machines, not for their"
              + " type, for which it takes %d pairs.",
          hosts,
          LEAST_HOSTS);
    }
  }

  private void scope(String topic, String condition, String format) {
    Set<String> values =
        experiment.attempts().stream()
            .filter(Experiment.Trial::isComplete)
            .map(trial -> trial.conditions().get(condition))
            .filter(Objects::nonNull)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    if (!values.isEmpty()) {
      no(topic, format, String.join(" and ", values));
    }
  }

  private void undeclared() {
    experiment.findings().forEach(finding -> no("undeclared", "%s.", finding));
  }
}

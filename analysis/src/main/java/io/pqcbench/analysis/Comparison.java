package io.pqcbench.analysis;

import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.statistics.Bootstrap;
import io.pqcbench.analysis.statistics.Distribution;
import io.pqcbench.analysis.statistics.Equivalence;
import io.pqcbench.analysis.statistics.Holm;
import io.pqcbench.analysis.statistics.Interval;
import io.pqcbench.analysis.statistics.Power;
import io.pqcbench.analysis.statistics.Quantiles;
import io.pqcbench.analysis.statistics.Shift;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * One figure of one arm against the baseline's, block by block.
 *
 * @param arm by name
 * @param baseline by name
 * @param metric such as {@code handshake.p50}
 * @param primary whether it was declared before the first trial; others are exploratory
 * @param again whether the arm is the baseline itself: what it differs by is noise
 * @param differences one for each block in which both have a trial that counts, microseconds
 * @param level median of the baseline's trials, microseconds; NaN without one
 * @param shift of the arm, microseconds; null without a block
 * @param bootstrap two-level interval of the shift, microseconds: blocks drawn again, and the
 *     samples within each trial; null with fewer blocks than {@link Bootstrap#LEAST_BLOCKS}, and
 *     for what was not declared
 * @param adjustedP of the shift, by Holm over the declared comparisons; NaN if it is not one
 * @param margin the largest difference that is called none, microseconds; NaN if none was declared
 * @param equivalenceP of a difference as large as the margin; NaN without a margin
 * @param smallest the smallest shift that so many blocks find four times in five, microseconds; NaN
 *     with fewer than two
 * @param conclusion what follows
 */
public record Comparison(
    String arm,
    String baseline,
    String metric,
    boolean primary,
    boolean again,
    List<Double> differences,
    double level,
    Shift.Result shift,
    Interval bootstrap,
    double adjustedP,
    double margin,
    double equivalenceP,
    double smallest,
    Conclusion conclusion) {

  /** The chance of a false claim that is accepted. */
  public static final double ALPHA = 0.05;

  private static final double POWER = 0.8;
  private static final int REPLICATES = 10_000;

  /** What a comparison allows to be said. */
  public enum Conclusion {
    /** The design cannot reach the level, whatever was measured. */
    TOO_FEW_TRIALS,
    /** The arms differ. */
    DIFFERENT,
    /** They differ by less than the margin. */
    EQUIVALENT,
    /** Neither could be shown. */
    UNDECIDED
  }

  /**
   * Compares every arm of an experiment with the baseline of its cell.
   *
   * @param metrics what to compare beyond the declared metrics
   * @param withExcluded whether trials count that the plan excludes
   * @param samples of the trials by bundle and phase, to draw from again; without them there is no
   *     bootstrap
   */
  public static List<Comparison> of(
      Experiment experiment,
      List<String> metrics,
      boolean withExcluded,
      Map<Path, Map<String, Distribution>> samples) {
    List<String> declared = experiment.metrics();
    List<String> all = new ArrayList<>(declared);
    metrics.stream().filter(metric -> !declared.contains(metric)).forEach(all::add);
    List<Comparison> comparisons = new ArrayList<>();
    for (Experiment.Arm arm : experiment.arms()) {
      Experiment.Arm baseline = experiment.baselineOf(arm);
      if (baseline != null) {
        for (String metric : all) {
          boolean primary = declared.contains(metric);
          comparisons.add(
              of(
                  experiment,
                  arm,
                  baseline,
                  metric,
                  primary,
                  withExcluded,
                  primary ? samples : Map.of()));
        }
      }
    }
    return adjusted(comparisons);
  }

  private static Comparison of(
      Experiment experiment,
      Experiment.Arm arm,
      Experiment.Arm baseline,
      String metric,
      boolean primary,
      boolean withExcluded,
      Map<Path, Map<String, Distribution>> samples) {
    List<Experiment.Trial> ours = experiment.trials(arm.name(), withExcluded);
    List<Experiment.Trial> theirs = experiment.trials(baseline.name(), withExcluded);
    List<Double> differences = new ArrayList<>();
    List<Double> levels = new ArrayList<>();
    List<Bootstrap.Block> blocks = new ArrayList<>();
    for (int block = 0; block < experiment.blocks(); block++) {
      double base = figure(theirs.get(block), metric);
      double other = figure(ours.get(block), metric);
      if (!Double.isNaN(base)) {
        levels.add(base);
      }
      if (!Double.isNaN(base) && !Double.isNaN(other)) {
        differences.add(other - base);
        Bootstrap.Resampler baseSamples = resampler(theirs.get(block), metric, samples);
        Bootstrap.Resampler otherSamples = resampler(ours.get(block), metric, samples);
        if (baseSamples != null && otherSamples != null) {
          blocks.add(new Bootstrap.Block(baseSamples, otherSamples));
        }
      }
    }
    double[] values = differences.stream().mapToDouble(Double::doubleValue).toArray();
    double level = Quantiles.median(levels.stream().mapToDouble(Double::doubleValue));
    double margin = margin(experiment, metric, level);
    Shift.Result shift = values.length == 0 ? null : Shift.paired(values, 1 - ALPHA);
    boolean tested = values.length > 0 && !Double.isNaN(margin);
    return new Comparison(
        arm.name(),
        baseline.name(),
        metric,
        primary,
        arm.again(),
        differences,
        level,
        shift,
        // A block whose samples are missing would be left out of this interval only.
        blocks.size() < Math.max(Bootstrap.LEAST_BLOCKS, values.length)
            ? null
            : Bootstrap.shift(
                blocks.toArray(Bootstrap.Block[]::new), Shift::estimate, REPLICATES, 1 - ALPHA),
        Double.NaN,
        margin,
        tested ? Equivalence.paired(values, margin) : Double.NaN,
        values.length < 2
            ? Double.NaN
            : Power.paired(values.length, ALPHA, POWER) * deviation(values),
        Conclusion.UNDECIDED);
  }

  /** Returns what draws a figure from the samples of a trial again; null without samples. */
  private static Bootstrap.Resampler resampler(
      Experiment.Trial trial, String metric, Map<Path, Map<String, Distribution>> samples) {
    int dot = metric.indexOf('.');
    Distribution of = samples.getOrDefault(trial.bundle(), Map.of()).get(metric.substring(0, dot));
    Double p = Trial.PERCENTILES.get(metric.substring(dot + 1));
    return of == null ? null : p == null ? of.average() : of.quantile(p);
  }

  private static double figure(Experiment.Trial trial, String metric) {
    return trial == null ? Double.NaN : trial.figure(metric);
  }

  /** Holm over what was declared; the A/A arm is a check of the bench, not a comparison. */
  private static List<Comparison> adjusted(List<Comparison> comparisons) {
    List<Comparison> declared =
        comparisons.stream().filter(c -> c.primary() && !c.again() && c.shift() != null).toList();
    double[] adjusted = Holm.adjust(declared.stream().mapToDouble(c -> c.shift().p()).toArray());
    List<Comparison> result = new ArrayList<>();
    for (Comparison comparison : comparisons) {
      int at = declared.indexOf(comparison);
      result.add(comparison.concluded(at < 0 ? Double.NaN : adjusted[at]));
    }
    return result;
  }

  private Comparison concluded(double adjustedP) {
    double p = Double.isNaN(adjustedP) && shift != null ? shift.p() : adjustedP;
    Conclusion what;
    if (shift == null || shift.smallestP() > ALPHA) {
      what = Conclusion.TOO_FEW_TRIALS;
    } else if (p <= ALPHA) {
      what = Conclusion.DIFFERENT;
    } else if (equivalenceP <= ALPHA) {
      what = Conclusion.EQUIVALENT;
    } else {
      what = Conclusion.UNDECIDED;
    }
    return new Comparison(
        arm,
        baseline,
        metric,
        primary,
        again,
        differences,
        level,
        shift,
        bootstrap,
        adjustedP,
        margin,
        equivalenceP,
        smallest,
        what);
  }

  /** Returns whether the shift is certain and certain to be smaller than the margin. */
  public boolean isBelowMargin() {
    Interval interval = shift == null ? null : shift.shift();
    return interval != null && interval.within(margin);
  }

  private static double margin(Experiment experiment, String metric, double level) {
    var margin = experiment.plan().at("/comparison/margins").path(metric);
    double micros = margin.path("micros").isNumber() ? margin.path("micros").asDouble() : 0;
    double share = margin.path("percent").isNumber() ? margin.path("percent").asDouble() : 0;
    double largest = Math.max(micros, share / 100 * level);
    return largest > 0 ? largest : Double.NaN;
  }

  private static double deviation(double[] values) {
    double mean = Arrays.stream(values).average().orElse(Double.NaN);
    double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
    return Math.sqrt(squares / (values.length - 1));
  }
}

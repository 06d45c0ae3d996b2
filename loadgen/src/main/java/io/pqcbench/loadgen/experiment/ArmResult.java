package io.pqcbench.loadgen.experiment;

import io.pqcbench.loadgen.plan.Experiment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What an experiment found of one arm. The unit is the trial: figures of trials stand beside each
 * other, and are never pooled or averaged.
 *
 * @param arm its name
 * @param trials that count
 * @param trusted of these
 * @param excluded trials that do not count, by the rule that the plan had fixed
 * @param missing blocks in which the arm has no trial at all
 * @param attempts in all, with those repeated
 * @param figures of the trials that count, by metric
 */
public record ArmResult(
    String arm,
    int trials,
    int trusted,
    int excluded,
    int missing,
    int attempts,
    Map<String, Spread> figures) {

  /** Shown of every experiment, beside those that it declares. */
  static final List<String> METRICS = List.of("response.p50", "handshake.p50", "handshake.p99");

  /**
   * How a figure lies over the trials, microseconds.
   *
   * @param median of the trials' figures
   * @param min smallest
   * @param max largest
   * @param blocks the figure of each block's trial, in the order of the blocks; null where it has
   *     none
   */
  public record Spread(double median, double min, double max, List<Double> blocks) {}

  static ArmResult of(Experiment experiment, Experiment.Arm arm, List<TrialResult> all) {
    List<TrialResult> counting = new ArrayList<>();
    int excluded = 0;
    int missing = 0;
    int trusted = 0;
    int attempts = 0;
    for (int block = 1; block <= experiment.blocks(); block++) {
      List<TrialResult> complete = new ArrayList<>();
      for (TrialResult result : all) {
        if (result.block() == block && result.arm().equals(arm.name())) {
          attempts++;
          if (result.isComplete()) {
            complete.add(result);
          }
        }
      }
      TrialResult counts = counting(experiment, complete);
      if (complete.isEmpty()) {
        missing++;
      } else if (counts == null) {
        excluded++;
      } else if (counts.isTrusted()) {
        trusted++;
      }
      counting.add(counts);
    }
    Map<String, Spread> figures = new LinkedHashMap<>();
    for (String metric : metrics(experiment)) {
      List<Double> blocks = new ArrayList<>();
      List<Double> sorted = new ArrayList<>();
      for (TrialResult result : counting) {
        Double value = result == null ? null : result.figure(metric);
        blocks.add(value);
        if (value != null) {
          sorted.add(value);
        }
      }
      if (!sorted.isEmpty()) {
        Collections.sort(sorted);
        figures.put(
            metric,
            new Spread(median(sorted), sorted.get(0), sorted.get(sorted.size() - 1), blocks));
      }
    }
    return new ArmResult(
        arm.name(),
        (int) counting.stream().filter(result -> result != null).count(),
        trusted,
        excluded,
        missing,
        attempts,
        figures);
  }

  /**
   * Which attempt at a trial counts: the first that is TRUSTED; without one, the first whose
   * verdict is not excluded. Never the one with the better numbers.
   */
  private static TrialResult counting(Experiment experiment, List<TrialResult> attempts) {
    return attempts.stream()
        .filter(TrialResult::isTrusted)
        .findFirst()
        .orElseGet(
            () ->
                attempts.stream()
                    .filter(attempt -> !experiment.exclude().contains(attempt.verdict()))
                    .findFirst()
                    .orElse(null));
  }

  /** Returns the metrics whose figures are kept, the declared ones first. */
  static List<String> metrics(Experiment experiment) {
    Set<String> metrics = new LinkedHashSet<>(experiment.comparison().metrics());
    metrics.addAll(METRICS);
    return List.copyOf(metrics);
  }

  private static double median(List<Double> sorted) {
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}

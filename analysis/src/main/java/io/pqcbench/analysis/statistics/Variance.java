package io.pqcbench.analysis.statistics;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * At which level results differ: between the samples of a trial, between trials, or between the
 * machines that they ran on. More samples help only against the first, more trials only against the
 * second; against the third it takes more machines (Kalibera and Jones, "Rigorous Benchmarking in
 * Reasonable Time", ISMM 2013).
 *
 * @param withinTrial standard deviation of the samples of a trial, root mean square over trials
 * @param ofATrialsMean what that leaves in a trial's mean: divided by the root of the sample count
 * @param betweenTrials standard deviation of the trials' means on one machine beyond what their
 *     samples explain; 0 if there is none
 * @param betweenHosts standard deviation of the machines' levels beyond what their trials explain;
 *     NaN with fewer than two machines
 * @param hosts how many machines there are
 */
public record Variance(
    double withinTrial,
    double ofATrialsMean,
    double betweenTrials,
    double betweenHosts,
    int hosts) {

  /**
   * One trial.
   *
   * @param host the machine it ran on
   * @param mean of its samples
   * @param deviation standard deviation of its samples
   * @param count of its samples, at least 1
   */
  public record Trial(String host, double mean, double deviation, long count) {}

  /**
   * Splits the variance of a nested layout with random effects, which need not be balanced (Searle,
   * Casella and McCulloch, "Variance Components", sections 3.6 and 5.3).
   *
   * @return all NaN if no machine has two trials
   */
  public static Variance split(List<Trial> trials) {
    Map<String, List<Trial>> byHost = new LinkedHashMap<>();
    for (Trial trial : trials) {
      byHost.computeIfAbsent(trial.host(), host -> new ArrayList<>()).add(trial);
    }
    int n = trials.size();
    int hosts = byHost.size();
    if (n <= hosts) {
      return new Variance(Double.NaN, Double.NaN, Double.NaN, Double.NaN, hosts);
    }
    double within = 0;
    double ofMean = 0;
    for (Trial trial : trials) {
      within += trial.deviation() * trial.deviation() / n;
      ofMean += trial.deviation() * trial.deviation() / trial.count() / n;
    }
    double mean = mean(trials);
    double onHost = 0;
    double ofHosts = 0;
    double sizes = 0;
    for (List<Trial> ours : byHost.values()) {
      double level = mean(ours);
      onHost += ours.stream().mapToDouble(t -> (t.mean() - level) * (t.mean() - level)).sum();
      ofHosts += ours.size() * (level - mean) * (level - mean);
      sizes += (double) ours.size() * ours.size() / n;
    }
    double perTrial = onHost / (n - hosts);
    return new Variance(
        Math.sqrt(within),
        Math.sqrt(ofMean),
        Math.sqrt(Math.max(0, perTrial - ofMean)),
        hosts < 2
            ? Double.NaN
            : Math.sqrt(
                Math.max(0, (ofHosts / (hosts - 1) - perTrial) / ((n - sizes) / (hosts - 1)))),
        hosts);
  }

  private static double mean(List<Trial> trials) {
    return trials.stream().mapToDouble(Trial::mean).average().orElse(Double.NaN);
  }
}

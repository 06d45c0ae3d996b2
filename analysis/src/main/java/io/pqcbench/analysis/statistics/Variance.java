package io.pqcbench.analysis.statistics;

import java.util.Arrays;

/**
 * At which level results differ: between the samples of a trial, or between trials. More samples
 * help only against the first; against the second it takes more trials (Kalibera and Jones,
 * "Rigorous Benchmarking in Reasonable Time", ISMM 2013).
 *
 * @param withinTrial standard deviation of the samples of a trial, root mean square over trials
 * @param ofATrialsMean what that leaves in a trial's mean: divided by the root of the sample count
 * @param betweenTrials standard deviation of the trials' means beyond what their samples explain; 0
 *     if there is none
 */
public record Variance(double withinTrial, double ofATrialsMean, double betweenTrials) {

  /**
   * Splits the variance of a one-way layout with random effects (Searle, Casella and McCulloch,
   * "Variance Components", section 3.6).
   *
   * @param means of the trials
   * @param deviations standard deviations of the trials' samples
   * @param counts samples of each trial, at least 1
   * @return all NaN with fewer than two trials
   */
  public static Variance split(double[] means, double[] deviations, long[] counts) {
    int n = means.length;
    if (n < 2) {
      return new Variance(Double.NaN, Double.NaN, Double.NaN);
    }
    double within = 0;
    double ofMean = 0;
    for (int i = 0; i < n; i++) {
      within += deviations[i] * deviations[i] / n;
      ofMean += deviations[i] * deviations[i] / counts[i] / n;
    }
    double mean = Arrays.stream(means).average().orElse(Double.NaN);
    double seen = Arrays.stream(means).map(m -> (m - mean) * (m - mean)).sum() / (n - 1);
    return new Variance(
        Math.sqrt(within), Math.sqrt(ofMean), Math.sqrt(Math.max(0, seen - ofMean)));
  }
}

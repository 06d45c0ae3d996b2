package io.pqcbench.analysis;

import io.pqcbench.analysis.bundle.Calibration;
import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.statistics.Quantiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import org.HdrHistogram.Histogram;

/**
 * What the charts show, reduced to what can be drawn: some hundred points a series, however large
 * the runs are. Nothing is left out for it; what is too dense is binned.
 *
 * <p>Times are microseconds, instants seconds after the start of the run. A value that would need
 * more samples than there are is null in a list, and NaN elsewhere.
 *
 * @param percentiles latency over percentile by arm, one element a phase
 * @param differences of the arms' distribution functions from their baselines', one element a
 *     phase; empty if nothing is compared
 * @param timelines of the trials that count; of a run of several machines, one a machine
 * @param ladder null if the arms do not differ in their rate
 */
public record Charts(
    List<Curves> percentiles, List<Curves> differences, List<Timeline> timelines, Ladder ladder) {

  /** The phases with percentile curves and distribution functions. */
  public static final List<String> PHASES = List.of("response", "handshake");

  /** The quantiles of a bin of a timeline. */
  public static final Map<String, Double> BIN_QUANTILES = binQuantiles();

  /**
   * Curves over a common axis.
   *
   * @param phase of the bundle
   * @param x 1/(1-p) for percentiles; for differences the latency, microseconds
   */
  public record Curves(String phase, List<Double> x, List<Curve> curves) {}

  /**
   * One arm's curve: computed trial by trial, never from pooled samples.
   *
   * @param arm by name
   * @param against the baseline, by name; null for percentiles
   * @param trials of which it is made; of differences, blocks in which both arms have one
   * @param samples of the smallest of them
   * @param middle median over the trials: microseconds, or percentage points
   * @param low smallest
   * @param high largest
   */
  public record Curve(
      String arm,
      String against,
      int trials,
      long samples,
      List<Double> middle,
      List<Double> low,
      List<Double> high) {}

  /**
   * One trial over time.
   *
   * @param trial by name, with the shard if it has several
   * @param binSeconds length of a bin: one second, longer if the trial is
   * @param warmupSeconds the instant from which it was measured
   * @param endSeconds the instant at which the load ended
   * @param seconds where the bins begin
   * @param counts measured successes that were <em>planned</em> in each
   * @param quantiles of their response times, by name as in {@link #BIN_QUANTILES}; {@code max} is
   *     the largest
   * @param disturbances while the load ran, by source
   * @param slow the slowest of {@code slow.csv}, the slowest first
   * @param causes how many of all that {@code slow.csv} has are put down to each cause
   */
  public record Timeline(
      String trial,
      double binSeconds,
      double warmupSeconds,
      double endSeconds,
      List<Double> seconds,
      List<Integer> counts,
      Map<String, List<Double>> quantiles,
      Map<String, List<Disturbance>> disturbances,
      List<Slow> slow,
      Map<String, Integer> causes) {}

  /**
   * A disturbance, or several of one source that lie too close to be told apart in a drawing.
   *
   * @param start of the first
   * @param end of the last
   * @param count how many
   * @param micros all that they took
   * @param largestMicros what the largest took
   * @param detail of the largest
   */
  public record Disturbance(
      double start, double end, int count, double micros, double largestMicros, String detail) {}

  /**
   * A slow request.
   *
   * @param index in the schedule
   * @param planned when it was due
   * @param cause as the client found it; empty if it did not get to look
   * @param evidence for the cause
   * @param micros by phase
   */
  public record Slow(
      long index, double planned, String cause, String evidence, Map<String, Double> micros) {}

  /**
   * What happens as the rate rises.
   *
   * @param rungs of all series, in each by rate
   * @param knees one a series
   */
  public record Ladder(List<Rung> rungs, List<Knee> knees) {}

  /**
   * One arm as a rung. Without a trial that counts it shows those that the plan excludes: above the
   * knee there may be no others.
   *
   * @param series what it has in common with the other rungs
   * @param arm by name
   * @param offered arrivals planned, per second; median of the trials
   * @param achieved arrivals started, per second
   * @param completed successes done, per second
   * @param trials that it shows
   * @param samples of the smallest of them
   * @param excluded whether they are those that the plan excludes
   * @param verdicts of them, how many of each
   * @param micros medians by metric such as {@code response.p50}
   */
  public record Rung(
      String series,
      String arm,
      double offered,
      double achieved,
      double completed,
      int trials,
      long samples,
      boolean excluded,
      Map<String, Integer> verdicts,
      Map<String, Double> micros) {}

  /**
   * Where a series gives way.
   *
   * @param series as in {@link Rung}
   * @param above the largest rate, per second, below which nothing gave way; NaN if the lowest did
   * @param at the first rung that gave way; NaN if none did
   * @param why what gave way
   */
  public record Knee(String series, double above, double at, String why) {}

  /**
   * Collects trials, and keeps of each only what is drawn, so that an experiment of many trials
   * needs no more memory than one of few.
   */
  public static final class Builder {
    /** 1/(1-p) up to p99.9999, with the percentiles that are printed among them. */
    private static final double[] PERCENTILE_AXIS = percentileAxis();

    /** Microseconds; fine enough that two decades of them make a smooth curve. */
    private static final double[] LATENCY_AXIS = latencyAxis();

    /** Beyond these shares every curve is flat. */
    private static final double FIRST_SHARE = 0.001;

    private static final double LAST_SHARE = 0.999;

    private final List<Part> parts = new ArrayList<>();
    private final List<Timeline> timelines = new ArrayList<>();

    /** What is kept of a trial; lists by phase, over the two axes. */
    private record Part(
        String arm,
        int block,
        Map<String, Long> counts,
        Map<String, List<Double>> percentiles,
        Map<String, List<Double>> shares) {}

    /**
     * Adds a trial that counts.
     *
     * @param trial by name
     * @param arm by name
     * @param block from 1
     * @param shards its bundles: one, or those of the machines that ran it together
     * @throws UnreadableException if a file of a bundle is damaged
     */
    public void add(String trial, String arm, int block, List<Run> shards)
        throws UnreadableException, IOException {
      Map<String, Long> counts = new LinkedHashMap<>();
      Map<String, List<Double>> percentiles = new LinkedHashMap<>();
      Map<String, List<Double>> shares = new LinkedHashMap<>();
      for (String phase : PHASES) {
        Histogram histogram = Trial.merged(shards, phase);
        counts.put(phase, histogram.getTotalCount());
        percentiles.put(phase, percentiles(histogram));
        shares.put(phase, shares(histogram));
      }
      parts.add(new Part(arm, block, counts, percentiles, shares));
      // Each machine has its own clock, and its own disturbances.
      for (int i = 0; i < shards.size(); i++) {
        String name = shards.size() == 1 ? trial : trial + ", shard " + (i + 1);
        timelines.add(Timelines.of(name, shards.get(i)));
      }
    }

    /** Returns the charts of what was added, with nothing to compare it with. */
    public Charts build() {
      return new Charts(percentileCurves(), List.of(), List.copyOf(timelines), null);
    }

    /**
     * Returns the charts of an experiment, of which all trials that count were added.
     *
     * @throws UnreadableException if a bundle is damaged
     */
    public Charts build(Experiment experiment) throws UnreadableException, IOException {
      return new Charts(
          percentileCurves(),
          differenceCurves(experiment),
          List.copyOf(timelines),
          Ladders.of(experiment));
    }

    /** Returns the charts of a calibration, of which all trials were added. */
    public Charts build(Calibration calibration, List<Report.TrialOf> trials) {
      return new Charts(
          percentileCurves(), List.of(), List.copyOf(timelines), Ladders.of(calibration, trials));
    }

    private static double[] percentileAxis() {
      TreeSet<Double> axis = new TreeSet<>(List.of(2.0, 4.0, 20.0));
      for (int i = 1; i <= 24 * 6; i++) {
        axis.add(Math.pow(10, i / 24.0));
      }
      return axis.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static double[] latencyAxis() {
      double[] axis = new double[80 * 8 + 1];
      for (int i = 0; i < axis.length; i++) {
        axis[i] = Math.pow(10, i / 80.0);
      }
      return axis;
    }

    private static List<Double> percentiles(Histogram histogram) {
      long n = histogram.getTotalCount();
      List<Double> values = new ArrayList<>();
      for (double x : PERCENTILE_AXIS) {
        double p = 1 - 1 / x;
        values.add(
            n < Quantiles.leastToPrint(p)
                ? null
                : (Double) (histogram.getValueAtPercentile(100 * Math.ceil(p * n) / n) / 1e3));
      }
      return values;
    }

    /** Shares of all that were done within each latency. */
    private static List<Double> shares(Histogram histogram) {
      List<Double> shares = new ArrayList<>();
      for (double micros : LATENCY_AXIS) {
        shares.add(
            histogram.getTotalCount() == 0
                ? null
                : (Double) (histogram.getPercentileAtOrBelowValue((long) (micros * 1e3)) / 100));
      }
      return shares;
    }

    private List<Curves> percentileCurves() {
      List<Curves> all = new ArrayList<>();
      for (String phase : PHASES) {
        List<Curve> curves = new ArrayList<>();
        for (String arm : parts.stream().map(Part::arm).distinct().toList()) {
          List<Part> ours = parts.stream().filter(part -> part.arm().equals(arm)).toList();
          curves.add(
              curve(
                  arm,
                  null,
                  ours.stream().map(part -> part.percentiles().get(phase)).toList(),
                  least(ours, phase)));
        }
        all.add(trimmed(phase, PERCENTILE_AXIS, curves, 0, PERCENTILE_AXIS.length));
      }
      return all;
    }

    private List<Curves> differenceCurves(Experiment experiment) {
      List<Curves> all = new ArrayList<>();
      for (String phase : PHASES) {
        List<Curve> curves = new ArrayList<>();
        for (Experiment.Arm arm : experiment.arms()) {
          Experiment.Arm baseline = experiment.baselineOf(arm);
          if (baseline != null) {
            addDifference(curves, phase, arm.name(), baseline.name());
          }
        }
        int[] range = movingRange(phase);
        if (!curves.isEmpty() && range[0] < range[1]) {
          all.add(trimmed(phase, LATENCY_AXIS, curves, range[0], range[1]));
        }
      }
      return all;
    }

    private void addDifference(List<Curve> curves, String phase, String arm, String baseline) {
      List<List<Double>> differences = new ArrayList<>();
      List<Part> both = new ArrayList<>();
      for (Part ours : parts) {
        for (Part theirs : parts) {
          if (ours.arm().equals(arm)
              && theirs.arm().equals(baseline)
              && ours.block() == theirs.block()) {
            differences.add(minus(ours.shares().get(phase), theirs.shares().get(phase)));
            both.add(ours);
            both.add(theirs);
          }
        }
      }
      if (!differences.isEmpty()) {
        curves.add(curve(arm, baseline, differences, least(both, phase)));
      }
    }

    private static List<Double> minus(List<Double> ours, List<Double> theirs) {
      List<Double> points = new ArrayList<>();
      for (int i = 0; i < ours.size(); i++) {
        points.add(
            ours.get(i) == null || theirs.get(i) == null
                ? null
                : (Double) (100 * (ours.get(i) - theirs.get(i))));
      }
      return points;
    }

    private static long least(List<Part> parts, String phase) {
      return parts.stream().mapToLong(part -> part.counts().get(phase)).min().orElse(0);
    }

    private static Curve curve(
        String arm, String against, List<List<Double>> trials, long samples) {
      List<Double> middle = new ArrayList<>();
      List<Double> low = new ArrayList<>();
      List<Double> high = new ArrayList<>();
      for (int i = 0; i < trials.get(0).size(); i++) {
        int at = i;
        List<Double> values =
            trials.stream().map(trial -> trial.get(at)).filter(v -> v != null).sorted().toList();
        // A median of other trials at each place would be no curve.
        boolean whole = values.size() == trials.size();
        middle.add(whole ? (Double) median(values, v -> v) : null);
        low.add(whole ? values.get(0) : null);
        high.add(whole ? values.get(values.size() - 1) : null);
      }
      return new Curve(arm, against, trials.size(), samples, middle, low, high);
    }

    /** Returns from where to where the latencies lie. */
    private int[] movingRange(String phase) {
      int from = LATENCY_AXIS.length;
      int to = 0;
      for (Part part : parts) {
        for (int i = 0; i < LATENCY_AXIS.length; i++) {
          Double share = part.shares().get(phase).get(i);
          if (share != null && share > FIRST_SHARE && share < LAST_SHARE) {
            from = Math.min(from, Math.max(0, i - 1));
            to = Math.max(to, Math.min(LATENCY_AXIS.length, i + 2));
          }
        }
      }
      return new int[] {from, to};
    }

    /** Leaves out where there is nothing to draw. */
    private static Curves trimmed(
        String phase, double[] axis, List<Curve> curves, int first, int end) {
      int from = first;
      int to = end;
      while (from < to && isEmptyAt(curves, from)) {
        from++;
      }
      while (from < to && isEmptyAt(curves, to - 1)) {
        to--;
      }
      List<Double> x = new ArrayList<>();
      for (int i = from; i < to; i++) {
        x.add(axis[i]);
      }
      List<Curve> cut = new ArrayList<>();
      for (Curve curve : curves) {
        cut.add(
            new Curve(
                curve.arm(),
                curve.against(),
                curve.trials(),
                curve.samples(),
                new ArrayList<>(curve.middle().subList(from, to)),
                new ArrayList<>(curve.low().subList(from, to)),
                new ArrayList<>(curve.high().subList(from, to))));
      }
      return new Curves(phase, x, cut);
    }

    private static boolean isEmptyAt(List<Curve> curves, int at) {
      return curves.stream().allMatch(curve -> curve.middle().get(at) == null);
    }
  }

  private static Map<String, Double> binQuantiles() {
    Map<String, Double> quantiles = new LinkedHashMap<>();
    quantiles.put("p50", 0.5);
    quantiles.put("p90", 0.9);
    quantiles.put("p99", 0.99);
    return quantiles;
  }

  static <T> double median(List<T> values, ToDoubleFunction<T> value) {
    return Quantiles.median(values.stream().mapToDouble(value).filter(v -> !Double.isNaN(v)));
  }
}

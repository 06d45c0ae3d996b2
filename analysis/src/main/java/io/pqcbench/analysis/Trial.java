package io.pqcbench.analysis;

import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.Samples;
import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.statistics.Dependence;
import io.pqcbench.analysis.statistics.Interval;
import io.pqcbench.analysis.statistics.Quantiles;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What one run says by itself, or the shards of one run from several machines together: their
 * histograms and counts are added, nothing is averaged.
 *
 * @param verdict the client's; of several, see {@link Shards}
 * @param count measured successes
 * @param phases by phase and figure, microseconds
 * @param moments by phase, microseconds
 * @param lagOne rank correlation of each response time with the next; NaN with too few
 * @param tailSeconds in how many distinct seconds the slowest hundredth of responses lies; 0 with
 *     too few samples to have one
 * @param torn whether the run was killed, so that the end is missing
 */
public record Trial(
    String verdict,
    long count,
    Map<String, Map<String, Figure>> phases,
    Map<String, Moments> moments,
    double lagOne,
    int tailSeconds,
    boolean torn) {

  /** The phases of the bundle, in its order. */
  public static final List<String> PHASES =
      List.of(
          "response",
          "lag",
          "service",
          "connect",
          "handshake",
          "hello",
          "flight",
          "finish",
          "settings",
          "ttfb",
          "ttlb");

  /** The percentiles that are printed, if there are samples enough. */
  public static final Map<String, Double> PERCENTILES = percentiles();

  private static final double CONFIDENCE = 0.95;
  private static final double TAIL = 0.99;

  /**
   * A percentile of one run.
   *
   * @param interval estimate and limits in microseconds; the limits hold for independent samples,
   *     and are a lower bound of what is not known where {@link #lagOne} is not near 0
   * @param need how many samples it takes; null if there are enough
   */
  public record Figure(Interval interval, Long need) {

    /** Returns the figure, microseconds; NaN if it must not be printed. */
    public double micros() {
      return need == null ? interval.estimate() : Double.NaN;
    }
  }

  /**
   * Mean and standard deviation of the samples of a phase.
   *
   * @param count how many there are
   * @param mean microseconds; NaN without any
   * @param deviation microseconds; NaN without any
   */
  public record Moments(long count, double mean, double deviation) {}

  private static Map<String, Double> percentiles() {
    Map<String, Double> percentiles = new LinkedHashMap<>();
    percentiles.put("p50", 0.5);
    percentiles.put("p90", 0.9);
    percentiles.put("p95", 0.95);
    percentiles.put("p99", 0.99);
    percentiles.put("p99.9", 0.999);
    percentiles.put("p99.99", 0.9999);
    return percentiles;
  }

  /**
   * Reads a run.
   *
   * @param shards one, or those of several machines that ran it together
   * @throws UnreadableException if a bundle is damaged
   */
  public static Trial of(List<Run> shards) throws UnreadableException, IOException {
    Map<String, Map<String, Figure>> phases = new LinkedHashMap<>();
    Map<String, Moments> moments = new LinkedHashMap<>();
    for (String phase : PHASES) {
      Histogram merged = merged(shards, phase);
      long n = merged.getTotalCount();
      phases.put(phase, figures(merged));
      moments.put(
          phase,
          n == 0
              ? new Moments(0, Double.NaN, Double.NaN)
              : new Moments(n, merged.getMean() / 1e3, merged.getStdDeviation() / 1e3));
    }
    long count = 0;
    boolean torn = false;
    int tailSeconds = 0;
    double lagOne = 0;
    for (Run shard : shards) {
      Samples samples = shard.responses();
      double[] responses = new double[samples.size()];
      for (int i = 0; i < responses.length; i++) {
        responses[i] = samples.value(0, i);
      }
      count += samples.size();
      torn |= samples.torn();
      // Each machine has its own clock: what follows what is known within a shard only.
      tailSeconds = Math.max(tailSeconds, tailSeconds(samples, responses));
      double lag = responses.length < 3 ? Double.NaN : Dependence.lagOne(responses);
      lagOne = Math.abs(lag) > Math.abs(lagOne) || Double.isNaN(lag) ? lag : lagOne;
    }
    return new Trial(Shards.verdict(shards), count, phases, moments, lagOne, tailSeconds, torn);
  }

  /** Returns a figure such as {@code handshake.p50}, microseconds; NaN if there is none. */
  public double figure(String metric) {
    int dot = metric.indexOf('.');
    Figure figure =
        phases.getOrDefault(metric.substring(0, dot), Map.of()).get(metric.substring(dot + 1));
    return figure == null ? Double.NaN : figure.micros();
  }

  /** Returns the latencies of a phase of all shards, nanoseconds. */
  public static Histogram merged(List<Run> shards, String phase)
      throws UnreadableException, IOException {
    Histogram merged = new Histogram(3);
    for (Run shard : shards) {
      merged.add(shard.histogram(phase));
    }
    return merged;
  }

  static Map<String, Figure> figures(Histogram histogram) {
    Map<String, Figure> figures = new LinkedHashMap<>();
    long n = histogram.getTotalCount();
    PERCENTILES.forEach((name, p) -> figures.put(name, figure(histogram, n, p)));
    return figures;
  }

  private static Figure figure(Histogram histogram, long n, double p) {
    long need = Quantiles.leastToPrint(p);
    if (n < need) {
      return new Figure(new Interval(Double.NaN, Double.NaN, Double.NaN, Double.NaN), need);
    }
    Quantiles.Ranks ranks = Quantiles.ranks(n, p, CONFIDENCE);
    return new Figure(
        new Interval(
            at(histogram, Math.ceil(p * n)),
            at(histogram, (double) ranks.lower()),
            at(histogram, (double) ranks.upper()),
            ranks.coverage()),
        null);
  }

  /** Returns the value of a rank, microseconds. */
  private static double at(Histogram histogram, double rank) {
    return histogram.getValueAtPercentile(100 * rank / histogram.getTotalCount()) / 1e3;
  }

  private static int tailSeconds(Samples samples, double[] responses) {
    if (responses.length < Quantiles.leastToPrint(TAIL)) {
      return 0;
    }
    double[] sorted = responses.clone();
    Arrays.sort(sorted);
    double limit = sorted[(int) Math.ceil(TAIL * sorted.length) - 1];
    BitSet seconds = new BitSet();
    for (int i = 0; i < responses.length; i++) {
      if (responses[i] > limit) {
        seconds.set((int) Math.max(0, samples.plannedSeconds(i)));
      }
    }
    return seconds.cardinality();
  }
}

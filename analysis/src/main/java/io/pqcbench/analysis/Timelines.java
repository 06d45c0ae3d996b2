package io.pqcbench.analysis;

import io.pqcbench.analysis.Charts.Disturbance;
import io.pqcbench.analysis.Charts.Slow;
import io.pqcbench.analysis.Charts.Timeline;
import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.Samples;
import io.pqcbench.analysis.bundle.Table;
import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.statistics.Quantiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;

/** How timelines are read from bundles. */
final class Timelines {
  private static final double[] BIN_SECONDS = {
    1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600
  };

  private static final List<String> SLOW_PHASES =
      List.of("response", "lag", "connect", "hello", "flight", "finish", "ttlb");

  private static final int MOST_BINS = 300;
  private static final int MOST_SLOW = 300;
  private static final double MICROS = 1e6;

  private Timelines() {}

  /** Reads what is drawn of one bundle. */
  static Timeline of(String trial, Run run) throws UnreadableException, IOException {
    Samples samples = run.responses();
    double warmup = run.plan().at("/plan/pace/warmupNanos").asDouble(0) / 1e9;
    double end = run.plan().at("/plan/pace/durationNanos").asDouble(0) / 1e9;
    double first = samples.size() == 0 ? warmup : Double.MAX_VALUE;
    double last = first;
    for (int i = 0; i < samples.size(); i++) {
      first = Math.min(first, samples.plannedSeconds(i));
      last = i == 0 ? first : Math.max(last, samples.plannedSeconds(i));
    }
    first = Math.floor(first);
    end = Math.max(end, last);
    double width = binSeconds(end - first);
    List<Double> seconds = new ArrayList<>();
    List<Integer> counts = new ArrayList<>();
    Map<String, List<Double>> quantiles = new LinkedHashMap<>();
    bins(samples, first, width, (int) ((last - first) / width) + 1, seconds, counts, quantiles);
    Map<String, Integer> causes = new TreeMap<>();
    List<Slow> slow = slow(run.directory().resolve("slow.csv"), causes);
    return new Timeline(
        trial,
        width,
        warmup,
        end,
        seconds,
        counts,
        quantiles,
        disturbances(run.directory().resolve("disturbances.csv"), end),
        slow,
        causes);
  }

  private static double binSeconds(double length) {
    for (double width : BIN_SECONDS) {
      if (length / width <= MOST_BINS) {
        return width;
      }
    }
    return Math.ceil(length / MOST_BINS);
  }

  private static void bins(
      Samples samples,
      double first,
      double width,
      int bins,
      List<Double> seconds,
      List<Integer> counts,
      Map<String, List<Double>> quantiles) {
    int[] ends = new int[bins];
    for (int i = 0; i < samples.size(); i++) {
      ends[(int) ((samples.plannedSeconds(i) - first) / width)]++;
    }
    int[] free = new int[bins];
    for (int bin = 1; bin < bins; bin++) {
      free[bin] = ends[bin - 1];
      ends[bin] += ends[bin - 1];
    }
    float[] values = new float[samples.size()];
    for (int i = 0; i < samples.size(); i++) {
      values[free[(int) ((samples.plannedSeconds(i) - first) / width)]++] = samples.value(0, i);
    }
    Charts.BIN_QUANTILES.keySet().forEach(name -> quantiles.put(name, new ArrayList<>()));
    quantiles.put("max", new ArrayList<>());
    for (int bin = 0; bin < bins; bin++) {
      int from = bin == 0 ? 0 : ends[bin - 1];
      int count = ends[bin] - from;
      Arrays.sort(values, from, ends[bin]);
      seconds.add(first + bin * width);
      counts.add(count);
      Charts.BIN_QUANTILES.forEach(
          (name, p) ->
              quantiles
                  .get(name)
                  .add(
                      count < Quantiles.leastToPrint(p)
                          ? null
                          : (Double) (double) values[from + (int) Math.ceil(p * count) - 1]));
      quantiles.get("max").add(count == 0 ? null : (Double) (double) values[ends[bin] - 1]);
    }
  }

  /** Of a source with many, those that begin in the same three-hundredth of the run are one. */
  private static Map<String, List<Disturbance>> disturbances(Path file, double end)
      throws UnreadableException, IOException {
    Map<String, List<Disturbance>> all = new TreeMap<>();
    try (Table table = new Table(file)) {
      while (table.next()) {
        double from = table.number("start_us") / MICROS;
        double to = table.number("end_us") / MICROS;
        double micros = table.number("amount_us");
        if (to > 0 && from < end) {
          all.computeIfAbsent(table.text("source"), source -> new ArrayList<>())
              .add(new Disturbance(from, to, 1, micros, micros, table.text("detail")));
        }
      }
    }
    all.replaceAll((source, list) -> list.size() <= MOST_BINS ? list : merged(list, end));
    return all;
  }

  private static List<Disturbance> merged(List<Disturbance> list, double end) {
    Map<Long, Disturbance> bins = new TreeMap<>();
    for (Disturbance each : list) {
      bins.merge((long) Math.floor(each.start() / end * MOST_BINS), each, Timelines::together);
    }
    return new ArrayList<>(bins.values());
  }

  private static Disturbance together(Disturbance one, Disturbance other) {
    boolean first = one.largestMicros() >= other.largestMicros();
    return new Disturbance(
        Math.min(one.start(), other.start()),
        Math.max(one.end(), other.end()),
        one.count() + other.count(),
        one.micros() + other.micros(),
        first ? one.largestMicros() : other.largestMicros(),
        first ? one.detail() : other.detail());
  }

  private static List<Slow> slow(Path file, Map<String, Integer> causes)
      throws UnreadableException, IOException {
    Comparator<Slow> bySize = Comparator.comparingDouble(slow -> slow.micros().get("response"));
    PriorityQueue<Slow> slowest = new PriorityQueue<>(bySize);
    try (Table table = new Table(file)) {
      while (table.next()) {
        Map<String, Double> micros = new LinkedHashMap<>();
        for (String phase : SLOW_PHASES) {
          micros.put(phase, table.number(phase + "_us"));
        }
        Slow slow =
            new Slow(
                (long) table.number("index"),
                table.number("planned_us") / MICROS,
                table.text("cause"),
                table.text("evidence"),
                micros);
        causes.merge(slow.cause().isEmpty() ? "not known" : slow.cause(), 1, Integer::sum);
        slowest.add(slow);
        if (slowest.size() > MOST_SLOW) {
          slowest.remove();
        }
      }
    }
    return slowest.stream().sorted(bySize.reversed()).toList();
  }
}

package io.pqcbench.analysis.bundle;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * An experiment with everything that a report can show: two arms at three rates and an A/A arm, in
 * six blocks, with bundles that hold phases, disturbances and slow requests. Its numbers are made
 * up, and always the same.
 */
public final class LadderExperiment {

  public static final int BLOCKS = 6;
  public static final List<Integer> RATES = List.of(100, 300, 900);

  /** What the client found of the slowest request. */
  public static final String EVIDENCE = "a \"pause\" of 6.5 ms, all of it within the wait";

  private static final int SAMPLES = 1200;
  private static final List<String> PARTS =
      List.of("lag", "connect", "hello", "flight", "finish", "ttlb");

  private final Path directory;
  private final Random random = new Random(7);
  private final List<String> arms = new ArrayList<>();
  private final List<String> trials = new ArrayList<>();

  private LadderExperiment(Path directory) {
    this.directory = directory;
  }

  /** Writes it into a directory, and returns that. */
  public static Path write(Path directory) throws IOException {
    LadderExperiment experiment = new LadderExperiment(directory);
    for (int rate : RATES) {
      experiment.arm("classic", rate, false);
      if (rate == RATES.get(0)) {
        experiment.arm("classic-aa", rate, true);
      }
      experiment.arm("hybrid", rate, false);
    }
    Files.writeString(
        directory.resolve("experiment.json"),
        """
        {"schema": "loadgen-experiment/1", "status": "complete",
         "plan": {"name": "ladder", "question": "What does it cost?", "arms": [%s],
           "baseline": "classic", "blocks": %d, "exclude": ["INVALID", "SATURATED"],
           "comparison": {"metrics": ["handshake.p50"], "margins": {}}},
         "sessions": [], "findings": [], "trials": [%s]}
        """
            .formatted(
                String.join(", ", experiment.arms), BLOCKS, String.join(",\n", experiment.trials)));
    return directory;
  }

  private void arm(String family, int rate, boolean again) throws IOException {
    String name = family + "@rate=" + rate;
    arms.add(
        json(
            "{'name': '%s', 'family': '%s', 'cell': {'rate': '%d'}, 'again': %s}",
            name, family, rate, again));
    for (int block = 1; block <= BLOCKS; block++) {
      trials.add(trial(name, block, rate, family.equals("hybrid")));
    }
  }

  private String trial(String arm, int block, int rate, boolean hybrid) throws IOException {
    String name = "b%02d-%s".formatted(block, arm);
    Path bundle = Files.createDirectories(directory.resolve("trials").resolve(name));
    // Above the knee what is late waits for what is later still.
    double wait = rate == 900 ? 4000 : 20;
    Map<String, double[]> micros = new LinkedHashMap<>();
    double base = 1 + 0.02 * random.nextGaussian();
    micros.put("lag", latencies(wait * base));
    micros.put("connect", latencies(100 * base));
    micros.put("hello", latencies((hybrid ? 180 : 100) * base));
    micros.put("flight", latencies(500 * base));
    micros.put("finish", latencies((hybrid ? 260 : 180) * base));
    micros.put("ttlb", latencies(200 * base));
    micros.put("handshake", sum(micros, List.of("hello", "flight", "finish")));
    micros.put("response", sum(micros, PARTS));

    Files.writeString(
        bundle.resolve("run.json"),
        json(
            "{'schema': 'loadgen-run/2', 'plan': {'pace': {'durationNanos': %d,"
                + " 'warmupNanos': 0}}}",
            SAMPLES * 1_000_000_000L / rate));
    Files.writeString(
        bundle.resolve("summary.json"),
        json(
            "{'schema': 'loadgen-summary/3', 'verdict': 'TRUSTED', 'interrupted': false,"
                + " 'clientCpuMicrosPerHandshake': 500.5, 'bytesOutPerHandshake': %d,"
                + " 'bytesInPerHandshake': 1788, 'offeredPerSecond': %d, 'achievedPerSecond': %d,"
                + " 'completedPerSecond': %d}",
            hybrid ? 1446 : 262, rate, rate == 900 ? 700 : rate, rate == 900 ? 700 : rate));
    StringBuilder samples = new StringBuilder("index,planned_us,measured,outcome,response_us\n");
    for (int i = 0; i < SAMPLES; i++) {
      samples.append(
          String.format(
              Locale.ROOT,
              "%d,%.3f,1,SUCCESS,%.3f%n",
              i,
              i * 1e6 / rate,
              micros.get("response")[i]));
    }
    Bundles.samples(bundle, samples.toString());
    histograms(bundle, micros);
    causes(bundle, rate, micros);
    return json(
        "{'trial': '%s', 'block': %d, 'position': 1, 'arm': '%s', 'attempt': 1,"
            + " 'directory': 'trials/%s', 'verdict': 'TRUSTED', 'objections': [], 'count': %d,"
            + " 'figures': {%s}, 'conditions': {'offered rate': '%d/s', 'group': '%s'}}",
        name,
        block,
        arm,
        name,
        SAMPLES,
        String.join(", ", micros.entrySet().stream().map(LadderExperiment::figures).toList()),
        rate,
        hybrid ? "X25519MLKEM768" : "X25519");
  }

  private double[] latencies(double median) {
    return random.doubles(SAMPLES).map(p -> median * (0.9 + 0.1 / (1.001 - p))).toArray();
  }

  private static double[] sum(Map<String, double[]> micros, List<String> parts) {
    double[] sum = new double[SAMPLES];
    parts.forEach(part -> Arrays.setAll(sum, i -> sum[i] + micros.get(part)[i]));
    return sum;
  }

  private static String figures(Map.Entry<String, double[]> phase) {
    double[] sorted = phase.getValue().clone();
    Arrays.sort(sorted);
    return json(
        "'%s': {'p50': %.1f, 'p99': %.1f, 'mean': %.1f}",
        phase.getKey(),
        sorted[SAMPLES / 2],
        sorted[SAMPLES * 99 / 100],
        Arrays.stream(sorted).average().orElseThrow());
  }

  private static void histograms(Path bundle, Map<String, double[]> micros) throws IOException {
    try (PrintStream log =
        new PrintStream(bundle.resolve("latency.hlog").toFile(), StandardCharsets.UTF_8)) {
      HistogramLogWriter writer = new HistogramLogWriter(log);
      writer.outputLogFormatVersion();
      writer.outputLegend();
      micros.forEach(
          (phase, values) -> {
            Histogram histogram = new Histogram(3);
            histogram.setTag(phase);
            for (double value : values) {
              histogram.recordValue((long) (value * 1e3));
            }
            writer.outputIntervalHistogram(histogram);
          });
    }
  }

  private static void causes(Path bundle, int rate, Map<String, double[]> micros)
      throws IOException {
    Files.writeString(
        bundle.resolve("disturbances.csv"),
        """
        source,start_us,end_us,amount_us,detail
        gc-pause,100000,106500,6500.0,"Pause Young"
        allocation-stall,400000,420000,900.0,""
        run-delay,0,900000,45000.0,"lanes"
        """);
    StringBuilder slow = new StringBuilder("index,planned_us,response_us");
    PARTS.forEach(part -> slow.append(',').append(part).append("_us"));
    slow.append(",cause,evidence\n");
    for (int i : new int[] {10, 40, 500}) {
      slow.append(
          String.format(Locale.ROOT, "%d,%.3f,%.3f", i, i * 1e6 / rate, micros.get("response")[i]));
      PARTS.forEach(part -> slow.append(String.format(Locale.ROOT, ",%.3f", micros.get(part)[i])));
      slow.append(",gc-pause,\"").append(EVIDENCE.replace("\"", "\"\"")).append("\"\n");
    }
    Files.writeString(bundle.resolve("slow.csv"), slow);
  }

  private static String json(String format, Object... values) {
    return String.format(Locale.ROOT, format.replace('\'', '"'), values);
  }
}

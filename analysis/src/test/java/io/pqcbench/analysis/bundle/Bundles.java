package io.pqcbench.analysis.bundle;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/** Writes bundles and experiments by hand, in the form that their description gives. */
public final class Bundles {

  private static final String HEADER =
      "index,planned_us,measured,outcome,detail,died_in,response_us,handshake_us\n";

  private Bundles() {}

  /** A run with these response times, microseconds, a hundred a second. */
  public static Path run(Path directory, String verdict, double... responses) throws IOException {
    Files.createDirectories(directory);
    Files.writeString(directory.resolve("run.json"), "{\"schema\": \"loadgen-run/1\"}");
    Files.writeString(
        directory.resolve("summary.json"),
        "{\"schema\": \"loadgen-summary/2\", \"verdict\": \""
            + verdict
            + "\", \"interrupted\": false, \"clientCpuMicrosPerHandshake\": 500.5,"
            + " \"bytesOutPerHandshake\": 1446, \"bytesInPerHandshake\": 1788}");
    StringBuilder lines = new StringBuilder(HEADER);
    Histogram histogram = new Histogram(3);
    for (int i = 0; i < responses.length; i++) {
      lines.append(
          String.format(
              Locale.ROOT,
              "%d,%.3f,1,SUCCESS,200,,%.3f,%.3f%n",
              i,
              i * 10_000.0,
              responses[i],
              responses[i] / 2));
      histogram.recordValue((long) (responses[i] * 1_000));
    }
    samples(directory, lines.toString());
    histogram.setTag("response");
    histogram.setStartTimeStamp(0);
    histogram.setEndTimeStamp(1_000);
    Path log = directory.resolve("latency.hlog");
    try (OutputStream out = Files.newOutputStream(log)) {
      HistogramLogWriter writer = new HistogramLogWriter(out);
      writer.outputLogFormatVersion();
      writer.outputLegend();
      writer.outputIntervalHistogram(0, 1, histogram, 1e6);
      writer.close();
    }
    return directory;
  }

  /** Replaces the samples of a run. */
  public static void samples(Path directory, String text) throws IOException {
    try (OutputStream out =
        new GZIPOutputStream(Files.newOutputStream(directory.resolve("samples.csv.gz")))) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** An experiment whose trials have these figures and no bundles. */
  public static final class Trials {
    private final int blocks;
    private final String metric;
    private final Map<String, double[]> arms = new LinkedHashMap<>();
    private final Map<String, String> verdicts = new LinkedHashMap<>();
    private String margins = "{}";
    private String status = "complete";

    public Trials(int blocks, String metric) {
      this.blocks = blocks;
      this.metric = metric;
    }

    /** Figures of an arm by block, microseconds. The first arm is the baseline. */
    public Trials arm(String name, double... figures) {
      arms.put(name, figures);
      return this;
    }

    public Trials verdict(String trial, String verdict) {
      verdicts.put(trial, verdict);
      return this;
    }

    public Trials margin(double micros) {
      margins = "{\"" + metric + "\": {\"micros\": " + micros + ", \"percent\": null}}";
      return this;
    }

    public Trials interrupted() {
      status = "interrupted";
      return this;
    }

    public Path write(Path directory) throws IOException {
      Files.createDirectories(directory);
      String baseline = arms.keySet().iterator().next();
      List<String> trials = new ArrayList<>();
      for (int block = 1; block <= blocks; block++) {
        for (Map.Entry<String, double[]> arm : arms.entrySet()) {
          if (arm.getValue().length >= block) {
            trials.add(trial(arm.getKey(), block, arm.getValue()[block - 1]));
          }
        }
      }
      String names =
          arms.keySet().stream()
              .map(
                  name ->
                      "{\"name\": \"%s\", \"family\": \"%s\", \"cell\": {}, \"again\": %s}"
                          .formatted(name, name, name.endsWith("-aa")))
              .collect(Collectors.joining(", "));
      Files.writeString(
          directory.resolve("experiment.json"),
          """
          {"schema": "loadgen-experiment/1", "status": "%s",
           "plan": {"name": "test", "question": null, "arms": [%s], "baseline": "%s",
             "blocks": %d, "exclude": ["INVALID", "SATURATED"],
             "comparison": {"metrics": ["%s"], "margins": %s}},
           "sessions": [], "findings": [], "trials": [%s]}
          """
              .formatted(
                  status, names, baseline, blocks, metric, margins, String.join(",\n", trials)));
      return directory;
    }

    private String trial(String arm, int block, double figure) {
      String name = "b%02d-%s".formatted(block, arm);
      int dot = metric.indexOf('.');
      return """
      {"trial": "%s", "block": %d, "position": 1, "arm": "%s", "attempt": 1,
       "directory": "trials/%s", "verdict": "%s", "objections": [], "count": 18000,
       "figures": {"%s": {"%s": %s}},
       "conditions": {"offered rate": "300.0/s", "payload": "3 bytes"}}\
      """
          .formatted(
              name,
              block,
              arm,
              name,
              verdicts.getOrDefault(name, "TRUSTED"),
              metric.substring(0, dot),
              metric.substring(dot + 1),
              figure);
    }
  }
}

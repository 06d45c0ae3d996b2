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
    Files.writeString(directory.resolve("run.json"), "{\"schema\": \"loadgen-run/2\"}");
    Files.writeString(
        directory.resolve("summary.json"),
        "{\"schema\": \"loadgen-summary/3\", \"verdict\": \""
            + verdict
            + "\", \"interrupted\": false, \"clientCpuMicrosPerHandshake\": 500.5,"
            + " \"bytesOutPerHandshake\": 1446, \"bytesInPerHandshake\": 1788}");
    StringBuilder lines = new StringBuilder(HEADER);
    Histogram histogram = new Histogram(3);
    Histogram halves = new Histogram(3);
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
      halves.recordValue((long) (responses[i] * 500));
    }
    samples(directory, lines.toString());
    List<Histogram> phases = List.of(tagged(histogram, "response"), tagged(halves, "handshake"));
    Path log = directory.resolve("latency.hlog");
    try (OutputStream out = Files.newOutputStream(log)) {
      HistogramLogWriter writer = new HistogramLogWriter(out);
      writer.outputLogFormatVersion();
      writer.outputLegend();
      phases.forEach(phase -> writer.outputIntervalHistogram(0, 1, phase, 1e6));
      writer.close();
    }
    return directory;
  }

  private static Histogram tagged(Histogram histogram, String phase) {
    histogram.setTag(phase);
    histogram.setStartTimeStamp(0);
    histogram.setEndTimeStamp(1_000);
    return histogram;
  }

  /** Part of a run of several machines; every value may be replaced before it is written. */
  public static final class Shard {
    private final int index;
    private final int count;
    private String verdict = "TRUSTED";
    private long seed = 7;
    private double rate = 100;
    private String startAt = "2026-12-02T10:00:00Z";
    private Double lateMicros = 12.5;
    private String bootId;
    private String clock =
        "{\"source\": \"chronyc\", \"synchronised\": true, \"offsetMicros\": 3.5,"
            + " \"errorMicros\": 312.5}";
    private boolean interrupted;

    public Shard(int index, int count) {
      this.index = index;
      this.count = count;
      this.bootId = "boot-" + index;
    }

    public Shard verdict(String value) {
      verdict = value;
      return this;
    }

    public Shard seed(long value) {
      seed = value;
      return this;
    }

    public Shard rate(double value) {
      rate = value;
      return this;
    }

    public Shard late(Double micros) {
      lateMicros = micros;
      return this;
    }

    public Shard bootId(String value) {
      bootId = value;
      return this;
    }

    public Shard clock(String json) {
      clock = json;
      return this;
    }

    public Shard interrupted() {
      interrupted = true;
      return this;
    }

    /** Writes it with these response times, microseconds. */
    public Path write(Path directory, double... responses) throws IOException {
      run(directory, verdict, responses);
      Files.writeString(
          directory.resolve("run.json"),
          """
          {"schema": "loadgen-run/2", "host": {"bootId": "%s"}, "wallClock": %s,
           "plan": {"target": {"host": "server", "port": 443},
             "pace": {"ratePerSecond": %s, "arrival": "POISSON", "seed": %d,
               "shard": {"index": %d, "count": %d}, "startAt": "%s"},
             "limits": {"lanes": %d, "sources": ["192.0.2.%d"], "close": "FIN"}}}
          """
              .formatted(bootId, clock, rate, seed, index, count, startAt, 1 + index, 1 + index));
      Files.writeString(
          directory.resolve("summary.json"),
          """
          {"schema": "loadgen-summary/3", "verdict": "%s", "interrupted": %s,
           "findings": [%s], "start": {"shard": %d, "shards": %d, "lateMicros": %s}}
          """
              .formatted(
                  verdict,
                  interrupted,
                  verdict.equals("TRUSTED") ? "" : "{\"rule\": \"lag\", \"level\": \"SUSPECT\"}",
                  index,
                  count,
                  lateMicros));
      return directory;
    }
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
    private String host = "client-1";

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

    /** The machine that all trials run on. */
    public Trials host(String name) {
      host = name;
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
           "sessions": [{"machine": {"host": "%s", "instance": null}}], "findings": [], "trials": [%s]}
          """
              .formatted(
                  status,
                  names,
                  baseline,
                  blocks,
                  metric,
                  margins,
                  host,
                  String.join(",\n", trials)));
      return directory;
    }

    private String trial(String arm, int block, double figure) {
      // Every other block runs backwards.
      int place = new ArrayList<>(arms.keySet()).indexOf(arm);
      int position = 1 + (block % 2 == 1 ? place : arms.size() - 1 - place);
      String name = "b%02d-%s".formatted(block, arm);
      int dot = metric.indexOf('.');
      return """
      {"trial": "%s", "block": %d, "position": %d, "arm": "%s", "attempt": 1, "machine": 0,
       "directory": "trials/%s", "verdict": "%s", "objections": [], "count": 18000,
       "figures": {"%s": {"%s": %s}},
       "conditions": {"offered rate": "300.0/s", "payload": "3 bytes"}}\
      """
          .formatted(
              name,
              block,
              position,
              arm,
              name,
              verdicts.getOrDefault(name, "TRUSTED"),
              metric.substring(0, dot),
              metric.substring(dot + 1),
              figure);
    }
  }
}

package io.pqcbench.analysis.bundle;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** One bundle, as the format's description has it: what was asked for, and what came of it. */
public final class Run {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RUN_SCHEMA = "loadgen-run/2";
  private static final String SUMMARY_SCHEMA = "loadgen-summary/3";

  private final Path directory;
  private final JsonNode plan;
  private final JsonNode summary;
  private Map<String, Histogram> histograms;
  private Samples responses;
  private double startMillis = Double.NaN;

  private Run(Path directory, JsonNode plan, JsonNode summary) {
    this.directory = directory;
    this.plan = plan;
    this.summary = summary;
  }

  /**
   * Reads a bundle.
   *
   * @param directory of a run, complete or not
   * @throws UnreadableException if it holds none, or one of a format that is not known here
   */
  public static Run read(Path directory) throws UnreadableException, IOException {
    JsonNode plan = json(directory, "run.json", RUN_SCHEMA, "bundle");
    return new Run(directory, plan, json(directory.resolve("summary.json"), SUMMARY_SCHEMA));
  }

  /**
   * Reads the JSON file that makes a directory what it is.
   *
   * @param what it is then, as in "this is no bundle"
   * @throws UnreadableException if there is none, or it is damaged
   */
  static JsonNode json(Path directory, String name, String schema, String what)
      throws UnreadableException, IOException {
    JsonNode json = json(directory.resolve(name), schema);
    if (json == null) {
      throw new UnreadableException(
          "this is no " + what + ", it holds no " + name + ": " + directory);
    }
    return json;
  }

  /** Returns the elements of an array of texts. */
  static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(text -> texts.add(text.asText()));
    return texts;
  }

  /**
   * Reads a JSON file of a known format.
   *
   * @return null if there is no such file
   */
  static JsonNode json(Path file, String schema) throws UnreadableException, IOException {
    JsonNode json;
    try {
      json = JSON.readTree(file.toFile());
    } catch (FileNotFoundException | NoSuchFileException e) {
      return null;
    } catch (JsonProcessingException e) {
      throw new UnreadableException(
          "the file is damaged, it is not JSON: " + file + ": " + e.getOriginalMessage(), e);
    }
    String found = json == null ? "" : json.path("schema").asText();
    if (!found.equals(schema)) {
      throw new UnreadableException(
          "the file has a format that is not known here: schema="
              + (found.isEmpty() ? "none" : found)
              + " known="
              + schema
              + "; use the loadgen-report of the same version: "
              + file);
    }
    return json;
  }

  /** Returns where it was read from. */
  public Path directory() {
    return directory;
  }

  /** Returns {@code run.json}. */
  public JsonNode plan() {
    return plan;
  }

  /** Returns {@code summary.json}; null if the run was killed. */
  public JsonNode summary() {
    return summary;
  }

  /** Returns the verdict that the client gave; {@code KILLED} without a summary. */
  public String verdict() {
    return summary == null ? "KILLED" : summary.path("verdict").asText();
  }

  /**
   * Returns the latencies of a phase in nanoseconds, without the warm-up, from the histograms of
   * all seconds.
   *
   * @return empty if the run has none
   */
  public Histogram histogram(String phase) throws UnreadableException, IOException {
    readHistograms();
    Histogram histogram = histograms.get(phase);
    return histogram == null ? new Histogram(3) : histogram;
  }

  /** Returns when it started by the wall clock, milliseconds since 1970; NaN if it did not. */
  public double startMillis() throws UnreadableException, IOException {
    readHistograms();
    return startMillis;
  }

  private void readHistograms() throws UnreadableException, IOException {
    if (histograms != null) {
      return;
    }
    Map<String, Histogram> sums = new TreeMap<>();
    Path log = directory.resolve("latency.hlog");
    if (!Files.exists(log)) {
      histograms = sums;
      return;
    }
    try (HistogramLogReader reader = new HistogramLogReader(log.toFile())) {
      add(reader, sums, log);
      // 0 where the log has no line for it.
      startMillis = reader.getStartTimeSec() > 0 ? reader.getStartTimeSec() * 1e3 : Double.NaN;
    }
    histograms = sums;
  }

  private void add(HistogramLogReader reader, Map<String, Histogram> sums, Path log)
      throws UnreadableException {
    try {
      while (reader.hasNext()) {
        EncodableHistogram interval = reader.nextIntervalHistogram();
        if (interval instanceof Histogram histogram && histogram.getTag() != null) {
          sums.computeIfAbsent(histogram.getTag(), tag -> new Histogram(3)).add(histogram);
        }
      }
    } catch (RuntimeException e) {
      // The run was killed while it wrote a line; what is before it is whole.
      if (summary != null) {
        throw new UnreadableException(
            "the file is damaged, a line of it is no interval of a histogram log: " + log, e);
      }
    }
  }

  /**
   * Returns the measured successes with their response times, microseconds, as column 0.
   *
   * @throws UnreadableException if the run has come to its end, and they are not those of the
   *     histograms
   */
  public Samples responses() throws UnreadableException, IOException {
    if (responses == null) {
      Samples read = samples(List.of("response_us"));
      long recorded = histogram("response").getTotalCount();
      if (summary != null && (read.torn() || recorded != read.size())) {
        throw new UnreadableException(
            "the bundle is damaged, its files do not hold the same run: samples.csv.gz="
                + read.size()
                + (read.torn() ? " and torn" : "")
                + " latency.hlog="
                + recorded
                + " successes: "
                + directory);
      }
      responses = read;
    }
    return responses;
  }

  /**
   * Returns the measured successes; none if it was killed before it began.
   *
   * @param columns of {@code samples.csv.gz} to keep
   */
  Samples samples(List<String> columns) throws UnreadableException, IOException {
    Path file = directory.resolve("samples.csv.gz");
    if (!Files.exists(file) && summary == null) {
      return Samples.none(columns.size());
    }
    if (!Files.exists(file)) {
      throw new UnreadableException("the bundle holds no samples.csv.gz: " + directory);
    }
    return Samples.read(file, columns);
  }
}

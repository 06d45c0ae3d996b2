package io.pqcbench.analysis.bundle;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** An experiment's directory, complete or interrupted: its plan and its trials. */
public final class Experiment {

  private static final String FILE = "experiment.json";
  private static final String SCHEMA = "loadgen-experiment/1";
  private static final String TRUSTED = "TRUSTED";

  private final Path directory;
  private final JsonNode record;
  private final List<Arm> arms = new ArrayList<>();
  private final List<Trial> attempts = new ArrayList<>();

  /**
   * One of the things that were compared.
   *
   * @param name unique
   * @param cell values of the matrix; arms are compared within their cell
   * @param again whether it is the baseline a second time
   * @param family its name without the cell
   */
  public record Arm(String name, String family, Map<String, String> cell, boolean again) {}

  /**
   * One attempt at a trial.
   *
   * @param name the same for all attempts at it
   * @param block from 1
   * @param position in the block, from 1
   * @param attempt from 1
   * @param verdict the client's; {@code FAILED} or {@code INTERRUPTED} without a summary
   * @param objections rules that object
   * @param count measured successes
   * @param figures by phase and figure, microseconds; a figure with too few samples is missing
   * @param conditions what had to be held constant
   * @param bundle where it is
   */
  public record Trial(
      String name,
      int block,
      int position,
      String arm,
      int attempt,
      String verdict,
      List<String> objections,
      long count,
      Map<String, Map<String, Double>> figures,
      Map<String, String> conditions,
      Path bundle) {

    /** Returns whether it left a summary. */
    public boolean isComplete() {
      return !verdict.equals("FAILED") && !verdict.equals("INTERRUPTED");
    }

    /** Returns a figure such as {@code handshake.p50}, microseconds; NaN if there is none. */
    public double figure(String metric) {
      int dot = metric.indexOf('.');
      Double value =
          figures.getOrDefault(metric.substring(0, dot), Map.of()).get(metric.substring(dot + 1));
      return value == null ? Double.NaN : value;
    }
  }

  private Experiment(Path directory, JsonNode record) {
    this.directory = directory;
    this.record = record;
    for (JsonNode arm : record.at("/plan/arms")) {
      arms.add(
          new Arm(
              arm.path("name").asText(),
              arm.path("family").asText(),
              texts(arm.path("cell")),
              arm.path("again").asBoolean()));
    }
    for (JsonNode trial : record.path("trials")) {
      attempts.add(trial(trial));
    }
  }

  /** Returns whether a directory is that of an experiment. */
  public static boolean isAt(Path directory) {
    return Files.exists(directory.resolve(FILE));
  }

  /**
   * Reads an experiment.
   *
   * @throws UnreadableException if the directory holds none, or one of a format that is not known
   */
  public static Experiment read(Path directory) throws UnreadableException, IOException {
    JsonNode record = Run.json(directory.resolve(FILE), SCHEMA);
    if (record == null) {
      throw new UnreadableException(
          "this is no directory of an experiment, it holds no " + FILE + ": " + directory);
    }
    return new Experiment(directory, record);
  }

  private Trial trial(JsonNode trial) {
    Map<String, Map<String, Double>> figures = new LinkedHashMap<>();
    trial
        .path("figures")
        .properties()
        .forEach(
            phase -> {
              Map<String, Double> values = new LinkedHashMap<>();
              phase
                  .getValue()
                  .properties()
                  .forEach(
                      figure -> {
                        if (figure.getValue().isNumber()) {
                          values.put(figure.getKey(), figure.getValue().asDouble());
                        }
                      });
              figures.put(phase.getKey(), values);
            });
    List<String> objections = new ArrayList<>();
    trial.path("objections").forEach(objection -> objections.add(objection.asText()));
    return new Trial(
        trial.path("trial").asText(),
        trial.path("block").asInt(),
        trial.path("position").asInt(),
        trial.path("arm").asText(),
        trial.path("attempt").asInt(),
        trial.path("verdict").asText(),
        objections,
        trial.path("count").asLong(),
        figures,
        texts(trial.path("conditions")),
        directory.resolve(trial.path("directory").asText()));
  }

  private static Map<String, String> texts(JsonNode object) {
    Map<String, String> texts = new LinkedHashMap<>();
    object.properties().forEach(field -> texts.put(field.getKey(), field.getValue().asText()));
    return texts;
  }

  /** Returns {@code experiment.json}. */
  public JsonNode record() {
    return record;
  }

  /** Returns its name. */
  public String name() {
    return record.at("/plan/name").asText();
  }

  /** Returns whether every trial that was planned has been made. */
  public boolean isComplete() {
    return record.path("status").asText().equals("complete");
  }

  /** Returns how many blocks were planned. */
  public int blocks() {
    return record.at("/plan/blocks").asInt();
  }

  /** Returns the arms in the order of the plan. */
  public List<Arm> arms() {
    return arms;
  }

  /** Returns the arm with which another is compared; null if nothing is. */
  public Arm baselineOf(Arm arm) {
    String family = record.at("/plan/baseline").asText();
    return arms.stream()
        .filter(other -> !other.again() && other.family().equals(family))
        .filter(other -> other.cell().equals(arm.cell()) && !other.equals(arm))
        .findFirst()
        .orElse(null);
  }

  /** Returns all attempts, in the order in which they were made. */
  public List<Trial> attempts() {
    return attempts;
  }

  /**
   * Returns the trial of each block that counts: the first attempt that is TRUSTED, without one the
   * first whose verdict the plan does not exclude.
   *
   * @param arm by name
   * @param withExcluded whether a trial counts whose verdict the plan excludes, to see what leaving
   *     it out has done
   * @return one an element, from block 1; null where a block has none
   */
  public List<Trial> trials(String arm, boolean withExcluded) {
    List<String> excluded = new ArrayList<>();
    record.at("/plan/exclude").forEach(verdict -> excluded.add(verdict.asText()));
    List<Trial> trials = new ArrayList<>();
    for (int block = 1; block <= blocks(); block++) {
      int number = block;
      List<Trial> complete =
          attempts.stream()
              .filter(trial -> trial.block() == number && trial.arm().equals(arm))
              .filter(Trial::isComplete)
              .toList();
      trials.add(
          complete.stream()
              .filter(trial -> trial.verdict().equals(TRUSTED))
              .findFirst()
              .orElseGet(
                  () ->
                      complete.stream()
                          .filter(trial -> withExcluded || !excluded.contains(trial.verdict()))
                          .findFirst()
                          .orElse(null)));
    }
    return trials;
  }
}

package io.pqcbench.analysis.bundle;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * An experiment's directory, complete or interrupted: its plan and its trials. Several directories
 * of the same plan, made on as many pairs of machines, are one experiment with the blocks of all.
 */
public final class Experiment {

  private static final String FILE = "experiment.json";
  private static final String SCHEMA = "loadgen-experiment/1";
  private static final String TRUSTED = "TRUSTED";

  /** What has to be the same in all directories of one experiment. */
  private static final List<String> SAME =
      List.of("name", "arms", "baseline", "comparison", "exclude");

  private final JsonNode plan;
  private final List<Arm> arms = new ArrayList<>();
  private final List<Trial> attempts = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private boolean complete = true;
  private int blocks;

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
   * @param host the machine it ran on: its cloud instance, or its name without one
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
      String host,
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

  private Experiment(JsonNode plan) {
    this.plan = plan;
    for (JsonNode arm : plan.path("arms")) {
      arms.add(
          new Arm(
              arm.path("name").asText(),
              arm.path("family").asText(),
              texts(arm.path("cell")),
              arm.path("again").asBoolean()));
    }
  }

  /** Adds a directory's trials, as blocks after those that are there. */
  private void add(Path directory, JsonNode record, String prefix) {
    for (JsonNode trial : record.path("trials")) {
      JsonNode machine = record.at("/sessions/" + trial.path("machine").asInt() + "/machine");
      String instance = machine.at("/instance/id").asText("");
      attempts.add(
          trial(
              directory,
              trial,
              prefix,
              instance.isEmpty() ? machine.path("host").asText() : instance));
    }
    findings.addAll(Run.texts(record.path("findings")));
    complete &= record.path("status").asText().equals("complete");
    blocks += record.at("/plan/blocks").asInt();
  }

  /** Returns whether a directory is that of an experiment. */
  public static boolean isAt(Path directory) {
    return Files.exists(directory.resolve(FILE));
  }

  /**
   * Reads an experiment.
   *
   * @param directories one, or those of several pairs of machines
   * @throws UnreadableException if one holds no experiment, or of a format that is not known, or
   *     one that planned something else than the first
   */
  public static Experiment read(List<Path> directories) throws UnreadableException, IOException {
    Experiment experiment = null;
    for (int i = 0; i < directories.size(); i++) {
      Path directory = directories.get(i);
      JsonNode record = Run.json(directory, FILE, SCHEMA, "directory of an experiment");
      JsonNode plan = record.path("plan");
      if (plan.path("arms").isEmpty()) {
        throw new UnreadableException(
            "the file is damaged, its plan has no arms: " + directory.resolve(FILE));
      }
      if (experiment == null) {
        experiment = new Experiment(plan);
      }
      for (String what : SAME) {
        if (!plan.path(what).equals(experiment.plan.path(what))) {
          throw new UnreadableException(
              "several directories are one experiment only if they have the same plan, and this one"
                  + " has another '"
                  + what
                  + "' than the first; experiments are compared by 'loadgen-report compare A B': "
                  + directory);
        }
      }
      experiment.add(directory, record, directories.size() == 1 ? "" : i + 1 + "/");
    }
    return experiment;
  }

  private Trial trial(Path directory, JsonNode trial, String prefix, String host) {
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
    return new Trial(
        prefix + trial.path("trial").asText(),
        blocks + trial.path("block").asInt(),
        trial.path("position").asInt(),
        trial.path("arm").asText(),
        trial.path("attempt").asInt(),
        host,
        trial.path("verdict").asText(),
        Run.texts(trial.path("objections")),
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

  /** Returns the plan, of several directories that of the first. */
  public JsonNode plan() {
    return plan;
  }

  /** Returns its name. */
  public String name() {
    return plan.path("name").asText();
  }

  /** Returns whether every trial that was planned has been made. */
  public boolean isComplete() {
    return complete;
  }

  /** Returns how many blocks were planned. */
  public int blocks() {
    return blocks;
  }

  /** Returns the metrics whose comparison was declared before the first trial. */
  public List<String> metrics() {
    return Run.texts(plan.at("/comparison/metrics"));
  }

  /** Returns what the client found when it compared the trials' conditions. */
  public List<String> findings() {
    return findings;
  }

  /** Returns the arms in the order of the plan. */
  public List<Arm> arms() {
    return arms;
  }

  /** Returns the arm with which another is compared; null if nothing is. */
  public Arm baselineOf(Arm arm) {
    String family = plan.path("baseline").asText();
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
    List<String> excluded = Run.texts(plan.path("exclude"));
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

  /** Returns {@link #trials} without the blocks that have none. */
  public List<Trial> present(String arm, boolean withExcluded) {
    return trials(arm, withExcluded).stream().filter(Objects::nonNull).toList();
  }
}

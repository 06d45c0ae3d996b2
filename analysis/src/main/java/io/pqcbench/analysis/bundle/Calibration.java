package io.pqcbench.analysis.bundle;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The directory of a calibration: the load generator itself, at rising rates.
 *
 * @param target what was loaded
 * @param sharesMachine whether target and client shared a machine
 * @param highestTrusted the highest rate whose trial was TRUSTED, per second; NaN if none was
 * @param recommended the rate to use, per second; NaN if there is none
 * @param gaveOut what gave out first, in the client's words
 * @param steps in the order in which they were made
 */
public record Calibration(
    String target,
    boolean sharesMachine,
    double highestTrusted,
    double recommended,
    List<String> gaveOut,
    List<Step> steps) {

  private static final String FILE = "calibration.json";
  private static final String SCHEMA = "loadgen-calibration/1";

  /**
   * One rate.
   *
   * @param rate offered, per second
   * @param trusted whether the calibration took it for trusted
   * @param run its bundle
   */
  public record Step(double rate, boolean trusted, Run run) {}

  /** Returns whether a directory is that of a calibration. */
  public static boolean isAt(Path directory) {
    return Files.exists(directory.resolve(FILE));
  }

  /**
   * Reads a calibration.
   *
   * @throws UnreadableException if its format is not known, or a trial is damaged
   */
  public static Calibration read(Path directory) throws UnreadableException, IOException {
    JsonNode json = Run.json(directory, FILE, SCHEMA, "directory of a calibration");
    List<Step> steps = new ArrayList<>();
    for (JsonNode step : json.path("steps")) {
      steps.add(
          new Step(
              step.path("ratePerSecond").asDouble(),
              step.path("trusted").asBoolean(),
              Run.read(directory.resolve(step.path("directory").asText()))));
    }
    return new Calibration(
        json.path("target").asText(),
        json.path("sharesMachine").asBoolean(),
        json.path("highestTrustedPerSecond").asDouble(Double.NaN),
        json.path("recommendedPerSecond").asDouble(Double.NaN),
        Run.texts(json.path("gaveOut")),
        steps);
  }
}

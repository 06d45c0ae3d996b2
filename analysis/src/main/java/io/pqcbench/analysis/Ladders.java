package io.pqcbench.analysis;

import io.pqcbench.analysis.Charts.Knee;
import io.pqcbench.analysis.Charts.Ladder;
import io.pqcbench.analysis.Charts.Rung;
import io.pqcbench.analysis.bundle.Calibration;
import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.UnreadableException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How a rate ladder is made of an experiment. */
final class Ladders {
  private static final String RATE = "rate";
  private static final String CALIBRATION = "calibration";
  private static final List<String> METRICS =
      List.of("response.p50", "response.p99", "handshake.p50", "handshake.p99");

  /** A rung whose rate is below this share of the offered one has given way. */
  private static final double SHARE = 0.99;

  /** So has one whose median response is so many times the lowest rung's. */
  private static final double TIMES = 2;

  private Ladders() {}

  /** Returns null if the arms do not differ in their rate. */
  static Ladder of(Experiment experiment) throws UnreadableException, IOException {
    List<Experiment.Arm> arms =
        experiment.arms().stream()
            .filter(arm -> !arm.again() && arm.cell().containsKey(RATE))
            .toList();
    if (arms.stream().map(arm -> arm.cell().get(RATE)).distinct().count() < 2) {
      return null;
    }
    Map<String, List<Rung>> series = new LinkedHashMap<>();
    for (Experiment.Arm arm : arms) {
      Rung rung = rung(experiment, arm);
      if (rung != null) {
        series.computeIfAbsent(rung.series(), name -> new ArrayList<>()).add(rung);
      }
    }
    List<Rung> rungs = new ArrayList<>();
    List<Knee> knees = new ArrayList<>();
    series.forEach(
        (name, ours) -> {
          ours.sort(Comparator.comparingDouble(Rung::offered));
          rungs.addAll(ours);
          knees.add(knee(name, ours));
        });
    return new Ladder(rungs, knees);
  }

  /** Each step is a rung of one trial; one that is not trusted is shown as excluded. */
  static Ladder of(Calibration calibration, List<Report.TrialOf> trials) {
    List<Rung> rungs = new ArrayList<>();
    for (int i = 0; i < calibration.steps().size(); i++) {
      Calibration.Step step = calibration.steps().get(i);
      Trial what = trials.get(i).what();
      Map<String, Double> micros = new LinkedHashMap<>();
      METRICS.forEach(metric -> micros.put(metric, what.figure(metric)));
      rungs.add(
          new Rung(
              CALIBRATION,
              trials.get(i).arm(),
              step.rate(),
              perSecond(step.run(), "achieved"),
              perSecond(step.run(), "completed"),
              1,
              what.count(),
              !step.trusted(),
              Map.of(what.verdict(), 1),
              micros));
    }
    rungs.sort(Comparator.comparingDouble(Rung::offered));
    double gaveOutAt =
        rungs.stream()
            .filter(Rung::excluded)
            .mapToDouble(Rung::offered)
            .findFirst()
            .orElse(Double.NaN);
    String why =
        Double.isNaN(gaveOutAt)
            ? "no rung gave way"
            : "the trial was not trusted: " + String.join(", ", calibration.gaveOut());
    return new Ladder(
        rungs, List.of(new Knee(CALIBRATION, calibration.highestTrusted(), gaveOutAt, why)));
  }

  private static double perSecond(Run run, String rate) {
    return run.summary() == null
        ? Double.NaN
        : run.summary().path(rate + "PerSecond").asDouble(Double.NaN);
  }

  private static Rung rung(Experiment experiment, Experiment.Arm arm)
      throws UnreadableException, IOException {
    List<Experiment.Trial> counting = experiment.present(arm.name(), false);
    boolean excluded = counting.isEmpty();
    List<Experiment.Trial> shown = excluded ? experiment.present(arm.name(), true) : counting;
    if (shown.isEmpty()) {
      return null;
    }
    Map<String, List<Double>> rates = new LinkedHashMap<>();
    Map<String, Integer> verdicts = new TreeMap<>();
    for (Experiment.Trial trial : shown) {
      Run run = Run.read(trial.bundle());
      for (String rate : List.of("offered", "achieved", "completed")) {
        rates.computeIfAbsent(rate, name -> new ArrayList<>()).add(perSecond(run, rate));
      }
      verdicts.merge(trial.verdict(), 1, Integer::sum);
    }
    Map<String, Double> micros = new LinkedHashMap<>();
    METRICS.forEach(metric -> micros.put(metric, Charts.median(shown, t -> t.figure(metric))));
    return new Rung(
        series(arm),
        arm.name(),
        Charts.median(rates.get("offered"), v -> v),
        Charts.median(rates.get("achieved"), v -> v),
        Charts.median(rates.get("completed"), v -> v),
        shown.size(),
        shown.stream().mapToLong(Experiment.Trial::count).min().orElse(0),
        excluded,
        verdicts,
        micros);
  }

  private static String series(Experiment.Arm arm) {
    StringBuilder name = new StringBuilder(arm.family());
    arm.cell()
        .forEach(
            (key, value) -> {
              if (!key.equals(RATE)) {
                name.append('@').append(key).append('=').append(value);
              }
            });
    return name.toString();
  }

  private static Knee knee(String series, List<Rung> rungs) {
    double above = Double.NaN;
    for (Rung rung : rungs) {
      String why = why(rung, rungs.get(0));
      if (why != null) {
        return new Knee(series, above, rung.offered(), why);
      }
      above = rung.offered();
    }
    return new Knee(series, above, Double.NaN, "no rung gave way");
  }

  private static String why(Rung rung, Rung lowest) {
    if (rung.achieved() < SHARE * rung.offered()) {
      return "less than 99 % of what was offered was started";
    }
    if (rung.completed() < SHARE * rung.offered()) {
      return "less than 99 % of what was offered was completed";
    }
    if (rung.excluded()) {
      return "the plan excludes all its trials";
    }
    return rung.micros().get("response.p50") > TIMES * lowest.micros().get("response.p50")
        ? "the median response is more than twice the lowest rung's"
        : null;
  }
}

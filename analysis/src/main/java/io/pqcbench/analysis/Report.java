package io.pqcbench.analysis;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.pqcbench.analysis.bundle.Calibration;
import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.statistics.Distribution;
import io.pqcbench.analysis.statistics.Variance;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * Everything that a report shows, whatever its form: what is not in here is in no table, and no
 * chart has other data.
 *
 * @param schema of the JSON form
 * @param title of the experiment or the run
 * @param question that it was to answer; null without one
 * @param source where it was read from
 * @param complete whether everything that was planned has been measured
 * @param arms in the order of the plan; one for a single run
 * @param trials that count, in the order in which they ran
 * @param comparisons of arms with the baseline; empty for a single run
 * @param split of the differences by phase; empty for a single run
 * @param charts of the trials that count
 * @param claims what the numbers can and cannot support
 */
public record Report(
    String schema,
    String title,
    String question,
    String source,
    boolean complete,
    List<Arm> arms,
    List<TrialOf> trials,
    List<Comparison> comparisons,
    List<Split> split,
    Charts charts,
    List<Claims.Claim> claims) {

  /** Of the JSON form. */
  public static final String SCHEMA = "loadgen-report/1";

  /** What is compared beyond what an experiment declares: the parts of a handshake. */
  private static final List<String> EXPLORED =
      List.of(
          "response.p50",
          "response.p99",
          "handshake.p50",
          "handshake.p99",
          "handshake.mean",
          "hello.mean",
          "flight.mean",
          "finish.mean",
          "connect.mean",
          "lag.mean",
          "ttlb.mean");

  private static final List<String> PARTS =
      List.of("lag", "connect", "hello", "flight", "finish", "ttlb");

  /**
   * One of the things that were compared.
   *
   * @param name unique
   * @param again whether it is the baseline a second time
   * @param trials that count
   * @param attempts in all
   * @param conditions of its first trial
   * @param variance of the handshake, microseconds
   */
  public record Arm(
      String name,
      boolean again,
      int trials,
      long attempts,
      Map<String, String> conditions,
      Variance variance) {}

  /**
   * A trial that counts.
   *
   * @param name of it
   * @param arm by name
   * @param block from 1
   * @param position in the block, from 1
   * @param host the machine it ran on; of a single run {@code -}
   * @param cpuMicros client CPU time, microseconds a handshake; NaN if not known
   * @param bytesOut handshake bytes sent, mean
   * @param bytesIn handshake bytes read, mean
   * @param what it says by itself
   */
  public record TrialOf(
      String name,
      String arm,
      int block,
      int position,
      String host,
      double cpuMicros,
      double bytesOut,
      double bytesIn,
      @JsonProperty("figures") Trial what) {}

  /**
   * Where a difference arises.
   *
   * @param arm by name
   * @param baseline by name
   * @param parts mean shift by phase, microseconds
   * @param cpuMicros difference of client CPU time, microseconds a handshake
   * @param bytesOut difference of the handshake's bytes sent
   * @param bytesIn difference of the handshake's bytes read
   */
  public record Split(
      String arm,
      String baseline,
      Map<String, Comparison> parts,
      double cpuMicros,
      double bytesOut,
      double bytesIn) {}

  /**
   * Reads an experiment, a calibration, or a run.
   *
   * @param directories of an experiment, or those of the same one on several pairs of machines; or
   *     of a calibration; or the bundles of the machines that made a run together
   * @throws UnreadableException if they are neither, or damaged
   */
  public static Report of(List<Path> directories) throws UnreadableException, IOException {
    if (isExperiment(directories)) {
      return of(Experiment.read(directories), sources(directories));
    }
    if (Calibration.isAt(directories.get(0)) && directories.size() == 1) {
      return of(Calibration.read(directories.get(0)), sources(directories));
    }
    List<Run> shards = new ArrayList<>();
    for (Path directory : directories) {
      shards.add(Run.read(directory));
    }
    return ofShards(shards, sources(directories));
  }

  /**
   * Returns whether directories are an experiment's, and not the bundles of a run.
   *
   * @throws UnreadableException if one does not exist, or some are the one and some the other
   */
  public static boolean isExperiment(List<Path> directories) throws UnreadableException {
    for (Path directory : directories) {
      if (!Files.isDirectory(directory)) {
        throw new UnreadableException("there is no such directory: " + directory);
      }
      if (Experiment.isAt(directory) != Experiment.isAt(directories.get(0))) {
        throw new UnreadableException(
            "several directories are the shards of one run, or one experiment on several pairs of"
                + " machines, but not both: "
                + directories.get(0)
                + " "
                + directory);
      }
    }
    return Experiment.isAt(directories.get(0));
  }

  private static String sources(List<Path> directories) {
    return directories.stream().map(Path::toString).collect(Collectors.joining(" "));
  }

  private static Report ofShards(List<Run> shards, String source)
      throws UnreadableException, IOException {
    String name = shards.get(0).directory().toAbsolutePath().normalize().getFileName().toString();
    TrialOf trial = trial(shards, name, "run", 1, 1, "-");
    Charts.Builder charts = new Charts.Builder();
    charts.add(name, "run", 1, shards);
    return new Report(
        SCHEMA,
        name + (shards.size() > 1 ? " and " + (shards.size() - 1) + " more shards" : ""),
        null,
        source,
        shards.stream()
            .allMatch(
                run -> run.summary() != null && !run.summary().path("interrupted").asBoolean()),
        List.of(new Arm("run", false, 1, 1, Map.of(), Variance.split(List.of()))),
        List.of(trial),
        List.of(),
        List.of(),
        charts.build(),
        Stream.concat(
                Shards.claims(shards).stream(),
                Stream.of(
                    new Claims.Claim(
                        "trials",
                        false,
                        "One run says nothing of how another would come out; for that it takes an"
                            + " experiment.")))
            .toList());
  }

  /** A calibration is a rate ladder of one trial a rung, and each rung an arm. */
  private static Report of(Calibration calibration, String source)
      throws UnreadableException, IOException {
    List<TrialOf> trials = new ArrayList<>();
    List<Arm> arms = new ArrayList<>();
    Charts.Builder charts = new Charts.Builder();
    for (Calibration.Step step : calibration.steps()) {
      String name = step.run().directory().getFileName().toString();
      String arm = String.format(Locale.ROOT, "%.0f/s", step.rate());
      List<Run> bundle = List.of(step.run());
      trials.add(trial(bundle, name, arm, trials.size() + 1, 1, "-"));
      charts.add(name, arm, trials.size(), bundle);
    }
    for (String arm : trials.stream().map(TrialOf::arm).distinct().toList()) {
      int count = (int) trials.stream().filter(trial -> trial.arm().equals(arm)).count();
      arms.add(new Arm(arm, false, count, count, Map.of(), variance(trials, arm)));
    }
    return new Report(
        SCHEMA,
        "Calibration against " + calibration.target(),
        null,
        source,
        true,
        arms,
        trials,
        List.of(),
        List.of(),
        charts.build(calibration, trials),
        Claims.of(calibration));
  }

  private static Report of(Experiment experiment, String source)
      throws UnreadableException, IOException {
    Map<Path, Map<String, Distribution>> samples = new HashMap<>();
    List<TrialOf> trials = new ArrayList<>();
    List<Arm> arms = new ArrayList<>();
    Charts.Builder charts = new Charts.Builder();
    for (Experiment.Arm arm : experiment.arms()) {
      List<Experiment.Trial> counting = experiment.present(arm.name(), false);
      for (Experiment.Trial trial : counting) {
        List<Run> bundle = List.of(Run.read(trial.bundle()));
        trials.add(
            trial(bundle, trial.name(), arm.name(), trial.block(), trial.position(), trial.host()));
        samples.put(trial.bundle(), distributions(bundle, experiment.metrics()));
        charts.add(trial.name(), arm.name(), trial.block(), bundle);
      }
      long attempts =
          experiment.attempts().stream().filter(t -> t.arm().equals(arm.name())).count();
      arms.add(
          new Arm(
              arm.name(),
              arm.again(),
              counting.size(),
              attempts,
              counting.isEmpty() ? Map.of() : counting.get(0).conditions(),
              variance(trials, arm.name())));
    }
    List<String> order = experiment.attempts().stream().map(Experiment.Trial::name).toList();
    trials.sort(Comparator.comparingInt(trial -> order.indexOf(trial.name())));
    List<Comparison> comparisons = Comparison.of(experiment, EXPLORED, false, samples);
    List<Comparison> withExcluded = Comparison.of(experiment, EXPLORED, true, Map.of());
    String question = experiment.plan().path("question").asText(null);
    return new Report(
        SCHEMA,
        experiment.name(),
        question == null || question.equals("null") ? null : question,
        source,
        experiment.isComplete(),
        arms,
        trials,
        comparisons,
        split(experiment, comparisons, trials),
        charts.build(experiment),
        Claims.of(experiment, comparisons, withExcluded));
  }

  private static Variance variance(List<TrialOf> trials, String arm) {
    List<Variance.Trial> moments = new ArrayList<>();
    for (TrialOf trial : trials) {
      Trial.Moments of = trial.what().moments().get("handshake");
      if (trial.arm().equals(arm) && of.count() > 0) {
        moments.add(new Variance.Trial(trial.host(), of.mean(), of.deviation(), of.count()));
      }
    }
    return Variance.split(moments);
  }

  /** What a bootstrap draws from: the samples of the phases of these metrics, microseconds. */
  private static Map<String, Distribution> distributions(List<Run> shards, List<String> metrics)
      throws UnreadableException, IOException {
    Map<String, Distribution> distributions = new HashMap<>();
    for (String phase :
        metrics.stream().map(m -> m.substring(0, m.indexOf('.'))).distinct().toList()) {
      Histogram merged = Trial.merged(shards, phase);
      if (merged.getTotalCount() > 0) {
        DoubleStream.Builder values = DoubleStream.builder();
        LongStream.Builder counts = LongStream.builder();
        for (HistogramIterationValue step : merged.recordedValues()) {
          values.add(step.getValueIteratedTo() / 1e3);
          counts.add(step.getCountAtValueIteratedTo());
        }
        distributions.put(
            phase, Distribution.of(values.build().toArray(), counts.build().toArray()));
      }
    }
    return distributions;
  }

  private static TrialOf trial(
      List<Run> shards, String name, String arm, int block, int position, String host)
      throws UnreadableException, IOException {
    return new TrialOf(
        name,
        arm,
        block,
        position,
        host,
        number(shards, "clientCpuMicrosPerHandshake"),
        number(shards, "bytesOutPerHandshake"),
        number(shards, "bytesInPerHandshake"),
        Trial.of(shards));
  }

  /** Means a handshake, of shards with about as many of them each. */
  private static double number(List<Run> shards, String field) {
    return shards.stream()
        .mapToDouble(
            run ->
                run.summary() == null ? Double.NaN : run.summary().path(field).asDouble(Double.NaN))
        .average()
        .orElse(Double.NaN);
  }

  private static List<Split> split(
      Experiment experiment, List<Comparison> comparisons, List<TrialOf> trials) {
    List<Split> splits = new ArrayList<>();
    for (Experiment.Arm arm : experiment.arms()) {
      Experiment.Arm baseline = experiment.baselineOf(arm);
      if (baseline == null) {
        continue;
      }
      Map<String, Comparison> parts = new LinkedHashMap<>();
      for (String part : PARTS) {
        comparisons.stream()
            .filter(c -> c.arm().equals(arm.name()) && c.metric().equals(part + ".mean"))
            .filter(c -> c.shift() != null)
            .forEach(c -> parts.put(part, c));
      }
      splits.add(
          new Split(
              arm.name(),
              baseline.name(),
              parts,
              mean(trials, arm.name(), 0) - mean(trials, baseline.name(), 0),
              mean(trials, arm.name(), 1) - mean(trials, baseline.name(), 1),
              mean(trials, arm.name(), 2) - mean(trials, baseline.name(), 2)));
    }
    return splits;
  }

  private static double mean(List<TrialOf> trials, String arm, int what) {
    return trials.stream()
        .filter(trial -> trial.arm().equals(arm))
        .mapToDouble(
            trial -> what == 0 ? trial.cpuMicros() : what == 1 ? trial.bytesOut() : trial.bytesIn())
        .average()
        .orElse(Double.NaN);
  }
}

package io.pqcbench.analysis.report;

import io.pqcbench.analysis.Report;
import io.pqcbench.analysis.Trial;
import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.UnreadableException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * Percentile distributions in the text form of HdrHistogram, microseconds, for its plotter and for
 * whatever else reads it.
 *
 * <p>The histograms of an arm's trials are added up: a picture of all that was measured, from which
 * no difference between arms follows, because the unit is the trial.
 */
public final class Hgrm {

  private static final int TICKS_PER_HALF = 5;
  private static final double NANOS_PER_MICRO = 1e3;

  private Hgrm() {}

  /**
   * Returns the distribution of each arm that has a trial which counts, by the arm's name; of a
   * run, by {@code run}.
   *
   * @param directories as {@link Report#of} takes them
   * @param phase one of {@link Trial#PHASES}
   * @throws UnreadableException if they are no experiment and no run, or damaged
   */
  public static Map<String, String> of(List<Path> directories, String phase)
      throws UnreadableException, IOException {
    Map<String, List<Run>> arms = new LinkedHashMap<>();
    if (Report.isExperiment(directories)) {
      Experiment experiment = Experiment.read(directories);
      for (Experiment.Arm arm : experiment.arms()) {
        for (Experiment.Trial trial : experiment.present(arm.name(), false)) {
          arms.computeIfAbsent(arm.name(), name -> new ArrayList<>()).add(Run.read(trial.bundle()));
        }
      }
    } else {
      for (Path directory : directories) {
        arms.computeIfAbsent("run", name -> new ArrayList<>()).add(Run.read(directory));
      }
    }
    Map<String, String> texts = new LinkedHashMap<>();
    for (Map.Entry<String, List<Run>> arm : arms.entrySet()) {
      texts.put(arm.getKey(), text(Trial.merged(arm.getValue(), phase)));
    }
    return texts;
  }

  private static String text(Histogram histogram) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    histogram.outputPercentileDistribution(out, TICKS_PER_HALF, NANOS_PER_MICRO);
    return bytes.toString(StandardCharsets.UTF_8);
  }
}

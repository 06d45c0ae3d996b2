package io.pqcbench.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.report.Markdown;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The sample experiment: bundles that the client wrote, not the tests. */
class SampleTest {

  private static final Path SAMPLE = Path.of("..", "samples", "loopback");
  private static Report report;
  private static Experiment experiment;

  @BeforeAll
  static void read() throws Exception {
    report = Report.of(List.of(SAMPLE.resolve("bundle")));
    experiment = Experiment.read(List.of(SAMPLE.resolve("bundle")));
  }

  /** The client computed its figures from its own histograms, before it wrote them. */
  @Test
  void theFiguresReadFromTheHistogramsAreThoseThatTheClientWrote() {
    assertThat(report.trials()).isNotEmpty();
    for (Report.TrialOf trial : report.trials()) {
      Experiment.Trial written =
          experiment.attempts().stream()
              .filter(attempt -> attempt.name().equals(trial.name()))
              .findFirst()
              .orElseThrow();
      assertThat(trial.what().count()).isEqualTo(written.count());
      for (String phase : Trial.PHASES) {
        for (String name : List.of("p50", "p90", "p99", "p99.9")) {
          double micros = trial.what().phases().get(phase).get(name).micros();
          if (Double.isNaN(written.figure(phase + "." + name))) {
            assertThat(micros).isNaN();
          } else {
            assertThat(micros).isCloseTo(written.figure(phase + "." + name), within(0.001));
          }
        }
      }
    }
  }

  /** How the machine fared when the sample was made decides how many there are, if any. */
  @Test
  void saturatedTrialsAreLeftOutAndSaid() {
    long saturated =
        experiment.attempts().stream()
            .filter(attempt -> attempt.verdict().equals("SATURATED"))
            .count();
    assertThat(report.trials()).hasSize(experiment.attempts().size() - (int) saturated);
    assertThat(report.claims())
        .filteredOn(claim -> claim.topic().equals("exclusions"))
        .singleElement()
        .satisfies(
            claim ->
                assertThat(claim.text())
                    .contains(
                        saturated == 0 ? "No trial was left out" : saturated + " of the trials"));
  }

  @Test
  void trialsAreInTheOrderInWhichTheyRan() {
    assertThat(report.trials().stream().map(trial -> trial.name().substring(0, 5)).toList())
        .isSorted();
  }

  @Test
  void theReportBesideItIsTheOneThatIsMadeOfIt() throws Exception {
    assertThat(Markdown.of(report)).isEqualTo(Files.readString(SAMPLE.resolve("report.md")));
  }
}

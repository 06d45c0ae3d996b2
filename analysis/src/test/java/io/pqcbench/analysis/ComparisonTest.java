package io.pqcbench.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.analysis.bundle.Bundles;
import io.pqcbench.analysis.bundle.Experiment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ComparisonTest {

  @TempDir private Path directory;

  private static double[] around(double level, double step) {
    return IntStream.range(0, 10).mapToDouble(i -> level + (i * 7 % 10 - 4.5) * step).toArray();
  }

  private List<Claims.Claim> claims(Bundles.Trials trials) throws Exception {
    Experiment experiment = Experiment.read(List.of(trials.write(directory.resolve("e"))));
    return Claims.of(
        experiment,
        Comparison.of(experiment, List.of(), false, Map.of()),
        Comparison.of(experiment, List.of(), true, Map.of()));
  }

  private Comparison compare(Bundles.Trials trials) throws Exception {
    Experiment experiment = Experiment.read(List.of(trials.write(directory.resolve("e"))));
    return Comparison.of(experiment, List.of(), false, Map.of()).stream()
        .filter(comparison -> !comparison.again())
        .findFirst()
        .orElseThrow();
  }

  /** What the old benchmark published: p99 of three trials an arm, in milliseconds. */
  @Test
  void theThreeTrialsOfTheOldBenchmarkCannotClaimADifferenceOfTheTail() throws Exception {
    Bundles.Trials old =
        new Bundles.Trials(3, "response.p99")
            .arm("classical", 4_000, 5_000, 5_000)
            .arm("hybrid", 5_000, 8_000, 39_000);

    assertThat(compare(old).conclusion()).isEqualTo(Comparison.Conclusion.TOO_FEW_TRIALS);
    assertThat(claims(old))
        .filteredOn(claim -> claim.topic().equals("difference"))
        .singleElement()
        .satisfies(
            claim -> {
              assertThat(claim.supported()).isFalse();
              assertThat(claim.text())
                  .contains("3 blocks cannot give a p below 0.250")
                  .contains("no difference can be claimed")
                  .contains("+1000.0, +3000.0, +34000.0 us");
            });
  }

  @Test
  void aClearShiftIsClaimedWithItsIntervalAndItsP() throws Exception {
    double[] base = around(1_000, 4);
    double[] other = DoubleStream.of(around(1_120, 5)).toArray();
    Comparison comparison =
        compare(new Bundles.Trials(10, "handshake.p50").arm("a", base).arm("b", other).margin(250));

    assertThat(comparison.conclusion()).isEqualTo(Comparison.Conclusion.DIFFERENT);
    assertThat(comparison.shift().p()).isEqualTo(2 / 1024.0);
    assertThat(comparison.shift().shift().low()).isGreaterThan(100);
    assertThat(comparison.isBelowMargin()).isTrue();
  }

  @Test
  void noDifferenceIsClaimedOnlyWithinTheDeclaredMargin() throws Exception {
    double[] base = around(1_000, 4);
    double[] same = IntStream.range(0, 10).mapToDouble(i -> base[i] + (i % 2 * 2 - 1)).toArray();
    Bundles.Trials trials =
        new Bundles.Trials(10, "handshake.p50").arm("a", base).arm("b", same).margin(20);

    assertThat(compare(trials).conclusion()).isEqualTo(Comparison.Conclusion.EQUIVALENT);

    double[] wild =
        IntStream.range(0, 10).mapToDouble(i -> base[i] + (i % 2 * 2 - 1) * 90).toArray();
    Bundles.Trials unclear =
        new Bundles.Trials(10, "handshake.p50").arm("a", base).arm("b", wild).margin(20);
    assertThat(compare(unclear).conclusion()).isEqualTo(Comparison.Conclusion.UNDECIDED);
    assertThat(claims(unclear))
        .anyMatch(
            claim ->
                !claim.supported()
                    && claim.text().contains("neither a difference nor its absence"));
  }

  @Test
  void excludedTrialsAreNamedAndTheResultIsShownWithThem() throws Exception {
    Bundles.Trials trials =
        new Bundles.Trials(10, "handshake.p50")
            .arm("a", around(1_000, 4))
            .arm("b", around(1_100, 4))
            .verdict("b03-b", "SATURATED");

    assertThat(compare(trials).differences()).hasSize(9);
    assertThat(claims(trials))
        .filteredOn(claim -> claim.topic().equals("exclusions"))
        .singleElement()
        .satisfies(
            claim -> assertThat(claim.text()).contains("1 of the trials").contains("with them"));
  }

  @Test
  void theBaselineAgainstItselfIsTheNoiseFloorAndNoComparison() throws Exception {
    Bundles.Trials trials =
        new Bundles.Trials(10, "handshake.p50")
            .arm("a", around(1_000, 4))
            .arm("a-aa", around(1_001, -4))
            .arm("b", around(1_100, 4));

    assertThat(claims(trials))
        .filteredOn(claim -> claim.topic().equals("noise floor"))
        .hasSizeGreaterThanOrEqualTo(1);
  }

  @Test
  void anInterruptedExperimentSaysSo() throws Exception {
    assertThat(
            claims(
                new Bundles.Trials(10, "handshake.p50")
                    .arm("a", 1, 2, 3, 4)
                    .arm("b", 2, 3, 4)
                    .interrupted()))
        .filteredOn(claim -> claim.topic().equals("completeness"))
        .singleElement()
        .satisfies(claim -> assertThat(claim.text()).contains("3 of 10 blocks"));
  }
}

package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Whether the statements are right as often as they say, for experiments whose truth is known. The
 * latencies are skewed, trials and blocks have levels of their own, and the slow ones come in runs,
 * as stalls make them.
 */
class SimulationTest {

  private static final int EXPERIMENTS = 2_000;
  private static final int BLOCKS = 10;
  private static final int SAMPLES = 1_000;

  /** Three standard deviations of a share of 0.05 in so many experiments. */
  private static final double LUCK = 3 * Math.sqrt(0.05 * 0.95 / EXPERIMENTS);

  private final SplittableRandom random = new SplittableRandom(20_261_202);

  /** The p50 and the p99 of one trial, microseconds. */
  private double[] trial(double block, double shift) {
    double level = block + gaussian() * 10;
    double[] latencies = new double[SAMPLES];
    double stall = 0;
    for (int i = 0; i < SAMPLES; i++) {
      if (stall <= 0 && random.nextDouble() < 0.001) {
        stall = 20_000 * random.nextDouble();
      }
      latencies[i] = level + shift + 300 * Math.exp(0.4 * gaussian()) + Math.max(0, stall);
      stall -= 1_000;
    }
    Arrays.sort(latencies);
    return new double[] {latencies[SAMPLES / 2 - 1], latencies[SAMPLES * 99 / 100 - 1]};
  }

  private double gaussian() {
    double u = 1 - random.nextDouble();
    return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * random.nextDouble());
  }

  /** Differences of each block, for the p50 and for the p99. */
  private double[][] experiment(double shift) {
    double[][] differences = new double[2][BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      double block = 500 + gaussian() * 50;
      double[] baseline = trial(block, 0);
      double[] other = trial(block, shift);
      differences[0][i] = other[0] - baseline[0];
      differences[1][i] = other[1] - baseline[1];
    }
    return differences;
  }

  @Test
  void withoutADifferenceOneIsClaimedNoMoreOftenThanDeclared() {
    int[] claimed = new int[2];
    int claimedAtAll = 0;
    for (int i = 0; i < EXPERIMENTS; i++) {
      double[][] differences = experiment(0);
      double[] p = {Shift.paired(differences[0], 0.95).p(), Shift.paired(differences[1], 0.95).p()};
      double[] adjusted = Holm.adjust(p);
      claimed[0] += p[0] <= 0.05 ? 1 : 0;
      claimed[1] += p[1] <= 0.05 ? 1 : 0;
      claimedAtAll += Math.min(adjusted[0], adjusted[1]) <= 0.05 ? 1 : 0;
    }
    System.out.printf(
        "no difference: claimed p50 %.4f, p99 %.4f, either after Holm %.4f%n",
        claimed[0] / (double) EXPERIMENTS,
        claimed[1] / (double) EXPERIMENTS,
        claimedAtAll / (double) EXPERIMENTS);
    assertThat(claimed[0] / (double) EXPERIMENTS).isBetween(0.02, 0.05 + LUCK);
    assertThat(claimed[1] / (double) EXPERIMENTS).isBetween(0.02, 0.05 + LUCK);
    assertThat(claimedAtAll / (double) EXPERIMENTS).isLessThanOrEqualTo(0.05 + LUCK);
  }

  @Test
  void theIntervalCoversAKnownShiftAtItsNominalRate() {
    double shift = 12;
    int covered = 0;
    int found = 0;
    for (int i = 0; i < EXPERIMENTS; i++) {
      Shift.Result result = Shift.paired(experiment(shift)[0], 0.95);
      covered += result.shift().low() <= shift && shift <= result.shift().high() ? 1 : 0;
      found += result.p() <= 0.05 ? 1 : 0;
    }
    System.out.printf(
        "a shift of %.0f us: covered %.4f, found %.4f%n",
        shift, covered / (double) EXPERIMENTS, found / (double) EXPERIMENTS);
    assertThat(covered / (double) EXPERIMENTS).isBetween(0.95 - LUCK, 0.99);
    assertThat(found).isGreaterThan(EXPERIMENTS / 10);
  }

  @Test
  void equivalenceIsClaimedFalselyNoMoreOftenThanDeclared() {
    double margin = 20;
    int wrong = 0;
    for (int i = 0; i < EXPERIMENTS; i++) {
      wrong += Equivalence.paired(experiment(margin)[0], margin) <= 0.05 ? 1 : 0;
    }
    System.out.printf("at the margin: equivalent %.4f%n", wrong / (double) EXPERIMENTS);
    assertThat(wrong / (double) EXPERIMENTS).isLessThanOrEqualTo(0.05 + LUCK);
  }
}

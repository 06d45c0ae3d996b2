package io.pqcbench.analysis.statistics;

import java.util.Arrays;

/**
 * Whether a difference is smaller than a margin that was fixed before, by two one-sided tests
 * (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987). "No difference was
 * found" is not that: it may only mean that too little was measured.
 */
public final class Equivalence {

  private Equivalence() {}

  /**
   * Tests paired differences.
   *
   * @param differences one a block, at least one
   * @param margin above 0, in the unit of the differences
   * @return the p of "the difference is as large as the margin, or larger"
   */
  public static double paired(double[] differences, double margin) {
    if (!(margin > 0)) {
      throw new IllegalArgumentException("a margin must be above 0: margin=" + margin);
    }
    double[] above = Arrays.stream(differences).map(d -> d + margin).toArray();
    double[] below = Arrays.stream(differences).map(d -> margin - d).toArray();
    return Math.max(Shift.signFlipAbove(above), Shift.signFlipAbove(below));
  }
}

package io.pqcbench.analysis.statistics;

import java.util.Comparator;
import java.util.stream.IntStream;

/** Holm's adjustment for several comparisons (Scandinavian Journal of Statistics 6, 1979). */
public final class Holm {

  private Holm() {}

  /**
   * Adjusts p values, so that comparing each with the level keeps the chance of one false claim or
   * more at that level.
   *
   * @param p of each comparison, 0 to 1
   * @return adjusted, in the same order
   */
  public static double[] adjust(double[] p) {
    int[] order =
        IntStream.range(0, p.length)
            .boxed()
            .sorted(Comparator.comparingDouble(i -> p[i]))
            .mapToInt(Integer::intValue)
            .toArray();
    double[] adjusted = new double[p.length];
    double largest = 0;
    for (int i = 0; i < order.length; i++) {
      largest = Math.max(largest, Math.min(1, (p.length - i) * p[order[i]]));
      adjusted[order[i]] = largest;
    }
    return adjusted;
  }
}

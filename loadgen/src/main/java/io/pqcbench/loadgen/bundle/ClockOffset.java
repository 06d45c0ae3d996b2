package io.pqcbench.loadgen.bundle;

import io.pqcbench.loadgen.monitor.Interval;
import java.util.Arrays;
import java.util.Locale;

/**
 * Estimates by how much two machines' clocks differ, from the TCP segments that both have sent in
 * each tenth of a second: the load begins, wavers and ends on both at the same instant. Good to
 * about a tenth of a second, and to nothing when the traffic never changes; then it says so.
 */
final class ClockOffset {

  private static final long GRID_NANOS = 100_000_000L;
  private static final long STEP_NANOS = 20_000_000L;
  private static final long WIDEST_NANOS = 5_000_000_000L;

  /** With less, the two series have nothing in common. */
  private static final double MIN_CORRELATION = 0.5;

  private static final int MIN_POINTS = 30;

  /** Ten minutes are enough to compare. */
  private static final int MAX_POINTS = 6_000;

  private final Series client = new Series();
  private final Series server = new Series();

  /** Segments sent so far, as a function of time. */
  private static final class Series {
    private long[] at = new long[1024];
    private double[] sum = new double[1024];
    private int points;

    void add(Interval interval) {
      if (points >= MAX_POINTS) {
        return;
      }
      if (points + 1 >= at.length) {
        at = Arrays.copyOf(at, 2 * at.length);
        sum = Arrays.copyOf(sum, 2 * sum.length);
      }
      if (points == 0) {
        at[points++] = interval.startNanos();
      }
      at[points] = interval.endNanos();
      sum[points] = sum[points - 1] + Math.max(0, interval.net().outSegs());
      points++;
    }

    /** Interpolated; constant outside. */
    double sumAt(long nanos) {
      int found = Arrays.binarySearch(at, 0, points, nanos);
      if (found >= 0) {
        return sum[found];
      }
      int after = -found - 1;
      if (after == 0) {
        return 0;
      }
      if (after == points) {
        return sum[points - 1];
      }
      double part = (nanos - at[after - 1]) / (double) Math.max(1, at[after] - at[after - 1]);
      return sum[after - 1] + part * (sum[after] - sum[after - 1]);
    }
  }

  void client(Interval interval) {
    client.add(interval);
  }

  void server(Interval interval) {
    server.add(interval);
  }

  /** Returns the estimate in words with numbers. */
  String estimate() {
    if (client.points < MIN_POINTS || server.points < MIN_POINTS) {
      return "no estimate, too little in common";
    }
    double best = -1;
    long bestShift = 0;
    for (long shift = -WIDEST_NANOS; shift <= WIDEST_NANOS; shift += STEP_NANOS) {
      double correlation = correlation(shift);
      if (correlation > best) {
        best = correlation;
        bestShift = shift;
      }
    }
    return best < MIN_CORRELATION
        ? String.format(
            Locale.ROOT, "no estimate, the traffic is too even (correlation %.2f)", best)
        : String.format(
            Locale.ROOT,
            "the server's clock is ahead by %d ms, +- 100 ms (correlation %.2f)",
            bestShift / 1_000_000,
            best);
  }

  /** Of the client's segments with the server's, whose times are lowered by a shift. */
  private double correlation(long shift) {
    double n = 0;
    double sumX = 0;
    double sumY = 0;
    double sumXx = 0;
    double sumYy = 0;
    double sumXy = 0;
    long end = client.at[client.points - 1];
    for (long at = client.at[0]; at + GRID_NANOS <= end; at += GRID_NANOS) {
      double x = client.sumAt(at + GRID_NANOS) - client.sumAt(at);
      double y = server.sumAt(at + shift + GRID_NANOS) - server.sumAt(at + shift);
      n++;
      sumX += x;
      sumY += y;
      sumXx += x * x;
      sumYy += y * y;
      sumXy += x * y;
    }
    double spread = (n * sumXx - sumX * sumX) * (n * sumYy - sumY * sumY);
    return spread <= 0 ? 0 : (n * sumXy - sumX * sumY) / Math.sqrt(spread);
  }
}

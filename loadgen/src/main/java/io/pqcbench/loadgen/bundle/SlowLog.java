package io.pqcbench.loadgen.bundle;

import java.io.IOException;
import java.io.Writer;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * The slow requests: all above the threshold, as they come, and in the end the slowest of the rest,
 * so that there is always something to look at.
 */
final class SlowLog {

  private static final int SLOWEST = 100;

  private record Slow(long nanos, String line) {}

  private final long thresholdNanos;
  private final Writer out;
  private final PriorityQueue<Slow> slowest =
      new PriorityQueue<>(Comparator.comparingLong(Slow::nanos));
  private long aboveThreshold;

  SlowLog(long thresholdNanos, Writer out) throws IOException {
    this.thresholdNanos = thresholdNanos;
    this.out = out;
    out.write("why," + SampleFormat.header().stripTrailing() + ",cause,evidence\n");
  }

  /** Returns whether a measured success would be kept, at least until slower ones come. */
  boolean wants(long responseNanos) {
    return responseNanos > thresholdNanos
        || slowest.size() < SLOWEST
        || responseNanos > slowest.peek().nanos();
  }

  /** Adds a measured success. */
  void add(long responseNanos, CharSequence line) throws IOException {
    if (responseNanos > thresholdNanos) {
      aboveThreshold++;
      out.append("threshold,").append(line);
    } else if (slowest.size() < SLOWEST) {
      slowest.add(new Slow(responseNanos, line.toString()));
    } else if (responseNanos > slowest.peek().nanos()) {
      slowest.poll();
      slowest.add(new Slow(responseNanos, line.toString()));
    }
  }

  /** Completes the slowest 100 with those below the threshold, the slowest first. */
  void finish() throws IOException {
    long missing = SLOWEST - aboveThreshold;
    for (Slow slow :
        slowest.stream().sorted(Comparator.comparingLong(Slow::nanos).reversed()).toList()) {
      if (missing-- <= 0) {
        return;
      }
      out.append("slowest,").append(slow.line());
    }
  }
}

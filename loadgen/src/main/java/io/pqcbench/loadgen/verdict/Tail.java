package io.pqcbench.loadgen.verdict;

import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.record.SampleBlock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.Collectors;

/**
 * The slowest hundredth of the measured successes, each with its cause. Used by the writer's thread
 * alone.
 */
public final class Tail {

  /** So many are kept at most; of a longer run the tail is less than a hundredth of it. */
  private static final int MAX_KEPT = 20_000;

  /**
   * What lies this close together, from the 10th to the 90th percentile of the tail, is a plateau.
   */
  private static final double PLATEAU = 1.4;

  /** Arrivals so close together that one stop can have met them all. */
  private static final long EPISODE_NANOS = 200_000_000L;

  /** A ramp of fewer points is none. */
  private static final int RAMP_POINTS = 4;

  private static final double RAMP_CORRELATION = -0.8;
  private static final double RAMP_STEEPEST = -1.5;
  private static final double RAMP_FLATTEST = -0.3;

  /** One stop fills a part of a long run's tail. */
  private static final double RAMP_SHARE = 0.25;

  private record Slow(long planned, long response, Cause cause) {}

  private final Attribution attribution;
  private final long start;
  private final int capacity;
  private final PriorityQueue<Slow> slowest =
      new PriorityQueue<>(Comparator.comparingLong(Slow::response));
  private long considered;

  /**
   * @param attribution explains each
   * @param start of the run, on its clock
   * @param plannedMeasured how many arrivals there will be
   */
  public Tail(Attribution attribution, long start, long plannedMeasured) {
    this.attribution = attribution;
    this.start = start;
    this.capacity = (int) Math.max(1, Math.min(MAX_KEPT, plannedMeasured / 100));
  }

  /** Takes a measured success into account. */
  public void add(SampleBlock block, int row) {
    considered++;
    long response = block.nanos(row, Phase.RESPONSE);
    if (slowest.size() < capacity) {
      slowest.add(slow(block, row, response));
    } else if (response > slowest.peek().response()) {
      slowest.poll();
      slowest.add(slow(block, row, response));
    }
  }

  private Slow slow(SampleBlock block, int row, long response) {
    return new Slow(
        block.at(row, Milestone.PLANNED) - start, response, attribution.explain(block, row));
  }

  /**
   * How much of the tail one cause explains.
   *
   * @param cause its name
   * @param fault whose it is
   * @param count how many
   * @param share of the tail, 0 to 1
   * @param example evidence of the slowest of them
   */
  public record Share(String cause, Fault fault, long count, double share, String example) {}

  /**
   * The tail of a run.
   *
   * @param count how many there are
   * @param fromMicros the shortest of them
   * @param distinctSeconds in how many different seconds they were planned
   * @param clustered share of it that lies in the two fullest of them, 0 to 1
   * @param shape plateau, ramp, or neither
   * @param causes the most frequent first
   */
  public record Report(
      long count,
      double fromMicros,
      long distinctSeconds,
      double clustered,
      String shape,
      List<Share> causes) {

    /** Returns the share of a cause; 0 if none has it. */
    public double share(String cause) {
      return causes.stream()
          .filter(share -> share.cause().equals(cause))
          .mapToDouble(Share::share)
          .sum();
    }
  }

  /** Sums up. */
  public Report report() {
    // A run that was cut short has a smaller tail than was planned for.
    long keep = Math.min(slowest.size(), Math.max(1, considered / 100));
    List<Slow> tail =
        slowest.stream()
            .sorted(Comparator.comparingLong(Slow::response).reversed())
            .limit(keep)
            .toList();
    if (tail.isEmpty()) {
      return new Report(0, Double.NaN, 0, Double.NaN, "none", List.of());
    }
    Map<String, List<Slow>> byCause = new LinkedHashMap<>();
    for (Slow slow : tail) {
      byCause.computeIfAbsent(slow.cause().name(), name -> new ArrayList<>()).add(slow);
    }
    List<Share> shares =
        byCause.entrySet().stream()
            .map(
                entry ->
                    new Share(
                        entry.getKey(),
                        entry.getValue().get(0).cause().fault(),
                        entry.getValue().size(),
                        entry.getValue().size() / (double) tail.size(),
                        entry.getValue().get(0).cause().evidence()))
            .sorted(Comparator.comparingLong(Share::count).reversed())
            .toList();
    Map<Long, Long> bySecond =
        tail.stream()
            .collect(
                Collectors.groupingBy(
                    slow -> slow.planned() / 1_000_000_000L, Collectors.counting()));
    long inTwo =
        bySecond.values().stream()
            .sorted(Comparator.reverseOrder())
            .limit(2)
            .mapToLong(Long::longValue)
            .sum();
    return new Report(
        tail.size(),
        tail.get(tail.size() - 1).response() / 1e3,
        bySecond.size(),
        inTwo / (double) tail.size(),
        shape(tail),
        shares);
  }

  /**
   * A stop of length L leaves latencies from 0 to L on the arrivals that were due in it, falling
   * from one to the next by as much as they were due later; a timer leaves many that are alike.
   */
  private static String shape(List<Slow> slowestFirst) {
    int count = slowestFirst.size();
    if (count < RAMP_POINTS) {
      return "too few to tell";
    }
    double high = slowestFirst.get(count / 10).response();
    double low = slowestFirst.get(count - 1 - count / 10).response();
    // What is short against the longest belongs to another story, and would tie episodes together.
    long worth = slowestFirst.get(0).response() / 10;
    List<Slow> inTime =
        slowestFirst.stream()
            .filter(slow -> slow.response() >= worth)
            .sorted(Comparator.comparingLong(Slow::planned))
            .toList();
    int inRamps = 0;
    long steepest = 0;
    int from = 0;
    for (int i = 1; i <= inTime.size(); i++) {
      if (i == inTime.size()
          || inTime.get(i).planned() - inTime.get(i - 1).planned() > EPISODE_NANOS) {
        List<Slow> episode = inTime.subList(from, i);
        if (falls(episode)) {
          inRamps += episode.size();
          steepest =
              Math.max(steepest, episode.stream().mapToLong(Slow::response).max().getAsLong());
        }
        from = i;
      }
    }
    if (inRamps >= count * RAMP_SHARE) {
      return String.format(
          Locale.ROOT,
          "ramp from %s, the trace of a stop (%d of %d)",
          Attribution.millis(steepest),
          inRamps,
          count);
    }
    if (high <= low * PLATEAU) {
      return String.format(
          Locale.ROOT,
          "plateau near %s, many alike",
          Attribution.millis(slowestFirst.get(count / 2).response()));
    }
    return "scattered";
  }

  /**
   * Whether an episode's latencies fall by about as much as their arrivals were due later: a
   * straight line that explains most of them, whose slope is near -1, or flatter because those that
   * waited are worked off one after the other.
   */
  private static boolean falls(List<Slow> episode) {
    int n = episode.size();
    if (n < RAMP_POINTS) {
      return false;
    }
    double meanX = episode.stream().mapToLong(Slow::planned).average().getAsDouble();
    double meanY = episode.stream().mapToLong(Slow::response).average().getAsDouble();
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (Slow slow : episode) {
      double x = slow.planned() - meanX;
      double y = slow.response() - meanY;
      xx += x * x;
      yy += y * y;
      xy += x * y;
    }
    double slope = xy / xx;
    return xx > 0
        && yy > 0
        && xy / Math.sqrt(xx * yy) <= RAMP_CORRELATION
        && slope >= RAMP_STEEPEST
        && slope <= RAMP_FLATTEST;
  }
}

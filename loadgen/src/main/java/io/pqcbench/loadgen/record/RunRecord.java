package io.pqcbench.loadgen.record;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;

/**
 * Everything that one run has recorded so far, summed over its lanes. Used by the writer's thread
 * alone, and by whoever reads it after the run.
 */
public final class RunRecord {

  private final long start;
  private final long measuredFrom;
  private final long highest;
  private final List<LaneRecorder> lanes;
  private final List<Histogram[]> scratch = new ArrayList<>();
  private final Map<Phase, Histogram> totals = new EnumMap<>(Phase.class);
  private final Map<Phase, Histogram> interval = new EnumMap<>(Phase.class);
  private final Map<Phase, Histogram> warmupInterval = new EnumMap<>(Phase.class);
  private final long[] outcomes = new long[Outcome.values().length];
  private final long[] warmupOutcomes = new long[outcomes.length];
  private final Map<ErrorKey, ErrorCount> errors = new TreeMap<>();
  private final Timeline timeline;
  private long retransmitting;
  private long setUps;
  private long failedSetUps;
  private final long[] setUpFailures = new long[Outcome.values().length];
  private final Histogram body;

  /** By target, of full handshakes. */
  private final List<Histogram> connects = new ArrayList<>();

  private final List<Histogram> flightGaps = new ArrayList<>();
  private final ByteTotals bytes = new ByteTotals();

  private final Kinds kinds;

  /** By kind; empty unless there are several. */
  private final List<Part> parts = new ArrayList<>();

  /** Which failures are counted together. */
  public record ErrorKey(Outcome outcome, String diedIn, int detail)
      implements Comparable<ErrorKey> {
    @Override
    public int compareTo(ErrorKey other) {
      int byOutcome = outcome.compareTo(other.outcome);
      int byPhase = diedIn.compareTo(other.diedIn);
      return byOutcome != 0
          ? byOutcome
          : byPhase != 0 ? byPhase : Integer.compare(detail, other.detail);
    }
  }

  /**
   * How many, the first of them in nanoseconds after the start of the run, and what it said (may be
   * null).
   */
  public record ErrorCount(long count, long firstPlannedNanos, String example) {}

  /** Bytes of the measured successes, summed. */
  public static final class ByteTotals {
    private long attempts;
    private long handshakeOut;
    private long handshakeIn;
    private long out;
    private long in;
    private long body;

    private static double mean(long sum, long count) {
      return count == 0 ? Double.NaN : (double) sum / count;
    }

    /** Returns the mean bytes of the client's handshake flights; NaN without a success. */
    public double handshakeOut() {
      return mean(handshakeOut, attempts);
    }

    /** Returns the mean bytes of the server's handshake flights; NaN without a success. */
    public double handshakeIn() {
      return mean(handshakeIn, attempts);
    }

    /** Returns the mean bytes sent on a connection; NaN without a success. */
    public double out() {
      return mean(out, attempts);
    }

    /** Returns the mean bytes read on a connection; NaN without a success. */
    public double in() {
      return mean(in, attempts);
    }

    /** Returns the mean bytes of a response's body; NaN without a success. */
    public double body() {
      return mean(body, attempts);
    }

    /** Returns the bytes of all responses' bodies. */
    public long bodies() {
      return body;
    }
  }

  /**
   * @param start of the run, on the run's clock
   * @param measuredFrom end of the warm-up, on the run's clock
   * @param highest the largest value that the histograms tell apart, in nanoseconds
   * @param lanes what the lanes record
   * @param kinds which attempts are tabulated apart
   */
  public RunRecord(
      long start, long measuredFrom, long highest, List<LaneRecorder> lanes, Kinds kinds) {
    this.kinds = kinds;
    this.start = start;
    this.measuredFrom = measuredFrom;
    this.highest = highest;
    this.lanes = List.copyOf(lanes);
    this.timeline = new Timeline(this.lanes);
    for (int i = 0; i < lanes.size(); i++) {
      scratch.add(new Histogram[Phase.ALL.size() * 2]);
    }
    this.body = newHistogram("body");
    for (String target : kinds.targets()) {
      connects.add(newHistogram("connect-" + target));
      flightGaps.add(newHistogram("flight-gap-" + target));
    }
    for (Phase phase : Phase.ALL) {
      totals.put(phase, newHistogram(phase.label()));
      interval.put(phase, newHistogram(phase.label()));
      warmupInterval.put(phase, newHistogram("warmup-" + phase.label()));
    }
    if (kinds.several()) {
      kinds.names().forEach(name -> parts.add(new Part(name)));
    }
  }

  /** What is recorded of one kind of attempts, measured ones only. */
  public final class Part {
    private final String name;
    private final long[] outcomes = new long[Outcome.values().length];
    private final Map<Phase, Histogram> totals = new EnumMap<>(Phase.class);

    private Part(String name) {
      this.name = name;
      Phase.ALL.forEach(phase -> totals.put(phase, newHistogram(phase.label())));
    }

    private void add(SampleBlock block, int row, Outcome outcome) {
      outcomes[outcome.ordinal()]++;
      if (outcome == Outcome.SUCCESS) {
        for (Phase phase : Phase.ALL) {
          long nanos = block.nanos(row, phase);
          if (nanos != Attempt.UNSET) {
            totals.get(phase).recordValue(Math.min(highest, nanos));
          }
        }
      }
    }

    /** Returns the name of the kind. */
    public String name() {
      return name;
    }

    /** Returns how many attempts ended in this way. */
    public long count(Outcome outcome) {
      return outcomes[outcome.ordinal()];
    }

    /** Returns the values of a phase, in nanoseconds. */
    public Histogram total(Phase phase) {
      return totals.get(phase);
    }
  }

  private Histogram newHistogram(String tag) {
    Histogram histogram = new Histogram(1, highest, LaneRecorder.SIGNIFICANT_DIGITS);
    histogram.setTag(tag);
    return histogram;
  }

  /**
   * Sums what the lanes recorded since the last call into the interval's histograms and, if
   * measured, the totals.
   */
  public void nextInterval() {
    for (Phase phase : Phase.ALL) {
      Histogram now = interval.get(phase);
      Histogram warm = warmupInterval.get(phase);
      now.reset();
      warm.reset();
      now.setTag(phase.label());
      warm.setTag("warmup-" + phase.label());
      for (int i = 0; i < lanes.size(); i++) {
        lanes.get(i).drain(phase, true, scratch.get(i), now);
        lanes.get(i).drain(phase, false, scratch.get(i), warm);
      }
      totals.get(phase).add(now);
    }
  }

  /** Adds samples to the tallies. */
  public void add(SampleBlock block) {
    for (int row = 0; row < block.rows(); row++) {
      long planned = block.at(row, Milestone.PLANNED);
      boolean measured = planned >= measuredFrom;
      Outcome outcome = block.outcome(row);
      (measured ? outcomes : warmupOutcomes)[outcome.ordinal()]++;
      if (measured && !parts.isEmpty()) {
        parts.get(kinds.of(block, row)).add(block, row, outcome);
      }
      if (outcome == Outcome.SUCCESS) {
        timeline.done(block.at(row, Milestone.DONE) - start);
        if (measured) {
          retransmitting += block.retransmits(row) > 0 ? 1 : 0;
          body.recordValue(Math.min(highest, block.bodyNanos(row)));
          addFullHandshake(block, row);
        }
        if (measured) {
          bytes.attempts++;
          bytes.handshakeOut += block.handshakeBytesOut(row);
          bytes.handshakeIn += block.handshakeBytesIn(row);
          bytes.out += block.bytesOut(row);
          bytes.in += block.bytesIn(row);
          bytes.body += block.bodyBytes(row);
        }
      } else {
        count(block, row, outcome, planned - start);
      }
    }
  }

  private void addFullHandshake(SampleBlock block, int row) {
    long connect = block.nanos(row, Phase.CONNECT);
    if (connect != Attempt.UNSET && !block.resumes(row)) {
      int target = kinds.target(block, row);
      connects.get(target).recordValue(Math.min(highest, connect));
      flightGaps.get(target).recordValue(Math.min(highest, block.flightGapNanos(row)));
    }
  }

  /** Adds openings of connections that are kept for requests. */
  public void addSetUps(SampleBlock block) {
    for (int row = 0; row < block.rows(); row++) {
      Outcome outcome = block.outcome(row);
      if (outcome == Outcome.SUCCESS) {
        setUps++;
      } else {
        failedSetUps++;
        setUpFailures[outcome.ordinal()]++;
        count(block, row, outcome, block.at(row, Milestone.PLANNED) - start);
      }
    }
  }

  /** Returns how many connections were opened to be kept for requests. */
  public long setUps() {
    return setUps;
  }

  /** Returns how many of them could not be opened; they are among the {@link #errors}. */
  public long failedSetUps() {
    return failedSetUps;
  }

  /** Returns how many of them had this outcome, with the warm-up. */
  public long failedSetUps(Outcome outcome) {
    return setUpFailures[outcome.ordinal()];
  }

  private void count(SampleBlock block, int row, Outcome outcome, long planned) {
    ErrorKey key = new ErrorKey(outcome, diedIn(block, row), block.detail(row));
    ErrorCount before = errors.get(key);
    if (before == null) {
      Throwable failure = block.failure(row);
      errors.put(key, new ErrorCount(1, planned, failure == null ? null : failure.getMessage()));
    } else {
      errors.put(
          key,
          new ErrorCount(
              before.count() + 1, Math.min(before.firstPlannedNanos(), planned), before.example()));
    }
  }

  /**
   * Returns the phase in which an attempt that failed was, by the last milestone that it had
   * reached.
   */
  public static String diedIn(SampleBlock block, int row) {
    return switch (block.lastReached(row)) {
      case PLANNED -> "lag";
      case STARTED -> "connect";
      case CONNECTED -> "hello";
      case HELLO_SENT -> "flight";
      case HELLO_RECEIVED -> "finish";
      case SECURED -> "request";
      case REQUEST_SENT, SETTINGS_RECEIVED -> "ttfb";
      case FIRST_BYTE, DONE -> "body";
    };
  }

  /** Returns the measured values of a phase so far, in nanoseconds. */
  public Histogram total(Phase phase) {
    return totals.get(phase);
  }

  /**
   * Returns the values of the last interval; for the warm-up apart from those that are measured.
   */
  public Histogram interval(Phase phase, boolean measured) {
    return (measured ? interval : warmupInterval).get(phase);
  }

  /** Returns what is recorded of each kind of attempts; empty unless there are several. */
  public List<Part> parts() {
    return parts;
  }

  /** Returns how many attempts ended in this way, without the warm-up. */
  public long measured(Outcome outcome) {
    return outcomes[outcome.ordinal()];
  }

  /** Returns how many attempts ended in this way, with the warm-up. */
  public long all(Outcome outcome) {
    return outcomes[outcome.ordinal()] + warmupOutcomes[outcome.ordinal()];
  }

  /** Returns how many attempts are recorded, without the warm-up and with the skipped. */
  public long measuredCount() {
    return Arrays.stream(outcomes).sum();
  }

  /** Returns how many attempts are recorded, with the warm-up and with the skipped. */
  public long allCount() {
    return Arrays.stream(outcomes).sum() + Arrays.stream(warmupOutcomes).sum();
  }

  /** Returns how many attempts failed or were skipped so far, with the warm-up. */
  public long failures() {
    return allCount() - all(Outcome.SUCCESS);
  }

  /**
   * Returns the median time from the first byte of a response to its last, in nanoseconds; 0
   * without a response. A large body takes its time.
   */
  public long usualBody() {
    return body.getTotalCount() == 0 ? 0 : body.getValueAtPercentile(50);
  }

  /** Returns how long full handshakes with a target took to connect, in nanoseconds. */
  public Histogram connects(int target) {
    return connects.get(target);
  }

  /** Returns the waits within a target's flight in full handshakes, in nanoseconds. */
  public Histogram flightGaps(int target) {
    return flightGaps.get(target);
  }

  /**
   * Returns the median wait within the flight of handshakes like this one, in nanoseconds. A
   * resumed one's has no certificates and comes in one piece.
   */
  public long usualFlightGap(SampleBlock block, int row) {
    Histogram gaps = flightGaps.get(kinds.target(block, row));
    return block.resumes(row) || gaps.getTotalCount() == 0 ? 0 : gaps.getValueAtPercentile(50);
  }

  /** Returns on how many connections of measured successes the client sent a segment again. */
  public long retransmitting() {
    return retransmitting;
  }

  /** Returns the failures by class, phase and detail. */
  public Map<ErrorKey, ErrorCount> errors() {
    return errors;
  }

  /** Returns how many were planned, started and done in each tenth of a second. */
  public Timeline timeline() {
    return timeline;
  }

  /** Returns the bytes of the measured successes. */
  public ByteTotals bytes() {
    return bytes;
  }

  /** Returns how many attempts the lanes started so far. */
  public long started() {
    return lanes.stream().mapToLong(LaneRecorder::startedCount).sum();
  }

  /** Returns how many attempts the lanes finished so far. */
  public long finished() {
    return lanes.stream().mapToLong(LaneRecorder::finishedCount).sum();
  }

  /** Returns how many values were larger than the histograms hold. */
  public long clamped() {
    return lanes.stream().mapToLong(LaneRecorder::clampedCount).sum();
  }
}

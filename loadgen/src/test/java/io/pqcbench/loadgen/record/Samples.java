package io.pqcbench.loadgen.record;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Attempts;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import java.util.ArrayList;
import java.util.List;

/** Makes records of runs that never took place, in virtual time. */
public final class Samples {

  private static final long SECOND = 1_000_000_000L;
  private static final long HIGHEST = 60 * SECOND;

  private final LaneRecorder recorder;
  private final RunRecord record;
  private long index;

  /**
   * @param warmupSeconds of the run; it starts at 0 of the clock
   */
  public Samples(long warmupSeconds) {
    recorder = new LaneRecorder(0, 0, 1_000 * SECOND, warmupSeconds * SECOND, HIGHEST);
    record = new RunRecord(0, warmupSeconds * SECOND, HIGHEST, List.of(recorder), Kinds.ONE);
  }

  /** A success that was due at an instant and started late by {@code lag}. */
  public Samples success(long planned, long lag, long service) {
    recorder.started(planned + lag);
    record.timeline().planned(planned);
    recorder.record(Attempts.success(index++, planned, lag, service));
    return this;
  }

  /** A success of any shape that was due at an instant. */
  public Samples success(long planned, Attempts.Shape shape) {
    Attempt attempt = shape.at(index++, planned);
    recorder.started(attempt.at(Milestone.STARTED));
    record.timeline().planned(planned);
    recorder.record(attempt);
    return this;
  }

  /** A failure that was due at an instant. */
  public Samples failure(long planned, Outcome outcome) {
    record.timeline().planned(planned);
    recorder.record(Attempts.failure(index++, planned, outcome));
    return this;
  }

  /** A steady load: so many successes in each second, all punctual. */
  public Samples steady(int perSecond, long fromSecond, long toSecond) {
    for (long second = fromSecond; second < toSecond; second++) {
      for (int i = 0; i < perSecond; i++) {
        success(second * SECOND + i * SECOND / perSecond, 1_000, 1_000_000);
      }
    }
    return this;
  }

  /** Everything so far. */
  public RunRecord record() {
    blocks();
    record.nextInterval();
    return record;
  }

  /** Hands over all samples, adds them to the record, and returns them. */
  public List<SampleBlock> blocks() {
    recorder.handOver();
    List<SampleBlock> blocks = new ArrayList<>();
    for (SampleBlock block = recorder.poll(); block != null; block = recorder.poll()) {
      record.add(block);
      blocks.add(block);
    }
    return blocks;
  }
}

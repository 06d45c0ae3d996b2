package io.pqcbench.loadgen.record;

import io.pqcbench.loadgen.bench.MicroBenchmark;
import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Attempts;
import java.util.SplittableRandom;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * What it costs a lane to record one success: nine histograms and a row of its block. The writer's
 * part, which is another thread's in a run, is reduced to giving blocks back.
 */
@State(Scope.Thread)
public class RecordingBenchmark extends MicroBenchmark {

  /** A power of two; enough that the histograms' counters do not all lie in the first cache. */
  private static final int ATTEMPTS = 1 << 12;

  private static final long MINUTE_NANOS = 60_000_000_000L;

  private final Attempt[] attempts = new Attempt[ATTEMPTS];
  private LaneRecorder recorder;
  private int next;

  @Setup
  public void prepare() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < ATTEMPTS; i++) {
      // A lag of 20 us and more and a service time of 600 us and more, each with a long tail.
      long lag = (long) (20_000 - 50_000 * Math.log(1 - random.nextDouble()));
      long service = (long) (600_000 - 500_000 * Math.log(1 - random.nextDouble()));
      attempts[i] = Attempts.success(i, i * 1_000_000L, lag, service);
    }
    recorder = new LaneRecorder(0, 0, MINUTE_NANOS, 0, MINUTE_NANOS);
  }

  @Benchmark
  public void record() {
    recorder.record(attempts[next++ & ATTEMPTS - 1]);
    SampleBlock filled = recorder.poll();
    if (filled != null) {
      recorder.recycle(filled);
    }
  }
}

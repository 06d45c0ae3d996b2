package io.pqcbench.loadgen.bench;

import io.pqcbench.loadgen.schedule.ArrivalSchedule;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * What it costs a lane to learn when its next arrival is due; in nanoseconds, as it is so little.
 */
@State(Scope.Thread)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SchedulePlanBenchmark extends MicroBenchmark {

  private static final double RATE_PER_SECOND = 1_000;
  private static final long HOUR_NANOS = 3_600_000_000_000L;

  /** Spacing of the arrivals. */
  @Param({"constant", "poisson"})
  public String arrival;

  private ArrivalSchedule schedule;
  private ArrivalSchedule.Arrivals arrivals;

  @Setup
  public void plan() {
    schedule =
        arrival.equals("poisson")
            ? ArrivalSchedule.poisson(RATE_PER_SECOND, HOUR_NANOS, 1)
            : ArrivalSchedule.constant(RATE_PER_SECOND, HOUR_NANOS);
    arrivals = schedule.slice(0, 1);
  }

  @Benchmark
  public long nextArrival() {
    if (!arrivals.advance()) {
      arrivals = schedule.slice(0, 1);
    }
    return arrivals.plannedNanos();
  }
}

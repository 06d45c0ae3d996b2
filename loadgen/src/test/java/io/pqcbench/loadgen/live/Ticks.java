package io.pqcbench.loadgen.live;

import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.monitor.CpuTimes;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.Samples;
import io.pqcbench.loadgen.verdict.Fault;
import io.pqcbench.loadgen.verdict.Finding;
import io.pqcbench.loadgen.verdict.Rules;
import io.pqcbench.loadgen.verdict.Verdict;
import java.util.List;
import java.util.Map;

/** Seconds of runs that never took place. */
final class Ticks {

  static final Metrics.Run RUN =
      new Metrics.Run("server.example:443", "X25519MLKEM768", "300", "0.1.0");

  private Ticks() {}

  /** One in which everything has a value of its own. */
  static Metrics.Tick eventful() {
    RunRecord record =
        new Samples(0)
            .success(0, 20_000, 1_000_000)
            .success(1_000_000, 30_000, 2_000_000)
            .success(2_000_000, 40_000, 3_000_000)
            .failure(3_000_000, Outcome.TCP_RESET)
            .failure(4_000_000, Outcome.SKIPPED)
            .record();
    return new Metrics.Tick(
        record,
        300,
        299.5,
        298.5,
        7,
        List.of(interval(0, 20_000_000, 3_000_000), interval(1, 40_000_000, 1_000_000)),
        List.of(
            new Disturbance(Disturbance.Source.GC_PAUSE, 0, 4_000_000, 4_000_000, "pause"),
            new Disturbance(Disturbance.Source.GC_PAUSE, 0, 2_000_000, 2_000_000, "pause"),
            new Disturbance(Disturbance.Source.HICCUP, 0, 5_000_000, 5_000_000, "")),
        judgement(Verdict.SUSPECT, "lag-max"));
  }

  /** A tenth of a second of two processors and two lanes, of which the second works half. */
  static Interval interval(int index, long busyNanos, long hiccupNanos) {
    long start = index * 100_000_000L;
    return new Interval(
        start,
        start + 100_000_000L,
        List.of(
            // Ticks of 10 ms: 4 of 10 worked or stolen, and 1 of 10.
            new CpuTimes(0, 2, 0, 1, 6, 0, 0, 0, 1), new CpuTimes(1, 1, 0, 0, 8, 1, 0, 0, 0)),
        Map.of(),
        6_000_000,
        50_000_000,
        -1,
        -1,
        -1,
        hiccupNanos,
        List.of(
            new Interval.LaneTimes(busyNanos, 1_000_000, 0, 0, 4),
            new Interval.LaneTimes(50_000_000, 1_000_000, 0, 2_000_000L * index, 3)),
        null,
        0,
        -1,
        -1);
  }

  static Rules.Judgement judgement(Verdict verdict, String... rules) {
    return new Rules.Judgement(
        verdict,
        List.of(rules).stream()
            .map(rule -> new Finding(rule, verdict, Fault.CLIENT, "11 ms", "10 ms", "", "wait"))
            .toList());
  }

  /** One in which nothing happened to the machine. */
  static Metrics.Tick quiet(RunRecord record, Rules.Judgement judgement) {
    return new Metrics.Tick(record, 300, 300, 300, 0, List.of(), List.of(), judgement);
  }
}

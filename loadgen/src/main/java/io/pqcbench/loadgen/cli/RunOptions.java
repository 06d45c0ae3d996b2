package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.Target;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of a run. */
final class RunOptions {

  private static final long TWO_MINUTES = 120_000_000_000L;
  private static final long LONG_WARMUP = 30_000_000_000L;

  @Option(
      names = {"-r", "--rate"},
      paramLabel = "RATE",
      converter = ConnectionOptions.Rate.class,
      description = "Offered rate per second, e.g. 300, 0.5, 1k, 30/m. Default: 300")
  private double ratePerSecond = 300;

  @Option(
      names = {"-d", "--duration"},
      paramLabel = "TIME",
      converter = ConnectionOptions.Nanos.class,
      description = "Length of the run with its warm-up, e.g. 60s, 5m. Default: 30s")
  private long durationNanos = 30_000_000_000L;

  @Option(
      names = "--warmup",
      paramLabel = "TIME",
      converter = ConnectionOptions.Nanos.class,
      description =
          "Time from the start that is not measured. Default: 30s for runs of 2m and more, else a"
              + " fifth")
  private Long warmupNanos;

  @Option(
      names = "--shard",
      paramLabel = "I/N|auto",
      description =
          "Of a run from N machines, this one's part: every N-th arrival of the schedule that"
              + " --rate and --duration give for all together, from number I, which counts from 0."
              + " auto takes both from SLURM_ARRAY_TASK_ID and its MIN, MAX and COUNT, from"
              + " AWS_BATCH_JOB_ARRAY_INDEX and _SIZE, or from JOB_COMPLETION_INDEX and"
              + " SHARD_COUNT. Needs --start-at, and --seed with Poisson arrivals. Default: 0/1,"
              + " everything")
  private String shardText;

  @Option(
      names = "--start-at",
      paramLabel = "INSTANT",
      description =
          "When the first arrival is due, by the wall clock: ISO 8601 with a zone, such as"
              + " 2026-12-02T10:00:00Z. Default: as soon as everything is ready")
  private String startAtText;

  private Instant startAt;

  @Mixin LoadOptions load;

  @Option(
      names = "--slow-threshold",
      paramLabel = "TIME",
      converter = ConnectionOptions.Nanos.class,
      description = "Responses above it go to slow.csv, beside the slowest 100. Default: 100ms")
  private long slowThresholdNanos = 100_000_000L;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      description = "Result directory, new or empty. Default: bundles/TIME-GROUP-RATE")
  Path out;

  @Option(
      names = "--json",
      description = "Print the summary as JSON on standard output, all else on standard error")
  boolean json;

  @Option(
      names = {"-q", "--quiet"},
      description = "No header and no progress; the result alone")
  boolean quiet;

  @Option(
      names = "--no-monitor",
      description =
          "Do not watch the machine, to find out what watching costs; the run cannot be TRUSTED"
              + " then")
  boolean noMonitor;

  @Option(
      names = "--server-monitor",
      paramLabel = "DIR",
      description =
          "Directory that 'loadgen monitor' writes on the server, followed while the run goes: its"
              + " disturbances explain slow requests too. Default: none")
  Path serverMonitor;

  @Option(
      names = "--prometheus",
      paramLabel = "[HOST:]PORT",
      converter = ConnectionOptions.Listen.class,
      description =
          "Serve live metrics at http://HOST:PORT/metrics until the command ends; HOST is 127.0.0.1"
              + " if left out, and port 0 takes a free one. Default: not served")
  InetSocketAddress prometheus;

  /** What may end a run before its time. */
  enum AbortOn {
    SATURATED,
    NEVER
  }

  @Option(
      names = "--abort-on",
      paramLabel = "saturated|never",
      description =
          "End the run as soon as a rule finds that the client is saturated; what was measured is"
              + " written. Default: ${DEFAULT-VALUE}")
  AbortOn abortOn = AbortOn.NEVER;

  @Option(
      names = "--fail-on",
      paramLabel = "suspect|saturated|never",
      description =
          "From which verdict on the exit code is not 0: suspect (codes 1 and 3), saturated (3,"
              + " also for invalid), never. Default: ${DEFAULT-VALUE}")
  ExitCode.FailOn failOn = ExitCode.FailOn.SUSPECT;

  @Option(
      names = "--until-stdin-closes",
      hidden = true,
      description = "End as at a signal when standard input ends")
  boolean untilStdinCloses;

  LoadPlan plan(List<Target> resolved, boolean onThisMachine) {
    long warmup =
        warmupNanos != null
            ? warmupNanos
            : durationNanos >= TWO_MINUTES ? LONG_WARMUP : durationNanos / 5;
    LoadPlan.Shard shard =
        shardText == null ? LoadPlan.Shard.WHOLE : ShardOption.shard(shardText, System.getenv());
    if (shard.count() > 1 && startAtText == null) {
      throw new IllegalArgumentException(
          "--shard needs --start-at, the same for all, or each would start when it happens to be"
              + " ready: shard="
              + shard);
    }
    if (shard.count() > 1 && load.targets().isEmpty()) {
      throw new IllegalArgumentException(
          "--shard needs --target, or each would have an embedded server of its own: shard="
              + shard);
    }
    if (startAtText != null && startAt == null) {
      // Once: when the plan is made again, what was checked may have become past.
      startAt = ShardOption.startAt(startAtText, InstantSource.system());
    }
    LoadPlan plan =
        load.plan(
            resolved,
            onThisMachine,
            ratePerSecond,
            durationNanos,
            warmup,
            slowThresholdNanos,
            shard,
            startAt);
    // Refuses a shard without arrivals.
    plan.pace().schedule();
    return plan;
  }

  /** Returns the name of a run for its default directory; shards may share a disk. */
  String label(LoadPlan plan) {
    LoadPlan.Shard shard = plan.pace().shard();
    return Quantity.trim(ratePerSecond)
        + (shard.count() == 1 ? "" : "-shard-" + shard.index() + "-of-" + shard.count());
  }
}

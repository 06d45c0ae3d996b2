package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.Target;
import java.nio.file.Path;
import java.security.SecureRandom;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of a run. */
final class RunOptions {

  private static final long TWO_MINUTES = 120_000_000_000L;
  private static final long LONG_WARMUP = 30_000_000_000L;
  private static final int DEFAULT_MAX_IN_FLIGHT = 10_000;

  @Option(
      names = {"-t", "--target"},
      paramLabel = "TARGET",
      converter = ConnectionOptions.TargetText.class,
      description =
          "host:port, [v6]:port or https://host[:port]/path. Default: an embedded server in a"
              + " process of its own")
  Target target;

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

  @Mixin ConnectionOptions connection;

  @Option(
      names = "--arrival",
      paramLabel = "constant|poisson",
      description = "Spacing of the arrivals. Default: ${DEFAULT-VALUE}")
  private LoadPlan.Arrival arrival = LoadPlan.Arrival.CONSTANT;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the Poisson arrivals. Default: random, recorded")
  private Long seed;

  @Option(
      names = "--lanes",
      paramLabel = "N",
      description = "Event loops, each a thread. Default: ${DEFAULT-VALUE}")
  private int lanes = 1;

  @Option(
      names = "--wait",
      paramLabel = "busy|block",
      description =
          "How lanes wait: busy polls (a core each, about 1 us late), block sleeps (about 75 us"
              + " late). Default: busy on 2 cores or more against another machine, else block")
  private LoadPlan.Wait wait;

  @Option(
      names = "--max-in-flight",
      paramLabel = "N",
      description =
          "Attempts open at once; arrivals beyond are skipped and counted. Default:"
              + " ${DEFAULT-VALUE}")
  private int maxInFlight = DEFAULT_MAX_IN_FLIGHT;

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

  LoadPlan plan(Target resolved, boolean onThisMachine) {
    connection.validate();
    long warmup =
        warmupNanos != null
            ? warmupNanos
            : durationNanos >= TWO_MINUTES ? LONG_WARMUP : durationNanos / 5;
    boolean spareCore = Runtime.getRuntime().availableProcessors() > lanes;
    LoadPlan.Wait chosen =
        wait != null
            ? wait
            : spareCore && !onThisMachine ? LoadPlan.Wait.BUSY : LoadPlan.Wait.BLOCK;
    return new LoadPlan(
        resolved,
        new LoadPlan.Pace(
            ratePerSecond,
            durationNanos,
            warmup,
            arrival,
            // Kept within what every JSON reader takes for an integer.
            seed != null ? seed : new SecureRandom().nextLong() >>> 11),
        connection.tlsOffer(resolved),
        connection.request(resolved),
        connection.limits(lanes, chosen, maxInFlight, slowThresholdNanos));
  }

  /** Returns the name of a run for its default directory. */
  String label() {
    return Quantity.trim(ratePerSecond);
  }
}

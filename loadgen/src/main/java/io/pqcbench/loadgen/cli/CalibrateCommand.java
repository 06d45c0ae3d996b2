package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.Summary;
import io.pqcbench.loadgen.engine.LoadRun;
import io.pqcbench.loadgen.handshake.PreflightException;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.verdict.Finding;
import io.pqcbench.loadgen.verdict.Verdict;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code loadgen calibrate}. */
@Command(
    name = "calibrate",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description =
        "Benchmarks the load generator itself: raises the rate in short trials until the verdict is"
            + " no longer TRUSTED, and says what gave out first and which rate to use. Do this"
            + " before you trust its numbers.")
final class CalibrateCommand implements Callable<Integer> {

  /** From one trial to the next. */
  private static final double GROWTH = 1.5;

  /** Then the gap is halved so often: 1.5^(1/8), so the answer is good to 5 %. */
  private static final int HALVINGS = 3;

  /**
   * The recommended part of the highest trusted rate: at half of its limit a lane adds half of what
   * it adds there, and a noisy minute does not end a long run.
   */
  private static final double RECOMMENDED = 0.5;

  @Spec private CommandSpec spec;
  @Mixin private LoadOptions load;

  @Option(
      names = "--from",
      paramLabel = "RATE",
      converter = ConnectionOptions.Rate.class,
      description = "Rate of the first trial. Default: 100")
  private double from = 100;

  @Option(
      names = "--max-rate",
      paramLabel = "RATE",
      converter = ConnectionOptions.Rate.class,
      description = "Go no further than this rate. Default: 20k")
  private double maxRate = 20_000;

  @Option(
      names = "--trial",
      paramLabel = "TIME",
      converter = ConnectionOptions.Nanos.class,
      description = "Length of a trial; the first fifth is not measured. Default: 10s")
  private long trialNanos = 10_000_000_000L;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      description =
          "Result directory, new or empty; a bundle of each trial and calibration.json. Default:"
              + " bundles/TIME-calibration")
  private Path out;

  @Option(
      names = "--json",
      description = "Print calibration.json on standard output, all else on standard error")
  private boolean json;

  private final List<CalibrationFile.Step> steps = new ArrayList<>();
  private Session session;
  private Path directory;
  private PrintStream talk;

  @Override
  public Integer call() throws Exception {
    if (maxRate < from) {
      throw new IllegalArgumentException(
          "--max-rate must not be below --from: maxRate=" + maxRate + " from=" + from);
    }
    talk = json ? System.err : System.out;
    directory = out != null ? out : LoadOptions.defaultDirectory("calibration");
    List<Target> given = load.targets();
    if (given.size() > 1) {
      throw new IllegalArgumentException(
          "a client is calibrated against one target: targets=" + given.size());
    }
    plan(given.isEmpty() ? new Target("127.0.0.1", 1, "/") : given.get(0), true, from);
    if (!given.isEmpty()) {
      return against(given.get(0), false);
    }
    try (ServerProcess server = ServerProcess.start(load.transport())) {
      return against(server.target(), true);
    }
  }

  private LoadPlan plan(Target target, boolean onThisMachine, double rate) {
    return load.plan(
        List.of(target),
        onThisMachine,
        rate,
        trialNanos,
        trialNanos / 5,
        Long.MAX_VALUE,
        LoadPlan.Shard.WHOLE,
        null);
  }

  private int against(Target target, boolean embedded) throws Exception {
    boolean local = embedded || load.isLocal(List.of(target));
    LoadPlan first = plan(target, local, from);
    // Checks that the directory can be used before minutes are spent.
    Bundle.create(directory, Long.MAX_VALUE).close();
    try (Session opened = Session.open(first, embedded, true, load.codeWarmupNanos, spec)) {
      session = opened;
      talk.print(Header.render(first, session, directory));
      talk.printf(
          Locale.ROOT,
          "%-10s %-9s %12s %12s %12s %9s %9s  %s%n",
          "rate/s",
          "verdict",
          "lag p50 us",
          "lag p99 us",
          "hs p50 us",
          "busy",
          "CPU us/hs",
          "objections");
      search(target, local);
      CalibrationFile found = result(first, local);
      Path kept = found.keep(first, session.host());
      Bundle.writeJson(directory, "calibration.json", found);
      if (json) {
        System.out.println(Bundle.toJson(found));
      }
      conclude(found, kept);
      return found.highestTrustedPerSecond() == null ? ExitCode.NOT_BELIEVABLE : ExitCode.TRUSTED;
    }
  }

  private void search(Target target, boolean local) throws IOException, PreflightException {
    double trusted = 0;
    double rate = Math.min(from, maxRate);
    while (holds(target, local, rate)) {
      trusted = rate;
      if (rate >= maxRate) {
        return;
      }
      rate = Math.min(maxRate, rate * GROWTH);
    }
    for (int i = 0; trusted > 0 && i < HALVINGS; i++) {
      double between = Math.sqrt(trusted * rate);
      between = between < 100 ? between : Math.rint(between);
      if (holds(target, local, between)) {
        trusted = between;
      } else {
        rate = between;
      }
    }
  }

  /** A rate is given a second trial: once may be the noise of a shared machine. */
  private boolean holds(Target target, boolean local, double rate)
      throws IOException, PreflightException {
    boolean held = step(target, local, rate);
    return held || step(target, local, rate);
  }

  private boolean step(Target target, boolean local, double rate)
      throws IOException, PreflightException {
    LoadPlan plan = plan(target, local, rate);
    String name = String.format(Locale.ROOT, "%02d-%s", steps.size() + 1, Quantity.trim(rate));
    Summary summary = trial(plan, name);
    List<String> rules =
        summary.findings().stream()
            .filter(
                finding ->
                    finding.level() != Verdict.TRUSTED || finding.rule().equals("target-saturated"))
            .map(Finding::rule)
            .toList();
    CalibrationFile.Step step =
        new CalibrationFile.Step(
            name,
            rate,
            rules.isEmpty(),
            summary.verdict(),
            rules,
            summary.phases().get("lag").p50(),
            summary.phases().get("lag").p99(),
            summary.phases().get("handshake").p50(),
            summary.machine().laneBusyShare(),
            summary.clientCpuMicrosPerHandshake());
    steps.add(step);
    // What is known so far is on disk, whatever comes.
    Bundle.writeJson(directory, "calibration.json", result(plan, local));
    talk.printf(
        Locale.ROOT,
        "%-10s %-9s %12s %12s %12s %8.1f%% %9.0f  %s%n",
        Quantity.trim(rate),
        step.verdict(),
        micros(step.lagP50Micros()),
        micros(step.lagP99Micros()),
        micros(step.handshakeP50Micros()),
        step.laneBusyShare() * 100,
        step.clientCpuMicrosPerHandshake(),
        String.join(", ", rules));
    return step.trusted();
  }

  private static String micros(Double value) {
    return value == null ? "n too small" : String.format(Locale.ROOT, "%.0f", value);
  }

  private Summary trial(LoadPlan plan, String name) throws IOException, PreflightException {
    try (Bundle bundle =
        Bundle.create(directory.resolve(name), plan.limits().slowThresholdNanos())) {
      bundle.begin(session.describe(plan));
      LoadRun.Result result =
          session
              .prepare(plan, bundle, null, new Progress(System.err, false, true), null, true)
              .run();
      if (result.bundleFailure() != null) {
        throw result.bundleFailure();
      }
      return result.summary();
    }
  }

  private CalibrationFile result(LoadPlan plan, boolean local) {
    CalibrationFile.Step best = null;
    for (CalibrationFile.Step step : steps) {
      if (step.trusted() && (best == null || step.ratePerSecond() > best.ratePerSecond())) {
        best = step;
      }
    }
    CalibrationFile.Step failed = null;
    for (CalibrationFile.Step step : steps) {
      boolean above = best == null || step.ratePerSecond() > best.ratePerSecond();
      if (!step.trusted()
          && above
          && (failed == null || step.ratePerSecond() <= failed.ratePerSecond())) {
        failed = step;
      }
    }
    CalibrationFile.Step lowest = steps.get(0);
    return new CalibrationFile(
        CalibrationFile.SCHEMA,
        Instant.now().toString(),
        session.host().host(),
        session.host().cpuModel(),
        session.host().cpus(),
        Loadgen.Versions.jdk(),
        plan.target().authority(),
        local,
        plan.tls().groups().stream().map(NamedGroup::label).toList(),
        plan.transport().name().toLowerCase(Locale.ROOT),
        CalibrationFile.http(plan),
        plan.limits().waiting().name().toLowerCase(Locale.ROOT),
        plan.limits().lanes(),
        best == null ? null : best.ratePerSecond(),
        best == null ? null : Math.floor(best.ratePerSecond() * RECOMMENDED),
        failed == null ? List.of() : failed.rules(),
        best == null ? null : best.clientCpuMicrosPerHandshake(),
        lowest.lagP50Micros(),
        lowest.lagP99Micros(),
        session.noise(),
        List.copyOf(steps));
  }

  private void conclude(CalibrationFile found, Path kept) {
    talk.println();
    if (found.highestTrustedPerSecond() == null) {
      talk.printf(
          Locale.ROOT,
          "result     no rate was trusted, not even %s/s: %s%n",
          Quantity.trim(from),
          String.join(", ", found.gaveOut()));
    } else {
      talk.printf(
          Locale.ROOT,
          "result     highest trusted rate %s/s with %s, %.0f us client CPU per handshake%n",
          Quantity.trim(found.highestTrustedPerSecond()),
          String.join(",", found.groups()),
          found.clientCpuMicrosPerHandshake());
      talk.printf(
          Locale.ROOT,
          "gave out   %s%n",
          found.gaveOut().isEmpty()
              ? "nothing up to --max-rate"
              : "first above it: " + String.join(", ", found.gaveOut()));
      talk.printf(
          Locale.ROOT,
          "recommend  %s/s, %.0f %% of it%s%n",
          Quantity.trim(found.recommendedPerSecond()),
          RECOMMENDED * 100,
          found.sharesMachine() ? "; the target ran on this machine, which alone can do more" : "");
    }
    talk.printf(
        Locale.ROOT,
        "floor      lag at %s/s p50 %s us, p99 %s us; idle, a sleeper woke late by p50 %.0f us, max"
            + " %.0f us%n",
        Quantity.trim(steps.get(0).ratePerSecond()),
        micros(found.lagP50Micros()),
        micros(found.lagP99Micros()),
        found.noise().wakeP50Micros(),
        found.noise().wakeMaxMicros());
    talk.println("bundle     " + directory);
    if (kept != null) {
      talk.println("kept       " + kept + ", for the warning of later runs above it");
    }
  }
}

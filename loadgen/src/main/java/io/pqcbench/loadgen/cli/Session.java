package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.ServerMonitor;
import io.pqcbench.loadgen.engine.LoadRun;
import io.pqcbench.loadgen.engine.WarmUp;
import io.pqcbench.loadgen.handshake.Preflight;
import io.pqcbench.loadgen.handshake.PreflightException;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.handshake.StackFacts;
import io.pqcbench.loadgen.live.Metrics;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.monitor.Platform;
import io.pqcbench.loadgen.monitor.WallClock;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Everything that is found out before load is put on a target: what the server is, what this
 * machine is and allows, and how noisy it is. For one run, or for several against the same target.
 */
final class Session implements AutoCloseable {

  private static final String SCHEMA = "loadgen-run/2";

  /** For how long the idle machine's noise is watched. */
  private static final long CALIBRATION_NANOS = 1_000_000_000L;

  private final boolean embedded;
  private final List<String> command;
  private final List<ServerFacts> facts;
  private final HostFacts host;
  private final Budget budget;
  private final WarmUp.Result codeWarmup;
  private final Monitor monitor;
  private final List<String> warnings = new ArrayList<>();

  /**
   * What {@code run.json} holds.
   *
   * @param schema name and version of this format
   * @param commandStartedAt wall clock, ISO 8601, when the command began
   * @param command the arguments as given
   * @param plan everything that was asked for, with the defaults filled in
   * @param embeddedServer whether the target was started by this command
   * @param maxInFlight attempts open at once that the process allows, at most the plan's
   * @param server what the preflight found of the target
   * @param otherServers the same of the other targets
   * @param host the machine and the JVM
   * @param wallClock how right it is; null unless the run starts at an agreed instant
   * @param platform what the machine lets be seen of itself
   * @param noise of the machine before the run, when it had nothing to do; null if it is not
   *     watched
   * @param codeWarmup how the client's own code was compiled before; null if it was not
   * @param versions of this program and its libraries
   * @param warnings that were printed before the run
   */
  record RunJson(
      String schema,
      String commandStartedAt,
      List<String> command,
      LoadPlan plan,
      boolean embeddedServer,
      int maxInFlight,
      ServerFacts server,
      List<ServerFacts> otherServers,
      HostFacts host,
      WallClock wallClock,
      Platform platform,
      Monitor.Calibration noise,
      WarmUp.Result codeWarmup,
      Versions versions,
      List<String> warnings) {}

  /** Versions of this program and its libraries. */
  record Versions(String loadgen, String netty, String tlsStack, String jdk) {
    static Versions read(LoadPlan plan) {
      return new Versions(
          Loadgen.Versions.own(),
          Loadgen.Versions.netty(),
          StackFacts.version(plan),
          Loadgen.Versions.jdk());
    }
  }

  private Session(
      LoadPlan plan,
      boolean embedded,
      List<String> command,
      List<ServerFacts> facts,
      WarmUp.Result codeWarmup,
      Monitor monitor) {
    this.embedded = embedded;
    this.command = command;
    this.facts = facts;
    this.host = HostFacts.read();
    this.budget = Budget.of(plan, host);
    this.codeWarmup = codeWarmup;
    this.monitor = monitor;
    warnings.addAll(budget.warnings());
    double quota = monitor.platform().cpuQuota();
    if (quota < host.cpus()) {
      warnings.add(
          String.format(
              Locale.ROOT,
              "a CPU quota of %.2f processors stops this process for tens of milliseconds whenever"
                  + " it is used up; what helps: no CPU limit",
              quota));
    }
    String calibration = CalibrationFile.warning(plan, host);
    if (calibration != null) {
      warnings.add(calibration);
    }
  }

  /**
   * Makes a preflight, warms the client's own code up, and watches the idle machine for a second.
   *
   * @param plan what is to be done first; later plans must have its target and offer
   * @param embedded whether this command has started the target
   * @param watch whether to watch the machine
   * @param codeWarmupNanos for how long to warm up at most; 0 for not at all
   * @param spec of the command
   */
  static Session open(
      LoadPlan plan, boolean embedded, boolean watch, long codeWarmupNanos, CommandSpec spec)
      throws IOException, PreflightException {
    NanoClock clock = NanoClock.SYSTEM;
    List<ServerFacts> facts = new ArrayList<>();
    for (Target target : plan.targets()) {
      facts.add(new Preflight(plan.only(target), clock).run());
    }
    WarmUp.Result codeWarmup = WarmUp.run(plan, codeWarmupNanos, clock);
    Monitor monitor = watch ? Monitor.start(clock, List.of()) : Monitor.blind(clock);
    try {
      if (watch) {
        monitor.calibrate(CALIBRATION_NANOS);
      }
      return new Session(
          plan,
          embedded,
          spec.root().commandLine().getParseResult().originalArgs(),
          facts,
          codeWarmup,
          monitor);
    } catch (RuntimeException e) {
      monitor.close();
      throw e;
    }
  }

  /** Returns what was found of each target. */
  List<ServerFacts> facts() {
    return facts;
  }

  HostFacts host() {
    return host;
  }

  boolean embedded() {
    return embedded;
  }

  int maxInFlight() {
    return budget.maxInFlight();
  }

  /** Returns the noise of the idle machine; null when it is not watched. */
  Monitor.Calibration noise() {
    return monitor.calibration();
  }

  /** Returns how the client's own code was warmed up; null if it was not. */
  WarmUp.Result codeWarmup() {
    return codeWarmup;
  }

  /** Returns what the user should hear before the run, each with what helps. */
  List<String> warnings() {
    return warnings;
  }

  RunJson describe(LoadPlan plan) {
    return new RunJson(
        SCHEMA,
        Instant.now().toString(),
        command,
        plan,
        embedded,
        budget.maxInFlight(),
        facts.get(0),
        facts.subList(1, facts.size()),
        host,
        plan.pace().startAt() == null ? null : WallClock.read(),
        monitor.platform(),
        monitor.calibration(),
        codeWarmup,
        Versions.read(plan),
        warnings);
  }

  /**
   * @param server what is watched beside the server; null for nothing
   * @param metrics where to publish; null for nowhere
   */
  LoadRun prepare(
      LoadPlan plan,
      Bundle bundle,
      ServerMonitor server,
      Progress progress,
      Metrics metrics,
      boolean abortOnSaturated) {
    return new LoadRun(
        plan,
        facts,
        budget.maxInFlight(),
        bundle,
        new LoadRun.Observers(monitor, server, progress, metrics),
        abortOnSaturated,
        NanoClock.SYSTEM);
  }

  @Override
  public void close() {
    monitor.close();
  }
}

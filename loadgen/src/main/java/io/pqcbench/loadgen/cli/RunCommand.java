package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.engine.LoadRun;
import io.pqcbench.loadgen.handshake.Preflight;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.live.ResultTable;
import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.monitor.Platform;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.verdict.Verdict;
import java.io.IOException;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code loadgen run}. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    usageHelpWidth = 110,
    description = "Offers load and measures; the default command.")
final class RunCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private RunOptions options;

  @Override
  public Integer call() throws Exception {
    return new Execution(options, spec).call();
  }

  /**
   * What {@code run.json} holds.
   *
   * @param schema name and version of this format
   * @param commandStartedAt wall clock, ISO 8601, when the command began
   * @param command the arguments as given
   * @param plan everything that was asked for, with the defaults filled in
   * @param embeddedServer whether the target was started by this command
   * @param maxInFlight attempts open at once that the process allows, at most the plan's
   * @param server what the preflight found
   * @param host the machine and the JVM
   * @param platform what the machine lets be seen of itself
   * @param noise of the machine before the run, when it had nothing to do
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
      HostFacts host,
      Platform platform,
      Monitor.Calibration noise,
      Versions versions,
      List<String> warnings) {}

  /** Versions of this program and its libraries. */
  record Versions(String loadgen, String netty, String tlsStack, String jdk) {}

  /** One execution; the root command and {@code run} share it. */
  static final class Execution {

    private static final String SCHEMA = "loadgen-run/1";

    /**
     * What the drain, the last tick and the summary may take before an interrupt ends the JVM
     * without them.
     */
    private static final long INTERRUPT_SECONDS = 20;

    /** For how long the idle machine's noise is watched before a run. */
    private static final long CALIBRATION_NANOS = 1_000_000_000L;

    private static final DateTimeFormatter DIRECTORY_TIME =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

    private final RunOptions options;
    private final CommandSpec spec;
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile boolean interrupted;
    private volatile LoadRun run;

    Execution(RunOptions options, CommandSpec spec) {
      this.options = options;
      this.spec = spec;
    }

    int call() throws Exception {
      Thread hook = new Thread(this::interrupt, "interrupt");
      Runtime.getRuntime().addShutdownHook(hook);
      int exitCode = ExitCode.COULD_NOT_RUN;
      try {
        exitCode = execute();
      } finally {
        done.countDown();
        if (!interrupted) {
          removeHook(hook);
        }
      }
      return interrupted ? ExitCode.INTERRUPTED : exitCode;
    }

    private static void removeHook(Thread hook) {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // The signal came just now: the hook finds the run over and ends the JVM.
        return;
      }
    }

    /**
     * On SIGINT and SIGTERM: lets the run write what it has, then ends with the exit code that says
     * so.
     */
    private void interrupt() {
      interrupted = true;
      LoadRun running = run;
      if (running != null) {
        running.stop();
      }
      try {
        if (running != null && !done.await(INTERRUPT_SECONDS, TimeUnit.SECONDS)) {
          System.err.println(
              "loadgen: the run did not end in "
                  + INTERRUPT_SECONDS
                  + " s, its summary is missing");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      System.out.flush();
      Runtime.getRuntime().halt(ExitCode.INTERRUPTED);
    }

    private int execute() throws Exception {
      // Told before anything is started, however long that takes.
      options.plan(options.target != null ? options.target : new Target("127.0.0.1", 1, "/"), true);
      if (options.target != null) {
        return against(options.target, false);
      }
      try (ServerProcess server = ServerProcess.start()) {
        return against(server.target(), true);
      }
    }

    private int against(Target target, boolean embedded) throws Exception {
      NanoClock clock = NanoClock.SYSTEM;
      LoadPlan plan = options.plan(target, embedded || isLocal(target.host()));
      ServerFacts facts = new Preflight(plan, clock).run();
      HostFacts host = HostFacts.read();
      Budget budget = Budget.of(plan, host);
      Path directory = options.out != null ? options.out : defaultDirectory(plan);
      PrintStream talk = options.json ? System.err : System.out;
      try (Bundle bundle = Bundle.create(directory, plan.limits().slowThresholdNanos());
          Monitor monitor = Monitor.start(clock, List.of())) {
        monitor.calibrate(CALIBRATION_NANOS);
        Versions versions =
            new Versions(
                Loadgen.Versions.own(),
                Loadgen.Versions.netty(),
                Loadgen.Versions.tlsStack(),
                Loadgen.Versions.jdk());
        bundle.begin(
            new RunJson(
                SCHEMA,
                Instant.now().toString(),
                spec.root().commandLine().getParseResult().originalArgs(),
                plan,
                embedded,
                budget.maxInFlight(),
                facts,
                host,
                monitor.platform(),
                monitor.calibration(),
                versions,
                budget.warnings()));
        if (!options.quiet) {
          talk.print(
              Header.render(
                  plan, facts, host, versions, embedded, budget.maxInFlight(), directory));
        }
        budget.warnings().forEach(warning -> System.err.println("loadgen: WARNING: " + warning));
        return measure(plan, facts, budget, bundle, monitor, talk, clock);
      }
    }

    private int measure(
        LoadPlan plan,
        ServerFacts facts,
        Budget budget,
        Bundle bundle,
        Monitor monitor,
        PrintStream talk,
        NanoClock clock)
        throws IOException {
      boolean terminal = Terminal.isTerminal(2);
      Progress progress = new Progress(System.err, terminal, options.quiet);
      run =
          new LoadRun(
              plan,
              facts,
              budget.maxInFlight(),
              bundle,
              monitor,
              progress,
              options.abortOn == RunOptions.AbortOn.SATURATED,
              clock);
      LoadRun.Result result = run.run();
      progress.clear();
      if (options.json) {
        System.out.println(Bundle.toJson(result.summary()));
      }
      if (!options.json || !options.quiet) {
        talk.print(
            new ResultTable(Terminal.wantsColour(options.json ? 2 : 1)).render(result.summary()));
      }
      if (result.bundleFailure() != null) {
        throw new IOException(
            "the run was ended because its bundle cannot be written, what was written before is"
                + " there: out="
                + bundle.directory()
                + " ("
                + result.bundleFailure().getMessage()
                + ")",
            result.bundleFailure());
      }
      if (!options.quiet) {
        talk.println("bundle     " + bundle.directory());
      }
      return ExitCode.of(Verdict.valueOf(result.summary().verdict()), options.failOn);
    }

    private Path defaultDirectory(LoadPlan plan) {
      String group = plan.tls().groups().get(0).label().toLowerCase(Locale.ROOT);
      return Path.of(
          "bundles", DIRECTORY_TIME.format(Instant.now()) + "-" + group + "-" + options.label());
    }

    private static boolean isLocal(String name) {
      try {
        InetAddress address = InetAddress.getByName(name);
        return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
      } catch (IOException e) {
        // The preflight says it better.
        return false;
      }
    }
  }
}

package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.ServerMonitor;
import io.pqcbench.loadgen.engine.LoadRun;
import io.pqcbench.loadgen.handshake.PreflightException;
import io.pqcbench.loadgen.live.Metrics;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.live.ResultTable;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.verdict.Verdict;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code loadgen run}. */
@Command(
    name = "run",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description = "Offers load and measures; the default command.")
final class RunCommand implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private RunOptions options;

  private volatile Execution execution;
  private volatile boolean stopped;

  @Override
  public Integer call() throws Exception {
    return new Execution(options, spec).call();
  }

  /** Returns what the options say, which must have been parsed, wherever they lead. */
  LoadPlan plan() {
    List<Target> targets = options.load.targets();
    return targets.isEmpty()
        ? options.plan(Execution.SOMEWHERE, true)
        : options.plan(targets, options.load.isLocal(targets));
  }

  /**
   * Runs within a longer-lived process: signals are its business, and all output goes to one place.
   *
   * @param out gets what is printed, also why it could not run
   * @return the exit code
   */
  int execute(List<String> arguments, PrintStream out) {
    CommandLine parser = Loadgen.configure(new CommandLine(this));
    parser.parseArgs(arguments.toArray(String[]::new));
    execution = new Execution(options, spec, out, out);
    try {
      if (stopped) {
        return ExitCode.INTERRUPTED;
      }
      return execution.execute();
    } catch (Exception e) {
      parser.setErr(new PrintWriter(out, true, StandardCharsets.UTF_8));
      return Loadgen.explain(e, parser, null);
    }
  }

  /** Ends the run that {@link #execute} has begun; any thread. */
  void stop() {
    stopped = true;
    Execution running = execution;
    if (running != null) {
      running.stop();
    }
  }

  /** One execution; the root command and {@code run} share it. */
  static final class Execution {

    /**
     * What the drain, the last tick and the summary may take before an interrupt ends the JVM
     * without them.
     */
    private static final long INTERRUPT_SECONDS = 20;

    /** A tenth of a second is the shortest time that a verdict looks at. */
    private static final double LATE_MICROS = 100_000;

    private final RunOptions options;
    private final CommandSpec spec;

    /** Stands for a target that is not known yet. */
    static final List<Target> SOMEWHERE = List.of(new Target("127.0.0.1", 1, "/"));

    private final PrintStream out;
    private final PrintStream err;
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile boolean interrupted;
    private volatile LoadRun run;

    Execution(RunOptions options, CommandSpec spec) {
      this(options, spec, System.out, System.err);
    }

    Execution(RunOptions options, CommandSpec spec, PrintStream out, PrintStream err) {
      this.options = options;
      this.spec = spec;
      this.out = out;
      this.err = err;
    }

    int call() throws Exception {
      Thread hook = new Thread(this::interrupt, "interrupt");
      Runtime.getRuntime().addShutdownHook(hook);
      if (options.untilStdinCloses) {
        endWithStandardInput();
      }
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

    /** Its other end is held by the process that wants this run, and closes however that ends. */
    private static void endWithStandardInput() {
      Thread reader =
          new Thread(
              () -> {
                try {
                  System.in.transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                  // As good as its end.
                  System.err.println("loadgen: standard input: " + e);
                }
                Runtime.getRuntime().exit(ExitCode.INTERRUPTED);
              },
              "standard-input");
      reader.setDaemon(true);
      reader.start();
    }

    void stop() {
      interrupted = true;
      LoadRun running = run;
      if (running != null) {
        running.stop();
      }
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
      stop();
      LoadRun running = run;
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

    int execute() throws Exception {
      List<Target> given = options.load.targets();
      // Told before anything is started, however long that takes.
      options.plan(given.isEmpty() ? SOMEWHERE : given, true);
      if (!given.isEmpty()) {
        return against(given, false);
      }
      try (ServerProcess server = ServerProcess.start(options.load.transport())) {
        return against(List.of(server.target()), true);
      }
    }

    private int against(List<Target> targets, boolean embedded) throws Exception {
      LoadPlan plan = options.plan(targets, embedded || options.load.isLocal(targets));
      Path directory = options.out != null ? options.out : defaultDirectory(plan);
      PrintStream talk = options.json ? err : out;
      try (Session session =
              Session.open(plan, embedded, !options.noMonitor, options.load.codeWarmupNanos, spec);
          Metrics metrics = serveMetrics(plan);
          Bundle bundle = Bundle.create(directory, plan.limits().slowThresholdNanos())) {
        bundle.begin(session.describe(plan));
        if (!options.quiet) {
          talk.print(Header.render(plan, session, directory));
        }
        session.warnings().forEach(warning -> err.println("loadgen: WARNING: " + warning));
        return measure(session, plan, bundle, metrics, talk);
      }
    }

    /** Returns null when nobody asked for them. */
    private Metrics serveMetrics(LoadPlan plan) throws IOException {
      if (options.prometheus == null) {
        return null;
      }
      Metrics metrics =
          Metrics.serve(
              options.prometheus,
              new Metrics.Run(
                  plan.targets().stream().map(Target::authority).collect(Collectors.joining(",")),
                  plan.tls().groups().stream()
                      .map(NamedGroup::label)
                      .collect(Collectors.joining(",")),
                  Quantity.trim(plan.pace().ownRatePerSecond()),
                  Loadgen.Versions.own()));
      err.println("loadgen: metrics at " + metrics.url());
      return metrics;
    }

    private int measure(
        Session session, LoadPlan plan, Bundle bundle, Metrics metrics, PrintStream talk)
        throws IOException, PreflightException {
      ServerMonitor server =
          options.serverMonitor == null
              ? null
              : ServerMonitor.open(options.serverMonitor, session.host().bootId());
      boolean terminal = err == System.err && Terminal.isTerminal(2);
      Progress progress = new Progress(err, terminal, options.quiet);
      run =
          session.prepare(
              plan,
              bundle,
              server,
              progress,
              metrics,
              options.abortOn == RunOptions.AbortOn.SATURATED);
      if (interrupted) {
        // Before there was a run that could be told.
        run.stop();
      }
      LoadRun.Result result = run.run();
      progress.clear();
      if (options.json) {
        out.println(Bundle.toJson(result.summary()));
      }
      if (!options.json || !options.quiet) {
        talk.print(
            new ResultTable(out == System.out && Terminal.wantsColour(options.json ? 2 : 1))
                .render(result.summary()));
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
      Double late = result.summary().start().lateMicros();
      if (late != null && late > LATE_MICROS) {
        err.printf(
            Locale.ROOT,
            "loadgen: WARNING: started %.1f s later than agreed, so the shards of this run did not"
                + " offer its load together; what helps: a --start-at further ahead%n",
            late / 1e6);
      }
      if (!options.quiet) {
        talk.println("bundle     " + bundle.directory());
      }
      return ExitCode.of(Verdict.valueOf(result.summary().verdict()), options.failOn);
    }

    private Path defaultDirectory(LoadPlan plan) {
      String group = plan.tls().groups().get(0).label().toLowerCase(Locale.ROOT);
      return LoadOptions.defaultDirectory(group + "-" + options.label(plan));
    }
  }
}

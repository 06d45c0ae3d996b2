package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.ServerMonitor;
import io.pqcbench.loadgen.engine.LoadRun;
import io.pqcbench.loadgen.live.Metrics;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.live.ResultTable;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.verdict.Verdict;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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

  @Override
  public Integer call() throws Exception {
    return new Execution(options, spec).call();
  }

  /** One execution; the root command and {@code run} share it. */
  static final class Execution {

    /**
     * What the drain, the last tick and the summary may take before an interrupt ends the JVM
     * without them.
     */
    private static final long INTERRUPT_SECONDS = 20;

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
      Target given = options.load.target;
      // Told before anything is started, however long that takes.
      options.plan(given != null ? given : new Target("127.0.0.1", 1, "/"), true);
      if (given != null) {
        return against(given, false);
      }
      try (ServerProcess server = ServerProcess.start()) {
        return against(server.target(), true);
      }
    }

    private int against(Target target, boolean embedded) throws Exception {
      LoadPlan plan = options.plan(target, embedded || LoadOptions.isLocal(target.host()));
      Path directory = options.out != null ? options.out : defaultDirectory(plan);
      PrintStream talk = options.json ? System.err : System.out;
      try (Session session =
              Session.open(plan, embedded, !options.noMonitor, options.load.codeWarmupNanos, spec);
          Metrics metrics = serveMetrics(plan);
          Bundle bundle = Bundle.create(directory, plan.limits().slowThresholdNanos())) {
        bundle.begin(session.describe(plan));
        if (!options.quiet) {
          talk.print(Header.render(plan, session, directory));
        }
        session.warnings().forEach(warning -> System.err.println("loadgen: WARNING: " + warning));
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
                  plan.target().authority(),
                  plan.tls().groups().stream()
                      .map(NamedGroup::label)
                      .collect(Collectors.joining(",")),
                  Quantity.trim(plan.pace().ratePerSecond()),
                  Loadgen.Versions.own()));
      System.err.println("loadgen: metrics at " + metrics.url());
      return metrics;
    }

    private int measure(
        Session session, LoadPlan plan, Bundle bundle, Metrics metrics, PrintStream talk)
        throws IOException {
      ServerMonitor server =
          options.serverMonitor == null
              ? null
              : ServerMonitor.open(options.serverMonitor, session.host().bootId());
      boolean terminal = Terminal.isTerminal(2);
      Progress progress = new Progress(System.err, terminal, options.quiet);
      run =
          session.prepare(
              plan,
              bundle,
              server,
              progress,
              metrics,
              options.abortOn == RunOptions.AbortOn.SATURATED);
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
      return LoadOptions.defaultDirectory(group + "-" + options.label());
    }
  }
}

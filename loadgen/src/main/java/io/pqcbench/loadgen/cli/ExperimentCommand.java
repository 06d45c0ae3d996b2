package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.experiment.ArmResult;
import io.pqcbench.loadgen.experiment.Display;
import io.pqcbench.loadgen.experiment.ExperimentRun;
import io.pqcbench.loadgen.experiment.Machine;
import io.pqcbench.loadgen.plan.Experiment;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.Yaml;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code loadgen experiment}. */
@Command(
    name = "experiment",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description = {
      "Runs a whole comparison: arms in blocks, in random order within each, one run a trial, and"
          + " goes on where it stopped.",
      "The file is described in loadgen/EXPERIMENT.md; samples/ has some."
    },
    footer = {
      "",
      "Exit codes: 0 every trial that counts is trusted, 1 some are not, 2 usage, 3 an arm has no"
          + " trial that counts, 4 could not run, 130 interrupted (go on with --resume)."
    })
final class ExperimentCommand implements Callable<Integer> {

  /** What is decided by the experiment, not by an arm. */
  private static final Set<String> RESERVED =
      Set.of(
          "out",
          "json",
          "quiet",
          "seed",
          "help",
          "version",
          "until-stdin-closes",
          "abort-on",
          "shard",
          "start-at");

  /** The current trial's end, and the directory's. */
  private static final long INTERRUPT_SECONDS = 45;

  /** From one trial's command to the first arrival and from the last answer to its end. */
  private static final double TRIAL_OVERHEAD_SECONDS = 5;

  @Spec private CommandSpec spec;

  @Parameters(index = "0", arity = "0..1", paramLabel = "FILE", description = "The experiment")
  private Path file;

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE",
      description =
          "Replace or add a value of the file, e.g. --set blocks=3 --set options.duration=20s"
              + " --set arms.hybrid.rate=100; repeatable. Default: the file's values")
  private List<String> assignments = List.of();

  @Option(
      names = "--resume",
      paramLabel = "DIR",
      description =
          "Go on with the experiment in this directory. With FILE, refuse if it plans something"
              + " else. Default: begin a new one")
  private Path resume;

  @Option(
      names = {"-n", "--dry-run"},
      description = "Print the plan with its order, duration and cost, and do nothing")
  private boolean dryRun;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "DIR",
      description = "Result directory, new or empty. Default: bundles/TIME-NAME")
  private Path out;

  @Option(
      names = "--in-process",
      description =
          "Run the trials in this JVM: faster, but they share its history. Default: a JVM each, or"
              + " what the file says")
  private boolean inProcess;

  @Option(
      names = "--force",
      description =
          "Go on where the preflight would refuse, or on another machine; recorded in the result")
  private boolean force;

  @Option(
      names = "--json",
      description =
          "Print experiment.json on standard output at the end, all else on standard error")
  private boolean json;

  private final CountDownLatch done = new CountDownLatch(1);
  private volatile ExperimentRun run;
  private volatile boolean interrupted;

  @Override
  public Integer call() throws Exception {
    if (file == null && resume == null) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), "an experiment's FILE is needed, or --resume DIR");
    }
    if (resume != null && out != null) {
      throw new IllegalArgumentException(
          "--resume goes on in its own directory, --out is for a new one: resume="
              + resume
              + " out="
              + out);
    }
    Experiment experiment = planned();
    Map<String, LoadPlan> plans = check(experiment);
    PrintStream talk = json ? System.err : System.out;
    if (dryRun) {
      talk.print(describe(experiment, plans));
      return ExitCode.TRUSTED;
    }
    Thread hook = new Thread(this::interrupt, "interrupt");
    Runtime.getRuntime().addShutdownHook(hook);
    int exitCode = ExitCode.COULD_NOT_RUN;
    try {
      exitCode = execute(experiment, plans, talk);
    } catch (ExperimentRun.Refused e) {
      System.err.println("loadgen: " + e.getMessage());
    } finally {
      done.countDown();
      if (!interrupted) {
        try {
          Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
          // The signal came just now; the hook finds the experiment over.
          interrupted = true;
        }
      }
    }
    return interrupted ? ExitCode.INTERRUPTED : exitCode;
  }

  private Experiment planned() throws IOException {
    if (resume == null) {
      return Experiment.parse(document());
    }
    if (file == null && !assignments.isEmpty()) {
      throw new IllegalArgumentException(
          "--set belongs to a FILE; a plan that was begun cannot be changed: resume=" + resume);
    }
    Experiment begun = ExperimentRun.plannedIn(resume);
    if (file == null) {
      return begun;
    }
    Yaml document = document();
    if (document.get("seed") == null) {
      document = document.with("seed=" + begun.seed());
    }
    if (!Bundle.toJson(Experiment.parse(document)).equals(Bundle.toJson(begun))) {
      throw new IllegalArgumentException(
          "the file plans something else than what was begun, so its trials would not belong"
              + " together: file="
              + file
              + " resume="
              + resume);
    }
    return begun;
  }

  private Yaml document() throws IOException {
    if (!Files.isReadable(file)) {
      throw new IllegalArgumentException("the experiment cannot be read: file=" + file);
    }
    Yaml document = Yaml.parse(file.getFileName().toString(), Files.readString(file));
    for (String assignment : assignments) {
      document = document.with(assignment);
    }
    return document;
  }

  /** Parses each arm's options as {@code loadgen run} will, so that nothing is found out later. */
  private Map<String, LoadPlan> check(Experiment experiment) {
    Map<String, LoadPlan> plans = new LinkedHashMap<>();
    for (Experiment.Arm arm : experiment.arms()) {
      RunCommand command = new RunCommand();
      CommandLine parser = Loadgen.configure(new CommandLine(command));
      for (String option : arm.options().keySet()) {
        if (RESERVED.contains(option)) {
          throw new IllegalArgumentException(
              place(arm)
                  + "the experiment decides this option: arm="
                  + arm.name()
                  + " option="
                  + option);
        }
        if (parser.getCommandSpec().findOption("--" + option) == null) {
          throw new IllegalArgumentException(
              place(arm)
                  + "'loadgen run' has no such option: arm="
                  + arm.name()
                  + " option="
                  + option
                  + "; 'loadgen run --help' lists them");
        }
      }
      List<String> arguments = new ArrayList<>(arm.arguments());
      if (experiment.target() != null && !arm.namesTarget()) {
        arguments.add("--target=" + experiment.target());
      }
      try {
        parser.parseArgs(arguments.toArray(String[]::new));
        plans.put(arm.name(), command.plan());
      } catch (CommandLine.ParameterException | IllegalArgumentException e) {
        throw new IllegalArgumentException(
            place(arm) + "arm " + arm.name() + ": " + e.getMessage(), e);
      }
    }
    return plans;
  }

  /** An experiment that was begun says no more where its file had what. */
  private static String place(Experiment.Arm arm) {
    return arm.place() == null ? "" : arm.place() + ": ";
  }

  private int execute(Experiment experiment, Map<String, LoadPlan> plans, PrintStream talk)
      throws Exception {
    boolean needsServer =
        experiment.target() == null
            && experiment.arms().stream().anyMatch(arm -> !arm.namesTarget());
    if (!needsServer) {
      return execute(experiment, plans, experiment.target(), talk);
    }
    List<LoadPlan.Transport> transports =
        experiment.arms().stream()
            .filter(arm -> !arm.namesTarget())
            .map(arm -> plans.get(arm.name()).transport())
            .distinct()
            .toList();
    if (transports.size() > 1) {
      throw new IllegalArgumentException(
          "one embedded server speaks one transport, name a target for the arms of one of them:"
              + " transports="
              + transports);
    }
    try (ServerProcess server = ServerProcess.start(transports.get(0))) {
      return execute(experiment, plans, server.target().authority(), talk);
    }
  }

  private int execute(
      Experiment experiment, Map<String, LoadPlan> plans, String target, PrintStream talk)
      throws Exception {
    Machine machine = Machine.read(Loadgen.Versions.own());
    ExperimentRun.Runner runner =
        inProcess || !experiment.freshJvm() ? new TrialInProcess() : new TrialProcess();
    Display display = new Display(experiment, talk, System.err, Terminal.isTerminal(2));
    try {
      run =
          resume != null
              ? ExperimentRun.resume(experiment, plans, resume, machine, runner, display, force)
              : ExperimentRun.begin(
                  experiment, plans, directory(experiment), machine, runner, display, force);
      talk.print(header(experiment, plans, target));
      display.start();
      List<ArmResult> arms = run.run(target);
      display.table(arms);
      run.findings().forEach(finding -> talk.println("finding    " + finding));
      if (interrupted) {
        return ExitCode.INTERRUPTED;
      }
      talk.println("directory  " + run.directory());
      if (json) {
        System.out.println(Files.readString(run.directory().resolve("experiment.json")).strip());
      }
      return exitCode(experiment, arms);
    } finally {
      display.stop();
    }
  }

  private static int exitCode(Experiment experiment, List<ArmResult> arms) {
    if (arms.stream().anyMatch(arm -> arm.trials() == 0)) {
      return ExitCode.NOT_BELIEVABLE;
    }
    return arms.stream().allMatch(arm -> arm.trusted() == experiment.blocks())
        ? ExitCode.TRUSTED
        : ExitCode.SUSPECT;
  }

  /** On SIGINT and SIGTERM: lets the trial write what it has, then says how to go on. */
  private void interrupt() {
    interrupted = true;
    ExperimentRun running = run;
    if (running != null) {
      running.stop();
      try {
        if (!done.await(INTERRUPT_SECONDS, TimeUnit.SECONDS)) {
          System.err.println("loadgen: the trial did not end in " + INTERRUPT_SECONDS + " s");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      System.err.println(
          "loadgen: interrupted, go on with: loadgen experiment --resume " + running.directory());
    }
    System.out.flush();
    Runtime.getRuntime().halt(ExitCode.INTERRUPTED);
  }

  private Path directory(Experiment experiment) {
    return out != null ? out : LoadOptions.defaultDirectory(experiment.name());
  }

  private String header(Experiment experiment, Map<String, LoadPlan> plans, String target) {
    StringBuilder text = new StringBuilder();
    line(text, "experiment", "%s%s", experiment.name(), resume == null ? "" : ", resumed");
    if (experiment.question() != null) {
      line(text, "question", "%s", experiment.question());
    }
    line(
        text,
        "target",
        "%s%s",
        target == null ? "by arm" : target,
        experiment.target() == null && target != null
            ? " (embedded server, separate process)"
            : "");
    line(
        text,
        "plan",
        "%d blocks of %d arms, %d trials, seed %d; %d left, about %s",
        experiment.blocks(),
        experiment.arms().size(),
        experiment.order().size(),
        experiment.seed(),
        run.left(),
        Display.duration(
            run.left() * seconds(experiment, plans) / (double) experiment.order().size()));
    line(text, "directory", "%s", run.directory());
    return text.append('\n').toString();
  }

  /** The whole plan without retries and cool-downs. */
  private static double seconds(Experiment experiment, Map<String, LoadPlan> plans) {
    return experiment.order().stream()
        .mapToDouble(
            trial -> plans.get(trial.arm()).pace().durationNanos() / 1e9 + TRIAL_OVERHEAD_SECONDS)
        .sum();
  }

  private String describe(Experiment experiment, Map<String, LoadPlan> plans) throws IOException {
    StringBuilder text = new StringBuilder();
    line(text, "experiment", "%s", experiment.name());
    if (experiment.question() != null) {
      line(text, "question", "%s", experiment.question());
    }
    line(
        text,
        "target",
        "%s",
        experiment.target() == null
            ? "an embedded server, unless an arm names one"
            : experiment.target());
    for (Experiment.Arm arm : experiment.arms()) {
      LoadPlan plan = plans.get(arm.name());
      line(
          text,
          "arm",
          "%s%s: %d arrivals in %s, of which %s warm-up: loadgen run %s",
          arm.name(),
          arm.again()
              ? " (the baseline again)"
              : arm.family().equals(experiment.baseline()) ? " (baseline)" : "",
          plan.pace().schedule().count(),
          Quantity.format(plan.pace().durationNanos()),
          Quantity.format(plan.pace().warmupNanos()),
          String.join(" ", arm.arguments()));
    }
    line(text, "compare", "%s", Bundle.toJson(experiment.comparison()).replaceAll("\\s+", " "));
    line(
        text,
        "excluded",
        "%s; a trial that is not TRUSTED is repeated up to %d times",
        experiment.exclude().isEmpty()
            ? "nothing"
            : "whole trials with the verdict " + String.join(" or ", experiment.exclude()),
        experiment.retries());
    line(text, "seed", "%d", experiment.seed());
    int block = 0;
    for (Experiment.Trial trial : experiment.order()) {
      if (trial.block() != block) {
        block = trial.block();
        text.append(block == 1 ? "" : "\n");
        text.append(String.format(Locale.ROOT, "block %-4d ", block));
      }
      text.append(trial.position() == 1 ? "" : ", ").append(trial.arm());
    }
    text.append('\n');
    double least = seconds(experiment, plans);
    double most =
        least * (1 + experiment.retries())
            + (double) experiment.order().size()
                * (1 + experiment.retries())
                * experiment.coolDownNanos()
                / 1e9;
    line(
        text,
        "duration",
        "%s, and the time in which sockets drain; %s if every trial had to be repeated and drained"
            + " in full",
        Display.duration(least),
        Display.duration(most));
    if (experiment.price() == null) {
      line(text, "cost", "not known: the file has no price");
    } else {
      line(
          text,
          "cost",
          "%.2f %s, %.2f at most (%s %s an hour)",
          least / 3600 * experiment.price().perHour(),
          experiment.price().currency(),
          most / 3600 * experiment.price().perHour(),
          Quantity.trim(experiment.price().perHour()),
          experiment.price().currency());
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String label, String format, Object... values) {
    text.append(String.format(Locale.ROOT, "%-10s ", label))
        .append(String.format(Locale.ROOT, format, values))
        .append('\n');
  }
}

package io.pqcbench.loadgen.experiment;

import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.plan.Experiment;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Quantity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An experiment from its preflight to its table: the only place that knows the order of things. A
 * trial is a run of its own, with a bundle; here is decided only which one is next.
 */
public final class ExperimentRun {

  /** One trial that cannot run may be chance; so many in a row are not. */
  private static final int FAILURES_IN_A_ROW = 3;

  /** The low rate at which each arm is tried before anything counts, 1/s. */
  private static final double PREFLIGHT_RATE = 50;

  private static final String PREFLIGHT_SECONDS = "2s";
  private static final String PREFLIGHT_WARMUP = "400ms";
  private static final String HEADROOM_SECONDS = "8s";
  private static final String HEADROOM_WARMUP = "2s";

  /** Sockets in TIME_WAIT that are no reason to wait: a busy machine always has some. */
  private static final long FEW_SOCKETS = 50;

  private static final long COOL_DOWN_LOOK_MILLIS = 200;

  private final Experiment experiment;
  private final Map<String, LoadPlan> plans;
  private final ExperimentDirectory directory;
  private final Machine machine;
  private final Runner runner;
  private final Display display;
  private final boolean force;
  private final List<ExperimentDirectory.Session> sessions = new ArrayList<>();
  private final List<TrialResult> preflight = new ArrayList<>();
  private final Set<String> findings = new LinkedHashSet<>();
  private TrialResult headroom;
  private List<String> changes = List.of();
  private String target;
  private String startedAt;
  private long quietTimeWait;
  private volatile boolean stopping;

  /** Runs {@code loadgen run}, in whatever process. */
  public interface Runner {

    /**
     * Runs to the end.
     *
     * @param arguments of {@code loadgen run}
     * @param log gets what it prints
     * @return its exit code
     */
    int run(List<String> arguments, Path log) throws IOException, InterruptedException;

    /** Ends the run that goes on, if one does; any thread. */
    void stop();
  }

  /** Why an experiment does not go on. What was measured is on the disk. */
  public static final class Refused extends Exception {
    private static final long serialVersionUID = 1;

    Refused(String message) {
      super(message);
    }
  }

  private ExperimentRun(
      Experiment experiment,
      Map<String, LoadPlan> plans,
      ExperimentDirectory directory,
      Machine machine,
      Runner runner,
      Display display,
      boolean force) {
    this.experiment = experiment;
    this.plans = plans;
    this.directory = directory;
    this.machine = machine;
    this.runner = runner;
    this.display = display;
    this.force = force;
  }

  /**
   * Begins an experiment.
   *
   * @param plans of the arms, by name
   * @param directory new or empty
   * @param force whether to go on where the preflight would refuse
   */
  public static ExperimentRun begin(
      Experiment experiment,
      Map<String, LoadPlan> plans,
      Path directory,
      Machine machine,
      Runner runner,
      Display display,
      boolean force)
      throws IOException {
    return new ExperimentRun(
        experiment, plans, ExperimentDirectory.create(directory), machine, runner, display, force);
  }

  /**
   * Reads what was planned in a directory that {@link #begin} has made.
   *
   * @throws IOException if it is none
   */
  public static Experiment plannedIn(Path directory) throws IOException {
    try (ExperimentDirectory opened = ExperimentDirectory.resume(directory)) {
      return opened.contents().plan();
    }
  }

  /**
   * Takes an experiment up again.
   *
   * @param directory that {@link #begin} has made
   * @param force whether to go on although the machine is not the same
   * @throws Refused if it is not
   */
  public static ExperimentRun resume(
      Experiment experiment,
      Map<String, LoadPlan> plans,
      Path directory,
      Machine machine,
      Runner runner,
      Display display,
      boolean force)
      throws IOException, Refused {
    ExperimentDirectory opened = ExperimentDirectory.resume(directory);
    try {
      ExperimentRun run =
          new ExperimentRun(experiment, plans, opened, machine, runner, display, force);
      run.recall(opened.contents());
      return run;
    } catch (IOException | Refused | RuntimeException e) {
      opened.close();
      throw e;
    }
  }

  private void recall(ExperimentDirectory.Contents contents) throws Refused {
    sessions.addAll(contents.sessions());
    findings.addAll(contents.findings());
    if (sessions.isEmpty()) {
      return;
    }
    changes = machine.changesSince(sessions.get(0).machine());
    if (!changes.isEmpty()) {
      String what = "the machine is not the one that the experiment began on: " + changes;
      if (!force) {
        throw new Refused(
            what
                + "; its trials would not be comparable. Go on there, begin anew, or say --force,"
                + " which is recorded");
      }
      findings.add(what);
    }
  }

  /** Returns the directory of the experiment. */
  public Path directory() {
    return directory.path();
  }

  /** Returns how many trials are left to run. */
  public long left() {
    return experiment.order().stream().filter(trial -> !isOver(trial)).count();
  }

  /** Ends the experiment after what has been measured was written; any thread. */
  public void stop() {
    stopping = true;
    runner.stop();
  }

  /**
   * Runs until all trials are over, or {@link #stop}.
   *
   * @param address where trials whose arm names no target go
   * @return the arms' results, in the order of the plan
   * @throws Refused when the preflight says that there is nothing to be learned, or too many trials
   *     could not run
   */
  public List<ArmResult> run(String address) throws IOException, InterruptedException, Refused {
    try (directory) {
      target = address;
      startedAt = Instant.now().toString();
      quietTimeWait =
          sessions.isEmpty() ? HostFacts.timeWaitSockets() : sessions.get(0).timeWaitSockets();
      write("running");
      try {
        if (left() > 0) {
          preflight();
          trials();
        }
      } finally {
        write(left() == 0 ? "complete" : "interrupted");
      }
      return results();
    }
  }

  /** Returns what speaks against the comparison; sentences. */
  public List<String> findings() {
    Set<String> all = new LinkedHashSet<>(findings);
    all.addAll(
        Differences.undeclared(
            experiment, directory.results().stream().filter(TrialResult::isComplete).toList()));
    return List.copyOf(all);
  }

  private List<ArmResult> results() {
    return experiment.arms().stream()
        .map(arm -> ArmResult.of(experiment, arm, directory.results()))
        .toList();
  }

  private void write(String status) throws IOException {
    List<ExperimentDirectory.Session> all = new ArrayList<>(sessions);
    all.add(
        new ExperimentDirectory.Session(
            startedAt, machine, changes, target, quietTimeWait, List.copyOf(preflight), headroom));
    directory.write(
        new ExperimentDirectory.Contents(
            ExperimentDirectory.SCHEMA,
            status,
            experiment,
            experiment.order(),
            all,
            findings(),
            results(),
            directory.results()));
  }

  /** Every arm once at a low rate, then the most expensive one at the highest rate. */
  private void preflight() throws IOException, InterruptedException, Refused {
    String folder = "preflight-" + (sessions.size() + 1);
    for (Experiment.Arm arm : experiment.arms()) {
      if (arm.again() || stopping) {
        continue;
      }
      display.preflight(arm.name());
      double rate = Math.min(PREFLIGHT_RATE, plans.get(arm.name()).pace().ratePerSecond());
      TrialResult result =
          attempt(
              new Experiment.Trial(fileName(arm.name()), 0, 0, arm.name(), experiment.seed()),
              1,
              folder,
              Map.of(
                  "rate", Quantity.trim(rate),
                  "duration", PREFLIGHT_SECONDS,
                  "warmup", PREFLIGHT_WARMUP),
              null);
      preflight.add(result);
      if (stopping) {
        return;
      }
      if (!result.isComplete()) {
        throw new Refused("the arm " + arm.name() + " cannot run: " + result.failure());
      }
      if (result.failures() > 0) {
        insist(
            "the arm "
                + arm.name()
                + " fails already at "
                + Quantity.trim(rate)
                + "/s, so its numbers would mean something else: "
                + String.join("; ", digest(result).errors()));
      }
    }
    headroom(folder);
  }

  private void headroom(String folder) throws IOException, InterruptedException, Refused {
    double highest =
        plans.values().stream().mapToDouble(plan -> plan.pace().ratePerSecond()).max().orElse(0);
    TrialResult dearest = null;
    double most = -1;
    for (TrialResult result : preflight) {
      double cost = digest(result).clientCpuMicros();
      if (plans.get(result.arm()).pace().ratePerSecond() == highest && cost > most) {
        most = cost;
        dearest = result;
      }
    }
    if (dearest == null || stopping) {
      return;
    }
    display.preflight("headroom of the client at " + Quantity.trim(highest) + "/s");
    headroom =
        attempt(
            new Experiment.Trial("headroom", 0, 0, dearest.arm(), experiment.seed()),
            1,
            folder,
            Map.of("duration", HEADROOM_SECONDS, "warmup", HEADROOM_WARMUP),
            null);
    if (stopping) {
      return;
    }
    if (!headroom.isComplete()) {
      insist("the client's headroom could not be measured: " + headroom.failure());
    } else if (headroom.verdict().equals("SATURATED")) {
      insist(
          "the client would be the bottleneck at the highest rate, "
              + Quantity.trim(highest)
              + "/s: "
              + digest(headroom).worstFinding());
    }
  }

  /** Refuses to go on, unless the user says so; then the result says it. */
  private void insist(String what) throws Refused {
    if (!force) {
      throw new Refused(what + " (--force to go on)");
    }
    findings.add(what);
  }

  private BundleDigest digest(TrialResult result) throws IOException {
    return BundleDigest.read(directory.path().resolve(result.directory()));
  }

  private void trials() throws IOException, InterruptedException, Refused {
    int failures = 0;
    List<Experiment.Trial> order = experiment.order();
    for (int block = 1; block <= experiment.blocks(); block++) {
      int number = block;
      List<Experiment.Trial> open =
          order.stream().filter(trial -> trial.block() == number && !isOver(trial)).toList();
      // A trial that is to be repeated gets its turn when all others of the block have had theirs.
      while (!open.isEmpty()) {
        for (Experiment.Trial trial :
            open.stream().sorted(Comparator.comparingInt(this::attempts)).toList()) {
          TrialResult.CoolDown coolDown = coolDown();
          if (stopping) {
            return;
          }
          int attempt = attempts(trial) + 1;
          display.begin(trial, attempt, plans.get(trial.arm()), order.size(), left());
          TrialResult result = attempt(trial, attempt, "trials", Map.of(), coolDown);
          directory.add(result);
          write("running");
          display.end(result);
          failures = result.isComplete() ? 0 : failures + 1;
          if (failures >= FAILURES_IN_A_ROW) {
            throw new Refused(
                failures
                    + " trials in a row did not run to their end, the last one: "
                    + (result.failure() == null ? result.verdict() : result.failure()));
          }
        }
        open = open.stream().filter(trial -> !isOver(trial)).toList();
      }
    }
  }

  /** Attempts that ran to an end of their own, with those that could not run. */
  private int attempts(Experiment.Trial trial) {
    return (int)
        directory.results().stream()
            .filter(result -> result.trial().equals(trial.name()))
            .filter(result -> !result.verdict().equals(TrialResult.INTERRUPTED))
            .count();
  }

  /** One that could not run at all is no measurement, so it takes no retry from its trial. */
  private boolean isOver(Experiment.Trial trial) {
    List<TrialResult> complete =
        directory.results().stream()
            .filter(result -> result.trial().equals(trial.name()) && result.isComplete())
            .toList();
    return complete.size() > experiment.retries()
        || complete.stream().anyMatch(TrialResult::isTrusted);
  }

  private TrialResult attempt(
      Experiment.Trial trial,
      int attempt,
      String folder,
      Map<String, String> instead,
      TrialResult.CoolDown coolDown)
      throws IOException, InterruptedException {
    String name = folder + "/" + trial.name() + (attempt > 1 ? ".retry" + (attempt - 1) : "");
    String remains = directory.makeRoom(name);
    if (remains != null) {
      findings.add(
          "an attempt at "
              + trial.name()
              + " was killed, and made again; what it left is in "
              + remains);
    }
    Files.createDirectories(directory.path().resolve(folder));
    Path bundle = directory.path().resolve(name);
    Path log = directory.path().resolve(name + ".log");
    Instant start = Instant.now();
    int exitCode = runner.run(arguments(trial, bundle, instead), log);
    Instant end = Instant.now();
    BundleDigest digest = BundleDigest.read(bundle);
    boolean complete = digest.hasSummary();
    String verdict =
        complete ? digest.verdict() : stopping ? TrialResult.INTERRUPTED : TrialResult.FAILED;
    if (verdict.equals(TrialResult.INTERRUPTED)) {
      // Its place is for the one that is made in its stead.
      name = directory.makeRoom(name);
    }
    return new TrialResult(
        trial.name(),
        trial.block(),
        trial.position(),
        trial.arm(),
        attempt,
        name,
        start.toString(),
        end.toString(),
        sessions.size(),
        verdict,
        digest.objections(),
        complete ? null : "exit code " + exitCode + ": " + lastLine(log),
        digest.count(),
        digest.failures(),
        digest.figures(),
        digest.conditions(
            machine,
            experiment.blocks(),
            experiment.target() == null && !experiment.arm(trial.arm()).namesTarget()),
        coolDown);
  }

  private List<String> arguments(Experiment.Trial trial, Path bundle, Map<String, String> instead) {
    Experiment.Arm arm = experiment.arm(trial.arm());
    Map<String, List<String>> options = new LinkedHashMap<>(arm.options());
    if (!arm.namesTarget()) {
      options.put("target", List.of(target));
    }
    instead.forEach((key, value) -> options.put(key, List.of(value)));
    options.put("seed", List.of(Long.toString(trial.seed())));
    options.put("out", List.of(bundle.toString()));
    List<String> arguments = new ArrayList<>();
    arguments.addAll(
        new Experiment.Arm(arm.name(), arm.family(), arm.cell(), arm.again(), options, arm.place())
            .arguments());
    return arguments;
  }

  private static String fileName(String arm) {
    return arm.replaceAll("[^A-Za-z0-9._-]+", "_");
  }

  private static String lastLine(Path log) throws IOException {
    List<String> lines = Files.exists(log) ? Files.readAllLines(log) : List.of();
    return lines.isEmpty() ? "it printed nothing" : lines.get(lines.size() - 1);
  }

  /** Waits until the sockets of the trial before are gone, so that the next one finds none. */
  private TrialResult.CoolDown coolDown() throws InterruptedException {
    long begin = System.nanoTime();
    long atStart = HostFacts.timeWaitSockets();
    if (experiment.coolDownNanos() == 0 || atStart < 0) {
      return null;
    }
    long now = atStart;
    display.coolDown(now);
    while (now > quietTimeWait + FEW_SOCKETS
        && System.nanoTime() - begin < experiment.coolDownNanos()
        && !stopping) {
      Thread.sleep(COOL_DOWN_LOOK_MILLIS);
      now = HostFacts.timeWaitSockets();
    }
    return new TrialResult.CoolDown(
        Math.round((System.nanoTime() - begin) / 1e6) / 1e3,
        atStart,
        now,
        now <= quietTimeWait + FEW_SOCKETS);
  }
}

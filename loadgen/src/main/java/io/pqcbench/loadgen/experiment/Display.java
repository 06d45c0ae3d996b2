package io.pqcbench.loadgen.experiment;

import io.pqcbench.loadgen.plan.Experiment;
import io.pqcbench.loadgen.plan.LoadPlan;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/**
 * Shows an experiment while it goes: a line for each trial that has ended, and on a terminal one
 * that tells what goes on and how long it will take.
 */
public final class Display {

  /** A JVM's start, calibration and drain, until it is known better. */
  private static final double FIRST_GUESS_SECONDS = 5;

  private static final long TICK_MILLIS = 1_000;

  private final PrintStream out;
  private final PrintStream live;
  private final boolean terminal;
  private final int armWidth;
  private final int trialWidth;
  private final Thread ticker;
  private final List<String> metrics;

  private String activity;
  private double expectedSeconds;
  private long since;
  private long left;
  private double overheadSeconds = FIRST_GUESS_SECONDS;
  private double meanSeconds;
  private int width;

  /**
   * @param experiment what is shown
   * @param out gets the lines of trials
   * @param live gets the line that is rewritten
   * @param terminal whether {@code live} is one
   */
  public Display(Experiment experiment, PrintStream out, PrintStream live, boolean terminal) {
    this.metrics = ArmResult.metrics(experiment);
    this.out = out;
    this.live = live;
    this.terminal = terminal;
    this.armWidth = experiment.arms().stream().mapToInt(arm -> arm.name().length()).max().orElse(1);
    this.trialWidth =
        experiment.order().stream().mapToInt(t -> t.name().length()).max().orElse(1) + 7;
    this.ticker = new Thread(this::tick, "display");
    ticker.setDaemon(true);
  }

  /** Prints the head of the table of trials, and begins to show what goes on. */
  public void start() {
    out.printf(
        Locale.ROOT,
        "%-" + trialWidth + "s %-9s %9s %12s %12s %12s %12s  %s%n",
        "us",
        "verdict",
        "n",
        "resp. p50",
        "resp. p99",
        "handsh. p50",
        "handsh. p99",
        "objections");
    out.flush();
    if (terminal) {
      ticker.start();
    }
  }

  synchronized void preflight(String what) {
    activity = "preflight: " + what;
    expectedSeconds = 0;
    since = System.nanoTime();
    show();
  }

  synchronized void begin(
      Experiment.Trial trial, int attempt, LoadPlan plan, int trials, long left) {
    activity =
        String.format(
            Locale.ROOT,
            "block %d, trial %d of %d: %s%s",
            trial.block(),
            trials - left + 1,
            trials,
            trial.arm(),
            attempt > 1 ? ", again" : "");
    expectedSeconds = plan.pace().durationNanos() / 1e9;
    meanSeconds = expectedSeconds;
    since = System.nanoTime();
    this.left = left;
    show();
  }

  synchronized void coolDown(long timeWait) {
    overheadSeconds = Math.max(1, (System.nanoTime() - since) / 1e9 - expectedSeconds);
    activity = "cool-down: " + timeWait + " sockets in TIME_WAIT";
    show();
  }

  synchronized void end(TrialResult result) {
    clear();
    activity = null;
    String name = result.trial() + (result.attempt() > 1 ? " again" : "");
    if (!result.isComplete()) {
      out.printf(
          Locale.ROOT,
          "%-" + trialWidth + "s %-9s %s%n",
          name,
          result.verdict(),
          result.failure() == null ? "" : result.failure());
    } else {
      out.printf(
          Locale.ROOT,
          "%-" + trialWidth + "s %-9s %9d %12s %12s %12s %12s  %s%n",
          name,
          result.verdict(),
          result.count(),
          micros(result.figure("response.p50")),
          micros(result.figure("response.p99")),
          micros(result.figure("handshake.p50")),
          micros(result.figure("handshake.p99")),
          String.join(", ", result.objections()));
    }
    out.flush();
  }

  /** Prints what was found of each arm. */
  public synchronized void table(List<ArmResult> arms) {
    clear();
    out.printf(
        Locale.ROOT,
        "%nus, median (min..max) of the trials%n%-" + armWidth + "s %7s %8s %9s",
        "arm",
        "trials",
        "trusted",
        "excluded");
    metrics.forEach(metric -> out.printf(Locale.ROOT, "  %-28s", metric));
    out.println();
    for (ArmResult arm : arms) {
      out.printf(
          Locale.ROOT,
          "%-" + armWidth + "s %7d %8d %9d",
          arm.arm(),
          arm.trials(),
          arm.trusted(),
          arm.excluded());
      metrics.forEach(
          metric -> out.printf(Locale.ROOT, "  %-28s", spread(arm.figures().get(metric))));
      out.println(arm.missing() == 0 ? "" : "  " + arm.missing() + " blocks without a trial");
    }
    out.flush();
  }

  private static String spread(ArmResult.Spread spread) {
    return spread == null
        ? "n too small"
        : String.format(
            Locale.ROOT, "%.1f (%.1f..%.1f)", spread.median(), spread.min(), spread.max());
  }

  private static String micros(Double value) {
    return value == null ? "n too small" : String.format(Locale.ROOT, "%.1f", value);
  }

  private void tick() {
    try {
      while (true) {
        Thread.sleep(TICK_MILLIS);
        synchronized (this) {
          show();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void show() {
    if (!terminal || activity == null) {
      return;
    }
    double elapsed = (System.nanoTime() - since) / 1e9;
    StringBuilder line = new StringBuilder(activity);
    if (expectedSeconds > 0) {
      line.append(String.format(Locale.ROOT, "  %.0f/%.0f s", elapsed, expectedSeconds));
      double rest = left * (meanSeconds + overheadSeconds) - elapsed;
      line.append("  left about ").append(duration(Math.max(0, rest)));
    }
    live.print("\r" + line + " ".repeat(Math.max(0, width - line.length())));
    live.flush();
    width = line.length();
  }

  private void clear() {
    if (terminal && width > 0) {
      live.print("\r" + " ".repeat(width) + "\r");
      live.flush();
      width = 0;
    }
  }

  /** Returns a duration for people, e.g. {@code 1 h 05 min}. */
  public static String duration(double seconds) {
    long whole = Math.round(seconds);
    if (whole < 60) {
      return whole + " s";
    }
    return whole < 3600
        ? String.format(Locale.ROOT, "%d min %02d s", whole / 60, whole % 60)
        : String.format(Locale.ROOT, "%d h %02d min", whole / 3600, whole % 3600 / 60);
  }

  /** Shows nothing any more. */
  public synchronized void stop() {
    ticker.interrupt();
    clear();
    activity = null;
  }
}

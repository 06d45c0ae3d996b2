package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.experiment.ExperimentRun;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Runs each trial in a JVM of its own, started as this one was: what the compiler and the heap have
 * been through differs from one JVM to the next, and must not be the same in all trials.
 */
final class TrialProcess implements ExperimentRun.Runner {

  /** What a trial may take to write what it has. */
  private static final long STOP_SECONDS = 30;

  private volatile Process process;
  private volatile boolean stopped;

  @Override
  public int run(List<String> arguments, Path log) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    String path = System.getProperty("java.class.path");
    // The jar's manifest allows native access, and the class cache was made for it.
    words.addAll(
        path.endsWith(".jar") && !path.contains(File.pathSeparator)
            ? List.of("-jar", path)
            : List.of("-cp", path, "io.pqcbench.loadgen.Main"));
    words.addAll(List.of("run", "--quiet", "--until-stdin-closes"));
    words.addAll(arguments);
    // It ends when its standard input does, however this process ends.
    Process started =
        new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    process = started;
    if (stopped) {
      started.destroy();
    }
    return started.waitFor();
  }

  @Override
  public void stop() {
    stopped = true;
    Process running = process;
    if (running == null) {
      return;
    }
    running.destroy();
    try {
      if (!running.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        running.destroyForcibly();
      }
    } catch (InterruptedException e) {
      running.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}

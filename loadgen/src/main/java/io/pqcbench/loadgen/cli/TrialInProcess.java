package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.experiment.ExperimentRun;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs the trials in this JVM, one after the other. */
final class TrialInProcess implements ExperimentRun.Runner {

  private volatile RunCommand running;
  private volatile boolean stopped;

  @Override
  public int run(List<String> arguments, Path log) throws IOException {
    try (PrintStream out = new PrintStream(log.toFile(), StandardCharsets.UTF_8)) {
      RunCommand command = new RunCommand();
      running = command;
      List<String> words = new ArrayList<>(arguments);
      words.add("--quiet");
      return stopped ? ExitCode.INTERRUPTED : command.execute(words, out);
    } finally {
      running = null;
    }
  }

  @Override
  public void stop() {
    stopped = true;
    RunCommand command = running;
    if (command != null) {
      command.stop();
    }
  }
}

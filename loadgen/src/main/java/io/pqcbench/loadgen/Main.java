package io.pqcbench.loadgen;

import io.pqcbench.loadgen.cli.Loadgen;

/** The entry point of the jar. */
public final class Main {

  private Main() {}

  /** Runs a command and ends the JVM with its exit code. */
  public static void main(String[] arguments) {
    int exitCode = 4;
    try {
      exitCode = Loadgen.execute(arguments);
    } finally {
      // An error must not end with the JVM's 1, which means a suspect run.
      System.exit(exitCode);
    }
  }
}

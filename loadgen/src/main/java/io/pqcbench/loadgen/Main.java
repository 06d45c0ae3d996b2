package io.pqcbench.loadgen;

import io.pqcbench.loadgen.cli.Loadgen;

/** The entry point of the jar. */
public final class Main {

  private Main() {}

  /** Runs a command and ends the JVM with its exit code. */
  public static void main(String[] arguments) {
    System.exit(Loadgen.execute(arguments));
  }
}

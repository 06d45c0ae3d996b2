package io.pqcbench.loadgen;

import io.pqcbench.loadgen.cli.Loadgen;
import io.pqcbench.loadgen.handshake.NativeTls;

/** The entry point of the jar. */
public final class Main {

  private Main() {}

  /** Runs a command and ends the JVM with its exit code. */
  public static void main(String[] arguments) {
    int exitCode = 4;
    // Before any class of Netty is loaded, so that Fedora's users get what all others get.
    NativeTls.preferBoringSsl();
    try {
      exitCode = Loadgen.execute(arguments);
    } catch (Error e) {
      // Else the exit below would be all that is seen of it.
      System.err.println(
          "loadgen: this is a defect of loadgen or of its installation, please report it with what"
              + " follows");
      e.printStackTrace();
    } finally {
      // An error must not end with the JVM's 1, which means a suspect run.
      System.exit(exitCode);
    }
  }
}

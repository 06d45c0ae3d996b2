package io.pqcbench.analysis;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;

/** {@code loadgen-report}. */
public final class Main {

  private Main() {}

  /** Runs the command line and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(
        run(
            new PrintWriter(System.out, true, StandardCharsets.UTF_8),
            new PrintWriter(System.err, true, StandardCharsets.UTF_8),
            arguments));
  }

  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    return new CommandLine(new ReportCommand())
        .setOut(out)
        .setErr(err)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setExecutionExceptionHandler(
            (failure, command, parsed) -> {
              err.println("loadgen-report: " + ReportCommand.explain(failure));
              return ReportCommand.UNREADABLE;
            })
        .execute(arguments);
  }
}

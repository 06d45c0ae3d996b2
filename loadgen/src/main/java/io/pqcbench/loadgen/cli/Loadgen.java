package io.pqcbench.loadgen.cli;

import io.netty.util.Version;
import io.pqcbench.loadgen.handshake.PreflightException;
import io.pqcbench.loadgen.handshake.StackFacts;
import io.pqcbench.loadgen.plan.TlsStack;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code loadgen}; by itself it is {@code loadgen run}. */
@Command(
    name = "loadgen",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description = {
      "Opens fresh TLS 1.3 handshakes at a fixed offered rate, open loop, times every phase of each"
          + " from the instant it was due, checks each, and says whether the numbers may be"
          + " believed.",
      ""
    },
    footer = {
      "",
      "Exit codes: 0 trusted, 1 suspect, 2 usage, 3 saturated or invalid, 4 could not run, 130"
          + " interrupted.",
      "Without --target an embedded server is started in a process of its own."
    },
    subcommands = {
      RunCommand.class,
      ExperimentCommand.class,
      CalibrateCommand.class,
      ProbeCommand.class,
      StacksCommand.class,
      MonitorCommand.class,
      ServeCommand.class,
      AutoComplete.GenerateCompletion.class,
      CommandLine.HelpCommand.class
    })
public final class Loadgen implements Callable<Integer> {

  @Spec private CommandSpec spec;
  @Mixin private RunOptions options;

  /**
   * Runs the command.
   *
   * @return the exit code; see {@link ExitCode}
   */
  public static int execute(String... arguments) {
    CommandLine command = configure(new CommandLine(new Loadgen()));
    command.setExecutionExceptionHandler(Loadgen::explain);
    command.setExecutionStrategy(Loadgen::executeLast);
    command.setParameterExceptionHandler(
        (wrong, args) -> {
          CommandLine at = wrong.getCommandLine();
          at.getErr().println("loadgen: " + wrong.getMessage());
          if (!CommandLine.UnmatchedArgumentException.printSuggestions(wrong, at.getErr())) {
            at.getErr()
                .println(
                    "loadgen: '"
                        + at.getCommandSpec().qualifiedName()
                        + " --help' lists the options");
          }
          return ExitCode.USAGE;
        });
    return command.execute(arguments);
  }

  /** Returns a parser that understands values as this program's users write them. */
  static CommandLine configure(CommandLine command) {
    return command.setCaseInsensitiveEnumValuesAllowed(true);
  }

  /**
   * Options in front of a subcommand would be taken by {@code loadgen} itself, which is not run.
   */
  private static int executeLast(CommandLine.ParseResult parsed) {
    if (parsed.hasSubcommand() && !parsed.matchedOptions().isEmpty()) {
      throw new CommandLine.ParameterException(
          parsed.commandSpec().commandLine(),
          "options belong behind the subcommand: "
              + parsed.matchedOptions().get(0).longestName()
              + " stands before "
              + parsed.subcommand().commandSpec().name());
    }
    return new CommandLine.RunLast().execute(parsed);
  }

  @Override
  public Integer call() throws Exception {
    return new RunCommand.Execution(options, spec).call();
  }

  /**
   * Things that can go wrong outside this program are told in a line; a stack trace means a defect.
   */
  static int explain(Exception failure, CommandLine command, CommandLine.ParseResult parsed) {
    if (failure instanceof IllegalArgumentException) {
      command.getErr().println("loadgen: " + failure.getMessage());
      return ExitCode.USAGE;
    }
    if (failure instanceof PreflightException
        || failure instanceof UncheckedIOException
        || failure instanceof IOException
        || (failure instanceof IllegalStateException && failure.getCause() != null)) {
      command.getErr().println("loadgen: " + failure.getMessage());
      if (failure instanceof IllegalStateException) {
        command.getErr().println("loadgen: caused by " + failure.getCause());
      }
      return ExitCode.COULD_NOT_RUN;
    }
    command
        .getErr()
        .println("loadgen: this is a defect of loadgen, please report it with what follows");
    failure.printStackTrace(command.getErr());
    return ExitCode.COULD_NOT_RUN;
  }

  /** What {@code --version} prints. */
  static final class Versions implements CommandLine.IVersionProvider {

    static String own() {
      String version = Loadgen.class.getPackage().getImplementationVersion();
      return version == null ? "development" : version;
    }

    static String netty() {
      io.netty.util.Version handler = Version.identify().get("netty-handler");
      return handler == null ? "unknown" : handler.artifactVersion();
    }

    static String jdk() {
      return Runtime.version() + " " + System.getProperty("java.vm.vendor");
    }

    @Override
    public String[] getVersion() {
      return new String[] {
        "loadgen " + own(),
        "Netty " + netty(),
        "TLS stack " + StackFacts.version(TlsStack.BORINGSSL),
        "JDK " + jdk()
      };
    }
  }
}

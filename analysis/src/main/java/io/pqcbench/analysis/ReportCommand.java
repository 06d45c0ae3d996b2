package io.pqcbench.analysis;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.gatling.GatlingReport;
import io.pqcbench.analysis.report.Csv;
import io.pqcbench.analysis.report.GatlingText;
import io.pqcbench.analysis.report.Hgrm;
import io.pqcbench.analysis.report.Html;
import io.pqcbench.analysis.report.Markdown;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command line of the module. */
@Command(
    name = "loadgen-report",
    mixinStandardHelpOptions = true,
    versionProvider = ReportCommand.Version.class,
    sortOptions = false,
    usageHelpWidth = 110,
    subcommands = {
      ReportCommand.Compare.class,
      ReportCommand.Gatling.class,
      AutoComplete.GenerateCompletion.class
    },
    description = {
      "Says what the bundle of a run, or the directory of an experiment, shows, and what it cannot."
    },
    footer = {
      "",
      "Exit codes: 0 done, 1 a condition of --fail-if came true, 2 usage, 4 the data cannot be"
          + " read."
    })
final class ReportCommand implements Callable<Integer> {

  /** The exit code when the data cannot be read, or the report not be written. */
  static final int UNREADABLE = 4;

  /** Sets up the JSON form: what is not known is null, which is JSON, and not NaN, which is not. */
  private static final ObjectMapper JSON =
      new ObjectMapper()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .registerModule(
              new SimpleModule()
                  .addSerializer(double.class, new Finite())
                  .addSerializer(Double.class, new Finite()));

  @Spec private CommandSpec spec;

  @Parameters(
      index = "0..*",
      arity = "0..*",
      paramLabel = "DIR",
      description =
          "The directory of an experiment, or the bundle of a run; several experiments are the same"
              + " one on several pairs of machines, several bundles the shards of one run")
  private List<Path> directories = List.of();

  @Option(
      names = {"-f", "--format"},
      paramLabel = "md|html|json|csv|hgrm",
      description =
          "md: short, for a pull request; html: one page with charts; json: everything; csv: a line"
              + " a trial and figure, for R and pandas; hgrm: percentiles of a phase, all trials of"
              + " an arm together, for HdrHistogram's plotter. Default: ${DEFAULT-VALUE}")
  private Format format = Format.MD;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description =
          "Where to write; for hgrm a directory, with a file an arm. Default: standard output")
  private Path out;

  @Option(
      names = "--phase",
      paramLabel = "PHASE",
      description = "Phase of hgrm, e.g. handshake. Default: ${DEFAULT-VALUE}")
  private String phase = "response";

  @Option(
      names = "--arm",
      paramLabel = "NAME",
      description = "Arm of hgrm. Default: all; without --out there may be only one")
  private String arm;

  private enum Format {
    MD,
    HTML,
    JSON,
    CSV,
    HGRM
  }

  private static final class Finite extends JsonSerializer<Double> {
    @Override
    public void serialize(Double value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      if (Double.isFinite(value)) {
        to.writeNumber(value);
      } else {
        to.writeNull();
      }
    }
  }

  /** What {@code --version} prints. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"loadgen-report " + (version == null ? "(not packaged)" : version)};
    }
  }

  @Override
  public Integer call() throws Exception {
    if (directories.isEmpty()) {
      throw new ParameterException(
          spec.commandLine(), "a directory is needed: that of a run or of an experiment");
    }
    if (format == Format.HGRM) {
      writeHistograms();
      return 0;
    }
    Report report = Report.of(directories);
    String text =
        switch (format) {
          case MD -> Markdown.of(report);
          case HTML -> Html.of(report);
          case JSON -> JSON.writeValueAsString(report) + "\n";
          case CSV -> Csv.of(report);
          case HGRM -> throw new IllegalStateException("hgrm is no report");
        };
    if (out == null) {
      spec.commandLine().getOut().print(text);
      spec.commandLine().getOut().flush();
    } else {
      Files.writeString(out, text, StandardCharsets.UTF_8);
    }
    return 0;
  }

  private void writeHistograms() throws UnreadableException, IOException {
    if (!Trial.PHASES.contains(phase)) {
      throw new ParameterException(
          spec.commandLine(),
          "there is no such phase: --phase=" + phase + " known=" + String.join(",", Trial.PHASES));
    }
    Map<String, String> arms = Hgrm.of(directories, phase);
    if (arm != null && !arms.containsKey(arm)) {
      throw new ParameterException(
          spec.commandLine(),
          "no arm of this name has a trial that counts: --arm="
              + arm
              + " known="
              + String.join(",", arms.keySet()));
    }
    if (arm != null) {
      arms.keySet().retainAll(List.of(arm));
    }
    if (out == null && arms.size() > 1) {
      throw new ParameterException(
          spec.commandLine(),
          "standard output takes one arm: choose with --arm, or give a directory with --out;"
              + " known="
              + String.join(",", arms.keySet()));
    }
    for (Map.Entry<String, String> each : arms.entrySet()) {
      if (out == null) {
        spec.commandLine().getOut().print(each.getValue());
        spec.commandLine().getOut().flush();
      } else {
        Files.createDirectories(out);
        String name = each.getKey().replaceAll("[^A-Za-z0-9._=@-]", "_") + "-" + phase + ".hgrm";
        Files.writeString(out.resolve(name), each.getValue(), StandardCharsets.UTF_8);
      }
    }
  }

  /** {@code loadgen-report compare}. */
  @Command(
      name = "compare",
      mixinStandardHelpOptions = true,
      usageHelpWidth = 110,
      description = "Compares two experiments arm by arm, as of two nights or two versions.")
  static final class Compare implements Callable<Integer> {

    private static final int FAILED = 1;

    @Spec private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "A", description = "Directory of the first experiment")
    private Path first;

    @Parameters(index = "1", paramLabel = "B", description = "Directory of the second experiment")
    private Path second;

    @Option(
        names = "--fail-if",
        paramLabel = "CONDITION",
        description =
            "End with 1 if this came true and chance does not explain it, e.g. 'handshake.p99 >"
                + " +10%%' or 'hybrid:response.p50 > +200us'; repeatable. Default: none")
    private List<String> conditions = List.of();

    @Override
    public Integer call() throws Exception {
      List<Regression.Condition> parsed = new ArrayList<>();
      for (String condition : conditions) {
        try {
          parsed.add(Regression.Condition.parse(condition));
        } catch (IllegalArgumentException e) {
          throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
      }
      Regression regression = Regression.of(first, second, parsed);
      spec.commandLine().getOut().print(regression.toMarkdown());
      spec.commandLine().getOut().flush();
      return regression.fails() ? FAILED : 0;
    }
  }

  /** {@code loadgen-report gatling}. */
  @Command(
      name = "gatling",
      mixinStandardHelpOptions = true,
      usageHelpWidth = 110,
      description =
          "Gives old HTML reports of Gatling 3 the verdict of this project, as far as a page goes.")
  static final class Gatling implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Parameters(
        arity = "1..*",
        paramLabel = "REPORT",
        description = "index.html, or its directory; several are the trials of one arm")
    private List<Path> pages;

    @Override
    public Integer call() throws Exception {
      List<GatlingReport> arm = new ArrayList<>();
      for (Path page : pages) {
        arm.add(GatlingReport.read(page));
      }
      spec.commandLine().getOut().print(GatlingText.of(arm));
      spec.commandLine().getOut().flush();
      return 0;
    }
  }

  /** Returns what went wrong in one line. */
  static String explain(Exception failure) {
    return failure instanceof UnreadableException || failure instanceof IllegalArgumentException
        ? failure.getMessage()
        : failure instanceof IOException
            ? "cannot read or write: " + failure
            : "this is a defect of loadgen-report, please report it: " + failure;
  }
}

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Has the commands describe themselves: man pages, and completions for bash. The build of the packages runs it from this
 * source.
 *
 * <p>Not picocli's own generator: it writes AsciiDoc and escapes nothing, so that {@code https://host[:port]/path} became a
 * link, and {@code [--groups=GROUP[,GROUP]]} nothing at all.
 */
final class Describe {

  private static final List<String> COMMANDS =
      List.of("io.pqcbench.loadgen.cli.Loadgen", "io.pqcbench.analysis.ReportCommand");

  private final String version;
  private final String date;
  private final StringBuilder roff = new StringBuilder();

  private Describe(String version, String date) {
    this.version = version;
    this.date = date;
  }

  /** Writes into the folders man/man1 and completions of a folder. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    Path pages = Files.createDirectories(folder.resolve("man/man1"));
    Path completions = Files.createDirectories(folder.resolve("completions"));
    for (String name : COMMANDS) {
      CommandLine command = new CommandLine(Class.forName(name));
      String script = AutoComplete.bash(command.getCommandName(), command);
      // A shell reads it, nothing runs it.
      Files.writeString(completions.resolve(command.getCommandName()), script.replaceFirst("^#!.*\n", ""));
      writePages(command.getCommandSpec(), pages, arguments[1], arguments[2].substring(0, 10));
    }
  }

  private static void writePages(CommandSpec command, Path pages, String version, String date) throws IOException {
    String page = new Describe(version, date).page(command);
    Files.writeString(pages.resolve(pageName(command) + ".1"), page);
    for (CommandLine sub : command.subcommands().values()) {
      writePages(sub.getCommandSpec(), pages, version, date);
    }
  }

  private static String pageName(CommandSpec command) {
    return command.qualifiedName("-");
  }

  private String page(CommandSpec command) {
    List<String> description = paragraphs(command.usageMessage().description());
    List<String> header = paragraphs(command.usageMessage().header());
    roff.append(
        String.format(
            ".TH \"%s\" 1 \"%s\" \"pqcbench %s\" \"pqcbench\"\n.nh\n.ad l\n",
            escape(pageName(command).toUpperCase(Locale.ROOT)), escape(date), escape(version)));
    section("NAME");
    String what = (header.isEmpty() ? description : header).get(0);
    roff.append(escape(pageName(command))).append(" \\- ").append(escape(what)).append('\n');
    section("SYNOPSIS");
    CommandLine.Help help = new CommandLine.Help(command, CommandLine.Help.defaultColorScheme(Ansi.OFF));
    line(help.abbreviatedSynopsis().strip());
    section("DESCRIPTION");
    all(description);
    if (!command.positionalParameters().isEmpty()) {
      section("ARGUMENTS");
      for (PositionalParamSpec parameter : command.positionalParameters()) {
        if (!parameter.hidden()) {
          item(parameter.paramLabel(), parameter);
        }
      }
    }
    section("OPTIONS");
    for (OptionSpec option : command.options()) {
      if (!option.hidden()) {
        String separator = option.longestName().startsWith("--") ? "=" : " ";
        String value = option.arity().max() == 0 ? "" : separator + option.paramLabel();
        item(String.join(", ", option.names()) + value, option);
      }
    }
    if (!command.subcommands().isEmpty()) {
      section("COMMANDS");
      for (Map.Entry<String, CommandLine> sub : command.subcommands().entrySet()) {
        item(sub.getKey(), paragraphs(sub.getValue().getCommandSpec().usageMessage().description()));
      }
    }
    List<String> footer = paragraphs(command.usageMessage().footer());
    if (!footer.isEmpty()) {
      section("NOTES");
      all(footer);
    }
    List<String> others = new ArrayList<>();
    if (command.parent() != null) {
      others.add(pageName(command.parent()));
    }
    command.subcommands().values().forEach(sub -> others.add(pageName(sub.getCommandSpec())));
    section("SEE ALSO");
    line(String.join("(1), ", others) + "(1)");
    return roff.toString();
  }

  private void section(String title) {
    roff.append(".SH ").append(title).append('\n');
  }

  private void item(String term, ArgSpec argument) {
    item(term, paragraphs(argument.description()));
  }

  private void item(String term, List<String> description) {
    roff.append(".TP\n\\fB").append(escape(term)).append("\\fR\n");
    description.forEach(this::line);
  }

  private void all(List<String> paragraphs) {
    for (String paragraph : paragraphs) {
      roff.append(".PP\n");
      line(paragraph);
    }
  }

  private void line(String text) {
    // A line that begins with one of these would be a request.
    roff.append(text.matches("[.'].*") ? "\\&" : "").append(escape(text)).append('\n');
  }

  private static List<String> paragraphs(String[] texts) {
    List<String> paragraphs = new ArrayList<>();
    for (String text : texts) {
      // What %n and @|bold ...|@ stand for.
      for (String line : Ansi.OFF.text(text.replace("%n", "\n").replace("%%", "%")).toString().split("\n")) {
        if (!line.isBlank()) {
          paragraphs.add(line.strip());
        }
      }
    }
    return paragraphs;
  }

  private static String escape(String text) {
    return text.replace("\\", "\\e").replace("-", "\\-");
  }
}

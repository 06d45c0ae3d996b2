package io.pqcbench.loadgen.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One Terraform module, as far as its names go. Terraform itself needs the provider, some 600 MB
 * from the network, to say as much; the parsers for Java evaluate and drop the references.
 */
final class Hcl {

  /** A block at the top of a file, such as {@code variable "name" { ... }}. */
  record Block(String kind, List<String> labels, String code, String text) {

    /** How expressions name it; for a block of locals, nothing. */
    String address() {
      return switch (kind) {
        case "variable" -> "var." + labels.get(0);
        case "resource" -> String.join(".", labels);
        default -> kind + "." + String.join(".", labels);
      };
    }

    /** The names of the attributes right inside it. */
    Set<String> attributes() {
      Set<String> names = new TreeSet<>();
      int depth = 0;
      for (String line : code.lines().toList()) {
        Matcher matcher = ATTRIBUTE.matcher(line);
        if (depth == 1 && matcher.lookingAt()) {
          names.add(matcher.group(1));
        }
        depth += balance(line);
      }
      return names;
    }
  }

  private static final Pattern HEADER = Pattern.compile("^([a-z]+)((?: \"[^\"]*\")*) \\{");
  private static final Pattern ATTRIBUTE = Pattern.compile("\\s*([A-Za-z_][\\w-]*)\\s*=(?![=>])");
  private static final Pattern REFERENCE =
      Pattern.compile(
          "(?<![\\w.])(?:(var|local|module)\\.([\\w-]+)|(data)\\.(\\w+)\\.(\\w+)"
              + "|(aws_\\w+)\\.(\\w+))");

  private final List<Block> blocks = new ArrayList<>();

  /**
   * Reads all files of a folder.
   *
   * @throws IllegalArgumentException naming file and line of a bracket or string without its end
   */
  static Hcl read(Path folder) throws IOException {
    Hcl module = new Hcl();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".tf")).sorted().toList()) {
        module.add(file.toString(), Files.readString(file));
      }
    }
    return module;
  }

  void add(String name, String text) {
    List<String> raw = text.lines().toList();
    List<String> code = code(name, text).lines().toList();
    for (int i = 0; i < raw.size(); i++) {
      Matcher header = HEADER.matcher(raw.get(i));
      if (!header.find()) {
        continue;
      }
      int end = i;
      int depth = balance(code.get(i));
      while (depth > 0) {
        depth += balance(code.get(++end));
      }
      blocks.add(
          new Block(
              header.group(1),
              Pattern.compile("\"([^\"]*)\"")
                  .matcher(header.group(2))
                  .results()
                  .map(label -> label.group(1))
                  .toList(),
              String.join("\n", code.subList(i, end + 1)),
              String.join("\n", raw.subList(i, end + 1))));
    }
  }

  List<Block> blocks(String kind) {
    return blocks.stream().filter(block -> block.kind().equals(kind)).toList();
  }

  List<Block> blocks() {
    return blocks;
  }

  /** Everything that an expression may name, with whether something else must use it. */
  Map<String, Boolean> declared() {
    Map<String, Boolean> names = new TreeMap<>();
    for (Block block : blocks) {
      switch (block.kind()) {
        case "variable", "data" -> names.put(block.address(), true);
        case "resource", "module" -> names.put(block.address(), false);
        case "locals" -> block.attributes().forEach(name -> names.put("local." + name, true));
        default -> {}
      }
    }
    return names;
  }

  /** Everything that an expression names; what a variable's own validation says of it is no use. */
  Set<String> referenced() {
    Set<String> names = new TreeSet<>();
    for (Block block : blocks) {
      for (MatchResult found : REFERENCE.matcher(block.code()).results().toList()) {
        StringBuilder name = new StringBuilder();
        for (int group = 1; group <= found.groupCount(); group++) {
          if (found.group(group) != null) {
            name.append(name.isEmpty() ? "" : ".").append(found.group(group));
          }
        }
        if (!name.toString().equals(block.address())) {
          names.add(name.toString());
        }
      }
    }
    return names;
  }

  /** How many more brackets a line of code opens than it closes. */
  static int balance(String code) {
    return (int)
        code.chars()
            .map(c -> "{[(".indexOf(c) >= 0 ? 1 : "}])".indexOf(c) >= 0 ? -1 : 0)
            .asLongStream()
            .sum();
  }

  /**
   * Returns a file without comments and without the text of strings, line by line; the expressions
   * within strings stay.
   */
  static String code(String name, String text) {
    StringBuilder code = new StringBuilder();
    // What has been opened and not closed: a bracket, a string ("), an expression in one ($).
    Deque<Character> open = new ArrayDeque<>();
    int line = 1;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean inString = !open.isEmpty() && open.peek() == '"';
      if (c == '\n') {
        if (inString) {
          throw new IllegalArgumentException(name + ":" + line + ": a string has no end");
        }
        line++;
        code.append(c);
      } else if (inString) {
        if (c == '\\') {
          i++;
        } else if (c == '"') {
          open.pop();
          code.append(c);
        } else if ((c == '$' || c == '%') && text.startsWith("{", i + 1)) {
          if (text.charAt(i - 1) != c) {
            open.push('$');
            // Apart from what stands before it, which may be a letter.
            code.append(' ');
          }
          i++;
        }
      } else if (c == '#') {
        i = text.indexOf('\n', i) - 1;
      } else if (c == '"') {
        open.push(c);
        code.append(c);
      } else if ("{[(".indexOf(c) >= 0) {
        open.push(c);
        code.append(c);
      } else if ("}])".indexOf(c) >= 0) {
        char opener = open.isEmpty() ? ' ' : open.pop();
        if (opener == '$') {
          code.append(' ');
        } else if (opener == ' ' || "{[(".indexOf(opener) != "}])".indexOf(c)) {
          throw new IllegalArgumentException(
              name + ":" + line + ": '" + c + "' closes what '" + opener + "' did not open");
        } else {
          code.append(c);
        }
      } else {
        code.append(c);
      }
    }
    if (!open.isEmpty()) {
      throw new IllegalArgumentException(name + ": never closed: " + open);
    }
    return code.toString();
  }

  /** Returns what is not as {@code terraform fmt} writes it: indentation, spaces, alignment. */
  static List<String> unformatted(String name, String text) {
    List<String> complaints = new ArrayList<>();
    List<String> raw = text.lines().toList();
    List<String> code = code(name, text).lines().toList();
    int depth = 0;
    List<Integer> chain = new ArrayList<>();
    for (int i = 0; i < raw.size(); i++) {
      String line = raw.get(i);
      String place = name + ":" + (i + 1) + ": ";
      // Brackets that open on one line are one step, and so are those that close on one.
      int before = depth;
      String bare = code.get(i).strip();
      depth += Integer.signum(balance(code.get(i)));
      int indent = 2 * (bare.matches("[}\\])].*") ? before - 1 : before);
      if (!line.isEmpty() && indent != line.length() - line.stripLeading().length()) {
        complaints.add(place + "should be indented by " + indent);
      }
      if (line.contains("\t") || !line.equals(line.stripTrailing())) {
        complaints.add(place + "has a tab, or blanks at its end");
      }
      boolean attribute =
          line.matches("\\s*(\"[^\"]*\"|[A-Za-z_][\\w-]*)\\s*= .*") && balance(code.get(i)) == 0;
      if (attribute) {
        chain.add(i);
      }
      if (!attribute || i == raw.size() - 1) {
        int column = chain.stream().mapToInt(l -> keyEnd(raw.get(l)) + 1).max().orElse(0);
        for (int member : chain) {
          if (raw.get(member).indexOf('=', keyEnd(raw.get(member))) != column) {
            complaints.add(name + ":" + (member + 1) + ": '=' should be in column " + (column + 1));
          }
        }
        chain.clear();
      }
    }
    return complaints;
  }

  private static int keyEnd(String line) {
    Matcher matcher = Pattern.compile("\\s*(\"[^\"]*\"|[\\w-]+)").matcher(line);
    return matcher.lookingAt() ? matcher.end() : 0;
  }
}

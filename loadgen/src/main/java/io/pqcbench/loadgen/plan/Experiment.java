package io.pqcbench.loadgen.plan;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A comparison of arms, as its file describes it: randomised, interleaved, and fixed before the
 * first trial. Immutable, and written to the result as it is.
 *
 * @param name of the experiment
 * @param question that it is to answer; null if the file does not say
 * @param target of all arms that name none; null for an embedded server
 * @param arms after the expansion of the matrix, with the A/A arms; not empty, names unique
 * @param baseline name of the arm that others are compared with, as the file has it; null when
 *     nothing is compared
 * @param blocks each runs every arm once, in an order of its own; at least 1
 * @param seed of the order and of the arrivals
 * @param coolDownNanos after a trial, at most so long is waited for sockets in TIME_WAIT to go
 * @param retries how often a trial that is not TRUSTED is repeated at the end of its block
 * @param exclude verdicts whose trials are left out whole, whatever their numbers are
 * @param freshJvm whether each trial has a JVM of its own
 * @param comparison what is compared, and how large a difference matters
 * @param price of the machines; null if the file does not say
 * @param notes what the file wants to be recorded, e.g. the server's software
 */
public record Experiment(
    String name,
    String question,
    String target,
    List<Arm> arms,
    String baseline,
    int blocks,
    long seed,
    long coolDownNanos,
    int retries,
    List<String> exclude,
    boolean freshJvm,
    Comparison comparison,
    Price price,
    Map<String, String> notes) {

  /** What the name of the second copy of a baseline ends with. */
  public static final String A_A_SUFFIX = "-aa";

  private static final Set<String> KEYS =
      new LinkedHashSet<>(
          List.of(
              "experiment",
              "question",
              "target",
              "options",
              "arms",
              "baseline",
              "aa",
              "matrix",
              "blocks",
              "seed",
              "cool-down",
              "retries",
              "exclude",
              "fresh-jvm",
              "compare",
              "price",
              "notes"));

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

  private static final Set<String> VERDICTS = Set.of("SUSPECT", "SATURATED", "INVALID");

  private static final int MAX_BLOCKS = 1_000;
  private static final int MAX_RETRIES = 10;

  private static final String METRIC =
      "(response|lag|service|connect|handshake|hello|flight|finish|settings|ttfb|ttlb)"
          + "\\.(mean|p50|p90|p95|p99|p99\\.9)";

  /** One figure of the middle and one of the tail, fixed before the run. */
  private static final List<String> DEFAULT_METRICS = List.of("handshake.p50", "response.p99");

  /** What the smallest effects that were published for hybrid key exchange are compared with. */
  private static final Margin DEFAULT_MARGIN = new Margin(250.0, 5.0);

  /** TIME_WAIT lasts 60 s (TCP_TIMEWAIT_LEN, include/net/tcp.h); then all are gone. */
  private static final long DEFAULT_COOL_DOWN_NANOS = 65_000_000_000L;

  /**
   * One of the things that are compared.
   *
   * @param name unique, with the values of its cell
   * @param family its name in the file, the same in all cells of the matrix
   * @param cell values of the matrix; empty without one
   * @param again whether this is the baseline a second time, to see what is no difference
   * @param options of {@code loadgen run}, by their names without dashes; a flag has the value
   *     {@code true}
   * @param place where the file describes it
   */
  public record Arm(
      String name,
      String family,
      Map<String, String> cell,
      boolean again,
      Map<String, List<String>> options,
      @JsonIgnore String place) {

    /** Returns whether it says itself where it goes. */
    public boolean namesTarget() {
      return options.containsKey("target") || options.containsKey("targets");
    }

    /** Returns the arguments of {@code loadgen run} that make this arm. */
    public List<String> arguments() {
      List<String> arguments = new ArrayList<>();
      options.forEach(
          (key, values) -> {
            for (String value : values) {
              if (value.equals("true")) {
                arguments.add("--" + key);
              } else if (!value.equals("false")) {
                arguments.add("--" + key + "=" + value);
              }
            }
          });
      return arguments;
    }
  }

  /**
   * One run of one arm.
   *
   * @param name unique in the experiment, e.g. {@code b03-2-hybrid}
   * @param block from 1
   * @param position in the block, from 1
   * @param arm by name
   * @param seed of the arrivals, the same for all arms of a block
   */
  public record Trial(String name, int block, int position, String arm, long seed) {}

  /**
   * What is compared.
   *
   * @param metrics primary ones, e.g. {@code handshake.p50}; all others are exploratory
   * @param margins by metric, differences that do not matter
   */
  public record Comparison(List<String> metrics, Map<String, Margin> margins) {}

  /**
   * The largest difference that is called none; the larger of the two where both are given.
   *
   * @param micros absolute; null if not given
   * @param percent of the baseline; null if not given
   */
  public record Margin(Double micros, Double percent) {

    private static final Pattern PERCENT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) ?%");

    static Margin parse(String text) {
      Double micros = null;
      Double percent = null;
      for (String part : text.split(" or ", -1)) {
        var matcher = PERCENT.matcher(part.strip());
        if (matcher.matches()) {
          percent = Double.valueOf(matcher.group(1));
        } else {
          micros = Quantity.nanos(part) / 1e3;
        }
      }
      return new Margin(micros, percent);
    }
  }

  /**
   * What the machines cost together.
   *
   * @param perHour positive
   * @param currency e.g. {@code USD}
   */
  public record Price(double perHour, String currency) {}

  /**
   * Reads an experiment.
   *
   * @param root of its document
   * @throws IllegalArgumentException with the place of what is wrong
   */
  public static Experiment parse(Yaml root) {
    root.allow(KEYS);
    String name = required(root, "experiment").as(Experiment::checkName);
    Yaml options = root.get("options");
    Map<String, List<String>> common = options == null ? Map.of() : options(options);
    List<Arm> families = families(required(root, "arms"), common);
    String baseline = text(root, "baseline");
    if (baseline != null && families.stream().noneMatch(arm -> arm.name().equals(baseline))) {
      throw root.get("baseline")
          .wrong("names no arm: baseline='" + baseline + "' arms=" + names(families));
    }
    boolean compares = baseline != null && families.size() > 1;
    boolean again = root.get("aa") == null ? compares : root.get("aa").flag();
    if (again && baseline == null) {
      throw root.get("aa")
          .wrong("needs a baseline, of which it is a second copy: baseline is missing");
    }
    Yaml matrix = root.get("matrix");
    return new Experiment(
        name,
        text(root, "question"),
        text(root, "target"),
        expand(families, again ? baseline : null, matrix == null ? Map.of() : axes(matrix)),
        baseline,
        (int) integer(root, "blocks", 1, MAX_BLOCKS, 10),
        root.get("seed") == null
            ? new SecureRandom().nextLong() >>> 11
            : root.get("seed").integer(0, (1L << 53) - 1),
        root.get("cool-down") == null
            ? DEFAULT_COOL_DOWN_NANOS
            : root.get("cool-down").as(Quantity::nanos),
        (int) integer(root, "retries", 0, MAX_RETRIES, 1),
        exclude(root.get("exclude")),
        root.get("fresh-jvm") == null || root.get("fresh-jvm").flag(),
        comparison(root.get("compare")),
        price(root.get("price")),
        notes(root.get("notes")));
  }

  private static Yaml required(Yaml root, String key) {
    Yaml field = root.get(key);
    if (field == null) {
      throw root.wrong("the key '" + key + "' is missing");
    }
    return field;
  }

  private static String text(Yaml root, String key) {
    Yaml field = root.get(key);
    return field == null ? null : field.text();
  }

  private static long integer(Yaml root, String key, long least, long most, long otherwise) {
    Yaml field = root.get(key);
    return field == null ? otherwise : field.integer(least, most);
  }

  private static String checkName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "a name must be of letters, digits, '.', '_' and '-', because it becomes part of a file"
              + " name: name='"
              + name
              + "'");
    }
    return name;
  }

  private static Map<String, List<String>> options(Yaml mapping) {
    Map<String, List<String>> options = new LinkedHashMap<>();
    mapping
        .fields()
        .forEach((key, value) -> options.put(key, value.items().stream().map(Yaml::text).toList()));
    return options;
  }

  /**
   * The axes of the matrix: for each the options that its values stand for. A list holds values of
   * the option that the axis is named after, a mapping has values with options of their own.
   */
  private static Map<String, Map<String, Map<String, List<String>>>> axes(Yaml matrix) {
    Map<String, Map<String, Map<String, List<String>>>> axes = new LinkedHashMap<>();
    matrix
        .fields()
        .forEach(
            (name, values) -> {
              Map<String, Map<String, List<String>>> axis = new LinkedHashMap<>();
              if (values.isMapping()) {
                values.fields().forEach((value, options) -> axis.put(value, options(options)));
              } else {
                for (Yaml value : values.items()) {
                  if (axis.put(value.text(), Map.of(name, List.of(value.text()))) != null) {
                    throw value.wrong("stands twice in the list, which makes two arms of one name");
                  }
                }
              }
              if (axis.isEmpty()) {
                throw values.wrong("has no value, so there would be no arm");
              }
              axes.put(name, axis);
            });
    return axes;
  }

  private static List<Arm> families(Yaml arms, Map<String, List<String>> common) {
    List<Arm> families = new ArrayList<>();
    arms.fields()
        .forEach(
            (name, own) -> {
              try {
                checkName(name);
              } catch (IllegalArgumentException e) {
                throw own.wrong(e.getMessage());
              }
              if (name.endsWith(A_A_SUFFIX)) {
                throw own.wrong("names that end with " + A_A_SUFFIX + " are made by 'aa: true'");
              }
              Map<String, List<String>> options = new LinkedHashMap<>(common);
              options.putAll(options(own));
              families.add(new Arm(name, name, Map.of(), false, options, own.place()));
            });
    if (families.isEmpty()) {
      throw arms.wrong("there must be at least one arm");
    }
    return families;
  }

  /** Every combination of the matrix's values, each with every arm. */
  private static List<Arm> expand(
      List<Arm> families,
      String repeated,
      Map<String, Map<String, Map<String, List<String>>>> matrix) {
    List<Map<String, String>> cells = new ArrayList<>();
    cells.add(Map.of());
    for (Map.Entry<String, Map<String, Map<String, List<String>>>> axis : matrix.entrySet()) {
      List<Map<String, String>> longer = new ArrayList<>();
      for (Map<String, String> cell : cells) {
        for (String value : axis.getValue().keySet()) {
          Map<String, String> more = new LinkedHashMap<>(cell);
          more.put(axis.getKey(), value);
          longer.add(more);
        }
      }
      cells = longer;
    }
    List<Arm> arms = new ArrayList<>();
    for (Map<String, String> cell : cells) {
      String suffix =
          cell.entrySet().stream()
              .map(value -> "@" + value.getKey() + "=" + value.getValue())
              .collect(Collectors.joining());
      for (Arm family : families) {
        Map<String, List<String>> options = new LinkedHashMap<>(family.options());
        cell.forEach((axis, value) -> options.putAll(matrix.get(axis).get(value)));
        arms.add(
            new Arm(family.name() + suffix, family.name(), cell, false, options, family.place()));
        if (family.name().equals(repeated)) {
          String again = family.name() + A_A_SUFFIX;
          arms.add(new Arm(again + suffix, again, cell, true, options, family.place()));
        }
      }
    }
    return List.copyOf(arms);
  }

  private static List<String> exclude(Yaml field) {
    if (field == null) {
      return List.of("INVALID", "SATURATED");
    }
    Set<String> verdicts = new TreeSet<>();
    for (Yaml item : field.items()) {
      if (!VERDICTS.contains(item.text())) {
        throw item.wrong("must be SUSPECT, SATURATED or INVALID: verdict=" + item);
      }
      verdicts.add(item.text());
    }
    return List.copyOf(verdicts);
  }

  private static Comparison comparison(Yaml field) {
    List<String> metrics = new ArrayList<>();
    if (field == null || field.get("primary") == null) {
      metrics.addAll(DEFAULT_METRICS);
    } else {
      for (Yaml item : field.get("primary").items()) {
        if (!item.text().matches(METRIC)) {
          throw item.wrong("must be a phase and a figure, such as handshake.p50: metric=" + item);
        }
        metrics.add(item.text());
      }
    }
    Map<String, Margin> margins = new TreeMap<>();
    metrics.forEach(metric -> margins.put(metric, DEFAULT_MARGIN));
    if (field != null) {
      field.allow(Set.of("primary", "margin"));
    }
    if (field != null && field.get("margin") != null) {
      field
          .get("margin")
          .fields()
          .forEach(
              (metric, margin) -> {
                if (!metrics.contains(metric)) {
                  throw margin.wrong("is no primary metric: primary=" + metrics);
                }
                margins.put(metric, margin.as(Margin::parse));
              });
    }
    return new Comparison(List.copyOf(metrics), margins);
  }

  private static Price price(Yaml field) {
    if (field == null) {
      return null;
    }
    field.allow(Set.of("per-hour", "currency"));
    Yaml perHour = required(field, "per-hour");
    double amount = perHour.as(Experiment::positive);
    return new Price(amount, field.get("currency") == null ? "USD" : field.get("currency").text());
  }

  private static double positive(String text) {
    try {
      double number = Double.parseDouble(text);
      if (number > 0 && Double.isFinite(number)) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("must be a positive number: value='" + text + "'", e);
    }
    throw new IllegalArgumentException("must be a positive number: value='" + text + "'");
  }

  private static Map<String, String> notes(Yaml field) {
    Map<String, String> notes = new LinkedHashMap<>();
    if (field != null) {
      field.fields().forEach((key, value) -> notes.put(key, value.text()));
    }
    return notes;
  }

  private static List<String> names(List<Arm> arms) {
    return arms.stream().map(Arm::name).toList();
  }

  /** Returns an arm by its name. */
  public Arm arm(String wanted) {
    return arms.stream().filter(arm -> arm.name().equals(wanted)).findFirst().orElseThrow();
  }

  /**
   * Returns all trials in the order in which they are to be run: a function of the seed alone, so
   * that an experiment that is taken up again has the order it began with.
   */
  public List<Trial> order() {
    SplittableRandom random = new SplittableRandom(seed);
    int digits = Integer.toString(blocks).length();
    List<Trial> order = new ArrayList<>();
    for (int block = 1; block <= blocks; block++) {
      // Kept within what every JSON reader takes for an integer.
      long arrivals = random.nextLong() >>> 11;
      List<Arm> shuffled = new ArrayList<>(arms);
      for (int i = shuffled.size() - 1; i > 0; i--) {
        shuffled.set(i, shuffled.set(random.nextInt(i + 1), shuffled.get(i)));
      }
      for (int i = 0; i < shuffled.size(); i++) {
        String arm = shuffled.get(i).name();
        String file = arm.replaceAll("[^A-Za-z0-9._-]+", "_");
        String name = String.format("b%0" + Math.max(2, digits) + "d-%d-%s", block, i + 1, file);
        order.add(new Trial(name, block, i + 1, arm, arrivals));
      }
    }
    return order;
  }
}

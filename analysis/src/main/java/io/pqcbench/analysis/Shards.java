package io.pqcbench.analysis;

import com.fasterxml.jackson.databind.JsonNode;
import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.UnreadableException;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Whether bundles are the shards of one run, all of them, and offered its load together: every rule
 * and threshold for that. What a shard says of itself is its client's verdict.
 */
public final class Shards {

  /** From the best to the worst; what is not in it counts as better than all. */
  private static final List<String> VERDICTS =
      List.of("TRUSTED", "SUSPECT", "SATURATED", "INVALID", "KILLED");

  private static final String TRUSTED = "TRUSTED";
  private static final String SUSPECT = "SUSPECT";
  private static final String INVALID = "INVALID";
  private static final String KILLED = "KILLED";

  /**
   * The shortest time that a client's verdict looks at is a tenth of a second: shards that are
   * further apart have offered another load in it than was planned. So it bounds each start, each
   * clock's error, and what both allow together.
   */
  private static final double APART_MICROS = 100_000;

  /** What machines may have of their own. */
  private static final Set<String> OWN =
      Set.of(
          "pace.shard.index",
          "limits.lanes",
          "limits.pinned",
          "limits.waiting",
          "limits.maxInFlight",
          "tls.cacert",
          "tls.cert",
          "tls.key",
          "tls.keyPasswordFile",
          "tls.keyPasswordEnv");

  private static final String OWN_ADDRESSES = "limits.sources";

  private final List<Run> shards;
  private final List<Finding> findings = new ArrayList<>();

  /**
   * Something that has to be known of the shards together.
   *
   * @param rule stable name
   * @param level the best verdict that the run can have with it
   * @param text a sentence
   */
  public record Finding(String rule, String level, String text) {}

  private Shards(List<Run> shards) {
    this.shards = shards;
  }

  /** Returns what is found, in the order of the rules; nothing of a run from one machine. */
  public static List<Finding> judge(List<Run> shards) throws UnreadableException, IOException {
    Shards judged = new Shards(shards);
    if (shards.size() > 1 || count(shards.get(0)) > 1) {
      judged.judge();
    }
    return List.copyOf(judged.findings);
  }

  /** Returns the verdict of all together: that of the worst, or a worse one. */
  public static String verdict(List<Run> shards) throws UnreadableException, IOException {
    List<String> verdicts = new ArrayList<>(shards.stream().map(Run::verdict).toList());
    judge(shards).forEach(finding -> verdicts.add(finding.level()));
    return worst(verdicts);
  }

  private static String worst(List<String> verdicts) {
    return verdicts.stream().max(Comparator.comparingInt(VERDICTS::indexOf)).orElseThrow();
  }

  /** Returns what is found as sentences of a report. */
  public static List<Claims.Claim> claims(List<Run> shards)
      throws UnreadableException, IOException {
    return judge(shards).stream()
        .map(
            finding ->
                new Claims.Claim(finding.rule(), finding.level().equals(TRUSTED), finding.text()))
        .toList();
  }

  private void judge() throws UnreadableException, IOException {
    verdicts();
    killed();
    List<Run> whole =
        shards.stream().filter(run -> !run.plan().at("/plan/pace/shard").isObject()).toList();
    if (!whole.isEmpty()) {
      add(
          "shards",
          INVALID,
          "These are not the shards of one run, no shard is named by %s: runs of their own are"
              + " compared by an experiment, never merged.",
          names(whole));
      return;
    }
    complete();
    samePlan();
    started();
    clocks();
    apart();
  }

  private void add(String rule, String level, String format, Object... values) {
    findings.add(new Finding(rule, level, String.format(Locale.ROOT, format, values)));
  }

  private static int count(Run run) {
    return run.plan().at("/plan/pace/shard/count").asInt(1);
  }

  private static int index(Run run) {
    return run.plan().at("/plan/pace/shard/index").asInt();
  }

  private static String name(Run run) {
    return run.plan().at("/plan/pace/shard").isObject()
        ? "shard " + index(run) + " of " + count(run) + " (" + run.directory() + ")"
        : run.directory().toString();
  }

  private static String capital(String name) {
    return name.startsWith("shard ") ? "S" + name.substring(1) : name;
  }

  private static String names(List<Run> runs) {
    return String.join(", ", runs.stream().map(Shards::name).toList());
  }

  private void verdicts() {
    List<String> each = new ArrayList<>();
    for (Run shard : shards) {
      List<String> objections = new ArrayList<>();
      if (shard.summary() != null) {
        for (JsonNode finding : shard.summary().path("findings")) {
          if (!finding.path("level").asText().equals(TRUSTED)) {
            objections.add(finding.path("rule").asText());
          }
        }
      }
      each.add(
          name(shard)
              + " is "
              + shard.verdict()
              + (objections.isEmpty() ? "" : " (" + String.join(", ", objections) + ")"));
    }
    add(
        "verdicts",
        worst(shards.stream().map(Run::verdict).toList()),
        "The run is as good as its worst shard: %s.",
        String.join("; ", each));
  }

  private void killed() {
    for (Run shard : shards) {
      if (shard.summary() == null) {
        add(
            "killed",
            KILLED,
            "%s was killed: its end is missing, and from then on the target had less load than"
                + " planned.",
            capital(name(shard)));
      } else if (shard.summary().path("interrupted").asBoolean()) {
        add(
            "interrupted",
            SUSPECT,
            "%s was interrupted: from then on the target had less load than planned.",
            capital(name(shard)));
      }
    }
  }

  private void complete() {
    Map<Integer, List<Run>> byIndex = new TreeMap<>();
    for (Run shard : shards) {
      byIndex.computeIfAbsent(index(shard), none -> new ArrayList<>()).add(shard);
    }
    byIndex.forEach(
        (index, same) -> {
          if (same.size() > 1) {
            add(
                "given-twice",
                INVALID,
                "Shard %d was given %d times, and its samples count as often: %s.",
                index,
                same.size(),
                names(same));
          }
        });
    int count = shards.stream().mapToInt(Shards::count).max().orElse(1);
    List<String> missing = new ArrayList<>();
    for (int index = 0; index < count; index++) {
      if (!byIndex.containsKey(index)) {
        missing.add(String.valueOf(index));
      }
    }
    if (!missing.isEmpty()) {
      add(
          "missing",
          INVALID,
          "Of %d shards these were not given: %s. What their requests met is not in these numbers,"
              + " and whether they offered their load is not known.",
          count,
          String.join(", ", missing));
    }
  }

  private void samePlan() {
    Run first = shards.get(0);
    Map<String, String> expected = plan(first);
    for (Run shard : shards.subList(1, shards.size())) {
      Map<String, String> found = plan(shard);
      Set<String> keys = new TreeSet<>(expected.keySet());
      keys.addAll(found.keySet());
      List<String> differences = new ArrayList<>();
      for (String key : keys) {
        if (!Objects.equals(expected.get(key), found.get(key))) {
          differences.add(key + "=" + found.get(key) + " against " + expected.get(key));
        }
      }
      if (!differences.isEmpty()) {
        add(
            "another-plan",
            INVALID,
            "%s had another plan than %s, so they are not of one run: %s.",
            capital(name(shard)),
            name(first),
            String.join("; ", differences));
      }
    }
  }

  /** What must be the same, by its place in the plan. */
  private static Map<String, String> plan(Run run) {
    Map<String, String> flat = new TreeMap<>();
    flatten("", run.plan().path("plan"), flat);
    flat.keySet().removeIf(key -> OWN.contains(key) || key.startsWith(OWN_ADDRESSES));
    if ("CONSTANT".equals(flat.get("pace.arrival"))) {
      // Each machine has drawn its own, and none uses it.
      flat.remove("pace.seed");
    }
    return flat;
  }

  private static void flatten(String at, JsonNode node, Map<String, String> flat) {
    String prefix = at.isEmpty() ? "" : at + ".";
    if (node.isObject()) {
      node.properties().forEach(e -> flatten(prefix + e.getKey(), e.getValue(), flat));
    } else if (node.isArray()) {
      for (int i = 0; i < node.size(); i++) {
        flatten(prefix + i, node.get(i), flat);
      }
    } else {
      flat.put(at, node.asText());
    }
  }

  private void started() throws UnreadableException, IOException {
    for (Run shard : shards) {
      double late = lateMicros(shard);
      if (Double.isNaN(late)) {
        add(
            "start",
            SUSPECT,
            "When %s started is not known, and so not whether the shards offered their load"
                + " together.",
            name(shard));
      } else if (Math.abs(late) > APART_MICROS) {
        add(
            "start",
            SUSPECT,
            "%s started %.3f s %s than agreed (limit %.1f s): while not all shards ran, the target"
                + " had less load than planned.",
            capital(name(shard)),
            Math.abs(late) / 1e6,
            late > 0 ? "later" : "earlier",
            APART_MICROS / 1e6);
      }
    }
  }

  /** Of a shard that was killed the log of its histograms says it, to the millisecond. */
  private static double lateMicros(Run shard) throws UnreadableException, IOException {
    if (shard.summary() != null) {
      return shard.summary().at("/start/lateMicros").asDouble(Double.NaN);
    }
    try {
      Instant agreed = Instant.parse(shard.plan().at("/plan/pace/startAt").asText());
      return (shard.startMillis() - agreed.toEpochMilli()) * 1e3;
    } catch (DateTimeException e) {
      return Double.NaN;
    }
  }

  private boolean onOneMachine() {
    List<String> boots =
        shards.stream()
            .map(shard -> shard.plan().at("/host/bootId").asText(""))
            .distinct()
            .toList();
    return shards.size() > 1 && boots.size() == 1 && !boots.get(0).isEmpty();
  }

  private void clocks() {
    if (onOneMachine()) {
      add(
          "clock",
          TRUSTED,
          "All shards ran on one machine, by one clock; they shared its processors too.");
      return;
    }
    for (Run shard : shards) {
      clock(shard);
    }
  }

  private void clock(Run shard) {
    JsonNode clock = shard.plan().path("wallClock");
    String source = clock.path("source").asText();
    double error = clock.path("errorMicros").asDouble(Double.NaN);
    if (!clock.path("synchronised").isBoolean()) {
      add(
          "clock",
          SUSPECT,
          "How right the clock of %s was is not known, and so not whether it started with the"
              + " others; chronyc or adjtimex on its machine would say it.",
          name(shard));
    } else if (!clock.path("synchronised").asBoolean()) {
      add(
          "clock",
          SUSPECT,
          "The clock of %s was not synchronised (%s), so it may have started at another time than"
              + " the others.",
          name(shard),
          source);
    } else if (Double.isNaN(error)) {
      add(
          "clock",
          SUSPECT,
          "The clock of %s was synchronised (%s), but by how much it may have been wrong is not"
              + " known; chronyc on its machine would say it.",
          name(shard),
          source);
    } else if (error > APART_MICROS) {
      add(
          "clock",
          SUSPECT,
          "The clock of %s may have been wrong by up to %.3f s (%s, limit %.1f s), and so its"
              + " start.",
          name(shard),
          error / 1e6,
          source,
          APART_MICROS / 1e6);
    } else {
      add(
          "clock",
          TRUSTED,
          "The clock of %s was synchronised, and wrong by at most %.3f ms (%s).",
          name(shard),
          error / 1e3,
          source);
    }
  }

  /** Starts and clocks may each be within the limit, and not together. */
  private void apart() throws UnreadableException, IOException {
    double first = Double.POSITIVE_INFINITY;
    double last = Double.NEGATIVE_INFINITY;
    boolean oneClock = onOneMachine();
    for (Run shard : shards) {
      double late = lateMicros(shard);
      double error = oneClock ? 0 : shard.plan().at("/wallClock/errorMicros").asDouble(Double.NaN);
      if (!(Math.abs(late) <= APART_MICROS && error <= APART_MICROS)) {
        return; // Said of this shard by another rule.
      }
      first = Math.min(first, late - error);
      last = Math.max(last, late + error);
    }
    if (last - first > APART_MICROS) {
      add(
          "apart",
          SUSPECT,
          "The shards may have started up to %.3f s apart (limit %.1f s), by their starts and by"
              + " what their clocks may have been wrong: while not all ran, the target had less"
              + " load than planned.",
          (last - first) / 1e6,
          APART_MICROS / 1e6);
    }
  }
}

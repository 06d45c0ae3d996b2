package io.pqcbench.analysis.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.pqcbench.analysis.Charts;
import io.pqcbench.analysis.Claims;
import io.pqcbench.analysis.Comparison;
import io.pqcbench.analysis.Report;
import io.pqcbench.analysis.Trial;
import io.pqcbench.analysis.statistics.Interval;
import io.pqcbench.analysis.statistics.Quantiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The long form of a report: one HTML file that needs nothing else, neither a server nor a network.
 *
 * <p>Tables and sentences are in the page itself, so that it can be read without its charts. The
 * script draws from the report as JSON, which is in the page too.
 */
public final class Html {

  private static final String UPLOT = "/META-INF/resources/webjars/uplot/1.6.30/";

  /** Digits of a number in the page's JSON: more than any measurement here has. */
  private static final MathContext DIGITS = new MathContext(8);

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .registerModule(
              new SimpleModule()
                  .addSerializer(double.class, new Rounded())
                  .addSerializer(Double.class, new Rounded()));

  private static final List<String> COLUMNS =
      List.of("response.p50", "response.p99", "response.p99.9", "handshake.p50", "handshake.p99");

  private static final Map<String, Double> SAID = said();

  private static final Pattern LIMITS =
      Pattern.compile("\\(n=[^)]*\\)|[(\\[]?[-+0-9,.]+ to [-+0-9,.]+[)\\]]?");

  /** Text for a terminal has "us"; on the page all units are written alike. */
  private static final Pattern MICROS = Pattern.compile("(?<=[0-9]) us\\b");

  private final Report report;
  private final StringBuilder body = new StringBuilder();
  private final StringBuilder contents = new StringBuilder();

  private Html(Report report) {
    this.report = report;
  }

  /**
   * Returns a report as a page, with everything inlined.
   *
   * @param report with charts
   */
  public static String of(Report report) {
    Html html = new Html(report);
    html.arms();
    html.comparisons();
    html.claims();
    html.percentiles();
    html.differences();
    html.trials();
    html.timeline();
    html.phases();
    html.ladder();
    html.conditions();
    return html.page();
  }

  private String page() {
    Map<String, String> slots = new LinkedHashMap<>();
    slots.put("title", text(report.title()));
    slots.put("question", report.question() == null ? "" : element("p", report.question()));
    slots.put(
        "state",
        report.complete()
            ? ""
            : "<p class=\"warning\">Not complete: it was interrupted, or it was killed.</p>");
    slots.put("source", text(report.source()));
    slots.put("contents", contents.toString());
    slots.put("body", body.toString());
    slots.put("data", json());
    slots.put("css", resource("report.css"));
    slots.put("js", resource("report.js"));
    slots.put("uplot-css", resource(UPLOT + "dist/uPlot.min.css"));
    slots.put("uplot-js", resource(UPLOT + "dist/uPlot.iife.min.js"));
    slots.put("uplot-licence", resource(UPLOT + "LICENSE"));
    return filled(resource("report.html"), slots);
  }

  /** Fills a template in one pass, so that nothing which is filled in is taken for a slot. */
  private static String filled(String template, Map<String, String> slots) {
    StringBuilder page = new StringBuilder();
    int at = 0;
    while (true) {
      int open = template.indexOf("{{", at);
      if (open < 0) {
        return page.append(template, at, template.length()).toString();
      }
      int close = template.indexOf("}}", open);
      page.append(template, at, open)
          .append(Objects.requireNonNull(slots.get(template.substring(open + 2, close))));
      at = close + 2;
    }
  }

  private static String resource(String name) {
    try (InputStream in = Html.class.getResourceAsStream(resourcePath(name))) {
      if (in == null) {
        throw new IllegalStateException("the jar was built without a resource: name=" + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String resourcePath(String name) {
    return name.startsWith("/") ? name : "/io/pqcbench/analysis/report/" + name;
  }

  /** The report for the script; a {@code <} could end the element that it stands in. */
  private String json() {
    try {
      return JSON.writeValueAsString(report).replace("<", "\\u003c");
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a report is always JSON", e);
    }
  }

  // Sections.

  private void section(String id, String heading, String about) {
    contents
        .append("<li><a href=\"#")
        .append(id)
        .append("\">")
        .append(text(heading))
        .append("</a></li>\n");
    body.append("<section id=\"")
        .append(id)
        .append("\">\n")
        .append(element("h2", heading))
        .append(element("p class=\"about\"", about));
  }

  private void end() {
    body.append("</section>\n");
  }

  /** The unit is the trial: medians and ranges over trials, never pooled. */
  private void arms() {
    section(
        "arms",
        "Arms",
        "Median of the trials (smallest to largest); of a single trial, its figure and its 95 %"
            + " interval, which holds for independent samples and is too narrow for others.");
    List<String> head = new ArrayList<>(List.of("arm", "trials", "verdicts"));
    COLUMNS.forEach(column -> head.add(column.replaceFirst("\\.", " ") + ", µs"));
    List<List<String>> rows = new ArrayList<>();
    List<List<String>> costs = new ArrayList<>();
    for (Report.Arm arm : report.arms()) {
      List<Report.TrialOf> trials = trialsOf(arm.name());
      List<String> row = new ArrayList<>();
      row.add(label(arm.name(), arm.again()));
      row.add(arm.trials() + (arm.attempts() > arm.trials() ? " of " + arm.attempts() : ""));
      row.add(verdicts(trials));
      COLUMNS.forEach(
          column -> {
            int dot = column.indexOf('.');
            row.add(spread(trials, column.substring(0, dot), column.substring(dot + 1)));
          });
      rows.add(row);
      costs.add(
          List.of(
              row.get(0),
              spread(trials.stream().map(Report.TrialOf::cpuMicros).toList(), 1),
              spread(trials.stream().map(Report.TrialOf::bytesOut).toList(), 0),
              spread(trials.stream().map(Report.TrialOf::bytesIn).toList(), 0),
              number(arm.variance().withinTrial(), 1),
              number(arm.variance().ofATrialsMean(), 1),
              number(arm.variance().betweenTrials(), 1),
              arm.variance().hosts() < 2
                  ? "-"
                  : number(arm.variance().betweenHosts(), 1) + " of " + arm.variance().hosts()));
    }
    body.append(table("Latency", head, rows));
    // Where more effort would help: in longer trials, or in more of them.
    body.append(
        table(
            "Cost and standard deviations of a handshake",
            List.of(
                "arm",
                "client CPU, µs",
                "sent, bytes",
                "received, bytes",
                "deviation between samples, µs",
                "which leaves in a trial's mean, µs",
                "deviation between trials, µs",
                "deviation between machines, µs"),
            costs));
    end();
  }

  private void comparisons() {
    if (report.comparisons().isEmpty()) {
      return;
    }
    section(
        "comparisons",
        "Comparisons",
        "Differences from the baseline, block by block: the shift is the Hodges-Lehmann estimate,"
            + " its interval the signed-rank test's, p the sign-flip test's. Holm's adjustment is"
            + " over the comparisons that were declared before the first trial. The two-level"
            + " bootstrap draws blocks, and the samples within each trial, again. The p of the"
            + " margin is that of a difference as large as it; the smallest found is the shift that"
            + " so many blocks find four times in five.");
    body.append(comparisonTable("Declared comparisons", true));
    body.append("<details><summary>Exploratory comparisons, neither declared nor adjusted")
        .append("</summary>\n")
        .append(comparisonTable("Exploratory comparisons", false))
        .append("</details>\n");
    end();
  }

  private String comparisonTable(String caption, boolean primary) {
    List<List<String>> rows = new ArrayList<>();
    for (Comparison c : report.comparisons()) {
      if (c.primary() == primary) {
        rows.add(row(c));
      }
    }
    return table(
        caption,
        List.of(
            "arm",
            "against",
            "figure",
            "blocks",
            "baseline, µs",
            "shift, µs",
            "interval, µs",
            "two-level bootstrap, µs",
            "p",
            "p after Holm",
            "margin, µs",
            "p of the margin",
            "smallest found, µs",
            "conclusion"),
        rows);
  }

  private static List<String> row(Comparison c) {
    Interval shift = c.shift() == null ? null : c.shift().shift();
    return List.of(
        label(c.arm(), c.again()),
        c.baseline(),
        c.metric(),
        "" + c.differences().size(),
        number(c.level(), 1),
        shift == null ? "-" : signed(shift.estimate(), 1),
        interval(shift),
        c.bootstrap() == null ? "-" : interval(c.bootstrap()),
        shift == null ? "-" : p(c.shift().p()),
        p(c.adjustedP()),
        number(c.margin(), 1),
        p(c.equivalenceP()),
        number(c.smallest(), 1),
        shift == null
            ? "no block has both"
            : c.conclusion().name().toLowerCase(Locale.ROOT).replace('_', ' '));
  }

  private static String interval(Interval shift) {
    if (shift == null) {
      return "-";
    }
    return shift.exists()
        ? String.format(
            Locale.ROOT,
            "%s to %s (%.1f %%)",
            signed(shift.low(), 1),
            signed(shift.high(), 1),
            100 * shift.confidence())
        : "none at 95 %";
  }

  private void claims() {
    section(
        "claims",
        "What these numbers can and cannot support",
        "Each sentence is computed from the data.");
    body.append("<ul class=\"claims\">\n");
    for (Claims.Claim claim : report.claims()) {
      body.append("<li class=\"")
          .append(claim.supported() ? "can" : "cannot")
          .append("\"><span class=\"badge\">")
          .append(claim.supported() ? "can" : "cannot")
          .append("</span> <strong>")
          .append(text(claim.topic()))
          .append("</strong>: ")
          .append(text(MICROS.matcher(claim.text()).replaceAll(" µs")))
          .append("</li>\n");
    }
    body.append("</ul>\n");
    end();
  }

  /** What was held constant, and what was not, which comes first. */
  private void conditions() {
    Set<String> names = new LinkedHashSet<>();
    report.arms().forEach(arm -> names.addAll(arm.conditions().keySet()));
    if (names.isEmpty()) {
      return;
    }
    section("conditions", "Conditions", "Of the first trial of each arm.");
    List<List<String>> differing = new ArrayList<>();
    List<List<String>> same = new ArrayList<>();
    for (String name : names) {
      List<String> values =
          report.arms().stream().map(arm -> arm.conditions().getOrDefault(name, "-")).toList();
      if (Set.copyOf(values).size() > 1) {
        List<String> row = new ArrayList<>(List.of(name));
        row.addAll(values);
        differing.add(row);
      } else {
        same.add(List.of(name, values.get(0)));
      }
    }
    if (!differing.isEmpty()) {
      List<String> head = new ArrayList<>(List.of("differs"));
      report.arms().forEach(arm -> head.add(label(arm.name(), arm.again())));
      body.append(table("What differs between the arms", head, differing));
    }
    body.append(table("What all arms share", List.of("the same", "all arms"), same));
    end();
  }

  // Charts: each has a place for the script, and says in words what it shows.

  private void chart(
      String id, String choice, Map<String, String> options, String places, String sentences) {
    if (options.size() > 1) {
      body.append("<p class=\"controls\"><label>").append(choice).append(" <select>\n");
      options.forEach(
          (value, name) ->
              body.append("<option value=\"")
                  .append(text(value))
                  .append("\">")
                  .append(text(name))
                  .append("</option>\n"));
      body.append("</select></label></p>\n");
    }
    body.append("<figure>\n")
        .append(places)
        .append("<figcaption id=\"")
        .append(id)
        .append("-says\">")
        .append(sentences)
        .append("</figcaption>\n</figure>\n")
        .append("<details class=\"data\"><summary>The chart's data</summary>")
        .append("<div class=\"wide\"></div></details>\n");
  }

  private static String place(String id, String name) {
    return "<div class=\"chart\" tabindex=\"0\" role=\"group\" aria-label=\""
        + text(name)
        + "\" aria-describedby=\""
        + id
        + "-says\"></div>\n";
  }

  private static String sentence(String when, String words) {
    return "<p data-when=\"" + text(when) + "\">" + text(words) + "</p>\n";
  }

  private static Map<String, String> phaseOptions(List<Charts.Curves> curves) {
    Map<String, String> options = new LinkedHashMap<>();
    curves.forEach(c -> options.put(c.phase(), c.phase()));
    return options;
  }

  private void percentiles() {
    if (report.trials().isEmpty()) {
      return;
    }
    section(
        "percentiles",
        "Latency by percentile",
        "The line is the median of the trials' percentiles, the band their range; an A/A arm's is"
            + " dashed. The axis is HdrHistogram's: each step to the right is a tenth of the"
            + " samples before. A line ends where fewer than ten samples of a trial lie beyond"
            + " it.");
    StringBuilder says = new StringBuilder();
    for (Charts.Curves curves : report.charts().percentiles()) {
      says.append(sentence(curves.phase(), says(curves)));
    }
    chart(
        "percentiles",
        "Phase",
        phaseOptions(report.charts().percentiles()),
        place("percentiles", "Chart: latency by percentile"),
        says.toString());
    end();
  }

  private static String says(Charts.Curves curves) {
    List<String> parts = new ArrayList<>();
    for (Charts.Curve curve : curves.curves()) {
      List<String> figures = new ArrayList<>();
      SAID.forEach(
          (name, p) -> {
            int at = place(curves, p);
            if (at >= 0) {
              figures.add(name + " " + at(curve, at, p));
            }
          });
      parts.add(curve.arm() + ": " + String.join(", ", figures));
    }
    long samples = curves.curves().stream().mapToLong(Charts.Curve::samples).min().orElse(0);
    SAID.forEach(
        (name, p) -> {
          if (place(curves, p) < 0) {
            parts.add(name + ": " + notEnough(samples, Quantiles.leastToPrint(p)));
          }
        });
    return title(curves.phase())
        + ", µs, median of the trials (smallest to largest). "
        + String.join("; ", parts)
        + ".";
  }

  /** Returns where a percentile is on the axis; -1 if no arm has samples enough for it. */
  private static int place(Charts.Curves curves, double p) {
    for (int i = 0; i < curves.x().size(); i++) {
      int at = i;
      if (Math.abs(curves.x().get(i) * (1 - p) - 1) < 1e-6
          && curves.curves().stream().anyMatch(curve -> curve.middle().get(at) != null)) {
        return i;
      }
    }
    return -1;
  }

  private static String at(Charts.Curve curve, int at, double p) {
    Double middle = curve.middle().get(at);
    if (middle == null) {
      return notEnough(curve.samples(), Quantiles.leastToPrint(p));
    }
    return curve.trials() == 1
        ? number(middle, 1)
        : String.format(
            Locale.ROOT,
            "%s (%s to %s)",
            number(middle, 1),
            number(curve.low().get(at), 1),
            number(curve.high().get(at), 1));
  }

  private void differences() {
    if (report.charts().differences().isEmpty()) {
      return;
    }
    section(
        "differences",
        "Difference of the distributions",
        "By how many percentage points the share of the arm that was done within a latency differs"
            + " from the baseline's. Below 0 fewer were done: the arm is slower there. The line is"
            + " the median of the blocks, the band their range.");
    StringBuilder says = new StringBuilder();
    for (Charts.Curves curves : report.charts().differences()) {
      String arms =
          curves.curves().stream()
              .map(curve -> largest(curves, curve))
              .collect(Collectors.joining("; "));
      says.append(
          sentence(curves.phase(), title(curves.phase()) + ", where it is largest. " + arms + "."));
    }
    chart(
        "differences",
        "Phase",
        phaseOptions(report.charts().differences()),
        place("differences", "Chart: difference of the distribution functions"),
        says.toString());
    end();
  }

  private static String largest(Charts.Curves curves, Charts.Curve curve) {
    int at = -1;
    for (int i = 0; i < curve.middle().size(); i++) {
      Double value = curve.middle().get(i);
      if (value != null && (at < 0 || Math.abs(value) > Math.abs(curve.middle().get(at)))) {
        at = i;
      }
    }
    String who = curve.arm() + " against " + curve.against() + ": ";
    return at < 0
        ? who + "no samples"
        : String.format(
            Locale.ROOT,
            "%s%+.1f percentage points at %s µs (median of %d blocks, %+.1f to %+.1f)",
            who,
            curve.middle().get(at),
            number(curves.x().get(at), 0),
            curve.trials(),
            curve.low().get(at),
            curve.high().get(at));
  }

  private void trials() {
    if (report.trials().isEmpty()) {
      return;
    }
    section(
        "trials",
        "Every trial",
        "One dot a trial and figure, by block: filled the p50, hollow the p99; squares are an A/A"
            + " arm's. Trials of one block"
            + " ran one after the other, so what moves a whole block is the machine's or the"
            + " network's.");
    StringBuilder says = new StringBuilder();
    Map<String, String> options = new LinkedHashMap<>();
    for (String phase : Charts.PHASES) {
      options.put(phase, phase);
      says.append(
          sentence(
              phase, title(phase) + ". " + reach(phase, "p50") + "; " + reach(phase, "p99") + "."));
    }
    chart("trials", "Phase", options, place("trials", "Chart: every trial"), says.toString());
    List<List<String>> rows = new ArrayList<>();
    for (Report.TrialOf trial : report.trials()) {
      List<String> row = new ArrayList<>();
      row.addAll(List.of(trial.name(), trial.arm(), "" + trial.block(), trial.what().verdict()));
      row.add(String.format(Locale.ROOT, "%,d", trial.what().count()));
      COLUMNS.forEach(
          column -> {
            int dot = column.indexOf('.');
            row.add(spread(List.of(trial), column.substring(0, dot), column.substring(dot + 1)));
          });
      row.add(number(trial.what().lagOne(), 2));
      row.add(trial.what().tailSeconds() == 0 ? "-" : "" + trial.what().tailSeconds());
      rows.add(row);
    }
    List<String> head = new ArrayList<>(List.of("trial", "arm", "block", "verdict", "samples"));
    COLUMNS.forEach(column -> head.add(column.replaceFirst("\\.", " ") + ", µs"));
    head.addAll(
        List.of(
            "rank correlation of a response with the next",
            "seconds that hold the slowest hundredth"));
    body.append("<details><summary>Trials, with the 95 % intervals of their figures</summary>\n")
        .append(table("Trials", head, rows))
        .append("</details>\n");
    end();
  }

  private String reach(String phase, String figure) {
    Comparator<Report.TrialOf> bySize = Comparator.comparingDouble(t -> figure(t, phase, figure));
    List<Report.TrialOf> sorted =
        report.trials().stream()
            .filter(trial -> !Double.isNaN(figure(trial, phase, figure)))
            .sorted(bySize)
            .toList();
    if (sorted.isEmpty()) {
      return figure + ": " + spread(report.trials(), phase, figure);
    }
    Report.TrialOf least = sorted.get(0);
    Report.TrialOf most = sorted.get(sorted.size() - 1);
    return String.format(
        Locale.ROOT,
        "%s of %d trials from %s µs (%s, block %d) to %s µs (%s, block %d)",
        figure,
        sorted.size(),
        number(figure(least, phase, figure), 1),
        least.arm(),
        least.block(),
        number(figure(most, phase, figure), 1),
        most.arm(),
        most.block());
  }

  private void timeline() {
    if (report.charts().timelines().isEmpty()) {
      return;
    }
    section(
        "timeline",
        "One trial over time",
        "Response times by the instant at which requests were due, in bins; max is the slowest of a"
            + " bin. Below them what disturbed the client, one row a source, the fuller the colour"
            + " the larger its share of the time. Diamonds are slow requests: click one, or choose"
            + " it in the table, for its cause and the evidence.");
    StringBuilder says = new StringBuilder();
    Map<String, String> options = new LinkedHashMap<>();
    for (Charts.Timeline timeline : report.charts().timelines()) {
      String name =
          report.trials().stream()
              .filter(trial -> trial.name().equals(timeline.trial()))
              .map(trial -> trial.name() + " (" + trial.what().verdict() + ")")
              .findFirst()
              .orElse(timeline.trial());
      options.put(timeline.trial(), name);
      says.append(sentence(timeline.trial(), says(timeline)));
    }
    chart(
        "timeline",
        "Trial",
        options,
        place("timeline", "Chart: one trial over time")
            + "<p class=\"chosen\" role=\"status\">No request is chosen.</p>\n",
        says.toString());
    body.append("<details class=\"slow\"><summary>Slow requests</summary>")
        .append("<div class=\"wide\"></div></details>\n");
    end();
  }

  private static String says(Charts.Timeline timeline) {
    List<Double> medians =
        timeline.quantiles().get("p50").stream().filter(Objects::nonNull).sorted().toList();
    List<Double> largest = timeline.quantiles().get("max");
    int at = -1;
    for (int i = 0; i < largest.size(); i++) {
      if (largest.get(i) != null && (at < 0 || largest.get(i) > largest.get(at))) {
        at = i;
      }
    }
    StringBuilder says = new StringBuilder();
    int most = timeline.counts().stream().mapToInt(Integer::intValue).max().orElse(0);
    says.append(
        String.format(
            Locale.ROOT,
            "%s: %d bins of %s s, at most %s responses each.",
            timeline.trial(),
            timeline.seconds().size(),
            number(timeline.binSeconds(), 0),
            number(most, 0)));
    says.append(
        medians.isEmpty()
            ? " p50 of a bin: " + notEnough(most, Quantiles.leastToPrint(0.5)) + "."
            : String.format(
                Locale.ROOT,
                " The p50 of a bin is between %s and %s µs.",
                number(medians.get(0), 1),
                number(medians.get(medians.size() - 1), 1)));
    if (most < Quantiles.leastToPrint(0.99)) {
      says.append(" p99 of a bin: ")
          .append(notEnough(most, Quantiles.leastToPrint(0.99)))
          .append('.');
    }
    if (at >= 0) {
      says.append(
          String.format(
              Locale.ROOT,
              " The slowest response took %s µs and was due in the bin at %s s.",
              number(largest.get(at), 1),
              number(timeline.seconds().get(at), 0)));
    }
    says.append(" Disturbances: ").append(disturbances(timeline)).append('.');
    int slow = timeline.causes().values().stream().mapToInt(Integer::intValue).sum();
    says.append(" Slow requests with a cause looked for: ").append(slow);
    if (slow > 0) {
      says.append(" (")
          .append(
              timeline.causes().entrySet().stream()
                  .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                  .map(cause -> cause.getValue() + " " + cause.getKey())
                  .collect(Collectors.joining(", ")))
          .append(')');
    }
    return says.append('.').toString();
  }

  private static String disturbances(Charts.Timeline timeline) {
    List<String> sources = new ArrayList<>();
    timeline
        .disturbances()
        .forEach(
            (source, list) ->
                sources.add(
                    String.format(
                        Locale.ROOT,
                        "%d %s of %s ms in all",
                        list.stream().mapToInt(Charts.Disturbance::count).sum(),
                        source,
                        number(
                            list.stream().mapToDouble(Charts.Disturbance::micros).sum() / 1e3,
                            1))));
    return sources.isEmpty() ? "none" : String.join(", ", sources);
  }

  private void phases() {
    if (report.split().isEmpty()) {
      return;
    }
    section(
        "phases",
        "Where the mean differs",
        "Shift of each phase's mean from the baseline's, with its interval where there are blocks"
            + " enough for one. hello is the client's key generation, flight network and server,"
            + " finish the client's decapsulation and certificate check, ttlb from the request to"
            + " the last byte.");
    StringBuilder says = new StringBuilder();
    for (Report.Split split : report.split()) {
      List<String> parts = new ArrayList<>();
      split.parts().forEach((phase, c) -> parts.add(phase + " " + says(c.shift().shift())));
      int blocks =
          split.parts().values().stream().mapToInt(c -> c.differences().size()).max().orElse(0);
      boolean known = split.parts().values().stream().anyMatch(c -> c.shift().shift().exists());
      String who = split.arm() + " against " + split.baseline();
      says.append(
          element(
              "p",
              parts.isEmpty()
                  ? who + ": no block has both."
                  : String.format(
                      Locale.ROOT,
                      "%s, µs: %s; client CPU %s µs a handshake; handshake bytes %s sent, %s"
                          + " received.%s",
                      who,
                      String.join(", ", parts),
                      signed(split.cpuMicros(), 1),
                      signed(split.bytesOut(), 0),
                      signed(split.bytesIn(), 0),
                      known ? "" : " No interval at 95 % from " + blocks + " blocks.")));
    }
    chart(
        "phases",
        "",
        Map.of(),
        place("phases", "Chart: difference of the means by phase"),
        says.toString());
    end();
  }

  private static String says(Interval shift) {
    String estimate = signed(shift.estimate(), 1);
    return shift.exists()
        ? estimate + " (" + signed(shift.low(), 1) + " to " + signed(shift.high(), 1) + ")"
        : estimate;
  }

  private void ladder() {
    Charts.Ladder ladder = report.charts().ladder();
    if (ladder == null) {
      return;
    }
    section(
        "ladder",
        "Rate ladder",
        "Medians of each rung's trials over the offered rate. The knee is the first rung at which"
            + " less than 99 % of what was offered was started or completed, whose trials the plan"
            + " excludes, or whose median response is more than twice the lowest rung's. A ring"
            + " marks a rung of which only excluded trials can be shown.");
    StringBuilder says = new StringBuilder();
    for (Charts.Knee knee : ladder.knees()) {
      String rungs =
          ladder.rungs().stream()
              .filter(rung -> rung.series().equals(knee.series()))
              .map(Html::says)
              .collect(Collectors.joining("; at "));
      says.append(element("p", knee.series() + ". " + says(knee) + " At " + rungs + "."));
    }
    chart(
        "ladder",
        "Phase",
        phaseOptions(report.charts().percentiles()),
        place("ladder", "Chart: latency over the offered rate")
            + place("ladder", "Chart: achieved over offered rate"),
        says.toString());
    end();
  }

  private static String says(Charts.Knee knee) {
    if (Double.isNaN(knee.at())) {
      return "No knee up to " + number(knee.above(), 0) + "/s.";
    }
    return Double.isNaN(knee.above())
        ? "The lowest rung, " + number(knee.at(), 0) + "/s, is above the knee: " + knee.why() + "."
        : "The knee is between "
            + number(knee.above(), 0)
            + " and "
            + number(knee.at(), 0)
            + "/s, where "
            + knee.why()
            + ".";
  }

  private static String says(Charts.Rung rung) {
    double p50 = rung.micros().getOrDefault("response.p50", Double.NaN);
    double p99 = rung.micros().getOrDefault("response.p99", Double.NaN);
    return String.format(
        Locale.ROOT,
        "%s/s achieved %s/s, response p50 %s, p99 %s%s",
        number(rung.offered(), 1),
        number(rung.achieved(), 1),
        Double.isNaN(p50)
            ? notEnough(rung.samples(), Quantiles.leastToPrint(0.5))
            : number(p50, 1) + " µs",
        Double.isNaN(p99)
            ? notEnough(rung.samples(), Quantiles.leastToPrint(0.99))
            : number(p99, 1) + " µs",
        rung.excluded() ? " (only excluded trials)" : "");
  }

  // Words and numbers.

  private List<Report.TrialOf> trialsOf(String arm) {
    return report.trials().stream().filter(trial -> trial.arm().equals(arm)).toList();
  }

  private static String verdicts(List<Report.TrialOf> trials) {
    Map<String, Integer> counts = new TreeMap<>();
    trials.forEach(trial -> counts.merge(trial.what().verdict(), 1, Integer::sum));
    return counts.isEmpty()
        ? "-"
        : counts.entrySet().stream()
            .map(entry -> entry.getValue() + " " + entry.getKey())
            .collect(Collectors.joining(", "));
  }

  private static double figure(Report.TrialOf trial, String phase, String name) {
    Trial.Figure figure = found(trial, phase, name);
    return figure == null ? Double.NaN : figure.micros();
  }

  private static Trial.Figure found(Report.TrialOf trial, String phase, String name) {
    return trial.what().phases().getOrDefault(phase, Map.of()).get(name);
  }

  /** A figure over trials; those that have too few samples for it are counted, not printed. */
  private static String spread(List<Report.TrialOf> trials, String phase, String name) {
    List<Report.TrialOf> able =
        trials.stream().filter(trial -> !Double.isNaN(figure(trial, phase, name))).toList();
    if (able.isEmpty()) {
      long least = trials.stream().mapToLong(trial -> trial.what().count()).min().orElse(0);
      return trials.stream()
          .map(trial -> found(trial, phase, name))
          .filter(figure -> figure != null && figure.need() != null)
          .findFirst()
          .map(figure -> notEnough(least, figure.need()))
          .orElse("-");
    }
    String of = able.size() < trials.size() ? ", of " + able.size() + " trials" : "";
    if (trials.size() == 1) {
      Interval interval = found(able.get(0), phase, name).interval();
      return number(interval.estimate(), 1)
          + (interval.exists()
              ? " [" + number(interval.low(), 1) + " to " + number(interval.high(), 1) + "]"
              : "");
    }
    return spread(able.stream().map(trial -> figure(trial, phase, name)).toList(), 1) + of;
  }

  private static String spread(List<Double> values, int decimals) {
    double[] sorted = values.stream().mapToDouble(v -> v).filter(v -> !Double.isNaN(v)).toArray();
    Arrays.sort(sorted);
    if (sorted.length == 0) {
      return "-";
    }
    String all = number(Quantiles.median(sorted), decimals);
    return all.equals(number(sorted[0], decimals))
            && all.equals(number(sorted[sorted.length - 1], decimals))
        ? all
        : String.format(
            Locale.ROOT,
            "%s (%s to %s)",
            all,
            number(sorted[0], decimals),
            number(sorted[sorted.length - 1], decimals));
  }

  private static String notEnough(long samples, long need) {
    return String.format(Locale.ROOT, "not enough samples (n=%,d, needs %,d)", samples, need);
  }

  private static String number(double value, int decimals) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  private static String signed(double value, int decimals) {
    // What rounds to nothing is not negative.
    double unit = Math.pow(10, -decimals);
    double shown = Math.abs(value) < unit / 2 ? 0 : value;
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%+,." + decimals + "f", shown);
  }

  private static String p(double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%.3g", value);
  }

  private static String label(String arm, boolean again) {
    return again ? arm + " (A/A)" : arm;
  }

  private static String title(String phase) {
    return phase.substring(0, 1).toUpperCase(Locale.ROOT) + phase.substring(1);
  }

  private static Map<String, Double> said() {
    Map<String, Double> said = new LinkedHashMap<>(Trial.PERCENTILES);
    said.keySet().retainAll(List.of("p50", "p99", "p99.9"));
    return said;
  }

  // Markup.

  private static String table(String caption, List<String> head, List<List<String>> rows) {
    StringBuilder table = new StringBuilder();
    table
        .append("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"")
        .append(text(caption))
        .append("\">\n<table>\n<caption>")
        .append(text(caption))
        .append("</caption>\n<thead><tr>");
    head.forEach(name -> table.append("<th scope=\"col\">").append(text(name)).append("</th>"));
    table.append("</tr></thead>\n<tbody>\n");
    for (List<String> row : rows) {
      table.append("<tr><th scope=\"row\">").append(whole(row.get(0))).append("</th>");
      row.stream()
          .skip(1)
          .forEach(cell -> table.append("<td>").append(whole(cell)).append("</td>"));
      table.append("</tr>\n");
    }
    return table.append("</tbody>\n</table>\n</div>\n").toString();
  }

  /** Keeps the limits of a figure on one line; a name may go on at its cell's values. */
  private static String whole(String cell) {
    return LIMITS
        .matcher(text(cell))
        .replaceFirst("<span class=\"limits\">$0</span>")
        .replace("@", "<wbr>@");
  }

  private static String element(String tag, String content) {
    int space = tag.indexOf(' ');
    String name = space < 0 ? tag : tag.substring(0, space);
    return "<" + tag + ">" + text(content) + "</" + name + ">\n";
  }

  /** Names come from files that anyone may have written. */
  private static String text(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  /** What is not known is null, which is JSON, and not NaN, which is not. */
  private static final class Rounded extends JsonSerializer<Double> {
    @Override
    public void serialize(Double value, JsonGenerator to, SerializerProvider provider)
        throws IOException {
      if (Double.isFinite(value)) {
        to.writeNumber(new BigDecimal(value).round(DIGITS).doubleValue());
      } else {
        to.writeNull();
      }
    }
  }
}

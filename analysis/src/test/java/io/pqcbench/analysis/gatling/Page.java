package io.pqcbench.analysis.gatling;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A small page in Gatling's form, of a run without a warm-up: users, and as many requests and
 * responses in the same second.
 */
final class Page {

  private static final long START = 1_790_000_000L;
  private static final String[] PERCENTILES = {
    "min", "25%", "50%", "75%", "80%", "85%", "90%", "95%", "99%", "max"
  };

  private final Map<String, double[]> users = new LinkedHashMap<>();
  private final List<String> rows = new ArrayList<>();
  private String all = row("ROOT", "", "All Requests", 90_000, 0, 20);
  private final double[] requests;
  private double[] responses;
  private final double[] millis;

  /** A page of a run with these users in each second. */
  Page(double... users) {
    this.users.put("measure", users);
    this.requests = users.clone();
    this.responses = users.clone();
    this.millis = new double[users.length];
    Arrays.fill(millis, 20);
  }

  /** A page of a run with a constant rate. */
  static Page constant(double rate, int seconds) {
    return new Page(IntStream.range(0, seconds).mapToDouble(i -> rate).toArray());
  }

  /** Replaces the users of a second, with what they request and get. */
  Page users(int second, double count) {
    requests[second] = count;
    responses[second] = count;
    return silent(second, count);
  }

  /** Replaces the users of a second, whose requests are not counted. */
  Page silent(int second, double count) {
    users.get("measure")[second] = count;
    return this;
  }

  /** Replaces the responses. */
  Page responses(double... counts) {
    this.responses = counts;
    return this;
  }

  /** Replaces the response time from a second on. */
  Page millis(int from, double value) {
    Arrays.fill(millis, from, millis.length, value);
    return this;
  }

  /** Replaces the row of all requests, none of which failed. */
  Page all(long total, int... millis) {
    all = row("ROOT", "", "All Requests", total, 0, millis);
    return this;
  }

  /**
   * Adds a row, the times of which are also those of all requests.
   *
   * @param millis one for all columns of times, or one for each
   */
  Page row(String name, long total, long ko, int... millis) {
    rows.add(row("req_" + name, "hidden", name, total, ko, millis));
    return all(90_000, millis);
  }

  /** Adds a row without failures whose p50 is not a concern. */
  Page row(String name) {
    return row(name, 90_000, 0, 20);
  }

  Path write(Path directory) throws IOException {
    Files.createDirectories(directory);
    return Files.writeString(directory.resolve("index.html"), html());
  }

  String html() {
    StringBuilder html = new StringBuilder();
    html.append("<!DOCTYPE html>\n<title>Gatling Stats - Global Information</title>\n");
    html.append("<table id=\"container_statistics_head\"><thead><tr>\n");
    String[] columns = {"Min", "50th pct", "75th pct", "95th pct", "99th pct", "Max", "Mean"};
    for (int i = 0; i < columns.length; i++) {
      html.append(
          "<th id=\"col-%d\" class=\"header sortable\"><span>%s</span></th>\n"
              .formatted(i + 7, columns[i]));
    }
    html.append("</tr></thead><tbody>")
        .append(all)
        .append("</tbody></table>\n<table id=\"container_statistics_body\"><tbody>")
        .append(String.join("", rows))
        .append("</tbody></table>\n");
    html.append("<script>\n");
    double[] sum = new double[requests.length];
    users.values().forEach(line -> Arrays.setAll(sum, i -> sum[i] + line[i]));
    Map<String, double[]> lines = new LinkedHashMap<>(users);
    lines.put("All users", sum);
    html.append(chart("UserStartRateContainerId", lines));
    lines.clear();
    for (String name : PERCENTILES) {
      lines.put(name, millis);
    }
    html.append(chart("ResponseTimeContainerId", lines));
    html.append(chart("RequestsContainerId", counts(requests)));
    html.append(chart("ResponsesContainerId", counts(responses)));
    return html.append("</script>\n</body>\n</html>\n").toString();
  }

  private static Map<String, double[]> counts(double[] all) {
    Map<String, double[]> lines = new LinkedHashMap<>();
    lines.put("All", all);
    lines.put("OK", all);
    lines.put("KO", new double[all.length]);
    return lines;
  }

  private static String chart(String id, Map<String, double[]> lines) {
    return "new Highcharts.StockChart({\n  chart: {\n    renderTo: '%s',\n  },\n  series: [\n"
            .formatted(id)
        + lines.entrySet().stream()
            .map(line -> series(line.getKey(), line.getValue()))
            .collect(Collectors.joining(",\n"))
        + "\n  ]\n});\n";
  }

  private static String series(String name, double[] values) {
    return IntStream.range(0, values.length)
        .mapToObj(i -> "[%d000, %d]".formatted(START + i, Math.round(values[i])))
        .collect(
            Collectors.joining(
                ", ", "{\ncolor: '#5E7BE2',\nname: '%s',\ndata: [".formatted(name), "],\n}"));
  }

  private static String row(
      String id, String button, String name, long total, long ko, int... millis) {
    StringBuilder row = new StringBuilder();
    row.append("<tr id=\"%s\" data-parent=\"ROOT\">\n".formatted(id));
    row.append("<span id=\"%s\" class=\"expand-button %s\">&nbsp;</span>\n".formatted(id, button));
    row.append(
        "<span id=\"stats-table-%s\" class=\"ellipsed-name\">%s</span>\n".formatted(id, name));
    long[] cells = {total, total - ko, ko, 0, 300};
    for (int column = 2; column <= 14; column++) {
      long value = column <= 6 ? cells[column - 2] : millis[(column - 7) % millis.length];
      row.append("  <td class=\"value total col-%d\">%d</td>\n".formatted(column, value));
    }
    return row.append("</tr>").toString();
  }
}

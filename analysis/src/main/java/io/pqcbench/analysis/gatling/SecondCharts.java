package io.pqcbench.analysis.gatling;

import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.gatling.GatlingReport.Second;
import io.pqcbench.analysis.gatling.GatlingReport.Times;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The series that are embedded in a page for its charts. */
final class SecondCharts {

  private static final String USERS = "UserStartRateContainerId";
  private static final String REQUESTS = "RequestsContainerId";
  private static final String RESPONSES = "ResponsesContainerId";
  private static final String TIMES = "ResponseTimeContainerId";

  private static final String ALL_USERS = "All users";

  private static final Pattern SERIES =
      Pattern.compile("name:\\s*'((?:[^'\\\\]|\\\\.)*+)',\\s*data:\\s*\\[\\s*");
  private static final Pattern POINT =
      Pattern.compile("\\G[\\s,]*\\[(\\d+),\\s*(null|-?\\d+(?:\\.\\d+)?)\\]");

  private final IndexHtml page;

  SecondCharts(IndexHtml page) {
    this.page = page;
  }

  /** A line of a chart; NaN is a gap. */
  private static final class Series {
    private final String name;
    private final long[] at;
    private final double[] values;

    private Series(String name, long[] at, double[] values) {
      this.name = name;
      this.at = at;
      this.values = values;
    }
  }

  /** Returns a point a second; empty if the page has no chart of users started. */
  List<Second> seconds() throws UnreadableException {
    List<Series> users = chart(USERS);
    if (users.isEmpty()) {
      return List.of();
    }
    long[] at = users.get(0).at;
    double[] started = new double[at.length];
    double[] warmUpStarted = new double[at.length];
    for (int line = 0; line < users.size(); line++) {
      Series scenario = users.get(line);
      aligned(USERS, scenario, at);
      // The sum comes last; it stands for the scenarios only if they are not there.
      boolean sum = line == users.size() - 1 && scenario.name.equals(ALL_USERS);
      if (!sum || users.size() == 1) {
        double[] to = GatlingReport.isWarmUp(scenario.name) ? warmUpStarted : started;
        Arrays.setAll(to, i -> to[i] + scenario.values[i]);
      }
    }
    double[] requests = line(REQUESTS, chart(REQUESTS), "All", at);
    List<Series> responses = chart(RESPONSES);
    double[] answered = line(RESPONSES, responses, "All", at);
    double[] failed = line(RESPONSES, responses, "KO", at);
    Times[] times = times(at);
    List<Second> read = new ArrayList<>(at.length);
    for (int i = 0; i < at.length; i++) {
      read.add(
          new Second(
              Math.toIntExact((at[i] - at[0]) / 1000),
              started[i],
              warmUpStarted[i],
              requests[i],
              answered[i],
              failed[i],
              times[i]));
    }
    return read;
  }

  private Times[] times(long[] at) throws UnreadableException {
    Times[] times = new Times[at.length];
    List<Series> chart = chart(TIMES);
    if (chart.isEmpty()) {
      return times;
    }
    List<String> names =
        List.of("min", "25%", "50%", "75%", "80%", "85%", "90%", "95%", "99%", "max");
    double[][] values = new double[names.size()][];
    for (int i = 0; i < values.length; i++) {
      values[i] = line(TIMES, chart, names.get(i), at);
    }
    for (int i = 0; i < times.length; i++) {
      int[] second = new int[values.length];
      boolean gap = false;
      for (int j = 0; j < second.length; j++) {
        gap |= Double.isNaN(values[j][i]);
        second[j] = (int) values[j][i];
      }
      if (!gap) {
        times[i] =
            new Times(
                second[0], second[1], second[2], second[3], second[4], second[5], second[6],
                second[7], second[8], second[9]);
      }
    }
    return times;
  }

  private double[] line(String chart, List<Series> lines, String name, long[] at)
      throws UnreadableException {
    for (Series line : lines) {
      if (line.name.equals(name)) {
        aligned(chart, line, at);
        return line.values;
      }
    }
    throw page.lacks("the series \"" + name + "\" of the chart " + chart);
  }

  private void aligned(String chart, Series line, long[] at) throws UnreadableException {
    if (!Arrays.equals(line.at, at)) {
      throw page.lacks(
          String.format(
              "seconds in the series \"%s\" of the chart %s, which has %d where that of users"
                  + " started has %d",
              line.name, chart, line.at.length, at.length));
    }
  }

  /** Returns the lines of a chart; empty if the page has no such chart. */
  private List<Series> chart(String id) throws UnreadableException {
    Matcher start = Pattern.compile("renderTo:\\s*'" + id + "'").matcher(page.text());
    if (!start.find()) {
      if (page.text().contains("id=\"" + id + '"')) {
        throw page.lacks("the data of the chart " + id);
      }
      return List.of();
    }
    int end = page.text().indexOf("renderTo:", start.end());
    String chart = page.text().substring(start.end(), end < 0 ? page.text().length() : end);
    List<Series> lines = new ArrayList<>();
    Matcher series = SERIES.matcher(chart);
    while (series.find()) {
      // A pie's data are objects.
      if (!chart.startsWith("{", series.end())) {
        lines.add(points(id, IndexHtml.plain(series.group(1)), chart, series.end()));
      }
    }
    if (lines.isEmpty()) {
      throw page.lacks("the series of the chart " + id);
    }
    return lines;
  }

  private Series points(String id, String name, String chart, int from) throws UnreadableException {
    List<Long> at = new ArrayList<>();
    List<Double> values = new ArrayList<>();
    Matcher point = POINT.matcher(chart).region(from, chart.length());
    int end = from;
    while (point.find()) {
      at.add(Long.valueOf(point.group(1)));
      values.add(point.group(2).equals("null") ? Double.NaN : Double.parseDouble(point.group(2)));
      end = point.end();
    }
    while (end < chart.length() && Character.isWhitespace(chart.charAt(end))) {
      end++;
    }
    if (!chart.startsWith("]", end)) {
      throw page.lacks(
          "the end of the series \""
              + name
              + "\" of the chart "
              + id
              + ", which breaks off after "
              + at.size()
              + " points");
    }
    return new Series(
        name,
        at.stream().mapToLong(Long::longValue).toArray(),
        values.stream().mapToDouble(Double::doubleValue).toArray());
  }
}

package io.pqcbench.analysis.gatling;

import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.statistics.Quantiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The global page ({@code index.html}) of a Gatling 3.x report: its table of statistics, and the
 * series that are embedded in it for its charts. Nothing else of a report is needed, and what
 * Gatling measured itself ({@code simulation.log}) is not read.
 *
 * <p>The form of the page is that of Gatling 3.15.1: {@code GlobalStatsTableComponent} writes the
 * table, {@code UsersChartTemplate}, {@code CountsPerSecTemplate} and {@code
 * PercentilesOverTimeTemplate} write the series. Pages of versions without the chart of users
 * started have rows, but no {@link #seconds()}.
 *
 * <p>"A second" is what Gatling takes for one. A run of 1,000 seconds or more has wider steps, with
 * counts still given per second. Users started are counted in a step whose width is cut off to
 * whole milliseconds, so that a constant 1000 a second is shown as 1001; what is sent and answered
 * is counted half a step earlier than the users of the same point. All of them are per second, so
 * ratios between parts of a run are right, and those between two series of one second are not.
 */
public final class GatlingReport {

  private static final String PAGE = "index.html";
  private static final String LOG = "simulation.log";
  private static final String MAKE_AGAIN =
      "make the report from it with the same version of Gatling: -ro RUN -rf RESULTS";

  private static final String USERS = "UserStartRateContainerId";
  private static final String REQUESTS = "RequestsContainerId";
  private static final String RESPONSES = "ResponsesContainerId";
  private static final String TIMES = "ResponseTimeContainerId";

  private static final Pattern VERSION =
      Pattern.compile("Version: </span>\\s*<span>([^<]*)</span>");

  /** The percentiles can be configured, the columns cannot. */
  private static final Map<Integer, String> HEADERS =
      Map.of(8, "50th pct", 9, "75th pct", 10, "95th pct", 11, "99th pct");

  private static final Pattern HEADER =
      Pattern.compile("<th id=\"col-(\\d+)\"[^>]*>\\s*<span>([^<]*)</span>");
  private static final Pattern ROW =
      Pattern.compile("<tr id=\"([^\"]*)\"[^>]*>(.*?)</tr>", Pattern.DOTALL);
  private static final Pattern NAME =
      Pattern.compile("class=\"ellipsed-name\">(.*?)</span>", Pattern.DOTALL);
  private static final Pattern CELL =
      Pattern.compile("<td class=\"value [a-z ]*col-(\\d+)\">([^<]*)</td>");

  /** Requests cannot be expanded; the row of all requests and those of groups can. */
  private static final String REQUEST = "class=\"expand-button hidden\"";

  private static final String ALL_REQUESTS = "ROOT";

  private static final Pattern SERIES =
      Pattern.compile("name:\\s*'((?:[^'\\\\]|\\\\.)*+)',\\s*data:\\s*\\[\\s*");
  private static final Pattern POINT =
      Pattern.compile("\\G[\\s,]*\\[(\\d+),\\s*(null|-?\\d+(?:\\.\\d+)?)\\]");

  private static final String ALL_USERS = "All users";

  /** A name is all that tells a warm-up from the rest. */
  private static final Pattern WARM_UP = Pattern.compile("warm[ _-]?up", Pattern.CASE_INSENSITIVE);

  private final Path file;
  private final String page;
  private final String version;
  private final Row all;
  private final List<Row> rows;
  private final List<Second> seconds;

  /**
   * The statistics of a request, as its row has them. Times are whole milliseconds, also the mean
   * and the standard deviation; they are NaN where the page has a dash. They count failed requests
   * too.
   *
   * @param name of the request, not with that of its group
   * @param total requests that ended
   * @param ok those that did not fail
   * @param ko those that failed
   * @param countPerSecond total over the length of the whole run, warm-up and pauses included, so
   *     this is not the rate while it was measured
   * @param min milliseconds
   * @param p50 milliseconds
   * @param p75 milliseconds
   * @param p95 milliseconds
   * @param p99 milliseconds; see {@link #printed(int)}
   * @param max milliseconds
   * @param mean milliseconds
   * @param stdDev milliseconds
   */
  public record Row(
      String name,
      long total,
      long ok,
      long ko,
      double countPerSecond,
      double min,
      double p50,
      double p75,
      double p95,
      double p99,
      double max,
      double mean,
      double stdDev) {

    /** Returns whether its name says that it is a warm-up, which is not to be counted. */
    public boolean isWarmUp() {
      return GatlingReport.isWarmUp(name);
    }

    /** Returns the share of failed requests, from 0 to 1; 0 if there were no requests. */
    public double koShare() {
      return total == 0 ? 0 : (double) ko / total;
    }

    /**
     * Returns a percentile that is fit to be printed, milliseconds.
     *
     * @param percent 50, 75, 95 or 99
     * @return NaN if fewer than ten values are beyond it, or if the page has none
     * @throws IllegalArgumentException for a percentile that is in no page
     */
    public double printed(int percent) {
      double value =
          switch (percent) {
            case 50 -> p50;
            case 75 -> p75;
            case 95 -> p95;
            case 99 -> p99;
            default -> throw new IllegalArgumentException("no page has this: percent=" + percent);
          };
      return total < Quantiles.leastToPrint(percent / 100.0) ? Double.NaN : value;
    }
  }

  /**
   * Response times of the successful requests that were sent in a second, whole milliseconds, cut
   * off and not rounded.
   */
  public record Times(
      int min, int p25, int p50, int p75, int p80, int p85, int p90, int p95, int p99, int max) {

    /**
     * Returns an estimate of their mean, milliseconds: the page has none by the second, so values
     * are taken to lie evenly between one percentile and the next.
     */
    public double mean() {
      return 0.25 * between(min, p25)
          + 0.25 * between(p25, p50)
          + 0.25 * between(p50, p75)
          + 0.05 * between(p75, p80)
          + 0.05 * between(p80, p85)
          + 0.05 * between(p85, p90)
          + 0.05 * between(p90, p95)
          + 0.04 * between(p95, p99)
          + 0.01 * between(p99, max);
    }

    private static double between(int low, int high) {
      return (low + high) / 2.0;
    }
  }

  /**
   * A point of the series.
   *
   * @param at seconds after the first point of the page
   * @param started users, of all scenarios but those that are a warm-up by their name
   * @param warmUpStarted users of those
   * @param requests that were sent, of all rows; silent ones are never counted
   * @param responses that came, of all rows, failed or not
   * @param ko those of them that failed
   * @param times null if no request was sent in it that was successful, or if the page has none
   */
  public record Second(
      int at,
      double started,
      double warmUpStarted,
      double requests,
      double responses,
      double ko,
      Times times) {}

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

    private String name() {
      return name;
    }

    private long[] at() {
      return at;
    }

    private double[] values() {
      return values;
    }
  }

  private GatlingReport(Path file, String page) throws UnreadableException {
    this.file = file;
    this.page = page;
    checkWhole();
    Matcher found = VERSION.matcher(page);
    this.version = found.find() ? found.group(1) : null;
    Row total = null;
    List<Row> requests = new ArrayList<>();
    Matcher row = ROW.matcher(table());
    while (row.find()) {
      if (row.group(1).equals(ALL_REQUESTS)) {
        total = row(row.group(2));
      } else if (row.group(2).contains(REQUEST)) {
        requests.add(row(row.group(2)));
      }
    }
    if (total == null) {
      throw lacks("the row of all requests (<tr id=\"ROOT\">)");
    }
    this.all = total;
    this.rows = List.copyOf(requests);
    this.seconds = List.copyOf(readSeconds());
  }

  /**
   * Reads a report.
   *
   * @param indexHtmlOrDirectory the global page, or the directory in which it is
   * @throws UnreadableException if there is none, if it is empty or damaged, or if it is another
   *     page; the message names the file and what to do
   */
  public static GatlingReport read(Path indexHtmlOrDirectory) throws UnreadableException {
    Path file =
        Files.isDirectory(indexHtmlOrDirectory)
            ? indexHtmlOrDirectory.resolve(PAGE)
            : indexHtmlOrDirectory;
    if (!Files.isRegularFile(file)) {
      boolean measured = Files.exists(file.resolveSibling(LOG));
      throw new UnreadableException(
          "there is no report of Gatling: "
              + file
              + (measured
                  ? "; its " + LOG + " is there, " + MAKE_AGAIN
                  : "; give the " + PAGE + " of a report, or the directory in which it is"));
    }
    try {
      // Not readString(), which fails at a byte that is not UTF-8; such a one is in no number.
      return new GatlingReport(file, new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UnreadableException(
          "this report of Gatling cannot be read, see whether it may be: " + file, e);
    }
  }

  /** Returns the page that was read. */
  public Path file() {
    return file;
  }

  /**
   * Returns what a reader calls the report: the directory in which it is, which Gatling names after
   * the simulation and the time, or the file if no directory was given.
   */
  public String name() {
    Path directory = file.toAbsolutePath().normalize().getParent();
    Path name = directory == null ? null : directory.getFileName();
    return (name == null ? file.getFileName() : name).toString();
  }

  /** Returns the version of Gatling that made the page, such as 3.15.1; null if it does not say. */
  public String version() {
    return version;
  }

  /** Returns the row "All Requests", into which a warm-up that has a row of its own is mixed. */
  public Row all() {
    return all;
  }

  /** Returns the rows of the requests in the page's order; those of groups are left out. */
  public List<Row> rows() {
    return rows;
  }

  /** Returns the rows of the requests that are no warm-up by their name; empty if there is none. */
  public List<Row> measuredRows() {
    return rows.stream().filter(row -> !row.isWarmUp()).toList();
  }

  /**
   * Returns the series, a point a second in the order of time; empty if the page has no chart of
   * users started.
   */
  public List<Second> seconds() {
    return seconds;
  }

  /**
   * Returns the seconds that were measured in full: those in which users of a scenario that is no
   * warm-up were to be started and requests were counted, without the first and the last of them,
   * which are in part outside. Seconds between them without any user are among them.
   *
   * <p>A warm-up of silent requests is left out too, because nothing is counted in it; yet its
   * users are in {@link Second#started()}.
   */
  public List<Second> measuredSeconds() {
    int firstStart = -1;
    int lastStart = -1;
    int firstRequest = -1;
    for (int i = 0; i < seconds.size(); i++) {
      if (seconds.get(i).started() > 0) {
        firstStart = firstStart < 0 ? i : firstStart;
        lastStart = i;
      }
      if (seconds.get(i).requests() > 0 && firstRequest < 0) {
        firstRequest = i;
      }
    }
    int first = Math.max(firstStart, firstRequest) + 1;
    return firstStart < 0 || firstRequest < 0 || first >= lastStart
        ? List.of()
        : seconds.subList(first, lastStart);
  }

  private static boolean isWarmUp(String name) {
    return WARM_UP.matcher(name).find();
  }

  private void checkWhole() throws UnreadableException {
    if (page.isBlank()) {
      throw new UnreadableException(
          "this report of Gatling is empty, it was ended while it wrote or the disk was full: "
              + file
              + "; if its "
              + LOG
              + " is there, "
              + MAKE_AGAIN);
    }
    if (!page.contains("Gatling Stats")) {
      throw new UnreadableException(
          "this is no page of a report of Gatling 3: "
              + file
              + "; give the "
              + PAGE
              + " of a report, or the directory in which it is");
    }
    if (!page.stripTrailing().endsWith("</html>")) {
      throw lacks("its end (</html>)");
    }
  }

  private UnreadableException lacks(String what) {
    return new UnreadableException(
        "this report of Gatling is damaged or of a form that is not known, it lacks "
            + what
            + ": "
            + file
            + "; copy it once more, or if its "
            + LOG
            + " is there, "
            + MAKE_AGAIN);
  }

  /** Returns the part of the page with the statistics: a table for the sum and one for the rest. */
  private String table() throws UnreadableException {
    int from = page.indexOf("id=\"container_statistics_head\"");
    int body = page.indexOf("id=\"container_statistics_body\"", from);
    if (from < 0 || body < 0) {
      throw lacks("the table of statistics, which only the " + PAGE + " has");
    }
    int to = page.indexOf("</table>", body);
    if (to < 0) {
      throw lacks("the end of the table of statistics");
    }
    String table = page.substring(from, to);
    Map<Integer, String> headers = new HashMap<>();
    Matcher header = HEADER.matcher(table);
    while (header.find()) {
      headers.put(Integer.valueOf(header.group(1)), header.group(2).strip());
    }
    for (Map.Entry<Integer, String> expected : HEADERS.entrySet()) {
      if (!expected.getValue().equals(headers.get(expected.getKey()))) {
        throw lacks(
            String.format(
                "the column \"%s\", number %d is \"%s\" (see gatling.charting.indicators)",
                expected.getValue(), expected.getKey(), headers.get(expected.getKey())));
      }
    }
    return table;
  }

  private Row row(String html) throws UnreadableException {
    Matcher named = NAME.matcher(html);
    if (!named.find()) {
      throw lacks("the name of a row of statistics");
    }
    String name = plain(named.group(1));
    Map<Integer, String> cells = new HashMap<>();
    Matcher cell = CELL.matcher(html);
    while (cell.find()) {
      cells.put(Integer.valueOf(cell.group(1)), cell.group(2).strip());
    }
    return new Row(
        name,
        (long) number(cells, 2, name),
        (long) number(cells, 3, name),
        (long) number(cells, 4, name),
        // Column 5 is the share of those that failed, rounded; the counts are exact.
        number(cells, 6, name),
        number(cells, 7, name),
        number(cells, 8, name),
        number(cells, 9, name),
        number(cells, 10, name),
        number(cells, 11, name),
        number(cells, 12, name),
        number(cells, 13, name),
        number(cells, 14, name));
  }

  private double number(Map<Integer, String> cells, int column, String row)
      throws UnreadableException {
    String text = cells.get(column);
    // Counts are never a dash, times are in a row without any request.
    if ("-".equals(text) && column > 6) {
      return Double.NaN;
    }
    try {
      if (text != null) {
        return Double.parseDouble(text);
      }
    } catch (NumberFormatException e) {
      throw lacks("a number in column " + column + " of the row \"" + row + "\": \"" + text + '"');
    }
    throw lacks("column " + column + " of the row \"" + row + '"');
  }

  private List<Second> readSeconds() throws UnreadableException {
    List<Series> users = chart(USERS);
    if (users.isEmpty()) {
      return List.of();
    }
    long[] at = users.get(0).at();
    double[] started = new double[at.length];
    double[] warmUpStarted = new double[at.length];
    for (int line = 0; line < users.size(); line++) {
      Series scenario = users.get(line);
      aligned(USERS, scenario, at);
      // The sum comes last; it stands for the scenarios only if they are not there.
      boolean sum = line == users.size() - 1 && scenario.name().equals(ALL_USERS);
      if (!sum || users.size() == 1) {
        double[] to = isWarmUp(scenario.name()) ? warmUpStarted : started;
        Arrays.setAll(to, i -> to[i] + scenario.values()[i]);
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
      if (line.name().equals(name)) {
        aligned(chart, line, at);
        return line.values();
      }
    }
    throw lacks("the series \"" + name + "\" of the chart " + chart);
  }

  private void aligned(String chart, Series line, long[] at) throws UnreadableException {
    if (!Arrays.equals(line.at(), at)) {
      throw lacks(
          String.format(
              "seconds in the series \"%s\" of the chart %s, which has %d where that of users"
                  + " started has %d",
              line.name(), chart, line.at().length, at.length));
    }
  }

  /** Returns the lines of a chart; empty if the page has no such chart. */
  private List<Series> chart(String id) throws UnreadableException {
    Matcher start = Pattern.compile("renderTo:\\s*'" + id + "'").matcher(page);
    if (!start.find()) {
      if (page.contains("id=\"" + id + '"')) {
        throw lacks("the data of the chart " + id);
      }
      return List.of();
    }
    int end = page.indexOf("renderTo:", start.end());
    String chart = page.substring(start.end(), end < 0 ? page.length() : end);
    List<Series> lines = new ArrayList<>();
    Matcher series = SERIES.matcher(chart);
    while (series.find()) {
      // A pie's data are objects.
      if (!chart.startsWith("{", series.end())) {
        lines.add(points(id, plain(series.group(1)), chart, series.end()));
      }
    }
    if (lines.isEmpty()) {
      throw lacks("the series of the chart " + id);
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
      throw lacks(
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

  /**
   * Returns a name without the escapes of HTML and of JavaScript. Gatling escapes letters with
   * accents too (html-entities.properties); those are left as they are, they make no two names
   * equal.
   */
  private static String plain(String escaped) {
    return escaped
        .strip()
        .replace("\\'", "'")
        .replace("&#39;", "'")
        .replace("&quot;", "\"")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
  }
}

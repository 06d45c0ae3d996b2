package io.pqcbench.analysis.gatling;

import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.gatling.GatlingReport.Row;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The text of the global page of a report, whole as far as its end tells, its table of statistics,
 * and what is said if something is not in it.
 */
record IndexHtml(Path file, String text) {

  private static final String PAGE = "index.html";

  private static final String LOG = "simulation.log";
  private static final String MAKE_AGAIN =
      "make the report from it with the same version of Gatling: -ro RUN -rf RESULTS";

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

  /**
   * The table of statistics.
   *
   * @param all the row of all requests
   * @param requests their rows in the page's order, without those of groups
   */
  record Statistics(Row all, List<Row> requests) {}

  /**
   * Reads a page.
   *
   * @param indexHtmlOrDirectory the page, or the directory in which it is
   * @throws UnreadableException if there is none, if it breaks off, or if it is another page
   */
  static IndexHtml read(Path indexHtmlOrDirectory) throws UnreadableException {
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
      String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
      IndexHtml page = new IndexHtml(file, text);
      page.checkWhole();
      return page;
    } catch (IOException e) {
      throw new UnreadableException(
          "this report of Gatling cannot be read, see whether it may be: " + file, e);
    }
  }

  /** Returns the version of Gatling that made the page; null if it does not say. */
  String version() {
    Matcher found = VERSION.matcher(text);
    return found.find() ? found.group(1) : null;
  }

  /** Returns the table of statistics. */
  Statistics statistics() throws UnreadableException {
    Row all = null;
    List<Row> requests = new ArrayList<>();
    Matcher row = ROW.matcher(table());
    while (row.find()) {
      if (row.group(1).equals(ALL_REQUESTS)) {
        all = row(row.group(2));
      } else if (row.group(2).contains(REQUEST)) {
        requests.add(row(row.group(2)));
      }
    }
    if (all == null) {
      throw lacks("the row of all requests (<tr id=\"" + ALL_REQUESTS + "\">)");
    }
    return new Statistics(all, List.copyOf(requests));
  }

  /** Returns the part of the page with the statistics: a table for the sum and one for the rest. */
  private String table() throws UnreadableException {
    int from = text.indexOf("id=\"container_statistics_head\"");
    int body = text.indexOf("id=\"container_statistics_body\"", from);
    if (from < 0 || body < 0) {
      throw lacks("the table of statistics, which only the " + PAGE + " has");
    }
    int to = text.indexOf("</table>", body);
    if (to < 0) {
      throw lacks("the end of the table of statistics");
    }
    String table = text.substring(from, to);
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
    String cell = cells.get(column);
    // Counts are never a dash, times are in a row without any request.
    if ("-".equals(cell) && column > 6) {
      return Double.NaN;
    }
    try {
      if (cell != null) {
        return Double.parseDouble(cell);
      }
    } catch (NumberFormatException e) {
      throw lacks("a number in column " + column + " of the row \"" + row + "\": \"" + cell + '"');
    }
    throw lacks("column " + column + " of the row \"" + row + '"');
  }

  private void checkWhole() throws UnreadableException {
    if (text.isBlank()) {
      throw new UnreadableException(
          "this report of Gatling is empty, it was ended while it wrote or the disk was full: "
              + file
              + "; if its "
              + LOG
              + " is there, "
              + MAKE_AGAIN);
    }
    if (!text.contains("Gatling Stats")) {
      throw new UnreadableException(
          "this is no page of a report of Gatling 3: "
              + file
              + "; give the "
              + PAGE
              + " of a report, or the directory in which it is");
    }
    if (!text.stripTrailing().endsWith("</html>")) {
      throw lacks("its end (</html>)");
    }
  }

  /** Returns what to throw if something is not in the page that has to be. */
  UnreadableException lacks(String what) {
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

  /**
   * Returns a name without the escapes of HTML and of JavaScript. Gatling escapes letters with
   * accents too (html-entities.properties); those are left as they are, they make no two names
   * equal.
   */
  static String plain(String escaped) {
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

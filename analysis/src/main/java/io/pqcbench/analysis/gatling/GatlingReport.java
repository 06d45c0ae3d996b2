package io.pqcbench.analysis.gatling;

import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.statistics.Quantiles;
import java.nio.file.Path;
import java.util.List;
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

  /** A name is all that tells a warm-up from the rest. */
  private static final Pattern WARM_UP = Pattern.compile("warm[ _-]?up", Pattern.CASE_INSENSITIVE);

  private final Path file;
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

  private GatlingReport(IndexHtml page) throws UnreadableException {
    this.file = page.file();
    this.version = page.version();
    IndexHtml.Statistics statistics = page.statistics();
    this.all = statistics.all();
    this.rows = statistics.requests();
    this.seconds = List.copyOf(new SecondCharts(page).seconds());
  }

  /**
   * Reads a report.
   *
   * @param indexHtmlOrDirectory the global page, or the directory in which it is
   * @throws UnreadableException if there is none, if it is empty or damaged, or if it is another
   *     page; the message names the file and what to do
   */
  public static GatlingReport read(Path indexHtmlOrDirectory) throws UnreadableException {
    return new GatlingReport(IndexHtml.read(indexHtmlOrDirectory));
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

  /** Returns whether a request or a scenario is a warm-up by its name. */
  static boolean isWarmUp(String name) {
    return WARM_UP.matcher(name).find();
  }
}

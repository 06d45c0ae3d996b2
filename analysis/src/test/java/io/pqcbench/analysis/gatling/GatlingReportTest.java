package io.pqcbench.analysis.gatling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.pqcbench.analysis.bundle.UnreadableException;
import io.pqcbench.analysis.gatling.GatlingReport.Row;
import io.pqcbench.analysis.gatling.GatlingReport.Second;
import io.pqcbench.analysis.gatling.GatlingReport.Times;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GatlingReportTest {

  @TempDir private Path directory;
  private String small;

  @BeforeEach
  void readSmallPage() throws IOException {
    try (InputStream page = GatlingReportTest.class.getResourceAsStream("/gatling/small.html")) {
      small = new String(page.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private Path write(String html) throws IOException {
    return Files.writeString(directory.resolve("index.html"), html);
  }

  private GatlingReport read(String html) throws Exception {
    return GatlingReport.read(write(html));
  }

  @Test
  void aRowHasAllItsColumns() throws Exception {
    GatlingReport report = read(small);

    assertThat(report.rows().get(2))
        .isEqualTo(new Row("fresh & \"quick\"", 2100, 2098, 2, 150, 1, 3, 5, 9, 12, 40, 4, 2));
    assertThat(report.all())
        .isEqualTo(new Row("All Requests", 2500, 2498, 2, 178.57, 1, 3, 4, 9, 11, 145, 3, 4));
    assertThat(report.version()).isEqualTo("3.15.1");
  }

  @Test
  void aWarmUpIsARowApart() throws Exception {
    GatlingReport report = read(small);

    assertThat(report.rows()).extracting(Row::isWarmUp).containsExactly(true, false, false);
    assertThat(report.measuredRows())
        .extracting(Row::name)
        .containsExactly("token", "fresh & \"quick\"");
  }

  @ParameterizedTest
  @CsvSource({
    "warmup_hs, true",
    "warm-up, true",
    "Warm Up, true",
    "WARMUP, true",
    "handshake, false"
  })
  void aWarmUpIsKnownByItsName(String name, boolean warmUp) throws Exception {
    GatlingReport report = read(Page.constant(300, 3).row(name).html());

    assertThat(report.rows().get(0).isWarmUp()).isEqualTo(warmUp);
  }

  @Test
  void groupsAreNoRequestsAndTheirRequestsAre() throws Exception {
    assertThat(read(small).rows())
        .extracting(Row::name)
        .containsExactly("Warm-up", "token", "fresh & \"quick\"");
  }

  @Test
  void aDashIsNoNumber() throws Exception {
    Row token = read(small).rows().get(1);

    assertThat(token.total()).isZero();
    assertThat(token.koShare()).isZero();
    assertThat(token.p50()).isNaN();
    assertThat(token.stdDev()).isNaN();
    assertThat(token.printed(50)).isNaN();
  }

  @ParameterizedTest
  @CsvSource({
    "19, 50, false",
    "20, 50, true",
    "39, 75, false",
    "40, 75, true",
    "199, 95, false",
    "200, 95, true",
    "999, 99, false",
    "1000, 99, true"
  })
  void aPercentileWithFewerThanTenValuesBeyondItIsNotPrinted(
      long total, int percent, boolean printed) {
    Row row = new Row("fresh", total, total, 0, 10, 1, 2, 2, 2, 2, 2, 2, 2);

    assertThat(!Double.isNaN(row.printed(percent))).isEqualTo(printed);
  }

  @Test
  void onlyPercentilesOfThePageCanBePrinted() {
    Row row = new Row("fresh", 9000, 9000, 0, 10, 1, 2, 3, 4, 5, 6, 7, 8);

    assertThat(row.printed(75)).isEqualTo(3);
    assertThat(row.printed(95)).isEqualTo(4);
    assertThatThrownBy(() -> row.printed(90))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("percent=90");
  }

  @Test
  void secondsHaveTheNumbersOfAllCharts() throws Exception {
    GatlingReport report = read(small);

    assertThat(report.seconds()).hasSize(14);
    assertThat(report.seconds().get(0).warmUpStarted()).isEqualTo(100);
    assertThat(report.seconds().get(0).started()).isZero();
    assertThat(report.seconds().get(8))
        .isEqualTo(new Second(8, 300, 0, 300, 301, 2, new Times(1, 2, 3, 5, 5, 6, 7, 9, 11, 21)));
    assertThat(report.seconds().get(5).times()).isNull();
  }

  @Test
  void measuredSecondsAreWithoutTheWarmUpThePauseAndTheEnds() throws Exception {
    assertThat(read(small).measuredSeconds())
        .extracting(Second::at)
        .containsExactly(6, 7, 8, 9, 10, 11);
  }

  @Test
  void aSecondWithoutUsersIsMeasuredToo() throws Exception {
    GatlingReport report = read(Page.constant(300, 8).users(4, 0).row("fresh").html());

    assertThat(report.measuredSeconds()).extracting(Second::at).containsExactly(1, 2, 3, 4, 5, 6);
  }

  @Test
  void aSilentWarmUpIsNotMeasured() throws Exception {
    Page page = new Page(0, 0, 0, 0, 300, 300, 300, 300, 300);
    for (int i = 0; i < 4; i++) {
      page.silent(i, 300);
    }

    assertThat(read(page.row("fresh").html()).measuredSeconds())
        .extracting(Second::at)
        .containsExactly(5, 6, 7);
  }

  @Test
  void aRunWithoutUsersHasNoMeasuredSeconds() throws Exception {
    assertThat(read(Page.constant(0, 8).row("fresh").html()).measuredSeconds()).isEmpty();
    assertThat(read(Page.constant(300, 1).row("fresh").html()).measuredSeconds()).isEmpty();
  }

  @Test
  void theMeanOfASecondLiesBetweenItsPercentiles() {
    assertThat(new Times(4, 4, 4, 4, 4, 4, 4, 4, 4, 4).mean()).isCloseTo(4, within(1e-9));
    // Of 0 to 100 evenly it is 50.
    assertThat(new Times(0, 25, 50, 75, 80, 85, 90, 95, 99, 100).mean())
        .isCloseTo(50, within(1e-9));
  }

  @Test
  void anOlderPageWithoutTheChartOfUsersHasRowsAndNoSeconds() throws Exception {
    String older = small.substring(0, small.indexOf("new Highcharts.StockChart"));
    older = older.replace("id=\"UserStartRateContainerId\"", "") + "</script></body></html>";

    GatlingReport report = read(older);
    assertThat(report.rows()).hasSize(3);
    assertThat(report.seconds()).isEmpty();
    assertThat(report.measuredSeconds()).isEmpty();
  }

  @Test
  void aPageWithoutResponseTimesBySecondHasTheRest() throws Exception {
    String page = small.replace("ResponseTimeContainerId", "OtherContainerId");

    assertThat(read(page).seconds()).hasSize(14).allMatch(second -> second.times() == null);
  }

  @Test
  void theReportIsFoundInItsDirectory() throws Exception {
    Path trial = Files.createDirectories(directory.resolve("trial-1"));
    Files.writeString(trial.resolve("index.html"), small.replace("\n", "\r\n"));

    GatlingReport report = GatlingReport.read(trial);
    assertThat(report.name()).isEqualTo("trial-1");
    assertThat(report.file()).isEqualTo(trial.resolve("index.html"));
    assertThat(report.seconds()).hasSize(14);
  }

  @Test
  void aDirectoryWithoutAReportSaysWhatToGive() {
    assertThatThrownBy(() -> GatlingReport.read(directory))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining(directory.resolve("index.html").toString())
        .hasMessageContaining("give the index.html");
  }

  @Test
  void aRunWithoutAReportSaysHowToMakeIt() throws Exception {
    Files.write(directory.resolve("simulation.log"), new byte[] {0});

    assertThatThrownBy(() -> GatlingReport.read(directory))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("-ro RUN");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "\n\n"})
  void anEmptyFileIsNoReport(String text) throws Exception {
    Path file = write(text);

    assertThatThrownBy(() -> GatlingReport.read(file))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("empty")
        .hasMessageContaining(file.toString());
  }

  @Test
  void aPageOfSomethingElseIsNoReport() {
    assertThatThrownBy(() -> read("<html><title>nginx</title></html>"))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("no page of a report of Gatling 3");
  }

  @Test
  void thePageOfASingleRequestIsNotTheReport() {
    assertThatThrownBy(
            () -> read(small.replace("container_statistics_", "container_statistics_of_")))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("only the index.html has");
  }

  @Test
  void aPageThatBreaksOffIsDamagedWhereverItDoes() throws Exception {
    for (int length = 1; length < small.length() - 20; length += 97) {
      Path file = write(small.substring(0, length));

      assertThatThrownBy(() -> GatlingReport.read(file))
          .isInstanceOf(UnreadableException.class)
          .hasMessageContaining(file.toString());
    }
  }

  /** What is replaced, by what, and what is missed. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "<tr id=\"ROOT\" | <tr id=\"SUM\" | row of all requests",
        "<span>99th pct</span> | <span>99.9th pct</span> | number 11 is \"99.9th pct\"",
        "col-13\">4< | col-23\">4< | column 13 of the row \"fresh & \"quick\"\"",
        "col-2\">2100< | col-2\">many< | a number in column 2",
        "col-2\">2100< | col-2\">-< | a number in column 2",
        "ellipsed-name\">Warm-up | name\">Warm-up | the name of a row",
        "renderTo: 'UserStartRateContainerId' | renderTo: 'Other' | UserStartRateContainerId",
        "renderTo: 'ResponsesContainerId' | renderTo: 'Other' | ResponsesContainerId",
        "name: '95%' | name: '96%' | series \"95%\" of the chart ResponseTimeContainerId",
        "[1790000008000, 298] | [1790000008000, 298 | the end of the series \"OK\"",
        "[1790000008000, 301],  | '' | seconds in the series \"All\" of the chart Responses",
      })
  void aDamagedPageSaysWhatIsMissing(String what, String by, String missing) {
    String page = small.replace(what, by);

    assertThat(page).isNotEqualTo(small);
    assertThatThrownBy(() -> read(page))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining(missing)
        .hasMessageContaining("index.html");
  }
}

package io.pqcbench.analysis.gatling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.pqcbench.analysis.gatling.GatlingReport.Row;
import io.pqcbench.analysis.gatling.GatlingReport.Second;
import io.pqcbench.analysis.gatling.GatlingReport.Times;
import io.pqcbench.analysis.gatling.GatlingVerdict.Finding;
import io.pqcbench.analysis.gatling.GatlingVerdict.Level;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages that Gatling 3.15.1 wrote; src/test/resources/gatling/README.md says how. */
class RealPagesTest {

  private static final int ENOUGH = 6;

  @TempDir private Path directory;

  private GatlingReport read(String name) throws Exception {
    Path run = Files.createDirectories(directory.resolve(name));
    try (InputStream page =
        new GZIPInputStream(
            RealPagesTest.class.getResourceAsStream("/gatling/" + name + ".html.gz"))) {
      Files.write(run.resolve("index.html"), page.readAllBytes());
    }
    return GatlingReport.read(run);
  }

  private static double sum(GatlingReport report, ToDoubleFunction<Second> count) {
    return report.seconds().stream().mapToDouble(count).sum();
  }

  private static List<String> rules(GatlingVerdict verdict, Level level) {
    return verdict.findings().stream()
        .filter(finding -> finding.verdict() == level)
        .map(Finding::rule)
        .distinct()
        .toList();
  }

  private static Finding finding(GatlingVerdict verdict, String rule) {
    return verdict.findings().stream().filter(f -> f.rule().equals(rule)).findFirst().orElseThrow();
  }

  /** Requests, a second, and times as Gatling printed them when it made the page. */
  @ParameterizedTest
  @CsvSource({
    "kept, 3031, 75.78, 1, 3, 5, 31, 113, 232, 7, 18",
    "lost, 30000, 1250, 1380, 4274, 4979, 5697, 6188, 6244, 4306, 916",
    "behind, 16000, 307.69, 11165, 23736, 27218, 30829, 31085, 32240, 23081, 5653",
    "warmup, 2500, 100, 1, 6, 18, 546, 999, 1224, 72, 196"
  })
  void theRowOfAllRequestsIsWhatGatlingPrinted(
      String page,
      long n,
      double perSecond,
      int min,
      int p50,
      int p75,
      int p95,
      int p99,
      int max,
      int mean,
      int stdDev)
      throws Exception {
    GatlingReport report = read(page);

    assertThat(report.all())
        .isEqualTo(
            new Row(
                "All Requests", n, n, 0, perSecond, min, p50, p75, p95, p99, max, mean, stdDev));
    assertThat(report.version()).isEqualTo("3.15.1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"lost", "behind"})
  void theRowOfTheOnlyRequestIsTheRowOfAllButForItsEstimates(String page) throws Exception {
    GatlingReport report = read(page);
    Row all = report.all();

    assertThat(report.measuredRows())
        .singleElement()
        .satisfies(row -> assertThat(row.p50()).isCloseTo(all.p50(), withinPercentage(1)))
        .satisfies(row -> assertThat(row.p99()).isCloseTo(all.p99(), withinPercentage(1)))
        .usingRecursiveComparison()
        .ignoringFields("name", "p50", "p75", "p95", "p99")
        .isEqualTo(all);
    assertThat(report.measuredRows().get(0).name()).isEqualTo("handshake");
  }

  @ParameterizedTest
  @CsvSource({"kept, 40, 3031", "lost, 24, 30000", "behind, 52, 16000", "warmup, 25, 2500"})
  void theSecondsHaveAllRequestsAndAllResponses(String page, int seconds, double n)
      throws Exception {
    GatlingReport report = read(page);

    assertThat(report.seconds()).hasSize(seconds);
    assertThat(sum(report, Second::requests)).isEqualTo(n);
    assertThat(sum(report, Second::responses)).isEqualTo(n);
    assertThat(sum(report, Second::ko)).isZero();
    assertThat(report.seconds())
        .allMatch(second -> (second.times() != null) == (second.requests() > 0));
  }

  @Test
  void everyUserThatWasStartedIsInASecond() throws Exception {
    assertThat(sum(read("kept"), Second::started)).isEqualTo(100 * (10 + 30));
  }

  @Test
  void aSecondIsReadWithItsUsersRequestsAndTimes() throws Exception {
    assertThat(read("kept").seconds().get(32))
        .isEqualTo(
            new Second(32, 99, 0, 96, 83, 0, new Times(1, 1, 2, 10, 15, 19, 21, 25, 93, 93)));
  }

  @Test
  void theSilentWarmUpIsNotMeasured() throws Exception {
    assertThat(read("kept").measuredSeconds())
        .extracting(Second::at)
        .startsWith(11)
        .endsWith(38)
        .hasSize(28);
  }

  @ParameterizedTest
  @ValueSource(strings = {"kept", "warmup"})
  void aRateThatWasKeptIsNotSaturated(String page) throws Exception {
    GatlingReport report = read(page);
    GatlingVerdict verdict = GatlingVerdict.of(Collections.nCopies(ENOUGH, report));

    assertThat(verdict.verdict()).isEqualTo(Level.SUSPECT);
    assertThat(rules(verdict, Level.SUSPECT)).contains("resolution").doesNotContain("start-rate");
    assertThat(Saturation.secondsBehind(report.measuredSeconds())).isEmpty();
  }

  @Test
  void aRateThatWasKeptIsDoubtedForItsResolutionAndItsNumberOnly() throws Exception {
    GatlingVerdict verdict = GatlingVerdict.of(List.of(read("warmup")));

    assertThat(verdict.verdict()).isEqualTo(Level.SUSPECT);
    assertThat(rules(verdict, Level.SUSPECT))
        .containsExactlyInAnyOrder("resolution", "too-few-reports");
  }

  @Test
  void aRateThatWasNotKeptIsSaturatedAndItsSecondsAreNamed() throws Exception {
    GatlingReport report = read("behind");
    GatlingVerdict verdict = GatlingVerdict.of(Collections.nCopies(ENOUGH, report));

    assertThat(verdict.verdict()).isEqualTo(Level.SATURATED);
    assertThat(rules(verdict, Level.SATURATED)).containsExactly("responses-behind", "start-rate");
    assertThat(finding(verdict, "start-rate").observed())
        .isEqualTo(
            "behind: in 17 of 36 seconds fewer users were started than 325 a second, down to 0:"
                + " seconds 3-7, 13, 16, 18, 21, 23, 28-29, 31-32, 34-36");
    assertThat(report.seconds().subList(0, 38))
        .filteredOn(second -> second.started() == 0)
        .extracting(Second::at)
        .containsExactly(4, 16, 23, 28, 31, 32, 35, 36);
  }

  /** All that was started was answered, and no third was slower: only the users tell. */
  @Test
  void aRateThatWasLostFromTheFirstSecondOnIsSaturatedByItsUsersAlone() throws Exception {
    GatlingReport report = read("lost");
    GatlingVerdict verdict = GatlingVerdict.of(List.of(report));

    assertThat(verdict.verdict()).isEqualTo(Level.SATURATED);
    assertThat(rules(verdict, Level.SATURATED)).containsExactly("start-rate");
    assertThat(verdict.findings().get(0).observed())
        .isEqualTo(
            "in 9 of 20 seconds fewer users were started than 1559 a second, down to 0: seconds 1,"
                + " 3, 5, 7, 9, 11, 14, 18, 20");
    assertThat(report.seconds()).anyMatch(second -> second.started() == 0);
  }

  @Test
  void theStepOfAMillisecondIsHalfOfWhatWasMeasured() throws Exception {
    Finding finding = finding(GatlingVerdict.of(List.of(read("kept"))), "resolution");

    assertThat(finding.verdict()).isEqualTo(Level.SUSPECT);
    assertThat(finding.observed())
        .isEqualTo("times are whole milliseconds, the p50 of \"handshake\" is 2 ms");
  }

  @Test
  void twoEstimatesOfTheSamePercentileAreADoubt() throws Exception {
    GatlingVerdict verdict = GatlingVerdict.of(Collections.nCopies(ENOUGH, read("kept")));

    assertThat(verdict.findings())
        .filteredOn(finding -> finding.rule().equals("estimated-percentile"))
        .extracting(Finding::observed)
        .contains(
            "kept: p99 of the same 3031 requests is 113 ms in the row \"All Requests\" and 146 ms"
                + " in the row \"handshake\"");
    assertThat(rules(GatlingVerdict.of(List.of(read("behind"))), Level.SUSPECT))
        .doesNotContain("estimated-percentile");
  }

  @Test
  void aWarmUpThatIsARowOfItsOwnIsNamedAndLeftOut() throws Exception {
    GatlingReport report = read("warmup");

    assertThat(report.rows()).extracting(Row::name).containsExactly("warm-up", "handshake");
    assertThat(report.measuredRows()).extracting(Row::total).containsExactly(2098L);
    assertThat(finding(GatlingVerdict.of(List.of(report)), "mixed-row").observed())
        .isEqualTo("402 of the 2500 requests of the row \"All Requests\" are a warm-up");
    // What the warm-up does to the sum: 546 ms against 39 ms.
    assertThat(report.measuredRows().get(0).p95()).isLessThan(report.all().p95() / 10);
  }

  @Test
  void threePagesAsOneArmAreTooFewAndTheSaturatedOneIsNamed() throws Exception {
    GatlingVerdict verdict =
        GatlingVerdict.of(Arrays.asList(read("kept"), read("warmup"), read("behind")));

    assertThat(verdict.verdict()).isEqualTo(Level.SATURATED);
    assertThat(verdict.findings().get(0).observed()).startsWith("behind: ");
    assertThat(finding(verdict, "too-few-reports").observed()).isEqualTo("3 reports");
    assertThat(finding(verdict, "too-few-reports").advice())
        .contains("3 against 3 is 0.10", "no difference can be claimed");
  }
}

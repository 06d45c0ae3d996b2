package io.pqcbench.analysis.gatling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.pqcbench.analysis.gatling.GatlingReport.Second;
import io.pqcbench.analysis.gatling.GatlingVerdict.Finding;
import io.pqcbench.analysis.gatling.GatlingVerdict.Level;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GatlingVerdictTest {

  private static final int ENOUGH = 6;

  @TempDir private Path directory;

  private GatlingReport report(Page page) throws Exception {
    return GatlingReport.read(page.write(directory.resolve("trial-1")));
  }

  /** Judges six reports that are the same, so that their number is not a concern. */
  private GatlingVerdict judge(Page page) throws Exception {
    return GatlingVerdict.of(Collections.nCopies(ENOUGH, report(page)));
  }

  private static Optional<Finding> find(GatlingVerdict verdict, String rule) {
    return verdict.findings().stream().filter(f -> f.rule().equals(rule)).findFirst();
  }

  private static Finding finding(GatlingVerdict verdict, String rule) {
    return find(verdict, rule).orElseThrow();
  }

  /** Starts fewer users in some seconds, from the fifth on. */
  private static Page slowSeconds(int count, double users) {
    Page page = Page.constant(1000, 102).row("fresh");
    for (int i = 0; i < count; i++) {
      page.users(5 + 2 * i, users);
    }
    return page;
  }

  @Test
  void anArmThatKeptItsRateIsTrusted() throws Exception {
    GatlingVerdict verdict = judge(Page.constant(300, 60).row("fresh"));

    assertThat(verdict.verdict()).isEqualTo(Level.TRUSTED);
    assertThat(verdict.findings()).allMatch(finding -> finding.verdict() == Level.TRUSTED);
  }

  @Test
  void anArmWithoutReportsHasNoVerdict() {
    assertThatThrownBy(() -> GatlingVerdict.of(List.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void everyArmIsToldThatTimesCountFromTheSend() throws Exception {
    Finding finding = finding(judge(Page.constant(300, 60).row("fresh")), "coordinated-omission");

    assertThat(finding.verdict()).isEqualTo(Level.TRUSTED);
    assertThat(finding.observed()).contains("from the send");
  }

  /** 100 seconds are measured; more than five of them have to be slow. */
  @ParameterizedTest
  @CsvSource({"0, 949, TRUSTED", "5, 949, SUSPECT", "6, 949, SATURATED", "6, 950, TRUSTED"})
  void aClientThatStartsFewerUsersInOneSecondOfTwentyIsSaturated(
      int seconds, double users, Level level) throws Exception {
    assertThat(judge(slowSeconds(seconds, users)).verdict()).isEqualTo(level);
  }

  @Test
  void theSlowSecondsAreNamed() throws Exception {
    Page page = slowSeconds(6, 700).users(6, 0).users(8, 940);
    GatlingVerdict verdict = judge(page);
    Finding finding = finding(verdict, "start-rate");

    assertThat(finding.observed())
        .isEqualTo(
            "trial-1: in 8 of 100 seconds fewer users were started than 1000 a second, down to 0:"
                + " seconds 5-9, 11, 13, 15");
    assertThat(Saturation.secondsBehind(report(page).measuredSeconds()))
        .containsExactly(5, 6, 7, 8, 9, 11, 13, 15);
  }

  @Test
  void ofManyStretchesTheFirstAreNamedAndTheRestIsCounted() throws Exception {
    assertThat(finding(judge(slowSeconds(20, 0)), "start-rate").observed())
        .endsWith("seconds 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27 and 8 more");
  }

  @Test
  void oneStallIsADoubtAndNoSaturation() throws Exception {
    Finding finding = finding(judge(slowSeconds(1, 940)), "start-rate");

    assertThat(finding.verdict()).isEqualTo(Level.SUSPECT);
    assertThat(finding.observed()).endsWith("down to 940: second 5");
    assertThat(find(judge(slowSeconds(1, 960)), "start-rate")).isEmpty();
  }

  @Test
  void oneStallInAShortRunIsNoSaturationEither() throws Exception {
    Page page = Page.constant(1000, 12).users(5, 500).row("fresh");

    assertThat(finding(judge(page), "start-rate").verdict()).isEqualTo(Level.SUSPECT);
  }

  /**
   * What is known of the old report of 1000 a second: users started were 1001, ..., 0, 689, 0,
   * 2560, on average exactly 1000; a mean above 1 s and a p99 of about 6 s; and a warm-up that is a
   * row of its own. The rest is made up.
   */
  private static Page oldReport() {
    double[] users = new double[300];
    Arrays.fill(users, 1001);
    for (int i = 120; i < 300; i += 5) {
      double[] burst = {0, 689, 0, 2560, 1751};
      System.arraycopy(burst, 0, users, i, burst.length);
    }
    users[299] -= 120;
    return new Page(users)
        .millis(120, 1500)
        .row("warmup_hs", 2000, 0, 1, 2, 2, 4, 9, 145, 3, 5)
        .row("handshake", 298_000, 0, 1, 22, 1110, 4810, 6020, 9800, 1047, 1600)
        .all(300_000, 1, 21, 1100, 4800, 6010, 9800, 1040, 1600);
  }

  @Test
  void theOldReportOfAThousandASecondIsSaturatedThoughItsAverageIsKept() throws Exception {
    GatlingReport old = report(oldReport());
    GatlingVerdict verdict = GatlingVerdict.of(Collections.nCopies(ENOUGH, old));

    assertThat(old.seconds().stream().mapToDouble(Second::started).average()).hasValue(1000);
    assertThat(old.measuredRows())
        .singleElement()
        .satisfies(row -> assertThat(row.mean()).isEqualTo(1047))
        .satisfies(row -> assertThat(row.printed(99)).isEqualTo(6020));
    assertThat(verdict.verdict()).isEqualTo(Level.SATURATED);
    assertThat(finding(verdict, "start-rate").observed())
        .isEqualTo(
            "trial-1: in 108 of 298 seconds fewer users were started than 1001 a second, down to"
                + " 0: seconds 120-122, 125-127, 130-132, 135-137, 140-142, 145-147, 150-152,"
                + " 155-157, 160-162, 165-167, 170-172, 175-177 and 72 more");
    assertThat(finding(verdict, "mixed-row").observed())
        .isEqualTo(
            "trial-1: 2000 of the 300000 requests of the row \"All Requests\" are a warm-up");
    assertThat(finding(verdict, "response-growth").verdict()).isEqualTo(Level.SATURATED);
  }

  @Test
  void burstsWithMostSecondsEmptyAreSaturated() throws Exception {
    Page page = Page.constant(300, 60).row("fresh");
    for (int i = 1; i < 59; i++) {
      page.users(i, i % 3 == 0 ? 900 : 0);
    }

    assertThat(finding(judge(page), "start-rate").verdict()).isEqualTo(Level.SATURATED);
  }

  @Test
  void atALowRateAUserInTheNextSecondIsNoStall() throws Exception {
    Page page = Page.constant(10, 120).row("fresh");
    for (int i = 1; i < 119; i += 2) {
      page.users(i, 8).users(i + 1, 12);
    }

    assertThat(find(judge(page), "start-rate")).isEmpty();
  }

  @Test
  void randomArrivalsAreNoStalls() throws Exception {
    Random random = new Random(7);
    Page page = Page.constant(300, 300).row("fresh");
    for (int i = 0; i < 300; i++) {
      page.users(i, Math.rint(300 + Math.sqrt(300) * random.nextGaussian()));
    }

    assertThat(find(judge(page), "start-rate").map(Finding::verdict))
        .isNotEqualTo(Optional.of(Level.SATURATED));
  }

  @Test
  void responsesThatStayBehindAreSaturation() throws Exception {
    // 300 a second come in, 250 can be answered; the rest is answered after the last user.
    double[] responses = new double[73];
    Arrays.fill(responses, 250);
    responses[72] = 300 * 60 - 250 * 72;
    Page page = new Page(IntStream.range(0, 73).mapToDouble(i -> i < 60 ? 300 : 0).toArray());
    GatlingVerdict verdict = judge(page.responses(responses).row("fresh"));

    assertThat(verdict.verdict()).isEqualTo(Level.SATURATED);
    assertThat(finding(verdict, "responses-behind").observed())
        .isEqualTo(
            "trial-1: in seconds 40 to 58 came 83.3 % of the responses that the users started in"
                + " them get");
  }

  @ParameterizedTest
  @CsvSource({"295, false", "293, true"})
  void theLastThirdIsComparedWithTheFirst(double last, boolean behind) throws Exception {
    double[] responses = new double[62];
    for (int i = 0; i < 62; i++) {
      responses[i] = i > 40 ? last : 300;
    }
    Page page = Page.constant(300, 62).responses(responses).row("fresh");

    assertThat(find(judge(page), "responses-behind").isPresent()).isEqualTo(behind);
  }

  /** What is answered in each second of the last third, of 300 users. */
  @ParameterizedTest
  @CsvSource({"300, false", "280, true"})
  void aColdClientsLateAnswersAreNotExpectedOfTheLastThirdAndDoNotHideThatItIsBehind(
      double last, boolean behind) throws Exception {
    double[] responses = new double[32];
    Arrays.fill(responses, 300);
    responses[0] = 0;
    responses[1] = 0;
    responses[5] = 900;
    Arrays.fill(responses, 21, 32, last);
    Page page = Page.constant(300, 32).responses(responses).row("fresh");

    assertThat(find(judge(page), "responses-behind").isPresent()).isEqualTo(behind);
  }

  @Test
  void severalRequestsAUserAreNoneTooFew() throws Exception {
    double[] responses = new double[62];
    Arrays.fill(responses, 900);
    Page page = Page.constant(300, 62).responses(responses).row("fresh");

    assertThat(judge(page).verdict()).isEqualTo(Level.TRUSTED);
  }

  @ParameterizedTest
  @CsvSource({"59, false", "61, true"})
  void aMeanThatGrowsMoreThanThreefoldIsSaturation(double last, boolean grows) throws Exception {
    Page page = Page.constant(300, 62).millis(41, last).row("fresh");
    GatlingVerdict verdict = judge(page);

    assertThat(find(verdict, "response-growth").isPresent()).isEqualTo(grows);
    assertThat(verdict.verdict()).isEqualTo(grows ? Level.SATURATED : Level.TRUSTED);
  }

  @Test
  void aMeanThatGrowsByAFewStepsOfTheClockIsNoSaturation() throws Exception {
    Page page = Page.constant(300, 62).millis(0, 1).millis(41, 9).row("fresh");

    assertThat(find(judge(page), "response-growth")).isEmpty();
  }

  @Test
  void thirdsWithFewUsersAreNotCompared() throws Exception {
    Page page = Page.constant(10, 62).millis(41, 900).row("fresh");
    GatlingVerdict verdict = judge(page);

    assertThat(find(verdict, "response-growth")).isEmpty();
    assertThat(finding(verdict, "too-short").verdict()).isEqualTo(Level.SUSPECT);
    assertThat(finding(verdict, "too-short").observed()).contains("60 seconds", "200 users");
  }

  @Test
  void anOlderPageWithoutSeriesLeavesADoubt() throws Exception {
    String html = Page.constant(300, 62).row("fresh").html();
    Path file = directory.resolve("index.html");
    Files.writeString(file, html.substring(0, html.indexOf("new Highcharts")) + "</script></html>");
    GatlingVerdict verdict =
        GatlingVerdict.of(Collections.nCopies(ENOUGH, GatlingReport.read(file)));

    assertThat(verdict.verdict()).isEqualTo(Level.SUSPECT);
    assertThat(finding(verdict, "no-series").advice()).contains("older Gatling");
  }

  @ParameterizedTest
  @CsvSource({"90, false", "91, true"})
  void moreThanOneFailureInAThousandIsInvalid(long ko, boolean invalid) throws Exception {
    GatlingVerdict verdict = judge(Page.constant(300, 62).row("fresh", 90_000, ko, 20));

    assertThat(verdict.verdict()).isEqualTo(invalid ? Level.INVALID : Level.TRUSTED);
    if (invalid) {
      assertThat(finding(verdict, "ko").observed())
          .isEqualTo("trial-1: 91 of 90000 \"fresh\" failed (0.10 %)");
    }
  }

  @Test
  void failuresOfAWarmUpDoNotCount() throws Exception {
    Page page = Page.constant(300, 62).row("warmup_hs", 3000, 1500, 20).row("fresh");
    GatlingVerdict verdict = judge(page);

    assertThat(verdict.verdict()).isEqualTo(Level.TRUSTED);
    assertThat(finding(verdict, "mixed-row").observed())
        .isEqualTo("trial-1: 3000 of the 90000 requests of the row \"All Requests\" are a warm-up");
  }

  @Test
  void aRunThatIsOnlyAWarmUpHasMeasuredNothing() throws Exception {
    GatlingVerdict verdict = judge(Page.constant(300, 62).row("warmup"));

    assertThat(verdict.verdict()).isEqualTo(Level.INVALID);
    assertThat(verdict.findings().get(0).rule()).isEqualTo("nothing-measured");
  }

  /** The p99 of all requests, of which the row's is 200 ms, and both are of the same 90,000. */
  @ParameterizedTest
  @CsvSource({"180, true", "182, false", "200, false", "220, false", "221, true"})
  void twoEstimatesOfOnePercentileAreNotATenthApart(int p99, boolean doubt) throws Exception {
    Page page =
        Page.constant(300, 62)
            .row("fresh", 90_000, 0, 1, 20, 20, 20, 200, 200, 20, 20)
            .all(90_000, 1, 20, 20, 20, p99, 200, 20, 20);

    assertThat(find(judge(page), "estimated-percentile").isPresent()).isEqualTo(doubt);
  }

  @Test
  void estimatesThatAreAStepApartAreRounding() throws Exception {
    Page page = Page.constant(300, 62).row("fresh", 90_000, 0, 2).all(90_000, 1);

    assertThat(find(judge(page), "estimated-percentile")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"1, SUSPECT", "9, SUSPECT", "10, TRUSTED"})
  void wholeMillisecondsAreCoarseForShortTimes(int millis, Level level) throws Exception {
    GatlingVerdict verdict = judge(Page.constant(300, 62).row("fresh", 90_000, 0, millis));

    assertThat(verdict.verdict()).isEqualTo(level);
    assertThat(finding(verdict, "resolution").observed())
        .isEqualTo("times are whole milliseconds, the p50 of \"fresh\" is " + millis + " ms");
  }

  @Test
  void aPercentileThatIsNotPrintedIsNamed() throws Exception {
    GatlingVerdict verdict = judge(Page.constant(300, 62).row("fresh", 999, 0, 20));

    assertThat(verdict.verdict()).isEqualTo(Level.TRUSTED);
    assertThat(finding(verdict, "percentile").observed())
        .isEqualTo("trial-1: p99 of \"fresh\" is not printed, it has only 999 values");
  }

  /** METHOD.md, B1. */
  @ParameterizedTest
  @CsvSource({"1, 1", "2, 0.3333", "3, 0.1", "4, 0.0286", "5, 0.00794", "6, 0.00216"})
  void theSmallestPOfSoManyReports(int reports, double p) {
    assertThat(GatlingVerdict.smallestP(reports)).isCloseTo(p, within(p * 0.01));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 | of 1 against 1 is 1.0, and of 1 pairs 1.0 | so no difference can be claimed",
        "3 | of 3 against 3 is 0.10, and of 3 pairs 0.25 | so no difference can be claimed",
        "4 | of 4 against 4 is 0.029, and of 4 pairs 0.13 | only if at most 1 are compared",
        "5 | of 5 against 5 is 0.0079, and of 5 pairs 0.063 | only if at most 6 are compared"
      })
  void fewerThanSixReportsAreTooFew(int reports, String smallest, String conclusion)
      throws Exception {
    GatlingReport report = report(Page.constant(300, 62).row("fresh"));
    GatlingVerdict verdict = GatlingVerdict.of(Collections.nCopies(reports, report));

    assertThat(verdict.verdict()).isEqualTo(Level.SUSPECT);
    assertThat(finding(verdict, "too-few-reports").advice()).contains(smallest, conclusion);
  }

  @Test
  void oneBadReportOfAnArmIsEnoughAndIsNamed() throws Exception {
    List<GatlingReport> arm = new ArrayList<>();
    for (int i = 1; i <= ENOUGH; i++) {
      Page page = Page.constant(300, 62).millis(41, i == 4 ? 500 : 20).row("fresh");
      arm.add(GatlingReport.read(page.write(directory.resolve("trial-" + i))));
    }
    GatlingVerdict verdict = GatlingVerdict.of(arm);

    assertThat(verdict.verdict()).isEqualTo(Level.SATURATED);
    assertThat(verdict.findings().get(0).observed()).startsWith("trial-4: the mean");
  }

  @Test
  void theGravestFindingComesFirst() throws Exception {
    Page page = Page.constant(300, 62).millis(41, 500).row("fresh", 90_000, 900, 2);
    GatlingVerdict verdict = GatlingVerdict.of(List.of(report(page)));

    assertThat(verdict.findings())
        .extracting(Finding::verdict)
        .isSortedAccordingTo(Collections.reverseOrder());
    assertThat(verdict.verdict()).isEqualTo(Level.INVALID);
    // One report needs no name.
    assertThat(verdict.findings().get(0).observed()).startsWith("900 of 90000");
  }
}

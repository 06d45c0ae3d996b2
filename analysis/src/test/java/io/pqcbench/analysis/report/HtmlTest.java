package io.pqcbench.analysis.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pqcbench.analysis.Charts;
import io.pqcbench.analysis.Claims;
import io.pqcbench.analysis.Comparison;
import io.pqcbench.analysis.Report;
import io.pqcbench.analysis.Trial;
import io.pqcbench.analysis.statistics.Interval;
import io.pqcbench.analysis.statistics.Shift;
import io.pqcbench.analysis.statistics.Variance;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HtmlTest {

  private static final String HOSTILE = "</script><script>alert(1)</script>\"'&{{data}}";

  private static final Variance VARIANCE = new Variance(300.25, 6.5, 44.75, Double.NaN, 1);

  private static final Variance NO_VARIANCE = Variance.split(List.of());

  private static final Interval SHIFT = new Interval(123.4, 101.5, 150.2, 0.969);

  private final String page = Html.of(report("classic", "hybrid"));

  @Test
  void containsTheNumbersOfTheModel() {
    assertThat(page)
        .contains("1,510.0 <span class=\"limits\">(1,500.0 to 1,520.0)</span>")
        .contains("1 SUSPECT, 1 TRUSTED")
        .contains("+123.4")
        .contains("<span class=\"limits\">+101.5 to +150.2</span> (96.9 %)")
        .contains("0.0313")
        .contains("equivalent")
        .contains("<td>255</td><td>774</td><td>300.3</td><td>6.5</td><td>44.8</td>")
        .contains("<h2>What these numbers can and cannot support</h2>")
        .contains("One pair of machines took part.")
        .contains("<th scope=\"row\">group</th><td>X25519</td>");
  }

  @Test
  void saysInWordsWhatEachChartShows() {
    assertThat(page)
        .contains("classic: p50 1,510.0 (1,500.0 to 1,520.0)")
        .contains("-12.5 percentage points at 1,600 µs (median of 2 blocks, -15.0 to -10.0)")
        .contains(
            "p50 of 4 trials from 1,500.0 µs (classic, block 1) to 1,720.0 µs (hybrid, block 2)")
        .contains("The slowest response took 9,000.0 µs and was due in the bin at 1 s.")
        .contains("3 gc-pause of 1.5 ms in all")
        .contains("(2 gc-pause, 1 usual)")
        .contains("hybrid against classic, µs: hello +123.4 (+101.5 to +150.2);")
        .contains("The knee is between 100 and 300/s, where it gave way.");
  }

  @Test
  void givesNoNumberWhereSamplesAreTooFew() {
    assertThat(page)
        .contains("not enough samples (n=2,000, needs 10,000)")
        .contains("p99 not enough samples (n=900, needs 1,000)")
        .contains("p99 of a bin: not enough samples (n=300, needs 1,000)")
        .doesNotContain("NaN");
  }

  @Test
  void embedsWhatItDrawsAsJsonInWhichNanIsNull() throws Exception {
    JsonNode report = embedded(page);

    assertThat(report.at("/charts/percentiles/0/curves/0/middle/2").isNull()).isTrue();
    assertThat(report.at("/charts/ladder/knees/0/at").asDouble()).isEqualTo(300);
    assertThat(report.at("/comparisons/0/adjustedP").isNull()).isTrue();
    assertThat(report.at("/trials/0/figures/phases/response/p50/interval/estimate").asDouble())
        .isEqualTo(1500);
  }

  @Test
  void isNotBrokenByHostileNames() throws Exception {
    String hostile = Html.of(report("classic", HOSTILE));

    assertThat(hostile).doesNotContain("<script>alert").contains("&lt;script&gt;alert(1)");
    assertThat(hostile.split("<script", -1)).hasSameSizeAs(page.split("<script", -1));
    assertThat(embedded(hostile).at("/arms/1/name").asText()).isEqualTo(HOSTILE);
  }

  @Test
  void isOneFileThatRefersToNoOther() {
    String own =
        page.replaceFirst("/\\*! https://github.com/leeoniya/uPlot \\(v[0-9.]+\\) \\*/", "");

    assertThat(own)
        .doesNotContain("http://", "https://", "src=", "<link", "@import", "url(")
        .doesNotContainPattern("href=\"[^#]")
        .contains("var uPlot=")
        .contains("prefers-color-scheme: dark")
        .contains("@media print");
  }

  @Test
  void givesEveryChartItsWordsItsTableAndTheKeyboard() {
    assertThat(page.split("<figure>", -1)).hasSize(7);
    assertThat(page.split("<figcaption", -1)).hasSize(7);
    assertThat(page.split("<details class=\"data\">", -1)).hasSize(7);
    assertThat(page.split("<div class=\"chart\" tabindex=\"0\"", -1)).hasSize(8);
  }

  @Test
  void leavesOutWhatASingleRunDoesNotHave() {
    Report run =
        new Report(
            Report.SCHEMA,
            "run",
            null,
            "/x",
            false,
            List.of(new Report.Arm("run", false, 1, 1, Map.of(), NO_VARIANCE)),
            List.of(trial("run", "run", 1, 1500)),
            List.of(),
            List.of(),
            new Charts(
                List.of(curves(null, curve("run", null, 1, 1500))),
                List.of(),
                List.of(timeline("run")),
                null),
            List.of());

    assertThat(Html.of(run))
        .contains("Not complete")
        .contains("1,500.0 <span class=\"limits\">[1,490.0 to 1,510.0]</span>")
        .contains("id=\"timeline\"")
        .doesNotContain("id=\"comparisons\"", "id=\"differences\"", "id=\"ladder\"")
        .doesNotContain("id=\"phases\"", "id=\"conditions\"", "<select>\n<option value=\"run\"");
  }

  private static JsonNode embedded(String page) throws Exception {
    String start = "<script type=\"application/json\" id=\"report\">";
    int from = page.indexOf(start) + start.length();
    return new ObjectMapper().readTree(page.substring(from, page.indexOf("</script>", from)));
  }

  private static Report report(String baseline, String other) {
    Comparison comparison =
        new Comparison(
            other,
            baseline,
            "handshake.p50",
            true,
            false,
            List.of(123.0, 124.0),
            1510,
            new Shift.Result(SHIFT, 0.03125, 0.03125),
            null,
            Double.NaN,
            250,
            0.04,
            33,
            Comparison.Conclusion.EQUIVALENT);
    return new Report(
        Report.SCHEMA,
        "hand-made " + other,
        "What does it cost?",
        "/x",
        true,
        List.of(
            new Report.Arm(
                baseline, false, 2, 3, Map.of("group", "X25519", "lanes", "1"), VARIANCE),
            new Report.Arm(
                other, false, 2, 2, Map.of("group", "X25519MLKEM768", "lanes", "1"), VARIANCE)),
        List.of(
            trial("b01-1", baseline, 1, 1500),
            trial("b01-2", other, 1, 1700),
            trial("b02-1", baseline, 2, 1520),
            trial("b02-2", other, 2, 1720)),
        List.of(comparison),
        List.of(new Report.Split(other, baseline, Map.of("hello", comparison), 50, 1184, 1088)),
        new Charts(
            List.of(curves(null, curve(baseline, null, 2, 1510), curve(other, null, 2, 1710))),
            List.of(curves(1600.0, difference(other, baseline))),
            List.of(timeline("b01-1"), timeline("b01-2")),
            ladder(baseline)),
        List.of(
            new Claims.Claim("machines", false, "One pair of machines took part."),
            new Claims.Claim("exclusions", true, "No trial was left out.")));
  }

  private static Report.TrialOf trial(String name, String arm, int block, double p50) {
    Trial.Figure known = new Trial.Figure(new Interval(p50, p50 - 10, p50 + 10, 0.95), null);
    Interval nothing = new Interval(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    Trial.Figure unknown = new Trial.Figure(nothing, 10_000L);
    Map<String, Trial.Figure> figures = Map.of("p50", known, "p99", known, "p99.9", unknown);
    return new Report.TrialOf(
        name,
        arm,
        block,
        1,
        "client",
        Double.NaN,
        255,
        774,
        new Trial(
            block == 1 ? "TRUSTED" : "SUSPECT",
            2000,
            Map.of("response", figures, "handshake", figures),
            Map.of("handshake", new Trial.Moments(2000, 1600, 300)),
            0.1,
            7,
            false));
  }

  private static Charts.Curves curves(Double micros, Charts.Curve... curves) {
    return new Charts.Curves(
        "response",
        micros == null ? List.of(2.0, 100.0, 1000.0) : List.of(100.0, micros, 10_000.0),
        List.of(curves));
  }

  private static Charts.Curve curve(String arm, String against, int trials, double p50) {
    return new Charts.Curve(
        arm,
        against,
        trials,
        2000,
        Arrays.asList(p50, 2 * p50, null),
        Arrays.asList(p50 - 10, 2 * p50 - 10, null),
        Arrays.asList(p50 + 10, 2 * p50 + 10, null));
  }

  private static Charts.Curve difference(String arm, String against) {
    return new Charts.Curve(
        arm,
        against,
        2,
        2000,
        List.of(0.0, -12.5, 0.0),
        List.of(0.0, -15.0, 0.0),
        List.of(0.0, -10.0, 0.0));
  }

  private static Charts.Timeline timeline(String trial) {
    return new Charts.Timeline(
        trial,
        1,
        0,
        2,
        List.of(0.0, 1.0),
        List.of(300, 290),
        Map.of(
            "p50", List.of(1500.0, 1600.0),
            "p90", List.of(2000.0, 2100.0),
            "p99", Arrays.asList(null, null),
            "max", List.of(5000.0, 9000.0)),
        Map.of("gc-pause", List.of(new Charts.Disturbance(0.5, 0.6, 3, 1500, 900, "Pause"))),
        List.of(new Charts.Slow(7, 1.5, "gc-pause", "Pause of 0.9 ms", Map.of("response", 9000.0))),
        Map.of("gc-pause", 2, "usual", 1));
  }

  private static Charts.Ladder ladder(String series) {
    return new Charts.Ladder(
        List.of(
            rung(series, 100, 100, Map.of("response.p50", 1500.0)),
            rung(series, 300, 250, Map.of())),
        List.of(new Charts.Knee(series, 100, 300, "it gave way")));
  }

  private static Charts.Rung rung(
      String series, double offered, double achieved, Map<String, Double> micros) {
    return new Charts.Rung(
        series,
        series + "@rate=" + offered,
        offered,
        achieved,
        achieved,
        2,
        900,
        false,
        Map.of("TRUSTED", 2),
        micros);
  }
}

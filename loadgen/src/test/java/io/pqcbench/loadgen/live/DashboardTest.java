package io.pqcbench.loadgen.live;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A panel of a metric that is not served any more is empty, and says nothing. */
class DashboardTest {

  private static final Path DASHBOARD =
      Path.of(System.getProperty("basedir", "."), "..", "deploy", "grafana", "loadgen.json");

  /** What may stand in an expression and hold or be names that are none of metrics. */
  private static final Pattern NO_METRICS =
      Pattern.compile(
          "\"[^\"]*\"|\\{[^}]*}|\\[[^]]*]"
              + "|\\b(by|without|on|ignoring|group_left|group_right)\\s*\\([^)]*\\)");

  /** A name that is no function. */
  private static final Pattern NAME = Pattern.compile("(?<![\\w:.])[a-zA-Z_:][\\w:]*+(?!\\s*\\()");

  private static final Set<String> OPERATORS = Set.of("and", "or", "unless", "bool", "offset");

  private JsonNode dashboard;
  private Scrape scrape;

  @BeforeEach
  void read() throws Exception {
    dashboard = new ObjectMapper().readTree(DASHBOARD.toFile());
    InetSocketAddress anyPort = InetSocketAddress.createUnresolved("127.0.0.1", 0);
    try (Metrics metrics = Metrics.serve(anyPort, Ticks.RUN)) {
      metrics.tick(Ticks.eventful());
      scrape = Scrape.from(metrics.url());
    }
  }

  private static Set<String> metricsIn(String expression) {
    Set<String> names = new TreeSet<>();
    // Twice: what is in quotes may hold brackets.
    String quoted = expression.replaceAll("\"[^\"]*\"", "\"\"");
    Matcher matcher = NAME.matcher(NO_METRICS.matcher(quoted).replaceAll(" "));
    while (matcher.find()) {
      if (!OPERATORS.contains(matcher.group())) {
        names.add(matcher.group());
      }
    }
    return names;
  }

  private Set<String> metricsOnTheDashboard() {
    Set<String> names = new TreeSet<>();
    dashboard.findValuesAsText("expr").forEach(expr -> names.addAll(metricsIn(expr)));
    return names;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "up | [up]",
        "rate(a_total{x=~\"b{2}\", y=\"c\"}[$__rate_interval]) > 0 | [a_total]",
        "sum by (le, phase) (rate(a_bucket[5m])) / on (c) group_left (d) e | [a_bucket, e]",
        "histogram_quantile(0.5, a) + 2e3 * b offset 5m and c | [a, b, c]"
      })
  void findsTheMetricsOfAnExpression(String expression, String metrics) {
    assertThat(metricsIn(expression)).hasToString(metrics);
  }

  @Test
  void everyMetricOnTheDashboardIsServed() {
    assertThat(metricsOnTheDashboard()).isNotEmpty().isSubsetOf(scrape.names());
  }

  @Test
  void everyMetricOfTheRunIsOnTheDashboard() {
    Set<String> shown = metricsOnTheDashboard();
    assertThat(scrape.types().keySet())
        .filteredOn(name -> name.startsWith("loadgen_"))
        .hasSizeGreaterThan(15)
        .allSatisfy(
            name -> assertThat(shown).anyMatch(s -> s.matches(name + "(_bucket|_sum|_count)?")));
  }

  @Test
  void everyPanelReadsTheDataSourceThatIsChosenAndTheLoadGeneratorsThatAre() {
    assertThat(dashboard.at("/templating/list/0/name").asText()).isEqualTo("datasource");
    assertThat(dashboard.at("/templating/list/0/query").asText()).isEqualTo("prometheus");
    for (JsonNode panel : dashboard.get("panels")) {
      String title = panel.get("title").asText();
      assertThat(panel.findValuesAsText("uid")).as(title).containsOnly("${datasource}");
      assertThat(panel.findValuesAsText("expr"))
          .as(title)
          .isNotEmpty()
          .allMatch(expr -> expr.contains("instance=~\"$instance\""));
    }
  }

  @Test
  void noTwoPanelsLieOverEachOtherOrShareAnId() {
    Set<String> cells = new TreeSet<>();
    Set<Integer> ids = new TreeSet<>();
    for (JsonNode panel : dashboard.get("panels")) {
      JsonNode place = panel.get("gridPos");
      assertThat(ids.add(panel.get("id").asInt())).isTrue();
      for (int x = 0; x < place.get("w").asInt(); x++) {
        for (int y = 0; y < place.get("h").asInt(); y++) {
          String cell = (place.get("x").asInt() + x) + "," + (place.get("y").asInt() + y);
          assertThat(cells.add(cell)).as(panel.get("title").asText()).isTrue();
        }
      }
    }
  }
}

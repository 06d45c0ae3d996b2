package io.pqcbench.analysis.gatling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Pages that Gatling 3.15.1 wrote; how, is in the README beside them, with what it printed at the
 * end of each run, from which the expected values are.
 */
class RealPagesTest {

  @TempDir private Path directory;

  private GatlingReport page(String name) throws Exception {
    Path folder = Files.createDirectory(directory.resolve(name));
    try (InputStream in = RealPagesTest.class.getResourceAsStream(name + ".html.gz")) {
      Files.write(folder.resolve("index.html"), new GZIPInputStream(in).readAllBytes());
    }
    return GatlingReport.read(folder);
  }

  private static List<String> rules(GatlingVerdict verdict, GatlingVerdict.Level level) {
    return verdict.findings().stream()
        .filter(finding -> finding.verdict() == level)
        .map(GatlingVerdict.Finding::rule)
        .toList();
  }

  private static void hasRow(
      GatlingReport page, long requests, double min, double p50, double p99, double max) {
    assertThat(page.version()).isEqualTo("3.15.1");
    GatlingReport.Row row = page.measuredRows().get(0);
    assertThat(row.name()).isEqualTo("handshake");
    assertThat(row.total()).isEqualTo(requests);
    assertThat(row.ko()).isZero();
    assertThat(row.min()).isEqualTo(min);
    assertThat(row.p50()).isCloseTo(p50, within(2.0));
    assertThat(row.p99()).isCloseTo(p99, within(2.0));
    assertThat(row.max()).isEqualTo(max);
  }

  @Test
  void aRateThatWasKeptIsDoubtedForItsResolutionAndItsNumberOnly() throws Exception {
    GatlingReport page = page("kept");
    GatlingVerdict verdict = GatlingVerdict.of(List.of(page));

    hasRow(page, 3_000, 1, 2, 49, 251);
    assertThat(page.seconds().stream().mapToDouble(GatlingReport.Second::started).sum())
        .isCloseTo(3_000, within(30.0));
    assertThat(verdict.verdict()).isEqualTo(GatlingVerdict.Level.SUSPECT);
    assertThat(rules(verdict, GatlingVerdict.Level.SUSPECT))
        .containsExactlyInAnyOrder("resolution", "too-few-reports");
  }

  @Test
  void aRateThatWasNotKeptIsSaturatedInSecondsThatAreNamed() throws Exception {
    GatlingReport page = page("lost");
    GatlingVerdict verdict = GatlingVerdict.of(List.of(page));

    hasRow(page, 30_000, 1_380, 4_274, 6_188, 6_244);
    assertThat(page.seconds()).anyMatch(second -> second.started() == 0);
    assertThat(verdict.verdict()).isEqualTo(GatlingVerdict.Level.SATURATED);
    assertThat(verdict.findings().get(0).rule()).isEqualTo("start-rate");
    assertThat(verdict.findings().get(0).toString()).contains("seconds 1, 3, 5, 7, 9");
  }
}

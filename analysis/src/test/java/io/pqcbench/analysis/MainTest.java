package io.pqcbench.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pqcbench.analysis.bundle.Bundles;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MainTest {

  @TempDir private Path directory;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(Object... arguments) {
    String[] words = new String[arguments.length];
    for (int i = 0; i < words.length; i++) {
      words[i] = arguments[i].toString();
    }
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), words);
  }

  private static double[] ramp(int n) {
    return IntStream.rangeClosed(1, n).mapToDouble(i -> i).toArray();
  }

  private Path experiment() throws Exception {
    Path experiment =
        new Bundles.Trials(6, "handshake.p50")
            .arm("a", 500, 501, 502, 503, 504, 505)
            .arm("b", 600, 601, 602, 603, 604, 605)
            .write(directory.resolve("e"));
    for (int block = 1; block <= 6; block++) {
      for (String arm : new String[] {"a", "b"}) {
        Bundles.run(
            experiment.resolve("trials/b0" + block + "-" + arm), "TRUSTED", ramp(1_000 + block));
      }
    }
    return experiment;
  }

  @Test
  void aRunIsReportedWithWhatItCannotSay() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", ramp(1_000));

    assertThat(run(bundle)).isZero();
    assertThat(out.toString())
        .containsPattern("\\| run \\| 1 \\| 1 TRUSTED \\| 500\\.\\d \\| 990\\.\\d \\|")
        .contains("One run says nothing of how another would come out");
  }

  @Test
  void aPercentileWithTooFewSamplesIsNotPrinted() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", ramp(999));

    assertThat(run(bundle, "--format", "json")).isZero();
    JsonNode response =
        new ObjectMapper().readTree(out.toString()).at("/trials/0/figures/phases/response");
    assertThat(response.at("/p95/need").isNull()).isTrue();
    assertThat(response.at("/p99/need").asInt()).isEqualTo(1_000);
    assertThat(response.at("/p99/interval/estimate").isNull()).isTrue();
  }

  @Test
  void shardsOfOneRunAreMergedByTheirHistograms() throws Exception {
    Path one = Bundles.run(directory.resolve("one"), "TRUSTED", ramp(500));
    Path two =
        Bundles.run(
            directory.resolve("two"),
            "SUSPECT",
            IntStream.rangeClosed(501, 1_000).mapToDouble(i -> i).toArray());

    assertThat(run(one, two)).isZero();
    // Neither has samples enough for a p99; together they do.
    assertThat(out.toString()).containsPattern("\\| 1 SUSPECT \\| 500\\.\\d \\| 990\\.\\d \\|");
  }

  @Test
  void anExperimentIsComparedByBlocks() throws Exception {
    assertThat(run(experiment())).isZero();

    assertThat(out.toString())
        .contains("| b, handshake.p50 | 6 | +100.0 |")
        .contains("| different |")
        .contains("What these numbers can and cannot support");
  }

  @Test
  void theTableForOtherProgramsHasALineATrialPhaseAndFigure() throws Exception {
    Path file = directory.resolve("figures.csv");

    assertThat(run(experiment(), "-f", "csv", "-o", file)).isZero();
    assertThat(out.toString()).isEmpty();
    assertThat(Files.readAllLines(file))
        .hasSize(1 + 12 * Trial.PHASES.size() * Trial.PERCENTILES.size())
        .anyMatch(line -> line.startsWith("b01-a,a,1,TRUSTED,1001,response,p50,501."));
  }

  @Test
  void thePageIsOneFileThatNeedsNoNetwork() throws Exception {
    Path file = directory.resolve("report.html");

    assertThat(run(experiment(), "--format", "html", "--out", file)).isZero();
    assertThat(Files.readString(file))
        .contains("What these numbers can and cannot support", "uPlot")
        .doesNotContain("src=\"http", "href=\"http");
  }

  @Test
  void twoNightsAreComparedAndTheExitCodeTells() throws Exception {
    Path before = experiment();
    Path after =
        new Bundles.Trials(6, "handshake.p50")
            .arm("a", 500, 501, 502, 503, 504, 505)
            .arm("b", 900, 901, 902, 903, 904, 905)
            .write(directory.resolve("after"));

    assertThat(run("compare", before, after, "--fail-if", "handshake.p50 > +10%")).isEqualTo(1);
    assertThat(out.toString()).contains("FAILED handshake.p50 > +10% (b)");
    assertThat(run("compare", before, before, "--fail-if", "handshake.p50 > +10%")).isZero();
  }

  @Test
  void whatCannotBeReadIsSaidInOneLineAndEndsWithFour() throws Exception {
    Path empty = Files.createDirectory(directory.resolve("empty"));
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", ramp(10));
    Files.writeString(bundle.resolve("latency.hlog"), "Tag=response,0.0,1.0,1.0,notahistogram\n");

    assertThat(run(directory.resolve("nowhere"))).isEqualTo(4);
    assertThat(run(empty)).isEqualTo(4);
    assertThat(run(bundle)).isEqualTo(4);
    assertThat(err.toString().lines())
        .hasSize(3)
        .allMatch(line -> line.startsWith("loadgen-report: "))
        .noneMatch(line -> line.contains("defect"));
  }

  @Test
  void aBundleWithoutASuccessIsReportedWithoutNumbers() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "INVALID");

    assertThat(run(bundle)).isZero();
    assertThat(out.toString()).contains("| run | 1 | 1 INVALID | not enough samples |");
  }

  @Test
  void wrongUsageEndsWithTwo() throws Exception {
    assertThat(run()).isEqualTo(2);
    assertThat(err.toString()).contains("a directory is needed");
    assertThat(run("--format", "pdf", directory)).isEqualTo(2);
    assertThat(run("compare", directory, directory, "--fail-if", "faster")).isEqualTo(2);
    assertThat(err.toString()).contains("handshake.p99 > +10%");
  }

  @Test
  void thereIsHelpAVersionAndACompletion() {
    assertThat(run("--help")).isZero();
    assertThat(run("--version")).isZero();
    assertThat(run("generate-completion")).isZero();
    assertThat(out.toString()).contains("--format").contains("compare");
  }
}

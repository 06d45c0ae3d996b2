package io.pqcbench.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pqcbench.analysis.bundle.Bundles;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
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
    return experiment("e", "client-1");
  }

  private Path experiment(String name, String host) throws Exception {
    Path experiment =
        new Bundles.Trials(6, "handshake.p50")
            .arm("a", 500, 501, 502, 503, 504, 505)
            .arm("b", 600, 601, 602, 603, 604, 605)
            .host(host)
            .write(directory.resolve(name));
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
    Path one = new Bundles.Shard(0, 2).write(directory.resolve("one"), ramp(500));
    Path two =
        new Bundles.Shard(1, 2)
            .verdict("SUSPECT")
            .write(
                directory.resolve("two"),
                IntStream.rangeClosed(501, 1_000).mapToDouble(i -> i).toArray());

    assertThat(run(one, two)).isZero();
    // Neither has samples enough for a p99; together they do.
    assertThat(out.toString())
        .containsPattern("\\| 1 SUSPECT \\| 500\\.\\d \\| 990\\.\\d \\|")
        .contains("shard 1 of 2 (" + two + ") is SUSPECT (lag)");
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
  void anExperimentOnSeveralPairsOfMachinesIsOneWithTheBlocksOfAll() throws Exception {
    assertThat(run(experiment("e1", "client-1"), experiment("e2", "client-2"))).isZero();

    assertThat(out.toString())
        .contains("| b, handshake.p50 | 12 | +100.0 |")
        .contains("between 2 machines")
        .contains("Clients that took part: 2.");
  }

  @Test
  void experimentsWithDifferentPlansAreNotTakenForOne() throws Exception {
    Path other =
        new Bundles.Trials(6, "response.p99")
            .arm("a", 1, 2)
            .arm("b", 2, 3)
            .write(directory.resolve("o"));

    assertThat(run(experiment(), other)).isEqualTo(4);
    assertThat(err.toString())
        .contains("another 'comparison' than the first")
        .contains("compare A B");
  }

  @Test
  void fromSixBlocksOnTheSamplesAreDrawnAgainToo() throws Exception {
    assertThat(run(experiment(), "--format", "json")).isZero();

    JsonNode comparison = new ObjectMapper().readTree(out.toString()).at("/comparisons/0");
    // The bundles' handshakes are those of the responses halved: both arms have the same.
    assertThat(comparison.at("/bootstrap/low").asDouble()).isNegative();
    assertThat(comparison.at("/bootstrap/high").asDouble()).isPositive();
    assertThat(comparison.at("/conclusion").asText()).isEqualTo("DIFFERENT");
    assertThat(out.toString()).contains("does not agree with the exact test");
  }

  @Test
  void aCalibrationIsALadderWithTheRateAtWhichTheGeneratorGaveOut() throws Exception {
    Path calibration = directory.resolve("calibration");
    Bundles.run(calibration.resolve("100"), "TRUSTED", ramp(1_000));
    Bundles.run(calibration.resolve("200"), "SUSPECT", ramp(2_000));
    Files.writeString(
        calibration.resolve("calibration.json"),
        """
        {"schema": "loadgen-calibration/1", "target": "server:443", "sharesMachine": true,
         "highestTrustedPerSecond": 100, "recommendedPerSecond": 80, "gaveOut": ["run-delay"],
         "steps": [
           {"directory": "100", "ratePerSecond": 100, "trusted": true, "rules": []},
           {"directory": "200", "ratePerSecond": 200, "trusted": false, "rules": ["run-delay"]}]}
        """);

    assertThat(run(calibration)).isZero();
    assertThat(out.toString())
        .contains("# Calibration against server:443", "| 100/s | 1 | 1 TRUSTED |")
        .contains("trusted is 100/s; use no more than 80/s", "What gave out first: run-delay")
        .contains("Client and target shared a machine");
    Path page = directory.resolve("calibration.html");
    assertThat(run(calibration, "-f", "html", "-o", page)).isZero();
    assertThat(Files.readString(page))
        .contains("The knee is between 100 and 200/s, where the trial was not trusted: run-delay");
  }

  @Test
  void theTableForOtherProgramsHasALineATrialPhaseAndFigure() throws Exception {
    Path file = directory.resolve("figures.csv");

    assertThat(run(experiment(), "-f", "csv", "-o", file)).isZero();
    assertThat(out.toString()).isEmpty();
    assertThat(Files.readAllLines(file))
        .hasSize(1 + 12 * Trial.PHASES.size() * Trial.PERCENTILES.size())
        .anyMatch(line -> line.startsWith("b01-a,a,1,1,client-1,TRUSTED,1001,response,p50,501."));
  }

  @Test
  void theDistributionOfAnArmIsWrittenForThePlotterOfHdrHistogram() throws Exception {
    Path files = directory.resolve("hgrm");

    assertThat(run(experiment(), "-f", "hgrm", "--phase", "handshake", "-o", files)).isZero();
    assertThat(files).isDirectoryContaining("glob:**/a-handshake.hgrm");
    // Six trials of 1,001 to 1,006 samples; the handshakes are half a ramp.
    assertThat(Files.readString(files.resolve("b-handshake.hgrm")))
        .startsWith("       Value     Percentile TotalCount 1/(1-Percentile)")
        .contains("Total count    =         6021");
    assertThat(run("-f", "hgrm", "--arm", "a", directory.resolve("e"))).isZero();
    assertThat(out.toString()).contains("Total count    =         6021");
    assertThat(run("-f", "hgrm", directory.resolve("e"))).isEqualTo(2);
    assertThat(err.toString()).contains("standard output takes one arm").contains("known=a,b");
    assertThat(run("-f", "hgrm", "--phase", "dns", directory.resolve("e"))).isEqualTo(2);
    assertThat(err.toString()).contains("--phase=dns known=response,lag");
    assertThat(run("-f", "hgrm", "--arm", "c", directory.resolve("e"))).isEqualTo(2);
    assertThat(err.toString()).contains("--arm=c known=a,b");
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
  void anExperimentWithADamagedTrialIsRefusedByTheNameOfTheFile() throws Exception {
    Path experiment = experiment();
    Path trial = experiment.resolve("trials/b01-a");
    byte[] samples = Files.readAllBytes(trial.resolve("samples.csv.gz"));
    byte[] log = Files.readAllBytes(trial.resolve("latency.hlog"));

    Files.write(trial.resolve("samples.csv.gz"), Arrays.copyOf(samples, samples.length / 2));
    refused(experiment, "and torn latency.hlog=1001 successes");
    Files.write(trial.resolve("samples.csv.gz"), samples);
    Files.write(trial.resolve("latency.hlog"), new byte[0]);
    refused(experiment, "samples.csv.gz=1001 latency.hlog=0 successes");
    Files.write(trial.resolve("latency.hlog"), Arrays.copyOf(log, log.length - 300));
    refused(experiment, "a line of it is no interval of a histogram log");
    Files.write(trial.resolve("latency.hlog"), log);
    Files.writeString(trial.resolve("summary.json"), "{\"schema\": \"loadgen-summary/9\"}");
    refused(experiment, "schema=loadgen-summary/9 known=loadgen-summary/3");
    Files.delete(trial.resolve("run.json"));
    refused(experiment, "it holds no run.json");
    Files.writeString(
        experiment.resolve("experiment.json"), "{\"schema\": \"loadgen-experiment/1\"}");
    refused(experiment, "its plan has no arms");
    Files.writeString(experiment.resolve("experiment.json"), "{\"schema\": ");
    refused(experiment, "it is not JSON");
  }

  private void refused(Path experiment, String why) {
    err.getBuffer().setLength(0);
    assertThat(run(experiment)).isEqualTo(4);
    assertThat(err.toString().lines()).singleElement().asString().contains(why);
  }

  @Test
  void aRunThatWasKilledInTheMiddleOfALineIsReportedUpToIt() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", ramp(2_000));
    Files.delete(bundle.resolve("summary.json"));
    Path log = bundle.resolve("latency.hlog");
    String whole = Files.readString(log);
    Files.writeString(log, whole.substring(0, whole.length() - 20));

    assertThat(run(bundle)).isZero();
    assertThat(out.toString())
        .contains("Not complete: it was interrupted.")
        .containsPattern("\\| run \\| 1 \\| 1 KILLED \\| 1000\\.\\d ");
  }

  @Test
  void anOldReportThatCannotBeReadIsSaidInOneLineAndEndsWithFour() throws Exception {
    String whole;
    try (InputStream page = MainTest.class.getResourceAsStream("/gatling/small.html")) {
      whole = new String(page.readAllBytes(), StandardCharsets.UTF_8);
    }
    List<String> pages =
        List.of(
            "",
            "<html><title>nginx</title></html>",
            whole.substring(0, whole.length() / 2),
            whole.replace("col-13", "col-23"),
            whole.replace("], [1790000008000", "], 1790000008000"));
    Path file = directory.resolve("index.html");

    assertThat(run("gatling", directory)).isEqualTo(4);
    for (String page : pages) {
      Files.writeString(file, page);
      assertThat(run("gatling", file)).isEqualTo(4);
    }
    // One that is whole does not make up for one that is not.
    Path good = Files.writeString(directory.resolve("good.html"), whole);
    assertThat(run("gatling", good, file)).isEqualTo(4);
    assertThat(err.toString().lines())
        .hasSize(pages.size() + 2)
        .allMatch(line -> line.startsWith("loadgen-report: "))
        .allMatch(line -> line.contains(file.toString()))
        .noneMatch(line -> line.contains("defect"));
    assertThat(out.toString()).isEmpty();
    assertThat(run("gatling", good)).isZero();
    assertThat(out.toString()).contains("verdict: **");
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

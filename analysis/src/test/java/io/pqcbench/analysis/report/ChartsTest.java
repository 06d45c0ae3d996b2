package io.pqcbench.analysis.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pqcbench.analysis.Charts;
import io.pqcbench.analysis.bundle.Experiment;
import io.pqcbench.analysis.bundle.Run;
import io.pqcbench.analysis.bundle.UnreadableException;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.zip.GZIPOutputStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChartsTest {

  private static final String DISTURBANCES = "source,start_us,end_us,amount_us,detail\n";
  private static final String SLOW =
      "why,index,planned_us,response_us,lag_us,connect_us,hello_us,flight_us,finish_us,ttlb_us,"
          + "cause,evidence\n";

  @TempDir private Path directory;

  @Test
  void countsEverySampleOfALongRunInSomeHundredBins() throws Exception {
    bundle(directory, 2000, 5, 1000);

    Charts.Timeline timeline = charts(directory).timelines().get(0);

    assertThat(timeline.binSeconds()).isEqualTo(10);
    assertThat(timeline.seconds()).hasSize(200);
    assertThat(timeline.counts().stream().mapToInt(Integer::intValue).sum()).isEqualTo(10_000);
  }

  @Test
  void takesTheQuantilesOfABinFromItsSortedResponses() throws Exception {
    bundle(directory, 2, 100, 1000);

    Charts.Timeline timeline = charts(directory).timelines().get(0);

    // Responses rise by a microsecond each, from 1001.
    assertThat(timeline.quantiles().get("p50").get(0)).isEqualTo(1050);
    assertThat(timeline.quantiles().get("p90").get(0)).isEqualTo(1090);
    assertThat(timeline.quantiles().get("p99").get(0)).isNull();
    assertThat(timeline.quantiles().get("max").get(1)).isEqualTo(1200);
  }

  @Test
  void mergesDisturbancesThatCannotBeToldApartAndLosesNoneOfTheirTime() throws Exception {
    bundle(directory, 10, 10, 1000);
    StringBuilder lines = new StringBuilder(DISTURBANCES);
    for (int i = 0; i < 1000; i++) {
      lines.append("hiccup,").append(i * 10_000).append(',').append(i * 10_000 + 5000);
      lines.append(",5000.0,\"nr ").append(i).append("\"\n");
    }
    lines.append("gc-pause,-500,-100,400.0,\"before the load\"\n");
    Files.writeString(directory.resolve("disturbances.csv"), lines);

    Charts.Timeline timeline = charts(directory).timelines().get(0);

    List<Charts.Disturbance> merged = timeline.disturbances().get("hiccup");
    assertThat(merged).hasSizeLessThanOrEqualTo(300);
    assertThat(merged.stream().mapToInt(Charts.Disturbance::count).sum()).isEqualTo(1000);
    assertThat(merged.stream().mapToDouble(Charts.Disturbance::micros).sum()).isEqualTo(5e6);
    assertThat(timeline.disturbances()).containsOnlyKeys("hiccup");
  }

  @Test
  void readsQuotedEvidenceAndLeavesOutATornLine() throws Exception {
    bundle(directory, 2, 10, 1000);
    Files.writeString(
        directory.resolve("slow.csv"),
        SLOW
            + "slowest,7,1500000.5,900.5,1,2,3,4,5,,hiccup,\"a \"\"stop\"\", 0.9 ms\"\n"
            + "threshold,8,1600000.0,950.0,1,2,3,4,5,6,,\"\"\n"
            + "slowest,9,16000");

    Charts.Timeline timeline = charts(directory).timelines().get(0);

    assertThat(timeline.slow()).extracting(Charts.Slow::index).containsExactly(8L, 7L);
    assertThat(timeline.slow().get(1).evidence()).isEqualTo("a \"stop\", 0.9 ms");
    assertThat(timeline.slow().get(1).micros().get("ttlb")).isNaN();
    assertThat(timeline.causes()).containsEntry("hiccup", 1).containsEntry("not known", 1);
  }

  @Test
  void refusesAFileThatIsDamagedInTheMiddle() throws Exception {
    bundle(directory, 2, 10, 1000);
    Files.writeString(
        directory.resolve("disturbances.csv"), DISTURBANCES + "hiccup,1\nhiccup,1,2,3,\"\"\n");

    assertThatThrownBy(() -> charts(directory))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("line=2")
        .hasMessageContaining("disturbances.csv");
  }

  @Test
  void endsPercentileCurvesWhereFewerThanTenSamplesLieBeyond() throws Exception {
    bundle(directory, 10, 100, 1000);

    Charts.Curves response = charts(directory).percentiles().get(0);

    assertThat(response.x().get(response.x().size() - 1)).isEqualTo(100);
    assertThat(response.curves().get(0).samples()).isEqualTo(1000);
  }

  @Test
  void drawsTheShardsOfARunEachOnItsOwnClock() throws Exception {
    bundle(directory.resolve("a"), 2, 100, 1000);
    bundle(directory.resolve("b"), 2, 100, 2000);
    Charts.Builder builder = new Charts.Builder();
    builder.add(
        "run",
        "run",
        1,
        List.of(Run.read(directory.resolve("a")), Run.read(directory.resolve("b"))));

    Charts charts = builder.build();

    assertThat(charts.timelines())
        .extracting(Charts.Timeline::trial)
        .containsExactly("run, shard 1", "run, shard 2");
    assertThat(charts.percentiles().get(0).curves().get(0).samples()).isEqualTo(400);
  }

  @Test
  void comparesDistributionsBlockByBlock() throws Exception {
    Charts charts = experiment(List.of("base", "other"), "", 1000, 1400);

    Charts.Curves response = charts.differences().get(0);
    Charts.Curve curve = response.curves().get(0);

    assertThat(curve.arm()).isEqualTo("other");
    assertThat(curve.against()).isEqualTo("base");
    assertThat(curve.trials()).isEqualTo(2);
    // All of the baseline's responses are faster than 1200 us, all of the other's slower.
    assertThat(lowest(curve.middle())).isCloseTo(-100, Offset.offset(1.0));
    assertThat(charts.ladder()).isNull();
  }

  @Test
  void findsTheKneeBetweenTheLastRungThatHeldAndTheFirstThatGaveWay() throws Exception {
    Charts charts = experiment(List.of("a@rate=100", "a@rate=300"), "rate", 1000, 5000);

    Charts.Ladder ladder = charts.ladder();

    assertThat(ladder.rungs()).extracting(Charts.Rung::offered).containsExactly(100.0, 300.0);
    assertThat(ladder.knees()).hasSize(1);
    assertThat(ladder.knees().get(0).series()).isEqualTo("a");
    assertThat(ladder.knees().get(0).above()).isEqualTo(100);
    assertThat(ladder.knees().get(0).at()).isEqualTo(300);
    assertThat(ladder.knees().get(0).why()).contains("more than twice");
  }

  private static double lowest(List<Double> values) {
    return values.stream()
        .filter(Objects::nonNull)
        .mapToDouble(Double::doubleValue)
        .min()
        .orElseThrow();
  }

  private static Charts charts(Path bundle) throws Exception {
    Charts.Builder charts = new Charts.Builder();
    charts.add("trial", "arm", 1, List.of(Run.read(bundle)));
    return charts.build();
  }

  /** Two blocks; each arm has its own response times and, as a rung, its own rate. */
  private Charts experiment(List<String> names, String cell, int... micros) throws Exception {
    Charts.Builder charts = new Charts.Builder();
    List<String> arms = new ArrayList<>();
    List<String> trials = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      int rate = i == 0 ? 100 : 300;
      arms.add(
          json(
              "{'name': '%s', 'family': '%s', 'cell': {%s}, 'again': false}",
              name,
              name.replaceFirst("@.*", ""),
              cell.isEmpty() ? "" : json("'%s': '%d'", cell, rate)));
      for (int block = 1; block <= 2; block++) {
        String trial = "t" + i + "-" + block;
        Path bundle = directory.resolve(trial);
        bundle(bundle, 2, 50, micros[i]);
        Files.writeString(
            bundle.resolve("summary.json"),
            json(
                "{'schema': 'loadgen-summary/3', 'verdict': 'TRUSTED', 'offeredPerSecond': %1$d,"
                    + " 'achievedPerSecond': %1$d, 'completedPerSecond': %1$d}",
                rate));
        trials.add(
            json(
                "{'trial': '%s', 'block': %d, 'position': 1, 'arm': '%s', 'attempt': 1,"
                    + " 'verdict': 'TRUSTED', 'count': 100, 'directory': '%s',"
                    + " 'figures': {'response': {'p50': %d}}}",
                trial, block, name, trial, micros[i]));
        charts.add(trial, name, block, List.of(Run.read(bundle)));
      }
    }
    Files.writeString(
        directory.resolve("experiment.json"),
        json(
            "{'schema': 'loadgen-experiment/1', 'status': 'complete', 'plan': {'name': 'x',"
                + " 'arms': [%s], 'baseline': 'base', 'blocks': 2, 'exclude': []},"
                + " 'trials': [%s]}",
            String.join(",", arms), String.join(",", trials)));
    return charts.build(Experiment.read(List.of(directory)));
  }

  private static String json(String format, Object... values) {
    return String.format(format.replace('\'', '"'), values);
  }

  /** Responses rise by a microsecond each. */
  private static void bundle(Path directory, int seconds, int perSecond, int micros)
      throws IOException {
    Files.createDirectories(directory);
    Files.writeString(
        directory.resolve("run.json"),
        json(
            "{'schema': 'loadgen-run/2', 'plan': {'pace': {'durationNanos': %d,"
                + " 'warmupNanos': 0}}}",
            seconds * 1_000_000_000L));
    Histogram histogram = new Histogram(3);
    histogram.setTag("response");
    try (Writer out =
        new OutputStreamWriter(
            new GZIPOutputStream(Files.newOutputStream(directory.resolve("samples.csv.gz"))),
            StandardCharsets.UTF_8)) {
      out.write("index,planned_us,measured,outcome,response_us\n");
      for (int i = 0; i < seconds * perSecond; i++) {
        long planned = i * 1_000_000L / perSecond;
        int response = micros + 1 + i;
        out.write(i + "," + planned + ".000,1,SUCCESS," + response + ".000\n");
        histogram.recordValue(response * 1000L);
      }
    }
    try (PrintStream log =
        new PrintStream(directory.resolve("latency.hlog").toFile(), StandardCharsets.UTF_8)) {
      HistogramLogWriter writer = new HistogramLogWriter(log);
      writer.outputLogFormatVersion();
      writer.outputLegend();
      writer.outputIntervalHistogram(histogram);
    }
  }
}

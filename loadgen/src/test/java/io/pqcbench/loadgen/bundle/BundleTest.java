package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.monitor.Disturbances;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import io.pqcbench.loadgen.record.Samples;
import io.pqcbench.loadgen.verdict.Attribution;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BundleTest {

  private static final long SECOND = 1_000_000_000L;

  @TempDir private Path directory;

  private Bundle open(long warmupSeconds) throws IOException {
    Bundle bundle = Bundle.create(directory.resolve("run"), 50_000_000L);
    bundle.open(0, warmupSeconds * SECOND, Instant.parse("2026-01-01T00:00:00Z"), 1);
    return bundle;
  }

  private List<String> samples() throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    try (InputStream in =
        new GZIPInputStream(Files.newInputStream(directory.resolve("run/samples.csv.gz")))) {
      for (int next = in.read(); next >= 0; next = in.read()) {
        read.write(next);
      }
    } catch (EOFException e) {
      // The end of a file that is still being written.
      assertThat(read.size()).isPositive();
    }
    return read.toString(StandardCharsets.US_ASCII).lines().toList();
  }

  @Test
  void writesEverySampleInMicrosecondsWithThreeDecimals() throws IOException {
    Samples samples = new Samples(1).success(1_500_000_000L, 1_234, 1_000_000);
    try (Bundle bundle = open(1)) {
      for (SampleBlock block : samples.blocks()) {
        bundle.write(block);
      }
    }
    assertThat(samples())
        .containsExactly(
            "index,planned_us,measured,outcome,detail,died_in,response_us,lag_us,service_us,connect_us,handshake_us,"
                + "hello_us,flight_us,finish_us,ttfb_us,ttlb_us,request_sent_us,handshake_bytes_out,handshake_bytes_in,"
                + "bytes_out,bytes_in,body_bytes,group,cipher,local_port,lane,records_out,records_in,"
                + "tcp_rtt_us,tcp_retransmits,tcp_lost,session,target,settings_us",
            "0,1500000.000,1,SUCCESS,200,,1001.234,1.234,1000.000,100.000,600.000,100.000,300.000,200.000,100.000,200.000,"
                + "801.234,1462,1848,1578,2197,3,X25519MLKEM768,TLS_AES_256_GCM_SHA384,40000,0,0,0,,0,0,f,0,150.000");
  }

  @Test
  void aFailureHasItsClassItsAlertAndThePhaseInWhichItDied() throws IOException {
    Samples samples =
        new Samples(0).failure(1_000, Outcome.TLS_ALERT).failure(2_000, Outcome.SKIPPED);
    try (Bundle bundle = open(0)) {
      for (SampleBlock block : samples.blocks()) {
        bundle.write(block);
      }
      bundle.writeInterval(samples.record(), 0, 1);
    }
    assertThat(samples().get(1))
        .isEqualTo(
            "0,1.000,1,TLS_ALERT,handshake_failure,flight,,1.000,,1.000,,1.000,,,,,,0,0,0,0,0,,,,0,0,0,,0,0,f,0,");
    assertThat(samples().get(2))
        .isEqualTo("1,2.000,1,SKIPPED,,lag,,,,,,,,,,,,0,0,0,0,0,,,,0,0,0,,0,0,f,0,");
    assertThat(directory.resolve("run/errors.csv"))
        .hasContent(
            """
            outcome,died_in,detail,count,first_planned_us,example
            SKIPPED,lag,,1,2,
            TLS_ALERT,flight,handshake_failure,1,1,"it said ""no"", and hung up"
            """);
  }

  @Test
  void whatWasFlushedIsReadableWithoutAClose() throws IOException {
    Samples samples = new Samples(0).steady(100, 0, 2);
    Bundle bundle = open(0);
    for (SampleBlock block : samples.blocks()) {
      bundle.write(block);
    }
    bundle.writeInterval(samples.record(), 0, 2);

    assertThat(samples()).hasSize(201);
    assertThat(directory.resolve("run/latency.hlog")).content().contains("Tag=response,");
    bundle.close();
  }

  @Test
  void theHistogramLogHoldsTheSamePercentilesAsTheSamples() throws IOException {
    Samples samples = new Samples(0);
    for (int i = 0; i < 5_000; i++) {
      samples.success(i * 1_000_000L, 1_000 + i * 7L, 500_000 + i * 311L % 900_001);
    }
    List<SampleBlock> blocks = samples.blocks();
    try (Bundle bundle = open(0)) {
      for (SampleBlock block : blocks) {
        bundle.write(block);
      }
      bundle.writeInterval(samples.record(), 0, 5);
    }
    List<Double> response = new ArrayList<>();
    samples().stream()
        .skip(1)
        .forEach(line -> response.add(Double.parseDouble(line.split(",", -1)[6])));
    response.sort(null);
    Histogram logged = new Histogram(3);
    HistogramLogReader reader =
        new HistogramLogReader(directory.resolve("run/latency.hlog").toFile());
    while (reader.hasNext()) {
      Histogram interval = (Histogram) reader.nextIntervalHistogram();
      if ("response".equals(interval.getTag())) {
        logged.add(interval);
      }
    }
    assertThat(logged.getTotalCount()).isEqualTo(5_000);
    for (double percentile : new double[] {50, 90, 99, 99.9, 100}) {
      double fromSamples = response.get((int) Math.ceil(percentile / 100 * 5_000) - 1);
      double fromLog = logged.getValueAtPercentile(percentile) / 1e3;
      assertThat(fromLog).as("p%s", percentile).isBetween(fromSamples * 0.998, fromSamples * 1.002);
    }
  }

  @Test
  void keepsWhatIsAboveTheThresholdAndTheSlowestOfTheRest() throws IOException {
    Samples samples = new Samples(1);
    samples.success(0, 0, 90_000_000); // in the warm-up
    for (int i = 0; i < 300; i++) {
      samples.success(SECOND + i, 0, i < 3 ? 60_000_000 + i : 1_000_000 + i);
    }
    try (Bundle bundle = open(1)) {
      for (SampleBlock block : samples.blocks()) {
        bundle.write(block);
        bundle.writeSlow(
            block, new Attribution(new Disturbances(), new Disturbances(), samples.record()));
      }
      bundle.finish(Map.of());
    }
    List<String> slow = Files.readAllLines(directory.resolve("run/slow.csv"));
    assertThat(slow).hasSize(101);
    assertThat(slow.subList(1, 4)).allMatch(line -> line.startsWith("threshold,"));
    assertThat(slow.get(4)).startsWith("slowest,300,");
    assertThat(slow.get(100)).startsWith("slowest,204,");
  }

  @Test
  void theWarmUpHasTagsOfItsOwn() throws IOException {
    Samples samples = new Samples(1).steady(10, 0, 2);
    try (Bundle bundle = open(1)) {
      bundle.writeInterval(samples.record(), 0, 2);
    }
    String log = Files.readString(directory.resolve("run/latency.hlog"));
    assertThat(log).startsWith("#[Values in nanoseconds").contains("#[StartTime: 1767225600.000");
    for (Phase phase : Phase.ALL) {
      assertThat(log)
          .contains("Tag=" + phase.label() + ",")
          .contains("Tag=warmup-" + phase.label() + ",");
    }
  }

  @Test
  void neverOverwritesResults() throws IOException {
    Files.createDirectories(directory.resolve("run"));
    Files.writeString(directory.resolve("run/summary.json"), "{}");
    assertThatThrownBy(() -> Bundle.create(directory.resolve("run"), 1))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not empty")
        .hasMessageContaining("out=" + directory.resolve("run"));
  }

  @Test
  void saysWhichDirectoryCannotBeMade() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");
    assertThatThrownBy(() -> Bundle.create(file.resolve("run"), 1))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("cannot be made: out=");
  }

  @Test
  void aPercentileWithoutTenSamplesBeyondItIsNull() {
    RunRecord record = new Samples(0).steady(500, 0, 1).record();
    Summary.PhaseSummary response = Summary.PhaseSummary.of(record.total(Phase.RESPONSE), Map.of());
    assertThat(response.count()).isEqualTo(500);
    assertThat(response.p95()).isNotNull();
    assertThat(response.p99()).isNull();
    assertThat(Summary.samplesFor(99)).isEqualTo(1_000);
    assertThat(Summary.samplesFor(99.9)).isEqualTo(10_000);
    assertThat(Summary.samplesFor(99.99)).isEqualTo(100_000);
  }
}

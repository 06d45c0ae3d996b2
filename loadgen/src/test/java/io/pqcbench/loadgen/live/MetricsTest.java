package io.pqcbench.loadgen.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.Samples;
import io.pqcbench.loadgen.verdict.Verdict;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MetricsTest {

  private static final InetSocketAddress ANY_PORT =
      InetSocketAddress.createUnresolved("127.0.0.1", 0);

  private Metrics metrics;

  @BeforeEach
  void serve() throws IOException {
    metrics = Metrics.serve(ANY_PORT, Ticks.RUN);
  }

  @AfterEach
  void close() {
    metrics.close();
  }

  private Scrape scrape() throws Exception {
    return Scrape.from(metrics.url());
  }

  private static <T> HttpResponse<T> send(
      HttpRequest.Builder request, HttpResponse.BodyHandler<T> handler) throws Exception {
    return HttpClient.newHttpClient().send(request.build(), handler);
  }

  @Test
  void everySampleOfATickHasTheValueThatItWasFed() throws Exception {
    metrics.tick(Ticks.eventful());
    assertThat(scrape().samples())
        .containsEntry(
            "loadgen_run_info{groups=\"X25519MLKEM768\",rate=\"300\",target=\"server.example:443\","
                + "version=\"0.1.0\"}",
            1.0)
        .containsEntry("loadgen_offered_rate", 300.0)
        .containsEntry("loadgen_started_rate", 299.5)
        .containsEntry("loadgen_completed_rate", 298.5)
        .containsEntry("loadgen_in_flight", 7.0)
        .containsEntry("loadgen_skipped_total", 1.0)
        .containsEntry("loadgen_attempts_total{outcome=\"SUCCESS\"}", 3.0)
        .containsEntry("loadgen_attempts_total{outcome=\"TCP_RESET\"}", 1.0)
        .containsEntry("loadgen_attempts_total{outcome=\"TLS_ALERT\"}", 0.0)
        .containsEntry("loadgen_lane_busy_ratio{lane=\"0\"}", 0.3)
        .containsEntry("loadgen_lane_busy_ratio{lane=\"1\"}", 0.5)
        .containsEntry("loadgen_cpu_idle_ratio", 0.6)
        .containsEntry("loadgen_hiccup_max_seconds", 0.003)
        .containsEntry("loadgen_behind_schedule_seconds", 0.002)
        .containsEntry("loadgen_steal_seconds_total", 0.02)
        .containsEntry("loadgen_run_delay_seconds_total", 0.012)
        .containsEntry("loadgen_disturbance_seconds_total{source=\"gc-pause\"}", 0.006)
        .containsEntry("loadgen_disturbance_seconds_total{source=\"hiccup\"}", 0.005)
        .containsEntry("loadgen_disturbance_seconds_total{source=\"steal\"}", 0.0)
        .containsEntry("loadgen_verdict{verdict=\"SUSPECT\"}", 1.0)
        .containsEntry("loadgen_verdict{verdict=\"TRUSTED\"}", 0.0)
        .containsEntry("loadgen_finding{fault=\"CLIENT\",level=\"SUSPECT\",rule=\"lag-max\"}", 1.0);
  }

  @Test
  void everyMetricHasItsTypeAndADescription() throws Exception {
    metrics.tick(Ticks.eventful());
    Scrape scrape = scrape();
    assertThat(scrape.types())
        .containsEntry("loadgen_run_info", "gauge")
        .containsEntry("loadgen_offered_rate", "gauge")
        .containsEntry("loadgen_attempts_total", "counter")
        .containsEntry("loadgen_skipped_total", "counter")
        .containsEntry("loadgen_disturbance_seconds_total", "counter")
        .containsEntry("loadgen_phase_seconds", "histogram")
        .containsEntry("loadgen_verdict", "gauge");
    assertThat(scrape.helps().keySet()).isEqualTo(scrape.types().keySet());
    assertThat(scrape.helps()).allSatisfy((name, help) -> assertThat(help).as(name).isNotBlank());
  }

  @Test
  void theJvmIsWatchedByMicrometersOwnMetrics() throws Exception {
    assertThat(scrape().names())
        .contains(
            "jvm_memory_used_bytes",
            "jvm_gc_memory_allocated_bytes_total",
            "jvm_threads_live_threads",
            "process_cpu_usage",
            "jvm_classes_loaded_classes",
            "process_uptime_seconds");
  }

  @Test
  void bucketsAreCumulativeAndHoldAValueOfExactlyTheirBound() throws Exception {
    metrics.tick(Ticks.eventful());
    Scrape scrape = scrape();
    String response = "loadgen_phase_seconds_bucket{phase=\"response\",le=\"";
    // Responses of 1.02, 2.03 and 3.04 ms.
    assertThat(scrape.value(response + "0.001\"}")).isZero();
    assertThat(scrape.value(response + "0.00125\"}")).isEqualTo(1);
    assertThat(scrape.value(response + "0.002\"}")).isEqualTo(1);
    assertThat(scrape.value(response + "0.00315\"}")).isEqualTo(3);
    assertThat(scrape.value(response + "10.0\"}")).isEqualTo(3);
    assertThat(scrape.value(response + "+Inf\"}")).isEqualTo(3);
    assertThat(scrape.value("loadgen_phase_seconds_count{phase=\"response\"}")).isEqualTo(3);
    assertThat(scrape.value("loadgen_phase_seconds_sum{phase=\"response\"}"))
        .isCloseTo(0.00609, within(0.00001));
    // Services of 1, 2 and 3 ms.
    String service = "loadgen_phase_seconds_bucket{phase=\"service\",le=\"";
    assertThat(scrape.value(service + "8.0E-4\"}")).isZero();
    assertThat(scrape.value(service + "0.001\"}")).isEqualTo(1);
    assertThat(scrape.value(service + "0.002\"}")).isEqualTo(2);
  }

  @Test
  void aQuantileOfTheBucketsIsNearTheHistogramsOwn() throws Exception {
    Samples samples = new Samples(0);
    for (int i = 1; i <= 10_000; i++) {
      samples.success(i * 1_000L, 0, i * 1_000L);
    }
    RunRecord record = samples.record();
    metrics.tick(Ticks.quiet(record, null));
    Scrape scrape = scrape();
    for (double quantile : new double[] {0.5, 0.9, 0.99}) {
      double exact = record.total(Phase.SERVICE).getValueAtPercentile(100 * quantile) / 1e9;
      assertThat(quantile(scrape, "service", quantile)).isCloseTo(exact, within(0.05 * exact));
    }
  }

  /** As {@code histogram_quantile} computes it. */
  private static double quantile(Scrape scrape, String phase, double quantile) {
    String prefix = "loadgen_phase_seconds_bucket{phase=\"" + phase + "\",le=\"";
    double rank = quantile * scrape.value("loadgen_phase_seconds_count{phase=\"" + phase + "\"}");
    double lower = 0;
    double below = 0;
    for (Map.Entry<String, Double> sample : scrape.samples().entrySet()) {
      if (sample.getKey().startsWith(prefix)) {
        String bound = sample.getKey().substring(prefix.length()).split("\"", 2)[0];
        if (sample.getValue() >= rank) {
          double upper = Double.parseDouble(bound);
          return lower + (upper - lower) * (rank - below) / (sample.getValue() - below);
        }
        lower = Double.parseDouble(bound);
        below = sample.getValue();
      }
    }
    return Double.NaN;
  }

  @Test
  void theWarmUpIsAmongTheAttemptsAndNotAmongThePhases() throws Exception {
    metrics.tick(Ticks.quiet(new Samples(2).steady(10, 0, 3).record(), null));
    assertThat(scrape().value("loadgen_attempts_total{outcome=\"SUCCESS\"}")).isEqualTo(30);
    assertThat(scrape().value("loadgen_phase_seconds_count{phase=\"response\"}")).isEqualTo(10);
  }

  @Test
  void countersGrowFromTickToTickAndGaugesAreOfTheLast() throws Exception {
    metrics.tick(Ticks.eventful());
    metrics.tick(Ticks.eventful());
    Scrape scrape = scrape();
    assertThat(scrape.value("loadgen_steal_seconds_total")).isEqualTo(0.04);
    assertThat(scrape.value("loadgen_run_delay_seconds_total")).isEqualTo(0.024);
    assertThat(scrape.value("loadgen_disturbance_seconds_total{source=\"gc-pause\"}"))
        .isEqualTo(0.012);
    assertThat(scrape.value("loadgen_hiccup_max_seconds")).isEqualTo(0.003);
    assertThat(scrape.value("loadgen_lane_busy_ratio{lane=\"0\"}")).isEqualTo(0.3);
  }

  @Test
  void beforeTheFirstTickOnlyTheRunIsKnown() throws Exception {
    assertThat(scrape().names())
        .filteredOn(name -> name.startsWith("loadgen_"))
        .containsExactly("loadgen_run_info");
  }

  @Test
  void beforeTheFirstJudgementThereIsNoVerdict() throws Exception {
    metrics.tick(Ticks.quiet(new Samples(0).record(), null));
    for (Verdict verdict : Verdict.values()) {
      assertThat(scrape().value("loadgen_verdict{verdict=\"" + verdict + "\"}")).isZero();
    }
  }

  @Test
  void aFindingThatIsGoneIsShownAsZero() throws Exception {
    metrics.tick(Ticks.eventful());
    metrics.judged(Ticks.judgement(Verdict.INVALID, "no-success"));
    Scrape scrape = scrape();
    assertThat(scrape.value("loadgen_finding{fault=\"CLIENT\",level=\"SUSPECT\",rule=\"lag-max\"}"))
        .isZero();
    assertThat(
            scrape.value("loadgen_finding{fault=\"CLIENT\",level=\"INVALID\",rule=\"no-success\"}"))
        .isEqualTo(1);
    assertThat(scrape.value("loadgen_verdict{verdict=\"SUSPECT\"}")).isZero();
    assertThat(scrape.value("loadgen_verdict{verdict=\"INVALID\"}")).isEqualTo(1);
    // What the last tick said of the load is still there.
    assertThat(scrape.value("loadgen_in_flight")).isEqualTo(7);
  }

  @Test
  void aScraperThatTakesGzipGetsIt() throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(metrics.url())).header("Accept-Encoding", "gzip");
    HttpResponse<InputStream> response = send(request, HttpResponse.BodyHandlers.ofInputStream());
    assertThat(response.headers().firstValue("Content-Encoding")).hasValue("gzip");
    assertThat(response.headers().firstValue("Content-Type"))
        .hasValue("text/plain; version=0.0.4; charset=utf-8");
    try (InputStream in = new GZIPInputStream(response.body())) {
      assertThat(new String(in.readAllBytes(), StandardCharsets.UTF_8))
          .contains("loadgen_run_info{");
    }
  }

  @Test
  void otherPathsAreNotFoundAndNothingCanBeWritten() throws Exception {
    URI other = URI.create(metrics.url() + "x");
    HttpResponse<String> missing =
        send(HttpRequest.newBuilder(other), HttpResponse.BodyHandlers.ofString());
    assertThat(missing.statusCode()).isEqualTo(404);
    assertThat(missing.body()).contains("/metrics");
    HttpRequest.Builder post =
        HttpRequest.newBuilder(URI.create(metrics.url()))
            .POST(HttpRequest.BodyPublishers.ofString("x"));
    assertThat(send(post, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(405);
    HttpRequest.Builder head =
        HttpRequest.newBuilder(other).method("HEAD", HttpRequest.BodyPublishers.noBody());
    assertThat(send(head, HttpResponse.BodyHandlers.ofString()).statusCode()).isEqualTo(404);
  }

  @Test
  void aPortThatIsInUseIsAnErrorThatNamesTheOption() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      InetSocketAddress address =
          InetSocketAddress.createUnresolved("127.0.0.1", taken.getLocalPort());
      assertThatThrownBy(() -> Metrics.serve(address, Ticks.RUN))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("--prometheus")
          .hasMessageEndingWith("address=127.0.0.1:" + taken.getLocalPort());
    }
  }

  @Test
  void aHostThatIsNotKnownIsAnErrorThatNamesTheOption() {
    InetSocketAddress nowhere = InetSocketAddress.createUnresolved("nosuch.invalid", 0);
    assertThatThrownBy(() -> Metrics.serve(nowhere, Ticks.RUN))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("--prometheus")
        .hasMessageEndingWith("address=nosuch.invalid:0");
  }

  @Test
  void itsThreadsKeepNoJvmAlive() throws Exception {
    scrape();
    List<Thread> threads =
        Thread.getAllStackTraces().keySet().stream()
            .filter(t -> t.getName().equals("prometheus") || t.getName().equals("HTTP-Dispatcher"))
            .toList();
    assertThat(threads).extracting(Thread::getName).contains("prometheus", "HTTP-Dispatcher");
    assertThat(threads).allMatch(Thread::isDaemon);
  }

  @Test
  void onceItIsClosedNobodyAnswers() {
    metrics.close();
    assertThatThrownBy(this::scrape).isInstanceOf(ConnectException.class);
  }
}

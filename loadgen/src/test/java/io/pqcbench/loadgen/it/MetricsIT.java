package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pqcbench.loadgen.live.Scrape;
import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Prometheus reads of a run that goes. */
class MetricsIT {

  private static final Pattern URL =
      Pattern.compile("metrics at (http://127\\.0\\.0\\.1:\\d+/\\S+)");

  @TempDir private Path directory;

  /** A busy machine takes long to start two JVMs. */
  private static ConditionFactory await() {
    return Awaitility.await().atMost(Duration.ofMinutes(1));
  }

  @Test
  void aRunIsScrapedWhileItGoesAndTheEndpointEndsWithTheCommand() throws Exception {
    Command command =
        Command.loadgen(
            "run",
            "--rate",
            "50",
            "--duration",
            "120s",
            "--warmup",
            "1s",
            "--quiet",
            "--prometheus",
            "0",
            "--out",
            directory.resolve("bundle").toString());
    await().until(() -> URL.matcher(command.errSoFar()).find());
    Matcher matcher = URL.matcher(command.errSoFar());
    assertThat(matcher.find()).isTrue();
    String url = matcher.group(1);

    await()
        .untilAsserted(
            () -> {
              Scrape scrape = Scrape.from(url);
              assertThat(scrape.value("loadgen_offered_rate")).isEqualTo(50);
              assertThat(scrape.value("loadgen_attempts_total{outcome=\"SUCCESS\"}")).isPositive();
              assertThat(scrape.value("loadgen_phase_seconds_count{phase=\"handshake\"}"))
                  .isPositive();
              assertThat(scrape.value("loadgen_lane_busy_ratio{lane=\"0\"}")).isPositive();
              assertThat(scrape.value("loadgen_cpu_idle_ratio")).isBetween(0.0, 1.0);
              assertThat(scrape.value("loadgen_hiccup_max_seconds")).isNotNaN();
            });
    Scrape first = Scrape.from(url);
    await()
        .untilAsserted(
            () ->
                assertThat(Scrape.from(url).value("loadgen_attempts_total{outcome=\"SUCCESS\"}"))
                    .isGreaterThan(first.value("loadgen_attempts_total{outcome=\"SUCCESS\"}")));

    command.signal("INT");
    assertThat(command.exitCode()).as(command.err()).isEqualTo(130);
    assertThatThrownBy(() -> Scrape.from(url)).isInstanceOf(ConnectException.class);
  }
}

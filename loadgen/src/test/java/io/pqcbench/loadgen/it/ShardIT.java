package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several processes that make one run together, as machines do. */
class ShardIT {

  @TempDir private Path directory;

  private Command start(EmbeddedServer server, String name, String... more) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of("--target", "127.0.0.1:" + server.address().getPort(), "--rate", "60"));
    arguments.addAll(List.of("--duration", "2s", "--arrival", "poisson", "--seed", "11"));
    arguments.addAll(List.of("--code-warmup", "0s", "--out", directory.resolve(name).toString()));
    arguments.addAll(List.of(more));
    return Command.loadgen(arguments.toArray(String[]::new));
  }

  private BundleFiles bundle(String name) {
    return new BundleFiles(directory.resolve(name));
  }

  /** By index; each must be there once. */
  private void collect(String name, Map<Integer, String> plannedByIndex) throws Exception {
    int index = bundle(name).columns().indexOf("index");
    int planned = bundle(name).columns().indexOf("planned_us");
    for (String[] sample : bundle(name).samples()) {
      assertThat(plannedByIndex.put(Integer.valueOf(sample[index]), sample[planned]))
          .as("index " + sample[index] + " twice")
          .isNull();
    }
  }

  @Test
  void twoShardsPlanTogetherWhatOneRunOfTheSameSeedPlansAndStartAtTheAgreedInstant()
      throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      // Enough for JVMs that start at once on a busy machine; one that is late says so.
      Instant at = Instant.now().plusSeconds(10).truncatedTo(ChronoUnit.MILLIS);
      Command first = start(server, "s0", "--shard", "0/2", "--start-at", at.toString());
      Command second =
          start(server, "s1", "--shard", "1/2", "--start-at", at.toString(), "--lanes", "2");
      // While those wait.
      assertThat(start(server, "whole").exitCode()).isIn(0, 1, 3);
      assertThat(first.exitCode()).as(first.err() + first.out()).isIn(0, 1, 3);
      assertThat(second.exitCode()).as(second.err() + second.out()).isIn(0, 1, 3);

      Map<Integer, String> whole = new TreeMap<>();
      collect("whole", whole);
      Map<Integer, String> together = new TreeMap<>();
      collect("s0", together);
      collect("s1", together);
      assertThat(whole).hasSize(120);
      assertThat(together).isEqualTo(whole);

      for (int shard = 0; shard < 2; shard++) {
        BundleFiles bundle = bundle("s" + shard);
        assertThat(bundle.violations("run")).isEmpty();
        assertThat(bundle.violations("summary")).isEmpty();
        JsonNode run = bundle.json("run.json");
        assertThat(run.at("/plan/pace/shard/index").asInt()).isEqualTo(shard);
        assertThat(run.at("/plan/pace/shard/count").asInt()).isEqualTo(2);
        assertThat(run.at("/plan/pace/startAt").asText()).isEqualTo(at.toString());
        assertThat(run.at("/plan/pace/ratePerSecond").asDouble()).isEqualTo(60);
        assertThat(run.get("wallClock").isObject()).isTrue();
        JsonNode summary = bundle.json("summary.json");
        assertThat(summary.get("planned").asInt()).isEqualTo(60);
        assertThat(summary.at("/start/shard").asInt()).isEqualTo(shard);
        assertThat(summary.at("/start/seed").asLong()).isEqualTo(11);
        // Never before the others, but for what the clocks' readings are apart. Late it may be
        // here.
        Instant startedAt = Instant.parse(summary.at("/start/startedAt").asText());
        assertThat(startedAt).isAfterOrEqualTo(at.minusMillis(1));
        long late = Math.round(summary.at("/start/lateMicros").asDouble() * 1e3);
        assertThat(startedAt).isEqualTo(at.plusNanos(late));
      }
      // And a preflight of each of the three.
      assertThat(server.requests()).isEqualTo(2 * 120 + 3);
    }
  }

  @Test
  void aShardThatIsToldToEndWhileItWaitsForItsStartEndsAndLeavesASummary() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Command waiting =
          start(
              server,
              "waiting",
              "--shard",
              "0/2",
              "--start-at",
              Instant.now().plusSeconds(3600).toString());
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> waiting.errSoFar().contains("the agreed start is in"));
      waiting.signal("TERM");

      assertThat(waiting.exitCode()).isEqualTo(130);
      assertThat(bundle("waiting").json("summary.json").get("interrupted").asBoolean()).isTrue();
    }
  }
}

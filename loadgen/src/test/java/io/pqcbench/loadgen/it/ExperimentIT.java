package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whole experiments, each trial in a process of its own, against a real nginx. */
@Tag("side-by-side")
class ExperimentIT {

  @TempDir private Path directory;

  /** Each test has paths of its own, which tell its lines in the access log from others'. */
  private Path file(String target) throws IOException {
    Path file = directory.resolve("e.yaml");
    Files.writeString(
        file,
        """
        experiment: it
        target: %2$s
        options: {rate: 40, duration: 1s, warmup: 200ms, code-warmup: 0s}
        arms:
          classical: {groups: X25519, path: "/?%1$s-classical"}
          hybrid: {groups: X25519MLKEM768, path: "/?%1$s-hybrid"}
        baseline: classical
        aa: false
        blocks: 2
        seed: 11
        cool-down: 0s
        retries: 0
        exclude: []
        """
            .formatted(directory.getFileName(), target));
    return file;
  }

  private Path out() {
    return directory.resolve("out");
  }

  private JsonNode record() throws IOException {
    return new ObjectMapper().readTree(out().resolve("experiment.json").toFile());
  }

  private long bundles() throws IOException {
    try (Stream<Path> entries = Files.list(out().resolve("trials"))) {
      return entries.filter(Files::isDirectory).count();
    }
  }

  private static List<String> texts(JsonNode list, String field) {
    List<String> texts = new ArrayList<>();
    list.forEach(item -> texts.add(item.get(field).asText()));
    return texts;
  }

  @Test
  void nginxSawOfEachArmWhatTheTrialsSayWithTheArmsGroupAndNoResumption() throws Exception {
    Nginx nginx = Nginx.require();

    Command command =
        Command.loadgen(
            "experiment", file(nginx.target()).toString(), "--out", out().toString(), "--force");
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1);

    assertThat(record().get("status").asText()).isEqualTo("complete");
    assertThat(texts(record().get("trials"), "trial"))
        .isEqualTo(texts(record().get("order"), "name"))
        .hasSize(4);
    // One connection a run is its own preflight's; the experiment's preflight made one run an arm
    // at 40/s for 2 s, the trials are two of 1 s, and the headroom trial one of 8 s of the arm
    // that it took.
    JsonNode headroom = record().at("/sessions/0/headroom");
    for (Map.Entry<String, String> arm :
        Map.of("classical", "x25519", "hybrid", "0x11ec|x25519mlkem768").entrySet()) {
      List<String> lines =
          nginx.log().stream()
              .filter(line -> line.contains("/?" + directory.getFileName() + "-" + arm.getKey()))
              .toList();
      boolean tried = headroom.get("arm").asText().equals(arm.getKey());
      assertThat(lines).hasSize((80 + 1) + 2 * (40 + 1) + (tried ? 8 * 40 + 1 : 0));
      assertThat(lines)
          .allSatisfy(
              line -> {
                String[] words = line.split(" ", -1);
                assertThat(words[1].toLowerCase(Locale.ROOT)).matches(arm.getValue());
                assertThat(words[3]).isEqualTo(".");
              });
    }
  }

  @Test
  void anExperimentThatWasKilledIsResumedAndHasEveryTrialOnceInTheRecordedOrder() throws Exception {
    Nginx nginx = Nginx.require();
    Command first =
        Command.loadgen(
            "experiment", file(nginx.target()).toString(), "--out", out().toString(), "--force");
    Path journal = out().resolve("trials.jsonl");
    // In the middle of a trial: its bundle is there, and the journal has those before it.
    Awaitility.await()
        .atMost(Duration.ofMinutes(2))
        .until(
            () ->
                Files.exists(journal) && Files.readAllLines(journal).size() == 2 && bundles() == 3);
    first.signal("KILL");
    first.exitCode();
    List<String> begun = texts(record().get("order"), "name");

    Command second = Command.loadgen("experiment", "--resume", out().toString(), "--force");
    assertThat(second.exitCode()).as(second.err() + second.out()).isIn(0, 1);

    assertThat(texts(record().get("order"), "name")).isEqualTo(begun);
    assertThat(texts(record().get("trials"), "trial")).isEqualTo(begun);
    assertThat(record().get("status").asText()).isEqualTo("complete");
    assertThat(record().get("sessions")).hasSize(2);
    assertThat(record().get("findings").toString()).contains("was killed, and made again");
  }

  @Test
  void anInterruptedExperimentSaysHowToGoOn() throws Exception {
    Nginx nginx = Nginx.require();
    Command command =
        Command.loadgen(
            "experiment", file(nginx.target()).toString(), "--out", out().toString(), "--force");
    Awaitility.await()
        .atMost(Duration.ofMinutes(2))
        .until(() -> Files.isDirectory(out().resolve("trials")));
    command.signal("TERM");

    assertThat(command.exitCode()).isEqualTo(130);
    assertThat(command.err()).contains("go on with: loadgen experiment --resume " + out());
    assertThat(record().get("status").asText()).isEqualTo("interrupted");
  }

  @Test
  void anArmThatTheServerRefusesIsFoundBeforeAnythingIsMeasured() throws Exception {
    Nginx nginx = Nginx.require();
    Command command =
        Command.loadgen(
            "experiment",
            file(nginx.p256()).toString(),
            "--set",
            "arms.other.groups=P-256",
            "--out",
            out().toString());

    assertThat(command.exitCode()).isEqualTo(4);
    assertThat(command.err()).contains("the arm classical cannot run");
    assertThat(Files.exists(out().resolve("trials"))).isFalse();
  }
}

package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The nightly job of samples/ci/, with programs in the place of loadgen's. */
@Tag("side-by-side")
class NightlyIT {

  private static final Path PROJECT = Stubs.PROJECT;
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  @TempDir private Path directory;
  private int day;

  private Stubs stubs() {
    return new Stubs(directory);
  }

  private Command night(String options) throws IOException {
    return Stubs.bash(
        Map.of(
            "PATH", stubs().path(),
            "LOADGEN", directory.resolve("bin/loadgen").toString(),
            "LOADGEN_REPORT", directory.resolve("bin/loadgen-report").toString(),
            "KEEP", "2"),
        PROJECT.resolve("samples/ci/nightly.sh") + " " + directory.resolve("folder") + options);
  }

  /** The next night, a day after the last. */
  private void nextNight(int experimentExit, int reportExit) throws IOException {
    // A night's name is the second in which it begins.
    stubs().put("date", "exec /bin/date --date='+" + ++day + " days' \"$@\"");
    stubs()
        .put(
            "loadgen",
            "while [[ $1 != --out ]]; do shift; done; mkdir \"$2\"; exit " + experimentExit);
    stubs().put("loadgen-report", "echo '| table |'; exit " + reportExit);
  }

  private String baseline() throws IOException {
    return Files.readSymbolicLink(directory.resolve("folder/baseline")).toString();
  }

  @Test
  void theFirstGoodNightIsTheBaselineAndStaysItWhateverFollows() throws Exception {
    nextNight(1, 0);
    Command first = night(" --set target=s:443");
    assertThat(first.exitCode()).as(first.err()).isZero();
    assertThat(first.err()).contains("there is nothing to compare it with");
    assertThat(stubs().told())
        .contains("samples/quick.yaml --set blocks=8 --out ")
        .endsWith(" --set target=s:443\n");
    String good = baseline();

    nextNight(0, 1);
    Command slower = night("");
    assertThat(slower.exitCode()).isEqualTo(1);
    assertThat(slower.err()).contains("slower than " + good + ": handshake.p99 > +10%");
    assertThat(slower.out()).contains("| table |");
    assertThat(baseline()).isEqualTo(good);
    assertThat(stubs().told()).contains("compare ").contains("--fail-if handshake.p99 > ");

    nextNight(3, 0);
    Command unusable = night("");
    assertThat(unusable.exitCode()).isEqualTo(3);
    assertThat(baseline()).isEqualTo(good);

    nextNight(0, 4);
    assertThat(night("").exitCode()).isEqualTo(4);
    assertThat(baseline()).isEqualTo(good);

    nextNight(0, 0);
    assertThat(night("").exitCode()).isZero();
    assertThat(baseline()).isEqualTo(good);
    // Two are kept, and the baseline.
    try (Stream<Path> kept = Files.list(directory.resolve("folder/nights"))) {
      assertThat(kept.map(night -> "nights/" + night.getFileName())).hasSize(3).contains(good);
    }
  }

  @Test
  void theWorkflowNeedsNoSecretAndRunsTheScript() throws Exception {
    Path file = PROJECT.resolve("samples/ci/github-nightly.yaml");
    JsonNode workflow = YAML.readTree(Files.readString(file));
    assertThat(workflow.at("/permissions/contents").asText()).isEqualTo("read");
    assertThat(workflow.at("/on/schedule/0/cron").asText()).matches("\\d+ \\d+ \\* \\* \\*");
    JsonNode steps = workflow.at("/jobs/compare/steps");
    List<String> uses = new ArrayList<>();
    StringBuilder runs = new StringBuilder();
    for (JsonNode step : steps) {
      assertThat(step.has("uses") ^ step.has("run")).as(step.toString()).isTrue();
      if (step.has("uses")) {
        uses.add(step.get("uses").asText());
      } else {
        runs.append(step.get("run").asText());
      }
    }
    assertThat(uses).allMatch(use -> use.matches("actions/[\\w/-]+@v\\d+"));
    assertThat(runs.toString()).contains("samples/ci/nightly.sh nights");
    assertThat(Stubs.bash(Map.of(), "bash -n <<'EOF'\n" + runs + "\nEOF").exitCode()).isZero();
    assertThat(Files.readString(file)).doesNotContain("secrets.");
    Pattern expressions = Pattern.compile("\\$\\{\\{ (\\w+)");
    assertThat(expressions.matcher(Files.readString(file)).results())
        .extracting(found -> found.group(1))
        .isSubsetOf("vars", "github");
  }
}

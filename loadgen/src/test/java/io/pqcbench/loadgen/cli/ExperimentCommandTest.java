package io.pqcbench.loadgen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.JsonSchema;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class ExperimentCommandTest {

  private static final String TEXT =
      """
      experiment: test
      options: {rate: 100, duration: 10s}
      arms:
        classical: {groups: X25519}
        hybrid:
          groups: X25519MLKEM768
      baseline: classical
      blocks: 2
      seed: 3
      """;

  @TempDir private Path directory;

  private record Result(int exitCode, String out, String err) {}

  private static Result loadgen(String... arguments) {
    PrintStream out = System.out;
    PrintStream err = System.err;
    ByteArrayOutputStream newOut = new ByteArrayOutputStream();
    ByteArrayOutputStream newErr = new ByteArrayOutputStream();
    System.setOut(new PrintStream(newOut, true, StandardCharsets.UTF_8));
    System.setErr(new PrintStream(newErr, true, StandardCharsets.UTF_8));
    try {
      int exitCode = Loadgen.execute(arguments);
      return new Result(
          exitCode,
          newOut.toString(StandardCharsets.UTF_8),
          newErr.toString(StandardCharsets.UTF_8));
    } finally {
      System.setOut(out);
      System.setErr(err);
    }
  }

  private String file(String text) throws Exception {
    return Files.writeString(directory.resolve("e.yaml"), text).toString();
  }

  static Stream<Path> samples() throws Exception {
    List<Path> found;
    try (Stream<Path> files = Files.list(Path.of("..", "samples"))) {
      found = files.filter(file -> file.toString().endsWith(".yaml")).toList();
    }
    assertThat(found).isNotEmpty();
    return found.stream();
  }

  @ParameterizedTest
  @MethodSource("samples")
  void everySampleCanBeRunAndFollowsTheSchema(Path sample) throws Exception {
    Result result = loadgen("experiment", "--dry-run", sample.toString());

    assertThat(result.exitCode()).as(result.err()).isZero();
    try (var in = Loadgen.class.getResourceAsStream("../experiment/experiment.schema.json")) {
      JsonSchema schema =
          JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(in);
      assertThat(schema.validate(new YAMLMapper().readTree(sample.toFile()))).isEmpty();
    }
  }

  @Test
  void aDryRunPrintsArmsOrderDurationAndCostAndWritesNothing() throws Exception {
    Result result =
        loadgen(
            "experiment",
            file(TEXT),
            "--dry-run",
            "--set",
            "price.per-hour=3.6",
            "--set",
            "blocks=20");

    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .contains("arm        classical (baseline): 1000 arrivals in 10s, of which 2s warm-up")
        .contains("loadgen run --rate=100 --duration=10s --groups=X25519")
        .contains("arm        classical-aa (the baseline again)")
        .containsPattern("block 20 +[a-z-]+, [a-z-]+, [a-z-]+\n")
        // 60 trials of 10 s and 5 s beside them.
        .contains("duration   15 min 00 s")
        .contains("cost       0.90 USD");
    assertThat(directory.toFile().list()).containsExactly("e.yaml");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "arms.hybrid.groups=nosuch | e.yaml:6:5: arm hybrid: Invalid value for option '--groups'",
        "arms.hybrid.ratee=3 | e.yaml:6:5: 'loadgen run' has no such option: arm=hybrid"
            + " option=ratee",
        "arms.hybrid.shard=0/2 | decides this option: arm=hybrid option=shard",
        "options.start-at=2999-01-01T00:00:00Z | decides this option: arm=classical"
            + " option=start-at",
        "arms.hybrid.out=x | e.yaml:6:5: the experiment decides this option: arm=hybrid option=out",
        "arms.hybrid.rate=0 | e.yaml:6:5: arm hybrid:",
        "arms.hybrid.warmup=1h | --warmup must be shorter than --duration",
        "blocks=no | --set blocks=no: blocks: must be a whole number from 1 to 1000",
        "nonsense=1 | --set nonsense=1: nonsense: no such key",
        "novalue | --set must be key=value",
      })
  void whatIsWrongIsSaidWithItsPlaceBeforeAnythingRuns(String assignment, String message)
      throws Exception {
    Result result = loadgen("experiment", file(TEXT), "--set", assignment);

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).contains(message);
    assertThat(directory.toFile().list()).containsExactly("e.yaml");
  }

  @Test
  void withoutAFileOrADirectoryThereIsNothingToDo() {
    assertThat(loadgen("experiment").err()).contains("FILE is needed, or --resume DIR");
    assertThat(loadgen("experiment", "nosuch.yaml").err())
        .contains("the experiment cannot be read: file=nosuch.yaml");
    assertThat(loadgen("experiment", "--resume", "nosuch").err())
        .contains("no directory of an experiment");
  }

  @Test
  void trialsInThisProcessLeaveTheSameRecordAndAnotherPlanIsNotResumed() throws Exception {
    Path out = directory.resolve("out");
    String file = file(TEXT);
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Result result =
          loadgen(
              "experiment",
              file,
              "--in-process",
              "--force",
              "--out",
              out.toString(),
              "--set",
              "target=127.0.0.1:" + server.address().getPort(),
              "--set",
              "options={rate: 40, duration: 1s, code-warmup: 0s}",
              "--set",
              "exclude=[]",
              "--set",
              "retries=0",
              "--set",
              "cool-down=0s");
      assertThat(result.exitCode()).as(result.err() + result.out()).isIn(0, 1);
      assertThat(result.out())
          .contains("us, median (min..max) of the trials")
          .contains("classical-aa");
    }
    var record = new ObjectMapper().readTree(out.resolve("experiment.json").toFile());
    assertThat(record.get("trials")).hasSize(6);
    assertThat(record.at("/trials/0/count").asInt()).isEqualTo(32);
    assertThat(record.at("/trials/0/conditions/payload").asText()).isEqualTo("3 bytes");

    Result other = loadgen("experiment", file, "--resume", out.toString());
    assertThat(other.exitCode()).isEqualTo(2);
    assertThat(other.err()).contains("plans something else than what was begun");
  }
}

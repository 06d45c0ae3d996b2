package io.pqcbench.loadgen.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import io.pqcbench.loadgen.plan.Experiment;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.plan.Yaml;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExperimentRunTest {

  private static final String TEXT =
      """
      experiment: test
      options: {rate: 300}
      arms:
        classical: {groups: X25519}
        hybrid: {groups: X25519MLKEM768}
      baseline: classical
      blocks: 3
      seed: 7
      cool-down: 0s
      """;

  private static final Machine MACHINE =
      new Machine("here", "aarch64", null, 2, "Linux 6", "25", "0.1.0", null);

  @TempDir private Path directory;
  private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
  private Experiment experiment = Experiment.parse(Yaml.parse("e.yaml", TEXT));
  private boolean force;

  private ExperimentRun begin(FakeTrials trials) throws IOException {
    return ExperimentRun.begin(experiment, plans(), directory(), MACHINE, trials, display(), force);
  }

  private ExperimentRun resume(FakeTrials trials, Machine machine) throws Exception {
    Experiment planned = ExperimentRun.plannedIn(directory());
    return ExperimentRun.resume(planned, plans(), directory(), machine, trials, display(), force);
  }

  private Map<String, LoadPlan> plans() {
    Map<String, LoadPlan> plans = new HashMap<>();
    experiment.arms().forEach(arm -> plans.put(arm.name(), Plans.to(443).rate(300).plan()));
    return plans;
  }

  private Display display() {
    PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    return new Display(experiment, out, out, false);
  }

  private Path directory() {
    return directory.resolve("experiment");
  }

  private JsonNode record() throws IOException {
    return new ObjectMapper().readTree(directory().resolve("experiment.json").toFile());
  }

  private List<String> order() {
    return experiment.order().stream().map(Experiment.Trial::name).toList();
  }

  @Test
  void everyTrialRunsOnceInTheRecordedOrder() throws Exception {
    FakeTrials trials = new FakeTrials();

    List<ArmResult> arms = begin(trials).run("h:443");

    assertThat(trials.names()).isEqualTo(order());
    assertThat(arms).allSatisfy(arm -> assertThat(arm.trusted()).isEqualTo(3));
    assertThat(record().get("status").asText()).isEqualTo("complete");
    assertThat(record().get("trials")).hasSize(9);
  }

  @Test
  void theArmsOfABlockGetTheSameSeed() throws Exception {
    FakeTrials trials = new FakeTrials();

    begin(trials).run("h:443");

    assertThat(trials.trials.subList(0, 3))
        .extracting(trial -> trial.get("--seed"))
        .hasSize(3)
        .allMatch(trials.trials.get(0).get("--seed")::equals);
    assertThat(trials.trials.get(3).get("--seed")).isNotEqualTo(trials.trials.get(0).get("--seed"));
  }

  @Test
  void whatWasWrittenFollowsItsSchema() throws Exception {
    FakeTrials trials = new FakeTrials();
    begin(trials).run("h:443");

    try (var schema = ExperimentRun.class.getResourceAsStream("record.schema.json")) {
      var validator =
          JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012).getSchema(schema);
      assertThat(validator.validate(record())).isEmpty();
    }
  }

  @Test
  void aTrialThatIsNotTrustedIsRepeatedAtTheEndOfItsBlock() throws Exception {
    String wanted = order().get(3);
    FakeTrials trials =
        new FakeTrials().verdict(t -> t.get("name").equals(wanted) ? "SUSPECT" : "TRUSTED");

    begin(trials).run("h:443");

    assertThat(trials.names().subList(3, 7))
        .containsExactly(wanted, order().get(4), order().get(5), wanted + ".retry1");
    assertThat(
            record().at("/result/0/attempts").asInt()
                + record().at("/result/1/attempts").asInt()
                + record().at("/result/2/attempts").asInt())
        .isEqualTo(10);
  }

  @Test
  void theFirstTrustedAttemptCountsNotTheOneWithTheBetterNumbers() throws Exception {
    String wanted = order().get(0);
    FakeTrials trials =
        new FakeTrials().verdict(t -> t.get("name").equals(wanted) ? "SUSPECT" : "TRUSTED");

    List<ArmResult> arms = begin(trials).run("h:443");

    // The fake's p50 is the number of the trial: the retry was the fourth, after the block.
    ArmResult arm =
        arms.stream()
            .filter(result -> result.arm().equals(experiment.order().get(0).arm()))
            .findFirst()
            .orElseThrow();
    assertThat(arm.figures().get("handshake.p50").blocks().get(0)).isEqualTo(4);
    assertThat(arm.figures()).doesNotContainKey("handshake.p99");
  }

  @Test
  void excludedVerdictsLeaveTheirBlockOutAndOthersCount() throws Exception {
    FakeTrials trials =
        new FakeTrials()
            .verdict(
                t ->
                    t.get("name").startsWith("b01")
                        ? "SATURATED"
                        : t.get("name").startsWith("b02") ? "SUSPECT" : "TRUSTED");

    List<ArmResult> arms = begin(trials).run("h:443");

    assertThat(arms)
        .allSatisfy(
            arm -> {
              assertThat(arm.excluded()).isEqualTo(1);
              assertThat(arm.trials()).isEqualTo(2);
              assertThat(arm.trusted()).isEqualTo(1);
              assertThat(arm.figures().get("handshake.p50").blocks().get(0)).isNull();
            });
  }

  @Test
  void anExperimentThatWasStoppedGoesOnWhereItStopped() throws Exception {
    FakeTrials first = new FakeTrials();
    ExperimentRun run = begin(first);
    first.before(
        () -> {
          if (first.trials.size() == 5) {
            run.stop();
          }
        });
    first.verdict(t -> first.trials.size() == 5 ? "INTERRUPTED" : "TRUSTED");
    run.run("h:443");
    assertThat(record().get("status").asText()).isEqualTo("interrupted");

    FakeTrials second = new FakeTrials();
    List<ArmResult> arms = resume(second, MACHINE).run("h:444");

    assertThat(second.names()).isEqualTo(order().subList(4, 9));
    assertThat(arms).allSatisfy(arm -> assertThat(arm.trusted()).isEqualTo(3));
    assertThat(record().get("status").asText()).isEqualTo("complete");
    assertThat(record().get("sessions")).hasSize(2);
    assertThat(directory().resolve("trials/" + order().get(4) + ".killed1")).isDirectory();
  }

  @Test
  void aTrialThatWasKilledIsMadeAgainAndItsRemainsAreKept() throws Exception {
    FakeTrials first = new FakeTrials();
    ExperimentRun run = begin(first);
    first.before(
        () -> {
          if (first.trials.size() == 3) {
            throw new IllegalStateException("the machine went down");
          }
        });
    assertThatThrownBy(() -> run.run("h:443")).hasMessage("the machine went down");
    String killed = order().get(2);
    Files.createDirectory(directory().resolve("trials/" + killed));
    Files.writeString(directory().resolve("trials/" + killed + "/run.json"), "{}");
    // The line of the second trial was cut off while it was written.
    Path journal = directory().resolve("trials.jsonl");
    String text = Files.readString(journal);
    Files.writeString(journal, text.substring(0, text.length() - 40));
    Path second = directory().resolve("trials/" + order().get(1));
    assertThat(second).isDirectory();

    FakeTrials after = new FakeTrials();
    resume(after, MACHINE).run("h:443");

    assertThat(after.names()).isEqualTo(order().subList(1, 9));
    assertThat(directory().resolve("trials/" + killed + ".killed1/run.json")).exists();
    assertThat(directory().resolve("trials/" + order().get(1) + ".killed1")).isDirectory();
    assertThat(record().get("findings").toString()).contains("was killed, and made again");
    assertThat(record().get("trials")).hasSize(9);
  }

  @Test
  void anotherMachineIsRefusedUnlessForcedAndThenRecorded() throws Exception {
    FakeTrials trials = new FakeTrials();
    ExperimentRun run = begin(trials);
    trials.before(run::stop);
    run.run("h:443");
    Machine other = new Machine("there", "aarch64", null, 2, "Linux 6", "25", "0.1.0", null);

    assertThatThrownBy(() -> resume(new FakeTrials(), other))
        .isInstanceOf(ExperimentRun.Refused.class)
        .hasMessageContaining("host: here -> there");

    force = true;
    ExperimentRun resumed = resume(new FakeTrials(), other);
    resumed.run("h:443");
    assertThat(resumed.findings()).anyMatch(finding -> finding.contains("host: here -> there"));
    assertThat(record().at("/sessions/1/changes/0").asText()).isEqualTo("host: here -> there");
  }

  @Test
  void twoProcessesCannotWorkOnOneExperiment() throws Exception {
    FakeTrials trials = new FakeTrials();
    trials.before(
        () ->
            assertThatThrownBy(() -> ExperimentRun.plannedIn(directory()))
                .hasMessageContaining("another process is working on this experiment"));

    begin(trials).run("h:443");

    assertThat(trials.trials).hasSize(9);
    assertThat(ExperimentRun.plannedIn(directory()).order()).isEqualTo(experiment.order());
  }

  @Test
  void anArmThatFailsAtALowRateIsRefusedBeforeAnythingCounts() throws Exception {
    FakeTrials trials =
        new FakeTrials().failures(t -> "X25519MLKEM768".equals(t.get("--groups")) ? 7 : 0);

    assertThatThrownBy(() -> begin(trials).run("h:443"))
        .isInstanceOf(ExperimentRun.Refused.class)
        .hasMessageContaining("the arm hybrid fails already at 50/s")
        .hasMessageContaining("7 x TCP_REFUSED");
    assertThat(trials.trials).isEmpty();
  }

  @Test
  void aClientThatWouldBeTheBottleneckIsRefusedWithTheReason() throws Exception {
    FakeTrials trials =
        new FakeTrials().verdict(t -> t.get("name").equals("headroom") ? "SATURATED" : "TRUSTED");

    assertThatThrownBy(() -> begin(trials).run("h:443"))
        .isInstanceOf(ExperimentRun.Refused.class)
        .hasMessageContaining("bottleneck at the highest rate, 300/s")
        .hasMessageContaining("a-rule [client] 9 (limit 5)");
    assertThat(trials.trials).isEmpty();
  }

  @Test
  void aForcedExperimentGoesOnAndSaysSo() throws Exception {
    force = true;
    FakeTrials trials =
        new FakeTrials().verdict(t -> t.get("name").equals("headroom") ? "SATURATED" : "TRUSTED");

    ExperimentRun run = begin(trials);
    run.run("h:443");

    assertThat(trials.trials).hasSize(9);
    assertThat(run.findings()).anyMatch(finding -> finding.contains("bottleneck"));
  }

  @Test
  void threeTrialsInARowThatCannotRunEndTheExperiment() throws Exception {
    FakeTrials trials =
        new FakeTrials().verdict(t -> t.get("name").startsWith("b02") ? null : "TRUSTED");

    assertThatThrownBy(() -> begin(trials).run("h:443"))
        .isInstanceOf(ExperimentRun.Refused.class)
        .hasMessageContaining("exit code 4: loadgen: nobody listens");
    assertThat(trials.trials).hasSize(6);
    assertThat(record().get("status").asText()).isEqualTo("interrupted");
  }

  @Test
  void aTrialThatCouldNotRunTakesNoRetryAndIsMadeWhenTheExperimentIsTakenUpAgain()
      throws Exception {
    experiment = Experiment.parse(Yaml.parse("e.yaml", TEXT + "retries: 0\n"));
    assertThat(experiment.retries()).isZero();
    FakeTrials down =
        new FakeTrials().verdict(t -> t.get("--out").contains("/trials/") ? null : "TRUSTED");
    assertThatThrownBy(() -> begin(down).run("h:443")).isInstanceOf(ExperimentRun.Refused.class);

    List<ArmResult> arms = resume(new FakeTrials(), MACHINE).run("h:443");

    assertThat(arms).allSatisfy(arm -> assertThat(arm.trusted()).isEqualTo(3));
    assertThat(record().get("status").asText()).isEqualTo("complete");
  }

  @Test
  void aHeadroomThatCannotBeMeasuredIsRefused() throws Exception {
    FakeTrials trials =
        new FakeTrials().verdict(t -> t.get("name").equals("headroom") ? null : "TRUSTED");

    assertThatThrownBy(() -> begin(trials).run("h:443"))
        .isInstanceOf(ExperimentRun.Refused.class)
        .hasMessageContaining("headroom could not be measured");
    assertThat(trials.trials).isEmpty();
  }

  @Test
  void aFindingStandsOnceHoweverOftenTheExperimentIsTakenUp() throws Exception {
    begin(new FakeTrials().chainBytes(t -> t.get("name").contains("hybrid") ? "1411" : "411"))
        .run("h:443");
    int findings = record().get("findings").size();
    assertThat(findings).isEqualTo(1);

    resume(new FakeTrials(), MACHINE).run("h:443");

    assertThat(record().get("findings")).hasSize(findings);
  }

  @Test
  void aDifferenceThatNobodyDeclaredIsAFinding() throws Exception {
    FakeTrials trials =
        new FakeTrials().chainBytes(t -> "X25519".equals(t.get("--groups")) ? "411" : "5000");

    ExperimentRun run = begin(trials);
    run.run("h:443");

    assertThat(run.findings())
        .containsExactly(
            "chain differs between classical ('1, 411 bytes') and hybrid ('1, 5000 bytes') and was"
                + " not declared");
  }

  @Test
  void anArmMayDeclareAClientCertificateAndAProxyHeaderAndNoFindingComesOfIt() throws Exception {
    experiment =
        Experiment.parse(
            Yaml.parse(
                "e.yaml",
                TEXT.replace(
                    "  hybrid: {groups: X25519MLKEM768}",
                    "  hybrid: {groups: X25519, cert: me.pem, key: me.key, proxy-protocol: v2}")));

    ExperimentRun run = begin(new FakeTrials());
    run.run("h:443");

    assertThat(run.findings()).isEmpty();
    Map<String, String> certificates = new HashMap<>();
    Map<String, String> headers = new HashMap<>();
    for (JsonNode trial : record().get("trials")) {
      String arm = trial.get("arm").asText();
      certificates.put(arm, trial.at("/conditions/client certificate").asText());
      headers.put(arm, trial.at("/conditions/PROXY header").asText());
    }
    assertThat(certificates).containsEntry("classical", "none").containsEntry("hybrid", "me.pem");
    assertThat(headers).containsEntry("classical", "none").containsEntry("hybrid", "v2");
  }

  @Test
  void aDirectoryThatIsInUseOrNoneIsRefused() throws Exception {
    Files.createDirectory(directory());
    Files.writeString(directory().resolve("mine"), "x", StandardOpenOption.CREATE);

    assertThatThrownBy(() -> begin(new FakeTrials())).hasMessageContaining("is not empty");
    assertThatThrownBy(() -> ExperimentRun.plannedIn(directory()))
        .hasMessageContaining("holds no experiment.json");
  }
}

package io.pqcbench.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.analysis.bundle.Bundles;
import io.pqcbench.analysis.bundle.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardsTest {

  private static final double[] RESPONSES = {1000, 2000, 3000};

  @TempDir private Path directory;
  private final List<Run> runs = new ArrayList<>();

  private Path give(Bundles.Shard shard) throws Exception {
    Path path = shard.write(directory.resolve("s" + runs.size()), RESPONSES);
    runs.add(Run.read(path));
    return path;
  }

  /** The rules that object, each with the level. */
  private List<String> objections() throws Exception {
    return Shards.judge(runs).stream()
        .filter(finding -> !finding.level().equals("TRUSTED"))
        .map(finding -> finding.rule() + " " + finding.level())
        .toList();
  }

  private String text(String rule) throws Exception {
    return Shards.judge(runs).stream()
        .filter(finding -> finding.rule().equals(rule))
        .map(Shards.Finding::text)
        .reduce("", (a, b) -> a + b + "\n");
  }

  @Test
  void shardsThatAreAllThereAndStartedTogetherAreTrusted() throws Exception {
    // In another order than theirs.
    give(new Bundles.Shard(1, 3));
    give(new Bundles.Shard(2, 3));
    give(new Bundles.Shard(0, 3));

    assertThat(objections()).isEmpty();
    assertThat(Shards.verdict(runs)).isEqualTo("TRUSTED");
    assertThat(text("verdicts"))
        .contains("shard 1 of 3 (" + directory.resolve("s0") + ") is TRUSTED");
    assertThat(text("clock")).contains("wrong by at most 0.313 ms (chronyc)").hasLineCount(3);
    assertThat(Trial.of(runs).verdict()).isEqualTo("TRUSTED");
    assertThat(Trial.of(runs).count()).isEqualTo(9);
  }

  @Test
  void theVerdictIsThatOfTheWorstShardAndEachIsNamed() throws Exception {
    give(new Bundles.Shard(0, 3));
    give(new Bundles.Shard(1, 3).verdict("SATURATED"));
    give(new Bundles.Shard(2, 3).verdict("SUSPECT"));

    assertThat(Shards.verdict(runs)).isEqualTo("SATURATED");
    assertThat(text("verdicts"))
        .contains("s0) is TRUSTED;", "s1) is SATURATED (lag)", "s2) is SUSPECT (lag)");
  }

  @Test
  void aRunFromOneMachineHasNothingToSay() throws Exception {
    runs.add(Run.read(Bundles.run(directory.resolve("run"), "SUSPECT", RESPONSES)));
    assertThat(Shards.judge(runs)).isEmpty();
    assertThat(Shards.verdict(runs)).isEqualTo("SUSPECT");
  }

  @Test
  void aShardThatIsMissingIsNamedByItsNumber() throws Exception {
    give(new Bundles.Shard(0, 4));
    give(new Bundles.Shard(2, 4));

    assertThat(objections()).containsExactly("missing INVALID");
    assertThat(text("missing")).contains("Of 4 shards these were not given: 1, 3.");
    assertThat(Shards.verdict(runs)).isEqualTo("INVALID");
  }

  @Test
  void aSingleShardOfSeveralIsNoRun() throws Exception {
    give(new Bundles.Shard(1, 2));
    assertThat(objections()).containsExactly("missing INVALID");
  }

  @Test
  void aShardThatIsGivenTwiceIsNamedWithItsDirectories() throws Exception {
    give(new Bundles.Shard(0, 2));
    give(new Bundles.Shard(1, 2));
    give(new Bundles.Shard(1, 2));

    assertThat(objections()).containsExactly("given-twice INVALID");
    assertThat(text("given-twice"))
        .contains("Shard 1 was given 2 times")
        .contains(directory.resolve("s1").toString(), directory.resolve("s2").toString());
  }

  @Test
  void aShardOfAnotherSeedOrRateIsNamedWithBothValues() throws Exception {
    give(new Bundles.Shard(0, 3));
    give(new Bundles.Shard(1, 3).seed(8));
    give(new Bundles.Shard(2, 3).rate(150));

    assertThat(objections()).containsExactly("another-plan INVALID", "another-plan INVALID");
    assertThat(text("another-plan"))
        .contains("Shard 1 of 3", "pace.seed=8 against 7")
        .contains("Shard 2 of 3", "pace.ratePerSecond=150.0 against 100.0")
        // Lanes and addresses are a machine's own, and differ in these bundles.
        .doesNotContain("lanes", "sources");
  }

  @Test
  void aShardOfAnotherCountIsOfAnotherRun() throws Exception {
    give(new Bundles.Shard(0, 2));
    give(new Bundles.Shard(1, 3));
    assertThat(objections()).contains("another-plan INVALID", "missing INVALID");
    assertThat(text("another-plan")).contains("pace.shard.count=3 against 2");
  }

  @ParameterizedTest
  @CsvSource({"99000, false", "100001, true", "-100001, true", "2500000, true"})
  void aShardThatStartedMoreThanATenthOfASecondApartIsNamed(double micros, boolean objected)
      throws Exception {
    give(new Bundles.Shard(0, 2));
    give(new Bundles.Shard(1, 2).late(micros));

    assertThat(objections()).isEqualTo(objected ? List.of("start SUSPECT") : List.of());
    if (objected) {
      assertThat(text("start"))
          .startsWith("Shard 1 of 2")
          .contains(micros > 0 ? "s later than agreed" : "s earlier than agreed", "limit 0.1 s");
      assertThat(Shards.verdict(runs)).isEqualTo("SUSPECT");
    }
  }

  @Test
  void aShardThatDoesNotSayWhenItStartedIsNamed() throws Exception {
    give(new Bundles.Shard(0, 2).late(null));
    give(new Bundles.Shard(1, 2));
    assertThat(objections()).containsExactly("start SUSPECT");
    assertThat(text("start")).contains("When shard 0 of 2", "is not known");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "null | is not known",
        "{\"source\": null, \"synchronised\": null, \"errorMicros\": null} | is not known",
        "{\"source\": \"timedatectl\", \"synchronised\": false} | was not synchronised"
            + " (timedatectl)",
        "{\"source\": \"timedatectl\", \"synchronised\": true, \"errorMicros\": null}"
            + " | was synchronised (timedatectl), but by how much",
        "{\"source\": \"adjtimex\", \"synchronised\": true, \"errorMicros\": 250000}"
            + " | wrong by up to 0.250 s (adjtimex, limit 0.1 s)"
      })
  void aShardWhoseClockIsNotKnownToBeRightIsNamed(String clock, String said) throws Exception {
    give(new Bundles.Shard(0, 2).clock(clock));
    give(new Bundles.Shard(1, 2));

    assertThat(objections()).containsExactly("clock SUSPECT");
    assertThat(text("clock")).contains("clock of shard 0 of 2", said);
  }

  @Test
  void shardsThatMayHaveStartedApartByStartAndClocksTogetherAreNamed() throws Exception {
    String wrong = "{\"source\": \"chronyc\", \"synchronised\": true, \"errorMicros\": 30000}";
    give(new Bundles.Shard(0, 2).clock(wrong).late(0.0));
    give(new Bundles.Shard(1, 2).clock(wrong).late(50_000.0));

    assertThat(objections()).containsExactly("apart SUSPECT");
    assertThat(text("apart")).contains("up to 0.110 s apart (limit 0.1 s)");
  }

  @Test
  void shardsOnOneClockStartedApartByTheirStartsAlone() throws Exception {
    String wrong = "{\"source\": \"chronyc\", \"synchronised\": true, \"errorMicros\": 30000}";
    give(new Bundles.Shard(0, 2).bootId("here").clock(wrong).late(0.0));
    give(new Bundles.Shard(1, 2).bootId("here").clock(wrong).late(50_000.0));

    assertThat(objections()).isEmpty();
  }

  @Test
  void shardsOnOneMachineHaveOneClockHoweverWrongItIs() throws Exception {
    give(new Bundles.Shard(0, 2).bootId("here").clock("null"));
    give(new Bundles.Shard(1, 2).bootId("here").clock("null"));
    assertThat(objections()).isEmpty();
    assertThat(text("clock")).contains("on one machine, by one clock");
  }

  @Test
  void aShardThatWasKilledIsNamedAndReadAsFarAsItGot() throws Exception {
    give(new Bundles.Shard(0, 2));
    Path killed = give(new Bundles.Shard(1, 2));
    kill(killed, 0.25);

    assertThat(objections()).containsExactly("verdicts KILLED", "killed KILLED", "start SUSPECT");
    assertThat(text("verdicts"))
        .contains("s0) is TRUSTED; shard 1 of 2 (" + killed + ") is KILLED.");
    assertThat(text("killed")).startsWith("Shard 1 of 2 (" + killed + ") was killed");
    // From the log of the histograms, which is all that says it.
    assertThat(text("start")).contains("Shard 1 of 2", "0.250 s later than agreed");
    assertThat(Trial.of(runs).verdict()).isEqualTo("KILLED");
    assertThat(Trial.of(runs).count()).isEqualTo(6);
  }

  /** Takes the summary away, and has the run start so much later than agreed. */
  private void kill(Path shard, double lateSeconds) throws Exception {
    Files.delete(shard.resolve("summary.json"));
    Path log = shard.resolve("latency.hlog");
    double agreed = 1_796_205_600; // 2026-12-02T10:00:00Z
    Files.writeString(
        log,
        "#[StartTime: %.3f (seconds since epoch), Wed Dec 02 10:00:00 UTC 2026]%n"
                .formatted(agreed + lateSeconds)
            + Files.readString(log));
    runs.set(runs.size() - 1, Run.read(shard));
  }

  @Test
  void aShardThatWasKilledBeforeItsStartIsNamedToo() throws Exception {
    give(new Bundles.Shard(0, 2));
    Path killed = give(new Bundles.Shard(1, 2));
    Files.delete(killed.resolve("summary.json"));
    Files.delete(killed.resolve("latency.hlog"));
    Files.delete(killed.resolve("samples.csv.gz"));
    runs.set(1, Run.read(killed));

    assertThat(text("killed")).startsWith("Shard 1 of 2 (" + killed + ") was killed");
    assertThat(text("start")).contains("When shard 1 of 2", "is not known");
    assertThat(Trial.of(runs).count()).isEqualTo(3);
    assertThat(Trial.of(runs).torn()).isTrue();
  }

  @Test
  void aShardThatWasInterruptedIsNamed() throws Exception {
    give(new Bundles.Shard(0, 2));
    give(new Bundles.Shard(1, 2).interrupted());
    assertThat(objections()).containsExactly("interrupted SUSPECT");
    assertThat(text("interrupted")).startsWith("Shard 1 of 2");
  }

  @Test
  void runsOfTheirOwnAreNoShards() throws Exception {
    Path one = Bundles.run(directory.resolve("one"), "TRUSTED", RESPONSES);
    Path two = Bundles.run(directory.resolve("two"), "TRUSTED", RESPONSES);
    runs.add(Run.read(one));
    runs.add(Run.read(two));
    assertThat(objections()).containsExactly("shards INVALID");
    assertThat(text("shards")).contains(one + ", " + two);
  }
}

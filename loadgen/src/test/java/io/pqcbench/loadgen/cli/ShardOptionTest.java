package io.pqcbench.loadgen.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pqcbench.loadgen.plan.LoadPlan;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardOptionTest {

  private static final Instant NOW = Instant.parse("2026-12-02T10:00:00Z");

  private static LoadPlan.Shard auto(String environment) {
    Map<String, String> variables = new HashMap<>();
    for (String variable : environment.split(" ", -1)) {
      int equals = variable.indexOf('=');
      variables.put(variable.substring(0, equals), variable.substring(equals + 1));
    }
    return ShardOption.shard("auto", variables);
  }

  @Test
  void shardsCountFromZero() {
    assertThat(ShardOption.shard("0/2", Map.of())).isEqualTo(new LoadPlan.Shard(0, 2));
    assertThat(ShardOption.shard("1/2", Map.of())).hasToString("1/2");
    assertThat(ShardOption.shard("0/1", Map.of())).isEqualTo(LoadPlan.Shard.WHOLE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"2/2", "-1/2", "0/0", "1", "1/", "a/b", "1/2/3", "9999999999/2", ""})
  void whatIsNoShardIsRefusedWithItsValue(String text) {
    assertThatThrownBy(() -> ShardOption.shard(text, Map.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--shard must be I/N with I from 0 to N-1")
        .hasMessageContaining(text);
  }

  @ParameterizedTest
  @CsvSource({
    "JOB_COMPLETION_INDEX=2 SHARD_COUNT=3, 2/3",
    "AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=4, 0/4",
    "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1,"
        + " 0/2",
    "SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4,"
        + " 3/4",
    "SLURM_ARRAY_TASK_ID=5 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7,"
        + " 2/4",
    "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=1 SLURM_ARRAY_TASK_MIN=9 SLURM_ARRAY_TASK_MAX=9,"
        + " 0/1",
    // A Slurm task in a pod is Slurm's.
    "JOB_COMPLETION_INDEX=1 SHARD_COUNT=2 SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=3"
        + " SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=2, 0/3"
  })
  void theSchedulersSayWhichShardATaskIs(String environment, String shard) {
    assertThat(auto(environment)).hasToString(shard);
  }

  @ParameterizedTest
  @CsvSource({
    "JOB_COMPLETION_INDEX=2, SHARD_COUNT",
    "AWS_BATCH_JOB_ARRAY_INDEX=0, AWS_BATCH_JOB_ARRAY_SIZE",
    "SLURM_ARRAY_TASK_ID=0, SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=2, SLURM_ARRAY_TASK_MIN",
    "NOTHING=1, none of SLURM_ARRAY_TASK_ID",
    "JOB_COMPLETION_INDEX=x SHARD_COUNT=2, JOB_COMPLETION_INDEX=x"
  })
  void aVariableThatIsMissingOrNoNumberIsNamed(String environment, String message) {
    assertThatThrownBy(() -> auto(environment))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void anArrayWithGapsHasNoShards() {
    // sbatch --array=1,3,7
    assertThatThrownBy(
            () ->
                auto(
                    "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1"
                        + " SLURM_ARRAY_TASK_MAX=8"))
        .hasMessageContaining("even steps")
        .hasMessageContaining("SLURM_ARRAY_TASK_MAX=8");
    assertThatThrownBy(
            () ->
                auto(
                    "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1"
                        + " SLURM_ARRAY_TASK_MAX=7"))
        .hasMessageContaining("SLURM_ARRAY_TASK_ID=3");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-12-02T10:02:00Z, 2026-12-02T10:02:00Z",
    "2026-12-02T11:02:00.250+01:00, 2026-12-02T10:02:00.250Z"
  })
  void aStartIsAnInstantWithItsZone(String text, String instant) {
    assertThat(ShardOption.startAt(text, () -> NOW)).isEqualTo(Instant.parse(instant));
  }

  @ParameterizedTest
  @ValueSource(strings = {"2026-12-02T10:02:00", "10:02", "+30s", "tomorrow", ""})
  void aStartWithoutAZoneIsRefused(String text) {
    assertThatThrownBy(() -> ShardOption.startAt(text, () -> NOW))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("with its zone")
        .hasMessageContaining("startAt='" + text + "'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"2026-12-02T09:59:59Z", "2026-12-02T10:00:00Z"})
  void aStartThatIsPastIsRefused(String text) {
    assertThatThrownBy(() -> ShardOption.startAt(text, () -> NOW))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--start-at is past")
        .hasMessageContaining("now=2026-12-02T10:00:00Z");
  }

  @Test
  void aStartOnAnotherDayIsRefused() {
    assertThatThrownBy(() -> ShardOption.startAt("2026-12-03T10:00:01Z", () -> NOW))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("more than 24 h ahead: startAt=2026-12-03T10:00:01Z")
        .hasMessageContaining("now=2026-12-02T10:00:00Z");
    assertThat(ShardOption.startAt("2026-12-03T10:00:00Z", () -> NOW))
        .isEqualTo(NOW.plusSeconds(86_400));
  }
}

package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.plan.LoadPlan;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What {@code --shard} and {@code --start-at} mean. */
final class ShardOption {

  private static final Pattern SHARD = Pattern.compile("(\\d{1,9})/(\\d{1,9})");

  /** A longer wait is a wrong day or zone, found out by nobody who sees only that it waits. */
  private static final Duration LONGEST_WAIT = Duration.ofHours(24);

  private ShardOption() {}

  /**
   * Parses a shard.
   *
   * @param text {@code I/N} with I from 0, or {@code auto} for what the scheduler says
   * @param environment of this process
   * @throws IllegalArgumentException that names what is wrong or missing
   */
  static LoadPlan.Shard shard(String text, Map<String, String> environment) {
    if (text.equalsIgnoreCase("auto")) {
      return auto(environment);
    }
    Matcher matcher = SHARD.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "--shard must be I/N with I from 0 to N-1, such as 0/2 and 1/2, or auto: shard='"
              + text
              + "'");
    }
    return new LoadPlan.Shard(
        Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
  }

  private static LoadPlan.Shard auto(Map<String, String> environment) {
    if (environment.containsKey("SLURM_ARRAY_TASK_ID")) {
      return slurm(environment);
    }
    if (environment.containsKey("AWS_BATCH_JOB_ARRAY_INDEX")) {
      return new LoadPlan.Shard(
          number(environment, "AWS_BATCH_JOB_ARRAY_INDEX"),
          number(environment, "AWS_BATCH_JOB_ARRAY_SIZE"));
    }
    if (environment.containsKey("JOB_COMPLETION_INDEX")) {
      return new LoadPlan.Shard(
          number(environment, "JOB_COMPLETION_INDEX"), number(environment, "SHARD_COUNT"));
    }
    throw new IllegalArgumentException(
        "--shard auto takes index and count from the environment, which has none of"
            + " SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX, JOB_COMPLETION_INDEX; without such"
            + " a scheduler say --shard I/N");
  }

  /** An array may begin anywhere and take steps: {@code --array=1-7:2} has tasks 1, 3, 5, 7. */
  private static LoadPlan.Shard slurm(Map<String, String> environment) {
    int id = number(environment, "SLURM_ARRAY_TASK_ID");
    int count = number(environment, "SLURM_ARRAY_TASK_COUNT");
    int min = number(environment, "SLURM_ARRAY_TASK_MIN");
    int max = number(environment, "SLURM_ARRAY_TASK_MAX");
    int step = count > 1 ? (max - min) / (count - 1) : 1;
    if (step < 1 || min + (long) step * (count - 1) != max || (id - min) % step != 0) {
      throw new IllegalArgumentException(
          "--shard auto needs a Slurm array with even steps, such as --array=0-3:"
              + " SLURM_ARRAY_TASK_MIN="
              + min
              + " SLURM_ARRAY_TASK_MAX="
              + max
              + " SLURM_ARRAY_TASK_COUNT="
              + count
              + " SLURM_ARRAY_TASK_ID="
              + id);
    }
    return new LoadPlan.Shard((id - min) / step, count);
  }

  private static int number(Map<String, String> environment, String name) {
    String value = environment.get(name);
    if (value == null) {
      throw new IllegalArgumentException(
          "--shard auto needs the environment variable " + name + ", which is not set");
    }
    try {
      return Integer.parseInt(value.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--shard auto: no number: " + name + "=" + value, e);
    }
  }

  /**
   * Parses the instant at which a run is to start.
   *
   * @param text ISO 8601 with a zone
   * @param now by the wall clock
   * @throws IllegalArgumentException if it is none, past, or more than 24 h ahead
   */
  static Instant startAt(String text, InstantSource now) {
    Instant at;
    try {
      at = OffsetDateTime.parse(text.strip()).toInstant();
    } catch (DateTimeException e) {
      throw new IllegalArgumentException(
          "--start-at must be an instant in ISO 8601 with its zone, such as 2026-12-02T10:00:00Z"
              + " (date -u -d '+2 minutes' +%FT%TZ): startAt='"
              + text
              + "'",
          e);
    }
    Instant present = now.instant();
    if (!at.isAfter(present)) {
      throw new IllegalArgumentException(
          "--start-at is past, all shards must be ready before it: startAt="
              + at
              + " now="
              + present
              + "; take an instant a minute or more ahead");
    }
    if (at.isAfter(present.plus(LONGEST_WAIT))) {
      throw new IllegalArgumentException(
          "--start-at is more than "
              + LONGEST_WAIT.toHours()
              + " h ahead: startAt="
              + at
              + " now="
              + present
              + "; is it the right day, and the right zone?");
    }
    return at;
  }
}

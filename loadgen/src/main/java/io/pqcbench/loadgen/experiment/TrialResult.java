package io.pqcbench.loadgen.experiment;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.List;
import java.util.Map;

/**
 * What is kept of one attempt at a trial: a line of {@code trials.jsonl}. Everything else is in its
 * bundle.
 *
 * @param trial its name
 * @param block from 1
 * @param position in the block, from 1
 * @param arm by name
 * @param attempt from 1; more than 1 for a repetition
 * @param directory of its bundle, from the experiment's directory
 * @param startedAt wall clock, ISO 8601
 * @param endedAt wall clock, ISO 8601
 * @param machine number of the session, from 0, in which it ran
 * @param verdict of the run; {@code FAILED} if it left no summary, {@code INTERRUPTED} if it was
 *     ended or killed before its time
 * @param objections rules that object
 * @param failure why there is no summary; null if there is one
 * @param count measured successes
 * @param failures measured arrivals that were no success
 * @param figures percentiles and mean by phase, in microseconds; null where samples are too few
 * @param conditions what has to be the same in all arms, but for what is compared
 * @param coolDown the wait before it; null if nothing was waited for
 */
public record TrialResult(
    String trial,
    int block,
    int position,
    String arm,
    int attempt,
    String directory,
    String startedAt,
    String endedAt,
    int machine,
    String verdict,
    List<String> objections,
    String failure,
    long count,
    long failures,
    Map<String, Map<String, Double>> figures,
    Map<String, String> conditions,
    CoolDown coolDown) {

  static final String TRUSTED = "TRUSTED";
  static final String FAILED = "FAILED";
  static final String INTERRUPTED = "INTERRUPTED";

  /**
   * The wait before a trial, for the sockets of the one before it.
   *
   * @param seconds that it took
   * @param timeWaitAtStart sockets in TIME_WAIT when it began
   * @param timeWaitAtEnd those left
   * @param drained whether they were down to what they had been before the experiment
   */
  public record CoolDown(
      double seconds, long timeWaitAtStart, long timeWaitAtEnd, boolean drained) {}

  /** Returns whether it needs no repetition. */
  @JsonIgnore
  public boolean isTrusted() {
    return verdict.equals(TRUSTED);
  }

  /** Returns whether it ran to its end, however good it was. */
  @JsonIgnore
  public boolean isComplete() {
    return !verdict.equals(FAILED) && !verdict.equals(INTERRUPTED);
  }

  /** Returns a figure such as {@code handshake.p50}, microseconds; null if there is none. */
  public Double figure(String metric) {
    int dot = metric.indexOf('.');
    Map<String, Double> phase = figures.get(metric.substring(0, dot));
    return phase == null ? null : phase.get(metric.substring(dot + 1));
  }
}

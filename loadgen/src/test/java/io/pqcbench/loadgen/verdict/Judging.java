package io.pqcbench.loadgen.verdict;

import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.monitor.MachineRecord;
import io.pqcbench.loadgen.monitor.Machines;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.Samples;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Judges a run of 20 seconds without a warm-up; what is not set is as it should be. */
final class Judging {

  static final int SECONDS = 20;

  private final RunRecord record;
  private MachineRecord machine = new Machines(0, SECONDS).tenths(10 * SECONDS).record();
  private Tail.Report tail;
  private boolean fewDescriptors;
  private boolean live;
  private String clocksource = "tsc";
  private double clockCostNanos = 25;
  private String javaStack;
  private boolean groupVerified = true;
  private long pauseThresholdNanos = 1_000_000L;
  private List<ServerFacts.Flight> flights = List.of();
  private Map<String, Long> allowances = Map.of();
  private long seconds = SECONDS;

  private Judging(RunRecord record) {
    this.record = record;
  }

  /** Of 300 requests a second, which all take a millisecond. */
  static Judging steady() {
    return of(new Samples(0).steady(300, 0, SECONDS));
  }

  static Judging of(Samples samples) {
    return new Judging(samples.record());
  }

  Judging seconds(long value) {
    seconds = value;
    return this;
  }

  Judging machine(Machines machines) {
    machine = machines.record();
    return this;
  }

  /** A tail of so many, of which one cause has this share; the rest is the server's. */
  Judging tail(long count, String cause, double share) {
    return tail(count, cause, share, 0.1);
  }

  Judging tail(long count, String cause, double share, double clustered) {
    long explained = Math.round(count * share);
    tail =
        new Tail.Report(
            count,
            5_000,
            10,
            clustered,
            "scattered",
            List.of(
                new Tail.Share(cause, new Cause(cause, "").fault(), explained, share, "an example"),
                new Tail.Share(
                    Cause.SERVER_OR_NETWORK,
                    Fault.SERVER,
                    count - explained,
                    1 - share,
                    "an example")));
    return this;
  }

  Judging fewDescriptors() {
    fewDescriptors = true;
    return this;
  }

  /** While the run goes: no arrival is missed, and the tail is not known. */
  Judging live() {
    live = true;
    return this;
  }

  Judging clock(String source, double costNanos) {
    clocksource = source;
    clockCostNanos = costNanos;
    return this;
  }

  Judging pauseThreshold(long nanos) {
    pauseThresholdNanos = nanos;
    return this;
  }

  Judging javaStack(String stack) {
    javaStack = stack;
    return this;
  }

  Judging groupNotReported() {
    groupVerified = false;
    return this;
  }

  /** What the server sends in a handshake, over segments of 1,448 bytes. */
  Judging flight(long bytes) {
    flights = List.of(ServerFacts.Flight.of(bytes, (bytes + 1_447) / 1_448, 1_448));
    return this;
  }

  Judging allowances(Map<String, Long> grown) {
    allowances = grown;
    return this;
  }

  Rules.Judgement judge() {
    return Rules.judge(
        new Evidence(
            record,
            machine,
            null,
            tail,
            0,
            seconds * 1_000_000_000L,
            live ? -1 : record.allCount(),
            false,
            List.of(),
            new Evidence.Conditions(
                true,
                false,
                fewDescriptors,
                clocksource,
                clockCostNanos,
                pauseThresholdNanos,
                javaStack,
                groupVerified,
                flights,
                allowances)));
  }

  /** The names of the rules that object. */
  List<String> rules() {
    return judge().findings().stream().map(Finding::rule).toList();
  }

  Finding finding(String rule) {
    Optional<Finding> found =
        judge().findings().stream().filter(finding -> finding.rule().equals(rule)).findFirst();
    return found.orElseThrow(() -> new AssertionError(rule + " is not among " + rules()));
  }
}

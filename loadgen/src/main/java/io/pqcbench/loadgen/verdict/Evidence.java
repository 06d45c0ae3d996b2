package io.pqcbench.loadgen.verdict;

import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.monitor.MachineRecord;
import io.pqcbench.loadgen.record.RunRecord;
import java.util.List;
import java.util.Map;

/**
 * Everything that a run is judged by.
 *
 * @param record what was recorded
 * @param machine what the machine did meanwhile
 * @param server what the server's machine did, as far as it was watched; null if it was not
 * @param tail the slowest hundredth with its causes; null while the run goes
 * @param fromNanos where the judged part begins, after the start of the run
 * @param toNanos where it ends
 * @param scheduled arrivals of the whole run, each of which must have an outcome; -1 while the run
 *     goes
 * @param interrupted whether it was stopped before its end
 * @param saidEarly what {@link Rules#early} said when it ended the run; empty if it did not
 * @param conditions under which it ran
 */
public record Evidence(
    RunRecord record,
    MachineRecord machine,
    MachineRecord server,
    Tail.Report tail,
    long fromNanos,
    long toNanos,
    long scheduled,
    boolean interrupted,
    List<Finding> saidEarly,
    Conditions conditions) {

  /**
   * What does not change during a run, or is read at its two ends only.
   *
   * @param watched whether the machine was watched
   * @param pooled whether arrivals wait for a free connection, so that lag is not the client's
   *     alone
   * @param fewDescriptors whether the limit of attempts in flight comes from the limit of open
   *     files
   * @param clocksource of the kernel; null if unknown
   * @param clockCostNanos of reading the clock once
   * @param pauseThresholdNanos stops that are shorter are the machine's usual noise
   * @param javaStack the TLS stack, if it is one in Java; null for native code
   * @param groupVerified whether somebody tells the negotiated group, the wire or the TLS stack
   * @param flights what each target sends in a handshake, null where that is not known; empty
   *     unless the run's connections make full ones
   * @param allowances how much the counters of exceeded network allowances grew, by name
   */
  public record Conditions(
      boolean watched,
      boolean pooled,
      boolean fewDescriptors,
      String clocksource,
      double clockCostNanos,
      long pauseThresholdNanos,
      String javaStack,
      boolean groupVerified,
      List<ServerFacts.Flight> flights,
      Map<String, Long> allowances) {}

  /** Returns whether the run still goes, so that what is in flight has no outcome yet. */
  boolean live() {
    return scheduled < 0;
  }
}

package io.pqcbench.loadgen.bundle;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.MachineRecord;
import io.pqcbench.loadgen.monitor.NetCounters;
import io.pqcbench.loadgen.monitor.ProcessUsage;
import io.pqcbench.loadgen.monitor.StealReport;
import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.Timeline;
import io.pqcbench.loadgen.verdict.Finding;
import io.pqcbench.loadgen.verdict.Rules;
import io.pqcbench.loadgen.verdict.Tail;
import io.pqcbench.loadgen.verdict.Undisturbed;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * The result of a run: {@code summary.json}, and what the final table prints. All of the measured
 * part, unless it says otherwise.
 *
 * @param schema name and version of this format
 * @param verdict see {@link io.pqcbench.loadgen.verdict.Verdict}
 * @param findings what speaks against the run
 * @param notReported what could not be watched on this machine, and why
 * @param serverClock how the times of the server's monitor were put on this clock; null without one
 * @param start which part of a run this was, and when it began
 * @param tlsStack with its version
 * @param servers what each target showed in the preflight
 * @param interrupted whether it was stopped before its end
 * @param measuredSeconds length of the measured part
 * @param planned arrivals, with the warm-up; of a shard, its own
 * @param plannedMeasured arrivals
 * @param offeredPerSecond planned arrivals a second
 * @param achievedPerSecond attempts started a second
 * @param completedPerSecond successes a second
 * @param outcomes how many ended in which way
 * @param warmupOutcomes the same for the warm-up
 * @param sessions of a run that resumes sessions; null of others
 * @param pool of a run over connections that are kept open; null of others
 * @param kinds attempts to each of several targets, and full and resumed handshakes, apart; empty
 *     unless the run has several kinds
 * @param phases latencies in microseconds
 * @param clientCpuMicrosPerHandshake user and system time of the whole client process per finished
 *     attempt
 * @param laneCpuMicrosPerHandshake the lanes' share of it
 * @param clientCpuIncludesPolling whether lanes polled, so that the two numbers above say nothing
 *     of the work
 * @param laneWorkMicrosPerHandshake time in which the lanes did not poll in vain; null when they do
 *     not poll
 * @param allocatedBytesPerHandshake heap bytes allocated by the lanes per finished attempt
 * @param processAllocatedBytesPerHandshake the same for all threads
 * @param collections garbage collections
 * @param tail the slowest hundredth of the measured successes, with its causes
 * @param machine what the machine did meanwhile
 * @param bytesOutPerHandshake client's handshake flights
 * @param bytesInPerHandshake server's handshake flights
 * @param bytesOutPerConnection all bytes sent
 * @param bytesInPerConnection all bytes read
 * @param bodyBytesPerResponse of the responses' bodies
 * @param bodyBytesPerSecond the same of all, over the measured time: the throughput
 * @param preparedLate arrivals, with the warm-up, for which no connection was ready when they were
 *     due
 * @param valuesClamped latencies, with the warm-up, longer than the histograms hold; they count as
 *     the longest
 * @param errors by class, phase and detail, with the warm-up
 */
public record Summary(
    String schema,
    String verdict,
    List<Finding> findings,
    List<String> notReported,
    String serverClock,
    StartSummary start,
    String tlsStack,
    List<ServerSummary> servers,
    boolean interrupted,
    double measuredSeconds,
    long planned,
    long plannedMeasured,
    double offeredPerSecond,
    double achievedPerSecond,
    double completedPerSecond,
    Map<Outcome, Long> outcomes,
    Map<Outcome, Long> warmupOutcomes,
    Map<String, PhaseSummary> phases,
    SessionSummary sessions,
    PoolSummary pool,
    Map<String, KindSummary> kinds,
    double clientCpuMicrosPerHandshake,
    double laneCpuMicrosPerHandshake,
    boolean clientCpuIncludesPolling,
    Double laneWorkMicrosPerHandshake,
    double allocatedBytesPerHandshake,
    double processAllocatedBytesPerHandshake,
    long collections,
    Tail.Report tail,
    MachineSummary machine,
    double bytesOutPerHandshake,
    double bytesInPerHandshake,
    double bytesOutPerConnection,
    double bytesInPerConnection,
    double bodyBytesPerResponse,
    double bodyBytesPerSecond,
    long preparedLate,
    long valuesClamped,
    List<ErrorSummary> errors) {

  /**
   * Three decimals of a microsecond are a nanosecond; more would be noise that looks like
   * knowledge.
   */
  private static double rounded(double value) {
    return Double.isFinite(value) ? Math.round(value * 1000) / 1000.0 : value;
  }

  /** Name and version of the format. */
  public static final String SCHEMA = "loadgen-summary/3";

  /** A percentile is printed from this many samples on: ten of them lie beyond it. */
  public static long samplesFor(double percentile) {
    return Math.round(10 / (1 - percentile / 100));
  }

  /** The percentiles that are reported. */
  public static final List<Double> PERCENTILES = List.of(50.0, 90.0, 95.0, 99.0, 99.9, 99.99);

  /**
   * Microseconds. A percentile for which there are not enough samples is null.
   *
   * @param count successes
   * @param mean arithmetic
   * @param min shortest
   * @param max longest
   * @param p50 median
   * @param p90 needs 100 samples
   * @param p95 needs 200 samples
   * @param p99 needs 1,000 samples
   * @param p999 99.9th, needs 10,000 samples
   * @param p9999 99.99th, needs 100,000 samples
   * @param doubts why a percentile should not be quoted, by its name; empty if all may be
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record PhaseSummary(
      long count,
      double mean,
      double min,
      double max,
      Double p50,
      Double p90,
      Double p95,
      Double p99,
      Double p999,
      Double p9999,
      Map<String, String> doubts) {

    static PhaseSummary of(Histogram histogram, Map<String, String> doubts) {
      if (histogram.getTotalCount() == 0) {
        return new PhaseSummary(
            0, Double.NaN, Double.NaN, Double.NaN, null, null, null, null, null, null, Map.of());
      }
      return new PhaseSummary(
          histogram.getTotalCount(),
          rounded(histogram.getMean() / 1e3),
          histogram.getMinValue() / 1e3,
          histogram.getMaxValue() / 1e3,
          percentile(histogram, 50),
          percentile(histogram, 90),
          percentile(histogram, 95),
          percentile(histogram, 99),
          percentile(histogram, 99.9),
          percentile(histogram, 99.99),
          doubts);
    }

    private static Map<String, String> doubts(
        RunRecord record, Phase phase, Undisturbed undisturbed) {
      Map<String, String> doubts = new LinkedHashMap<>();
      for (double percentile : PERCENTILES) {
        if (record.total(phase).getTotalCount() >= samplesFor(percentile)) {
          String doubt = undisturbed.doubt(record, phase, percentile);
          if (doubt != null) {
            doubts.put(name(percentile), doubt);
          }
        }
      }
      return doubts;
    }

    /** Returns the name of a percentile's field, such as p999 for 99.9. */
    public static String name(double percentile) {
      String digits =
          percentile == Math.rint(percentile)
              ? Long.toString((long) percentile)
              : Double.toString(percentile).replace(".", "");
      return "p" + digits;
    }

    private static Double percentile(Histogram histogram, double percentile) {
      return histogram.getTotalCount() < samplesFor(percentile)
          ? null
          : (Double) (histogram.getValueAtPercentile(percentile) / 1e3);
    }

    /** Returns one of {@link #PERCENTILES}; null if there are not enough samples. */
    public Double at(double percentile) {
      return switch (PERCENTILES.indexOf(percentile)) {
        case 0 -> p50;
        case 1 -> p90;
        case 2 -> p95;
        case 3 -> p99;
        case 4 -> p999;
        case 5 -> p9999;
        default -> throw new IllegalArgumentException("not reported: percentile=" + percentile);
      };
    }
  }

  /**
   * What the machine did in the measured part. A time that is not reported is null, a counter -1.
   *
   * @param laneBusyShare share of the busiest lane's time that was work
   * @param laneBusiestSecond the same in its busiest second
   * @param leastIdleShare of a processor over five seconds
   * @param processCpus processors' worth of this process's work
   * @param otherCpus processors' worth of others' work
   * @param runDelayShare share of the time in which a lane waited for a processor
   * @param runDelayWorstMicros in a tenth of a second
   * @param stealMicros in all, of the processor that lost most in each tenth
   * @param throttledMicros for which the CPU quota stopped the process
   * @param pressureShare of time in which some task waited for a processor
   * @param stops by source
   * @param synRetransmits of this network namespace
   * @param retransmits segments, of this network namespace
   * @param retransmittingConnections measured successes on which the client sent a segment again
   * @param delayedAcks of this network namespace
   * @param listenOverflows of this network namespace
   * @param disturbedSamples measured successes that a disturbance touched
   * @param wallDriftMicros by how much the wall clock moved against the monotonic one
   * @param monitorCpuMicrosPerHandshake what watching cost
   * @param monitorCpuShare of one processor
   */
  public record MachineSummary(
      double laneBusyShare,
      double laneBusiestSecond,
      double leastIdleShare,
      double processCpus,
      double otherCpus,
      double runDelayShare,
      double runDelayWorstMicros,
      double stealMicros,
      double throttledMicros,
      double pressureShare,
      Map<String, Stops> stops,
      long synRetransmits,
      long retransmits,
      long retransmittingConnections,
      long delayedAcks,
      long listenOverflows,
      long disturbedSamples,
      double wallDriftMicros,
      double monitorCpuMicrosPerHandshake,
      double monitorCpuShare) {

    /** Number, sum and longest of the stops from one source, microseconds. */
    public record Stops(long count, double totalMicros, double maxMicros) {}

    static MachineSummary of(
        MachineRecord machine,
        RunRecord record,
        Undisturbed undisturbed,
        boolean stealReported,
        long finished) {
      Map<String, Stops> stops = new LinkedHashMap<>();
      for (Source source : Source.values()) {
        MachineRecord.Tally tally = machine.disturbances(source);
        if (tally.count() > 0) {
          stops.put(
              source.label(),
              new Stops(tally.count(), rounded(tally.total() / 1e3), rounded(tally.max() / 1e3)));
        }
      }
      NetCounters net = machine.net();
      double length = Math.max(1, machine.lengthNanos());
      long watching =
          machine.threads(Role.HICCUP).cpuNanos() + machine.threads(Role.MONITOR).cpuNanos();
      return new MachineSummary(
          rounded(machine.laneBusyShare()),
          rounded(machine.busiestSecond()),
          rounded(machine.leastIdle().share()),
          rounded(machine.processCpus()),
          rounded(machine.otherCpus()),
          rounded(machine.runDelay().total() / length),
          rounded(machine.runDelay().max() / 1e3),
          stealReported ? rounded(machine.steal().total() / 1e3) : Double.NaN,
          rounded(machine.throttled().total() / 1e3),
          rounded(machine.pressure()),
          stops,
          net == null ? -1 : net.synRetrans(),
          net == null ? -1 : net.retransSegs(),
          record.retransmitting(),
          net == null ? -1 : net.delayedAcks(),
          net == null ? -1 : net.listenOverflows(),
          undisturbed.disturbed(),
          rounded(machine.wallDriftNanos() / 1e3),
          rounded(watching / 1e3 / finished),
          rounded(watching / length));
    }
  }

  /**
   * Attempts of one kind, without the warm-up.
   *
   * @param outcomes by class
   * @param phases by their labels
   */
  public record KindSummary(Map<Outcome, Long> outcomes, Map<String, PhaseSummary> phases) {
    static KindSummary of(RunRecord.Part part) {
      Map<Outcome, Long> outcomes = new LinkedHashMap<>();
      for (Outcome outcome : Outcome.values()) {
        put(outcomes, outcome, part.count(outcome));
      }
      Map<String, PhaseSummary> phases = new LinkedHashMap<>();
      for (Phase phase : Phase.ALL) {
        phases.put(phase.label(), PhaseSummary.of(part.total(phase), Map.of()));
      }
      return new KindSummary(outcomes, phases);
    }
  }

  /**
   * What became of session tickets, with the warm-up.
   *
   * @param primingHandshakes full handshakes before the run, which collected the first tickets
   * @param issued sessions that the server has issued, in priming and run
   * @param offered to the server; in the priming one, to see that it accepts them
   */
  public record SessionSummary(long primingHandshakes, long issued, long offered) {}

  /**
   * What became of the connections that were kept for requests, with the warm-up.
   *
   * @param connections that were to be kept open
   * @param opened in all
   * @param failed to be opened; their errors are among the others
   * @param closedByServer while they were idle
   * @param repeated requests sent again, because the server had closed their connection meanwhile
   * @param waited arrivals that found no connection idle; their wait is in lag and response
   */
  public record PoolSummary(
      int connections, long opened, long failed, long closedByServer, long repeated, long waited) {}

  /**
   * Which part of a run this was, and when it began.
   *
   * @param shard from 0
   * @param shards that made the run together; 1 for all of it
   * @param seed of Poisson arrivals
   * @param startAt what was agreed; null if nothing was
   * @param startedAt when it began by the wall clock, read a second later
   * @param lateMicros from the one to the other; null if nothing was agreed
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record StartSummary(
      int shard, int shards, long seed, Instant startAt, Instant startedAt, Double lateMicros) {}

  /**
   * What a target showed in the preflight. Of it only the leaf is compared with every handshake
   * since, unless certificates are not checked; how it signed and how it sent are the preflight's.
   *
   * @param target as asked for
   * @param certificate and its chain
   * @param flight the server's part of the preflight's handshake; null in TLS 1.2, and over QUIC
   */
  @JsonInclude(JsonInclude.Include.ALWAYS)
  public record ServerSummary(
      String target, ServerFacts.CertificateFacts certificate, ServerFacts.Flight flight) {}

  /** Failures that are alike; {@code example} may be null. */
  public record ErrorSummary(
      String outcome, String diedIn, String detail, long count, String example) {}

  /**
   * Sums up a run.
   *
   * @param record what was recorded
   * @param sessions of a run that resumes sessions; null of others
   * @param pool of a run over connections that are kept open; null of others
   * @param machine what the machine did meanwhile
   * @param undisturbed the samples that nothing touched
   * @param tail the slowest hundredth
   * @param steal whether the platform reports it
   * @param notReported what could not be watched
   * @param serverClock how the server's monitor was aligned; null without one
   * @param start which part of a run this was, and when it began
   * @param tlsStack with its version
   * @param servers what each target showed in the preflight
   * @param judgement of it
   * @param usage of the client's process over the measured part
   * @param busyNanos in which the lanes of a polling client worked over the measured part; -1 when
   *     they do not poll
   * @param planned arrivals in all
   * @param warmupNanos length of the part that is not measured
   * @param measuredSeconds length of the measured part
   * @param preparedLate arrivals without a prepared connection
   * @param interrupted whether it was stopped before its end
   */
  public static Summary of(
      RunRecord record,
      SessionSummary sessions,
      PoolSummary pool,
      MachineRecord machine,
      Undisturbed undisturbed,
      Tail.Report tail,
      StealReport steal,
      List<String> notReported,
      String serverClock,
      StartSummary start,
      String tlsStack,
      List<ServerSummary> servers,
      Rules.Judgement judgement,
      ProcessUsage usage,
      long busyNanos,
      long planned,
      long warmupNanos,
      double measuredSeconds,
      long preparedLate,
      boolean interrupted) {
    Map<Outcome, Long> outcomes = new LinkedHashMap<>();
    Map<Outcome, Long> warmup = new LinkedHashMap<>();
    for (Outcome outcome : Outcome.values()) {
      put(outcomes, outcome, record.measured(outcome));
      put(warmup, outcome, record.all(outcome) - record.measured(outcome));
    }
    Map<String, PhaseSummary> phases = new LinkedHashMap<>();
    for (Phase phase : Phase.ALL) {
      phases.put(
          phase.label(),
          PhaseSummary.of(record.total(phase), PhaseSummary.doubts(record, phase, undisturbed)));
    }
    Map<String, KindSummary> kinds = new LinkedHashMap<>();
    record.parts().forEach(part -> kinds.put(part.name(), KindSummary.of(part)));
    // By when it happened: a client that is late would otherwise seem to have kept its rate.
    int from = (int) (warmupNanos / Timeline.SLOT_NANOS);
    int to = from + (int) Math.max(1, Math.round(measuredSeconds * 1e9 / Timeline.SLOT_NANOS));
    long started = record.timeline().started(from, to);
    long completed = record.timeline().done(from, to);
    boolean polls = busyNanos >= 0;
    return new Summary(
        SCHEMA,
        judgement.verdict().name(),
        judgement.findings(),
        notReported,
        serverClock,
        start,
        tlsStack,
        servers,
        interrupted,
        measuredSeconds,
        planned,
        record.measuredCount(),
        rounded(record.measuredCount() / measuredSeconds),
        rounded(started / measuredSeconds),
        rounded(completed / measuredSeconds),
        outcomes,
        warmup,
        phases,
        sessions,
        pool,
        kinds,
        rounded(usage.cpuMicrosPerAttempt()),
        rounded(usage.laneCpuNanos() / 1e3 / usage.finishedAttempts()),
        polls,
        polls ? (Double) rounded(busyNanos / 1e3 / usage.finishedAttempts()) : null,
        rounded(usage.laneBytesPerAttempt()),
        rounded((double) usage.allocatedBytes() / usage.finishedAttempts()),
        usage.collections(),
        tail,
        MachineSummary.of(
            machine,
            record,
            undisturbed,
            steal != StealReport.NOT_REPORTED,
            usage.finishedAttempts()),
        rounded(record.bytes().handshakeOut()),
        rounded(record.bytes().handshakeIn()),
        rounded(record.bytes().out()),
        rounded(record.bytes().in()),
        rounded(record.bytes().body()),
        rounded(record.bytes().bodies() / measuredSeconds),
        preparedLate,
        record.clamped(),
        record.errors().entrySet().stream()
            .map(
                error ->
                    new ErrorSummary(
                        error.getKey().outcome().name(),
                        error.getKey().diedIn(),
                        SampleFormat.detail(error.getKey().outcome(), error.getKey().detail()),
                        error.getValue().count(),
                        error.getValue().example()))
            .toList());
  }

  private static void put(Map<Outcome, Long> counts, Outcome outcome, long count) {
    if (count > 0 || outcome == Outcome.SUCCESS) {
      counts.put(outcome, count);
    }
  }
}

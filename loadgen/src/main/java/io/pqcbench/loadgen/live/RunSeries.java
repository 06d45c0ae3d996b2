package io.pqcbench.loadgen.live;

import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.monitor.CpuTimes;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.verdict.Finding;
import io.pqcbench.loadgen.verdict.Rules;
import io.pqcbench.loadgen.verdict.Verdict;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

/**
 * The time series of a run. Each tick makes all of them anew, and a scrape gets the last: so its
 * numbers belong to one instant, and it can be answered while the next ones are made.
 *
 * <p>Phases are cumulative histograms with bounds of their own, counted from the HdrHistograms of
 * the whole run. Summaries with quantiles could be added up neither over time nor over load
 * generators, Micrometer's own histograms want every value by itself, and with these {@code
 * histogram_quantile} works over any range.
 */
final class RunSeries implements MultiCollector {

  /** Ten in each decade (the preferred numbers R10) from 10 us to 10 s, in nanoseconds. */
  private static final long[] BOUNDS = bounds();

  /** The same in seconds, and the rest. */
  private static final double[] BOUNDS_SECONDS =
      Arrays.copyOf(Arrays.stream(BOUNDS).mapToDouble(n -> n / 1e9).toArray(), BOUNDS.length + 1);

  static {
    BOUNDS_SECONDS[BOUNDS.length] = Double.POSITIVE_INFINITY;
  }

  private final InfoSnapshot run;

  // Written by the writer's thread alone.
  private final Map<Labels, Double> laneBusy = new TreeMap<>();
  private final Map<Labels, Double> disturbed = new TreeMap<>();
  private final Map<Labels, Double> verdicts = new TreeMap<>();
  private final Map<Labels, Double> findings = new TreeMap<>();
  private double leastIdle = Double.NaN;
  private double stealSeconds;
  private double runDelaySeconds;
  private double hiccupSeconds;
  private double behindSeconds;
  private MetricSnapshots ofRecord = MetricSnapshots.of();

  private volatile MetricSnapshots latest;

  RunSeries(Metrics.Run of) {
    run =
        InfoSnapshot.builder()
            .name("loadgen_run")
            .help("What is run.")
            .dataPoint(
                InfoSnapshot.InfoDataPointSnapshot.builder()
                    .labels(
                        Labels.of(
                            "target", of.target(),
                            "groups", of.groups(),
                            "rate", of.ratePerSecond(),
                            "version", of.version()))
                    .build())
            .build();
    for (Disturbance.Source source : Disturbance.Source.values()) {
      disturbed.put(Labels.of("source", source.label()), 0.0);
    }
    for (Verdict verdict : Verdict.values()) {
      verdicts.put(Labels.of("verdict", verdict.name()), 0.0);
    }
    latest = MetricSnapshots.of(run);
  }

  private static long[] bounds() {
    long[] decade = {100, 125, 160, 200, 250, 315, 400, 500, 630, 800};
    long[] all = new long[6 * decade.length + 1];
    long scale = 100;
    for (int i = 0; i < all.length; i++) {
      all[i] = decade[i % decade.length] * scale;
      scale *= i % decade.length == decade.length - 1 ? 10 : 1;
    }
    return all;
  }

  @Override
  public MetricSnapshots collect() {
    return latest;
  }

  void tick(Metrics.Tick tick) {
    if (!tick.intervals().isEmpty()) {
      machine(tick);
    }
    for (Disturbance disturbance : tick.disturbances()) {
      disturbed.merge(
          Labels.of("source", disturbance.source().label()),
          disturbance.amountNanos() / 1e9,
          Double::sum);
    }
    if (tick.judgement() != null) {
      judge(tick.judgement());
    }
    ofRecord = ofRecord(tick);
    publish();
  }

  void judged(Rules.Judgement judgement) {
    judge(judgement);
    publish();
  }

  private void machine(Metrics.Tick tick) {
    double length = 0;
    Map<Integer, Long> busyNanos = new TreeMap<>();
    Map<Integer, Long> idleTicks = new TreeMap<>();
    Map<Integer, Long> allTicks = new TreeMap<>();
    hiccupSeconds = 0;
    behindSeconds = 0;
    for (Interval interval : tick.intervals()) {
      length += interval.lengthNanos();
      for (int lane = 0; lane < interval.lanes().size(); lane++) {
        busyNanos.merge(lane, interval.lanes().get(lane).busyNanos(), Long::sum);
      }
      for (CpuTimes cpu : interval.cpus()) {
        long worked = cpu.busy() + Math.max(0, cpu.steal());
        idleTicks.merge(cpu.cpu(), cpu.total() - worked, Long::sum);
        allTicks.merge(cpu.cpu(), cpu.total(), Long::sum);
      }
      stealSeconds += interval.stealNanos() / 1e9;
      runDelaySeconds += Math.max(0, interval.worstLaneRunDelayNanos()) / 1e9;
      hiccupSeconds = Math.max(hiccupSeconds, interval.hiccupNanos() / 1e9);
      behindSeconds = Math.max(behindSeconds, interval.behindNanos() / 1e9);
    }
    for (Map.Entry<Integer, Long> lane : busyNanos.entrySet()) {
      laneBusy.put(Labels.of("lane", lane.getKey().toString()), lane.getValue() / length);
    }
    leastIdle =
        idleTicks.keySet().stream()
            .filter(cpu -> allTicks.get(cpu) > 0)
            // The kernel estimates idle time, and may take a tick of it back.
            .mapToDouble(cpu -> Math.max(0, idleTicks.get(cpu)) / (double) allTicks.get(cpu))
            .min()
            .orElse(Double.NaN);
  }

  private void judge(Rules.Judgement judgement) {
    for (Verdict verdict : Verdict.values()) {
      verdicts.put(
          Labels.of("verdict", verdict.name()), judgement.verdict() == verdict ? 1.0 : 0.0);
    }
    // One that is gone stays as a 0: a series that just ends would be shown for five minutes more.
    findings.replaceAll((labels, found) -> 0.0);
    for (Finding finding : judgement.findings()) {
      findings.put(
          Labels.of(
              "rule", finding.rule(),
              "level", finding.level().name(),
              "fault", finding.fault().name()),
          1.0);
    }
  }

  private static MetricSnapshots ofRecord(Metrics.Tick tick) {
    RunRecord record = tick.record();
    Map<Labels, Double> attempts = new TreeMap<>();
    for (Outcome outcome : Outcome.values()) {
      attempts.put(Labels.of("outcome", outcome.name()), (double) record.all(outcome));
    }
    HistogramSnapshot.Builder phases =
        HistogramSnapshot.builder()
            .name("loadgen_phase_seconds")
            .help("Phases of the successful attempts, without those of the warm-up.");
    for (Phase phase : Phase.ALL) {
      phases.dataPoint(buckets(phase, record.total(phase)));
    }
    return MetricSnapshots.of(
        gauge("loadgen_offered_rate", "Planned arrivals a second.", tick.offered()),
        gauge("loadgen_started_rate", "Attempts started a second.", tick.started()),
        gauge(
            "loadgen_completed_rate",
            "Attempts that ended a second, however they did.",
            tick.completed()),
        gauge("loadgen_in_flight", "Attempts that are started and not over.", tick.inFlight()),
        counter(
            "loadgen_skipped",
            "Arrivals that were not started, because too many attempts were in flight.",
            Map.of(Labels.EMPTY, (double) record.all(Outcome.SKIPPED))),
        counter(
            "loadgen_attempts",
            "Arrivals by what became of them, with those of the warm-up and the skipped.",
            attempts),
        phases.build());
  }

  /**
   * A cell of the HdrHistogram that straddles a bound is counted below it, so that a value of
   * exactly a bound is; at most a thousandth of the bound is lost by that.
   */
  private static HistogramSnapshot.HistogramDataPointSnapshot buckets(
      Phase phase, Histogram values) {
    long[] counts = new long[BOUNDS.length + 1];
    double sum = 0;
    int bucket = 0;
    for (HistogramIterationValue step : values.recordedValues()) {
      long nanos = values.lowestEquivalentValue(step.getValueIteratedTo());
      while (bucket < BOUNDS.length && nanos > BOUNDS[bucket]) {
        bucket++;
      }
      counts[bucket] += step.getCountAddedInThisIterationStep();
      sum += values.medianEquivalentValue(nanos) / 1e9 * step.getCountAddedInThisIterationStep();
    }
    return HistogramSnapshot.HistogramDataPointSnapshot.builder()
        .labels(Labels.of("phase", phase.label()))
        .classicHistogramBuckets(ClassicHistogramBuckets.of(BOUNDS_SECONDS, counts))
        .sum(sum)
        .build();
  }

  private void publish() {
    MetricSnapshots.Builder all = MetricSnapshots.builder().metricSnapshot(run);
    ofRecord.forEach(all::metricSnapshot);
    all.metricSnapshot(
            gauge(
                "loadgen_lane_busy_ratio",
                "Share of a lane's time in the last second that was work.",
                laneBusy))
        .metricSnapshot(
            gauge(
                "loadgen_behind_schedule_seconds",
                "By how much the next arrival was overdue in the last second, at worst.",
                behindSeconds))
        .metricSnapshot(
            gauge(
                "loadgen_cpu_idle_ratio",
                "Idle share of the processor that was least idle in the last second; NaN where it"
                    + " is not reported.",
                leastIdle))
        .metricSnapshot(
            gauge(
                "loadgen_hiccup_max_seconds",
                "Longest time in the last second in which no thread of this process ran.",
                hiccupSeconds))
        .metricSnapshot(
            counter(
                "loadgen_steal_seconds",
                "Time for which the hypervisor ran something else, of the processor that lost"
                    + " most; 0 also where it is not reported.",
                Map.of(Labels.EMPTY, stealSeconds)))
        .metricSnapshot(
            counter(
                "loadgen_run_delay_seconds",
                "Time for which a lane was runnable and did not run, of the lane that waited"
                    + " longest.",
                Map.of(Labels.EMPTY, runDelaySeconds)))
        .metricSnapshot(
            counter(
                "loadgen_disturbance_seconds",
                "Time that was taken from the client, by what took it; one stop may be seen by"
                    + " several sources.",
                disturbed))
        .metricSnapshot(
            gauge(
                "loadgen_verdict",
                "1 for the verdict on the run so far; 0 for all before the first.",
                verdicts))
        .metricSnapshot(
            gauge(
                "loadgen_finding",
                "1 for a rule that objects to the run so far, 0 for one that did.",
                findings));
    latest = all.build();
  }

  private static GaugeSnapshot gauge(String name, String help, double value) {
    return gauge(name, help, Map.of(Labels.EMPTY, value));
  }

  private static GaugeSnapshot gauge(String name, String help, Map<Labels, Double> values) {
    GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(name).help(help);
    values.forEach(
        (labels, value) ->
            gauge.dataPoint(
                GaugeSnapshot.GaugeDataPointSnapshot.builder()
                    .labels(labels)
                    .value(value)
                    .build()));
    return gauge.build();
  }

  /** The exposition appends {@code _total} to the name. */
  private static CounterSnapshot counter(String name, String help, Map<Labels, Double> values) {
    CounterSnapshot.Builder counter = CounterSnapshot.builder().name(name).help(help);
    values.forEach(
        (labels, value) ->
            counter.dataPoint(
                CounterSnapshot.CounterDataPointSnapshot.builder()
                    .labels(labels)
                    .value(value)
                    .build()));
    return counter.build();
  }
}

package io.pqcbench.loadgen.engine;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.ServerMonitor;
import io.pqcbench.loadgen.bundle.Summary;
import io.pqcbench.loadgen.handshake.Client;
import io.pqcbench.loadgen.handshake.Harvest;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.handshake.PreflightException;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.handshake.StackFacts;
import io.pqcbench.loadgen.handshake.Tickets;
import io.pqcbench.loadgen.handshake.TlsClient;
import io.pqcbench.loadgen.live.Metrics;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Disturbances;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.monitor.LaneWatch;
import io.pqcbench.loadgen.monitor.MachineRecord;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.monitor.Platform;
import io.pqcbench.loadgen.monitor.ProcessUsage;
import io.pqcbench.loadgen.monitor.ThreadUsage;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.record.Kinds;
import io.pqcbench.loadgen.record.LaneRecorder;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import io.pqcbench.loadgen.schedule.AgreedStart;
import io.pqcbench.loadgen.schedule.ArrivalSchedule;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.verdict.Attribution;
import io.pqcbench.loadgen.verdict.Evidence;
import io.pqcbench.loadgen.verdict.Finding;
import io.pqcbench.loadgen.verdict.Rules;
import io.pqcbench.loadgen.verdict.Tail;
import io.pqcbench.loadgen.verdict.Undisturbed;
import io.pqcbench.loadgen.verdict.Verdict;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLException;

/**
 * One run from its first arrival to its summary: the only place that knows the whole order of
 * things.
 *
 * <p>The lanes run in threads of their own. The thread that calls {@link #run} is the writer: once
 * a second it takes what they recorded, sums it, writes it to the bundle, and shows it.
 */
public final class LoadRun {

  /** From the making of the lanes to the first arrival: they open their sockets in it. */
  private static final long LEAD_NANOS = 200_000_000L;

  private static final long TICK_NANOS = 1_000_000_000L;

  /** A rule that objects for so many ticks in a row is told of. */
  private static final int TICKS_TO_SAY = 3;

  /** What the JVM reports of itself arrives about a second late; then a sample can be explained. */
  private static final long SETTLE_NANOS = 2_500_000_000L;

  /** What an interrupted run gives its attempts to finish. */
  private static final long INTERRUPTED_DRAIN_NANOS = 2_000_000_000L;

  /** Histograms tell values apart up to this, or to twice the timeout if that is more. */
  private static final long HISTOGRAM_NANOS = 60_000_000_000L;

  private final LoadPlan plan;
  private final List<ServerFacts> facts;
  private final int maxInFlight;
  private final Bundle bundle;
  private final Monitor monitor;
  private final ServerMonitor server;
  private final Progress progress;
  private final Metrics metrics;
  private final boolean abortOnSaturated;
  private final NanoClock clock;
  private final AgreedStart agreed;

  private final List<Lane> lanes = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopping;
  private volatile Throwable laneFailure;
  private IOException bundleFailure;

  /**
   * @param plan what to do
   * @param facts what the preflight found, of each target in the order of the plan
   * @param maxInFlight over all lanes; the plan's, or less if the process may not open as many
   *     files
   * @param bundle where to write
   * @param observers who watches, and who is shown
   * @param abortOnSaturated whether to end the run as soon as a rule says that it is saturated
   * @param clock the run's
   */
  public LoadRun(
      LoadPlan plan,
      List<ServerFacts> facts,
      int maxInFlight,
      Bundle bundle,
      Observers observers,
      boolean abortOnSaturated,
      NanoClock clock) {
    this.plan = plan;
    this.facts = List.copyOf(facts);
    this.maxInFlight = maxInFlight;
    this.bundle = bundle;
    this.monitor = observers.monitor();
    this.server = observers.server();
    this.progress = observers.progress();
    this.metrics = observers.metrics();
    this.abortOnSaturated = abortOnSaturated;
    this.clock = clock;
    this.agreed = new AgreedStart(plan.pace().startAt(), clock, InstantSource.system());
  }

  /**
   * Who watches a run, and who is shown it.
   *
   * @param monitor started and calibrated; watches the machine during the run
   * @param server what is watched beside the server; null for nothing
   * @param progress where to show
   * @param metrics where to publish, once a second; null for nowhere
   */
  public record Observers(
      Monitor monitor, ServerMonitor server, Progress progress, Metrics metrics) {}

  /**
   * What a run leaves.
   *
   * @param summary of what was measured
   * @param bundleFailure why the bundle is not complete; null if it is
   */
  public record Result(Summary summary, IOException bundleFailure) {}

  /** Ends the run early; what was measured is written. Any thread. */
  public void stop() {
    stopping = true;
  }

  /** Returns the lanes, once the run has begun; for tests, which stall them. */
  List<Lane> lanes() {
    return lanes;
  }

  /**
   * Runs to the end, or until {@link #stop}.
   *
   * @throws SSLException when the TLS stack refuses the plan
   * @throws IOException when the lanes cannot be pinned
   * @throws PreflightException when sessions are to be resumed and the server does not go along
   * @throws CompletionException when a lane broke off by a defect of this program
   */
  public Result run() throws IOException, PreflightException {
    List<Tickets> tickets = new ArrayList<>();
    List<Lane.Route> routes = new ArrayList<>();
    try {
      for (int i = 0; i < facts.size(); i++) {
        Client client = Client.of(plan.only(plan.targets().get(i)), facts.get(i), clock);
        routes.add(new Lane.Route(client, facts.get(i).address()));
      }
      int primed = 0;
      if (plan.sessions().resume()) {
        for (int i = 0; i < plan.limits().lanes(); i++) {
          tickets.add(Harvest.store(plan));
        }
        TlsClient client = (TlsClient) routes.get(0).client();
        primed = Harvest.fill(plan, client, routes.get(0).remote(), tickets, clock);
      }
      awaitAgreedStart();
      Map<String, Long> allowances = monitor.platform().allowances();
      // One that was told to end while it waited does not wait for its start.
      AgreedStart.Start agreedStart = stopping ? agreed.atOnce(LEAD_NANOS) : agreed.set(LEAD_NANOS);
      long start = agreedStart.nanos();
      long measuredFrom = start + plan.pace().warmupNanos();
      long highest = Math.max(HISTOGRAM_NANOS, 2 * plan.limits().timeoutNanos());
      List<LaneRecorder> recorders = new ArrayList<>();
      int laneCount = plan.limits().lanes();
      for (int i = 0; i < laneCount; i++) {
        LaneRecorder recorder =
            new LaneRecorder(
                i,
                start,
                plan.pace().durationNanos() + plan.limits().timeoutNanos(),
                measuredFrom,
                highest);
        LaneWatch watch = new LaneWatch(i, monitor.disturbances());
        int share = Math.max(1, maxInFlight / laneCount + (i < maxInFlight % laneCount ? 1 : 0));
        recorders.add(recorder);
        lanes.add(
            new Lane(
                i,
                plan,
                share,
                routes,
                tickets.isEmpty() ? null : tickets.get(i),
                start,
                recorder,
                watch,
                clock));
      }
      RunRecord record = new RunRecord(start, measuredFrom, highest, recorders, kinds());
      tryBundle(() -> bundle.open(start, measuredFrom, agreedStart.wall(), plan.targets().size()));
      if (server != null) {
        server.align(start, agreedStart.wall());
      }
      Writer writer = new Writer(record, recorders, start, measuredFrom, highest);
      try {
        startThreads();
        monitor.watch(lanes.stream().map(Lane::watch).toList());
        writer.loop();
      } finally {
        // What the lanes use in native memory is freed next.
        endThreads();
      }
      if (laneFailure != null) {
        throw new CompletionException("a lane broke off", laneFailure);
      }
      Summary summary = writer.summarise(allowances, sessions(primed, tickets), pool(record));
      tryBundle(() -> bundle.finish(summary));
      return new Result(summary, bundleFailure);
    } finally {
      routes.forEach(route -> route.client().close());
      tickets.forEach(Tickets::close);
    }
  }

  /**
   * Twice the lead before it, so that a wait that ends late does not make the start late. What the
   * monitor sees meanwhile is no part of the run, and nobody would take it.
   */
  private void awaitAgreedStart() {
    long left = agreed.idleNanos(2 * LEAD_NANOS);
    if (left > 0) {
      progress.waiting(left / 1e9);
    }
    for (long wait = agreed.idleNanos(2 * LEAD_NANOS);
        wait > 0 && !stopping;
        wait = agreed.idleNanos(2 * LEAD_NANOS)) {
      LockSupport.parkNanos(Math.min(wait, 50_000_000L));
      monitor.takeIntervals();
      monitor.disturbances().takeOver();
      monitor.disturbances().forgetBefore(clock.nanos());
    }
  }

  private Kinds kinds() {
    return new Kinds(
        plan.targets().stream().map(Target::authority).toList(), plan.sessions().mixed());
  }

  private Summary.PoolSummary pool(RunRecord record) {
    if (!plan.sessions().pooled()) {
      return null;
    }
    List<Lane.PoolUse> uses = lanes.stream().map(Lane::poolUse).toList();
    return new Summary.PoolSummary(
        plan.sessions().connections(),
        record.setUps(),
        record.failedSetUps(),
        uses.stream().mapToLong(Lane.PoolUse::closedByServer).sum(),
        uses.stream().mapToLong(Lane.PoolUse::repeated).sum(),
        uses.stream().mapToLong(Lane.PoolUse::waited).sum());
  }

  /** The lanes have ended. */
  private Summary.SessionSummary sessions(int primed, List<Tickets> tickets) {
    return tickets.isEmpty()
        ? null
        : new Summary.SessionSummary(
            primed,
            tickets.stream().mapToLong(Tickets::issued).sum(),
            tickets.stream().mapToLong(Tickets::offered).sum());
  }

  private void startThreads() throws IOException {
    for (int i = 0; i < lanes.size(); i++) {
      Thread thread = new Thread(lanes.get(i), "lane-" + i);
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler((dead, failure) -> laneFailure = failure);
      threads.add(thread);
      thread.start();
    }
    if (plan.limits().pinned()) {
      Pinning.pin(threads.stream().map(Thread::getName).toList());
    }
  }

  /** Ends those lanes that still run, which is none unless something failed, and waits for them. */
  private void endThreads() {
    for (int i = 0; i < threads.size(); i++) {
      if (threads.get(i).isAlive()) {
        lanes.get(i).stop(0);
      }
    }
    while (threads.stream().anyMatch(Thread::isAlive)) {
      LockSupport.parkNanos(1_000_000L);
    }
  }

  /** Samples that wait for what happened during them to be known. */
  private record Pending(SampleBlock block, LaneRecorder recorder, long nanos) {}

  private interface Writing {
    void run() throws IOException;
  }

  /** A full disk ends the run, but not before what is in memory was summed up. */
  private void tryBundle(Writing writing) {
    if (bundleFailure == null) {
      try {
        writing.run();
      } catch (IOException e) {
        bundleFailure = e;
        stopping = true;
      }
    }
  }

  /** What the calling thread does meanwhile. */
  private final class Writer {
    private final RunRecord record;
    private final List<LaneRecorder> recorders;
    private final long start;
    private final long measuredFrom;
    private final long end;
    private ProcessUsage before;
    private ProcessUsage after;
    private long afterNanos;
    private long busyBefore;
    private long busyAfter;
    private boolean stopSent;
    private boolean interrupted;
    private final MachineRecord machine;
    private final MachineRecord serverMachine;
    private final Disturbances serverDisturbances = new Disturbances();
    private final Attribution attribution;
    private final Tail tail;
    private final Undisturbed undisturbed;
    private final Deque<Pending> pending = new ArrayDeque<>();
    private final ArrivalSchedule.Arrivals schedule = plan.pace().schedule().slice(0, 1);
    private boolean moreDue = schedule.advance();
    private final Set<String> shown = new HashSet<>();
    private List<Finding> saidEarly = List.of();
    private final Map<String, Integer> objecting = new HashMap<>();
    private String serverFailure;
    private Rules.Judgement judgement;
    private long lastStarted;
    private long lastFinished;

    /** As the wall clock has it; null before the first tick. */
    private Instant startedAt;

    Writer(
        RunRecord record,
        List<LaneRecorder> recorders,
        long start,
        long measuredFrom,
        long highest) {
      this.record = record;
      this.recorders = recorders;
      this.start = start;
      this.measuredFrom = measuredFrom;
      this.end = start + plan.pace().durationNanos();
      boolean polls = plan.limits().waiting() == LoadPlan.Wait.BUSY;
      this.machine = new MachineRecord(start, measuredFrom, end, polls ? plan.limits().lanes() : 0);
      this.serverMachine = server == null ? null : new MachineRecord(start, measuredFrom, end);
      this.attribution = new Attribution(monitor.disturbances(), serverDisturbances, record);
      double measured = (end - measuredFrom) / (double) plan.pace().durationNanos();
      this.tail =
          new Tail(attribution, start, Math.round(plan.pace().schedule().count() * measured));
      this.undisturbed = new Undisturbed(monitor.disturbances(), highest);
    }

    void loop() {
      long tickFrom = start;
      long nextTick = start + TICK_NANOS;
      while (threads.stream().anyMatch(Thread::isAlive)) {
        long wake =
            Math.min(
                nextTick, before == null ? measuredFrom : after == null ? end : Long.MAX_VALUE);
        long wait = wake - clock.nanos();
        if (wait > 0) {
          // Short naps, so that a stop or the end of the lanes is noticed at once.
          LockSupport.parkNanos(Math.min(wait, 50_000_000L));
        }
        long now = clock.nanos();
        if (before == null && now >= measuredFrom) {
          takeBefore();
        }
        if (after == null && before != null && now >= end) {
          takeAfter(now);
        }
        if ((stopping || laneFailure != null) && !stopSent) {
          stopSent = true;
          interrupted = true;
          if (after == null && before != null) {
            takeAfter(now);
          }
          lanes.forEach(lane -> lane.stop(INTERRUPTED_DRAIN_NANOS));
        }
        if (now >= nextTick) {
          tick(tickFrom, now);
          tickFrom = now;
          nextTick += ((now - nextTick) / TICK_NANOS + 1) * TICK_NANOS;
        }
      }
      long now = clock.nanos();
      if (before == null) {
        takeBefore();
      }
      if (after == null) {
        takeAfter(now);
      }
      monitor.settle();
      tick(tickFrom, now);
      attribute(Long.MAX_VALUE);
    }

    private void takeBefore() {
      before = usage();
      busyBefore = busy();
    }

    private void takeAfter(long now) {
      after = usage();
      busyAfter = busy();
      afterNanos = now;
    }

    private ProcessUsage usage() {
      List<ThreadUsage> used = new ArrayList<>();
      for (int i = 0; i < lanes.size(); i++) {
        used.add(lanes.get(i).usage(threads.get(i)));
      }
      return ProcessUsage.now(used, threads, record.finished());
    }

    private long busy() {
      return lanes.stream().mapToLong(lane -> lane.watch().busyNanos()).sum();
    }

    private void tick(long from, long now) {
      if (startedAt == null) {
        startedAt = agreed.startedAt(start);
      }
      for (LaneRecorder recorder : recorders) {
        for (SampleBlock block = recorder.poll(); block != null; block = recorder.poll()) {
          record.add(block);
          SampleBlock samples = block;
          tryBundle(() -> bundle.write(samples));
          pending.add(new Pending(block, recorder, now));
        }
        for (SampleBlock block = recorder.pollSetUps();
            block != null;
            block = recorder.pollSetUps()) {
          record.addSetUps(block);
          SampleBlock setUps = block;
          tryBundle(() -> bundle.writeConnections(setUps));
          recorder.recycle(block);
        }
      }
      while (moreDue && start + schedule.plannedNanos() <= now) {
        record.timeline().planned(schedule.plannedNanos());
        moreDue = schedule.advance();
      }
      List<Interval> intervals = monitor.takeIntervals();
      for (Interval interval : intervals) {
        // The drain of a run that was cut short is no part of what is measured.
        if (after == null || interval.endNanos() <= afterNanos) {
          machine.add(interval);
        }
        if (server != null) {
          server.compare(interval);
        }
        tryBundle(() -> bundle.write(interval));
      }
      List<Disturbance> disturbances = monitor.disturbances().takeOver();
      for (Disturbance disturbance : disturbances) {
        machine.add(disturbance);
        tryBundle(() -> bundle.write(disturbance));
      }
      followServer();
      attribute(now - SETTLE_NANOS);
      long oldest = now - plan.limits().timeoutNanos() - 2 * SETTLE_NANOS;
      monitor.disturbances().forgetBefore(oldest);
      serverDisturbances.forgetBefore(oldest);
      record.nextInterval();
      tryBundle(() -> bundle.writeInterval(record, (from - start) / 1e9, (now - start) / 1e9));
      long started = record.started();
      long finished = record.finished();
      double seconds = Math.max(1e-3, (now - from) / 1e9);
      boolean warm = now > measuredFrom;
      double offered = plan.pace().ownRatePerSecond();
      double startedRate = (started - lastStarted) / seconds;
      double finishedRate = (finished - lastFinished) / seconds;
      int inFlight = lanes.stream().mapToInt(Lane::inFlight).sum();
      progress.interval(
          new Progress.Interval(
              (now - start) / 1e9,
              plan.pace().durationNanos() / 1e9,
              !warm,
              offered,
              startedRate,
              finishedRate,
              inFlight,
              record.failures(),
              record.interval(Phase.RESPONSE, warm)));
      lastStarted = started;
      lastFinished = finished;
      if (!stopSent) {
        judgeSoFar(now, intervals);
      }
      if (metrics != null) {
        metrics.tick(
            new Metrics.Tick(
                record,
                offered,
                startedRate,
                finishedRate,
                inFlight,
                intervals,
                disturbances,
                judgement));
      }
    }

    /** What is wrong with the server's files must not harm the run: it goes on without them. */
    private void followServer() {
      if (server == null || serverFailure != null) {
        return;
      }
      try {
        server.takeIntervals(serverMachine::add);
        server.takeDisturbances(
            disturbance -> {
              serverMachine.add(disturbance);
              serverDisturbances.report(disturbance);
            });
      } catch (IOException | RuntimeException e) {
        serverFailure = e.toString();
      }
      serverDisturbances.takeOver();
    }

    /** Explains what was handed over before an instant, and gives the blocks back. */
    private void attribute(long before) {
      while (!pending.isEmpty() && pending.peekFirst().nanos() < before) {
        Pending next = pending.removeFirst();
        SampleBlock block = next.block();
        for (int row = 0; row < block.rows(); row++) {
          if (block.outcome(row) == Outcome.SUCCESS
              && block.at(row, Milestone.PLANNED) >= measuredFrom) {
            tail.add(block, row);
            undisturbed.add(block, row);
          }
        }
        tryBundle(() -> bundle.writeSlow(block, attribution));
        next.recorder().recycle(block);
      }
    }

    /** Says what has gone wrong as soon as it has. */
    private void judgeSoFar(long now, List<Interval> lastSecond) {
      List<Finding> early =
          Rules.early(
              lanes.stream().mapToLong(lane -> lane.watch().behindNanos(now)).max().orElse(0),
              record.all(Outcome.SKIPPED),
              record.timeline().planned(0, Integer.MAX_VALUE),
              lastSecond.stream()
                  .filter(interval -> interval.startNanos() >= start)
                  .mapToDouble(Interval::laneBusyShare)
                  .average()
                  .orElse(0),
              fewDescriptors());
      if (now < end) {
        early.forEach(finding -> say(finding, now));
      }
      if (stopping) {
        saidEarly = early;
        return;
      }
      long until = Math.min(now, end) - start - TICK_NANOS;
      if (until < plan.pace().warmupNanos() + 2 * TICK_NANOS) {
        return;
      }
      judgement = judge(until, -1, null, Map.of());
      // A stumble looks like saturation while there is little to compare it with.
      Set<String> present = new HashSet<>();
      for (Finding finding : judgement.findings()) {
        String key = finding.rule() + finding.level();
        present.add(key);
        if (objecting.merge(key, 1, Integer::sum) >= TICKS_TO_SAY) {
          say(finding, now);
        }
      }
      objecting.keySet().retainAll(present);
    }

    /** Of a run that opens connections, and not by resuming sessions, which need no certificate. */
    private List<ServerFacts.Flight> flights() {
      return plan.sessions().pooled() || plan.sessions().resumedShare() == 1
          ? List.of()
          : facts.stream().map(ServerFacts::flight).toList();
    }

    private boolean fewDescriptors() {
      return maxInFlight < plan.limits().maxInFlight();
    }

    private void say(Finding finding, long now) {
      if (shown.add(finding.rule() + finding.level())) {
        progress.finding(finding, (now - start) / 1e9);
      }
      if (abortOnSaturated && finding.level() == Verdict.SATURATED && now < end) {
        stopping = true;
      }
    }

    private Rules.Judgement judge(
        long until, long scheduled, Tail.Report slowest, Map<String, Long> allowances) {
      Platform platform = monitor.platform();
      return Rules.judge(
          new Evidence(
              record,
              machine,
              serverMachine,
              slowest,
              plan.pace().warmupNanos(),
              until,
              scheduled,
              interrupted,
              saidEarly,
              new Evidence.Conditions(
                  monitor.watches(),
                  plan.sessions().pooled(),
                  fewDescriptors(),
                  platform.clocksource(),
                  platform.clockCostNanos(),
                  monitor.pauseThresholdNanos(),
                  plan.tls().stack().name().compiled() ? null : plan.tls().stack().name().label(),
                  facts.stream().allMatch(ServerFacts::groupVerified),
                  flights(),
                  allowances)));
    }

    Summary summarise(
        Map<String, Long> allowancesBefore,
        Summary.SessionSummary sessions,
        Summary.PoolSummary pool) {
      Map<String, Long> allowances = new TreeMap<>(monitor.platform().allowances());
      allowances.replaceAll((name, value) -> value - allowancesBefore.getOrDefault(name, value));
      long measuredEnd = interrupted ? Math.max(afterNanos, measuredFrom) : end;
      boolean polls = plan.limits().waiting() == LoadPlan.Wait.BUSY;
      Tail.Report slowest = tail.report();
      judgement = judge(measuredEnd - start, planned(), slowest, allowances);
      if (metrics != null) {
        metrics.judged(judgement);
      }
      return Summary.of(
          record,
          sessions,
          pool,
          machine,
          undisturbed,
          slowest,
          monitor.platform().steal(),
          monitor.notReported(),
          server == null
              ? null
              : serverFailure == null ? server.alignment() : "lost: " + serverFailure,
          start(),
          StackFacts.version(plan),
          servers(),
          judgement,
          after.since(before),
          polls ? busyAfter - busyBefore : -1,
          planned(),
          plan.pace().warmupNanos(),
          Math.max(1e-9, (measuredEnd - measuredFrom) / 1e9),
          lanes.stream().mapToLong(Lane::preparedLate).sum(),
          interrupted);
    }

    private List<Summary.ServerSummary> servers() {
      List<Summary.ServerSummary> servers = new ArrayList<>();
      for (int i = 0; i < facts.size(); i++) {
        servers.add(
            new Summary.ServerSummary(
                plan.targets().get(i).authority(),
                facts.get(i).certificate(),
                facts.get(i).flight()));
      }
      return servers;
    }

    private Summary.StartSummary start() {
      LoadPlan.Pace pace = plan.pace();
      return new Summary.StartSummary(
          pace.shard().index(),
          pace.shard().count(),
          pace.seed(),
          pace.startAt(),
          startedAt,
          agreed.lateMicros(startedAt));
    }

    private long planned() {
      if (!interrupted) {
        return plan.pace().schedule().count();
      }
      long sum = 0;
      for (Outcome outcome : Outcome.values()) {
        sum += record.all(outcome);
      }
      return sum;
    }
  }
}

package io.pqcbench.loadgen.engine;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.Summary;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.handshake.TlsClient;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.monitor.ProcessUsage;
import io.pqcbench.loadgen.monitor.ThreadUsage;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.record.LaneRecorder;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.verdict.Rules;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
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

  /** What an interrupted run gives its attempts to finish. */
  private static final long INTERRUPTED_DRAIN_NANOS = 2_000_000_000L;

  /** Histograms tell values apart up to this, or to twice the timeout if that is more. */
  private static final long HISTOGRAM_NANOS = 60_000_000_000L;

  private final LoadPlan plan;
  private final ServerFacts facts;
  private final int maxInFlight;
  private final Bundle bundle;
  private final Progress progress;
  private final NanoClock clock;

  private final List<Lane> lanes = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopping;
  private volatile Throwable laneFailure;
  private IOException bundleFailure;

  /**
   * @param plan what to do
   * @param facts what the preflight found
   * @param maxInFlight over all lanes; the plan's, or less if the process may not open as many
   *     files
   * @param bundle where to write
   * @param progress where to show
   * @param clock the run's
   */
  public LoadRun(
      LoadPlan plan,
      ServerFacts facts,
      int maxInFlight,
      Bundle bundle,
      Progress progress,
      NanoClock clock) {
    this.plan = plan;
    this.facts = facts;
    this.maxInFlight = maxInFlight;
    this.bundle = bundle;
    this.progress = progress;
    this.clock = clock;
  }

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
   * @throws CompletionException when a lane broke off by a defect of this program
   */
  public Result run() throws SSLException {
    try (TlsClient client = new TlsClient(plan, facts, clock)) {
      long start = clock.nanos() + LEAD_NANOS;
      Instant wall = Instant.now().plusNanos(LEAD_NANOS);
      long measuredFrom = start + plan.pace().warmupNanos();
      long highest = Math.max(HISTOGRAM_NANOS, 2 * plan.limits().timeoutNanos());
      List<LaneRecorder> recorders = new ArrayList<>();
      int laneCount = plan.limits().lanes();
      for (int i = 0; i < laneCount; i++) {
        LaneRecorder recorder = new LaneRecorder(i, measuredFrom, highest);
        int share = Math.max(1, maxInFlight / laneCount + (i < maxInFlight % laneCount ? 1 : 0));
        recorders.add(recorder);
        lanes.add(new Lane(i, plan, share, client, facts.address(), start, recorder, clock));
      }
      RunRecord record = new RunRecord(start, measuredFrom, highest, recorders);
      tryBundle(() -> bundle.open(start, measuredFrom, wall));
      startThreads();
      Writer writer = new Writer(record, recorders, start, measuredFrom);
      writer.loop();
      if (laneFailure != null) {
        throw new CompletionException("a lane broke off", laneFailure);
      }
      Summary summary = writer.summarise();
      tryBundle(() -> bundle.finish(summary));
      return new Result(summary, bundleFailure);
    }
  }

  private void startThreads() {
    for (int i = 0; i < lanes.size(); i++) {
      Thread thread = new Thread(lanes.get(i), "lane-" + i);
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler((dead, failure) -> laneFailure = failure);
      threads.add(thread);
      thread.start();
    }
  }

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
    private long beforeNanos;
    private long afterNanos;
    private long pollingBefore;
    private long pollingAfter;
    private boolean stopSent;
    private boolean interrupted;
    private long lastStarted;
    private long lastFinished;

    Writer(RunRecord record, List<LaneRecorder> recorders, long start, long measuredFrom) {
      this.record = record;
      this.recorders = recorders;
      this.start = start;
      this.measuredFrom = measuredFrom;
      this.end = start + plan.pace().durationNanos();
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
          LockSupport.parkNanos(Math.min(wait, 20_000_000L));
        }
        long now = clock.nanos();
        if (before == null && now >= measuredFrom) {
          takeBefore(now);
        }
        if (after == null && before != null && now >= end) {
          takeAfter(now);
        }
        if ((stopping || laneFailure != null) && !stopSent) {
          stopSent = true;
          interrupted = now < end;
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
        takeBefore(now);
      }
      if (after == null) {
        takeAfter(now);
      }
      tick(tickFrom, now);
    }

    private void takeBefore(long now) {
      before = usage();
      pollingBefore = polling();
      beforeNanos = now;
    }

    private void takeAfter(long now) {
      after = usage();
      pollingAfter = polling();
      afterNanos = now;
    }

    private ProcessUsage usage() {
      List<ThreadUsage> used = new ArrayList<>();
      for (int i = 0; i < lanes.size(); i++) {
        used.add(lanes.get(i).usage(threads.get(i)));
      }
      return ProcessUsage.now(used, threads, record.finished());
    }

    private long polling() {
      return lanes.stream().mapToLong(Lane::pollingNanos).sum();
    }

    private void tick(long from, long now) {
      for (LaneRecorder recorder : recorders) {
        for (SampleBlock block = recorder.poll(); block != null; block = recorder.poll()) {
          record.add(block);
          SampleBlock samples = block;
          tryBundle(() -> bundle.write(samples));
          recorder.recycle(block);
        }
      }
      record.nextInterval();
      tryBundle(() -> bundle.writeInterval(record, (from - start) / 1e9, (now - start) / 1e9));
      long started = record.started();
      long finished = record.finished();
      double seconds = Math.max(1e-3, (now - from) / 1e9);
      boolean warm = now > measuredFrom;
      progress.interval(
          new Progress.Interval(
              (now - start) / 1e9,
              plan.pace().durationNanos() / 1e9,
              !warm,
              plan.pace().ratePerSecond(),
              (started - lastStarted) / seconds,
              (finished - lastFinished) / seconds,
              lanes.stream().mapToInt(Lane::inFlight).sum(),
              record.failures(),
              record.interval(Phase.RESPONSE, warm)));
      lastStarted = started;
      lastFinished = finished;
    }

    Summary summarise() {
      long measuredEnd = interrupted ? Math.max(afterNanos, measuredFrom) : end;
      boolean polls = plan.limits().waiting() == LoadPlan.Wait.BUSY;
      return Summary.of(
          record,
          Rules.judge(
              record,
              plan.pace().warmupNanos(),
              plan.pace().durationNanos(),
              planned(),
              interrupted),
          after.since(before),
          (afterNanos - beforeNanos) * lanes.size(),
          polls ? pollingAfter - pollingBefore : -1,
          planned(),
          plan.pace().warmupNanos(),
          Math.max(1e-9, (measuredEnd - measuredFrom) / 1e9),
          lanes.stream().mapToLong(Lane::preparedLate).sum(),
          interrupted);
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

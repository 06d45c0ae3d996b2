package io.pqcbench.loadgen.engine;

import io.netty.channel.ChannelException;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Connector;
import io.pqcbench.loadgen.handshake.Exchange;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.TlsClient;
import io.pqcbench.loadgen.monitor.LaneWatch;
import io.pqcbench.loadgen.monitor.ThreadUsage;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.record.LaneRecorder;
import io.pqcbench.loadgen.schedule.ArrivalSchedule;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One thread, one event loop, one slice of the schedule: it waits until the next of its own
 * arrivals is due, starts it, does its input and output, and records it. Nothing is shared with
 * another lane, and nothing is handed to another thread on the way.
 *
 * <p>False sharing between lanes is no concern here: at thousands of events a second, not millions,
 * it cannot be measured.
 */
final class Lane implements Runnable, Exchange.Owner {

  /**
   * Events taken from epoll at once. Few, because each can cost a key exchange, and an arrival that
   * falls due meanwhile has to wait for the rest of the batch.
   */
  private static final int EVENTS_AT_ONCE = 4;

  /** Arrivals started in a row before input and output get a turn, when the lane is behind. */
  private static final int STARTS_AT_ONCE = 8;

  /** How often deadlines are looked at and samples handed over. */
  private static final long CHORES_NANOS = 50_000_000L;

  /** Preparing a connection takes about 30 us; it must not make an arrival late. */
  private static final long TIME_TO_PREPARE_NANOS = 200_000L;

  /** Connections held ready: enough for the arrivals of this span. */
  private static final double READY_SECONDS = 0.02;

  private static final ThreadUsage NOTHING_USED = new ThreadUsage(0, 0);

  private static final int MIN_READY = 4;
  private static final int MAX_READY = 64;

  private final NanoClock clock;
  private final long epoch;
  private final LoadPlan.Limits limits;

  /** A lane that is further behind than this gives up: the run has to end. */
  private final long lastStart;

  private final int maxInFlight;
  private final int readyTarget;
  private final ArrivalSchedule.Arrivals arrivals;
  private final Connector connector;
  private final InetSocketAddress remote;
  private final boolean ipv6;
  private final LaneRecorder recorder;
  private final LaneWatch watch;
  private final SleepMeter sleep;
  private final ManualIoEventLoop loop;

  private final ArrayDeque<Exchange> ready = new ArrayDeque<>();
  private final Exchange.InFlight inFlight = new Exchange.InFlight();
  private int sourceTurn;
  private long preparedLate;
  private RuntimeException recordingFailure;

  private volatile boolean stopping;
  private volatile long drainNanos;
  private volatile ThreadUsage lastUsage;

  Lane(
      int number,
      LoadPlan plan,
      int maxInFlight,
      TlsClient client,
      InetSocketAddress remote,
      long epoch,
      LaneRecorder recorder,
      LaneWatch watch,
      NanoClock clock) {
    this.clock = clock;
    this.epoch = epoch;
    this.limits = plan.limits();
    this.maxInFlight = maxInFlight;
    this.remote = remote;
    this.ipv6 = remote.getAddress() instanceof Inet6Address;
    this.recorder = recorder;
    this.watch = watch;
    this.drainNanos = limits.timeoutNanos() + 2 * CHORES_NANOS;
    this.lastStart = epoch + plan.pace().durationNanos() + limits.timeoutNanos();
    this.arrivals = plan.pace().schedule().slice(number, limits.lanes());
    double perSecond = plan.pace().ratePerSecond() / limits.lanes();
    this.readyTarget =
        Math.min(
            maxInFlight, (int) Math.max(MIN_READY, Math.min(MAX_READY, perSecond * READY_SECONDS)));
    IoHandlerFactory epoll =
        EpollIoHandler.newFactory(EVENTS_AT_ONCE, DefaultSelectStrategyFactory.INSTANCE);
    this.sleep = limits.waiting() == LoadPlan.Wait.BUSY ? null : new SleepMeter(clock);
    this.loop = new ManualIoEventLoop(null, sleep == null ? epoll : sleep.around(epoll));
    this.connector = client.connector(loop, this);
  }

  /** Returns the event loop; for tests, which stall it. */
  ManualIoEventLoop loop() {
    return loop;
  }

  /** Starts no more arrivals, and gives those in flight this long to finish. Any thread. */
  void stop(long drainNanos) {
    this.drainNanos = drainNanos;
    stopping = true;
    loop.wakeup();
  }

  /** Returns how many attempts are in flight; any thread. */
  int inFlight() {
    return watch.inFlight();
  }

  /** Returns what the lane lets be seen of itself; any thread. */
  LaneWatch watch() {
    return watch;
  }

  /** Returns what the lane's thread has used, also when it has ended; any thread. */
  ThreadUsage usage(Thread own) {
    ThreadUsage live = ThreadUsage.of(own);
    ThreadUsage last = lastUsage;
    return live != null ? live : last != null ? last : NOTHING_USED;
  }

  /** Returns how many arrivals found no connection prepared; after the run. */
  long preparedLate() {
    return preparedLate;
  }

  @Override
  public void run() {
    loop.setOwningThread(Thread.currentThread());
    try {
      drive();
    } finally {
      recorder.handOver();
      closeLoop();
      lastUsage = ThreadUsage.of(Thread.currentThread());
    }
  }

  private void drive() {
    boolean more = advance();
    boolean busy = limits.waiting() == LoadPlan.Wait.BUSY;
    long turn = clock.nanos();
    long nextChores = turn + CHORES_NANOS;
    long drainUntil = Long.MIN_VALUE;
    // Whether the last look at the sockets found nothing. Only then is it time to prepare: an event
    // that waits meanwhile would be noted too late.
    boolean quiet = false;
    for (; ; ) {
      long now = turn;
      boolean worked = false;
      for (int started = 0;
          more && started < STARTS_AT_ONCE && epoch + arrivals.plannedNanos() <= now;
          started++) {
        if (stopping) {
          break;
        }
        launch(arrivals.index(), epoch + arrivals.plannedNanos());
        more = advance();
        now = clock.nanos();
        worked = true;
      }
      if (more && (stopping || now > lastStart)) {
        more = skipOverdue(now);
      }
      if (!more || stopping) {
        if (drainUntil == Long.MIN_VALUE) {
          drainUntil = now;
        }
        watch.nextPlanned(Long.MAX_VALUE);
        if (inFlight.size() == 0) {
          return;
        }
        if (now - drainUntil > drainNanos) {
          abandonAll();
          return;
        }
      }
      if (recordingFailure != null) {
        throw recordingFailure;
      }
      if (now >= nextChores) {
        chores(now);
        worked = true;
        nextChores = now + CHORES_NANOS;
      }
      long due =
          more && !stopping ? Math.min(epoch + arrivals.plannedNanos(), nextChores) : nextChores;
      long wait = due - clock.nanos();
      boolean prepares = more && shouldPrepare(wait);
      if (prepares && (quiet || ready.isEmpty())) {
        worked |= prepareOne();
      }
      boolean sleeps = !busy && wait > 0 && !worked && (quiet || !prepares);
      int handled = sleeps ? loop.run(wait) : loop.runNow();
      long end = clock.nanos();
      if (sleeps) {
        watch.woke(due, sleep.wokeAt());
      }
      quiet = handled == 0;
      watch.turn(turn, end, busy ? 0 : sleep.take(), busy && quiet && !worked);
      turn = end;
    }
  }

  private boolean advance() {
    boolean more = arrivals.advance();
    watch.nextPlanned(more ? epoch + arrivals.plannedNanos() : Long.MAX_VALUE);
    return more;
  }

  /** Counts the arrivals that are due and will not be started any more; none is lost silently. */
  private boolean skipOverdue(long now) {
    boolean more = true;
    while (more && epoch + arrivals.plannedNanos() <= now) {
      recorder.record(
          Attempt.notStarted(arrivals.index(), epoch + arrivals.plannedNanos(), Outcome.SKIPPED));
      more = advance();
    }
    return more;
  }

  private void launch(long index, long planned) {
    if (inFlight.size() >= maxInFlight) {
      recorder.record(Attempt.notStarted(index, planned, Outcome.SKIPPED));
      return;
    }
    Exchange exchange = ready.poll();
    if (exchange == null) {
      preparedLate++;
      try {
        exchange = prepare();
      } catch (ChannelException e) {
        if (!TlsClient.isOutOfDescriptors(e)) {
          throw e;
        }
        recorder.record(Attempt.notStarted(index, planned, Outcome.NO_FD));
        return;
      }
    }
    inFlight.add(exchange);
    watch.inFlight(inFlight.size());
    exchange.start(index, planned, remote);
    recorder.started(exchange.attempt().at(Milestone.STARTED));
  }

  /** While attempts are in flight, only when few are left: each preparation delays their events. */
  private boolean shouldPrepare(long wait) {
    if (wait <= TIME_TO_PREPARE_NANOS) {
      return ready.isEmpty() && wait > 0;
    }
    return ready.size() < (inFlight.size() == 0 ? readyTarget : (readyTarget + 1) / 2);
  }

  private boolean prepareOne() {
    try {
      ready.add(prepare());
      return true;
    } catch (ChannelException e) {
      if (!TlsClient.isOutOfDescriptors(e)) {
        throw e;
      }
      // Said when an arrival really needs one.
      return false;
    }
  }

  private Exchange prepare() {
    List<InetAddress> sources = limits.sources();
    InetAddress source = sources.isEmpty() ? null : sources.get(sourceTurn++ % sources.size());
    return connector.prepare(source, ipv6);
  }

  @Override
  public void finished(Exchange exchange) {
    inFlight.remove(exchange);
    watch.inFlight(inFlight.size());
    try {
      recorder.record(exchange.attempt());
    } catch (RuntimeException e) {
      // The loop that called would swallow it, and the run would go on without this attempt.
      recordingFailure = e;
    }
  }

  /**
   * Attempts are in the order of their starts and all have the same limits, so only the oldest can
   * be over them.
   */
  private void chores(long now) {
    long shortest = Math.min(limits.connectTimeoutNanos(), limits.timeoutNanos());
    Exchange exchange = inFlight.oldest();
    while (exchange != null) {
      Attempt attempt = exchange.attempt();
      long age = now - attempt.at(Milestone.STARTED);
      if (age < shortest) {
        break;
      }
      Exchange next = inFlight.after(exchange);
      boolean connecting = !attempt.reached(Milestone.CONNECTED);
      if (age >= limits.timeoutNanos() || (connecting && age >= limits.connectTimeoutNanos())) {
        exchange.expire();
      }
      exchange = next;
    }
    recorder.handOver();
  }

  private void abandonAll() {
    while (inFlight.oldest() != null) {
      inFlight.oldest().abandon();
    }
  }

  private void closeLoop() {
    ready.forEach(Exchange::discard);
    loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
    while (!loop.isTerminated()) {
      loop.runNow();
    }
    connector.close();
  }
}

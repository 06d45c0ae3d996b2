package io.pqcbench.loadgen.engine;

import io.netty.channel.ChannelException;
import io.netty.channel.DefaultSelectStrategyFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Client;
import io.pqcbench.loadgen.handshake.Connection;
import io.pqcbench.loadgen.handshake.Connections;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Tickets;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/**
 * One thread, one event loop, one slice of the schedule: it waits until the next of its own
 * arrivals is due, starts it, does its input and output, and records it. Nothing is shared with
 * another lane, and nothing is handed to another thread on the way.
 *
 * <p>False sharing between lanes is no concern here: at thousands of events a second, not millions,
 * it cannot be measured.
 */
final class Lane implements Runnable, Connection.Owner {

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
  private final LaneRecorder recorder;
  private final LaneWatch watch;
  private final SleepMeter sleep;
  private final ManualIoEventLoop loop;

  /** Where its arrivals go, in turn. */
  private final List<Way> ways = new ArrayList<>();

  /** How many connections are kept open for requests; 0 to open one for each arrival. */
  private final int poolSize;

  /** Those that are open and have nothing to do, the longest idle first. */
  private final ArrayDeque<Connection> idle = new ArrayDeque<>();

  /** Arrivals that found no connection idle, the oldest first. */
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

  /** Connections that are open or being opened. */
  private int open;

  /** After a connection could not be opened, or not be kept, the next is tried only then. */
  private long openAgain = Long.MIN_VALUE;

  private long opened;
  private long closedByServer;
  private long repeated;
  private long waited;

  /**
   * One of the targets.
   *
   * @param client what all connections to it have in common
   * @param remote its resolved address
   */
  record Route(Client client, InetSocketAddress remote) {}

  /** A target as this lane reaches it. */
  private static final class Way {
    private final Connections connections;
    private final InetSocketAddress remote;
    private final boolean ipv6;
    private final ArrayDeque<Connection> ready = new ArrayDeque<>();

    private Way(Connections connections, InetSocketAddress remote) {
      this.connections = connections;
      this.remote = remote;
      this.ipv6 = remote.getAddress() instanceof Inet6Address;
    }
  }

  /** An arrival without a connection. */
  private record Waiting(long index, long planned, boolean repeated) {}

  private final Connection.InFlight inFlight = new Connection.InFlight();
  private int sourceTurn;
  private long preparedLate;
  private RuntimeException defect;

  private volatile boolean stopping;
  private volatile long drainNanos;
  private volatile ThreadUsage lastUsage;

  /**
   * @param routes where arrivals go, in turn
   * @param tickets this lane's sessions to resume; null to make full handshakes only
   * @throws SSLException when the TLS stack refuses the offer
   */
  Lane(
      int number,
      LoadPlan plan,
      int maxInFlight,
      List<Route> routes,
      Tickets tickets,
      long epoch,
      LaneRecorder recorder,
      LaneWatch watch,
      NanoClock clock)
      throws SSLException {
    this.clock = clock;
    this.epoch = epoch;
    this.limits = plan.limits();
    this.maxInFlight = maxInFlight;
    this.recorder = recorder;
    this.watch = watch;
    this.drainNanos = limits.timeoutNanos() + 2 * CHORES_NANOS;
    this.lastStart = epoch + plan.pace().durationNanos() + limits.timeoutNanos();
    this.arrivals = plan.pace().schedule().slice(number, limits.lanes());
    int connections = plan.sessions().connections();
    this.poolSize = connections / limits.lanes() + (number < connections % limits.lanes() ? 1 : 0);
    double perSecond = plan.pace().ownRatePerSecond() / limits.lanes();
    this.readyTarget =
        Math.min(
            maxInFlight, (int) Math.max(MIN_READY, Math.min(MAX_READY, perSecond * READY_SECONDS)));
    IoHandlerFactory epoll =
        EpollIoHandler.newFactory(EVENTS_AT_ONCE, DefaultSelectStrategyFactory.INSTANCE);
    this.sleep = limits.waiting() == LoadPlan.Wait.BUSY ? null : new SleepMeter(clock);
    this.loop = new ManualIoEventLoop(null, sleep == null ? epoll : sleep.around(epoll));
    for (Route route : routes) {
      ways.add(new Way(route.client().connections(loop, this, tickets), route.remote()));
    }
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

  /**
   * What a lane's pool did, with the warm-up.
   *
   * @param opened connections
   * @param closedByServer while they were idle
   * @param repeated requests that were sent again, because the server had closed their connection
   * @param waited arrivals that found no connection idle
   */
  record PoolUse(long opened, long closedByServer, long repeated, long waited) {}

  /** Returns what the pool did; after the run. */
  PoolUse poolUse() {
    return new PoolUse(opened, closedByServer, repeated, waited);
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
    openConnections();
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
        if (inFlight.size() == 0 && waiting.isEmpty()) {
          return;
        }
        if (now - drainUntil > drainNanos) {
          abandonAll();
          return;
        }
      }
      if (defect != null) {
        throw defect;
      }
      if (now >= nextChores) {
        chores(now);
        worked = true;
        nextChores = now + CHORES_NANOS;
      }
      long due =
          more && !stopping ? Math.min(epoch + arrivals.plannedNanos(), nextChores) : nextChores;
      long wait = due - clock.nanos();
      Way next = more && poolSize == 0 ? way(arrivals.index()) : null;
      boolean prepares = next != null && shouldPrepare(next, wait);
      if (prepares && (quiet || next.ready.isEmpty())) {
        worked |= prepareOne(next.ready.isEmpty() ? next : fewestReady());
      }
      boolean sleeps = !busy && wait > 0 && !worked && (quiet || !prepares);
      int handled = sleeps ? loop.run(wait) : loop.runNow();
      if (poolSize > 0) {
        serveWaiting();
        openConnections();
      }
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
    if (inFlight.size() + waiting.size() >= maxInFlight) {
      recorder.record(Attempt.notStarted(index, planned, Outcome.SKIPPED));
      return;
    }
    if (poolSize > 0) {
      waited += idle.isEmpty() ? 1 : 0;
      waiting.add(new Waiting(index, planned, false));
      serveWaiting();
      return;
    }
    Way way = way(index);
    Connection exchange = way.ready.poll();
    if (exchange == null) {
      preparedLate++;
      try {
        exchange = prepare(way);
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
    exchange.start(index, planned, way.remote);
    recorder.started(exchange.attempt().at(Milestone.STARTED));
  }

  /** Sends requests for as long as there are both, arrivals and idle connections. */
  private void serveWaiting() {
    while (!waiting.isEmpty() && !idle.isEmpty()) {
      Waiting next = waiting.poll();
      Connection exchange = idle.poll();
      inFlight.add(exchange);
      exchange.request(next.index(), next.planned(), next.repeated());
      if (!next.repeated()) {
        recorder.started(exchange.attempt().at(Milestone.STARTED));
      }
    }
    watch.inFlight(inFlight.size() + waiting.size());
  }

  /** Opens the connections that the pool lacks. */
  private void openConnections() {
    while (open < poolSize && !stopping && clock.nanos() >= openAgain) {
      Connection exchange;
      try {
        exchange = prepare(ways.get(0));
      } catch (ChannelException e) {
        if (!TlsClient.isOutOfDescriptors(e)) {
          throw e;
        }
        openAgain = clock.nanos() + CHORES_NANOS;
        return;
      }
      open++;
      inFlight.add(exchange);
      exchange.start(opened++, clock.nanos(), ways.get(0).remote);
    }
  }

  private Way way(long index) {
    return ways.get((int) (index % ways.size()));
  }

  /** While attempts are in flight, only when few are left: each preparation delays their events. */
  private boolean shouldPrepare(Way next, long wait) {
    if (wait <= TIME_TO_PREPARE_NANOS) {
      return next.ready.isEmpty() && wait > 0;
    }
    return readyCount() < (inFlight.size() == 0 ? readyTarget : (readyTarget + 1) / 2);
  }

  private int readyCount() {
    int count = 0;
    for (int i = 0; i < ways.size(); i++) {
      count += ways.get(i).ready.size();
    }
    return count;
  }

  private Way fewestReady() {
    Way fewest = ways.get(0);
    for (int i = 1; i < ways.size(); i++) {
      if (ways.get(i).ready.size() < fewest.ready.size()) {
        fewest = ways.get(i);
      }
    }
    return fewest;
  }

  private boolean prepareOne(Way way) {
    try {
      way.ready.add(prepare(way));
      return true;
    } catch (ChannelException e) {
      if (!TlsClient.isOutOfDescriptors(e)) {
        throw e;
      }
      // Said when an arrival really needs one.
      return false;
    }
  }

  private Connection prepare(Way way) {
    List<InetAddress> sources = limits.sources();
    InetAddress source = sources.isEmpty() ? null : sources.get(sourceTurn++ % sources.size());
    return way.connections.prepare(source, way.ipv6);
  }

  @Override
  public void finished(Connection exchange) {
    inFlight.remove(exchange);
    watch.inFlight(inFlight.size() + waiting.size());
    try {
      if (poolSize > 0) {
        finishedInPool(exchange);
      } else {
        recorder.record(exchange.attempt());
      }
    } catch (RuntimeException e) {
      // The loop that called would swallow it, and the run would go on without this attempt.
      defect = e;
    }
  }

  @Override
  public void broke(RuntimeException defect) {
    this.defect = defect;
  }

  private void finishedInPool(Connection exchange) {
    Attempt attempt = exchange.attempt();
    if (exchange.isIdle()) {
      idle.add(exchange);
    } else {
      open--;
    }
    if (attempt.isSetUp()) {
      // A server that shuts down may settle a connection and take it back at once.
      if (!exchange.isIdle()) {
        openAgain = clock.nanos() + CHORES_NANOS;
      }
      recorder.recordSetUp(attempt);
    } else if (wasClosedMeanwhile(attempt)) {
      repeated++;
      waiting.addFirst(
          new Waiting(attempt.index(), attempt.at(Milestone.PLANNED), /* repeated= */ true));
    } else {
      recorder.record(attempt);
    }
  }

  /**
   * Whether a server closed a kept connection while a request was on its way to it, which is no
   * failure of either; a client sends it again over another one (RFC 9112, section 9.3.1).
   */
  private static boolean wasClosedMeanwhile(Attempt attempt) {
    return !attempt.isRepeated()
        && !attempt.reached(Milestone.FIRST_BYTE)
        && (attempt.outcome() == Outcome.CLOSED_EARLY || attempt.outcome() == Outcome.TCP_RESET);
  }

  @Override
  public void closed(Connection exchange) {
    idle.remove(exchange);
    open--;
    closedByServer++;
    if (exchange.attempt().isSetUp()) {
      // Before its first request, as a server that shuts down does: so it may do with the next.
      openAgain = clock.nanos() + CHORES_NANOS;
    }
  }

  /**
   * Attempts are in the order of their starts and all have the same limits, so only the oldest can
   * be over them.
   */
  private void chores(long now) {
    long shortest = Math.min(limits.connectTimeoutNanos(), limits.timeoutNanos());
    Connection exchange = inFlight.oldest();
    while (exchange != null) {
      Attempt attempt = exchange.attempt();
      long age = now - attempt.at(Milestone.STARTED);
      if (age < shortest) {
        break;
      }
      Connection next = inFlight.after(exchange);
      boolean connecting = exchange.isConnecting();
      if (age >= limits.timeoutNanos() || (connecting && age >= limits.connectTimeoutNanos())) {
        exchange.expire();
      }
      exchange = next;
    }
    while (!waiting.isEmpty() && now - waiting.peek().planned() >= limits.timeoutNanos()) {
      giveUpWaiting(Outcome.POOL_TIMEOUT);
    }
    recorder.handOver();
  }

  private void abandonAll() {
    while (inFlight.oldest() != null) {
      inFlight.oldest().abandon();
    }
    while (!waiting.isEmpty()) {
      giveUpWaiting(Outcome.ABANDONED);
    }
  }

  private void giveUpWaiting(Outcome outcome) {
    Waiting oldest = waiting.poll();
    recorder.record(Attempt.notStarted(oldest.index(), oldest.planned(), outcome));
  }

  private void closeLoop() {
    ways.forEach(way -> way.ready.forEach(Connection::discard));
    idle.forEach(Connection::discard);
    loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
    while (!loop.isTerminated()) {
      loop.runNow();
    }
    ways.forEach(way -> way.connections.close());
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.channel.ChannelException;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/**
 * The priming handshakes of a run that resumes sessions: full ones, before the load, which collect
 * the tickets that the first arrivals will use. Later ones use those that arrivals before them were
 * issued.
 */
public final class Harvest implements Connection.Owner {

  /** Connections open at once: few, because this is no load test. */
  private static final int AT_ONCE = 8;

  /** After so many handshakes without a ticket there will be none. */
  private static final int PATIENCE = 2 * AT_ONCE;

  /** What the answers of a second need, and those that take longer than usual. */
  private static final double RESERVE_SECONDS = 1;

  private static final int LEAST = 32;
  private static final int MOST = 4_096;

  private final LoadPlan plan;
  private final TlsClient client;
  private final InetSocketAddress address;
  private final NanoClock clock;
  private final ManualIoEventLoop loop =
      new ManualIoEventLoop(Thread.currentThread(), EpollIoHandler.newFactory());
  private final Connection.InFlight inFlight = new Connection.InFlight();
  private int finished;
  private Attempt failed;
  private RuntimeException defect;

  private Harvest(LoadPlan plan, TlsClient client, InetSocketAddress address, NanoClock clock) {
    this.plan = plan;
    this.client = client;
    this.address = address;
    this.clock = clock;
  }

  /**
   * Returns how many tickets a lane begins with: those that are out at the server while one second
   * of arrivals waits for its answers.
   */
  static int stock(LoadPlan plan) {
    double perLane = plan.pace().ownRatePerSecond() / plan.limits().lanes() * RESERVE_SECONDS;
    return (int) Math.max(LEAST, Math.min(MOST, Math.ceil(perLane)));
  }

  /** Returns a keeper of tickets for one lane, empty. */
  public static Tickets store(LoadPlan plan) {
    return new Tickets(2 * stock(plan));
  }

  /**
   * Fills the stores, and makes sure that the server accepts what it has issued.
   *
   * @param stores one a lane
   * @return how many handshakes it took
   * @throws PreflightException when the server issues no tickets, or does not accept them
   */
  public static int fill(
      LoadPlan plan,
      TlsClient client,
      InetSocketAddress address,
      List<Tickets> stores,
      NanoClock clock)
      throws PreflightException {
    Harvest harvest = new Harvest(plan, client, address, clock);
    try {
      for (Tickets store : stores) {
        harvest.fill(store);
      }
      harvest.prove(stores.get(0));
      return harvest.finished;
    } catch (SSLException | ChannelException e) {
      throw new PreflightException("no tickets can be collected: " + e.getMessage(), e);
    } finally {
      harvest.close();
    }
  }

  private void fill(Tickets store) throws PreflightException, SSLException {
    int wanted = stock(plan);
    int before = finished;
    long issued = 0;
    try (Connector connector = client.connector(loop, this, store, false)) {
      while (store.size() < wanted) {
        while (inFlight.size() < AT_ONCE) {
          start(connector, 0);
        }
        turn();
        if (failed != null) {
          abandon();
          throw refused("a priming handshake failed", failed);
        }
        if (store.issued() > issued) {
          issued = store.issued();
          before = finished;
        }
        int made = finished - before;
        if (made >= PATIENCE && issued > 0) {
          abandon();
          throw new PreflightException(
              "the server has stopped to issue session tickets: issued="
                  + issued
                  + " wanted="
                  + wanted
                  + " handshakes since="
                  + made
                  + "; let all of its machines issue them, or measure --session fresh",
              null);
        }
        if (made >= PATIENCE) {
          abandon();
          throw new PreflightException(
              "the server issues no session tickets, so there is nothing to resume:"
                  + " sessions=resumed handshakes="
                  + made
                  + (plan.request().handshakeOnly()
                      ? "; some servers send them with the response only: leave --handshake-only"
                          + " out, or"
                      : ";")
                  + " turn them on (nginx: ssl_session_tickets on), or measure --session fresh",
              null);
        }
      }
      while (inFlight.size() > 0) {
        turn();
      }
    }
  }

  /** One resumed connection, before thousands fail. */
  private void prove(Tickets store) throws PreflightException, SSLException {
    long index = 0;
    while (!plan.sessions().resumes(index)) {
      index++;
    }
    try (Connector connector = client.connector(loop, this, store, true)) {
      start(connector, index);
      while (inFlight.size() > 0) {
        turn();
      }
    }
    if (failed != null && failed.outcome() == Outcome.NOT_RESUMED) {
      throw new PreflightException(
          "the server issues session tickets and does not accept them: 0 % resumed; let it keep its"
              + " ticket keys or its session cache (nginx: ssl_session_tickets on, or"
              + " ssl_session_cache shared), or measure --session fresh",
          null);
    }
    if (failed != null) {
      throw refused("a resumed handshake failed", failed);
    }
  }

  private static PreflightException refused(String what, Attempt attempt) {
    return new PreflightException(
        what + ": outcome=" + attempt.outcome() + " (" + attempt.outcome().text() + ")",
        attempt.failure());
  }

  private void start(Connector connector, long index) {
    List<InetAddress> sources = plan.limits().sources();
    Exchange exchange =
        connector.prepare(
            sources.isEmpty() ? null : sources.get(0),
            address.getAddress() instanceof Inet6Address);
    inFlight.add(exchange);
    exchange.start(index, clock.nanos(), address);
  }

  private void turn() {
    loop.run(10_000_000L);
    if (defect != null) {
      throw defect;
    }
    Connection exchange = inFlight.oldest();
    if (exchange != null
        && clock.nanos() - exchange.attempt().at(Milestone.STARTED)
            > plan.limits().timeoutNanos()) {
      exchange.expire();
    }
  }

  @Override
  public void finished(Connection exchange) {
    inFlight.remove(exchange);
    finished++;
    Attempt attempt = exchange.attempt();
    if (attempt.outcome() != Outcome.SUCCESS && attempt.outcome() != Outcome.ABANDONED) {
      failed = attempt;
    }
  }

  @Override
  public void broke(RuntimeException defect) {
    this.defect = defect;
  }

  private void abandon() {
    while (inFlight.oldest() != null) {
      inFlight.oldest().abandon();
    }
  }

  private void close() {
    loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
    while (!loop.isTerminated()) {
      loop.runNow();
    }
  }
}

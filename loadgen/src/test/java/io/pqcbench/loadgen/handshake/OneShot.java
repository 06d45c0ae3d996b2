package io.pqcbench.loadgen.handshake;

import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

/** Runs single attempts on the calling thread. */
final class OneShot implements AutoCloseable {

  private final LoadPlan plan;
  private final TlsClient client;
  private final ManualIoEventLoop loop =
      new ManualIoEventLoop(Thread.currentThread(), EpollIoHandler.newFactory());
  private final Connector connector;
  Exchange exchange;

  OneShot(LoadPlan plan, TlsClient client) {
    this(plan, client, finished -> {});
  }

  OneShot(LoadPlan plan, TlsClient client, Connection.Owner owner) {
    this.plan = plan;
    this.client = client;
    this.connector = client.connector(loop, owner);
  }

  /** With sessions to resume. */
  OneShot(LoadPlan plan, TlsClient client, Tickets tickets) throws SSLException {
    this.plan = plan;
    this.client = client;
    this.connector = client.connector(loop, finished -> {}, tickets, /* offers= */ true);
  }

  /** A client that expects what a preflight finds now. */
  static OneShot afterPreflight(LoadPlan plan) throws Exception {
    ServerFacts facts = new Preflight(plan, NanoClock.SYSTEM).run();
    return new OneShot(plan, new TlsClient(plan, facts, NanoClock.SYSTEM));
  }

  /** A client that accepts anything, and whose own hello is read. */
  static OneShot blind(LoadPlan plan) throws Exception {
    // Before anything of the TLS stack's classes is touched.
    NativeTls.require(plan.tls().stack());
    return new OneShot(
        plan,
        new TlsClient(
            plan,
            plan.tls().groups(),
            new ServerTrust.Blind(),
            Expectation.ANYTHING,
            true,
            NanoClock.SYSTEM));
  }

  Attempt run() {
    return run(attempt -> {});
  }

  /**
   * @param eachTurn looks at the attempt when the loop has handled some events
   */
  Attempt run(Consumer<Attempt> eachTurn) {
    exchange =
        connector.prepare(
            plan.limits().sources().isEmpty() ? null : plan.limits().sources().get(0), false);
    long begin = NanoClock.SYSTEM.nanos();
    exchange.start(
        0, begin, new InetSocketAddress(InetAddress.getLoopbackAddress(), plan.target().port()));
    while (!exchange.isClosed()) {
      loop.run(5_000_000L);
      eachTurn.accept(exchange.attempt());
      if (NanoClock.SYSTEM.nanos() - begin > plan.limits().timeoutNanos()) {
        exchange.expire();
      }
    }
    return exchange.attempt();
  }

  @Override
  public void close() {
    connector.close();
    client.close();
    loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
    while (!loop.isTerminated()) {
      loop.runNow();
    }
  }
}

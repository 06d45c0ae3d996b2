package io.pqcbench.loadgen.handshake;

import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.epoll.EpollIoHandler;
import io.pqcbench.loadgen.bench.MicroBenchmark;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What a lane does before an arrival is due: socket, TLS state and registration of a connection,
 * and their release. To be compared with {@code EngineSetUpBenchmark}, which is the TLS part of it
 * as Netty makes it.
 */
@State(Scope.Thread)
public class ConnectorBenchmark extends MicroBenchmark {

  /** The only group on offer. */
  @Param({"X25519", "X25519MLKEM768"})
  public String group;

  private TlsClient client;
  private Connector connector;
  private ManualIoEventLoop loop;

  @Setup
  public void open() throws Exception {
    NativeTls.require(LoadPlan.Stack.DEFAULT);
    LoadPlan plan = Plans.to(1).groups(NamedGroup.find(group).orElseThrow()).plan();
    client =
        new TlsClient(
            plan,
            plan.tls().groups(),
            new ServerTrust.Blind(),
            Expectation.ANYTHING,
            false,
            NanoClock.SYSTEM);
    loop = new ManualIoEventLoop(Thread.currentThread(), EpollIoHandler.newFactory());
    connector = client.connector(loop, finished -> {});
  }

  @TearDown
  public void close() {
    loop.shutdownGracefully(0, 0, TimeUnit.NANOSECONDS);
    while (!loop.isTerminated()) {
      loop.runNow();
    }
    connector.close();
    client.close();
  }

  @Benchmark
  public Exchange prepareAndDiscard() {
    Exchange exchange = connector.prepare(null, false);
    exchange.discard();
    return exchange;
  }
}

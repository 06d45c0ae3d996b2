package io.pqcbench.loadgen.bench;

import io.netty.handler.ssl.SslHandler;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What it costs to make and to release the TLS part of a connection, which a run does before the
 * arrival is due: Netty's handler around a client's engine of BoringSSL. The key is not part of it;
 * it is made with the ClientHello.
 */
@State(Scope.Thread)
public class EngineSetUpBenchmark extends MicroBenchmark {

  /** The only group on offer. */
  @Param({"X25519", "X25519MLKEM768"})
  public String group;

  private InMemoryTls tls;

  @Setup
  public void open() throws Exception {
    tls = new InMemoryTls(group);
  }

  @TearDown
  public void close() {
    tls.close();
  }

  @Benchmark
  public SslHandler makeAndRelease() {
    SslHandler handler = tls.clientHandler();
    InMemoryTls.release(handler.engine());
    return handler;
  }
}

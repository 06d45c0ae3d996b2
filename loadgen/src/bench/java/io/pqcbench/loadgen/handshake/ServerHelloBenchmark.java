package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.pqcbench.loadgen.bench.MicroBenchmark;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What it costs to read the facts of a ServerHello that BoringSSL has sent, from one direct buffer
 * as epoll fills it; in nanoseconds, as it is so little.
 */
@State(Scope.Thread)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ServerHelloBenchmark extends MicroBenchmark {

  /** The negotiated group. */
  @Param({"X25519", "X25519MLKEM768"})
  public String group;

  private final HelloScanner<ServerHello> scanner = HelloScanner.ofServer();
  private ByteBuf wire;

  @Setup
  public void record() {
    byte[] bytes = RecordedHellos.bytes("server, " + group);
    wire = Unpooled.directBuffer(bytes.length).writeBytes(bytes);
    scan();
    if (!scanner.helloComplete()) {
      throw new IllegalStateException("the recorded bytes hold no ServerHello: group=" + group);
    }
  }

  @TearDown
  public void release() {
    wire.release();
  }

  @Benchmark
  public int scan() {
    scanner.reset();
    scanner.scan(wire);
    return scanner.hello().group();
  }
}

package io.pqcbench.loadgen.bench;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What a TLS 1.3 handshake costs in BoringSSL alone, without network, event loop or Netty's
 * handler, by side and step: the client's cost is {@code clientHello + clientFinish}, the server's
 * {@code serverFlight + serverFinish}. {@code whole} is all four at once, as a check of their sum.
 * The client's steps are what a run reports as its phases hello and finish.
 *
 * <p>A step can be taken once per connection, so what comes before it is set-up of the single
 * invocation, and JMH reads the clock around each. That adds less than 0.1 us to steps of tens of
 * microseconds. The allocation profiler cannot leave the set-up out: its bytes are those of the
 * whole handshake up to the step.
 */
public class InMemoryHandshakeBenchmark extends MicroBenchmark {

  /** Two contexts, and the two engines and latest flight of one connection. */
  @State(Scope.Thread)
  public static class Connection {

    /** The only group on offer. */
    @Param({"X25519", "X25519MLKEM768"})
    public String group;

    InMemoryTls tls;
    SSLEngine client;
    SSLEngine server;
    final ByteBuffer flight = InMemoryTls.newFlight();

    @Setup
    public void open() throws Exception {
      tls = new InMemoryTls(group);
    }

    @TearDown
    public void close() {
      tls.close();
    }

    void connect() throws SSLException {
      client = tls.clientEngine();
      server = tls.serverEngine();
    }

    void disconnect() {
      InMemoryTls.release(client);
      InMemoryTls.release(server);
    }

    int clientHello() throws SSLException {
      // Makes the key already, before anything is to be sent.
      client.beginHandshake();
      tls.send(client, flight);
      return flight.remaining();
    }

    int serverFlight() throws SSLException {
      tls.receive(server, flight);
      tls.send(server, flight);
      return flight.remaining();
    }

    int clientFinish() throws SSLException {
      tls.receive(client, flight);
      tls.send(client, flight);
      InMemoryTls.requireSecured(client);
      return flight.remaining();
    }

    int serverFinish() throws SSLException {
      tls.receive(server, flight);
      // It has nothing to say, but only when asked does Netty notice that the handshake is over.
      tls.send(server, flight);
      InMemoryTls.requireSecured(server);
      return flight.remaining();
    }
  }

  /** A connection of which nothing has happened yet. */
  public static class Fresh extends Connection {
    @Setup(Level.Invocation)
    public void before() throws SSLException {
      connect();
      advance();
    }

    /** Takes the steps that come before the one that is measured. */
    void advance() throws SSLException {}

    @TearDown(Level.Invocation)
    public void after() {
      disconnect();
    }
  }

  /** A connection whose ClientHello is there to be read. */
  public static class Greeted extends Fresh {
    @Override
    void advance() throws SSLException {
      clientHello();
    }
  }

  /** A connection whose server's flight is there to be read. */
  public static class Answered extends Fresh {
    @Override
    void advance() throws SSLException {
      clientHello();
      serverFlight();
    }
  }

  /** A connection whose client's Finished is there to be read. */
  public static class Confirmed extends Fresh {
    @Override
    void advance() throws SSLException {
      clientHello();
      serverFlight();
      clientFinish();
    }
  }

  /** Client: key generation. */
  @Benchmark
  public int clientHello(Fresh connection) throws SSLException {
    return connection.clientHello();
  }

  /** Server: key exchange or encapsulation, and the certificate's signature. */
  @Benchmark
  public int serverFlight(Greeted connection) throws SSLException {
    return connection.serverFlight();
  }

  /** Client: key exchange or decapsulation, and the check of the signature. */
  @Benchmark
  public int clientFinish(Answered connection) throws SSLException {
    return connection.clientFinish();
  }

  /** Server: the check of the client's Finished. */
  @Benchmark
  public int serverFinish(Confirmed connection) throws SSLException {
    return connection.serverFinish();
  }

  /** Both sides. */
  @Benchmark
  public int whole(Fresh connection) throws SSLException {
    return connection.clientHello()
        + connection.serverFlight()
        + connection.clientFinish()
        + connection.serverFinish();
  }
}

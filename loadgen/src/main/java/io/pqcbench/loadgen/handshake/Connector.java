package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelException;
import io.netty.channel.IoEventLoop;
import io.netty.channel.unix.Socket;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.function.LongPredicate;

/**
 * Makes the connections of one lane ready to be started: socket and TLS state exist before the
 * arrival is due, so that none of their cost is in a latency. The objects of connections that are
 * over are used again.
 *
 * <p>It also holds the buffers through which all of the lane's bytes go: an event is handled to its
 * end before the next one, so one of each is enough. Confined to its loop's thread.
 */
public final class Connector implements Connections {

  /** More than the longest TLS record (RFC 8446, section 5.2: 2^14 + 256, and its header). */
  private static final int BUFFER_BYTES = 32_768;

  private static final int PLAINTEXT_BYTES = 1 << 14;

  /** Some 200 answers to pings; more come from nobody who means well. */
  private static final int ANSWERS_BYTES = 4096;

  /** Linux, include/uapi/linux/in.h. */
  private static final int IPPROTO_IP = 0;

  private static final int IP_BIND_ADDRESS_NO_PORT = 24;

  final TlsConnections context;
  final ServerTrust trust;
  final Expectation expected;
  final NanoClock clock;
  final Connection.Owner owner;
  final long expectBytes;
  final boolean orderlyClose;
  final LoadPlan.ProxyProtocol proxyProtocol;
  final Memory in = new Memory(BUFFER_BYTES);
  final Memory out = new Memory(BUFFER_BYTES);
  final Memory plaintext = new Memory(PLAINTEXT_BYTES);
  final Memory tcpInfo = new Memory(TcpInfo.BYTES);

  /** The request; null for none. */
  final Memory request;

  /** What is sent before the first request, on its own; null if that is a part of the request. */
  final Memory opening;

  /** Whether the server must speak HTTP/2. */
  final boolean http2;

  /** Frames that answer the server's, on their way into the TLS stack. */
  final Memory answerMemory = new Memory(ANSWERS_BYTES);

  final ByteBuf answers = answerMemory.view(0, 0);

  /** Sessions that were issued; null to keep none. */
  final Tickets tickets;

  /** Which arrivals, by their index, are to resume a session. */
  final LongPredicate resumes;

  /** Whether what the server says of itself is kept. */
  final boolean describes;

  /** Whether connections are kept open for requests. */
  final boolean pooled;

  /** After so many requests a connection is closed; 0 for never. */
  final int requestsPerConnection;

  private final boolean ownsContext;
  private final IoEventLoop loop;
  private final ArrayDeque<Exchange> idle = new ArrayDeque<>();

  Connector(
      TlsConnections context,
      boolean ownsContext,
      ServerTrust trust,
      Expectation expected,
      RequestBytes bytes,
      long expectBytes,
      boolean orderlyClose,
      LoadPlan.ProxyProtocol proxyProtocol,
      boolean describes,
      Tickets tickets,
      LongPredicate resumes,
      LoadPlan.Sessions sessions,
      NanoClock clock,
      IoEventLoop loop,
      Connection.Owner owner) {
    this.context = context;
    this.trust = trust;
    this.expected = expected;
    RequestBytes split = sessions.pooled() ? bytes : bytes.whole();
    this.request = split.request == null ? null : new Memory(split.request);
    this.opening = split.opening == null ? null : new Memory(split.opening);
    this.http2 = split.http2;
    this.expectBytes = expectBytes;
    this.orderlyClose = orderlyClose;
    this.proxyProtocol = proxyProtocol;
    this.describes = describes;
    this.tickets = tickets;
    this.resumes = resumes;
    this.pooled = sessions.pooled();
    this.requestsPerConnection = sessions.requestsPerConnection();
    this.ownsContext = ownsContext;
    this.clock = clock;
    this.loop = loop;
    this.owner = owner;
  }

  /**
   * Opens a socket and makes the TLS state of a connection.
   *
   * @param source local address to connect from; null to let the kernel choose
   * @param ipv6 whether the target's address is one of IPv6
   * @return an exchange that waits for {@link Exchange#start} or {@link Exchange#discard}
   * @throws ChannelException when no socket can be had; see {@link TlsClient#isOutOfDescriptors}
   */
  @Override
  public Exchange prepare(InetAddress source, boolean ipv6) {
    Socket socket = TcpSocket.open(ipv6);
    try {
      // All that is sent at once is written at once; what is written next must not wait.
      socket.setTcpNoDelay(true);
      if (!orderlyClose) {
        socket.setSoLinger(0);
      }
      if (source != null) {
        // Lets the kernel choose the port in connect, where it knows the destination and can share
        // ports between them.
        socket.setIntOpt(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
        socket.bind(new InetSocketAddress(source, 0));
      }
    } catch (IOException e) {
      close(socket);
      throw new ChannelException(
          "cannot prepare a socket"
              + (source == null ? "" : ", cannot connect from this address: source=" + source),
          e);
    }
    Exchange exchange = idle.poll();
    if (exchange == null) {
      exchange = new Exchange(this);
    }
    exchange.open(socket, loop);
    return exchange;
  }

  /**
   * A socket of the family of the target's address: Netty's are of IPv6 with IPv4 mapped into it,
   * which costs a system call more each.
   */
  private static final class TcpSocket extends Socket {
    private TcpSocket(int descriptor) {
      super(descriptor);
    }

    static Socket open(boolean ipv6) {
      return new TcpSocket(newSocketStream0(ipv6));
    }
  }

  /** Takes back a connection that is closed. */
  void recycle(Exchange exchange) {
    idle.push(exchange);
  }

  static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // The descriptor is free all the same (close(2), "Dealing with error returns").
      return;
    }
  }

  /** Frees the buffers. All connections must be closed. */
  @Override
  public void close() {
    in.free();
    out.free();
    plaintext.free();
    tcpInfo.free();
    answerMemory.free();
    if (request != null) {
      request.free();
    }
    if (opening != null) {
      opening.free();
    }
    if (ownsContext) {
      context.close();
    }
  }
}

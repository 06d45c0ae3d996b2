package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.handler.codec.quic.DefaultQuicStreamFrame;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicClosedChannelException;
import io.netty.handler.codec.quic.QuicConnectionCloseEvent;
import io.netty.handler.codec.quic.QuicConnectionPathStats;
import io.netty.handler.codec.quic.QuicSslEngine;
import io.netty.handler.codec.quic.QuicStreamChannel;
import io.netty.handler.codec.quic.QuicStreamResetException;
import io.netty.handler.codec.quic.QuicStreamType;
import io.netty.util.concurrent.Future;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.security.cert.CertificateException;
import java.util.Locale;
import java.util.stream.Collectors;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/**
 * One QUIC connection from its preparation to its close: one UDP socket, one handshake, one request
 * over one stream. It stands between socket and codec, where it takes the timestamps, counts the
 * bytes and keeps the datagrams in which the hellos are; see {@link InitialPackets}.
 *
 * <p>Every attempt has a socket of its own, as every client of a server has, so that it is a new
 * flow for everything on the way: receive-side scaling, load balancers, the server's socket lookup.
 *
 * <p>An attempt is ended by a task of the loop, never within the codec's calls, which do not expect
 * to lose their connection.
 */
final class QuicExchange extends Connection {

  private enum State {
    READY,
    HANDSHAKING,
    SECURED,
    CLOSED
  }

  private final QuicConnections shared;
  private final QuicClient common;
  private final NanoClock clock;
  private final InitialPackets packets;

  /** By which the codec knows this connection. */
  private final InetSocketAddress peer;

  private final ServerHello server = new ServerHello();
  private final ClientHello client = new ClientHello();

  private State state = State.READY;
  private EpollDatagramChannel socket;
  private QuicChannel quic;
  private QuicSslEngine engine;

  /** When the last datagram came. */
  private long lastReadNanos;

  /** What the QUIC stack took for it, and for those before it, until the handshake is complete. */
  private long lastWorkNanos;

  private long earlyWorkNanos;

  /** When the last datagram before the end of the handshake came, less the work before it. */
  private long flightReceivedNanos = Attempt.UNSET;

  /** Whether datagrams were written since the last flush. */
  private boolean wrote;

  private boolean requested;
  private boolean ended;
  private int clientHelloBytes = Hello.UNKNOWN;
  private boolean retry;

  QuicExchange(QuicConnections shared, InitialPackets packets, InetSocketAddress peer) {
    this.shared = shared;
    this.peer = peer;
    this.common = shared.client;
    this.clock = common.clock;
    this.packets = packets;
  }

  /**
   * Opens the socket.
   *
   * @throws ChannelException when none can be had
   */
  void open(InetAddress source, boolean ipv6) {
    socket =
        new EpollDatagramChannel(ipv6 ? SocketProtocolFamily.INET6 : SocketProtocolFamily.INET);
    socket.pipeline().addLast(new Wire());
    ChannelFuture opened = shared.loop.register(socket);
    if (opened.isSuccess() && source != null) {
      opened = socket.bind(new InetSocketAddress(source, 0));
    }
    if (!opened.isSuccess()) {
      socket.close();
      throw new ChannelException(
          "cannot prepare a socket"
              + (source == null ? "" : ", cannot connect from this address: source=" + source),
          opened.cause());
    }
  }

  InetSocketAddress peer() {
    return peer;
  }

  /** Makes the TLS state. */
  QuicSslEngine newEngine(QuicChannel channel) {
    engine =
        common.serverName == null
            ? common.context.newEngine(channel.alloc())
            : common.context.newEngine(channel.alloc(), common.serverName, common.port);
    return engine;
  }

  @Override
  public void start(long index, long plannedNanos, InetSocketAddress remote) {
    attempt.begin(index, plannedNanos);
    attempt.datagrams = true;
    state = State.HANDSHAKING;
    long now = clock.nanos();
    attempt.mark(Milestone.STARTED, now);
    // There is nothing to connect to: the handshake begins at once.
    attempt.mark(Milestone.CONNECTED, now);
    // So that the kernel tells of a port that nobody listens on.
    ChannelFuture connected = socket.connect(remote);
    if (!connected.isSuccess()) {
      connectFailed(connected.cause());
      return;
    }
    attempt.localPort = socket.localAddress().getPort();
    shared.connecting(this).handler(new Events()).connect().addListener(this::handshakeEnded);
  }

  private void connectFailed(Throwable cause) {
    // Of UDP the kernel says EAGAIN where it says EADDRNOTAVAIL of TCP.
    boolean noPort = String.valueOf(cause.getMessage()).contains("error(-11)");
    fail(noPort ? Outcome.NO_PORT : Failures.ofConnect(cause), Attempt.NONE, cause);
  }

  /** The codec tells of a success when the next packet has come; that is too late for a request. */
  private void handshakeEnded(Future<? super QuicChannel> future) {
    if (!future.isSuccess()) {
      lost(future.cause());
    }
  }

  private void lost(Throwable cause) {
    CertificateException refusal = common.trust.takeRefusal(engine);
    if (refusal != null) {
      fail(Failures.ofHandshake(refusal), Attempt.NONE, refusal);
    } else if (cause instanceof QuicClosedChannelException closed && closed.event() != null) {
      closedByServer(closed.event());
    } else if (cause instanceof ClosedChannelException) {
      fail(Outcome.CLOSED_EARLY, Attempt.NONE, cause);
    } else if (cause instanceof SSLException) {
      fail(Failures.ofHandshake(cause), Failures.alertOf(cause), cause);
    } else {
      fail(Outcome.TLS_ERROR, Attempt.NONE, cause);
    }
  }

  /** RFC 9001, section 4.8: TLS alerts are the errors from 0x100 to 0x1ff. */
  private void closedByServer(QuicConnectionCloseEvent event) {
    // Not its reason: the codec has null where there is none, and stumbles over it.
    IOException cause =
        new IOException(
            String.format(
                Locale.ROOT,
                "the server closed the connection: %s=0x%x",
                event.isApplicationClose() ? "applicationError" : "transportError",
                event.error()));
    int alert = event.isApplicationClose() ? -1 : event.error() - 0x100;
    if (alert >= 0 && alert <= 0xff) {
      fail(Outcome.TLS_ALERT, alert, cause);
    } else {
      fail(Outcome.CLOSED_EARLY, Attempt.NONE, cause);
    }
  }

  /** Takes a datagram of the codec's. */
  void write(ByteBuf datagram) {
    if (attempt.outcome == null) {
      wrote = true;
      attempt.bytesOut += datagram.readableBytes();
      attempt.recordsOut++;
      if (state == State.HANDSHAKING) {
        long now = clock.nanos();
        packets.keep(datagram, /* ours= */ true, now);
        if (engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING) {
          secured(now);
        }
      }
    }
    socket.write(datagram);
  }

  /** Sends what was written. */
  void flush() {
    if (wrote) {
      wrote = false;
      // Before the system call: see ARCHITECTURE.md.
      if (!attempt.reached(Milestone.HELLO_SENT)) {
        attempt.mark(Milestone.HELLO_SENT, clock.nanos());
      } else if (requested && !attempt.reached(Milestone.REQUEST_SENT)) {
        attempt.mark(Milestone.REQUEST_SENT, clock.nanos());
      }
    }
    socket.flush();
  }

  /** What comes from the socket. */
  private final class Wire extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      long now = clock.nanos();
      ByteBuf datagram = ((DatagramPacket) message).content();
      if (attempt.outcome == null) {
        lastReadNanos = now;
        attempt.bytesIn += datagram.readableBytes();
        attempt.recordsIn++;
        if (state == State.HANDSHAKING) {
          earlyWorkNanos += lastWorkNanos;
          packets.keep(datagram, /* ours= */ false, now);
        }
      }
      shared.received(QuicExchange.this, datagram);
      if (state == State.HANDSHAKING) {
        lastWorkNanos = clock.nanos() - now;
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
      shared.receivedAll();
    }

    /** The kernel tells so of an ICMP message: port or host unreachable. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      if (cause instanceof IOException) {
        fail(
            attempt.bytesIn == 0 ? Outcome.TCP_REFUSED : Outcome.CLOSED_EARLY, Attempt.NONE, cause);
      } else {
        broke(cause);
      }
    }
  }

  /** Of the connection. */
  private final class Events extends ChannelInboundHandlerAdapter {

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
      quic = (QuicChannel) ctx.channel();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof QuicConnectionCloseEvent close) {
        closedByServer(close);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      lost(new ClosedChannelException());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      lost(cause);
    }
  }

  /** The client's last flight is about to be sent. */
  private void secured(long now) {
    state = State.SECURED;
    attempt.mark(Milestone.SECURED, now);
    // As over TCP: all the waiting is the flight's, and all the work what follows it.
    flightReceivedNanos = lastReadNanos - earlyWorkNanos;
    attempt.handshakeBytesIn = attempt.bytesIn;
    attempt.handshakeBytesOut = attempt.bytesOut;
    shared.loop.execute(this::ask);
  }

  private void ask() {
    if (attempt.outcome != null || state != State.SECURED) {
      return;
    }
    String protocol = engine.getApplicationProtocol();
    if (common.request == null) {
      succeed(attempt.at(Milestone.SECURED));
    } else if (!QuicClient.HQ.equals(protocol)) {
      fail(
          Outcome.HTTP_ERROR,
          Attempt.NONE,
          new IOException(
              "this client can ask over QUIC by HTTP/0.9 ("
                  + QuicClient.HQ
                  + ") only, and not by the protocol that was negotiated: alpn="
                  + protocol
                  + "; without a request: --handshake-only"));
    } else {
      quic.createStream(QuicStreamType.BIDIRECTIONAL, new Response())
          .addListener(
              (Future<QuicStreamChannel> created) -> {
                if (created.isSuccess()) {
                  requested = true;
                  created
                      .getNow()
                      .writeAndFlush(
                          new DefaultQuicStreamFrame(
                              Unpooled.directBuffer(common.request.length)
                                  .writeBytes(common.request),
                              /* fin= */ true));
                } else {
                  fail(Outcome.HTTP_ERROR, Attempt.NONE, created.cause());
                }
              });
    }
  }

  /** HTTP/0.9: the body, and its end is the end of the stream. */
  private final class Response extends ChannelInboundHandlerAdapter {

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf body = (ByteBuf) message;
      if (attempt.outcome == null) {
        if (!attempt.reached(Milestone.FIRST_BYTE)) {
          attempt.mark(Milestone.FIRST_BYTE, lastReadNanos);
        }
        attempt.bodyBytes += body.readableBytes();
      }
      body.release();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event == ChannelInputShutdownEvent.INSTANCE) {
        complete();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      fail(Outcome.CLOSED_EARLY, Attempt.NONE, new ClosedChannelException());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      if (cause instanceof QuicStreamResetException reset) {
        fail(
            Outcome.HTTP_ERROR,
            Attempt.NONE,
            new IOException(
                String.format(
                    Locale.ROOT,
                    "the server reset the stream: applicationError=0x%x",
                    reset.applicationProtocolCode()),
                cause));
      } else {
        lost(cause);
      }
    }
  }

  private void complete() {
    long now = clock.nanos();
    if (attempt.outcome != null) {
      return;
    }
    if (!attempt.reached(Milestone.FIRST_BYTE)) {
      // A body of no bytes: its end is all that comes.
      attempt.mark(Milestone.FIRST_BYTE, lastReadNanos);
    }
    if (common.expectBytes >= 0 && attempt.bodyBytes != common.expectBytes) {
      fail(
          Outcome.WRONG_LENGTH,
          Attempt.NONE,
          new IOException("bodyBytes=" + attempt.bodyBytes + " expected=" + common.expectBytes));
    } else {
      succeed(now);
    }
  }

  private void succeed(long now) {
    attempt.mark(Milestone.DONE, now);
    attempt.outcome = Outcome.SUCCESS;
    shared.loop.execute(this::end);
  }

  private void fail(Outcome outcome, int detail, Throwable cause) {
    if (attempt.outcome == null && state != State.CLOSED) {
      attempt.outcome = outcome;
      attempt.detail = detail;
      attempt.failure = cause;
      shared.loop.execute(this::end);
    }
  }

  private void broke(Throwable cause) {
    fail(Outcome.ABANDONED, Attempt.NONE, cause);
    shared.owner.broke(
        cause instanceof RuntimeException defect ? defect : new IllegalStateException(cause));
  }

  /** Once an attempt has its outcome. */
  private void end() {
    if (ended) {
      return;
    }
    ended = true;
    try {
      notePath();
      examine();
      shared.owner.finished(this);
    } catch (RuntimeException e) {
      // The loop would only log it.
      shared.owner.broke(e);
    } finally {
      release();
    }
  }

  /** What TCP_INFO says of TCP. */
  private void notePath() {
    if (attempt.reached(Milestone.SECURED) && quic.isOpen()) {
      QuicConnectionPathStats path = quic.collectPathStats(0).getNow();
      if (path != null) {
        attempt.rttMicros = path.rtt() / 1000;
        attempt.retransmits = path.retrans();
        attempt.lost = path.lost();
      }
    }
  }

  /** Looks at the hellos, of which the first could be read only now. */
  private void examine() {
    packets.read(client, server);
    clientHelloBytes = packets.clientHelloBytes();
    retry = packets.retry();
    if (packets.serverHelloNanos() != Attempt.UNSET) {
      attempt.mark(
          Milestone.HELLO_RECEIVED, Math.max(packets.serverHelloNanos(), flightReceivedNanos));
    }
    if (state != State.SECURED) {
      if (packets.versions() != null) {
        replace(
            Outcome.QUIC_VERSION,
            Attempt.NONE,
            new IOException(
                "the server speaks none of this client's versions of QUIC: offered=0x1 spoken="
                    + packets.versions().stream()
                        .map(version -> "0x" + Integer.toHexString(version))
                        .collect(Collectors.joining(","))));
      }
      return;
    }
    attempt.cipherSuite = server.cipherSuite();
    attempt.group = server.group();
    if (!server.complete() || !client.complete()) {
      replace(
          Outcome.TLS_ERROR,
          Attempt.NONE,
          new IOException("the hellos of a completed handshake could not be read"));
      return;
    }
    Outcome wrong =
        common.expected.check(
            server,
            server.pskSelected() || client.pskOffered(),
            /* wanted= */ false,
            negotiatedGroup(),
            tellsGroup());
    if (wrong == null && common.expectRetry != null && common.expectRetry != retry) {
      wrong = Outcome.QUIC_RETRY;
    }
    if (wrong != null) {
      replace(wrong, wrong == Outcome.WRONG_CIPHER ? attempt.cipherSuite : Attempt.NONE, null);
    }
  }

  /** What was negotiated wrongly outweighs what came of it later, as if the attempt ended there. */
  private void replace(Outcome outcome, int detail, Throwable cause) {
    attempt.endAt(Milestone.SECURED);
    attempt.outcome = outcome;
    attempt.detail = detail;
    attempt.failure = cause;
  }

  private void release() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    common.trust.takeRefusal(engine);
    if (quic != null) {
      // Says CONNECTION_CLOSE, and waits for nothing.
      quic.close();
    }
    socket.close();
    shared.recycle(this, packets);
  }

  @Override
  public void expire() {
    fail(
        state == State.HANDSHAKING ? Outcome.TLS_TIMEOUT : Outcome.HTTP_TIMEOUT,
        Attempt.NONE,
        null);
    end();
  }

  @Override
  public void abandon() {
    fail(Outcome.ABANDONED, Attempt.NONE, null);
    end();
  }

  @Override
  public void discard() {
    ended = true;
    release();
  }

  @Override
  public void request(long index, long plannedNanos, boolean repeated) {
    throw new UnsupportedOperationException("no connection of QUIC is kept for requests");
  }

  @Override
  public boolean isIdle() {
    return false;
  }

  /** Without a connection to be made, the time of the whole attempt is the only limit. */
  @Override
  public boolean isConnecting() {
    return false;
  }

  @Override
  public boolean isClosed() {
    return state == State.CLOSED;
  }

  @Override
  boolean tellsGroup() {
    return true;
  }

  /** Returns the group by the decrypted ServerHello, because the stack of QUIC tells none. */
  @Override
  String negotiatedGroup() {
    return server.group() == Hello.UNKNOWN ? null : NamedGroup.nameOf(server.group());
  }

  @Override
  ServerHello serverHello() {
    return server;
  }

  @Override
  ClientHello clientHello() {
    return client;
  }

  @Override
  int clientHelloBytes() {
    return clientHelloBytes;
  }

  @Override
  String software() {
    return null;
  }

  /** Returns whether the server had asked for proof of the client's address. */
  boolean retried() {
    return retry;
  }

  @Override
  String signatureScheme() {
    return null;
  }

  @Override
  String negotiatedProtocol() {
    return engine == null ? null : engine.getApplicationProtocol();
  }
}

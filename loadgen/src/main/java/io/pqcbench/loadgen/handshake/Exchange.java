package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.epoll.EpollTcpInfo;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.OpenSslSession;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.internal.tcnative.SSL;
import io.netty.util.ReferenceCountUtil;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/**
 * One connection from its preparation to its close: TCP, TLS, one request. It stands behind the TLS
 * handler and the HTTP decoder and drives them, and it decides how the attempt ended.
 *
 * <p>Made before it is due by {@link TlsClient#prepare}; everything happens on its event loop's
 * thread.
 */
public final class Exchange extends ChannelInboundHandlerAdapter implements ChannelFutureListener {

  /** Who is told how it went; called on the event loop. */
  public interface Owner {
    /** The attempt has its outcome. Called exactly once for an exchange that was started. */
    void finished(Exchange exchange);

    /**
     * The socket is closed and its descriptor free. Called once, after {@link #finished} if it was
     * started.
     */
    void released(Exchange exchange);
  }

  private final NanoClock clock;
  private final Owner owner;
  private final Expectation expected;
  private final ByteBuf request;
  private final boolean orderlyClose;
  final WireTap tap;

  private Channel channel;
  private SslHandler tls;
  private Attempt attempt;
  private String negotiatedGroup;

  /** Neighbours in the lane's list of attempts in flight, oldest first. */
  private Exchange older;

  private Exchange newer;

  /**
   * @param request the encoded request, shared; null to close after the handshake
   * @param orderlyClose whether to say goodbye (close_notify, FIN) or to let the socket's linger
   *     option send a reset
   */
  Exchange(
      NanoClock clock,
      Owner owner,
      Expectation expected,
      ByteBuf request,
      boolean orderlyClose,
      boolean watchClient) {
    this.clock = clock;
    this.owner = owner;
    this.expected = expected;
    this.request = request;
    this.orderlyClose = orderlyClose;
    this.tap = new WireTap(clock, this, watchClient);
  }

  void attach(Channel channel, SslHandler tls) {
    this.channel = channel;
    this.tls = tls;
  }

  /**
   * Connects. The only thing that is left to do when an arrival is due.
   *
   * @param attempt the arrival
   * @param remote a resolved address
   */
  public void start(Attempt attempt, SocketAddress remote) {
    this.attempt = attempt;
    tap.begin(attempt);
    attempt.mark(Milestone.STARTED, clock.nanos());
    channel.connect(remote).addListener(this);
    // The kernel has chosen the port by now; asked for here because a socket that failed has none
    // any more.
    if (channel.localAddress() instanceof InetSocketAddress local) {
      attempt.localPort = local.getPort();
    }
  }

  /** Returns the attempt; null until it was started. */
  public Attempt attempt() {
    return attempt;
  }

  /**
   * Returns the kernel's smoothed round-trip time in microseconds; 0 when the socket is closed
   * already.
   */
  long rttMicros() {
    EpollTcpInfo info = new EpollTcpInfo();
    try {
      ((EpollSocketChannel) channel).tcpInfo(info);
      return info.rtt();
    } catch (ChannelException e) {
      return 0;
    }
  }

  /**
   * Notes what the kernel knows of the connection: round-trip time, segments sent again, segments
   * lost. One system call, to be made when the attempt has its outcome and the socket is still
   * open.
   *
   * @param info overwritten; a lane keeps one for all its connections
   */
  public void noteTcpInfo(EpollTcpInfo info) {
    if (channel.isOpen()) {
      ((EpollSocketChannel) channel).tcpInfo(info);
      attempt.rttMicros = info.rtt();
      attempt.retransmits = info.totalRetrans();
      attempt.lost = info.lost();
    }
  }

  /**
   * Returns the group as the TLS stack names it, while the engine lives; null before the handshake
   * is complete.
   */
  String negotiatedGroup() {
    return negotiatedGroup;
  }

  /** Ends the attempt because its time is up, unless it has ended already. */
  public void expire() {
    if (!attempt.reached(Milestone.CONNECTED)) {
      fail(Outcome.TCP_TIMEOUT, Attempt.NONE, null);
    } else if (!attempt.reached(Milestone.SECURED)) {
      fail(Outcome.TLS_TIMEOUT, Attempt.NONE, null);
    } else {
      fail(Outcome.HTTP_TIMEOUT, Attempt.NONE, null);
    }
  }

  /** Ends the attempt because the run is over, unless it has ended already. */
  public void abandon() {
    fail(Outcome.ABANDONED, Attempt.NONE, null);
  }

  /** Closes the connection; for an exchange that was prepared and not needed. */
  public void discard() {
    tap.abort();
  }

  /**
   * The connect call's result. A success is heard of through the wire tap, which stands nearer to
   * it.
   */
  @Override
  public void operationComplete(ChannelFuture future) {
    Throwable cause = future.cause();
    if (cause != null) {
      fail(Failures.ofConnect(cause), Attempt.NONE, cause);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake && attempt.outcome == null) {
      if (handshake.isSuccess()) {
        secured(ctx);
      } else {
        handshakeFailed(handshake.cause());
      }
    }
  }

  private void secured(ChannelHandlerContext ctx) {
    long now = clock.nanos();
    attempt.mark(Milestone.SECURED, now);
    attempt.handshakeBytesIn = attempt.bytesIn;
    attempt.handshakeBytesOut = attempt.bytesOut;
    attempt.cipherSuite = tap.server.hello().cipherSuite();
    attempt.group = tap.server.hello().group();
    ReferenceCountedOpenSslEngine engine = (ReferenceCountedOpenSslEngine) tls.engine();
    boolean reused = tap.server.hello().pskSelected() || SSL.isSessionReused(engine.sslPointer());
    negotiatedGroup = ((OpenSslSession) engine.getSession()).getNamedGroup();
    Outcome wrong = expected.check(tap.server.hello(), reused, negotiatedGroup);
    if (wrong != null) {
      fail(wrong, wrong == Outcome.WRONG_CIPHER ? attempt.cipherSuite : Attempt.NONE, null);
    } else if (request == null) {
      succeed(now);
    } else {
      tap.requestFollows();
      ctx.writeAndFlush(request.retainedDuplicate(), ctx.voidPromise());
    }
  }

  private void handshakeFailed(Throwable cause) {
    if (tap.server.notTls()) {
      fail(Outcome.TLS_ERROR, Attempt.NONE, new NotTlsException(tap.server.firstBytes()));
    } else if (tap.server.alertDescription() >= 0) {
      fail(Outcome.TLS_ALERT, tap.server.alertDescription(), cause);
    } else if (!channel.isActive() && Failures.alertOf(cause) == Attempt.NONE) {
      fail(Outcome.CLOSED_EARLY, Attempt.NONE, cause);
    } else {
      fail(Failures.ofHandshake(cause), Failures.alertOf(cause), cause);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (attempt.outcome == null && message instanceof HttpObject part) {
        received(part);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void received(HttpObject part) {
    if (part.decoderResult().isFailure()) {
      fail(Outcome.HTTP_ERROR, Attempt.NONE, part.decoderResult().cause());
      return;
    }
    if (part instanceof HttpResponse response) {
      attempt.detail = response.status().code();
    }
    if (part instanceof HttpContent content) {
      attempt.bodyBytes += content.content().readableBytes();
    }
    // An informational response (RFC 9110, 15.2) announces another one.
    if (part instanceof LastHttpContent && attempt.detail >= 200) {
      if (attempt.detail < 400) {
        succeed(clock.nanos());
      } else {
        fail(Outcome.HTTP_ERROR, attempt.detail, null);
      }
    }
  }

  /** The first plaintext byte of the response was read with the last system call. */
  void firstByte() {
    if (!attempt.reached(Milestone.FIRST_BYTE) && attempt.reached(Milestone.REQUEST_SENT)) {
      // One read may hold the end of the handshake and the first data, which then came before the
      // request.
      attempt.mark(
          Milestone.FIRST_BYTE, Math.max(tap.lastReadNanos, attempt.at(Milestone.REQUEST_SENT)));
    }
  }

  void transportFailed(Throwable cause) {
    if (attempt != null) {
      fail(Failures.ofTransport(cause), Attempt.NONE, cause);
    }
  }

  void closedByPeer() {
    if (attempt != null) {
      if (tap.server.notTls()) {
        fail(Outcome.TLS_ERROR, Attempt.NONE, new NotTlsException(tap.server.firstBytes()));
      } else {
        fail(Outcome.CLOSED_EARLY, Attempt.NONE, null);
      }
    }
  }

  /** What a handler behind the tap threw: the TLS stack after the handshake, or the decoder. */
  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (attempt != null && attempt.outcome == null) {
      if (attempt.reached(Milestone.SECURED)) {
        fail(Failures.ofHandshake(cause), Failures.alertOf(cause), cause);
      } else {
        handshakeFailed(cause);
      }
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    owner.released(this);
  }

  private void succeed(long now) {
    attempt.mark(Milestone.DONE, now);
    attempt.outcome = Outcome.SUCCESS;
    owner.finished(this);
    if (orderlyClose) {
      channel.close();
    } else {
      // Without a request the client's Finished has been written, but not sent yet.
      tap.flushNow();
      tap.abort();
    }
  }

  private void fail(Outcome outcome, int detail, Throwable cause) {
    if (attempt.outcome == null) {
      attempt.outcome = outcome;
      attempt.detail = detail;
      attempt.failure = cause;
      owner.finished(this);
      tap.abort();
    }
  }

  /** The exchanges of one lane that are in flight, in the order in which they were started. */
  public static final class InFlight {
    private Exchange oldest;
    private Exchange newest;
    private int size;

    /** Returns how many there are. */
    public int size() {
      return size;
    }

    /** Returns the one that was started first; null when there is none. */
    public Exchange oldest() {
      return oldest;
    }

    /** Returns the one that was started next after {@code exchange}; null when there is none. */
    public Exchange after(Exchange exchange) {
      return exchange.newer;
    }

    /** Adds one that was started just now. */
    public void add(Exchange exchange) {
      exchange.older = newest;
      if (newest == null) {
        oldest = exchange;
      } else {
        newest.newer = exchange;
      }
      newest = exchange;
      size++;
    }

    /** Takes out one that has ended. */
    public void remove(Exchange exchange) {
      if (exchange.older == null) {
        oldest = exchange.newer;
      } else {
        exchange.older.newer = exchange.newer;
      }
      if (exchange.newer == null) {
        newest = exchange.older;
      } else {
        exchange.newer.older = exchange.older;
      }
      exchange.older = null;
      exchange.newer = null;
      size--;
    }
  }
}

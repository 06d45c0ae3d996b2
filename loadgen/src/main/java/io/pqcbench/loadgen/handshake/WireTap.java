package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.pqcbench.loadgen.schedule.NanoClock;

/**
 * The first handler of a connection: what passes here is what the TCP connection carries. It takes
 * the timestamps that lie next to the system calls, counts bytes, and reads the plaintext part of
 * the handshake.
 *
 * <p>It also sees resets and closes before the TLS handler turns them into its own exceptions, so
 * it is where they are classified.
 */
final class WireTap extends ChannelDuplexHandler {

  private final NanoClock clock;
  private final Exchange exchange;

  /** What the server said in plaintext. */
  final HelloScanner<ServerHello> server = HelloScanner.ofServer();

  /**
   * What we said ourselves; null unless asked for, because on the hot path it is the same every
   * time.
   */
  final HelloScanner<ClientHello> client;

  private final RecordCounter in = new RecordCounter();
  private final RecordCounter out = new RecordCounter();
  private ChannelHandlerContext context;
  private Attempt attempt;
  private boolean requestPending;

  /** When the last read system call returned. */
  long lastReadNanos;

  WireTap(NanoClock clock, Exchange exchange, boolean watchClient) {
    this.clock = clock;
    this.exchange = exchange;
    this.client = watchClient ? HelloScanner.ofClient() : null;
  }

  void begin(Attempt attempt) {
    this.attempt = attempt;
  }

  /** Announces that the next flush carries the request. */
  void requestFollows() {
    requestPending = true;
  }

  /** Sends what has been written. */
  void flushNow() {
    context.flush();
  }

  /**
   * Closes the socket without going through the TLS handler, which would send a close_notify first.
   */
  void abort() {
    context.close(context.newPromise());
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    context = ctx;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    attempt.mark(Milestone.CONNECTED, clock.nanos());
    ctx.fireChannelActive();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    lastReadNanos = clock.nanos();
    ByteBuf bytes = (ByteBuf) message;
    if (attempt.outcome == null) {
      attempt.bytesIn += bytes.readableBytes();
      in.count(bytes);
      attempt.recordsIn = in.records();
    }
    if (!server.settled()) {
      server.scan(bytes);
      if (server.helloComplete() && !attempt.reached(Milestone.HELLO_RECEIVED)) {
        attempt.mark(Milestone.HELLO_RECEIVED, lastReadNanos);
      }
    }
    ctx.fireChannelRead(message);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    // What follows the outcome is the goodbye.
    if (message instanceof ByteBuf bytes && attempt.outcome == null) {
      attempt.bytesOut += bytes.readableBytes();
      out.count(bytes);
      attempt.recordsOut = out.records();
      if (client != null) {
        client.scan(bytes);
      }
    }
    ctx.write(message, promise);
  }

  @Override
  public void flush(ChannelHandlerContext ctx) {
    if (attempt.bytesOut > 0 && !attempt.reached(Milestone.HELLO_SENT)) {
      attempt.mark(Milestone.HELLO_SENT, clock.nanos());
    } else if (requestPending) {
      requestPending = false;
      attempt.mark(Milestone.REQUEST_SENT, clock.nanos());
    }
    ctx.flush();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    exchange.transportFailed(cause);
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    // A response without a length ends here, so the handlers behind must hear of it first.
    ctx.fireChannelInactive();
    exchange.closedByPeer();
  }
}

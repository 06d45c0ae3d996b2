package io.pqcbench.loadgen.target;

import static io.netty.handler.codec.http.HttpVersion.HTTP_1_1;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts and answers the requests of one connection. Confined to the connection's event loop.
 *
 * <p>Answers leave in the order of the requests: the loop runs equal delays as they were scheduled,
 * and the {@code ChunkedWriteHandler} in front lets nothing overtake a body that is still flowing.
 * The body of an answer to HEAD is left out by the {@code HttpServerCodec}.
 */
// What Netty's futures could tell, a failed write above all, means only that the client is gone.
@SuppressWarnings("FutureReturnValueIgnored")
final class RequestHandler extends ChannelInboundHandlerAdapter {

  private final long delayNanos;
  private final LongAdder handshakes;
  private final LongAdder requests;

  /** The request whose end has not arrived yet, or null between requests. */
  private HttpRequest request;

  /** True once a request was the connection's last one: what comes behind it is ignored. */
  private boolean finished;

  /**
   * @param delayNanos nanoseconds to hold each answer back, 0 or more
   * @param handshakes counts the handshakes that succeed
   * @param requests counts the well-formed requests, when their end arrives
   */
  RequestHandler(long delayNanos, LongAdder handshakes, LongAdder requests) {
    this.delayNanos = delayNanos;
    this.handshakes = handshakes;
    this.requests = requests;
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
      handshakes.increment();
    }
    ctx.fireUserEventTriggered(event);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    try {
      if (!finished) {
        receive(ctx, (HttpObject) message);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  /** Failed handshakes, resets and the like are the client's to report: the server only closes. */
  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    ctx.close();
  }

  private void receive(ChannelHandlerContext ctx, HttpObject part) {
    if (part.decoderResult().isFailure()) {
      finished = true;
      later(ctx, () -> send(ctx, Answer.malformed(), HTTP_1_1, false));
      return;
    }
    if (part instanceof HttpRequest start) {
      request = start;
    }
    // A body is read to its end and thrown away: the next request stands behind it.
    if (part instanceof LastHttpContent) {
      HttpRequest complete = request;
      boolean keepAlive = HttpUtil.isKeepAlive(complete);
      request = null;
      finished = !keepAlive;
      requests.increment();
      later(ctx, () -> send(ctx, Answer.to(complete), complete.protocolVersion(), keepAlive));
    }
  }

  private void later(ChannelHandlerContext ctx, Runnable answer) {
    if (delayNanos == 0) {
      answer.run();
    } else {
      ctx.executor().schedule(answer, delayNanos, TimeUnit.NANOSECONDS);
    }
  }

  private static void send(
      ChannelHandlerContext ctx, Answer answer, HttpVersion asked, boolean keepAlive) {
    ChannelFuture sent;
    if (answer.content() != null || answer.length() <= PatternBody.CHUNK_BYTES) {
      HttpResponse whole = new DefaultFullHttpResponse(HTTP_1_1, answer.status(), bodyOf(answer));
      sent = ctx.writeAndFlush(withHeaders(whole, answer, asked, keepAlive));
    } else {
      HttpResponse head = new DefaultHttpResponse(HTTP_1_1, answer.status());
      ctx.write(withHeaders(head, answer, asked, keepAlive));
      sent = ctx.writeAndFlush(new PatternBody(answer.length()));
    }
    if (!keepAlive) {
      // Closing passes through the SslHandler, which says close_notify first.
      sent.addListener(ChannelFutureListener.CLOSE);
    }
  }

  private static ByteBuf bodyOf(Answer answer) {
    return answer.content() != null ? answer.content() : PatternBody.prefix((int) answer.length());
  }

  private static HttpResponse withHeaders(
      HttpResponse response, Answer answer, HttpVersion asked, boolean keepAlive) {
    answer.describeIn(response.headers());
    // The client's version decides: HTTP/1.0 has to be told of a connection that stays open.
    HttpUtil.setKeepAlive(response.headers(), asked, keepAlive);
    return response;
  }
}

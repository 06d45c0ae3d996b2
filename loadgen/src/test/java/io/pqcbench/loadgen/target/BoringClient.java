package io.pqcbench.loadgen.target;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslSession;
import io.netty.handler.ssl.ReferenceCountedOpenSslContext;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslCloseCompletionEvent;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.SSL;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

/**
 * A client with BoringSSL that sends one request a connection and tells what it saw until the
 * server closed. It trusts the server's certificate only, and keeps every ticket it gets.
 */
final class BoringClient implements AutoCloseable {

  /**
   * One connection from its start to its end.
   *
   * @param failure why the handshake failed, or null
   * @param group the negotiated group
   * @param resumed whether a session was resumed
   * @param recordsAfterHandshake TLS records that came after the server's Finished
   * @param response everything the server said
   * @param closeNotify whether the server ended with close_notify
   */
  record Exchange(
      Throwable failure,
      String group,
      boolean resumed,
      int recordsAfterHandshake,
      String response,
      boolean closeNotify) {}

  private final EmbeddedServer server;
  private final ReferenceCountedOpenSslContext context;
  private final EventLoopGroup loop =
      new MultiThreadIoEventLoopGroup(1, EpollIoHandler.newFactory());

  BoringClient(EmbeddedServer server, String tls, String... groups) throws SSLException {
    this.server = server;
    context =
        (ReferenceCountedOpenSslContext)
            SslContextBuilder.forClient()
                .sslProvider(SslProvider.OPENSSL_REFCNT)
                .trustManager(server.certificate())
                .protocols("TLSv" + tls)
                .option(OpenSslContextOption.GROUPS, groups)
                .build();
    context.sessionContext().setSessionCacheEnabled(true);
    // TLS 1.2 needs this on the client, too, before it asks for tickets.
    context.sessionContext().setTicketKeys();
  }

  /**
   * @param request the request; it should make the server close, for that is what is waited for
   */
  Exchange exchange(String request) {
    String host = server.address().getHostString();
    int port = server.address().getPort();
    RecordCounter wire = new RecordCounter();
    Observer observer = new Observer(wire, request);
    new Bootstrap()
        .group(loop)
        .channel(EpollSocketChannel.class)
        .handler(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                SslHandler tls = context.newHandler(channel.alloc(), host, port);
                observer.engine = (ReferenceCountedOpenSslEngine) tls.engine();
                channel.pipeline().addLast(wire, tls, observer);
              }
            })
        .connect(host, port)
        .syncUninterruptibly();
    observer.removed.join();
    return new Exchange(
        observer.failure,
        observer.group,
        observer.resumed,
        wire.records - observer.recordsAtHandshake,
        observer.response.toString(),
        observer.closeNotify);
  }

  @Override
  public void close() {
    loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    context.release();
  }

  /** Counts the TLS records that come in, by their headers. */
  private static final class RecordCounter extends ChannelInboundHandlerAdapter {
    private static final int HEADER_BYTES = 5;

    private int records;
    private ByteBuf pending = Unpooled.EMPTY_BUFFER;

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      pending = Unpooled.copiedBuffer(pending, ((ByteBuf) message).duplicate());
      while (pending.readableBytes() >= HEADER_BYTES
          && pending.readableBytes()
              >= HEADER_BYTES + pending.getUnsignedShort(pending.readerIndex() + 3)) {
        pending.skipBytes(HEADER_BYTES + pending.getUnsignedShort(pending.readerIndex() + 3));
        records++;
      }
      ctx.fireChannelRead(message);
    }
  }

  /** Its fields may be read once {@code removed} is complete. */
  private static final class Observer extends ChannelInboundHandlerAdapter {
    private final RecordCounter wire;
    private final String request;
    private final StringBuilder response = new StringBuilder();
    private ReferenceCountedOpenSslEngine engine;
    private Throwable failure;
    private String group;
    private boolean resumed;
    private int recordsAtHandshake;
    private boolean closeNotify;

    /** Completed when all events are over: a channel's close future may come before the last. */
    private final CompletableFuture<Void> removed = new CompletableFuture<>();

    Observer(RecordCounter wire, String request) {
      this.wire = wire;
      this.request = request;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof SslHandshakeCompletionEvent handshake) {
        failure = handshake.cause();
        if (handshake.isSuccess()) {
          group = ((OpenSslSession) engine.getSession()).getNamedGroup();
          resumed = SSL.isSessionReused(engine.sslPointer());
          recordsAtHandshake = wire.records;
          ctx.writeAndFlush(Unpooled.copiedBuffer(request, StandardCharsets.US_ASCII))
              .addListener(sent -> {});
        }
      } else if (event instanceof SslCloseCompletionEvent close) {
        closeNotify = close.isSuccess();
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf bytes = (ByteBuf) message;
      response.append(bytes.toString(StandardCharsets.US_ASCII));
      bytes.release();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
      removed.complete(null);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      ctx.close().addListener(closed -> {});
    }
  }
}

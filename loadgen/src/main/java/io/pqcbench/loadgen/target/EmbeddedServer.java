package io.pqcbench.loadgen.target;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * A server of HTTP/1.1, and of HTTP/2 where the client offers it by ALPN, over TLS by BoringSSL,
 * with a self-signed ECDSA P-256 certificate of its own.
 *
 * <p>{@code GET /} answers {@code OK} and a line feed, {@code GET /bytes/N} answers N bytes up to
 * 64 MiB, anything else 404. It logs nothing: what it has to tell is in the counters, which any
 * thread may read. Its threads are daemons, so whoever serves in the foreground has to wait by
 * itself.
 */
public final class EmbeddedServer implements Server {

  /** The kernel cuts it down to net.core.somaxconn, so that the machine's setting is the limit. */
  private static final int BACKLOG = 16_384;

  private static final long CLOSE_STEP_SECONDS = 5;

  private final ServerTls tls;
  private final EventLoopGroup loops;
  private final ChannelGroup connections;
  private final Channel listener;
  private final InetSocketAddress address;
  private final AtomicBoolean closed = new AtomicBoolean();

  private final LongAdder accepted = new LongAdder();
  private final LongAdder handshakes = new LongAdder();
  private final LongAdder requests = new LongAdder();

  /**
   * Starts a server. When this returns, it accepts connections.
   *
   * @param options not null
   * @return the running server; the caller closes it
   * @throws IllegalStateException if BoringSSL or epoll cannot be loaded here
   * @throws IllegalArgumentException if BoringSSL refuses the groups
   * @throws UncheckedIOException if the address cannot be bound
   */
  public static EmbeddedServer start(ServerOptions options) {
    requireNative("BoringSSL", OpenSsl.unavailabilityCause());
    requireNative("epoll", Epoll.unavailabilityCause());
    return new EmbeddedServer(options);
  }

  private EmbeddedServer(ServerOptions options) {
    tls = new ServerTls(options);
    loops =
        new MultiThreadIoEventLoopGroup(
            options.threads(),
            new DefaultThreadFactory("target", true),
            EpollIoHandler.newFactory());
    // Stays closed: what was accepted just before close() is closed as soon as it turns up.
    connections = new DefaultChannelGroup("connections", loops.next(), true);
    ChannelFuture bound =
        new ServerBootstrap()
            .group(loops)
            .channel(EpollServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    accept(channel, options.delayNanos());
                  }
                })
            .bind(options.host(), options.port())
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      stopLoops();
      throw new UncheckedIOException(
          new IOException(
              "cannot listen, try another address or port 0: address="
                  + options.host()
                  + ":"
                  + options.port(),
              bound.cause()));
    }
    listener = bound.channel();
    address = (InetSocketAddress) listener.localAddress();
  }

  /** Where it listens, with the port that was really bound. Still known after {@link #close}. */
  @Override
  public InetSocketAddress address() {
    return address;
  }

  /**
   * The certificate that clients get: self-signed, subject server.example, good for server.example,
   * localhost and 127.0.0.1; new at each start and valid for a year.
   */
  public X509Certificate certificate() {
    return tls.certificate();
  }

  /** TCP connections accepted so far. */
  public long accepted() {
    return accepted.sum();
  }

  /** TLS handshakes completed so far, that is, with the client's Finished verified. */
  public long handshakes() {
    return handshakes.sum();
  }

  /** Well-formed requests received to their end so far, whatever the answer. */
  public long requests() {
    return requests.sum();
  }

  /**
   * Stops listening and closes every connection, with close_notify where the client still reads.
   * Answers that are held back are dropped. Returns after {@value #CLOSE_STEP_SECONDS} seconds for
   * each of the three steps (port, connections, threads) at the latest. A second call does nothing.
   * Not to be called from one of the server's own threads.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      listener.close().awaitUninterruptibly(CLOSE_STEP_SECONDS, TimeUnit.SECONDS);
      // Not left to the loops: with no quiet period they can stop without closing what they hold.
      connections.close().awaitUninterruptibly(CLOSE_STEP_SECONDS, TimeUnit.SECONDS);
      stopLoops();
    }
  }

  private void stopLoops() {
    loops
        .shutdownGracefully(0, CLOSE_STEP_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_STEP_SECONDS, TimeUnit.SECONDS);
    tls.release();
  }

  private void accept(SocketChannel channel, long delayNanos) {
    accepted.increment();
    connections.add(channel);
    channel
        .pipeline()
        .addLast(
            tls.newHandler(channel.alloc()),
            new ApplicationProtocolNegotiationHandler(ApplicationProtocolNames.HTTP_1_1) {
              @Override
              protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
                if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
                  speakHttp2(ctx.pipeline(), delayNanos);
                } else {
                  ctx.pipeline()
                      .addLast(
                          new HttpServerCodec(),
                          new ChunkedWriteHandler(),
                          new RequestHandler(delayNanos, handshakes, requests));
                }
              }

              /** A handshake that fails is the client's to report. */
              @Override
              protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
                ctx.close();
              }

              @Override
              public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                ctx.close();
              }
            });
  }

  /** Each stream is a channel of its own, which sees the same objects as one of HTTP/1.1. */
  private void speakHttp2(ChannelPipeline pipeline, long delayNanos) {
    handshakes.increment();
    pipeline.addLast(
        Http2FrameCodecBuilder.forServer().build(),
        new Http2MultiplexHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel stream) {
                stream
                    .pipeline()
                    .addLast(
                        new Http2StreamFrameToHttpObjectCodec(/* isServer= */ true),
                        new ChunkedWriteHandler(),
                        new RequestHandler(delayNanos, handshakes, requests));
              }
            }),
        new ChannelInboundHandlerAdapter() {
          @Override
          public void channelRead(ChannelHandlerContext ctx, Object message) {
            ReferenceCountUtil.release(message);
          }

          @Override
          public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
          }
        });
  }

  /**
   * Fails with a remedy if a native library did not load.
   *
   * @param name the library, for the message
   * @param cause why it did not load, or null if it did
   */
  static void requireNative(String name, Throwable cause) {
    if (cause != null) {
      throw new IllegalStateException(
          name
              + " cannot be loaded, and the embedded server needs it. Run on Linux with glibc, on"
              + " x86-64 or aarch64; where /tmp is mounted noexec, pass"
              + " -Dio.netty.native.workdir=DIR; or name a --target instead:"
              + " os.name="
              + System.getProperty("os.name")
              + " os.arch="
              + System.getProperty("os.arch"),
          cause);
    }
  }
}

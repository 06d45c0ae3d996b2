package io.pqcbench.loadgen.target;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.quic.BoringSSLContextOption;
import io.netty.handler.codec.quic.DefaultQuicStreamFrame;
import io.netty.handler.codec.quic.InsecureQuicTokenHandler;
import io.netty.handler.codec.quic.Quic;
import io.netty.handler.codec.quic.QuicServerCodecBuilder;
import io.netty.handler.codec.quic.QuicSslContext;
import io.netty.handler.codec.quic.QuicSslContextBuilder;
import io.netty.handler.codec.quic.QuicStreamChannel;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * A server of HTTP/0.9 over QUIC ({@code hq-interop}), by the codec that the client uses. It
 * answers as {@link EmbeddedServer} does; HTTP/0.9 has no status, so what that refuses this one
 * answers by resetting the stream.
 *
 * <p>Session tickets are always issued, which the codec does not let be turned off. The client
 * neither keeps nor offers one.
 */
public final class QuicServer implements Server {

  /** The protocol that is spoken. */
  public static final String PROTOCOL = "hq-interop";

  /** The code of a stream that is reset; HTTP/0.9 defines none. */
  private static final int REFUSED = 1;

  private static final int MAX_REQUEST_BYTES = 8192;
  private static final int MAX_STREAMS = 1000;
  private static final long WINDOW_BYTES = 1 << 20;

  /** A client that is gone without a word. */
  private static final long IDLE_SECONDS = 30;

  /** Cut down by the kernel to net.core.rmem_max. A burst of arrivals must find room. */
  private static final int RECEIVE_BYTES = 4 << 20;

  private static final long CLOSE_SECONDS = 5;

  private final EventLoopGroup loops;
  private final List<Channel> sockets = new ArrayList<>();
  private final InetSocketAddress address;
  private final LongAdder handshakes = new LongAdder();
  private final LongAdder requests = new LongAdder();

  /**
   * Starts a server. When this returns, it answers packets.
   *
   * @param options of which TLS version and tickets mean nothing here
   * @param retry whether every client has to prove its address first (RFC 9000, section 8.1.2)
   * @return the running server; the caller closes it
   * @throws IllegalStateException if quiche or epoll cannot be loaded here
   * @throws IllegalArgumentException if BoringSSL refuses the groups
   * @throws UncheckedIOException if the address cannot be bound
   */
  public static QuicServer start(ServerOptions options, boolean retry) {
    EmbeddedServer.requireNative("QUIC (quiche)", Quic.unavailabilityCause());
    EmbeddedServer.requireNative("epoll", Epoll.unavailabilityCause());
    return new QuicServer(options, retry);
  }

  private QuicServer(ServerOptions options, boolean retry) {
    QuicSslContext tls = tls(options);
    loops =
        new MultiThreadIoEventLoopGroup(
            options.threads(),
            new DefaultThreadFactory("target", true),
            EpollIoHandler.newFactory());
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loops)
            .channel(EpollDatagramChannel.class)
            .option(EpollChannelOption.SO_REUSEPORT, options.threads() > 1)
            .option(ChannelOption.SO_RCVBUF, RECEIVE_BYTES)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(codec(tls, options, retry));
                  }
                });
    InetSocketAddress bound = new InetSocketAddress(options.host(), options.port());
    // The kernel gives each client, whose port does not change, to one of them.
    for (int i = 0; i < options.threads(); i++) {
      ChannelFuture socket = bootstrap.bind(bound).awaitUninterruptibly();
      if (!socket.isSuccess()) {
        close();
        throw new UncheckedIOException(
            new IOException(
                "cannot listen, try another address or port 0: address="
                    + options.host()
                    + ":"
                    + options.port()
                    + " transport=quic",
                socket.cause()));
      }
      sockets.add(socket.channel());
      bound = (InetSocketAddress) socket.channel().localAddress();
    }
    address = bound;
  }

  private static QuicSslContext tls(ServerOptions options) {
    X509Bundle identity = ServerTls.selfSigned();
    try {
      return QuicSslContextBuilder.forServer(
              identity.getKeyPair().getPrivate(), null, identity.getCertificatePath())
          .applicationProtocols(PROTOCOL)
          .option(BoringSSLContextOption.GROUPS, options.groups().toArray(new String[0]))
          .build();
    } catch (IllegalStateException e) {
      throw new IllegalArgumentException(
          "BoringSSL refuses these settings, check the names of the groups: groups="
              + options.groups(),
          e);
    }
  }

  private ChannelHandler codec(QuicSslContext tls, ServerOptions options, boolean retry) {
    return new QuicServerCodecBuilder()
        .sslContext(tls)
        .maxIdleTimeout(IDLE_SECONDS, TimeUnit.SECONDS)
        .initialMaxData(WINDOW_BYTES)
        .initialMaxStreamDataBidirectionalRemote(WINDOW_BYTES)
        .initialMaxStreamsBidirectional(MAX_STREAMS)
        // Anybody could forge its tokens. Nothing here is worth it.
        .tokenHandler(retry ? InsecureQuicTokenHandler.INSTANCE : null)
        .handler(new Counter())
        .streamHandler(
            new ChannelInitializer<QuicStreamChannel>() {
              @Override
              protected void initChannel(QuicStreamChannel stream) {
                stream.pipeline().addLast(new Responder(options.delayNanos()));
              }
            })
        .build();
  }

  @Override
  public InetSocketAddress address() {
    return address;
  }

  /** Handshakes completed so far. */
  public long handshakes() {
    return handshakes.sum();
  }

  /** Requests received to their end so far, whatever the answer. */
  public long requests() {
    return requests.sum();
  }

  /** Closes sockets and connections. A second call does nothing. */
  @Override
  public void close() {
    sockets.forEach(socket -> socket.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS));
    loops
        .shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
  }

  /** Of all connections. Failures are the client's to report. */
  private final class Counter extends ChannelInboundHandlerAdapter {
    @Override
    public boolean isSharable() {
      return true;
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
        handshakes.increment();
      }
      ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {}
  }

  /** Of one stream, which holds one request. */
  private final class Responder extends ChannelInboundHandlerAdapter {
    private final long delayNanos;
    private final StringBuilder request = new StringBuilder();
    private boolean answered;

    Responder(long delayNanos) {
      this.delayNanos = delayNanos;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ByteBuf part = (ByteBuf) message;
      if (request.length() + part.readableBytes() <= MAX_REQUEST_BYTES) {
        request.append(part.toString(ISO_8859_1));
      }
      part.release();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event == ChannelInputShutdownEvent.INSTANCE && !answered) {
        answered = true;
        requests.increment();
        if (delayNanos == 0) {
          answer(ctx);
        } else {
          ctx.executor().schedule(() -> answer(ctx), delayNanos, TimeUnit.NANOSECONDS);
        }
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      ctx.close();
    }

    private void answer(ChannelHandlerContext ctx) {
      QuicStreamChannel stream = (QuicStreamChannel) ctx.channel();
      String[] words = request.toString().strip().split(" ", -1);
      Answer answer =
          words.length == 2 && words[0].equals("GET")
              ? Answer.to(new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, words[1]))
              : Answer.malformed();
      if (!answer.status().equals(HttpResponseStatus.OK)) {
        stream.shutdownOutput(REFUSED);
      } else if (answer.content() != null) {
        stream.writeAndFlush(new DefaultQuicStreamFrame(answer.content(), /* fin= */ true));
      } else {
        send(stream, answer.length());
      }
    }

    /** A chunk at a time, the next when the stream has taken it. */
    private void send(QuicStreamChannel stream, long left) {
      int size = (int) Math.min(PatternBody.CHUNK_BYTES, left);
      ByteBuf chunk = size == 0 ? Unpooled.EMPTY_BUFFER : PatternBody.prefix(size);
      stream
          .writeAndFlush(new DefaultQuicStreamFrame(chunk, /* fin= */ size == left))
          .addListener(
              sent -> {
                if (sent.isSuccess() && size < left) {
                  send(stream, left - size);
                }
              });
    }
  }
}

package io.pqcbench.loadgen.it;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.ReferenceCountedOpenSslEngine;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.internal.tcnative.SSL;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A TLS server like the embedded one, but with one fault. It leaves closing to the client: its own
 * FIN would push out what Nagle's algorithm holds back.
 */
final class FaultyServer implements AutoCloseable {

  /** What it does; by default everything right. All but {@link #accepted} runs on one thread. */
  static class Manners {

    int backlog() {
      return 1000;
    }

    /** Whether small writes wait for the acknowledgement of the one before. */
    boolean nagle() {
      return false;
    }

    /** Called for each connection, from 0, before the next one is accepted. */
    void accepted(long connection) throws InterruptedException {}

    /** Which groups to accept on a connection, from 0; none, and it is never answered. */
    List<String> groups(long connection) {
      return List.of("X25519MLKEM768");
    }

    /** Answers a request, from 0. */
    void answer(ChannelHandlerContext connection, long request) {
      write(connection, HEAD + BODY);
    }
  }

  static final String HEAD = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
  static final String BODY = "OK\n";

  private final Manners manners;
  private final X509Bundle identity;
  private final Map<List<String>, SslContext> contexts = new HashMap<>();
  // Accepting may be made to wait, the connections then must not.
  private final EventLoopGroup acceptor = loop("faulty-accept");
  private final EventLoopGroup loop = loop("faulty-server");
  private final Channel listener;
  private long accepted;
  private long connections;
  private long requests;

  FaultyServer(Manners manners) throws Exception {
    this.manners = manners;
    identity =
        new CertificateBuilder()
            .ecp256()
            .subject("CN=server.example")
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    listener =
        new ServerBootstrap()
            .group(acceptor, loop)
            .channel(EpollServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, manners.backlog())
            .handler(new Accepting())
            .childOption(ChannelOption.TCP_NODELAY, !manners.nagle())
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) throws Exception {
                    List<String> groups = manners.groups(connections++);
                    if (!groups.isEmpty()) {
                      channel.pipeline().addLast(tls(channel, groups), new HttpRequestDecoder());
                    }
                    channel.pipeline().addLast(new Answering());
                  }
                })
            .bind("127.0.0.1", 0)
            .sync()
            .channel();
  }

  private static EventLoopGroup loop(String name) {
    return new MultiThreadIoEventLoopGroup(
        1, new DefaultThreadFactory(name, true), EpollIoHandler.newFactory());
  }

  private SslHandler tls(SocketChannel channel, List<String> groups) throws Exception {
    SslContext context = contexts.get(groups);
    if (context == null) {
      context =
          SslContextBuilder.forServer(
                  identity.getKeyPair().getPrivate(), identity.getCertificatePath())
              .sslProvider(SslProvider.OPENSSL)
              .protocols("TLSv1.3")
              .option(OpenSslContextOption.USE_TASKS, false)
              .option(OpenSslContextOption.GROUPS, groups.toArray(new String[0]))
              .build();
      contexts.put(groups, context);
    }
    SslHandler handler = context.newHandler(channel.alloc());
    // A ticket would be one more small write in front of the answer.
    long ssl = ((ReferenceCountedOpenSslEngine) handler.engine()).sslPointer();
    SSL.setOptions(ssl, SSL.SSL_OP_NO_TICKET);
    return handler;
  }

  /** Writes a TLS record by a system call of its own. */
  static void write(ChannelHandlerContext connection, String text) {
    connection.writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
  }

  /** Writes the whole answer later. */
  static void answerAfter(ChannelHandlerContext connection, long nanos) {
    connection
        .executor()
        .schedule(() -> write(connection, HEAD + BODY), nanos, TimeUnit.NANOSECONDS);
  }

  String target() {
    return "127.0.0.1:" + ((InetSocketAddress) listener.localAddress()).getPort();
  }

  @Override
  public void close() {
    listener.close().awaitUninterruptibly(5, TimeUnit.SECONDS);
    acceptor.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
    loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).awaitUninterruptibly(5, TimeUnit.SECONDS);
  }

  /** In the pipeline of the listening socket, whose messages are the accepted connections. */
  private final class Accepting extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object connection) throws Exception {
      ctx.fireChannelRead(connection);
      manners.accepted(accepted++);
    }
  }

  private final class Answering extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      if (message instanceof LastHttpContent) {
        manners.answer(ctx, requests++);
      }
      ReferenceCountUtil.release(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      // The client's to report.
      ctx.close();
    }
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicChannelBootstrap;
import io.netty.handler.codec.quic.QuicClientCodecBuilder;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes the QUIC connections of one lane ready to be started: their sockets exist before the
 * arrival is due. The TLS state does not: the codec makes it in the call that sends the
 * ClientHello, so it is in {@code hello}.
 *
 * <p>All of a lane's connections share one codec, because making one costs milliseconds: quiche
 * reads the machine's trusted roots for each, which nobody asks for here. The codec sits on a
 * socket through which nothing goes. It knows each connection by a peer's address of its own,
 * invented here, by which its datagrams are brought to the connection's real socket and back.
 */
final class QuicConnections implements Connections {

  /** More than any response needs before the windows of flow control open by themselves. */
  private static final long WINDOW_BYTES = 16 << 20;

  private static final AttributeKey<QuicExchange> EXCHANGE =
      AttributeKey.valueOf(QuicConnections.class, "exchange");

  final QuicClient client;
  final EventLoop loop;
  final Connection.Owner owner;

  private final ArrayDeque<InitialPackets> idle = new ArrayDeque<>();
  private final Map<InetSocketAddress, QuicExchange> byPeer = new HashMap<>();
  private final List<QuicExchange> written = new ArrayList<>();
  private final InetSocketAddress ourselves = invented(0);
  private EpollDatagramChannel hub;
  private ChannelHandlerContext router;
  private long peers;

  QuicConnections(QuicClient client, EventLoop loop, Connection.Owner owner) {
    this.client = client;
    this.loop = loop;
    this.owner = owner;
  }

  @Override
  public Connection prepare(InetAddress source, boolean ipv6) {
    if (hub == null) {
      openHub();
    }
    InitialPackets packets = idle.poll();
    if (packets == null) {
      packets = new InitialPackets();
    }
    packets.reset();
    QuicExchange exchange = new QuicExchange(this, packets, invented(++peers));
    exchange.open(source, ipv6);
    return exchange;
  }

  private void openHub() {
    EpollDatagramChannel opened = new EpollDatagramChannel();
    opened
        .pipeline()
        .addLast(
            new Router(),
            new QuicClientCodecBuilder()
                .sslEngineProvider(channel -> channel.attr(EXCHANGE).get().newEngine(channel))
                .initialMaxData(WINDOW_BYTES)
                .initialMaxStreamDataBidirectionalLocal(WINDOW_BYTES)
                .build());
    ChannelFuture registered = loop.register(opened);
    if (!registered.isSuccess()) {
      opened.close();
      throw new ChannelException("cannot prepare a socket for the codec", registered.cause());
    }
    hub = opened;
  }

  /** From the range that is for local use only (RFC 4193): no packet carries it. */
  private static InetSocketAddress invented(long number) {
    byte[] address = ByteBuffer.allocate(16).put((byte) 0xfd).putLong(8, number).array();
    try {
      return new InetSocketAddress(InetAddress.getByAddress(address), 1);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("16 bytes are an address of IPv6", e);
    }
  }

  /** Begins a connection of the codec's; its first datagrams are written when this returns. */
  QuicChannelBootstrap connecting(QuicExchange exchange) {
    byPeer.put(exchange.peer(), exchange);
    return QuicChannel.newBootstrap(hub)
        // The lane looks after the time.
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0)
        .attr(EXCHANGE, exchange)
        .localAddress(ourselves)
        .remoteAddress(exchange.peer());
  }

  /** Gives the codec a datagram that a connection's socket received. */
  void received(QuicExchange exchange, ByteBuf datagram) {
    router.fireChannelRead(new DatagramPacket(datagram, ourselves, exchange.peer()));
  }

  /** Tells the codec that the socket has no more for now. */
  void receivedAll() {
    router.fireChannelReadComplete();
  }

  /** Brings the codec's datagrams to the sockets. */
  private final class Router extends ChannelDuplexHandler {

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
      router = ctx;
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
      DatagramPacket packet = (DatagramPacket) message;
      QuicExchange exchange = byPeer.get(packet.recipient());
      // The codec marks the end of a connection by an empty one.
      if (exchange != null && packet.content().isReadable()) {
        if (!written.contains(exchange)) {
          written.add(exchange);
        }
        exchange.write(packet.content());
      } else {
        ReferenceCountUtil.release(packet);
      }
      promise.trySuccess();
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
      for (int i = 0; i < written.size(); i++) {
        written.get(i).flush();
      }
      written.clear();
    }
  }

  /** Takes back what a connection that is closed has used. */
  void recycle(QuicExchange exchange, InitialPackets packets) {
    byPeer.remove(exchange.peer());
    idle.push(packets);
  }

  @Override
  public void close() {
    idle.clear();
    if (hub != null) {
      hub.close();
    }
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.channel.EventLoop;
import io.netty.handler.codec.quic.QuicChannel;
import io.netty.handler.codec.quic.QuicClientCodecBuilder;
import io.netty.handler.codec.quic.QuicSslEngine;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.function.Function;

/**
 * Makes the QUIC connections of one lane ready to be started: socket, channel and codec exist
 * before the arrival is due. The TLS state does not: the codec makes it in the call that sends the
 * ClientHello, so it is in {@code hello}.
 */
final class QuicConnections implements Connections {

  /** More than any response; the windows of flow control open by themselves from there. */
  private static final long WINDOW_BYTES = 16 << 20;

  final QuicClient client;
  final EventLoop loop;
  final Connection.Owner owner;
  private final ArrayDeque<InitialPackets> idle = new ArrayDeque<>();

  QuicConnections(QuicClient client, EventLoop loop, Connection.Owner owner) {
    this.client = client;
    this.loop = loop;
    this.owner = owner;
  }

  @Override
  public Connection prepare(InetAddress source, boolean ipv6) {
    InitialPackets packets = idle.poll();
    if (packets == null) {
      packets = new InitialPackets();
    }
    packets.reset();
    QuicExchange exchange = new QuicExchange(this, packets);
    exchange.open(source, ipv6);
    return exchange;
  }

  /** The codec of one connection, which is to be alone on its socket. */
  QuicClientCodecBuilder codec(Function<QuicChannel, QuicSslEngine> engines) {
    return new QuicClientCodecBuilder()
        .sslEngineProvider(engines)
        .initialMaxData(WINDOW_BYTES)
        .initialMaxStreamDataBidirectionalLocal(WINDOW_BYTES);
  }

  /** Takes back the buffers of a connection that is closed. */
  void recycle(InitialPackets packets) {
    idle.push(packets);
  }

  @Override
  public void close() {
    idle.clear();
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.channel.ChannelException;
import java.net.InetAddress;

/**
 * Makes the connections of one lane ready to be started, so that as little as possible of their
 * cost is in a latency. Confined to its loop's thread.
 */
public sealed interface Connections extends AutoCloseable permits Connector, QuicConnections {

  /**
   * Prepares a connection.
   *
   * @param source local address to connect from; null to let the kernel choose
   * @param ipv6 whether the target's address is one of IPv6
   * @return one that waits for {@link Connection#start} or {@link Connection#discard}
   * @throws ChannelException when no socket can be had; see {@link TlsClient#isOutOfDescriptors}
   */
  Connection prepare(InetAddress source, boolean ipv6);

  /** Frees what they share. All connections must be closed. */
  @Override
  void close();
}

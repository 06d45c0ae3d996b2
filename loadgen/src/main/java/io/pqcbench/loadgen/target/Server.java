package io.pqcbench.loadgen.target;

import java.net.InetSocketAddress;

/** A running server of this program, over TCP or QUIC. */
public interface Server extends AutoCloseable {

  /** Where it listens, with the port that was really bound. Still known after {@link #close}. */
  InetSocketAddress address();

  @Override
  void close();
}

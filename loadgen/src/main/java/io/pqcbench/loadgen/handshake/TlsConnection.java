package io.pqcbench.loadgen.handshake;

/**
 * What an {@link Exchange} asks of a TLS stack for one connection. All bytes go through the lane's
 * memory: a sink takes what the stack writes, a source holds what it reads, and at most one of them
 * is attached. What is written while there is none is kept until {@link #flushToSink}.
 *
 * <p>A process uses one kind of it, so that the compiler sees through it. One object serves one
 * connection after the other; confined to the lane's thread.
 */
abstract sealed class TlsConnection permits NativeConnection, EngineConnection {

  /** The handshake is complete, on this side. */
  static final int DONE = 1;

  /** More must come from the other side. */
  static final int WANT_READ = -1;

  /** The sink, or what stands in for it, is full. */
  static final int WANT_WRITE = -2;

  /** The other side has said goodbye. */
  static final int CLOSED = -3;

  /** See {@link #failure}. */
  static final int FAILED = -4;

  /** Becomes the TLS state of a new connection. */
  abstract void open();

  /** Gives up all that {@link #open} made. */
  abstract void free();

  /**
   * Has the connection offer the oldest session; before its handshake.
   *
   * @return false if there is none left
   */
  abstract boolean offer(Tickets tickets);

  /** Attaches a sink, empty. */
  final void sinkTo(Memory out) {
    sinkTo(out, 0);
  }

  /** Attaches a sink behind what is in the memory already. */
  abstract void sinkTo(Memory out, int from);

  /** Attaches a source. */
  abstract void sourceFrom(Memory in, int from, int length);

  /** Detaches whatever is attached. */
  abstract void detach();

  /** Returns how many bytes are in the sink. */
  abstract int sunk();

  /** Returns how many bytes of the source are not read yet. */
  abstract int unread();

  /** Returns how many bytes are kept for a sink. */
  abstract int pending();

  /**
   * Moves what is kept into the sink.
   *
   * @return how many bytes
   */
  abstract int flushToSink();

  /**
   * Goes on with the handshake.
   *
   * @return one of the constants
   */
  abstract int handshake();

  /**
   * Encrypts.
   *
   * @return how many bytes were taken, or one of the negative constants
   */
  abstract int write(Memory from, int offset, int length);

  /**
   * Decrypts.
   *
   * @return how many bytes there are now, from the beginning of {@code to}; or one of the negative
   *     constants
   */
  abstract int read(Memory to);

  /** Writes a close_notify. */
  abstract void shutdown();

  /** Returns whether the stack says that a session was resumed. */
  abstract boolean reused();

  /** Returns whether the stack tells the group. */
  abstract boolean tellsGroup();

  /**
   * Returns the group by the name that this program gives it; null if the stack does not tell, or
   * if keys were exchanged without a group.
   */
  abstract String group();

  /**
   * Returns the scheme with which the server signed the handshake, by IANA's name; null if the
   * stack does not tell. Before the load only.
   */
  abstract String signatureScheme();

  /** Returns the protocol that the server took by ALPN; null for none. */
  abstract String protocol();

  /**
   * Returns what the last call complained of; never null after {@link #FAILED}.
   *
   * @param trust which may have refused the certificate
   */
  abstract Exception failure(ServerTrust trust);
}

package io.pqcbench.loadgen.handshake;

import java.net.InetSocketAddress;

/**
 * One connection as its lane drives it, whatever carries it. A run is made over one transport, so
 * that no other subclass is loaded in it, and the compiler sees calls with one target.
 *
 * <p>Everything happens on its event loop's thread.
 */
public abstract sealed class Connection permits Exchange, QuicExchange {

  /** Who is told how it went; called on the event loop. */
  public interface Owner {
    /**
     * The attempt has its outcome. Called exactly once for a connection that was started; what it
     * holds is valid until the owner prepares another one.
     */
    void finished(Connection connection);

    /**
     * This program has a defect, which showed in the handling of an event. The attempt is given up,
     * and so should be the whole: what is measured from here on cannot be relied on. An owner that
     * does not say otherwise leaves it to the event loop, which logs it and goes on.
     */
    default void broke(RuntimeException defect) {
      throw defect;
    }

    /** A connection that was idle was closed by the server, and can be used no more. */
    default void closed(Connection connection) {
      throw new IllegalStateException("only a pool has idle connections");
    }
  }

  final Attempt attempt = new Attempt(0, Attempt.UNSET);

  /** Neighbours in the lane's list of attempts in flight, oldest first. */
  private Connection older;

  private Connection newer;

  Connection() {}

  /**
   * Connects and shakes hands.
   *
   * @param index of the arrival in the schedule
   * @param plannedNanos when it was due on the run's clock
   * @param remote a resolved address
   */
  public abstract void start(long index, long plannedNanos, InetSocketAddress remote);

  /**
   * Sends a request over the connection, which must be idle.
   *
   * @param index of the arrival in the schedule
   * @param plannedNanos when it was due on the run's clock
   * @param repeated whether it was sent before, over a connection that the server closed
   */
  public abstract void request(long index, long plannedNanos, boolean repeated);

  /** Returns whether it is open and waits for a request. */
  public abstract boolean isIdle();

  /** Returns whether the TCP connection is not made yet. */
  public abstract boolean isConnecting();

  /** Returns whether the socket is closed and its descriptor free. */
  public abstract boolean isClosed();

  /** Ends the attempt because its time is up, unless it has ended already. */
  public abstract void expire();

  /** Ends the attempt because the run is over, unless it has ended already. */
  public abstract void abandon();

  /** Closes the connection; for one that was prepared and not needed. */
  public abstract void discard();

  /** Returns the attempt that was started last; never null. */
  public final Attempt attempt() {
    return attempt;
  }

  /** Returns whether there is a witness of the group beside a ServerHello in plaintext. */
  abstract boolean tellsGroup();

  /**
   * Returns the group as the TLS stack names it; null before the handshake is complete, and for
   * none.
   */
  abstract String negotiatedGroup();

  /**
   * Returns the scheme with which the server signed the handshake, by IANA's name; null if the
   * stack does not tell, or was not asked: only a preflight does.
   */
  abstract String signatureScheme();

  /**
   * Returns the protocol that the server took by ALPN; null for none, or if it was not asked for.
   */
  abstract String negotiatedProtocol();

  /** Returns what the server said in plaintext, or in what everybody can decrypt. */
  abstract ServerHello serverHello();

  /** Returns what we said ourselves. */
  abstract ClientHello clientHello();

  /** Returns the length of the ClientHello on the wire; {@link Hello#UNKNOWN} before it. */
  abstract int clientHelloBytes();

  /** Returns what the server says it is; null if it does not, or it is not kept. */
  abstract String software();

  /** The connections of one lane that are in flight, in the order in which they were started. */
  public static final class InFlight {
    private Connection oldest;
    private Connection newest;
    private int size;

    /** Returns how many there are. */
    public int size() {
      return size;
    }

    /** Returns the one that was started first; null when there is none. */
    public Connection oldest() {
      return oldest;
    }

    /** Returns the one that was started next after {@code connection}; null when there is none. */
    public Connection after(Connection connection) {
      return connection.newer;
    }

    /** Adds one that was started just now. */
    public void add(Connection connection) {
      connection.older = newest;
      if (newest == null) {
        oldest = connection;
      } else {
        newest.newer = connection;
      }
      newest = connection;
      size++;
    }

    /** Takes out one that has ended. */
    public void remove(Connection connection) {
      if (connection.older == null) {
        oldest = connection.newer;
      } else {
        connection.older.newer = connection.newer;
      }
      if (connection.newer == null) {
        newest = connection.older;
      } else {
        connection.newer.older = connection.older;
      }
      connection.older = null;
      connection.newer = null;
      size--;
    }
  }
}

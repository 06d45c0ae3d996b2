package io.pqcbench.loadgen.handshake;

import io.netty.internal.tcnative.SSL;
import io.netty.internal.tcnative.SSLSession;
import io.netty.internal.tcnative.SSLSessionCache;

/**
 * Sessions that servers have issued and that can be resumed, each once: a server may refuse a TLS
 * 1.3 ticket that it has seen before (RFC 8446, section 8.1), and reuse lets others link
 * connections (appendix C.4).
 *
 * <p>Used by one thread at a time.
 */
public final class Tickets implements SSLSessionCache, AutoCloseable {

  /** Ring of SSL_SESSION*, each with a reference of ours. */
  private final long[] sessions;

  /** Whether each of them is to be used once. */
  private final boolean[] singleUse;

  private int oldest;
  private int size;
  private long issued;
  private long offered;

  /**
   * @param capacity how many are kept; the oldest make room for new ones
   */
  public Tickets(int capacity) {
    sessions = new long[capacity];
    singleUse = new boolean[capacity];
  }

  /** Returns how many can be used. */
  public int size() {
    return size;
  }

  /** Returns how many servers have issued so far. */
  public long issued() {
    return issued;
  }

  /** Returns how often one was offered to a server. */
  public long offered() {
    return offered;
  }

  @Override
  public boolean sessionCreated(long ssl, long session) {
    issued++;
    SSLSession.upRef(session);
    // OpenSSL leaves it to its user to know.
    keep(session, SSLSession.shouldBeSingleUse(session) || "TLSv1.3".equals(SSL.getVersion(ssl)));
    return false;
  }

  @Override
  public long getSession(long ssl, byte[] id) {
    // Asked of servers only.
    return 0;
  }

  private void keep(long session, boolean once) {
    if (size == sessions.length) {
      SSLSession.free(take());
    }
    int at = (oldest + size++) % sessions.length;
    sessions[at] = session;
    singleUse[at] = once;
  }

  private long take() {
    long session = sessions[oldest];
    oldest = (oldest + 1) % sessions.length;
    size--;
    return session;
  }

  /**
   * Has a connection offer the oldest session.
   *
   * @param ssl before its handshake
   * @return false if there is none left
   */
  boolean offer(long ssl) {
    if (size == 0) {
      return false;
    }
    boolean once = singleUse[oldest];
    long session = take();
    SSL.setSession(ssl, session);
    offered++;
    if (once) {
      SSLSession.free(session);
    } else {
      // One of TLS 1.2, which a server need not renew.
      keep(session, false);
    }
    return true;
  }

  /** Frees those that were not used. */
  @Override
  public void close() {
    while (size > 0) {
      SSLSession.free(take());
    }
  }
}

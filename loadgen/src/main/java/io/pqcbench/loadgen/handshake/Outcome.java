package io.pqcbench.loadgen.handshake;

/**
 * How an attempt ended. Only {@link #SUCCESS} enters a latency histogram; everything else is
 * counted by its name and by the phase in which it happened.
 */
public enum Outcome {
  /**
   * Everything as asked: full handshake, right group and suite, known certificate, whole response.
   */
  SUCCESS("as asked"),
  /** Never started: the limit of attempts in flight was reached when it was due. */
  SKIPPED("not started, too many in flight"),
  /**
   * The client had no ephemeral port left (EADDRNOTAVAIL): the client's fault, not the server's.
   */
  NO_PORT("client out of ephemeral ports"),
  /**
   * The client had no file descriptor left (EMFILE, ENFILE): the client's fault, not the server's.
   */
  NO_FD("client out of file descriptors"),
  /** The peer, or something before it, refused the connection, or there was no route to it. */
  TCP_REFUSED("connection refused"),
  /** The TCP connection was not made within the connect timeout. */
  TCP_TIMEOUT("connect timeout"),
  /** The connection was reset (RST) after it had been made. */
  TCP_RESET("connection reset"),
  /** The peer closed the connection before the exchange was over. */
  CLOSED_EARLY("closed early"),
  /** The peer ended the connection with a TLS alert; the alert is recorded. */
  TLS_ALERT("TLS alert"),
  /** The peer's bytes were not TLS, or broke its rules, and no alert was seen. */
  TLS_ERROR("TLS protocol error"),
  /** Connected, but the handshake was not over within the timeout. */
  TLS_TIMEOUT("handshake timeout"),
  /** The server negotiated another group than the expected one. */
  WRONG_GROUP("wrong group"),
  /** The server negotiated another cipher suite than the expected one. */
  WRONG_CIPHER("wrong cipher suite"),
  /**
   * The handshake resumed a session, so that it did no key exchange of the kind that is measured.
   */
  RESUMED("resumed session"),
  /** The handshake was a full one although a session was to be resumed. */
  NOT_RESUMED("full handshake instead of a resumed session"),
  /**
   * The server answered with a HelloRetryRequest (RFC 8446, section 4.1.4): one more round trip.
   */
  HELLO_RETRY("HelloRetryRequest"),
  /** The server presented another certificate than in the preflight. */
  CERTIFICATE_CHANGED("certificate changed"),
  /** HTTP/2 was to be spoken, and the server did not take it by ALPN. */
  WRONG_PROTOCOL("not HTTP/2 by ALPN"),
  /** The response was not HTTP, or its status was not 2xx or 3xx. */
  HTTP_ERROR("HTTP error"),
  /** The response was whole, and its body had another length than it must have. */
  WRONG_LENGTH("wrong length of the body"),
  /** Secured, but the response was not complete within the timeout. */
  HTTP_TIMEOUT("response timeout"),
  /** No connection of the pool was free within the timeout. */
  POOL_TIMEOUT("no free connection in time"),
  /** The server speaks no version of QUIC that the client does (RFC 9000, section 6). */
  QUIC_VERSION("no common version of QUIC"),
  /**
   * The server asked for proof of the client's address (RFC 9000, section 8.1.2), one more round
   * trip, and did not in the preflight; or the other way round.
   */
  QUIC_RETRY("Retry unlike the preflight"),
  /** In flight when the run was over and the drain had waited long enough. */
  ABANDONED("abandoned at the end of the run");

  private static final Outcome[] VALUES = values();

  private final String text;

  Outcome(String text) {
    this.text = text;
  }

  /** Returns a few words for a table; never null. */
  public String text() {
    return text;
  }

  /** Returns the outcome with this ordinal, without the copy that {@link #values()} makes. */
  public static Outcome of(int ordinal) {
    return VALUES[ordinal];
  }
}

package io.pqcbench.loadgen.handshake;

import java.util.Arrays;

/**
 * One arrival and what became of it: the only mutable object of the measurement, confined to the
 * lane that runs it, and used for the next arrival once it has been recorded.
 *
 * <p>It cannot be made without its planned instant. All instants are nanoseconds of the run's
 * {@link io.pqcbench.loadgen.schedule.NanoClock}.
 */
public final class Attempt {

  /** The value of an instant that was not reached. */
  public static final long UNSET = Long.MIN_VALUE;

  /** The value of a detail, group or suite that is not known. */
  public static final int NONE = -1;

  private static final Milestone[] MILESTONES = Milestone.values();

  private long index;
  private final long[] at = new long[MILESTONES.length];

  Outcome outcome;
  int detail;
  boolean resumes;
  boolean setUp;
  boolean repeated;

  /** Whether it goes over UDP, where nothing is connected. */
  boolean datagrams;

  Throwable failure;
  int group;
  int cipherSuite;
  int localPort;
  long bytesOut;
  long bytesIn;
  long handshakeBytesOut;
  long handshakeBytesIn;
  long bodyBytes;
  int recordsOut;
  int recordsIn;
  long rttMicros;
  long retransmits;
  long lost;
  long segmentsIn;
  long handshakeSegmentsIn;
  int mss;
  long flightGapNanos;

  /**
   * @param index in the schedule, from 0
   * @param plannedNanos when it is due on the run's clock
   */
  public Attempt(long index, long plannedNanos) {
    begin(index, plannedNanos);
  }

  /**
   * Forgets everything and becomes another arrival, so that a lane need not allocate one for each.
   */
  final void begin(long index, long plannedNanos) {
    this.index = index;
    Arrays.fill(at, UNSET);
    at[0] = plannedNanos;
    outcome = null;
    detail = NONE;
    resumes = false;
    setUp = false;
    repeated = false;
    datagrams = false;
    failure = null;
    group = NONE;
    cipherSuite = NONE;
    localPort = NONE;
    bytesOut = 0;
    bytesIn = 0;
    handshakeBytesOut = 0;
    handshakeBytesIn = 0;
    bodyBytes = 0;
    recordsOut = 0;
    recordsIn = 0;
    rttMicros = NONE;
    retransmits = 0;
    lost = 0;
    segmentsIn = NONE;
    handshakeSegmentsIn = NONE;
    mss = NONE;
    flightGapNanos = 0;
  }

  /**
   * Returns an attempt that was never started.
   *
   * @param outcome why: {@link Outcome#SKIPPED}, {@link Outcome#NO_FD}, {@link
   *     Outcome#POOL_TIMEOUT} or {@link Outcome#ABANDONED}
   */
  public static Attempt notStarted(long index, long plannedNanos, Outcome outcome) {
    Attempt attempt = new Attempt(index, plannedNanos);
    attempt.outcome = outcome;
    return attempt;
  }

  void mark(Milestone milestone, long nanos) {
    at[milestone.ordinal()] = nanos;
  }

  /** Forgets what was reached after a milestone. */
  void endAt(Milestone last) {
    Arrays.fill(at, last.ordinal() + 1, at.length, UNSET);
  }

  /**
   * Returns whether it only opens a connection that is kept for requests; then it is no arrival.
   */
  public boolean isSetUp() {
    return setUp;
  }

  /** Returns whether its request was sent before, over a connection that was closed meanwhile. */
  public boolean isRepeated() {
    return repeated;
  }

  /** Returns whether it is to resume a session. */
  public boolean resumes() {
    return resumes;
  }

  /** Returns the index in the schedule, from 0. */
  public long index() {
    return index;
  }

  /** Returns the instant of a milestone, or {@link #UNSET}. */
  public long at(Milestone milestone) {
    return at[milestone.ordinal()];
  }

  /**
   * Copies all instants, in the order of {@link Milestone}, to {@code to} from {@code offset} on.
   */
  public void copyMilestones(long[] to, int offset) {
    System.arraycopy(at, 0, to, offset, at.length);
  }

  /** Returns whether a milestone was reached. */
  public boolean reached(Milestone milestone) {
    return at[milestone.ordinal()] != UNSET;
  }

  /**
   * Returns the length of a phase in nanoseconds, or {@link #UNSET} when one of its ends was not
   * reached.
   */
  public long nanos(Phase phase) {
    if (datagrams && phase == Phase.CONNECT) {
      return UNSET;
    }
    long from = at[phase.from().ordinal()];
    long to = at[phase.to().ordinal()];
    return from == UNSET || to == UNSET ? UNSET : to - from;
  }

  /** Returns the last milestone that was reached: the attempt died on its way to the next one. */
  public Milestone lastReached() {
    for (int i = at.length - 1; i > 0; i--) {
      if (at[i] != UNSET) {
        return MILESTONES[i];
      }
    }
    return Milestone.PLANNED;
  }

  /** Returns how it ended; null while it is in flight. */
  public Outcome outcome() {
    return outcome;
  }

  /**
   * Returns the alert's code for a TLS alert, the HTTP status for an HTTP error or a success, else
   * {@link #NONE}.
   */
  public int detail() {
    return detail;
  }

  /** Returns what was thrown, if anything was; null otherwise. */
  public Throwable failure() {
    return failure;
  }

  /** Returns the negotiated group's code point, or {@link #NONE}. */
  public int group() {
    return group;
  }

  /** Returns the negotiated suite's code point, or {@link #NONE}. */
  public int cipherSuite() {
    return cipherSuite;
  }

  /**
   * Returns the client's port, or {@link #NONE}: with it a sample can be found in a capture or in a
   * server's log.
   */
  public int localPort() {
    return localPort;
  }

  /**
   * Returns the bytes given to the TCP connection, from the ClientHello on, without the
   * close_notify.
   */
  public long bytesOut() {
    return bytesOut;
  }

  /** Returns the bytes read from the TCP connection. */
  public long bytesIn() {
    return bytesIn;
  }

  /** Returns the bytes of the client's handshake flights: ClientHello to Finished; 0 before. */
  public long handshakeBytesOut() {
    return handshakeBytesOut;
  }

  /** Returns the bytes read until the handshake was complete; 0 before. */
  public long handshakeBytesIn() {
    return handshakeBytesIn;
  }

  /** Returns the TLS records sent on the connection so far. */
  public int recordsOut() {
    return recordsOut;
  }

  /** Returns the TLS records read from the connection so far. */
  public int recordsIn() {
    return recordsIn;
  }

  /**
   * Returns the kernel's smoothed round-trip time of the connection in microseconds (TCP_INFO,
   * tcpi_rtt), or {@link #NONE} when the socket was closed before it could be asked.
   */
  public long rttMicros() {
    return rttMicros;
  }

  /** Returns how many segments the client sent again on this connection, its SYN among them. */
  public long retransmits() {
    return retransmits;
  }

  /** Returns how many segments the kernel holds for lost at the end (tcpi_lost). */
  public long lost() {
    return lost;
  }

  /**
   * Returns how many segments with data came until the handshake was complete, or {@link #NONE}
   * when it was not asked: only a preflight is.
   */
  public long handshakeSegmentsIn() {
    return handshakeSegmentsIn;
  }

  /**
   * Returns the longest segment that the client's kernel sends on the connection, without options
   * (tcpi_snd_mss), or {@link #NONE} when it could not be asked. The server's is the same unless
   * the way back differs.
   */
  public int mss() {
    return mss;
  }

  /**
   * Returns how long the client waited within the server's flight in TLS 1.3 over TCP: from its
   * ServerHello to the last read before {@link Milestone#SECURED}, without the TLS stack's work
   * between them; 0 when one read brought it all. It is a part of {@link Phase#FLIGHT}.
   */
  public long flightGapNanos() {
    return flightGapNanos;
  }

  /** Returns the length of the response's body so far. */
  public long bodyBytes() {
    return bodyBytes;
  }
}

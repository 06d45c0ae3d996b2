package io.pqcbench.loadgen.handshake;

/** Makes attempts that never took place. */
public final class Attempts {

  private Attempts() {}

  /**
   * A success whose phases are fixed fractions of its service time: connect 10 %, handshake 60 %,
   * the rest the request.
   */
  public static Attempt success(long index, long planned, long lag, long service) {
    Attempt attempt = new Attempt(index, planned);
    long started = planned + lag;
    attempt.mark(Milestone.STARTED, started);
    attempt.mark(Milestone.CONNECTED, started + service / 10);
    attempt.mark(Milestone.HELLO_SENT, started + service / 5);
    attempt.mark(Milestone.HELLO_RECEIVED, started + service / 2);
    attempt.mark(Milestone.SECURED, started + service * 7 / 10);
    attempt.mark(Milestone.REQUEST_SENT, started + service * 8 / 10);
    attempt.mark(Milestone.SETTINGS_RECEIVED, started + service * 85 / 100);
    attempt.mark(Milestone.FIRST_BYTE, started + service * 9 / 10);
    attempt.mark(Milestone.DONE, started + service);
    attempt.outcome = Outcome.SUCCESS;
    attempt.detail = 200;
    attempt.group = 0x11EC;
    attempt.cipherSuite = 0x1302;
    attempt.localPort = 40_000;
    attempt.handshakeBytesOut = 1_462;
    attempt.handshakeBytesIn = 1_848;
    attempt.bytesOut = 1_578;
    attempt.bytesIn = 2_197;
    attempt.bodyBytes = 3;
    return attempt;
  }

  /** A failure: at its start, or, if it was refused or reset, after it. */
  public static Attempt failure(long index, long planned, Outcome outcome) {
    Attempt attempt = Attempt.notStarted(index, planned, outcome);
    if (outcome != Outcome.SKIPPED && outcome != Outcome.NO_FD) {
      attempt.mark(Milestone.STARTED, planned + 1_000);
    }
    if (outcome == Outcome.TLS_ALERT) {
      attempt.mark(Milestone.CONNECTED, planned + 2_000);
      attempt.mark(Milestone.HELLO_SENT, planned + 3_000);
      attempt.detail = TlsAlert.HANDSHAKE_FAILURE;
      attempt.failure = new IllegalStateException("it said \"no\",\nand hung up");
    }
    return attempt;
  }

  /** A success like {@link #success} of a millisecond, whose phases can be set one by one. */
  public static Shape shape() {
    return new Shape();
  }

  /** Lengths of the phases of a success, in nanoseconds. */
  public static final class Shape {
    private long lag = 1_000;
    private long connect = 100_000;
    private long hello = 100_000;
    private long flight = 300_000;
    private long gap;
    private long finish = 200_000;
    private long beforeRequest = 100_000;
    private long ttfb = 100_000;
    private long body = 100_000;
    private boolean tls12;
    private long retransmits;
    private long rttMicros = Attempt.NONE;

    private Shape() {}

    public Shape lag(long nanos) {
      lag = nanos;
      return this;
    }

    public Shape connect(long nanos) {
      connect = nanos;
      return this;
    }

    public Shape hello(long nanos) {
      hello = nanos;
      return this;
    }

    public Shape flight(long nanos) {
      flight = nanos;
      return this;
    }

    /** A part of the flight that is waited for when its beginning has come. */
    public Shape gap(long nanos) {
      gap = nanos;
      return this;
    }

    /** With a suite of TLS 1.2, in which the server has a second flight. */
    public Shape tls12() {
      tls12 = true;
      return this;
    }

    public Shape finish(long nanos) {
      finish = nanos;
      return this;
    }

    /** From the handshake's end to the request, which no phase holds. */
    public Shape beforeRequest(long nanos) {
      beforeRequest = nanos;
      return this;
    }

    public Shape ttfb(long nanos) {
      ttfb = nanos;
      return this;
    }

    public Shape body(long nanos) {
      body = nanos;
      return this;
    }

    public Shape retransmits(long segments, long smoothedRttMicros) {
      retransmits = segments;
      rttMicros = smoothedRttMicros;
      return this;
    }

    /** Returns the attempt that was due at an instant. */
    public Attempt at(long index, long planned) {
      Attempt attempt = success(index, planned, lag, 0);
      long at = planned + lag;
      attempt.mark(Milestone.CONNECTED, at += connect);
      attempt.mark(Milestone.HELLO_SENT, at += hello);
      attempt.mark(Milestone.HELLO_RECEIVED, at += flight);
      attempt.mark(Milestone.SECURED, at += finish);
      attempt.mark(Milestone.REQUEST_SENT, at += beforeRequest);
      attempt.mark(Milestone.SETTINGS_RECEIVED, at + ttfb / 2);
      attempt.mark(Milestone.FIRST_BYTE, at += ttfb);
      attempt.mark(Milestone.DONE, at + body);
      attempt.flightGapNanos = gap;
      if (tls12) {
        attempt.group = Attempt.NONE;
        attempt.cipherSuite = 0xC02B;
      }
      attempt.retransmits = retransmits;
      attempt.rttMicros = rttMicros;
      return attempt;
    }
  }
}

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
}

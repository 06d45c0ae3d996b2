package io.pqcbench.loadgen.handshake;

/**
 * What every handshake of a run must have negotiated.
 *
 * @param group code point
 * @param groupName as the TLS stack names it
 * @param cipherSuite code point
 */
record Expectation(int group, String groupName, int cipherSuite) {

  /** Expects nothing: for the preflight, which finds out what there is. */
  static final Expectation ANYTHING = new Expectation(Attempt.NONE, null, Attempt.NONE);

  /** Returns what to call a group that the wire does not show. */
  static String name(String negotiated, boolean tells) {
    return negotiated != null ? negotiated : tells ? ServerFacts.NO_GROUP : ServerFacts.UNVERIFIED;
  }

  /**
   * Compares what the wire and the TLS stack say with what is expected.
   *
   * @param hello the server's
   * @param reused whether the session was resumed
   * @param wanted whether it was to be
   * @param negotiated the group's name according to the TLS stack; null if it does not tell, or
   *     there is none
   * @param tells whether the TLS stack tells
   * @return null if all is as expected
   */
  Outcome check(
      ServerHello hello, boolean reused, boolean wanted, String negotiated, boolean tells) {
    if (groupName == null) {
      return null;
    }
    if (hello.helloRetryRequests() > 0) {
      return Outcome.HELLO_RETRY;
    }
    if (reused != wanted) {
      return reused ? Outcome.RESUMED : Outcome.NOT_RESUMED;
    }
    if (reused && hello.group() == Attempt.NONE) {
      // A resumed session of TLS 1.2 exchanges no keys.
      return hello.cipherSuite() == cipherSuite ? null : Outcome.WRONG_CIPHER;
    }
    // TLS 1.2 names the group in a later message, so there only the stack knows it.
    boolean onTheWire = hello.group() != Attempt.NONE;
    if (onTheWire && hello.group() != group) {
      return Outcome.WRONG_GROUP;
    }
    // The stacks in Java do not tell; in TLS 1.2 there is no witness then, and the preflight's had
    // to be without one as well.
    if ((tells || !onTheWire) && !groupName.equals(name(negotiated, tells))) {
      return Outcome.WRONG_GROUP;
    }
    return hello.cipherSuite() == cipherSuite ? null : Outcome.WRONG_CIPHER;
  }
}

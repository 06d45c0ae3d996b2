package io.pqcbench.loadgen.verdict;

import io.pqcbench.loadgen.monitor.Disturbance.Source;

/**
 * Why one request was slow.
 *
 * @param name stable: the label of a {@link Source}, or one of the constants here
 * @param evidence what was seen, with numbers and units
 */
public record Cause(String name, String evidence) {

  /** The client's SYN, or the answer to it, was lost or dropped, and sent again a second later. */
  public static final String SYN_RETRANSMIT = "syn-retransmit";

  /** A segment of the client was sent again. */
  public static final String RETRANSMIT = "retransmit";

  /** The server waited for an acknowledgement that this client's kernel held back. */
  public static final String DELAYED_ACK = "delayed-ack";

  /** The lane was late because it was at work on other arrivals. */
  public static final String CLIENT_QUEUE = "client-queue";

  /** The client's own part of the handshake took long, and nothing says why. */
  public static final String CLIENT_WORK = "client-work";

  /** Everything on the client was punctual: the time went by while it waited for bytes. */
  public static final String SERVER_OR_NETWORK = "server-or-network";

  /** Before the label of what happened on the server's machine, where that is watched. */
  public static final String SERVER = "server-";

  /** It was hardly slower than others. */
  public static final String USUAL = "usual";

  /** None of these. */
  public static final String UNEXPLAINED = "unexplained";

  /** Returns whose the fault is. */
  public Fault fault() {
    if (name.startsWith(SERVER)) {
      return Fault.SERVER;
    }
    return switch (name) {
      case SYN_RETRANSMIT, RETRANSMIT -> Fault.NETWORK;
      case DELAYED_ACK -> Fault.SERVER;
      case "run-delay", "steal", "throttled", "hiccup", "late-wake", "poll-gap" -> Fault.MACHINE;
      default -> Fault.CLIENT;
    };
  }
}

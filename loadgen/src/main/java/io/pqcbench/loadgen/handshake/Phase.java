package io.pqcbench.loadgen.handshake;

import static io.pqcbench.loadgen.handshake.Milestone.CONNECTED;
import static io.pqcbench.loadgen.handshake.Milestone.DONE;
import static io.pqcbench.loadgen.handshake.Milestone.FIRST_BYTE;
import static io.pqcbench.loadgen.handshake.Milestone.HELLO_RECEIVED;
import static io.pqcbench.loadgen.handshake.Milestone.HELLO_SENT;
import static io.pqcbench.loadgen.handshake.Milestone.PLANNED;
import static io.pqcbench.loadgen.handshake.Milestone.REQUEST_SENT;
import static io.pqcbench.loadgen.handshake.Milestone.SECURED;
import static io.pqcbench.loadgen.handshake.Milestone.SETTINGS_RECEIVED;
import static io.pqcbench.loadgen.handshake.Milestone.STARTED;

import java.util.List;

/** The spans between two milestones that are recorded. */
public enum Phase {
  /** What a user waits; counted from the planned instant, so free of coordinated omission. */
  RESPONSE("response", PLANNED, DONE, "planned to done: what a user waits"),
  /** The client's own lateness. */
  LAG("lag", PLANNED, STARTED, "planned to started: the client's own lateness"),
  /** What tools without correction report. */
  SERVICE("service", STARTED, DONE, "started to done: without the client's lateness"),
  /** TCP. */
  CONNECT("connect", STARTED, CONNECTED, "TCP connection"),
  /** TLS: the number in the tables. */
  HANDSHAKE("handshake", CONNECTED, SECURED, "TLS handshake: hello + flight + finish"),
  /** Client key generation. */
  HELLO("hello", CONNECTED, HELLO_SENT, "client: key generation"),
  /** Network and server, to the end of the server's flight. */
  FLIGHT("flight", HELLO_SENT, HELLO_RECEIVED, "network and server"),
  /** Client decapsulation and certificate check. */
  FINISH("finish", HELLO_RECEIVED, SECURED, "client: decapsulation, certificate signature"),
  /** The server's HTTP/2, beside the application. */
  SETTINGS("settings", SECURED, SETTINGS_RECEIVED, "HTTP/2: secured to the server's SETTINGS"),
  /** The application. */
  TTFB("ttfb", REQUEST_SENT, FIRST_BYTE, "request sent to first byte"),
  /** The application, and the network that carries its payload. */
  TTLB("ttlb", REQUEST_SENT, DONE, "request sent to last byte");

  /** The phases in their order, without the copy that {@link #values()} makes. */
  public static final List<Phase> ALL = List.of(values());

  private final String label;
  private final Milestone from;
  private final Milestone to;
  private final String text;

  Phase(String label, Milestone from, Milestone to, String text) {
    this.label = label;
    this.from = from;
    this.to = to;
    this.text = text;
  }

  /**
   * Returns the phase with this label.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Phase of(String label) {
    return ALL.stream()
        .filter(phase -> phase.label.equals(label))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no such phase: label=" + label));
  }

  /** Returns the name used in every file and table, in lower case. */
  public String label() {
    return label;
  }

  /** Returns what the phase holds, in a few words. */
  public String text() {
    return text;
  }

  /** Returns where the phase begins. */
  public Milestone from() {
    return from;
  }

  /** Returns where the phase ends. */
  public Milestone to() {
    return to;
  }
}

package io.pqcbench.loadgen.handshake;

/** The instants of one attempt, in the order in which they come. */
public enum Milestone {
  /** When the schedule wanted it to start. */
  PLANNED,
  /** Just before the connect call. */
  STARTED,
  /** When the event loop learned that the TCP connection was made. */
  CONNECTED,
  /** Just before the system call that sends the ClientHello. */
  HELLO_SENT,
  /**
   * Just after the system call that read the last byte of the ServerHello. In TLS 1.3, if the
   * server's flight comes in several reads: after the last of them, less what the TLS stack worked
   * between them.
   */
  HELLO_RECEIVED,
  /** When the TLS stack reported the handshake as complete. */
  SECURED,
  /** Just before the system call that sends the request. */
  REQUEST_SENT,
  /** Just after the system call that read the end of the server's first SETTINGS, in HTTP/2. */
  SETTINGS_RECEIVED,
  /** Just after the system call that read the first byte of the response. */
  FIRST_BYTE,
  /** When the response was complete, or, without a request, the handshake. */
  DONE
}

package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;

/**
 * Reads one response after the other of one connection. Total on every input, however it is cut.
 */
sealed interface HttpReader permits ResponseReader, Http2Reader {

  /** Another connection begins: forgets everything. */
  void open();

  /** Another response begins on the same connection. */
  void reset();

  /** Looks at the next bytes. Moves no index. */
  void read(ByteBuf bytes);

  /** Returns the status code, of an interim response too; {@link Attempt#NONE} before it. */
  int status();

  /** Returns the length of the body so far, without its framing. */
  long bodyBytes();

  /** Returns whether the whole response was read. */
  boolean complete();

  /** Returns whether the connection can take another request after this response. */
  boolean persistent();

  /** The server has closed; returns whether the response is complete by that. */
  boolean endOfInput();

  /** Returns why these are no bytes of a response; null if nothing is wrong so far. */
  String failure();

  /** Returns what the server says it is, printable; null if it does not, or it is not kept. */
  String software();
}

package io.pqcbench.loadgen.handshake;

/** The target cannot be measured; the message says why and what to do next. */
public final class PreflightException extends Exception {
  private static final long serialVersionUID = 1;

  public PreflightException(String message, Throwable cause) {
    super(message, cause);
  }
}

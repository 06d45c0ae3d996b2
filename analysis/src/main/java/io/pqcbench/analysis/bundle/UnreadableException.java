package io.pqcbench.analysis.bundle;

/** A directory or a file that is not what it has to be; the message says which, and what to do. */
public final class UnreadableException extends Exception {
  private static final long serialVersionUID = 1;

  public UnreadableException(String message) {
    super(message);
  }

  public UnreadableException(String message, Throwable cause) {
    super(message, cause);
  }
}

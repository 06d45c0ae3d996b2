package io.pqcbench.loadgen.plan;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The implementations of TLS that this client can use: one a process. */
public enum TlsStack {
  /** In the jar, by netty-tcnative: the default. */
  BORINGSSL("BoringSSL", true),
  /** The machine's own, by netty-tcnative. */
  OPENSSL("OpenSSL", true),
  /** The JSSE of the JDK. */
  JDK("JDK", false),
  /** Bouncy Castle's JSSE, in the jar. */
  BC("Bouncy Castle", false);

  private final String label;
  private final boolean compiled;

  TlsStack(String label, boolean compiled) {
    this.label = label;
    this.compiled = compiled;
  }

  /** Returns what people call it, e.g. {@code BoringSSL}. */
  public String label() {
    return label;
  }

  /** Returns its name on the command line and in files, e.g. {@code boringssl}. */
  public String option() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns whether it is native code. The others are for what they can do, and not for how long
   * that takes.
   */
  public boolean compiled() {
    return compiled;
  }

  /** Returns the options of all, separated by commas. */
  public static String options() {
    return Arrays.stream(values()).map(TlsStack::option).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return option();
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.channel.unix.Errors;
import java.io.IOException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bouncycastle.tls.TlsFatalAlertReceived;

/**
 * Turns what was thrown into an {@link Outcome}. Runs for failures only, so it may take its time.
 */
final class Failures {

  private static final int EMFILE = 24;
  private static final int ENFILE = 23;
  private static final int ECONNRESET = 104;
  private static final int EPIPE = 32;

  /**
   * BoringSSL packs its errors as library, reserved, reason: 8, 12 and 12 bits
   * (include/openssl/err.h, ERR_PACK).
   */
  private static final Pattern BORINGSSL_ERROR = Pattern.compile("error:([0-9a-fA-F]{8}):");

  /**
   * The reason code of an alert that was received is 1000 plus the alert (include/openssl/ssl.h).
   */
  private static final int ALERT_REASON_OFFSET = 1000;

  private static final Pattern JDK_ALERT = Pattern.compile("Received fatal alert: ([a-z_]+)");

  private Failures() {}

  static Outcome ofConnect(Throwable cause) {
    String message = String.valueOf(cause.getMessage()).toLowerCase(Locale.ROOT);
    if (message.contains("error(-99)") || message.contains("cannot assign requested address")) {
      return Outcome.NO_PORT;
    }
    return message.contains("error(-110)") || message.contains("timed out")
        ? Outcome.TCP_TIMEOUT
        : Outcome.TCP_REFUSED;
  }

  static Outcome ofSocket(Throwable cause) {
    return isErrno(cause, EMFILE, ENFILE) ? Outcome.NO_FD : null;
  }

  static Outcome ofTransport(Throwable cause) {
    if (isErrno(cause, ECONNRESET, EPIPE)) {
      return Outcome.TCP_RESET;
    }
    return cause instanceof IOException ? Outcome.CLOSED_EARLY : Outcome.TLS_ERROR;
  }

  static Outcome ofHandshake(Throwable cause) {
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (t instanceof ServerTrust.CertificateChangedException) {
        return Outcome.CERTIFICATE_CHANGED;
      }
    }
    return alertOf(cause) == Attempt.NONE ? Outcome.TLS_ERROR : Outcome.TLS_ALERT;
  }

  /** Returns the alert that the TLS stack received, or {@link Attempt#NONE}. */
  static int alertOf(Throwable cause) {
    for (Throwable t = cause; t != null; t = t.getCause()) {
      Matcher matcher = BORINGSSL_ERROR.matcher(String.valueOf(t.getMessage()));
      if (t instanceof TlsFatalAlertReceived received) {
        return received.getAlertDescription();
      }
      Matcher jdk = JDK_ALERT.matcher(String.valueOf(t.getMessage()));
      if (jdk.find()) {
        return TlsAlert.byName(jdk.group(1));
      }
      if (matcher.find()) {
        int alert = (Integer.parseUnsignedInt(matcher.group(1), 16) & 0xFFF) - ALERT_REASON_OFFSET;
        if (alert >= 0 && alert < 256) {
          return alert;
        }
      }
    }
    return Attempt.NONE;
  }

  private static boolean isErrno(Throwable cause, int first, int second) {
    for (Throwable t = cause; t != null; t = t.getCause()) {
      if (t instanceof Errors.NativeIoException io) {
        int errno = -io.expectedErr();
        return errno == first || errno == second;
      }
    }
    return false;
  }
}

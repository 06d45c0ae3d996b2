package io.pqcbench.loadgen.handshake;

import java.util.Map;
import java.util.Set;

/** The names of TLS alerts: RFC 8446, section 6, and the IANA registry "TLS Alerts". */
public final class TlsAlert {

  /** The alert of a server that speaks none of the offered versions. */
  public static final int PROTOCOL_VERSION = 70;

  /** The alert of a server that accepts none of the offered groups or suites. */
  public static final int HANDSHAKE_FAILURE = 40;

  /** The alert of a server that speaks none of the protocols that were offered by ALPN. */
  public static final int NO_APPLICATION_PROTOCOL = 120;

  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(0, "close_notify"),
          Map.entry(10, "unexpected_message"),
          Map.entry(20, "bad_record_mac"),
          Map.entry(22, "record_overflow"),
          Map.entry(HANDSHAKE_FAILURE, "handshake_failure"),
          Map.entry(42, "bad_certificate"),
          Map.entry(43, "unsupported_certificate"),
          Map.entry(44, "certificate_revoked"),
          Map.entry(45, "certificate_expired"),
          Map.entry(46, "certificate_unknown"),
          Map.entry(47, "illegal_parameter"),
          Map.entry(48, "unknown_ca"),
          Map.entry(49, "access_denied"),
          Map.entry(50, "decode_error"),
          Map.entry(51, "decrypt_error"),
          Map.entry(PROTOCOL_VERSION, "protocol_version"),
          Map.entry(71, "insufficient_security"),
          Map.entry(80, "internal_error"),
          Map.entry(86, "inappropriate_fallback"),
          Map.entry(90, "user_canceled"),
          Map.entry(109, "missing_extension"),
          Map.entry(110, "unsupported_extension"),
          Map.entry(112, "unrecognized_name"),
          Map.entry(113, "bad_certificate_status_response"),
          Map.entry(115, "unknown_psk_identity"),
          Map.entry(116, "certificate_required"),
          Map.entry(NO_APPLICATION_PROTOCOL, "no_application_protocol"));

  /**
   * Alerts by which a server says that it does not accept the client's certificate, or has none.
   */
  private static final Set<Integer> ABOUT_CERTIFICATES = Set.of(42, 43, 44, 45, 46, 48, 49, 116);

  private TlsAlert() {}

  /** Returns the alert of a name, or {@link Attempt#NONE} if there is none. */
  static int byName(String name) {
    for (Map.Entry<Integer, String> alert : NAMES.entrySet()) {
      if (alert.getValue().equals(name)) {
        return alert.getKey();
      }
    }
    return Attempt.NONE;
  }

  /** Returns whether an alert, from a server, is about the client's certificate. */
  static boolean aboutCertificate(int description) {
    return ABOUT_CERTIFICATES.contains(description);
  }

  /**
   * Returns the name of an alert, e.g. {@code handshake_failure}, or {@code alert_N} for one that
   * has none.
   */
  public static String name(int description) {
    return NAMES.getOrDefault(description, "alert_" + description);
  }
}

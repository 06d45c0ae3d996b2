package io.pqcbench.loadgen.handshake;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The cipher suites that BoringSSL negotiates, by their code points in the IANA registry "TLS
 * Cipher Suites".
 */
public final class CipherSuites {

  private static final Map<String, Integer> TLS_1_3 =
      Map.of(
          "TLS_AES_128_GCM_SHA256", 0x1301,
          "TLS_AES_256_GCM_SHA384", 0x1302,
          "TLS_CHACHA20_POLY1305_SHA256", 0x1303);

  private static final Map<String, Integer> TLS_1_2 =
      Map.of(
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", 0xC02B,
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", 0xC02C,
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", 0xC02F,
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", 0xC030,
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", 0xCCA8,
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", 0xCCA9);

  private CipherSuites() {}

  /**
   * Returns the IANA name of a suite, or its code point in hexadecimal for one that is not known
   * here.
   */
  public static String name(int codePoint) {
    for (Map<String, Integer> suites : List.of(TLS_1_3, TLS_1_2)) {
      for (Map.Entry<String, Integer> suite : suites.entrySet()) {
        if (suite.getValue() == codePoint) {
          return suite.getKey();
        }
      }
    }
    return String.format(Locale.ROOT, "0x%04x", codePoint);
  }

  /**
   * Returns the code point of a suite.
   *
   * @param name IANA's, in any case
   * @throws IllegalArgumentException for a name that is not known; the message lists those that are
   */
  public static int codePoint(String name) {
    String wanted = name.strip().toUpperCase(Locale.ROOT);
    Integer codePoint = TLS_1_3.getOrDefault(wanted, TLS_1_2.get(wanted));
    if (codePoint == null) {
      throw new IllegalArgumentException(
          "unknown cipher suite: cipher='"
              + name
              + "', known: "
              + TLS_1_3.keySet().stream().sorted().collect(Collectors.joining(", "))
              + ", and for TLS 1.2 "
              + TLS_1_2.keySet().stream().sorted().collect(Collectors.joining(", ")));
    }
    return codePoint;
  }
}

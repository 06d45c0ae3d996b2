package io.pqcbench.loadgen.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A signature scheme of TLS 1.3, with which a server proves that it holds its certificate's key.
 *
 * <p>Names and code points: IANA registry "TLS SignatureScheme"; ML-DSA: draft-ietf-tls-mldsa.
 */
public enum SignatureScheme {
  MLDSA44(0x0904),
  MLDSA65(0x0905),
  MLDSA87(0x0906),
  ECDSA_SECP256R1_SHA256(0x0403),
  ECDSA_SECP384R1_SHA384(0x0503),
  ECDSA_SECP521R1_SHA512(0x0603),
  ED25519(0x0807),
  ED448(0x0808),
  RSA_PSS_RSAE_SHA256(0x0804),
  RSA_PSS_RSAE_SHA384(0x0805),
  RSA_PSS_RSAE_SHA512(0x0806),
  RSA_PSS_PSS_SHA256(0x0809),
  RSA_PSS_PSS_SHA384(0x080A),
  RSA_PSS_PSS_SHA512(0x080B),
  RSA_PKCS1_SHA256(0x0401),
  RSA_PKCS1_SHA384(0x0501),
  RSA_PKCS1_SHA512(0x0601);

  private final int codePoint;

  SignatureScheme(int codePoint) {
    this.codePoint = codePoint;
  }

  /** Returns IANA's name, e.g. {@code mldsa65}. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the code point on the wire, e.g. 0x0905. */
  public int codePoint() {
    return codePoint;
  }

  /**
   * Returns the scheme's name for a code point, or the code point in hexadecimal for one not known
   * here.
   */
  public static String nameOf(int codePoint) {
    return Arrays.stream(values())
        .filter(scheme -> scheme.codePoint == codePoint)
        .map(SignatureScheme::label)
        .findFirst()
        .orElseGet(() -> String.format(Locale.ROOT, "0x%04x", codePoint));
  }

  /**
   * Parses a list of schemes, separated by commas or, as OpenSSL does, by colons.
   *
   * @throws IllegalArgumentException when a name is unknown or repeated
   */
  public static List<SignatureScheme> parseList(String text) {
    List<SignatureScheme> schemes =
        Arrays.stream(text.split("[,:]", -1)).map(SignatureScheme::parse).toList();
    if (schemes.stream().distinct().count() < schemes.size()) {
      throw new IllegalArgumentException("a signature scheme is named twice: sigalgs=" + text);
    }
    return schemes;
  }

  private static SignatureScheme parse(String name) {
    return Arrays.stream(values())
        .filter(scheme -> scheme.label().equalsIgnoreCase(name.strip()))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown signature scheme: sigalg='"
                        + name.strip()
                        + "', known: "
                        + Arrays.stream(values())
                            .map(SignatureScheme::label)
                            .collect(Collectors.joining(", "))));
  }

  @Override
  public String toString() {
    return label();
  }
}

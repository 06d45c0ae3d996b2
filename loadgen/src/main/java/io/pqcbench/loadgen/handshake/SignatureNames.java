package io.pqcbench.loadgen.handshake;

import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.util.List;
import java.util.Map;
import org.bouncycastle.asn1.x509.SubjectPublicKeyInfo;

/**
 * Names of keys and signatures, which the JDK has only for what it can verify itself: ML-DSA since
 * Java 24, and then by less than its name.
 */
final class SignatureNames {

  /** RFC 9881, section 2, and RFC 8410, section 3. */
  private static final Map<String, String> BY_OID =
      Map.of(
          "2.16.840.1.101.3.4.3.17", "ML-DSA-44",
          "2.16.840.1.101.3.4.3.18", "ML-DSA-65",
          "2.16.840.1.101.3.4.3.19", "ML-DSA-87",
          "1.3.101.112", "Ed25519",
          "1.3.101.113", "Ed448");

  private SignatureNames() {}

  /** Returns the kind of a certificate's key, e.g. {@code EC 256}, or its OID. */
  static String keyType(X509Certificate certificate) {
    if (certificate.getPublicKey() instanceof ECPublicKey key) {
      return "EC " + key.getParams().getCurve().getField().getFieldSize();
    }
    if (certificate.getPublicKey() instanceof RSAPublicKey key) {
      return "RSA " + key.getModulus().bitLength();
    }
    String oid =
        SubjectPublicKeyInfo.getInstance(certificate.getPublicKey().getEncoded())
            .getAlgorithm()
            .getAlgorithm()
            .getId();
    return BY_OID.getOrDefault(oid, oid);
  }

  /** Returns with which algorithm a certificate was signed, or its OID. */
  static String algorithm(X509Certificate certificate) {
    return BY_OID.getOrDefault(certificate.getSigAlgOID(), certificate.getSigAlgName());
  }

  /**
   * Returns the schemes by which TLS 1.3 lets the holder of a certificate's key sign a handshake:
   * RFC 8446, section 4.2.3, where a curve has one hash, and draft-ietf-tls-mldsa. Empty for other
   * keys.
   */
  static List<String> schemes(X509Certificate certificate) {
    String type = keyType(certificate);
    return switch (type) {
      case "EC 256" -> List.of("ecdsa_secp256r1_sha256");
      case "EC 384" -> List.of("ecdsa_secp384r1_sha384");
      case "EC 521" -> List.of("ecdsa_secp521r1_sha512");
      case "Ed25519" -> List.of("ed25519");
      case "Ed448" -> List.of("ed448");
      case "ML-DSA-44" -> List.of("mldsa44");
      case "ML-DSA-65" -> List.of("mldsa65");
      case "ML-DSA-87" -> List.of("mldsa87");
      default ->
          type.startsWith("RSA ") && certificate.getPublicKey().getAlgorithm().equals("RSA")
              ? List.of("rsa_pss_rsae_sha256", "rsa_pss_rsae_sha384", "rsa_pss_rsae_sha512")
              : List.of();
    };
  }
}

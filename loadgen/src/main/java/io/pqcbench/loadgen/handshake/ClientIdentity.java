package io.pqcbench.loadgen.handshake;

import io.pqcbench.loadgen.plan.LoadPlan;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;

/**
 * A client's certificate chain and key as PEM, which every TLS stack reads, from the files that the
 * plan names. Not a record, so that neither key nor password is ever printed.
 */
final class ClientIdentity {

  /** The chain, leaf first. */
  final byte[] chain;

  /** The key, encrypted if there is a {@link #password}. */
  final byte[] key;

  /** Null for none. */
  final String password;

  private ClientIdentity(byte[] chain, byte[] key, String password) {
    this.chain = chain;
    this.key = key;
    this.password = password;
  }

  /**
   * Reads the files.
   *
   * @return null if the plan names none
   * @throws CertificateException with a message for the user when they cannot be used
   */
  static ClientIdentity read(LoadPlan.TlsOffer offer) throws CertificateException {
    if (offer.cert() == null) {
      return null;
    }
    String password = password(offer);
    try {
      if (offer.key() == null) {
        return pkcs12(offer.cert(), password);
      }
      byte[] chain = Files.readAllBytes(offer.cert());
      if (!new String(chain, StandardCharsets.ISO_8859_1).contains("-----BEGIN CERTIFICATE-----")) {
        // Not every stack says so.
        throw new CertificateException("--cert holds no PEM certificate: cert=" + offer.cert());
      }
      return new ClientIdentity(chain, Files.readAllBytes(offer.key()), password);
    } catch (IOException e) {
      throw new CertificateException(
          "the client's certificate cannot be read: cert="
              + offer.cert()
              + " key="
              + offer.key()
              + " ("
              + e
              + ")",
          e);
    }
  }

  private static String password(LoadPlan.TlsOffer offer) throws CertificateException {
    if (offer.keyPasswordEnv() != null) {
      String value = System.getenv(offer.keyPasswordEnv());
      if (value == null) {
        throw new CertificateException(
            "--key-password-env names a variable that is not set: variable="
                + offer.keyPasswordEnv());
      }
      return value;
    }
    if (offer.keyPasswordFile() == null) {
      return null;
    }
    try {
      // The first line, as openssl and curl have it: editors end it whether one wants it or not.
      List<String> lines = Files.readAllLines(offer.keyPasswordFile());
      return lines.isEmpty() ? "" : lines.get(0);
    } catch (IOException e) {
      throw new CertificateException(
          "--key-password-file cannot be read: file=" + offer.keyPasswordFile() + " (" + e + ")",
          e);
    }
  }

  private static ClientIdentity pkcs12(Path file, String password)
      throws IOException, CertificateException {
    char[] secret = password == null ? new char[0] : password.toCharArray();
    byte[] content = Files.readAllBytes(file);
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(new ByteArrayInputStream(content), secret);
      List<String> keys = new ArrayList<>();
      for (String alias : Collections.list(store.aliases())) {
        if (store.isKeyEntry(alias)) {
          keys.add(alias);
        }
      }
      if (keys.size() != 1) {
        throw new CertificateException(
            "a PKCS#12 file must hold one key with its certificates: cert="
                + file
                + " keys="
                + keys.size()
                + (keys.isEmpty() ? "" : " names=" + keys));
      }
      Certificate[] certificates = store.getCertificateChain(keys.get(0));
      if (certificates == null || certificates.length == 0) {
        throw new CertificateException(
            "the PKCS#12 file holds a key but no certificate: cert="
                + file
                + " name="
                + keys.get(0)
                + "; export it with the certificate and its chain (openssl pkcs12 -export -in"
                + " CHAIN -inkey KEY)");
      }
      StringBuilder chain = new StringBuilder();
      for (Certificate each : certificates) {
        chain.append(pem("CERTIFICATE", each.getEncoded()));
      }
      Key key = store.getKey(keys.get(0), secret);
      return new ClientIdentity(
          chain.toString().getBytes(StandardCharsets.US_ASCII),
          pem("PRIVATE KEY", key.getEncoded()).getBytes(StandardCharsets.US_ASCII),
          null);
    } catch (IOException | GeneralSecurityException e) {
      if (e instanceof CertificateException known && known.getCause() == null) {
        throw known;
      }
      // The JDK says of a wrong password only that the file may be damaged, or worse.
      throw new CertificateException(
          "the client's certificate cannot be read as PKCS#12: cert="
              + file
              + (password == null
                  ? "; without --key it must be such a file, and a password is given by"
                      + " --key-password-file or --key-password-env"
                  : "; is the password right?")
              + " ("
              + e.getMessage()
              + ")",
          e);
    }
  }

  private static String pem(String label, byte[] der) {
    return "-----BEGIN "
        + label
        + "-----\n"
        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
        + "\n-----END "
        + label
        + "-----\n";
  }
}

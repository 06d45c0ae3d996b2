package io.pqcbench.loadgen.handshake;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Collection;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Decides on the server's certificate. The TLS stack checks the handshake's signature against that
 * certificate in any case; this class only says whether it is one that is wanted.
 */
abstract class ServerTrust extends X509ExtendedTrustManager {

  private static final X509Certificate[] NO_ISSUERS = {};

  private ServerTrust() {}

  /**
   * Returns whether a chain must have been issued for the host's name, which the TLS stack then
   * provides.
   */
  abstract boolean checksHostName();

  /**
   * Accepts any chain and keeps it, with what {@code verifier} says of it: for the preflight. Used
   * by one connection at a time.
   */
  static final class Probe extends ServerTrust {
    private final X509ExtendedTrustManager verifier;
    X509Certificate[] chain;

    /** Why the chain does not verify; null when it does. */
    CertificateException complaint;

    Probe(X509ExtendedTrustManager verifier) {
      this.verifier = verifier;
    }

    @Override
    boolean checksHostName() {
      return true;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] presented, String authType, SSLEngine engine) {
      chain = presented;
      complaint = null;
      try {
        verify(verifier, presented, authType, engine);
      } catch (CertificateException e) {
        complaint = e;
      }
    }
  }

  /**
   * Accepts the leaf that the preflight saw, and verified or pinned, by comparing bytes: no
   * certification path is built in the measured time. Thread-safe: one instance serves all lanes.
   */
  static final class Known extends ServerTrust {
    private final X509ExtendedTrustManager verifier;
    private final CopyOnWriteArrayList<byte[]> accepted;

    /**
     * @param leaf DER bytes of the certificate seen in the preflight
     * @param verifier for a leaf that is not the known one, as when a fleet serves several; null to
     *     refuse it
     */
    Known(byte[] leaf, X509ExtendedTrustManager verifier) {
      this.accepted = new CopyOnWriteArrayList<>(new byte[][] {leaf});
      this.verifier = verifier;
    }

    @Override
    boolean checksHostName() {
      return verifier != null;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
        throws CertificateException {
      byte[] leaf = chain[0].getEncoded();
      for (byte[] known : accepted) {
        if (Arrays.equals(known, leaf)) {
          return;
        }
      }
      if (verifier == null) {
        throw new CertificateChangedException(chain[0], null);
      }
      try {
        verify(verifier, chain, authType, engine);
      } catch (CertificateException e) {
        throw new CertificateChangedException(chain[0], e);
      }
      accepted.addIfAbsent(leaf);
    }
  }

  /** Accepts anything. */
  static final class Blind extends ServerTrust {
    @Override
    boolean checksHostName() {
      return false;
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}
  }

  /** The server presented a certificate that is neither known nor verifiable. */
  static final class CertificateChangedException extends CertificateException {
    private static final long serialVersionUID = 1;

    CertificateChangedException(X509Certificate leaf, Throwable cause) {
      super(
          "the server presents another certificate than in the preflight: subject="
              + leaf.getSubjectX500Principal().getName(),
          cause);
    }
  }

  private static void verify(
      X509ExtendedTrustManager verifier, X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    verifier.checkServerTrusted(chain, authType, engine);
    // The JDK does not look at the dates of a leaf that is itself a trusted root, as the
    // self-signed certificates of benchmark servers are.
    chain[0].checkValidity();
  }

  /**
   * Returns a verifier of chains and host names.
   *
   * @param cacert PEM file of trusted roots; null for the system's
   * @throws CertificateException when the file cannot be read or holds no certificate
   */
  static X509ExtendedTrustManager verifier(Path cacert) throws CertificateException {
    try {
      KeyStore roots = null;
      if (cacert != null) {
        roots = KeyStore.getInstance(KeyStore.getDefaultType());
        roots.load(null, null);
        int number = 0;
        for (Certificate root : read(cacert)) {
          roots.setCertificateEntry("root-" + number++, root);
        }
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(roots);
      for (TrustManager manager : factory.getTrustManagers()) {
        if (manager instanceof X509ExtendedTrustManager verifier) {
          return verifier;
        }
      }
      throw new CertificateException("this JDK has no X.509 trust manager");
    } catch (GeneralSecurityException | IOException e) {
      throw e instanceof CertificateException known
          ? known
          : new CertificateException(
              "trusted roots cannot be loaded: cacert=" + cacert + " (" + e.getMessage() + ")", e);
    }
  }

  private static Collection<? extends Certificate> read(Path cacert) throws CertificateException {
    try (InputStream in = Files.newInputStream(cacert)) {
      Collection<? extends Certificate> roots =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (roots.isEmpty()) {
        throw new CertificateException("--cacert holds no certificate: cacert=" + cacert);
      }
      return roots;
    } catch (IOException e) {
      throw new CertificateException(
          "--cacert cannot be read: cacert=" + cacert + " (" + e + ")", e);
    }
  }

  @Override
  public abstract void checkServerTrusted(
      X509Certificate[] chain, String authType, SSLEngine engine) throws CertificateException;

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    checkServerTrusted(chain, authType, (SSLEngine) null);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    checkServerTrusted(chain, authType, (SSLEngine) null);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    checkClientTrusted(chain, authType);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    checkClientTrusted(chain, authType);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    throw new CertificateException("this is a client");
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return NO_ISSUERS;
  }
}

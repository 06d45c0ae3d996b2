package io.pqcbench.loadgen.handshake;

import io.netty.internal.tcnative.CertificateVerifier;
import io.pqcbench.loadgen.plan.LoadPlan;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.bouncycastle.est.jcajce.JsseDefaultHostnameAuthorizer;

/**
 * Decides on the server's certificate. The TLS stack checks the handshake's signature against that
 * certificate in any case; this class only says whether it is one that is wanted.
 *
 * <p>The TLS stack calls it in the middle of a handshake, on the thread of the lane.
 */
abstract class ServerTrust extends CertificateVerifier {

  /** Why certificates were refused, by the connection's SSL*, until somebody asks. */
  private final Map<Long, CertificateException> refusals = new ConcurrentHashMap<>();

  private ServerTrust() {}

  @Override
  public final int verify(long ssl, byte[][] chain, String authType) {
    try {
      check(chain, authType);
      return X509_V_OK;
    } catch (CertificateException e) {
      refusals.put(ssl, e);
      return X509_V_ERR_CERT_REJECTED;
    } catch (RuntimeException e) {
      // A certificate that breaks its reader is none to trust; native code must not be left by
      // this.
      refusals.put(ssl, new CertificateException("the certificate cannot be read", e));
      return X509_V_ERR_CERT_REJECTED;
    }
  }

  /**
   * Looks at a chain.
   *
   * @param chain DER bytes, leaf first; never empty
   * @param authType what the TLS stack calls the key exchange
   * @throws CertificateException when the leaf is not wanted
   */
  abstract void check(byte[][] chain, String authType) throws CertificateException;

  /** Returns why a connection's certificate was refused, once; null if it was not. */
  final CertificateException takeRefusal(long ssl) {
    return refusals.isEmpty() ? null : refusals.remove(ssl);
  }

  /**
   * Accepts any chain and keeps it, with what {@code verifier} says of it: for the preflight. Used
   * by one connection at a time.
   */
  static final class Probe extends ServerTrust {
    private final ChainVerifier verifier;
    X509Certificate[] chain;

    /** Why the chain does not verify; null when it does. */
    CertificateException complaint;

    Probe(ChainVerifier verifier) {
      this.verifier = verifier;
    }

    @Override
    void check(byte[][] presented, String authType) throws CertificateException {
      chain = parse(presented);
      complaint = null;
      try {
        verifier.verify(chain, authType);
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
    private final ChainVerifier verifier;
    private final CopyOnWriteArrayList<byte[]> accepted;

    /**
     * @param leaf DER bytes of the certificate seen in the preflight
     * @param verifier for a leaf that is not the known one, as when a fleet serves several; null to
     *     refuse it
     */
    Known(byte[] leaf, ChainVerifier verifier) {
      this.accepted = new CopyOnWriteArrayList<>(new byte[][] {leaf});
      this.verifier = verifier;
    }

    @Override
    void check(byte[][] presented, String authType) throws CertificateException {
      for (int i = 0; i < accepted.size(); i++) {
        if (Arrays.equals(accepted.get(i), presented[0])) {
          return;
        }
      }
      X509Certificate[] chain = parse(presented);
      if (verifier == null) {
        throw new CertificateChangedException(chain[0], null);
      }
      try {
        verifier.verify(chain, authType);
      } catch (CertificateException e) {
        throw new CertificateChangedException(chain[0], e);
      }
      accepted.addIfAbsent(presented[0]);
    }
  }

  /** Accepts anything. */
  static final class Blind extends ServerTrust {
    @Override
    void check(byte[][] presented, String authType) {}
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

  private static X509Certificate[] parse(byte[][] chain) throws CertificateException {
    CertificateFactory factory = CertificateFactory.getInstance("X.509");
    X509Certificate[] parsed = new X509Certificate[chain.length];
    for (int i = 0; i < chain.length; i++) {
      parsed[i] = (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(chain[i]));
    }
    return parsed;
  }

  /**
   * Verifies chains up to a trusted root, and that the leaf was issued for a host.
   *
   * @param roots who is trusted
   * @param host name or address
   */
  record ChainVerifier(X509TrustManager roots, String host) {

    void verify(X509Certificate[] chain, String authType) throws CertificateException {
      if (roots.getAcceptedIssuers().length == 0) {
        // It would throw something that does not say so.
        throw new CertificateException(
            "this JDK trusts no root, its file cacerts is missing or empty (Debian:"
                + " ca-certificates-java)");
      }
      roots.checkServerTrusted(chain, authType);
      // The JDK does not look at the dates of a leaf that is itself a trusted root, as the
      // self-signed certificates of benchmark servers are.
      chain[0].checkValidity();
      try {
        if (new JsseDefaultHostnameAuthorizer(Set.of()).verify(host, chain[0])) {
          return;
        }
      } catch (IOException e) {
        throw new CertificateException("its names cannot be read: " + e.getMessage(), e);
      }
      throw new CertificateException("it was not issued for the host: host=" + host);
    }
  }

  /**
   * Returns a verifier of chains and host names.
   *
   * @param plan names the host, and the PEM file of trusted roots; without one the system's are
   *     taken
   * @throws CertificateException when the file cannot be read or holds no certificate
   */
  static ChainVerifier verifier(LoadPlan plan) throws CertificateException {
    String name = plan.tls().sni();
    return new ChainVerifier(
        roots(plan.tls().cacert()), name == null ? plan.target().host() : name);
  }

  private static X509TrustManager roots(Path cacert) throws CertificateException {
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
        if (manager instanceof X509TrustManager x509) {
          return x509;
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
}

package io.pqcbench.loadgen.handshake;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Asks {@link ServerTrust} on behalf of engines, those of the stacks in Java and that of QUIC, and
 * keeps why a certificate was refused, which not all of them tell.
 */
final class EngineTrust extends X509ExtendedTrustManager {

  private final ServerTrust trust;
  private final Map<SSLEngine, CertificateException> refusals = new ConcurrentHashMap<>();

  EngineTrust(ServerTrust trust) {
    this.trust = trust;
  }

  /** Returns why a connection's certificate was refused, once; null if it was not. */
  CertificateException takeRefusal(SSLEngine engine) {
    return engine == null || refusals.isEmpty() ? null : refusals.remove(engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    try {
      byte[][] encoded = new byte[chain.length][];
      for (int i = 0; i < chain.length; i++) {
        encoded[i] = chain[i].getEncoded();
      }
      trust.check(encoded, authType);
    } catch (CertificateException e) {
      refusals.put(engine, e);
      throw e;
    } catch (RuntimeException e) {
      // A certificate that breaks its reader is none to trust.
      CertificateException refusal = new CertificateException("the certificate cannot be read", e);
      refusals.put(engine, refusal);
      throw refusal;
    }
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return new X509Certificate[0];
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType) {
    throw new UnsupportedOperationException("a server is checked with its engine");
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {
    throw new UnsupportedOperationException("a server is checked with its engine");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType) {
    throw new UnsupportedOperationException("this is a client");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {
    throw new UnsupportedOperationException("this is a client");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {
    throw new UnsupportedOperationException("this is a client");
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.internal.tcnative.SSL;
import io.netty.internal.tcnative.SSLContext;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.TlsStack;
import java.security.cert.CertificateException;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * What all TLS connections of a client share by BoringSSL or OpenSSL: the SSL_CTX, because building
 * one costs more than a handshake.
 *
 * <p>It and its connections are made of the calls of which Netty's own TLS engine is made
 * (io.netty.internal.tcnative), and not of that engine, which allocates some 5 KB a connection and
 * copies each certificate three times: more than all the rest of an attempt.
 *
 * <p>Thread-safe, as an SSL_CTX is.
 */
final class NativeContext implements TlsConnections {

  /**
   * What the TLS stack may have written while it was reading: a second ClientHello, which has less
   * than 2 KB, or a client's certificates; it waits when they are longer.
   */
  private static final int BIO_BYTES = 4096;

  /** Certificates in a chain; the limit of OpenSSL's own verification. */
  private static final int MAX_CHAIN = 100;

  private final long context;
  private final String serverName;
  private final boolean openSsl;
  private final boolean renegotiates;

  /** Null for none. */
  private final Identity identity;

  /**
   * @param tickets gets the sessions that the server issues; null to keep none
   * @throws SSLException when the TLS stack refuses the offer, or a certificate file cannot be read
   */
  NativeContext(
      LoadPlan.TlsOffer offer, List<NamedGroup> groups, ServerTrust trust, Tickets tickets)
      throws SSLException {
    NativeTls.require(offer.stack());
    this.serverName = offer.serverName();
    this.openSsl = offer.stack().name() == TlsStack.OPENSSL;
    this.renegotiates = offer.tls12() && !openSsl;
    try {
      context =
          SSLContext.make(
              (offer.tls12() ? SSL.SSL_PROTOCOL_TLSV1_2 : 0)
                  | (offer.tls13() ? SSL.SSL_PROTOCOL_TLSV1_3 : 0),
              SSL.SSL_MODE_CLIENT);
    } catch (Exception e) {
      throw new SSLException("no TLS context can be made: tls=" + offer.version(), e);
    }
    try {
      if (!offer.tls13()) {
        // The call above only turns older versions off.
        SSLContext.setOptions(context, SSL.SSL_OP_NO_TLSv1_3);
      }
      SSLContext.setMode(
          context,
          SSLContext.getMode(context)
              | SSL.SSL_MODE_ENABLE_PARTIAL_WRITE
              | SSL.SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
      // Tasks would move the certificate check out of the call that reads the certificate.
      SSLContext.setUseTasks(context, false);
      SSLContext.setVerify(context, SSL.SSL_CVERIFY_REQUIRED, MAX_CHAIN);
      SSLContext.setCertVerifyCallback(context, trust);
      String[] names = groups.stream().map(NamedGroup::label).toArray(String[]::new);
      if (!SSLContext.setCurvesList(context, names)) {
        throw new SSLException(
            "the TLS stack "
                + NativeTls.version()
                + " does not know these groups: groups="
                + List.of(names));
      }
      if (!offer.stack().sigalgs().isEmpty()) {
        LibSsl.offer(context, offer.stack().sigalgs());
      }
      if (!offer.stack().cipherSuites().isEmpty()) {
        restrict(offer.stack().cipherSuites());
      }
      if (!offer.alpn().isEmpty()) {
        SSLContext.setAlpnProtos(
            context, offer.alpn().toArray(String[]::new), SSL.SSL_SELECTOR_FAILURE_NO_ADVERTISE);
      }
      SSLContext.setSessionCacheMode(
          context,
          tickets != null
              ? SSL.SSL_SESS_CACHE_CLIENT | SSL.SSL_SESS_CACHE_NO_INTERNAL_STORE
              : SSL.SSL_SESS_CACHE_OFF);
      if (tickets != null) {
        SSLContext.setSSLSessionCache(context, tickets);
      }
      identity = offer.cert() == null ? null : Identity.read(context, offer);
    } catch (SSLException e) {
      SSLContext.free(context);
      throw e;
    }
  }

  private void restrict(List<String> cipherSuites) throws SSLException {
    try {
      if (SSLContext.setCipherSuite(context, String.join(":", cipherSuites), true)) {
        return;
      }
      SSL.clearError();
      // The native calls throw no other type.
    } catch (Exception e) {
      throw new SSLException(refusedSuites(cipherSuites), e);
    }
    throw new SSLException(refusedSuites(cipherSuites));
  }

  private static String refusedSuites(List<String> cipherSuites) {
    return "the TLS stack "
        + NativeTls.version()
        + " does not take these cipher suites: ciphers="
        + cipherSuites;
  }

  /** This client's certificate chain and key in native memory, for servers that ask for them. */
  private record Identity(long chain, long key) {

    static Identity read(long context, LoadPlan.TlsOffer offer) throws SSLException {
      long chain = 0;
      long key = 0;
      long ssl = 0;
      try {
        ClientIdentity identity = ClientIdentity.read(offer);
        chain = parse(identity.chain, SSL::parseX509Chain);
        key = parse(identity.key, bio -> SSL.parsePrivateKey(bio, identity.password));
        // Tried once, so that one that does not fit is found here and not in every connection.
        ssl = SSL.newSSL(context, false);
        SSL.setKeyMaterial(ssl, chain, key);
        return new Identity(chain, key);
      } catch (CertificateException e) {
        throw new SSLException(e.getMessage(), e);
        // The native calls throw no other type.
      } catch (Exception e) {
        String doing =
            chain == 0
                ? "the client's certificate cannot be read"
                : key == 0
                    ? "the client's key cannot be read: it must be PEM, of a kind that the TLS"
                        + " stack knows (BoringSSL: RSA, ECDSA, Ed25519), and if it is encrypted"
                        + " --key-password-file or --key-password-env must hold its password"
                    : "the client's key does not belong to its certificate";
        if (chain != 0) {
          SSL.freeX509Chain(chain);
        }
        if (key != 0) {
          SSL.freePrivateKey(key);
        }
        throw new SSLException(doing + ": cert=" + offer.cert() + " key=" + offer.key(), e);
      } finally {
        if (ssl != 0) {
          SSL.freeSSL(ssl);
        }
      }
    }

    private interface Parser {
      long parse(long bio) throws Exception;
    }

    private static long parse(byte[] text, Parser parser) throws Exception {
      Memory pem = new Memory(text);
      long bio = SSL.newMemBIO();
      try {
        SSL.bioWrite(bio, pem.address, pem.size);
        return parser.parse(bio);
      } finally {
        SSL.freeBIO(bio);
        pem.free();
      }
    }

    void free() {
      SSL.freeX509Chain(chain);
      SSL.freePrivateKey(key);
    }
  }

  /** Returns whether it is OpenSSL, of which more can be asked. */
  boolean openSsl() {
    return openSsl;
  }

  @Override
  public TlsConnection connection() {
    return new NativeConnection(this);
  }

  /**
   * Makes the TLS state of one connection, in native memory.
   *
   * @return an SSL*, to be freed with {@link SSL#freeSSL}
   */
  long open() {
    long ssl = SSL.newSSL(context, false);
    if (serverName != null) {
      SSL.setTlsExtHostName(ssl, serverName);
    }
    try {
      if (renegotiates) {
        // A server may ask for the client's certificate by that. OpenSSL does it unasked.
        SSL.setRenegotiateMode(ssl, SSL.SSL_RENEGOTIATE_ONCE);
      }
      if (identity != null) {
        SSL.setKeyMaterial(ssl, identity.chain, identity.key);
      }
    } catch (Exception e) {
      SSL.freeSSL(ssl);
      throw new IllegalStateException("the TLS stack refuses what it has accepted before", e);
    }
    return ssl;
  }

  /** Gives a connection the buffer through which its bytes go; freed with the connection. */
  static long openBio(long ssl) {
    return SSL.bioNewByteBuffer(ssl, BIO_BYTES);
  }

  @Override
  public void close() {
    if (identity != null) {
      identity.free();
    }
    SSLContext.free(context);
  }
}

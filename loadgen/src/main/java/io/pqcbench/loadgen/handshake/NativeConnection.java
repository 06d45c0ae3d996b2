package io.pqcbench.loadgen.handshake;

import io.netty.internal.tcnative.SSL;
import io.pqcbench.loadgen.plan.NamedGroup;
import java.security.cert.CertificateException;
import javax.net.ssl.SSLException;

/** A connection of BoringSSL or OpenSSL, by the calls that netty-tcnative has for both. */
final class NativeConnection extends TlsConnection {

  private final NativeContext context;

  /** The SSL* and the BIO through which its bytes go. */
  private long ssl;

  private long bio;
  private int sinkSize;

  /** The last name that the stack gave for a group, and ours. */
  private String groupHeard = "";

  private String group = "";

  NativeConnection(NativeContext context) {
    this.context = context;
  }

  @Override
  void open() {
    ssl = context.open();
    bio = NativeContext.openBio(ssl);
  }

  @Override
  void free() {
    SSL.freeSSL(ssl);
  }

  @Override
  boolean offer(Tickets tickets) {
    return tickets.offer(ssl);
  }

  @Override
  void sinkTo(Memory out, int from) {
    sinkSize = out.size - from;
    SSL.bioSetByteBuffer(bio, out.address + from, sinkSize, true);
  }

  @Override
  void sourceFrom(Memory in, int from, int length) {
    SSL.bioSetByteBuffer(bio, in.address + from, length, false);
  }

  @Override
  void detach() {
    SSL.bioClearByteBuffer(bio);
  }

  @Override
  int sunk() {
    return sinkSize - SSL.bioLengthByteBuffer(bio);
  }

  @Override
  int unread() {
    return SSL.bioLengthByteBuffer(bio);
  }

  @Override
  int pending() {
    return SSL.bioLengthNonApplication(bio);
  }

  @Override
  int flushToSink() {
    return SSL.bioFlushByteBuffer(bio);
  }

  @Override
  int handshake() {
    int code = SSL.doHandshake(ssl);
    return code > 0 ? DONE : status(code);
  }

  @Override
  int write(Memory from, int offset, int length) {
    int code = SSL.writeToSSL(ssl, from.address + offset, length);
    return code > 0 ? code : status(code);
  }

  @Override
  int read(Memory to) {
    int code = SSL.readFromSSL(ssl, to.address, to.size);
    return code > 0 ? code : status(code);
  }

  private int status(int code) {
    int error = SSL.getError(ssl, code);
    if (error == SSL.SSL_ERROR_WANT_READ) {
      return WANT_READ;
    }
    if (error == SSL.SSL_ERROR_WANT_WRITE) {
      return WANT_WRITE;
    }
    return error == SSL.SSL_ERROR_ZERO_RETURN ? CLOSED : FAILED;
  }

  @Override
  void shutdown() {
    SSL.shutdownSSL(ssl);
  }

  @Override
  boolean reused() {
    return SSL.isSessionReused(ssl);
  }

  @Override
  boolean tellsGroup() {
    return true;
  }

  @Override
  String group() {
    try {
      String heard = SSL.getGroupName(ssl);
      if (heard != null && !heard.equals(groupHeard)) {
        // OpenSSL calls P-256 secp256r1.
        group = NamedGroup.find(heard).map(NamedGroup::label).orElse(heard);
        groupHeard = heard;
      }
      return heard == null ? null : group;
      // The native call throws no other type.
    } catch (Exception e) {
      throw new IllegalStateException("the TLS stack does not say which group it uses", e);
    }
  }

  @Override
  String signatureScheme() {
    return context.openSsl() ? LibSsl.signatureScheme(ssl) : null;
  }

  @Override
  String protocol() {
    return SSL.getAlpnSelected(ssl);
  }

  @Override
  Exception failure(ServerTrust trust) {
    CertificateException refusal = trust.takeRefusal(ssl);
    int error = SSL.getLastErrorNumber();
    SSL.clearError();
    return refusal != null ? refusal : new SSLException(SSL.getErrorString(error));
  }
}

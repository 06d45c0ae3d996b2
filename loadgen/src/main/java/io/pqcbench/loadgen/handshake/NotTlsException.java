package io.pqcbench.loadgen.handshake;

import javax.net.ssl.SSLException;

/** The peer answered a ClientHello with something that is not a TLS record. */
final class NotTlsException extends SSLException {
  private static final long serialVersionUID = 1;

  NotTlsException(String firstBytes) {
    super("the peer does not speak TLS on this port, its answer begins with '" + firstBytes + "'");
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;

/**
 * What a server chose: the facts of its ServerHello, and of the HelloRetryRequest that may have
 * come before (RFC 8446 sections 4.1.3 and 4.1.4). Code points are IANA's, 0..0xFFFF.
 */
final class ServerHello extends Hello {
  /** SHA-256("HelloRetryRequest"), the random that makes a ServerHello one, RFC 8446 4.1.3. */
  private static final long RETRY_0 = 0xCF21AD74E59A6111L;

  private static final long RETRY_1 = 0xBE1D8C021E65B891L;
  private static final long RETRY_2 = 0xC2A211167ABB8C5EL;
  private static final long RETRY_3 = 0x079E09E2C8A8339CL;

  private boolean complete;
  private boolean readingRetry;
  private int retryRequests;
  private int retryGroup;
  private int cipherSuite;
  private int version;
  private int group;
  private int keyShareBytes;
  private boolean pskSelected;

  ServerHello() {
    clear();
  }

  /** How many HelloRetryRequests came: 0 or 1, since a second one is a protocol error. */
  int helloRetryRequests() {
    return retryRequests;
  }

  /** The NamedGroup that the HelloRetryRequest asked for, or -1. */
  int retryGroup() {
    return retryGroup;
  }

  /** The chosen cipher suite, such as 0x1302, or -1 before the ServerHello. */
  int cipherSuite() {
    return cipherSuite;
  }

  /**
   * The negotiated protocol version, such as 0x0304, or -1 before the ServerHello. It is that of
   * supported_versions if sent, because TLS 1.3 always says 0x0303 in legacy_version.
   */
  int version() {
    return version;
  }

  /** The NamedGroup of the server's key share, or -1 if it sent none, as in TLS 1.2. */
  int group() {
    return group;
  }

  /** The length of the server's key_exchange in bytes, 1..65535, or -1 if it sent none. */
  int keyShareBytes() {
    return keyShareBytes;
  }

  /**
   * Whether the server accepted a pre-shared key, that is resumed a TLS 1.3 session (RFC 8446
   * section 4.2.11). It says nothing about TLS 1.2, where resumption is an echoed session ID.
   */
  boolean pskSelected() {
    return pskSelected;
  }

  @Override
  int messageType() {
    return 2;
  }

  @Override
  int minBytes() {
    return VERSION_AND_RANDOM + 1 + 2 + 1;
  }

  @Override
  boolean complete() {
    return complete;
  }

  @Override
  boolean finished() {
    return complete;
  }

  @Override
  void clear() {
    complete = false;
    retryRequests = 0;
    retryGroup = UNKNOWN;
    clearChoice();
  }

  private void clearChoice() {
    cipherSuite = UNKNOWN;
    version = UNKNOWN;
    group = UNKNOWN;
    keyShareBytes = UNKNOWN;
    pskSelected = false;
  }

  @Override
  boolean read(ByteBuf buf, int at, int end) {
    readingRetry =
        buf.getLong(at + 2) == RETRY_0
            && buf.getLong(at + 10) == RETRY_1
            && buf.getLong(at + 18) == RETRY_2
            && buf.getLong(at + 26) == RETRY_3;
    // A client must abort on a second HelloRetryRequest, RFC 8446 section 4.1.4.
    boolean valid = !(readingRetry && retryRequests > 0) && readBody(buf, at, end);
    if (valid && readingRetry) {
      retryRequests++;
      retryGroup = group;
    }
    // The choices in a HelloRetryRequest are provisional, so only its group is kept.
    complete = valid && !readingRetry;
    if (!complete) {
      clearChoice();
    }
    return valid;
  }

  private boolean readBody(ByteBuf buf, int at, int end) {
    int pos = skipSessionId(buf, at + VERSION_AND_RANDOM);
    if (pos < 0 || end - pos < 3) {
      return false;
    }
    version = buf.getUnsignedShort(at);
    cipherSuite = buf.getUnsignedShort(pos);
    return readExtensions(buf, pos + 3, end);
  }

  @Override
  boolean extension(int type, ByteBuf buf, int at, int end) {
    return switch (type) {
      case SUPPORTED_VERSIONS -> {
        boolean valid = end - at == 2;
        version = valid ? buf.getUnsignedShort(at) : UNKNOWN;
        yield valid;
      }
      case KEY_SHARE -> readKeyShare(buf, at, end);
      case PRE_SHARED_KEY -> {
        pskSelected = true;
        yield end - at == 2;
      }
      default -> true;
    };
  }

  /** A whole KeyShareEntry, or in a HelloRetryRequest the group alone, RFC 8446 section 4.2.8. */
  private boolean readKeyShare(ByteBuf buf, int at, int end) {
    boolean valid = readingRetry ? end - at == 2 : end - at > 4 && isVector16(buf, at + 2, end);
    if (valid) {
      group = buf.getUnsignedShort(at);
      keyShareBytes = end - at - 4;
    }
    return valid;
  }
}

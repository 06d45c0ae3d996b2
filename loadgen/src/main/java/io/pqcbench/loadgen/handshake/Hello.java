package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;

/**
 * The facts of one side's hello, read in place from its message body. It holds no reference to the
 * bytes afterwards, allocates nothing while reading, and can be cleared and used again.
 *
 * <p>The bytes are untrusted: every read lies between two bounds that were compared first. A hello
 * that contradicts its own lengths leaves no facts behind.
 */
abstract sealed class Hello permits ClientHello, ServerHello {
  /** ExtensionType codes, RFC 8446 section 4.2. */
  static final int SERVER_NAME = 0;

  static final int SUPPORTED_GROUPS = 10;
  static final int SIGNATURE_ALGORITHMS = 13;
  static final int PRE_SHARED_KEY = 41;
  static final int SUPPORTED_VERSIONS = 43;
  static final int KEY_SHARE = 51;

  /** What an accessor answers while the fact is not known. */
  static final int UNKNOWN = -1;

  /** legacy_version (2) and random (32), with which both hellos begin, RFC 8446 section 4.1.2. */
  static final int VERSION_AND_RANDOM = 34;

  /** The longest legacy_session_id, RFC 8446 section 4.1.2. */
  private static final int MAX_SESSION_ID = 32;

  /** The HandshakeType of this hello, RFC 8446 section 4. */
  abstract int messageType();

  /** The shortest body that can be read, in bytes: every vector at its minimum, no extensions. */
  abstract int minBytes();

  /** Whether the hello whose facts are asked for has been read. */
  abstract boolean complete();

  /** Whether no further message of this side can add a fact. */
  abstract boolean finished();

  /** Forgets everything. */
  abstract void clear();

  /**
   * Takes the next complete hello of this side, {@code buf[at, end)} being its body, at least
   * {@link #minBytes()} long.
   *
   * @return false if it breaks its own lengths or may not come at this point
   */
  abstract boolean read(ByteBuf buf, int at, int end);

  /** One extension with its body in {@code buf[at, end)}; returns false if that is malformed. */
  abstract boolean extension(int type, ByteBuf buf, int at, int end);

  /**
   * The position behind legacy_session_id, which begins at {@code at}, or -1 if that is too long.
   * The position may lie behind the end of the message.
   */
  static int skipSessionId(ByteBuf buf, int at) {
    int length = buf.getUnsignedByte(at);
    return length > MAX_SESSION_ID ? -1 : at + 1 + length;
  }

  /**
   * Hands every extension of the list that must fill {@code buf[at, end)} to {@link #extension}.
   */
  final boolean readExtensions(ByteBuf buf, int at, int end) {
    if (at == end) {
      return true; // TLS 1.2 may leave the whole list out, RFC 5246 section 7.4.1.2.
    }
    if (!isVector16(buf, at, end)) {
      return false;
    }
    int pos = at + 2;
    while (end - pos >= 4) {
      int next = pos + 4 + buf.getUnsignedShort(pos + 2);
      if (next > end || !extension(buf.getUnsignedShort(pos), buf, pos + 4, next)) {
        return false;
      }
      pos = next;
    }
    return pos == end;
  }

  /** Whether {@code buf[at, end)} is exactly one vector with a two-byte length in front. */
  static boolean isVector16(ByteBuf buf, int at, int end) {
    return end - at >= 2 && buf.getUnsignedShort(at) == end - at - 2;
  }

  /** Untrusted bytes as text: printable ASCII stays, every other byte becomes {@code \xNN}. */
  static String printable(byte[] bytes, int length) {
    StringBuilder text = new StringBuilder(length);
    for (int i = 0; i < length; i++) {
      int b = bytes[i] & 0xff;
      if (b >= ' ' && b <= '~' && b != '\\') {
        text.append((char) b);
      } else {
        text.append("\\x").append(Character.forDigit(b >> 4, 16));
        text.append(Character.forDigit(b & 0xf, 16));
      }
    }
    return text.toString();
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;

/**
 * What a client offered: the facts of its first ClientHello (RFC 8446 section 4.1.2). GREASE values
 * (RFC 8701), which a client adds only to exercise servers, are not counted. Code points are
 * IANA's, 0..0xFFFF.
 */
non-sealed class ClientHello extends Hello {
  /** How many groups are kept; the rest is only counted. IANA lists about twenty in real use. */
  static final int MAX_GROUPS = 32;

  /** How many key shares are kept; the rest is only counted. Clients send one or two. */
  static final int MAX_KEY_SHARES = 8;

  /** How many bytes of the server name are kept: a DNS name has no more, RFC 1035 section 2.3.4. */
  static final int MAX_SERVER_NAME = 255;

  /** legacy_version in every ClientHello since TLS 1.2, RFC 8446 section 4.1.2. */
  private static final int TLS_12 = 0x0303;

  private final int[] groups = new int[MAX_GROUPS];
  private final int[] keyShareGroups = new int[MAX_KEY_SHARES];
  private final int[] keyShareLengths = new int[MAX_KEY_SHARES];
  private final byte[] serverName = new byte[MAX_SERVER_NAME];
  private int hellos;
  private int groupCount;
  private int keyShareCount;
  private int serverNameLength;
  private boolean pskOffered;

  ClientHello() {
    clear();
  }

  /** How many ClientHellos came: 0, 1, or 2 if the server asked for a retry. */
  int clientHellos() {
    return hellos;
  }

  /** How many groups supported_groups lists, which may be more than {@link #MAX_GROUPS}. */
  int offeredGroups() {
    return groupCount;
  }

  /**
   * The NamedGroup at place {@code i}, 0 being the most preferred, or -1 if none was kept there.
   */
  int offeredGroup(int i) {
    return at(groups, groupCount, i);
  }

  /** How many key shares were sent, which may be more than {@link #MAX_KEY_SHARES}. */
  int keyShares() {
    return keyShareCount;
  }

  /** The NamedGroup of key share {@code i}, in the order sent, or -1 if none was kept there. */
  int keyShareGroup(int i) {
    return at(keyShareGroups, keyShareCount, i);
  }

  /** The length of key_exchange {@code i} in bytes, 1..65535, or -1 if none was kept there. */
  int keyShareLength(int i) {
    return at(keyShareLengths, keyShareCount, i);
  }

  /** Whether the client offered a pre-shared key, that is to resume a TLS 1.3 session. */
  boolean pskOffered() {
    return pskOffered;
  }

  /** Whether the client named the host that it wants (SNI, RFC 6066 section 3). */
  boolean serverNameSent() {
    return serverNameLength != UNKNOWN;
  }

  /**
   * The host name sent, or null if none was. The text is made on every call. Bytes that are not
   * printable ASCII are escaped, and bytes beyond {@link #MAX_SERVER_NAME} are left out.
   */
  String serverName() {
    return serverNameSent() ? printable(serverName, serverNameLength) : null;
  }

  private static int at(int[] kept, int count, int i) {
    return i >= 0 && i < Math.min(count, kept.length) ? kept[i] : UNKNOWN;
  }

  @Override
  int messageType() {
    return 1;
  }

  @Override
  int minBytes() {
    // legacy_session_id, one cipher suite and one compression method, each with its length.
    return VERSION_AND_RANDOM + 1 + 4 + 2;
  }

  @Override
  boolean complete() {
    return hellos > 0;
  }

  @Override
  boolean finished() {
    return hellos == 2;
  }

  @Override
  void clear() {
    hellos = 0;
    clearOffer();
  }

  private void clearOffer() {
    groupCount = 0;
    keyShareCount = 0;
    serverNameLength = UNKNOWN;
    pskOffered = false;
  }

  @Override
  boolean read(ByteBuf buf, int at, int end) {
    // The second hello is only counted: it would hide what the client had offered by itself. Its
    // version is looked at because an encrypted TLS 1.2 Finished may begin like a hello.
    boolean valid = complete() ? buf.getUnsignedShort(at) == TLS_12 : readBody(buf, at, end);
    if (valid) {
      hellos++;
    } else if (!complete()) {
      clearOffer();
    }
    return valid;
  }

  private boolean readBody(ByteBuf buf, int at, int end) {
    int pos = skipSessionId(buf, at + VERSION_AND_RANDOM);
    if (pos < 0 || end - pos < 2) {
      return false;
    }
    int cipherSuites = buf.getUnsignedShort(pos);
    pos += 2 + cipherSuites;
    if (cipherSuites == 0 || (cipherSuites & 1) != 0 || pos >= end) {
      return false;
    }
    int compressionMethods = buf.getUnsignedByte(pos);
    cipherSuites(buf, pos - cipherSuites, pos);
    pos += 1 + compressionMethods;
    return compressionMethods > 0 && pos <= end && readExtensions(buf, pos, end);
  }

  /** For who wants to know them: code points of two bytes each, as they were sent. */
  void cipherSuites(ByteBuf buf, int at, int end) {}

  @Override
  boolean extension(int type, ByteBuf buf, int at, int end) {
    return switch (type) {
      case SERVER_NAME -> readServerName(buf, at, end);
      case SUPPORTED_GROUPS -> readGroups(buf, at, end);
      case KEY_SHARE -> readKeyShares(buf, at, end);
      case PRE_SHARED_KEY -> {
        pskOffered = true;
        yield true;
      }
      default -> true;
    };
  }

  /** ServerNameList, RFC 6066 section 3: one entry in practice, the only type being host_name. */
  private boolean readServerName(ByteBuf buf, int at, int end) {
    if (!isVector16(buf, at, end) || end - at < 5 || buf.getByte(at + 2) != 0) {
      return false;
    }
    int name = at + 5;
    int length = buf.getUnsignedShort(at + 3);
    if (length == 0 || length > end - name) {
      return false;
    }
    serverNameLength = Math.min(length, MAX_SERVER_NAME);
    for (int i = 0; i < serverNameLength; i++) {
      serverName[i] = buf.getByte(name + i); // getBytes may allocate, depending on the buffer.
    }
    return true;
  }

  /** NamedGroupList, RFC 8446 section 4.2.7. */
  private boolean readGroups(ByteBuf buf, int at, int end) {
    if (!isVector16(buf, at, end) || ((end - at) & 1) != 0) {
      return false;
    }
    groupCount = 0;
    for (int pos = at + 2; pos < end; pos += 2) {
      int group = buf.getUnsignedShort(pos);
      if (!isGrease(group)) {
        if (groupCount < MAX_GROUPS) {
          groups[groupCount] = group;
        }
        groupCount++;
      }
    }
    return true;
  }

  /** KeyShareClientHello, RFC 8446 section 4.2.8; empty if the client wants to be asked. */
  private boolean readKeyShares(ByteBuf buf, int at, int end) {
    if (!isVector16(buf, at, end)) {
      return false;
    }
    keyShareCount = 0;
    int pos = at + 2;
    while (end - pos > 4) {
      int group = buf.getUnsignedShort(pos);
      int length = buf.getUnsignedShort(pos + 2);
      pos += 4 + length;
      if (length == 0 || pos > end) {
        return false;
      }
      if (!isGrease(group)) {
        if (keyShareCount < MAX_KEY_SHARES) {
          keyShareGroups[keyShareCount] = group;
          keyShareLengths[keyShareCount] = length;
        }
        keyShareCount++;
      }
    }
    return pos == end;
  }

  /** 0x0A0A, 0x1A1A, ..., 0xFAFA, RFC 8701 section 2. */
  private static boolean isGrease(int value) {
    return (value & 0x0f0f) == 0x0a0a && value >> 8 == (value & 0xff);
  }
}

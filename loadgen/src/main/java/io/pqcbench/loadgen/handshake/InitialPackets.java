package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Reads both hellos out of the datagrams of a QUIC handshake. The QUIC stack tells neither which
 * group was negotiated nor that a HelloRetryRequest, a Retry or a version negotiation came. The
 * hellos are encrypted, but with keys that follow from a connection ID in the first packet's header
 * (RFC 9001, section 5.2), so whoever saw the datagrams can read them.
 *
 * <p>While the attempt runs, datagrams are only copied, each with its instant. They are decrypted
 * after its end, so that no time of it holds what this costs.
 *
 * <p>The bytes are untrusted: whatever they are, nothing is thrown, and what cannot be read counts
 * for nothing. Confined to the thread of its lane.
 */
final class InitialPackets {

  /** What is kept: more than a server's flight within its limit before the address is validated. */
  private static final int MAX_BYTES = 48 * 1024;

  private static final int MAX_DATAGRAMS = 64;

  /** RFC 9000, section 15. */
  private static final int VERSION_1 = 1;

  /** RFC 9000, section 17.2: the packet types of a long header. */
  private static final int INITIAL = 0;

  private static final int RETRY = 3;

  /** RFC 9000, section 17.2. */
  private static final int MAX_CONNECTION_ID = 20;

  /** RFC 9000, section 19: the frames that an Initial packet may hold and that are read. */
  private static final int PADDING = 0x00;

  private static final int PING = 0x01;
  private static final int ACK = 0x02;
  private static final int ACK_ECN = 0x03;
  private static final int CRYPTO = 0x06;

  private static final int TAG_BYTES = 16;
  private static final int SAMPLE_BYTES = 16;

  /** RFC 9001, section 5.2. */
  private static final byte[] SALT = {
    0x38,
    0x76,
    0x2c,
    (byte) 0xf7,
    (byte) 0xf5,
    0x59,
    0x34,
    (byte) 0xb3,
    0x4d,
    0x17,
    (byte) 0x9a,
    (byte) 0xe6,
    (byte) 0xa4,
    (byte) 0xc8,
    0x0c,
    (byte) 0xad,
    (byte) 0xcc,
    (byte) 0xbb,
    0x7f,
    0x0a
  };

  private final byte[] bytes = new byte[MAX_BYTES];
  private final int[] ends = new int[MAX_DATAGRAMS];
  private final long[] instants = new long[MAX_DATAGRAMS];
  private final boolean[] sentByUs = new boolean[MAX_DATAGRAMS];
  private int datagrams;

  private final Mac mac;
  private final Cipher headerCipher;
  private final Cipher packetCipher;
  private final Keys clientKeys = new Keys();
  private final Keys serverKeys = new Keys();
  private final Stream clientStream = new Stream();
  private final Stream serverStream = new Stream();

  private boolean keyed;
  private boolean keyedAgain;
  private boolean retry;
  private List<Integer> versions;
  private int clientHelloBytes;
  private long serverHelloNanos;

  InitialPackets() {
    try {
      mac = Mac.getInstance("HmacSHA256");
      headerCipher = Cipher.getInstance("AES/ECB/NoPadding");
      packetCipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JVM lacks what TLS 1.3 is made of", e);
    }
    reset();
  }

  /** The keys of one direction, RFC 9001, section 5.1. */
  private static final class Keys {
    private SecretKeySpec packet;
    private SecretKeySpec header;
    private byte[] iv;
  }

  /** One direction's stream of CRYPTO frames, which may come in any order and more than once. */
  private static final class Stream {
    private final byte[] data = new byte[2 * HelloScanner.MAX_MESSAGE];
    private final ByteBuf view = Unpooled.wrappedBuffer(data);
    private final BitSet known = new BitSet(data.length);
    private int parsed;
    private boolean broken;

    void clear() {
      known.clear();
      parsed = 0;
      broken = false;
    }

    void add(long offset, byte[] from, int at, int length) {
      if (offset + length <= data.length) {
        System.arraycopy(from, at, data, (int) offset, length);
        known.set((int) offset, (int) offset + length);
      }
    }

    /** Reads the messages that are complete; returns the length of the last one, 0 without any. */
    int readHellos(Hello hello) {
      int last = 0;
      int end = known.nextClearBit(0);
      while (!broken && !hello.finished() && end - parsed >= 4) {
        int length = view.getInt(parsed) & 0xffffff;
        if (data[parsed] != hello.messageType() || length < hello.minBytes()) {
          broken = true;
        } else if (end - parsed - 4 < length) {
          return last;
        } else {
          broken = !hello.read(view, parsed + 4, parsed + 4 + length);
          parsed += 4 + length;
          last = 4 + length;
        }
      }
      return last;
    }
  }

  /** Forgets everything, so that the next datagram is the first of another connection. */
  void reset() {
    datagrams = 0;
    clientStream.clear();
    serverStream.clear();
    keyed = false;
    keyedAgain = false;
    retry = false;
    versions = null;
    clientHelloBytes = Hello.UNKNOWN;
    serverHelloNanos = Attempt.UNSET;
  }

  /**
   * Keeps a copy of a datagram that begins with a long header; of others, and of those beyond what
   * a handshake has, none.
   *
   * @param ours whether it was sent by this client
   * @param nanos when it was sent or received
   */
  void keep(ByteBuf datagram, boolean ours, long nanos) {
    int length = datagram.readableBytes();
    int from = datagrams == 0 ? 0 : ends[datagrams - 1];
    if (length == 0
        || datagram.getByte(datagram.readerIndex()) >= 0
        || datagrams == MAX_DATAGRAMS
        || length > MAX_BYTES - from) {
      return;
    }
    datagram.getBytes(datagram.readerIndex(), bytes, from, length);
    ends[datagrams] = from + length;
    instants[datagrams] = nanos;
    sentByUs[datagrams++] = ours;
  }

  /** Reads what was kept; to be called once. */
  void read(ClientHello client, ServerHello server) {
    int from = 0;
    for (int i = 0; i < datagrams; i++) {
      readDatagram(from, ends[i], sentByUs[i]);
      from = ends[i];
      if (sentByUs[i]) {
        int length = clientStream.readHellos(client);
        clientHelloBytes = clientHelloBytes < 0 && length > 0 ? length : clientHelloBytes;
      } else if (!server.complete()) {
        serverStream.readHellos(server);
        serverHelloNanos = server.complete() ? instants[i] : Attempt.UNSET;
      }
    }
  }

  /** Whether the server asked for proof of the client's address: one more round trip. */
  boolean retry() {
    return retry;
  }

  /** The versions that the server speaks instead of ours; null if it did not say. */
  List<Integer> versions() {
    return versions;
  }

  /** The length of the first ClientHello with its header of 4 bytes, or -1. */
  int clientHelloBytes() {
    return clientHelloBytes;
  }

  /** When the last byte of the ServerHello came; {@link Attempt#UNSET} if it did not. */
  long serverHelloNanos() {
    return serverHelloNanos;
  }

  /** The packets of one datagram, RFC 9000, section 12.2. */
  private void readDatagram(int from, int end, boolean ours) {
    ByteBuf in = Unpooled.wrappedBuffer(bytes, from, end - from);
    while (in.isReadable() && in.getByte(in.readerIndex()) < 0) {
      if (!readPacket(in, from, ours)) {
        return;
      }
    }
  }

  /** Returns whether another packet may follow. */
  private boolean readPacket(ByteBuf in, int base, boolean ours) {
    int start = base + in.readerIndex();
    if (in.readableBytes() < 7) {
      return false;
    }
    int type = in.readByte() >> 4 & 3;
    int version = in.readInt();
    byte[] destination = readConnectionId(in);
    byte[] source = destination == null ? null : readConnectionId(in);
    if (source == null) {
      return false;
    }
    if (version == 0) {
      readVersions(in, ours);
      return false;
    }
    if (version != VERSION_1 || type == RETRY) {
      retry |= version == VERSION_1 && !ours;
      return false;
    }
    long token = type == INITIAL ? readVariable(in) : 0;
    if (token < 0 || token > in.readableBytes()) {
      return false;
    }
    in.skipBytes((int) token);
    long length = readVariable(in);
    if (length < 0 || length > in.readableBytes()) {
      return false;
    }
    int number = base + in.readerIndex();
    in.skipBytes((int) length);
    if (type == INITIAL) {
      if (ours) {
        takeKeys(destination, token > 0);
      }
      if (keyed && length >= 4 + SAMPLE_BYTES) {
        decrypt(start, number, number + (int) length, ours);
      }
    }
    return true;
  }

  private static byte[] readConnectionId(ByteBuf in) {
    int length = in.isReadable() ? in.readUnsignedByte() : Integer.MAX_VALUE;
    if (length > Math.min(in.readableBytes(), MAX_CONNECTION_ID)) {
      return null;
    }
    byte[] id = new byte[length];
    in.readBytes(id);
    return id;
  }

  /** RFC 9000, section 17.2.1. */
  private void readVersions(ByteBuf in, boolean ours) {
    if (!ours && versions == null) {
      versions = new ArrayList<>();
      while (in.readableBytes() >= 4) {
        versions.add(in.readInt());
      }
    }
  }

  /** RFC 9000, section 16; -1 if the bytes end before it does. */
  private static long readVariable(ByteBuf in) {
    if (!in.isReadable()) {
      return -1;
    }
    int more = (1 << (in.getByte(in.readerIndex()) >> 6 & 3)) - 1;
    if (in.readableBytes() <= more) {
      return -1;
    }
    long value = in.readByte() & 0x3f;
    for (int i = 0; i < more; i++) {
      value = value << 8 | in.readUnsignedByte();
    }
    return value;
  }

  /**
   * The keys follow from the destination of the client's first packet, and from that of the first
   * with a token, which answers a Retry (RFC 9001, section 5.2). What the client sends later goes
   * to an ID that the server chose, and changes no keys.
   */
  private void takeKeys(byte[] destination, boolean token) {
    if (keyed && (!token || keyedAgain)) {
      return;
    }
    keyedAgain = token;
    keyed = true;
    byte[] secret = hmac(SALT, destination);
    derive(clientKeys, expand(secret, "client in", 32));
    derive(serverKeys, expand(secret, "server in", 32));
  }

  private void derive(Keys keys, byte[] secret) {
    keys.packet = new SecretKeySpec(expand(secret, "quic key", 16), "AES");
    keys.header = new SecretKeySpec(expand(secret, "quic hp", 16), "AES");
    keys.iv = expand(secret, "quic iv", 12);
  }

  /** HKDF-Expand-Label of at most one block, RFC 8446, section 7.1, with an empty context. */
  private byte[] expand(byte[] secret, String label, int length) {
    byte[] name = ("tls13 " + label).getBytes(StandardCharsets.US_ASCII);
    byte[] info = new byte[2 + 1 + name.length + 1 + 1];
    info[1] = (byte) length;
    info[2] = (byte) name.length;
    System.arraycopy(name, 0, info, 3, name.length);
    info[info.length - 1] = 1;
    return Arrays.copyOf(hmac(secret, info), length);
  }

  private byte[] hmac(byte[] key, byte[] data) {
    try {
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("HMAC refuses a key of " + key.length + " bytes", e);
    }
    return mac.doFinal(data);
  }

  /** RFC 9001, sections 5.3 and 5.4, in place. */
  private void decrypt(int start, int number, int end, boolean ours) {
    Keys keys = ours ? clientKeys : serverKeys;
    try {
      headerCipher.init(Cipher.ENCRYPT_MODE, keys.header);
      byte[] mask = headerCipher.doFinal(bytes, number + 4, SAMPLE_BYTES);
      bytes[start] ^= (byte) (mask[0] & 0x0f);
      int length = (bytes[start] & 3) + 1;
      byte[] nonce = keys.iv.clone();
      for (int i = 0; i < length; i++) {
        bytes[number + i] ^= mask[1 + i];
        nonce[nonce.length - length + i] ^= bytes[number + i];
      }
      packetCipher.init(
          Cipher.DECRYPT_MODE, keys.packet, new GCMParameterSpec(8 * TAG_BYTES, nonce));
      packetCipher.updateAAD(bytes, start, number + length - start);
      byte[] payload = packetCipher.doFinal(bytes, number + length, end - number - length);
      readFrames(payload, ours ? clientStream : serverStream);
    } catch (AEADBadTagException e) {
      // Not for this connection, or damaged: an endpoint drops it as well.
      return;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES refuses a packet of " + (end - start) + " bytes", e);
    }
  }

  private static void readFrames(byte[] payload, Stream stream) {
    ByteBuf in = Unpooled.wrappedBuffer(payload);
    while (in.isReadable()) {
      int type = in.readByte();
      if (type == CRYPTO) {
        long offset = readVariable(in);
        long length = readVariable(in);
        if (offset < 0 || length < 0 || length > in.readableBytes()) {
          return;
        }
        stream.add(offset, payload, in.readerIndex(), (int) length);
        in.skipBytes((int) length);
      } else if (type == ACK || type == ACK_ECN) {
        if (!skipAck(in, type == ACK_ECN)) {
          return;
        }
      } else if (type != PADDING && type != PING) {
        return;
      }
    }
  }

  /** RFC 9000, section 19.3. */
  private static boolean skipAck(ByteBuf in, boolean ecn) {
    readVariable(in);
    readVariable(in);
    long ranges = readVariable(in);
    long left = 1 + 2 * ranges + (ecn ? 3 : 0);
    while (left > 0 && readVariable(in) >= 0) {
      left--;
    }
    return ranges >= 0 && left == 0;
  }
}

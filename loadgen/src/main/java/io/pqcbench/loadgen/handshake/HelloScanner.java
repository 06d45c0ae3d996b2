package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Reads the few plaintext facts of a TLS handshake from one direction of one TCP connection while
 * the bytes pass by. It exists because the TLS engine tells neither that a HelloRetryRequest came
 * nor which key shares were really sent.
 *
 * <p>It sits in front of a latency measurement, so a hello that lies in one buffer, as it nearly
 * always does, is read in place with absolute getters and without allocation, and from then on
 * {@link #scan} returns at its first branch. Only a body that is split is gathered, in one array of
 * its own length, at most {@link #MAX_MESSAGE}, which is dropped once read.
 *
 * <p>The bytes are untrusted. Whatever they are, scanning never throws, looks at no more than
 * {@link #MAX_SCANNED} bytes, and gives the same answers however the stream was cut into buffers.
 * It is a witness and no judge: what it does not need, it does not check.
 *
 * <p>Not thread-safe; confined to the event loop of its connection.
 *
 * @param <H> the hello of the side that is watched
 */
final class HelloScanner<H extends Hello> {
  /** The longest plaintext of a record, 2^14 bytes, RFC 8446 section 5.1. */
  private static final int MAX_RECORD = 1 << 14;

  /**
   * The longest hello body that is read, in bytes. The format allows 2^24 - 1, but the shares of
   * all three groups of draft-ietf-tls-ecdhe-mlkem together are 4,130, and a BoringSSL server takes
   * no more than 16 KiB either (ssl_max_handshake_message_len).
   */
  static final int MAX_MESSAGE = 1 << 14;

  /** How far into the stream is looked, in bytes: room for two of the longest hellos and more. */
  static final int MAX_SCANNED = 1 << 16;

  /** How many bytes of something other than TLS are kept: "HTTP/1.1 400 Bad" says enough. */
  static final int MAX_FIRST_BYTES = 16;

  /** ContentType codes, RFC 8446 section 5.1. */
  private static final int CHANGE_CIPHER_SPEC = 20;

  private static final int ALERT = 21;
  private static final int HANDSHAKE = 22;
  private static final int APPLICATION_DATA = 23;

  /** Type (1), legacy_record_version (2), length (2), RFC 8446 section 5.1. */
  private static final int RECORD_HEADER = 5;

  /** Type (1), length (3), RFC 8446 section 4. */
  private static final int MESSAGE_HEADER = 4;

  /** An alert is its level and its description, a byte each, RFC 8446 section 6. */
  private static final int ALERT_BYTES = 2;

  private final H hello;

  private boolean settled;
  private boolean notTls;
  private boolean malformed;
  private int scanned;
  private byte[] firstBytes; // null unless notTls
  private int firstByteCount;

  private int records;
  private int recordHeaderBytes; // RECORD_HEADER while inside a record's payload
  private int recordType;
  private int recordLength;
  private int recordLeft;

  private int messageHeaderBytes;
  private int messageHeader;
  private int messageRecordBytes;
  private ByteBuf body; // null unless a body is split; on the heap and unpooled: not released
  private int bodyBytes;

  private int helloBytes;
  private int recordBytes;
  private int nextAlert;
  private int alert; // level * 256 + description, or -1

  private HelloScanner(H hello) {
    this.hello = hello;
    reset();
  }

  /** A scanner of the bytes that a server sends. */
  static HelloScanner<ServerHello> ofServer() {
    return new HelloScanner<>(new ServerHello());
  }

  /** A scanner of the bytes that a client sends. */
  static HelloScanner<ClientHello> ofClient() {
    return ofClient(new ClientHello());
  }

  /** The same, into this. */
  static HelloScanner<ClientHello> ofClient(ClientHello hello) {
    return new HelloScanner<>(hello);
  }

  /** Forgets everything, so that the next buffer is the beginning of another connection. */
  void reset() {
    hello.clear();
    settled = false;
    notTls = false;
    malformed = false;
    scanned = 0;
    firstBytes = null;
    firstByteCount = 0;
    records = 0;
    recordHeaderBytes = 0;
    messageHeaderBytes = 0;
    body = null;
    helloBytes = Hello.UNKNOWN;
    recordBytes = Hello.UNKNOWN;
    alert = Hello.UNKNOWN;
  }

  /** The facts, never null; those of the hello itself hold once {@link #helloComplete()}. */
  H hello() {
    return hello;
  }

  /** Whether the final ServerHello, or the first ClientHello, has been read completely. */
  boolean helloComplete() {
    return hello.complete();
  }

  /** Whether nothing more can be learnt from this direction, so that scanning costs nothing. */
  boolean settled() {
    return settled;
  }

  /** Whether the stream does not begin like a TLS record: content type 20..23, major version 3. */
  boolean notTls() {
    return notTls;
  }

  /**
   * The beginning of a stream that is {@link #notTls()}, at most 16 bytes, with all but printable
   * ASCII escaped; otherwise empty. The text is made on every call.
   */
  String firstBytes() {
    return notTls ? Hello.printable(firstBytes, firstByteCount) : "";
  }

  /**
   * Whether scanning gave up before the hello was complete: a record or hello that breaks its own
   * lengths or is oversized, a message or application data in place of the hello, a second
   * HelloRetryRequest, or no hello within {@link #MAX_SCANNED} bytes.
   */
  boolean malformed() {
    return malformed;
  }

  /** The AlertLevel byte of the last plaintext alert, 1 warning or 2 fatal, or -1 if none came. */
  int alertLevel() {
    return alert >> 8;
  }

  /** The AlertDescription byte of the last plaintext alert, such as 40, or -1 if none came. */
  int alertDescription() {
    return alert < 0 ? Hello.UNKNOWN : alert & 0xff;
  }

  /** The length of the hello's body in bytes, without the 4-byte header, or -1 before it. */
  int helloBytes() {
    return helloBytes;
  }

  /**
   * The length on the wire, with the 5-byte header, of the record in which the hello begins, or -1
   * before it. In TLS 1.2 the record may hold further messages.
   */
  int recordBytes() {
    return recordBytes;
  }

  /**
   * Looks at the readable bytes of {@code buf}, which follow those of the call before. Neither its
   * indices nor its reference count change, and no reference to it is kept.
   */
  void scan(ByteBuf buf) {
    if (settled) {
      return;
    }
    int length = Math.min(buf.readableBytes(), MAX_SCANNED - scanned);
    scanned += length;
    int pos = buf.readerIndex();
    int end = pos + length;
    while (pos < end && !settled) {
      if (notTls) {
        keepFirstByte(buf.getByte(pos++));
      } else if (recordHeaderBytes < RECORD_HEADER) {
        readRecordHeader(buf.getUnsignedByte(pos++));
      } else {
        int chunk = Math.min(recordLeft, end - pos);
        readPayload(buf, pos, pos + chunk);
        pos += chunk;
        recordLeft -= chunk;
        if (recordLeft == 0) {
          recordHeaderBytes = 0;
        }
      }
    }
    if (scanned == MAX_SCANNED && !settled) {
      giveUp();
    }
  }

  /** Byte by byte, since a header may be cut anywhere, and five bytes need no fast path. */
  private void readRecordHeader(int b) {
    switch (recordHeaderBytes++) {
      case 0 -> {
        recordType = b;
        rejectUnless(b >= CHANGE_CIPHER_SPEC && b <= APPLICATION_DATA, b);
      }
      case 1 -> rejectUnless(b == 3, b);
      case 3 -> recordLength = b << 8;
      case 4 -> {
        recordLength |= b;
        openRecord();
      }
      default -> {} // The minor version is to be ignored, RFC 8446 section 5.1.
    }
  }

  private void rejectUnless(boolean plausible, int b) {
    if (!plausible && records > 0) {
      giveUp();
    } else if (!plausible) {
      notTls = true;
      firstBytes = new byte[MAX_FIRST_BYTES];
      if (recordHeaderBytes == 2) {
        keepFirstByte((byte) recordType);
      }
      keepFirstByte((byte) b);
    }
  }

  private void keepFirstByte(byte b) {
    firstBytes[firstByteCount++] = b;
    settled = firstByteCount == MAX_FIRST_BYTES;
  }

  private void openRecord() {
    // Application data is always encrypted, so no plaintext follows it.
    if (recordType == APPLICATION_DATA || recordLength > MAX_RECORD) {
      giveUp();
    }
    records++;
    recordLeft = recordLength;
    if (recordLength == 0) {
      recordHeaderBytes = 0;
    }
  }

  private void readPayload(ByteBuf buf, int at, int end) {
    if (recordType == HANDSHAKE) {
      readMessages(buf, at, end);
    } else if (recordType == ALERT && recordLength == ALERT_BYTES) {
      // An alert of another length is an encrypted one of TLS 1.2.
      for (int pos = at; pos < end; pos++) {
        nextAlert = (nextAlert << 8 | buf.getUnsignedByte(pos)) & 0xffff;
      }
      alert = recordLeft == end - at ? nextAlert : alert;
    }
  }

  private void readMessages(ByteBuf buf, int at, int end) {
    int pos = at;
    while (pos < end && !settled) {
      int length = messageHeader & 0xffffff;
      if (messageHeaderBytes < MESSAGE_HEADER) {
        readMessageHeader(buf.getUnsignedByte(pos++));
      } else if (body == null && end - pos >= length) {
        readHello(buf, pos, length);
        pos += length;
      } else {
        int chunk = Math.min(length - bodyBytes, end - pos);
        gather(buf, pos, chunk, length);
        pos += chunk;
      }
    }
  }

  private void gather(ByteBuf buf, int at, int chunk, int length) {
    if (body == null) {
      body = Unpooled.wrappedBuffer(new byte[length]);
    }
    buf.getBytes(at, body.array(), bodyBytes, chunk);
    bodyBytes += chunk;
    if (bodyBytes == length) {
      readHello(body, 0, length);
      body = null;
    }
  }

  private void readMessageHeader(int b) {
    if (messageHeaderBytes == 0) {
      messageHeader = 0;
      bodyBytes = 0;
      messageRecordBytes = RECORD_HEADER + recordLength;
    }
    messageHeader = messageHeader << 8 | b;
    messageHeaderBytes++;
    if (messageHeaderBytes == 1 && b != hello.messageType()) {
      // Each side's first message is its hello, and only another hello can follow in plaintext
      // that matters here. After TLS 1.2's change_cipher_spec this may even be ciphertext.
      giveUp();
    } else if (messageHeaderBytes == MESSAGE_HEADER) {
      int length = messageHeader & 0xffffff;
      if (length < hello.minBytes() || length > MAX_MESSAGE) {
        giveUp();
      }
    }
  }

  private void readHello(ByteBuf buf, int at, int length) {
    messageHeaderBytes = 0;
    boolean first = !hello.complete();
    if (!hello.read(buf, at, at + length)) {
      giveUp();
      return;
    }
    if (first && hello.complete()) {
      helloBytes = length;
      recordBytes = messageRecordBytes;
    }
    settled = hello.finished();
  }

  /** Stops for good. It is the peer's fault unless the facts are there already. */
  private void giveUp() {
    settled = true;
    malformed = !hello.complete();
    body = null;
  }
}

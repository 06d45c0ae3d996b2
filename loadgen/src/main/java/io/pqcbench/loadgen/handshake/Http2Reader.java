package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;

/**
 * Reads what a server sends over one connection of HTTP/2 (RFC 9113) on which one request is under
 * way at a time, and writes the frames that the server has to be answered with: acknowledgements of
 * its settings and pings, and more window for long bodies. Total on every input, however it is cut.
 *
 * <p>Frames are read here, because Netty's reader wants each of them whole and in one piece; header
 * blocks are decoded by Netty (RFC 7541).
 */
final class Http2Reader implements HttpReader {

  /** A header block, and what it decodes to; as much as browsers take at least. */
  static final int MAX_HEAD_BYTES = 65_536;

  /** The longest payload that a client takes unless it says otherwise (RFC 9113, section 4.2). */
  static final int MAX_FRAME_BYTES = 16_384;

  /**
   * How much a server may send before it is given more, on a stream and on the connection: so much
   * that a body does not wait for the client's permission, as it does not in HTTP/1.1.
   */
  static final int WINDOW_BYTES = 1 << 24;

  /** What all frames begin with. */
  static final int FRAME_HEAD_BYTES = 9;

  private static final int FIRST_BLOCK_BYTES = 512;
  private static final int SETTING_BYTES = 6;
  private static final int PRIORITY_BYTES = 5;
  private static final int NO_LENGTH = -1;
  private static final int NOT_READ = -1;

  private final boolean keepSoftware;
  private final ByteBuf answers;
  private String software;

  private final byte[] head = new byte[FRAME_HEAD_BYTES];
  private int headBytes;
  private int type;
  private int flags;
  private int frameStream;
  private int frameBytes;

  /** Of the frame's payload. */
  private int left;

  private int padding;
  private int priorityLeft;

  /** A number or two of a frame of the connection. */
  private long piece;

  private int pieceBytes;

  private final ByteBuf block = Unpooled.buffer(FIRST_BLOCK_BYTES);
  private boolean inBlock;
  private boolean blockEndsStream;

  /** Has a table of its own for each connection; made when the first headers come. */
  private DefaultHttp2HeadersDecoder decoder;

  private boolean settled;
  private boolean goneAway;
  private boolean refused;
  private String failure;

  /** The request under way, or the last one; 0 before the first. */
  private int stream;

  private boolean begun;
  private boolean headed;
  private boolean complete;
  private int status;
  private long length;
  private long bodyBytes;
  private int takenOfStream;
  private int takenOfConnection;

  /**
   * @param keepSoftware whether to keep what the server says it is
   * @param answers gets the frames that must be sent to the server; they are kept there only until
   *     what was read at once has been looked at
   */
  Http2Reader(boolean keepSoftware, ByteBuf answers) {
    this.keepSoftware = keepSoftware;
    this.answers = answers;
    open();
  }

  @Override
  public void open() {
    headBytes = 0;
    block.clear();
    inBlock = false;
    decoder = null;
    settled = false;
    goneAway = false;
    refused = false;
    failure = null;
    stream = 0;
    takenOfConnection = 0;
    beginStream();
  }

  @Override
  public void reset() {
    stream = stream == 0 ? 1 : stream + 2;
    beginStream();
  }

  private void beginStream() {
    begun = false;
    headed = false;
    complete = false;
    status = Attempt.NONE;
    length = NO_LENGTH;
    bodyBytes = 0;
    takenOfStream = 0;
  }

  /** Returns the number of the stream that the response comes on; 0 before the first request. */
  int stream() {
    return stream;
  }

  /** Returns whether the server's settings have been read, with which its side begins. */
  boolean settled() {
    return settled;
  }

  /**
   * Returns whether the server has said that it did not process the request, so that it may be sent
   * again (RFC 9113, section 8.7); {@link #failure} says how.
   */
  boolean refused() {
    return refused;
  }

  /** Returns whether a frame of the response has begun. */
  boolean begun() {
    return begun;
  }

  @Override
  public int status() {
    return status;
  }

  @Override
  public long bodyBytes() {
    return bodyBytes;
  }

  @Override
  public boolean complete() {
    return complete;
  }

  @Override
  public boolean persistent() {
    return failure == null && !goneAway && stream < Integer.MAX_VALUE - 2;
  }

  /** A response ends with its stream, never with the connection. */
  @Override
  public boolean endOfInput() {
    return complete;
  }

  @Override
  public String failure() {
    return failure;
  }

  @Override
  public String software() {
    return software;
  }

  /** Adds the frame with which a client leaves (RFC 9113, section 6.8) to the answers. */
  void sayGoodbye() {
    answer(8, Http2FrameTypes.GO_AWAY, 0, 0);
    if (failure == null) {
      answers.writeInt(0).writeInt((int) Http2Error.NO_ERROR.code());
    }
  }

  @Override
  public void read(ByteBuf bytes) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end && failure == null) {
      if (headBytes < FRAME_HEAD_BYTES) {
        head[headBytes++] = bytes.getByte(at++);
        if (headBytes == FRAME_HEAD_BYTES) {
          beginFrame();
        }
      } else {
        at += readPayload(bytes, at, Math.min(left, end - at));
      }
      if (headBytes == FRAME_HEAD_BYTES && left == 0 && failure == null) {
        headBytes = 0;
        endFrame();
      }
    }
  }

  private void beginFrame() {
    frameBytes = ((head[0] & 0xFF) << 16) | ((head[1] & 0xFF) << 8) | (head[2] & 0xFF);
    type = head[3] & 0xFF;
    flags = head[4] & 0xFF;
    // The first bit means nothing.
    frameStream =
        ((head[5] & 0x7F) << 24)
            | ((head[6] & 0xFF) << 16)
            | ((head[7] & 0xFF) << 8)
            | (head[8] & 0xFF);
    left = frameBytes;
    boolean content = type == Http2FrameTypes.DATA || type == Http2FrameTypes.HEADERS;
    padding = content && is(Http2Flags.PADDED) ? NOT_READ : 0;
    priorityLeft = type == Http2FrameTypes.HEADERS && is(Http2Flags.PRIORITY) ? PRIORITY_BYTES : 0;
    piece = 0;
    pieceBytes = 0;
    if (frameBytes > MAX_FRAME_BYTES) {
      fail("a frame is longer than " + MAX_FRAME_BYTES + " bytes" + whichFrame());
    } else if (!settled && (type != Http2FrameTypes.SETTINGS || is(Http2Flags.ACK))) {
      fail("its first frame is not SETTINGS" + whichFrame());
    } else if (inBlock != (type == Http2FrameTypes.CONTINUATION)
        || (inBlock && frameStream != stream)) {
      fail("headers are not in one piece" + whichFrame());
    } else if (!mayCome()) {
      fail("a frame that may not come" + whichFrame());
    } else if (type == Http2FrameTypes.HEADERS) {
      begun = true;
      blockEndsStream = is(Http2Flags.END_STREAM);
    }
  }

  private boolean is(int flag) {
    return (flags & flag) != 0;
  }

  /** Whether a frame of this length may come now, and on its stream: RFC 9113, section 6. */
  private boolean mayCome() {
    boolean ofConnection = frameStream == 0;
    boolean answers = stream > 0 && frameStream == stream && !complete;
    return switch (type) {
      case Http2FrameTypes.DATA -> answers && headed;
      case Http2FrameTypes.HEADERS -> answers;
      case Http2FrameTypes.CONTINUATION -> true;
      case Http2FrameTypes.PRIORITY -> !ofConnection && frameBytes == PRIORITY_BYTES;
      case Http2FrameTypes.RST_STREAM ->
          frameStream % 2 == 1 && frameStream <= stream && frameBytes == 4;
      case Http2FrameTypes.SETTINGS ->
          ofConnection && (is(Http2Flags.ACK) ? frameBytes == 0 : frameBytes % SETTING_BYTES == 0);
      // We said that none is wanted.
      case Http2FrameTypes.PUSH_PROMISE -> false;
      case Http2FrameTypes.PING -> ofConnection && frameBytes == 8;
      case Http2FrameTypes.GO_AWAY -> ofConnection && frameBytes >= 8;
      case Http2FrameTypes.WINDOW_UPDATE ->
          (ofConnection || (frameStream % 2 == 1 && frameStream <= stream)) && frameBytes == 4;
      // Of an extension; to be ignored.
      default -> true;
    };
  }

  /** Returns how many bytes it has looked at, at least 1 and at most {@code some}. */
  private int readPayload(ByteBuf bytes, int at, int some) {
    int read =
        switch (type) {
          case Http2FrameTypes.DATA, Http2FrameTypes.HEADERS, Http2FrameTypes.CONTINUATION ->
              readContent(bytes, at, some);
          case Http2FrameTypes.RST_STREAM,
              Http2FrameTypes.SETTINGS,
              Http2FrameTypes.PING,
              Http2FrameTypes.GO_AWAY,
              Http2FrameTypes.WINDOW_UPDATE -> {
            readPiece(bytes.getUnsignedByte(at));
            yield 1;
          }
          default -> some;
        };
    left -= read;
    return read;
  }

  private int readContent(ByteBuf bytes, int at, int some) {
    if (padding == NOT_READ) {
      padding = bytes.getUnsignedByte(at);
      if (padding > left - 1 - priorityLeft) {
        fail("more padding than frame: padding=" + padding + whichFrame());
      }
      return 1;
    }
    if (priorityLeft > 0) {
      priorityLeft--;
      return 1;
    }
    int content = Math.min(some, left - padding);
    if (content <= 0) {
      return some;
    }
    if (type == Http2FrameTypes.DATA) {
      bodyBytes += content;
    } else if (block.readableBytes() + content > MAX_HEAD_BYTES) {
      fail("its head is longer than " + MAX_HEAD_BYTES + " bytes");
    } else {
      block.writeBytes(bytes, at, content);
    }
    return content;
  }

  private void readPiece(int octet) {
    // Of GOAWAY, what a person may read follows.
    if (pieceBytes < 8) {
      piece = piece << 8 | octet;
      pieceBytes++;
    }
    if (type == Http2FrameTypes.SETTINGS && pieceBytes == SETTING_BYTES) {
      readSetting((int) (piece >>> 32), piece & 0xFFFF_FFFFL);
      piece = 0;
      pieceBytes = 0;
    }
  }

  /**
   * Checks a setting; none changes anything for a client that sends one short request at a time
   * (RFC 9113, section 6.5.2).
   */
  private void readSetting(int identifier, long value) {
    boolean allowed =
        switch (identifier) {
          // SETTINGS_ENABLE_PUSH, INITIAL_WINDOW_SIZE and MAX_FRAME_SIZE.
          case 2 -> value == 0;
          case 4 -> value <= Integer.MAX_VALUE;
          case 5 -> value >= MAX_FRAME_BYTES && value < 1 << 24;
          default -> true;
        };
    if (!allowed) {
      fail("a setting that a server may not have: identifier=" + identifier + " value=" + value);
    }
  }

  private void endFrame() {
    if (padding == NOT_READ || priorityLeft > 0) {
      fail("a frame is too short for its flags" + whichFrame());
      return;
    }
    switch (type) {
      case Http2FrameTypes.DATA -> {
        if (is(Http2Flags.END_STREAM)) {
          endStream();
        }
        giveWindow();
      }
      case Http2FrameTypes.HEADERS, Http2FrameTypes.CONTINUATION -> {
        inBlock = !is(Http2Flags.END_HEADERS);
        if (!inBlock) {
          readHeaders();
        }
      }
      case Http2FrameTypes.RST_STREAM -> {
        if (frameStream == stream && !complete) {
          refused = piece == Http2Error.REFUSED_STREAM.code();
          fail("the server has given up the stream: RST_STREAM with " + errorName(piece));
        }
      }
      case Http2FrameTypes.SETTINGS -> {
        if (!is(Http2Flags.ACK)) {
          settled = true;
          answer(0, Http2FrameTypes.SETTINGS, Http2Flags.ACK, 0);
        }
      }
      case Http2FrameTypes.PING -> {
        if (!is(Http2Flags.ACK)) {
          answer(8, Http2FrameTypes.PING, Http2Flags.ACK, 0);
          if (failure == null) {
            answers.writeLong(piece);
          }
        }
      }
      case Http2FrameTypes.GO_AWAY -> goAway((int) (piece >>> 32) & Integer.MAX_VALUE);
      case Http2FrameTypes.WINDOW_UPDATE -> {
        if ((piece & Integer.MAX_VALUE) == 0) {
          fail("a window grows by nothing" + whichFrame());
        }
      }
      default -> {
        // Nothing to do.
      }
    }
  }

  private void goAway(int lastStream) {
    goneAway = true;
    long code = piece & 0xFFFF_FFFFL;
    if (complete) {
      return;
    }
    refused = stream == 0 || stream > lastStream;
    if (refused || code != Http2Error.NO_ERROR.code()) {
      fail("the server leaves: GOAWAY with " + errorName(code));
    }
  }

  private static String errorName(long code) {
    Http2Error error = Http2Error.valueOf(code);
    return error == null ? "error 0x" + Long.toHexString(code) : error.name();
  }

  private void readHeaders() {
    Http2Headers headers;
    try {
      if (decoder == null) {
        decoder = new DefaultHttp2HeadersDecoder(/* validateHeaders= */ true, MAX_HEAD_BYTES);
      }
      headers = decoder.decodeHeaders(stream, block);
    } catch (Http2Exception e) {
      fail("headers that cannot be read: " + e.getMessage());
      return;
    } finally {
      block.clear();
    }
    if (headed) {
      if (!blockEndsStream || headers.status() != null) {
        fail("more headers where only a trailer may be");
      } else {
        endStream();
      }
      return;
    }
    status = statusOf(headers.status());
    if (status == Attempt.NONE) {
      fail("not a status: '" + printable(headers.status()) + "'");
      return;
    }
    if (status >= 200) {
      headed = true;
      readLength(headers.get(HttpHeaderNames.CONTENT_LENGTH));
      if (keepSoftware) {
        CharSequence server = headers.get(HttpHeaderNames.SERVER);
        software = server == null ? null : printable(server);
      }
    }
    if (blockEndsStream && failure == null) {
      endStream();
    }
  }

  private static int statusOf(CharSequence text) {
    if (text == null || text.length() != 3) {
      return Attempt.NONE;
    }
    int status = 0;
    for (int i = 0; i < 3; i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return Attempt.NONE;
      }
      status = 10 * status + c - '0';
    }
    return status < 100 ? Attempt.NONE : status;
  }

  private void readLength(CharSequence text) {
    if (text == null) {
      return;
    }
    long value = text.length() > 0 && text.length() <= 18 ? 0 : NO_LENGTH;
    for (int i = 0; i < text.length() && value != NO_LENGTH; i++) {
      char c = text.charAt(i);
      value = c >= '0' && c <= '9' ? 10 * value + c - '0' : NO_LENGTH;
    }
    if (value == NO_LENGTH) {
      fail("not a length: '" + printable(text) + "'");
    } else {
      length = value;
    }
  }

  private void endStream() {
    // A response without a body may say how long it would be (RFC 9113, section 8.1.1).
    boolean bodiless = bodyBytes == 0 && (status == 204 || status == 304);
    if (!headed) {
      fail("the stream ends without a response: status=" + status);
    } else if (length != NO_LENGTH && length != bodyBytes && !bodiless) {
      fail("not as long as it says: content-length=" + length + " bodyBytes=" + bodyBytes);
    } else {
      complete = true;
    }
  }

  /** Gives the window back in halves, so that few frames are sent and the server never waits. */
  private void giveWindow() {
    takenOfConnection += frameBytes;
    takenOfStream += frameBytes;
    if (takenOfConnection >= WINDOW_BYTES / 2) {
      giveWindow(0, takenOfConnection);
      takenOfConnection = 0;
    }
    if (takenOfStream >= WINDOW_BYTES / 2 && !complete) {
      giveWindow(stream, takenOfStream);
      takenOfStream = 0;
    }
  }

  private void giveWindow(int ofStream, int bytes) {
    answer(4, Http2FrameTypes.WINDOW_UPDATE, 0, ofStream);
    if (failure == null) {
      answers.writeInt(bytes);
    }
  }

  /** Writes the head of a frame whose payload follows. */
  private void answer(int payload, int ofType, int withFlags, int ofStream) {
    if (answers.writableBytes() < FRAME_HEAD_BYTES + payload) {
      fail("more pings and settings at once than are answered: bytes=" + answers.readableBytes());
      return;
    }
    answers.writeMedium(payload).writeByte(ofType).writeByte(withFlags).writeInt(ofStream);
  }

  private String whichFrame() {
    return ": type="
        + type
        + " flags="
        + flags
        + " length="
        + frameBytes
        + " stream="
        + frameStream;
  }

  private void fail(String what) {
    failure = what;
  }

  private static String printable(CharSequence text) {
    return String.valueOf(text)
        .substring(0, Math.min(String.valueOf(text).length(), 60))
        .replaceAll("[^ -~]", "?");
  }
}

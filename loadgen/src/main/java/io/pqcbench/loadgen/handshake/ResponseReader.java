package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads one HTTP/1.1 response to a GET (RFC 9112) as far as a load generator wants to know it: its
 * status, the length of its body, and where it ends. Total on every input, however it is cut.
 *
 * <p>Netty's decoder makes objects of the headers and the body, some 3 KB a response; this one
 * keeps a line at a time and allocates nothing once its line buffer has grown. A test compares the
 * two on generated responses.
 */
final class ResponseReader implements HttpReader {

  /** Status line and headers together; as much as browsers take at least. */
  static final int MAX_HEAD_BYTES = 65_536;

  private static final int FIRST_LINE_BYTES = 256;
  private static final byte[] VERSION = ascii("HTTP/1.");
  private static final byte[] CONTENT_LENGTH = ascii("content-length");
  private static final byte[] TRANSFER_ENCODING = ascii("transfer-encoding");
  private static final byte[] CHUNKED = ascii("chunked");
  private static final byte[] SERVER = ascii("server");
  private static final byte[] CONNECTION = ascii("connection");
  private static final byte[] CLOSE = ascii("close");
  private static final int NO_LENGTH = -1;

  private enum State {
    STATUS_LINE,
    HEADER,
    BODY,
    BODY_UNTIL_CLOSE,
    CHUNK_SIZE,
    CHUNK,
    CHUNK_END,
    TRAILER,
    COMPLETE,
    FAILED
  }

  private final boolean keepSoftware;
  private String software;

  private State state = State.STATUS_LINE;
  private byte[] line = new byte[FIRST_LINE_BYTES];
  private int lineBytes;
  private int headBytes;
  private int status = Attempt.NONE;
  private long length = NO_LENGTH;
  private boolean chunked;
  private boolean encoded;
  private boolean persistent;
  private long left;
  private long bodyBytes;
  private String failure;

  /**
   * @param keepSoftware whether to keep what the server says it is; in a run it is the same every
   *     time
   */
  ResponseReader(boolean keepSoftware) {
    this.keepSoftware = keepSoftware;
  }

  @Override
  public void open() {
    reset();
  }

  /** Forgets everything, for the next response. */
  @Override
  public void reset() {
    state = State.STATUS_LINE;
    lineBytes = 0;
    bodyBytes = 0;
    failure = null;
    beginHead();
  }

  private void beginHead() {
    headBytes = 0;
    status = Attempt.NONE;
    length = NO_LENGTH;
    chunked = false;
    encoded = false;
    persistent = true;
  }

  @Override
  public int status() {
    return status;
  }

  /** Returns the length of the body so far, without the framing of chunks. */
  @Override
  public long bodyBytes() {
    return bodyBytes;
  }

  /** Returns whether the whole response was read. */
  @Override
  public boolean complete() {
    return state == State.COMPLETE;
  }

  /** Returns whether the connection stays open after this response (RFC 9112, section 9.3). */
  @Override
  public boolean persistent() {
    return persistent;
  }

  /**
   * Returns the value of the Server header (RFC 9110, section 10.2.4), printable; null if there was
   * none, or it is not kept.
   */
  @Override
  public String software() {
    return software;
  }

  /** Returns why this is no HTTP response; null if nothing is wrong so far. */
  @Override
  public String failure() {
    return failure;
  }

  /** Looks at the next bytes, all of them unless the response ends before. Moves no index. */
  @Override
  public void read(ByteBuf bytes) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end && state != State.COMPLETE && state != State.FAILED) {
      switch (state) {
        case BODY_UNTIL_CLOSE -> {
          bodyBytes += end - at;
          at = end;
        }
        case BODY, CHUNK -> {
          int some = (int) Math.min(left, end - at);
          bodyBytes += some;
          left -= some;
          at += some;
          if (left == 0) {
            state = state == State.BODY ? State.COMPLETE : State.CHUNK_END;
          }
        }
        default -> readByte(bytes.getByte(at++));
      }
    }
  }

  /** The server has closed; returns whether the response is complete by that. */
  @Override
  public boolean endOfInput() {
    if (state == State.BODY_UNTIL_CLOSE) {
      state = State.COMPLETE;
    }
    return complete();
  }

  private void readByte(byte b) {
    if (++headBytes > MAX_HEAD_BYTES) {
      fail("its head is longer than " + MAX_HEAD_BYTES + " bytes");
    } else if (b != '\n') {
      if (lineBytes == line.length) {
        line = Arrays.copyOf(line, 2 * lineBytes);
      }
      line[lineBytes++] = b;
    } else {
      // A lone line feed ends a line too (RFC 9112, section 2.2).
      if (lineBytes > 0 && line[lineBytes - 1] == '\r') {
        lineBytes--;
      }
      readLine();
      lineBytes = 0;
    }
  }

  private void readLine() {
    switch (state) {
      case STATUS_LINE -> readStatusLine();
      case HEADER -> {
        if (lineBytes > 0) {
          readHeader();
        } else {
          endOfHead();
        }
      }
      case CHUNK_SIZE -> readChunkSize();
      case CHUNK_END -> {
        if (lineBytes == 0) {
          beginChunk();
        } else {
          fail("a chunk is longer than its size");
        }
      }
      case TRAILER -> {
        if (lineBytes == 0) {
          state = State.COMPLETE;
        }
      }
      default -> throw new IllegalStateException("no line is expected: state=" + state);
    }
  }

  private void readStatusLine() {
    // HTTP/1.1 200 OK
    int code = VERSION.length + 2;
    if (lineBytes < code + 3
        || !Arrays.equals(line, 0, VERSION.length, VERSION, 0, VERSION.length)
        || line[code - 1] != ' '
        || (lineBytes > code + 3 && line[code + 3] != ' ')) {
      fail("not a status line: '" + printable() + "'");
      return;
    }
    status = 0;
    for (int i = code; i < code + 3; i++) {
      if (!isDigit(line[i])) {
        fail("not a status line: '" + printable() + "'");
        return;
      }
      status = 10 * status + line[i] - '0';
    }
    persistent = line[VERSION.length] != '0';
    state = State.HEADER;
  }

  private void readHeader() {
    if (line[0] == ' ' || line[0] == '\t') {
      // The continuation of a line (obs-fold), which no header that matters here has.
      return;
    }
    int colon = 0;
    while (colon < lineBytes && line[colon] != ':') {
      colon++;
    }
    if (colon == 0 || colon == lineBytes) {
      fail("not a header: '" + printable() + "'");
    } else if (isName(CONTENT_LENGTH, colon)) {
      readContentLength(colon + 1);
    } else if (isName(TRANSFER_ENCODING, colon)) {
      encoded = true;
      chunked = endsWith(CHUNKED);
    } else if (isName(CONNECTION, colon)) {
      persistent &= !endsWith(CLOSE);
    } else if (keepSoftware && isName(SERVER, colon)) {
      String value = printable();
      software = value.substring(Math.min(value.length(), colon + 1)).strip();
    }
  }

  private void readContentLength(int from) {
    int at = from;
    while (at < lineBytes && (line[at] == ' ' || line[at] == '\t')) {
      at++;
    }
    int end = lineBytes;
    while (end > at && (line[end - 1] == ' ' || line[end - 1] == '\t')) {
      end--;
    }
    long value = at < end && end - at <= 18 ? 0 : NO_LENGTH;
    while (at < end && value != NO_LENGTH) {
      value = isDigit(line[at]) ? 10 * value + line[at] - '0' : NO_LENGTH;
      at++;
    }
    // Several that agree are allowed (RFC 9112, section 6.3).
    if (value == NO_LENGTH || (length != NO_LENGTH && length != value)) {
      fail("not a length, or not the same as before: '" + printable() + "'");
    } else {
      length = value;
    }
  }

  /** How long the body is: RFC 9112, section 6.3. */
  private void endOfHead() {
    if (status >= 100 && status < 200) {
      // An interim response (RFC 9110, section 15.2) announces another one.
      int interim = status;
      beginHead();
      status = interim;
      state = State.STATUS_LINE;
    } else if (status == 204 || status == 304) {
      state = State.COMPLETE;
    } else if (chunked) {
      beginChunk();
    } else if (encoded || length == NO_LENGTH) {
      persistent = false;
      state = State.BODY_UNTIL_CLOSE;
    } else {
      left = length;
      state = length == 0 ? State.COMPLETE : State.BODY;
    }
  }

  private void beginChunk() {
    state = State.CHUNK_SIZE;
    // The limit is for one head, or for one chunk's line.
    headBytes = 0;
  }

  private void readChunkSize() {
    long size = 0;
    int digits = 0;
    while (digits < lineBytes && Character.digit(line[digits], 16) >= 0) {
      size = size << 4 | Character.digit(line[digits], 16);
      digits++;
    }
    boolean extended =
        digits < lineBytes && (line[digits] == ';' || line[digits] == ' ' || line[digits] == '\t');
    if (digits == 0 || digits > 15 || (digits < lineBytes && !extended)) {
      fail("not the size of a chunk: '" + printable() + "'");
    } else {
      left = size;
      state = size == 0 ? State.TRAILER : State.CHUNK;
    }
  }

  private boolean isName(byte[] name, int length) {
    if (length != name.length) {
      return false;
    }
    for (int i = 0; i < length; i++) {
      if (lower(line[i]) != name[i]) {
        return false;
      }
    }
    return true;
  }

  private boolean endsWith(byte[] word) {
    int end = lineBytes;
    while (end > 0 && (line[end - 1] == ' ' || line[end - 1] == '\t')) {
      end--;
    }
    int from = end - word.length;
    if (from < 1) {
      return false;
    }
    for (int i = 0; i < word.length; i++) {
      if (lower(line[from + i]) != word[i]) {
        return false;
      }
    }
    byte before = line[from - 1];
    return before == ' ' || before == '\t' || before == ',' || before == ':';
  }

  private static int lower(byte b) {
    return b >= 'A' && b <= 'Z' ? b + 'a' - 'A' : b;
  }

  private static boolean isDigit(byte b) {
    return b >= '0' && b <= '9';
  }

  private void fail(String what) {
    state = State.FAILED;
    failure = what;
  }

  private String printable() {
    String text = new String(line, 0, Math.min(lineBytes, 60), StandardCharsets.ISO_8859_1);
    return text.replaceAll("[^ -~]", "?");
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}

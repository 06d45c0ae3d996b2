package io.pqcbench.loadgen.target;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.util.AsciiString;

/**
 * What the server says to a request, apart from how it is put on the wire.
 *
 * @param status the status line
 * @param type the Content-Type, not null
 * @param length bytes of the body, 0 to {@link #MAX_BODY_BYTES}
 * @param content the body; null means {@code length} bytes of {@link PatternBody}'s pattern
 */
record Answer(HttpResponseStatus status, AsciiString type, long length, ByteBuf content) {

  /** The longest body that may be asked for: 64 MiB. */
  static final long MAX_BODY_BYTES = 64L * 1024 * 1024;

  private static final String BYTES = "/bytes/";

  // Read-only, because SslHandler appends small buffers to a predecessor that has room.
  private static final ByteBuf OK_BODY =
      Unpooled.unreleasableBuffer(Unpooled.directBuffer(3, 3).writeBytes("OK\n".getBytes(UTF_8)))
          .asReadOnly();

  /**
   * The answer to a well-formed request.
   *
   * @param request its body, if any, makes no difference
   */
  static Answer to(HttpRequest request) {
    String uri = request.uri();
    if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
      return notFound();
    }
    if (uri.equals("/")) {
      ByteBuf body = OK_BODY.duplicate();
      return new Answer(
          HttpResponseStatus.OK, HttpHeaderValues.TEXT_PLAIN, body.readableBytes(), body);
    }
    return uri.startsWith(BYTES) ? bytes(uri.substring(BYTES.length())) : notFound();
  }

  /** The answer to what cannot be understood as HTTP. */
  static Answer malformed() {
    return text(HttpResponseStatus.BAD_REQUEST, "this is not a request of HTTP/1.1");
  }

  /** Writes the headers that describe the body. */
  void describeIn(HttpHeaders headers) {
    headers.set(HttpHeaderNames.CONTENT_TYPE, type);
    headers.set(HttpHeaderNames.CONTENT_LENGTH, length);
  }

  private static Answer bytes(String digits) {
    long length;
    try {
      length = Long.parseLong(digits);
    } catch (NumberFormatException e) {
      length = -1;
    }
    if (length < 0 || length > MAX_BODY_BYTES) {
      return text(
          HttpResponseStatus.BAD_REQUEST,
          "a body must be a whole number of bytes, 0 to " + MAX_BODY_BYTES + ": bytes=" + digits);
    }
    return new Answer(
        HttpResponseStatus.OK, HttpHeaderValues.APPLICATION_OCTET_STREAM, length, null);
  }

  private static Answer notFound() {
    return text(HttpResponseStatus.NOT_FOUND, "only GET / and GET /bytes/N are served here");
  }

  private static Answer text(HttpResponseStatus status, String line) {
    ByteBuf body = Unpooled.copiedBuffer(line + "\n", UTF_8);
    return new Answer(status, HttpHeaderValues.TEXT_PLAIN, body.readableBytes(), body);
  }
}

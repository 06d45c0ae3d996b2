package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import io.pqcbench.loadgen.plan.LoadPlan;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** What is sent over a secured connection, made once and the same on each of them. */
final class RequestBytes {

  /** The name of HTTP/2 in ALPN. */
  static final String H2 = "h2";

  /** Where the number of the stream is in a request of HTTP/2. */
  static final int STREAM_AT = 5;

  /** One record of TLS holds it, so that no other frame can come between its parts. */
  private static final int MOST_BYTES = 16_384;

  /** RFC 9113, section 6.5.2. */
  private static final int SETTINGS_ENABLE_PUSH = 2;

  private static final int SETTINGS_INITIAL_WINDOW_SIZE = 4;
  private static final int DEFAULT_WINDOW_BYTES = 65_535;

  /** Whether it is HTTP/2, which the server must have taken by ALPN. */
  final boolean http2;

  /** What a client of HTTP/2 begins a connection with; null for nothing. */
  final byte[] opening;

  /** One request; in HTTP/2 a frame, with {@link #STREAM_AT}; null for none. */
  final byte[] request;

  private RequestBytes(boolean http2, byte[] opening, byte[] request) {
    this.http2 = http2;
    this.opening = opening;
    this.request = request;
  }

  static RequestBytes of(LoadPlan plan) {
    boolean http2 = plan.request().http2();
    if (plan.request().handshakeOnly()) {
      return new RequestBytes(http2, null, null);
    }
    return http2
        ? new RequestBytes(true, preface(), http2Request(plan))
        : new RequestBytes(false, null, http1Request(plan));
  }

  /** Returns opening and first request in one. */
  RequestBytes whole() {
    if (opening == null) {
      return this;
    }
    ByteBuf both = Unpooled.wrappedBuffer(opening, request);
    return new RequestBytes(http2, null, ByteBufUtil.getBytes(both));
  }

  private static byte[] http1Request(LoadPlan plan) {
    StringBuilder head = new StringBuilder(256);
    head.append("GET ").append(plan.request().path()).append(" HTTP/1.1\r\n");
    List<String> headers = plan.request().headers();
    if (!has(headers, "host")) {
      head.append("Host: ").append(authority(plan)).append("\r\n");
    }
    if (!has(headers, "user-agent")) {
      head.append("User-Agent: loadgen\r\n");
    }
    if (!has(headers, "accept")) {
      head.append("Accept: */*\r\n");
    }
    headers.forEach(header -> head.append(header).append("\r\n"));
    if (!has(headers, "connection") && !plan.sessions().pooled()) {
      head.append("Connection: close\r\n");
    }
    return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  private static String authority(LoadPlan plan) {
    String name = plan.target().host();
    String host = name.contains(":") ? "[" + name + "]" : name;
    return plan.target().port() == 443 ? host : host + ":" + plan.target().port();
  }

  private static boolean has(List<String> headers, String name) {
    return headers.stream()
        .anyMatch(header -> header.toLowerCase(Locale.ROOT).startsWith(name + ":"));
  }

  /** The preface, no pushes, and a window so large that the server does not wait for it. */
  private static byte[] preface() {
    ByteBuf bytes = Unpooled.buffer().writeBytes(Http2CodecUtil.connectionPrefaceBuf());
    frame(bytes, 12, Http2FrameTypes.SETTINGS, 0, 0);
    bytes.writeShort(SETTINGS_ENABLE_PUSH).writeInt(0);
    bytes.writeShort(SETTINGS_INITIAL_WINDOW_SIZE).writeInt(Http2Reader.WINDOW_BYTES);
    frame(bytes, 4, Http2FrameTypes.WINDOW_UPDATE, 0, 0);
    bytes.writeInt(Http2Reader.WINDOW_BYTES - DEFAULT_WINDOW_BYTES);
    return ByteBufUtil.getBytes(bytes);
  }

  private static void frame(ByteBuf bytes, int length, int type, int flags, int stream) {
    bytes.writeMedium(length).writeByte(type).writeByte(flags).writeInt(stream);
  }

  private static byte[] http2Request(LoadPlan plan) {
    Http2Headers headers =
        new DefaultHttp2Headers(/* validate= */ false)
            .method("GET")
            .scheme("https")
            .authority(authority(plan))
            .path(plan.request().path())
            .set("user-agent", "loadgen")
            .set("accept", "*/*");
    DefaultHttp2Headers own = new DefaultHttp2Headers(/* validate= */ false);
    for (String header : plan.request().headers()) {
      int colon = header.indexOf(':');
      String name = header.substring(0, colon).strip().toLowerCase(Locale.ROOT);
      own.add(
          name.equals("host") ? ":authority" : name,
          new AsciiString(
              header.substring(colon + 1).strip().getBytes(StandardCharsets.ISO_8859_1)));
    }
    own.names().forEach(headers::remove);
    CharSequence authority = own.get(":authority");
    if (authority != null) {
      // Pseudo-headers come before all others.
      own.remove(":authority");
      headers.authority(authority);
    }
    headers.add(own);
    ByteBuf block = Unpooled.buffer();
    try {
      // Without a table, and saying so in each block: then the same bytes are right on each
      // connection and at each place in it, whatever table the server allows.
      DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
      encoder.configuration().maxHeaderTableSize(0);
      encoder.encodeHeaders(1, headers, block);
      encoder.close();
    } catch (Http2Exception e) {
      throw new IllegalArgumentException(
          "these headers cannot be sent: headers=" + plan.request().headers(), e);
    }
    ByteBuf frame = Unpooled.buffer();
    frame(
        frame,
        block.readableBytes(),
        Http2FrameTypes.HEADERS,
        Http2Flags.END_STREAM | Http2Flags.END_HEADERS,
        1);
    frame.writeBytes(block);
    int most = MOST_BYTES - preface().length;
    if (frame.readableBytes() > most) {
      throw new IllegalArgumentException(
          "path and headers must fit into one frame of HTTP/2: bytes="
              + frame.readableBytes()
              + " most="
              + most);
    }
    return ByteBufUtil.getBytes(frame);
  }
}

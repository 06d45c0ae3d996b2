package io.pqcbench.loadgen.target;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.stream.ChunkedInput;
import java.nio.charset.StandardCharsets;

/**
 * A response body of any length that is never in memory as a whole: every chunk is a view of one
 * shared buffer, and the next is taken only when the connection can be written to.
 */
final class PatternBody implements ChunkedInput<HttpContent> {

  /** Bytes in one chunk: four full TLS records, and Netty's default high-water mark. */
  static final int CHUNK_BYTES = 64 * 1024;

  /** Repeats in the body; its length divides the chunk, so chunk boundaries do not show. */
  static final String PATTERN = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.\n";

  // Read-only, because SslHandler appends small buffers to a predecessor that has room.
  private static final ByteBuf CHUNK =
      Unpooled.unreleasableBuffer(
              Unpooled.directBuffer(CHUNK_BYTES, CHUNK_BYTES)
                  .writeBytes(
                      PATTERN
                          .repeat(CHUNK_BYTES / PATTERN.length())
                          .getBytes(StandardCharsets.US_ASCII)))
          .asReadOnly();

  private final long length;
  private long sent;

  /**
   * @param length bytes in all, more than 0
   */
  PatternBody(long length) {
    this.length = length;
  }

  /**
   * The first bytes of the pattern.
   *
   * @param length 0 to {@link #CHUNK_BYTES}
   */
  static ByteBuf prefix(int length) {
    return CHUNK.slice(0, length);
  }

  @Override
  public HttpContent readChunk(ByteBufAllocator allocator) {
    return next();
  }

  @Deprecated
  @Override
  public HttpContent readChunk(ChannelHandlerContext ctx) {
    return next();
  }

  private HttpContent next() {
    int size = (int) Math.min(CHUNK_BYTES, length - sent);
    sent += size;
    return isEndOfInput()
        ? new DefaultLastHttpContent(prefix(size))
        : new DefaultHttpContent(prefix(size));
  }

  @Override
  public boolean isEndOfInput() {
    return sent >= length;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public long progress() {
    return sent;
  }

  @Override
  public void close() {
    // Nothing is held: the chunks are views of a buffer that lives as long as the class.
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;

/**
 * Counts the TLS records of one direction of one connection, encrypted ones too, by their headers
 * (RFC 8446, section 5.1). Total on every input: bytes that are no TLS are counted as whatever
 * records they would be.
 */
final class RecordCounter {

  private static final int HEADER_BYTES = 5;

  private int headerBytes;
  private int length;
  private int left;
  private int records;

  /** Returns how many records have begun with a whole header so far. */
  int records() {
    return records;
  }

  /** Forgets everything, for the next connection. */
  void reset() {
    headerBytes = 0;
    left = 0;
    records = 0;
  }

  /** Looks at the next bytes; moves no index. */
  void count(ByteBuf bytes) {
    int at = bytes.readerIndex();
    int end = bytes.writerIndex();
    while (at < end) {
      if (left > 0) {
        int skipped = Math.min(left, end - at);
        left -= skipped;
        at += skipped;
      } else {
        // The last two bytes of the header are the length of what follows.
        length = ((length << 8) | (bytes.getByte(at++) & 0xFF)) & 0xFFFF;
        if (++headerBytes == HEADER_BYTES) {
          headerBytes = 0;
          left = length;
          records++;
        }
      }
    }
  }
}

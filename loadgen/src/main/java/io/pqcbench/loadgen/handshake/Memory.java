package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.unix.Buffer;
import io.netty.util.internal.CleanableDirectBuffer;
import java.nio.ByteBuffer;

/** Bytes outside the heap, as native calls and as Java code want to see them. */
final class Memory {

  final int size;
  final long address;
  final ByteBuffer bytes;
  private final CleanableDirectBuffer owned;
  private final ByteBuf view;

  Memory(int size) {
    this.size = size;
    this.owned = Buffer.allocateDirectBufferWithNativeOrder(size);
    this.bytes = owned.buffer();
    this.address = Buffer.memoryAddress(bytes);
    this.view = Unpooled.wrappedBuffer(bytes.duplicate());
  }

  Memory(byte[] content) {
    this(content.length);
    bytes.put(content).clear();
  }

  /** Returns a part; the same object each time. */
  ByteBuf view(int from, int to) {
    return view.setIndex(from, to);
  }

  /** Gives the memory back; it must not be used any more. */
  void free() {
    owned.clean();
  }
}

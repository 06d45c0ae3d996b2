package io.pqcbench.loadgen.monitor;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.Map;

/** Reads the text of a file of the kernel's; the seam through which tests give literal text. */
@FunctionalInterface
interface KernelText {

  /** Returns the text; null when the file is not there or may not be read. */
  String read(String path);

  /**
   * Files that are read again and again, ten times a second: kept open, and read from their begin,
   * which makes the kernel write them anew. For one thread.
   */
  final class Files implements KernelText, AutoCloseable {

    /** The longest file that is read whole; /proc/stat of 256 processors has 40 KB. */
    private static final int MAX_BYTES = 256 * 1024;

    private final Map<String, FileChannel> open = new HashMap<>();
    private final ByteBuffer buffer = ByteBuffer.allocate(MAX_BYTES);

    @Override
    public String read(String path) {
      FileChannel file = open.get(path);
      try {
        if (file == null) {
          file = FileChannel.open(Path.of(path), StandardOpenOption.READ);
          open.put(path, file);
        }
        buffer.clear();
        // One large read: many of these files answer the first read only.
        int read = file.read(buffer, 0);
        while (read > 0 && buffer.hasRemaining()) {
          read = file.read(buffer, buffer.position());
        }
        return new String(buffer.array(), 0, buffer.position(), StandardCharsets.ISO_8859_1);
      } catch (IOException | SecurityException e) {
        forget(path);
        return null;
      }
    }

    /** Closes a file that is not asked for any more, such as that of a thread that has ended. */
    void forget(String path) {
      FileChannel file = open.remove(path);
      if (file != null) {
        try {
          file.close();
        } catch (IOException e) {
          // Only ever read from.
          return;
        }
      }
    }

    @Override
    public void close() {
      for (String path : java.util.List.copyOf(open.keySet())) {
        forget(path);
      }
    }
  }
}

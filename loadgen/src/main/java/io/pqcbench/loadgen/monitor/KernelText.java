package io.pqcbench.loadgen.monitor;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/** Reads the text of a file of the kernel's; the seam through which tests give literal text. */
@FunctionalInterface
interface KernelText {

  /** Returns the text; null when the file is not there or may not be read. */
  String read(String path);

  /**
   * The files themselves, for one thread. None is kept open: opening costs two microseconds, and a
   * client with few descriptors needs them for connections.
   */
  final class Files implements KernelText {

    /** The longest file that is read whole; /proc/stat of 256 processors has 40 KB. */
    private static final int MAX_BYTES = 256 * 1024;

    private final byte[] buffer = new byte[MAX_BYTES];

    @Override
    public String read(String path) {
      try (InputStream file = new FileInputStream(path)) {
        // One large read: many of these files answer the first read only.
        int length = 0;
        int read = file.read(buffer, 0, buffer.length);
        while (read > 0) {
          length += read;
          read = length < buffer.length ? file.read(buffer, length, buffer.length - length) : 0;
        }
        return new String(buffer, 0, length, StandardCharsets.ISO_8859_1);
      } catch (IOException | SecurityException e) {
        return null;
      }
    }
  }
}

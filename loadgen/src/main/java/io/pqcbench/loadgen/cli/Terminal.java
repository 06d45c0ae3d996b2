package io.pqcbench.loadgen.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the standard streams are connected to. */
final class Terminal {

  private Terminal() {}

  /**
   * Returns whether a stream is a terminal. {@code System.console()} cannot tell: from JDK 22 on it
   * is there without one.
   *
   * @param descriptor 1 for standard output, 2 for standard error
   */
  static boolean isTerminal(int descriptor) {
    try {
      String device = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return device.startsWith("/dev/pts/")
          || device.startsWith("/dev/tty")
          || device.equals("/dev/console");
    } catch (IOException | SecurityException e) {
      return false;
    }
  }

  /**
   * Returns whether to use colours: on a terminal, unless NO_COLOR is set (no-color.org) or it is a
   * dumb one.
   */
  static boolean wantsColour(int descriptor) {
    String refused = System.getenv("NO_COLOR");
    return isTerminal(descriptor)
        && (refused == null || refused.isEmpty())
        && !"dumb".equals(System.getenv("TERM"));
  }
}

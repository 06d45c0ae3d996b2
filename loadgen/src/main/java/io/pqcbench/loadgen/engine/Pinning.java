package io.pqcbench.loadgen.engine;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Ties the threads of lanes to processors, one each, by taskset(1): Java has no call for it. The
 * last of the allowed processors comes first, because interrupts go to the first where nobody has
 * said otherwise.
 */
final class Pinning {

  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String TASKS = "/proc/self/task";
  private static final String ALLOWED = "Cpus_allowed_list:";
  private static final long THREAD_SECONDS = 2;

  private Pinning() {}

  /**
   * Pins threads that run, or are about to.
   *
   * @param names of the threads
   * @throws IOException when there are fewer processors than threads, or taskset does not do it
   */
  static void pin(List<String> names) throws IOException {
    List<Integer> allowed = parseList(allowed(Files.readString(STATUS)));
    if (allowed.size() < names.size()) {
      throw new IOException(
          "--pin needs a processor for each lane: lanes="
              + names.size()
              + " processors="
              + allowed.size());
    }
    for (int i = 0; i < names.size(); i++) {
      int processor = allowed.get(allowed.size() - 1 - i);
      run("taskset", "-pc", String.valueOf(processor), taskOf(names.get(i)));
    }
  }

  /** Returns the list in the text of /proc/PID/status (proc(5)). */
  static String allowed(String status) throws IOException {
    for (String line : status.split("\n", -1)) {
      if (line.startsWith(ALLOWED)) {
        return line.substring(ALLOWED.length()).strip();
      }
    }
    throw new IOException("--pin: the kernel does not say which processors may be used");
  }

  /** Reads a list as the kernel writes them: {@code 0-3,8,10-11}. */
  static List<Integer> parseList(String list) {
    List<Integer> numbers = new ArrayList<>();
    for (String range : list.split(",", -1)) {
      int dash = range.indexOf('-');
      int from = Integer.parseInt(dash < 0 ? range : range.substring(0, dash));
      int to = Integer.parseInt(range.substring(dash + 1));
      for (int i = from; i <= to; i++) {
        numbers.add(i);
      }
    }
    return numbers;
  }

  private static String taskOf(String name) throws IOException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(THREAD_SECONDS);
    do {
      String[] tasks = new File(TASKS).list();
      for (String task : tasks == null ? new String[0] : tasks) {
        Path comm = Path.of(TASKS, task, "comm");
        // A thread gets its name a moment after it was started.
        if (name.equals(nameIn(comm))) {
          return task;
        }
      }
    } while (System.nanoTime() < until);
    throw new IOException("--pin: the kernel does not know the lane's thread: thread=" + name);
  }

  /** Returns null if the thread has ended meanwhile, as those of the compiler do. */
  private static String nameIn(Path comm) {
    try {
      return Files.readString(comm).strip();
    } catch (IOException e) {
      return null;
    }
  }

  private static void run(String... command) throws IOException {
    String said;
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (process.waitFor() == 0) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("--pin was interrupted", e);
    } catch (IOException e) {
      throw new IOException("--pin needs taskset, e.g. apt-get install util-linux", e);
    }
    throw new IOException("--pin: " + String.join(" ", command) + ": " + said);
  }
}

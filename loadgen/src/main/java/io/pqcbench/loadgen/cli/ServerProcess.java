package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Target;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * The embedded server in a process of its own, so that its work and its pauses are not in the
 * client's JVM. It ends with this process, however that ends, because its standard input is then
 * closed.
 */
final class ServerProcess implements AutoCloseable {

  private final Process process;
  private final Target target;

  private ServerProcess(Process process, Target target) {
    this.process = process;
    this.target = target;
  }

  /**
   * Returns the command of a process that runs this program on this JVM.
   *
   * @param flags of that JVM
   * @param arguments of the program
   */
  static List<String> java(List<String> flags, List<String> arguments) {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.addAll(flags);
    if (Runtime.version().feature() >= 24) {
      // What the jar's manifest and the launcher say for the client; else the JDK warns.
      words.add("--enable-native-access=ALL-UNNAMED");
      words.add("--sun-misc-unsafe-memory-access=allow");
    }
    words.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.pqcbench.loadgen.Main"));
    words.addAll(arguments);
    return words;
  }

  /**
   * Starts it.
   *
   * @param transport what it is to speak
   */
  static ServerProcess start(LoadPlan.Transport transport) throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                // Ctrl-C reaches the whole process group; the server must outlive the client's
                // drain.
                "sh", "-c", "trap '' INT; exec \"$0\" \"$@\""));
    words.addAll(
        java(
            List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:+PerfDisableSharedMem"),
            List.of(
                "serve",
                "--transport",
                transport.name().toLowerCase(Locale.ROOT),
                "--until-stdin-closes")));
    Process process =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    String first = lines.readLine();
    if (first == null || !first.startsWith("target=")) {
      process.destroy();
      throw new IOException(
          "the embedded server did not start; try loadgen serve, and --target with its address");
    }
    return new ServerProcess(process, Target.parse(first.substring("target=".length())));
  }

  Target target() {
    return target;
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}

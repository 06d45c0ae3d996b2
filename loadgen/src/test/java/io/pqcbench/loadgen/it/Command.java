package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.target.EmbeddedServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** Runs the jar in a process of its own, as its users do. */
final class Command {

  /** A build that runs in the background ignores SIGINT, and its children would inherit that. */
  private static final List<String> DEFAULT_SIGNALS = List.of("env", "--default-signal=INT,TERM");

  /**
   * The second compiler takes a core from all others in a run of seconds. The young generation
   * holds what such a run allocates, and class loading does not ask for a collection either, so
   * that there is none but those that a test asks for.
   */
  private static final List<String> CALM =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:+UseSerialGC",
          "-Xms512m",
          "-Xmx512m",
          "-Xmn400m",
          "-XX:MetaspaceSize=128m");

  private final Process process;
  private final Queue<String> errSoFar = new ConcurrentLinkedQueue<>();
  private final CompletableFuture<String> out;
  private final CompletableFuture<String> err;

  private Command(List<String> words) throws IOException {
    process = new ProcessBuilder(words).start();
    process.getOutputStream().close();
    out = read(process.inputReader(StandardCharsets.UTF_8), new ConcurrentLinkedQueue<>());
    err = read(process.errorReader(StandardCharsets.UTF_8), errSoFar);
  }

  private static CompletableFuture<String> read(BufferedReader reader, Queue<String> lines) {
    return CompletableFuture.supplyAsync(
        () -> {
          try (reader) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
              lines.add(line + '\n');
            }
            return String.join("", lines);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        },
        // Not the common pool, in which one reader may have to wait for the other's end.
        reading -> new Thread(reading, "read-output").start());
  }

  /** Starts {@code java -jar loadgen.jar} with these arguments. */
  static Command loadgen(String... arguments) throws IOException {
    return new Command(words(DEFAULT_SIGNALS, List.of(), arguments));
  }

  /** The same behind a shell command, such as {@code ulimit -n 200}. */
  static Command loadgenAfter(String shell, String... arguments) throws IOException {
    return new Command(
        words(List.of("bash", "-c", shell + "; exec \"$0\" \"$@\""), List.of(), arguments));
  }

  /** The same against a server, in a process that may open so many files only. */
  static Command loadgenWithFiles(int files, EmbeddedServer server, Path out, String... options)
      throws IOException {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--target", "127.0.0.1:" + server.address().getPort(), "--out", out.toString()));
    arguments.addAll(List.of(options));
    return loadgenAfter("ulimit -n " + files, arguments.toArray(String[]::new));
  }

  /**
   * The same by another command, and calm: a fault that was made on purpose would drown in others.
   *
   * @param by ends by becoming what stands behind it, such as {@code ip netns exec NAME}
   */
  static Command loadgenBy(List<String> by, String... arguments) throws IOException {
    return new Command(words(by, CALM, arguments));
  }

  /** Starts any command. */
  static Command of(String... words) throws IOException {
    return new Command(List.of(words));
  }

  private static List<String> words(List<String> before, List<String> jvm, String... arguments) {
    List<String> words = new ArrayList<>(before);
    words.add(System.getProperty("java.home") + "/bin/java");
    words.add("-Xmx256m");
    words.addAll(jvm);
    words.add("-jar");
    words.add(System.getProperty("loadgen.jar"));
    words.addAll(List.of(arguments));
    return words;
  }

  long pid() {
    return process.pid();
  }

  /** Sends a signal by its name, e.g. INT or KILL. */
  void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(pid())).inheritIO().start().waitFor();
  }

  int exitCode() throws InterruptedException {
    assertThat(process.waitFor(150, TimeUnit.SECONDS)).as("the command ended").isTrue();
    return process.exitValue();
  }

  String out() {
    return out.join();
  }

  /** What is on standard error while the command runs. */
  String errSoFar() {
    return String.join("", errSoFar);
  }

  String err() {
    return err.join();
  }
}

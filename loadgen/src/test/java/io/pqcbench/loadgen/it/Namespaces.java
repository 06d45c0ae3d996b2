package io.pqcbench.loadgen.it;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Two network namespaces, of a client and of a server, joined by a cable of their own: what is lost
 * or scarce in them is so for nobody else on the machine.
 */
final class Namespaces implements AutoCloseable {

  /** Whose process made it, so that what a killed one left can be told and deleted. */
  private static final Pattern NAME = Pattern.compile("loadgen-it-(\\d+)-\\d+-[cs]");

  private static final AtomicInteger COUNT = new AtomicInteger();

  private static final String CLIENT_ADDRESS = "10.99.0.1";
  private static final String SERVER_ADDRESS = "10.99.0.2";

  private final String client;
  private final String server;
  private final List<Process> running = new ArrayList<>();
  private OwnNginx nginx;

  private Namespaces(String name) {
    client = name + "-c";
    server = name + "-s";
  }

  /** Makes them; skips the test where that cannot be. */
  static Namespaces create() throws Exception {
    return create(Duration.ZERO);
  }

  static Namespaces create(Duration roundTrip) throws Exception {
    return create(roundTrip, 0);
  }

  /**
   * Makes them with a long way between them, which needs no module of the kernel for it (netem).
   *
   * @param roundTrip there and back; zero for a cable
   * @param dropEvery of a long way: each packet of this number is lost, either way; 0 for none
   */
  static Namespaces create(Duration roundTrip, int dropEvery) throws Exception {
    Needs.that(
        roundTrip.isZero() || available("python3"), "python3 delays packets: install python3");
    Needs.that(available("ip"), "ip makes network namespaces: install iproute2");
    Needs.that(available("nft"), "nft drops packets: install nftables");
    deleteLeftOvers();
    Namespaces pair =
        new Namespaces(
            "loadgen-it-" + ProcessHandle.current().pid() + "-" + COUNT.incrementAndGet());
    Needs.that(
        Command.of("ip", "netns", "add", pair.client).exitCode() == 0,
        "only root can make network namespaces");
    try {
      if (roundTrip.isZero()) {
        pair.connect();
      } else {
        pair.connectSlowly(roundTrip, dropEvery);
      }
      up(pair.client, CLIENT_ADDRESS);
      up(pair.server, SERVER_ADDRESS);
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      pair.close();
      throw e;
    }
    return pair;
  }

  private static boolean available(String tool) throws Exception {
    return Command.of("sh", "-c", "command -v " + tool).exitCode() == 0;
  }

  private void connect() throws IOException, InterruptedException {
    run("ip", "netns", "add", server);
    // Made inside, so that no name is needed that the machine might have in use.
    run(
        "ip", "-n", client, "link", "add", "cable", "type", "veth", "peer", "name", "cable",
        "netns", server);
  }

  private void connectSlowly(Duration roundTrip, int dropEvery) throws Exception {
    run("ip", "netns", "add", server);
    String script = Path.of(Namespaces.class.getResource("slow-link.py").toURI()).toString();
    // It makes both ends where it runs, and holds on to the one that moves away.
    String first =
        start(
            inClient(),
            "python3",
            script,
            "--delay-ms",
            Double.toString(roundTrip.toNanos() / 2e6),
            "--drop-every",
            Integer.toString(dropEvery),
            "cable",
            "far");
    if (!"ready".equals(first)) {
      throw new IOException("the slow link was not made: " + first);
    }
    run("ip", "-n", client, "link", "set", "far", "netns", server, "name", "cable");
  }

  private static void up(String namespace, String address)
      throws IOException, InterruptedException {
    run("ip", "-n", namespace, "addr", "add", address + "/24", "dev", "cable");
    run("ip", "-n", namespace, "link", "set", "cable", "up");
    run("ip", "-n", namespace, "link", "set", "lo", "up");
  }

  private static void deleteLeftOvers() throws IOException, InterruptedException {
    Command list = Command.of("ip", "netns", "list");
    list.exitCode();
    Matcher name = NAME.matcher(list.out());
    while (name.find()) {
      if (!Files.exists(Path.of("/proc", name.group(1)))) {
        Command.of("ip", "netns", "del", name.group()).exitCode();
      }
    }
  }

  /** Drops packets that reach the server and match, e.g. {@code tcp flags syn / syn,ack}. */
  void dropAtServer(String match) throws IOException, InterruptedException {
    run(
        "ip",
        "netns",
        "exec",
        server,
        "nft",
        "table inet fault { chain arriving { type filter hook input priority 0; "
            + match
            + " counter drop; }; }");
  }

  /** Sets a variable of the client's network. */
  void sysctlOfClient(String variable, String value) throws IOException, InterruptedException {
    // Not by the tool, which the machine may lack.
    String file = "/proc/sys/" + variable.replace('.', '/');
    List<String> words = new ArrayList<>(inClient());
    words.addAll(List.of("sh", "-c", "echo \"$1\" > \"$0\"", file, value));
    run(words.toArray(new String[0]));
  }

  /** The words in front of a command that is to run where the client is. */
  List<String> inClient() {
    return List.of("ip", "netns", "exec", client);
  }

  private List<String> inServer() {
    return List.of("ip", "netns", "exec", server);
  }

  /** Starts a program that ends when its input does, and returns the first line that it prints. */
  private String start(List<String> by, String... program) throws IOException {
    List<String> words = new ArrayList<>(by);
    words.addAll(List.of(program));
    Process process = new ProcessBuilder(words).redirectError(Redirect.INHERIT).start();
    running.add(process);
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    return out.readLine();
  }

  /**
   * Starts nginx with a certificate and returns its address. It ends with this object.
   *
   * @param directory for its files
   */
  String serveByNginx(Path directory, Path chain, Path key) throws Exception {
    nginx =
        OwnNginx.start(
            inServer(),
            directory,
            SERVER_ADDRESS,
            443,
            """
            access_log off;
            server {
              listen %s:443 ssl;
              ssl_certificate "%s";
              ssl_certificate_key "%s";
              location / { return 200 ok; }
            }
            """
                .formatted(SERVER_ADDRESS, chain, key));
    return SERVER_ADDRESS + ":443";
  }

  /** Starts the embedded server and returns its address. It ends with this object. */
  String serve(String... options) throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                System.getProperty("java.home") + "/bin/java",
                "-XX:TieredStopAtLevel=1",
                "-Xmx256m",
                "-jar",
                System.getProperty("loadgen.jar"),
                "serve",
                "--until-stdin-closes",
                "--host",
                SERVER_ADDRESS));
    words.addAll(List.of(options));
    String first = start(inServer(), words.toArray(new String[0]));
    if (first == null || !first.startsWith("target=")) {
      throw new IOException("the server did not start: " + first);
    }
    return first.substring("target=".length());
  }

  @Override
  public void close() throws IOException {
    try {
      if (nginx != null) {
        nginx.close();
      }
      for (Process process : running) {
        process.getOutputStream().close();
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      }
      // The cable goes with them.
      Command.of("ip", "netns", "del", client).exitCode();
      Command.of("ip", "netns", "del", server).exitCode();
    } catch (InterruptedException e) {
      // The next test that makes namespaces in another process deletes them.
      Thread.currentThread().interrupt();
    }
  }

  private static void run(String... words) throws IOException, InterruptedException {
    Command command = Command.of(words);
    if (command.exitCode() != 0) {
      throw new IOException(String.join(" ", words) + ": " + command.err());
    }
  }
}

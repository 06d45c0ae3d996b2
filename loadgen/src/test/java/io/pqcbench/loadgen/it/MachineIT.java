package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What happens at the limits of the machine, and without a target. */
class MachineIT {

  @TempDir private Path directory;

  private BundleFiles bundle() {
    return new BundleFiles(directory.resolve("bundle"));
  }

  @Test
  void withoutATargetAnEmbeddedServerIsStartedAndTheHeaderSaysSo() throws Exception {
    Command command =
        Command.loadgen(
            "--rate", "50", "--duration", "2s", "--out", bundle().directory().toString());
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(command.out())
        .contains("embedded server, separate process", "started without the launcher");
    assertThat(bundle().json("run.json").get("embeddedServer").asBoolean()).isTrue();
    assertThat(bundle().samples()).hasSize(100).allMatch(row -> row[3].equals("SUCCESS"));
  }

  @Test
  void theEmbeddedServerEndsWithTheClientThatStartedIt() throws Exception {
    Command command =
        Command.loadgen(
            "--rate", "10", "--duration", "120s", "--out", bundle().directory().toString());
    Path samples = bundle().directory().resolve("samples.csv.gz");
    org.awaitility.Awaitility.await().until(() -> Files.exists(samples));
    List<ProcessHandle> children =
        ProcessHandle.of(command.pid()).orElseThrow().children().toList();
    assertThat(children).hasSize(1);
    command.signal("KILL");
    org.awaitility.Awaitility.await().until(() -> !children.get(0).isAlive());
  }

  @Test
  void aFullDiskEndsTheRunWithFourAndKeepsWhatWasWritten() throws Exception {
    Path small = Files.createDirectory(directory.resolve("small"));
    if (Command.of("mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", small.toString()).exitCode()
        != 0) {
      if ("true".equals(System.getenv("CI"))) {
        fail("a small file system is needed in CI: run as root");
      }
      Assumptions.abort("only root can mount a small file system");
    }
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      BundleFiles files = new BundleFiles(small.resolve("bundle"));
      Command command =
          Command.loadgen(
              "--target",
              "127.0.0.1:" + server.address().getPort(),
              "--rate",
              "200",
              "--duration",
              "60s",
              "--warmup",
              "1s",
              "--out",
              files.directory().toString());
      assertThat(command.exitCode()).isEqualTo(4);
      assertThat(command.err()).contains("bundle cannot be written", "No space left on device");
      assertThat(command.out()).contains("response ", "verdict ");
      assertThat(files.samples()).isNotEmpty();
      assertThat(files.json("run.json").get("schema").asText()).isEqualTo("loadgen-run/2");
    } finally {
      assertThat(Command.of("umount", small.toString()).exitCode()).isZero();
    }
  }

  @Test
  void fewDescriptorsAreSaidBeforeTheRunAndSkippedInIt() throws Exception {
    // Every attempt takes a second, so the rate needs 300 descriptors.
    try (EmbeddedServer slow =
        EmbeddedServer.start(ServerOptions.defaults().withDelayNanos(1_000_000_000L))) {
      Command command =
          Command.loadgenWithFiles(
              220, slow, bundle().directory(), "--rate", "300", "--duration", "3s");
      assertThat(command.exitCode()).as(command.err() + command.out()).isEqualTo(3);
      assertThat(command.err()).contains("may open 220 files", "ulimit -n");
      JsonNode outcomes = bundle().json("summary.json").get("outcomes");
      assertThat(outcomes.get("SKIPPED").asInt()).isPositive();
      assertThat(outcomes.has("NO_FD")).isFalse();
      assertThat(bundle().samples()).hasSize(900);
    }
  }

  @Test
  void aPortThatDropsPacketsIsAConnectTimeout() throws Exception {
    // With its queue full, Linux drops further SYNs without a word, as a firewall does.
    try (ServerSocket deaf = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      List<Socket> queue = new ArrayList<>();
      try {
        fill(deaf, queue);
        Command command =
            Command.loadgen(
                "probe", "127.0.0.1:" + deaf.getLocalPort(), "--connect-timeout", "300ms");
        assertThat(command.exitCode()).isEqualTo(4);
        assertThat(command.err()).contains("--connect-timeout=300ms", "firewall");
      } finally {
        for (Socket socket : queue) {
          socket.close();
        }
      }
    }
  }

  private static void fill(ServerSocket deaf, List<Socket> queue) throws Exception {
    for (int i = 0; i < 8; i++) {
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(deaf.getInetAddress(), deaf.getLocalPort()), 300);
        queue.add(socket);
      } catch (java.net.SocketTimeoutException e) {
        socket.close();
        return;
      }
    }
    fail("the queue of the listening socket was not full after 8 connections");
  }

  @Test
  void theLauncherPicksAJdkAndPassesTheArgumentsOn() throws Exception {
    Command command =
        Command.of(
            "env",
            "LOADGEN_NO_CACHE=1",
            System.getProperty("loadgen.launcher.script"),
            "--version");
    assertThat(command.exitCode()).as(command.err()).isZero();
    assertThat(command.out()).contains("loadgen ", "BoringSSL", "JDK ");
  }

  @Test
  void theLauncherRefusesAJavaHomeThatIsNone() throws Exception {
    Command command =
        Command.of(
            "env", "JAVA_HOME=/nosuch", System.getProperty("loadgen.launcher.script"), "--version");
    assertThat(command.exitCode()).isEqualTo(4);
    assertThat(command.err()).contains("JAVA_HOME=/nosuch");
  }
}

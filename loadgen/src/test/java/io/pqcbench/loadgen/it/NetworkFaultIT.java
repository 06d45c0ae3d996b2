package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults of a network, made in namespaces of their own. */
class NetworkFaultIT {

  @TempDir private Path directory;
  private Namespaces network;
  private int runs;

  @BeforeEach
  void connect() throws Exception {
    network = Namespaces.create();
  }

  @AfterEach
  void disconnect() throws Exception {
    if (network != null) {
      network.close();
    }
  }

  private FinishedRun run(String target, String... more) throws Exception {
    BundleFiles bundle = new BundleFiles(directory.resolve("bundle-" + ++runs));
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--target",
                target,
                "--out",
                bundle.directory().toString(),
                "--wait",
                "block",
                "--warmup",
                "1s"));
    arguments.addAll(List.of(more));
    return FinishedRun.of(
        Command.loadgenBy(network.inClient(), arguments.toArray(new String[0])), bundle);
  }

  @Test
  void lostSynsAreFoundAndExplainTheTail() throws Exception {
    String target = network.serve();
    network.dropAtServer("tcp flags syn / syn,ack numgen random mod 100 < 5");
    Patience.check(
        () -> run(target, "--rate", "100", "--duration", "6s"),
        run -> {
          assertThat(run.rules("NETWORK")).as(run.toString()).contains("syn-retransmits");
          assertThat(run.causes()).as(run.toString()).containsKey("syn-retransmit");
        });
  }

  @Test
  void lostSegmentsAreFoundAndExplainTheTail() throws Exception {
    String target = network.serve();
    // Of what the client sends, because a client sees its own retransmissions only.
    network.dropAtServer("tcp flags & (syn | ack | psh) == ack | psh numgen random mod 100 < 3");
    Patience.check(
        () -> run(target, "--rate", "100", "--duration", "6s"),
        run -> {
          assertThat(run.rules("NETWORK")).as(run.toString()).contains("retransmits");
          assertThat(run.causes()).as(run.toString()).containsKey("retransmit");
        });
  }

  @Test
  void packetsThatALongWayLosesAreSentAgainAndNoHandshakeFails() throws Exception {
    network.close();
    network = Namespaces.create(Duration.ofMillis(10), 20);
    FinishedRun run = run(network.serve(), "--rate", "40", "--duration", "5s");

    assertThat(run.bundle().samples()).hasSize(200).allMatch(row -> row[3].equals("SUCCESS"));
    int column = run.bundle().columns().indexOf("tcp_retransmits");
    assertThat(run.bundle().samples().stream().mapToInt(row -> Integer.parseInt(row[column])).sum())
        .as(run.toString())
        .isPositive();
  }

  @Test
  void tooFewPortsAreSaidBeforeTheRunAndFoundInIt() throws Exception {
    // Ports in use by attempts, because those of closed connections are free at once: the server's
    // last words meet a closed socket, which answers with a reset that ends the waiting too.
    String target = network.serve("--delay", "3s");
    network.sysctlOfClient("net.ipv4.ip_local_port_range", "32768 33267");
    FinishedRun run = run(target, "--rate", "300", "--duration", "5s", "--close", "fin");
    assertThat(run.err()).contains("exceeds the ephemeral ports");
    assertThat(run.rules("CLIENT")).as(run.toString()).contains("no-port");
  }
}

package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.ChannelHandlerContext;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Faults of a server, which must not be taken for the client's. */
class ServerFaultIT {

  @TempDir private Path directory;
  private int runs;

  private FinishedRun run(String target, String... more) throws Exception {
    BundleFiles bundle = new BundleFiles(directory.resolve("bundle-" + ++runs));
    List<String> arguments =
        new ArrayList<>(
            List.of("--target", target, "--out", bundle.directory().toString(), "--warmup", "1s"));
    arguments.addAll(List.of(more));
    return FinishedRun.of(
        Command.loadgenBy(List.of("env"), arguments.toArray(new String[0])), bundle);
  }

  private FinishedRun run(FaultyServer.Manners manners, String... more) throws Exception {
    try (FaultyServer server = new FaultyServer(manners)) {
      return run(server.target(), more);
    }
  }

  private static String dominant(Map<String, Integer> causes) {
    return causes.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
  }

  @Test
  void aServerThatIsSometimesSlowIsNoFaultOfTheClient() throws Exception {
    FaultyServer.Manners slow =
        new FaultyServer.Manners() {
          @Override
          void answer(ChannelHandlerContext connection, long request) {
            FaultyServer.answerAfter(connection, request % 50 == 0 ? 40_000_000 : 0);
          }
        };
    Patience.check(
        () -> run(slow, "--rate", "150", "--duration", "8s"),
        run -> {
          assertThat(run.rules("CLIENT"))
              .as(run.toString())
              .isSubsetOf(FinishedRun.RULES_OF_A_BUSY_MACHINE);
          assertThat(dominant(run.causes())).as(run.toString()).isEqualTo("server-or-network");
          // Of the right length, but in one piece.
          assertThat(run.causes()).as(run.toString()).doesNotContainKey("delayed-ack");
        });
  }

  private FinishedRun answeringInTwoWrites(int everyNth) throws Exception {
    return run(
        new FaultyServer.Manners() {
          @Override
          boolean nagle() {
            return true;
          }

          @Override
          void answer(ChannelHandlerContext connection, long request) {
            if (request % everyNth == 0) {
              FaultyServer.write(connection, FaultyServer.HEAD);
              FaultyServer.write(connection, FaultyServer.BODY);
            } else {
              super.answer(connection, request);
            }
          }
        },
        "--rate",
        "150",
        "--duration",
        "8s");
  }

  @Test
  void twoSmallWritesWithNaglesAlgorithmMeetTheDelayedAcknowledgement() throws Exception {
    Patience.check(
        // As many as the tail holds: of more, it would hold those that something else slowed too.
        () -> answeringInTwoWrites(80),
        run -> {
          assertThat(run.rules("SERVER")).as(run.toString()).contains("delayed-ack");
          assertThat(run.causes()).as(run.toString()).containsKey("delayed-ack");
        });
  }

  @Test
  void delayedAcknowledgementsOfAllResponsesAreFoundToo() throws Exception {
    FinishedRun run = answeringInTwoWrites(1);
    assertThat(run.rules("SERVER")).as(run.toString()).contains("delayed-ack");
  }

  @Test
  void aServerOfAnotherGroupCostsAHelloRetryRequest() throws Exception {
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withGroups("P-256"))) {
      FinishedRun run =
          run(
              "127.0.0.1:" + server.address().getPort(),
              "--groups",
              "X25519,P-256",
              "--rate",
              "100",
              "--duration",
              "3s");
      assertThat(run.exitCode()).as(run.toString()).isEqualTo(3);
      assertThat(run.rules()).contains("hello-retry");
    }
  }

  @Test
  void aServerThatChangesItsGroupIsFound() throws Exception {
    FinishedRun run =
        run(
            new FaultyServer.Manners() {
              @Override
              List<String> groups(long connection) {
                return List.of(connection < 100 ? "X25519MLKEM768" : "X25519");
              }
            },
            "--groups",
            "X25519,X25519MLKEM768",
            "--rate",
            "100",
            "--duration",
            "3s");
    assertThat(run.exitCode()).as(run.toString()).isEqualTo(3);
    assertThat(run.rules()).contains("wrong-group");
  }

  @Test
  void aServerThatAcceptsTooSlowlyOverflowsItsQueue() throws Exception {
    FinishedRun run =
        run(
            new FaultyServer.Manners() {
              @Override
              int backlog() {
                return 1;
              }

              @Override
              void accepted(long connection) throws InterruptedException {
                // A few arrivals' time, and not again when their SYNs are, a second later.
                if (connection % 130 == 129) {
                  Thread.sleep(30);
                }
              }
            },
            "--rate",
            "200",
            "--duration",
            "6s");
    assertThat(run.rules()).as(run.toString()).contains("syn-retransmits", "listen-overflows");
  }

  @Test
  void aServerThatFallsSilentIsATimeoutOfTls() throws Exception {
    FinishedRun run =
        run(
            new FaultyServer.Manners() {
              @Override
              List<String> groups(long connection) {
                // Not yet at the preflight, which would refuse it.
                return connection < 100 ? List.of("X25519MLKEM768") : List.of();
              }
            },
            "--rate",
            "100",
            "--duration",
            "3s",
            "--timeout",
            "1s");
    assertThat(run.exitCode()).as(run.toString()).isEqualTo(3);
    assertThat(run.rules()).contains("tls-timeout");
  }

  @Test
  void aHealthyServerThatIsTooSlowForTheRateIsSaturatedAndTheClientIsNot() throws Exception {
    FaultyServer.Manners serial =
        new FaultyServer.Manners() {
          private long free = System.nanoTime();

          /** One at a time, twenty milliseconds each. */
          @Override
          void answer(ChannelHandlerContext connection, long request) {
            long now = System.nanoTime();
            free = Math.max(free, now) + 20_000_000;
            FaultyServer.answerAfter(connection, free - now);
          }
        };
    Patience.check(
        () -> run(serial, "--rate", "80", "--duration", "8s"),
        run -> {
          assertThat(run.rules("SERVER")).as(run.toString()).contains("target-saturated");
          assertThat(run.rules("CLIENT"))
              .as(run.toString())
              .isSubsetOf(FinishedRun.RULES_OF_A_BUSY_MACHINE);
        });
  }
}

package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Faults of the client's process and of its machine, each made on purpose and found by its name.
 */
class FaultIT {

  @TempDir private Path directory;
  private EmbeddedServer server;
  private int runs;

  @BeforeEach
  void startServer() {
    server = EmbeddedServer.start(ServerOptions.defaults());
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  /** That of the latest run. */
  private BundleFiles bundle() {
    return new BundleFiles(directory.resolve("bundle-" + runs));
  }

  private String[] arguments(String... more) {
    runs++;
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--target",
                "127.0.0.1:" + server.address().getPort(),
                "--out",
                bundle().directory().toString()));
    arguments.addAll(List.of(more));
    return arguments.toArray(new String[0]);
  }

  private static Command calmly(String... arguments) throws Exception {
    return Command.loadgenBy(List.of("env"), arguments);
  }

  private FinishedRun finish(Command command) throws InterruptedException {
    return FinishedRun.of(command, bundle());
  }

  private void awaitMeasuredPart() {
    Path log = bundle().directory().resolve("latency.hlog");
    Awaitility.await()
        .atMost(java.time.Duration.ofSeconds(60))
        .until(() -> Files.exists(log) && Files.readString(log).contains("Tag=handshake,"));
  }

  private interface Harm {
    void to(Command client) throws Exception;
  }

  /** A run that is harmed once, in its measured part. */
  private FinishedRun harmed(Harm harm) throws Exception {
    // At a higher rate the tail is made by the queue that the harm leaves, on two processors.
    Command command = calmly(arguments("--rate", "150", "--duration", "6s", "--warmup", "2s"));
    awaitMeasuredPart();
    harm.to(command);
    return finish(command);
  }

  @Test
  void aStoppedClientIsAHiccup() throws Exception {
    Patience.check(
        () ->
            harmed(
                client -> {
                  client.signal("STOP");
                  Thread.sleep(300);
                  client.signal("CONT");
                }),
        run -> {
          assertThat(run.rules()).as(run.toString()).contains("hiccup");
          assertThat(run.causes()).as(run.toString()).containsKey("hiccup");
          assertThat(Files.readAllLines(bundle().directory().resolve("slow.csv")))
              .anyMatch(line -> line.contains(",hiccup,"))
              .first()
              .asString()
              .endsWith(",cause,evidence");
        });
  }

  @Test
  void aFullCollectionIsAPauseOfTheCollector() throws Exception {
    Patience.check(
        () ->
            harmed(
                client -> {
                  // The first of them takes about five times as long as the second.
                  jcmd(client, "GC.run");
                  jcmd(client, "GC.run");
                }),
        run -> {
          assertThat(run.rules("CLIENT")).as(run.toString()).contains("gc-pause");
          assertThat(run.causes()).as(run.toString()).containsKey("gc-pause");
        });
  }

  @Test
  void aHeapDumpIsASafepoint() throws Exception {
    Patience.check(
        // Written while the whole JVM stands still, by no collector.
        () -> harmed(client -> jcmd(client, "GC.heap_dump", "-all", directory + "/heap-" + runs)),
        run -> {
          assertThat(run.rules("CLIENT")).as(run.toString()).contains("safepoint");
          assertThat(run.causes()).as(run.toString()).containsKey("safepoint");
        });
  }

  private static void jcmd(Command command, String... words) throws Exception {
    List<String> all =
        new ArrayList<>(
            List.of(System.getProperty("java.home") + "/bin/jcmd", Long.toString(command.pid())));
    all.addAll(List.of(words));
    Command jcmd = Command.of(all.toArray(new String[0]));
    assertThat(jcmd.exitCode()).as(jcmd.err() + jcmd.out()).isZero();
  }

  @Test
  void otherBusyProcessesAreSeen() throws Exception {
    List<Command> busy = new ArrayList<>();
    try {
      for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
        // Whatever happens here, each ends after a minute of work.
        busy.add(Command.of("sh", "-c", "ulimit -t 60; while :; do :; done"));
      }
      FinishedRun run =
          finish(calmly(arguments("--rate", "100", "--duration", "8s", "--warmup", "2s")));
      assertThat(run.rules()).as(run.toString()).containsAnyOf("run-delay", "cpu-idle", "lag");
      assertThat(run.verdict()).isNotEqualTo("TRUSTED");
    } finally {
      for (Command each : busy) {
        each.signal("KILL");
      }
    }
  }

  @Test
  void aQuotaOfTheControlGroupThrottles() throws Exception {
    try (CpuQuota quota = CpuQuota.create()) {
      Command command =
          Command.loadgenBy(
              quota.inside(), arguments("--rate", "100", "--duration", "6s", "--warmup", "2s"));
      // The start of a JVM takes long enough without a limit.
      awaitMeasuredPart();
      // Less than the client needs at this rate on any machine: some 11 ms where it is quick.
      quota.limit(7);
      FinishedRun run = finish(command);
      assertThat(run.rules("MACHINE")).as(run.toString()).contains("throttled");
      assertThat(run.causes()).as(run.toString()).containsKey("throttled");
    }
  }

  @Test
  void fewDescriptorsAreTheReasonForSkippedArrivals() throws Exception {
    runs++;
    // Every attempt takes a fifth of a second, so the rate needs 60 descriptors beside the others.
    try (EmbeddedServer slow =
        EmbeddedServer.start(ServerOptions.defaults().withDelayNanos(200_000_000L))) {
      FinishedRun run =
          finish(
              Command.loadgenWithFiles(
                  160,
                  slow,
                  bundle().directory(),
                  "--rate",
                  "300",
                  "--duration",
                  "4s",
                  "--warmup",
                  "1s"));
      assertThat(run.exitCode()).as(run.toString()).isEqualTo(3);
      assertThat(run.rules("CLIENT")).as(run.toString()).contains("descriptors");
      assertThat(run.err()).contains("may open 160 files", "ulimit -n");
    }
  }

  @Test
  void tooFewDescriptorsForTheJvmAreSaidToBeTheReason() throws Exception {
    runs++;
    // Slow, so that the one attempt for which there is a file left cannot keep the rate by itself.
    try (EmbeddedServer slow =
        EmbeddedServer.start(ServerOptions.defaults().withDelayNanos(200_000_000L))) {
      Command command =
          Command.loadgenWithFiles(
              64, slow, bundle().directory(), "--rate", "100", "--duration", "3s");
      // Which file is the one too many differs between JDKs, so the run may come to its end.
      assertThat(command.exitCode()).as(command.err() + command.out()).isIn(3, 4);
      assertThat(command.err()).contains("may open 64 files", "ulimit -n");
    }
  }

  @Test
  void anOverloadIsSaturatedAndEndsEarlyWhenAsked() throws Exception {
    FinishedRun run =
        finish(
            Command.loadgen(
                arguments(
                    "--rate",
                    "20000",
                    "--duration",
                    "60s",
                    "--warmup",
                    "1s",
                    // With the default of 10,000 none would come to its end in time.
                    "--max-in-flight",
                    "500",
                    "--abort-on",
                    "saturated")));
    assertThat(run.exitCode()).as(run.toString()).isEqualTo(3);
    assertThat(run.verdict()).isEqualTo("SATURATED");
    // Complete all the same: a line for every arrival that the summary counts.
    assertThat(run.bundle().samples()).hasSize(run.summary().get("planned").asInt());
    // By the schedule's clock, and not that of the machine that runs this test.
    assertThat(run.summary().get("planned").asInt()).isLessThan(15 * 20_000);
  }
}

package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** HTTP/2, as nginx saw it. */
class Http2IT {

  /** Of a run that is not about its rate. */
  private static final List<String> SHORT =
      List.of("--http", "2", "--warmup", "0s", "--code-warmup", "0s");

  @TempDir private Path directory;
  private Nginx nginx;
  private int before;

  @BeforeEach
  void findNginx() throws Exception {
    nginx = Nginx.require();
    before = nginx.log("http2").size();
  }

  /** What nginx logged: TLS, curve, whether resumed, HTTP, status, bytes of the body, URI. */
  private List<String> seen() throws IOException {
    List<String> lines = nginx.log("http2");
    return lines.subList(before, lines.size());
  }

  private FinishedRun run(String target, String... more) throws Exception {
    Path bundle = directory.resolve("bundle");
    List<String> arguments =
        new ArrayList<>(List.of("--target", target, "--out", bundle.toString()));
    arguments.addAll(SHORT);
    arguments.addAll(List.of(more));
    FinishedRun run =
        FinishedRun.of(Command.loadgen(arguments.toArray(String[]::new)), new BundleFiles(bundle));
    assertThat(run.exitCode()).as(run.toString()).isIn(0, 1, 3);
    return run;
  }

  @Test
  void nginxSawOneRequestOfHttp2OnEachFreshConnectionWithTheGroupThatWasAskedFor()
      throws Exception {
    FinishedRun run = run(nginx.http2() + "/", "--rate", "100", "--duration", "3s");

    assertThat(run.summary().at("/outcomes/SUCCESS").asInt()).isEqualTo(300);
    assertThat(run.summary().get("errors")).isEmpty();
    assertThat(run.summary().at("/phases/settings/count").asInt()).isEqualTo(300);
    assertThat(run.bundle().violations("summary")).isEmpty();
    assertThat(run.bundle().violations("run")).isEmpty();
    assertThat(run.bundle().json("run.json").at("/server/alpn").asText()).isEqualTo("h2");
    int settings = run.bundle().columns().indexOf("settings_us");
    int group = run.bundle().columns().indexOf("group");
    assertThat(run.bundle().samples())
        .hasSize(300)
        .allMatch(row -> row[group].equals("X25519MLKEM768"))
        .allMatch(row -> Double.parseDouble(row[settings]) >= 0);
    // One more is the preflight's.
    assertThat(seen())
        .hasSize(301)
        .allMatch(line -> line.matches("TLSv1.3 (0x11ec|X25519MLKEM768) \\. HTTP/2.0 200 3 /"));
  }

  @Test
  void readsBodiesThatAreLongerThanAFrame() throws Exception {
    FinishedRun run =
        run(
            "https://" + nginx.http2() + "/payload/1M",
            "--rate",
            "20",
            "--duration",
            "2s",
            "--expect-bytes",
            "1048576");
    assertThat(run.summary().at("/outcomes/SUCCESS").asInt()).isEqualTo(40);
    assertThat(run.summary().get("bodyBytesPerResponse").asDouble()).isEqualTo(1_048_576);
  }

  @Test
  void connectionsThatNginxLeavesAfterAHundredRequestsAreReplacedAndNoRequestIsLost()
      throws Exception {
    FinishedRun run =
        run(
            nginx.http2(),
            "--session",
            "pooled",
            "--connections",
            "4",
            "--rate",
            "300",
            "--duration",
            "4s");

    JsonNode summary = run.summary();
    assertThat(summary.get("errors")).isEmpty();
    assertThat(summary.at("/outcomes/SUCCESS").asInt()).isEqualTo(1200);
    // 1,200 requests over connections of 100 each.
    assertThat(summary.at("/pool/opened").asInt()).isBetween(12, 16);
    assertThat(seen()).hasSize(1201).allMatch(line -> line.contains(" HTTP/2.0 200 3 "));
  }

  @Test
  void connectionsThatNginxLeavesWhileIdleAreOpenedAgain() throws Exception {
    // An arrival every three seconds, and nginx leaves after two.
    FinishedRun run =
        run(
            nginx.http2(),
            "--session",
            "pooled",
            "--connections",
            "1",
            "--rate",
            "20/m",
            "--duration",
            "9s");

    assertThat(run.summary().get("errors")).isEmpty();
    assertThat(run.summary().at("/outcomes/SUCCESS").asInt()).isEqualTo(3);
    assertThat(run.summary().at("/pool/closedByServer").asInt()).isGreaterThanOrEqualTo(2);
  }

  @Test
  void sessionsAreResumed() throws Exception {
    FinishedRun run =
        run(nginx.http2(), "--session", "resumed", "--rate", "100", "--duration", "2s");

    assertThat(run.summary().get("errors")).isEmpty();
    assertThat(run.summary().at("/outcomes/SUCCESS").asInt()).isEqualTo(200);
    // One more shows before the run that nginx accepts them.
    assertThat(seen()).filteredOn(line -> line.contains(" r HTTP/2.0 200 3 ")).hasSize(201);
  }

  @Test
  void theProbeSaysWhatAServerTakesByAlpn() throws Exception {
    Command http2 = Command.loadgen("probe", "--http", "2", nginx.http2());
    assertThat(http2.exitCode()).as(http2.err()).isZero();
    assertThat(http2.out()).contains("HTTP/2, status 200, body 3 bytes");

    Command none = Command.loadgen("probe", "--http", "2", nginx.target());
    assertThat(none.exitCode()).isEqualTo(4);
    assertThat(none.err()).contains("no_application_protocol").contains("--http 1.1");
  }
}

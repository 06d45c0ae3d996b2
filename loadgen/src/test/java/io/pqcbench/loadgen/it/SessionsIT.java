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

/** Full and resumed handshakes, as nginx saw them. */
class SessionsIT {

  @TempDir private Path directory;
  private Nginx nginx;
  private int before;

  @BeforeEach
  void findNginx() throws Exception {
    nginx = Nginx.require();
    before = nginx.log("tickets").size();
  }

  /** How many connections nginx logged as resumed ({@code r}) or not ({@code .}). */
  private long seen(String reused) throws IOException {
    List<String> lines = nginx.log("tickets");
    return lines.subList(before, lines.size()).stream()
        .filter(line -> line.split(" ", -1)[3].equals(reused))
        .count();
  }

  private FinishedRun run(String target, String... more) throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--target", target, "--rate", "100", "--duration", "3s", "--code-warmup", "0s"));
    Path bundle = directory.resolve("bundle");
    arguments.addAll(List.of("--out", bundle.toString()));
    arguments.addAll(List.of(more));
    Command command = Command.loadgen(arguments.toArray(String[]::new));
    return FinishedRun.of(command, new BundleFiles(bundle));
  }

  @Test
  void nginxResumedEveryConnectionOfAResumedRunAndNoneOfItsPriming() throws Exception {
    FinishedRun run = run(nginx.tickets(), "--session", "resumed");
    assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);

    JsonNode sessions = run.summary().get("sessions");
    assertThat(run.summary().at("/errors")).isEmpty();
    assertThat(sessions.get("offered").asLong()).isEqualTo(301);
    assertThat(seen("r")).isEqualTo(301);
    // The run's preflight, and the priming without its one resumed connection.
    assertThat(seen(".")).isEqualTo(sessions.get("primingHandshakes").asLong());
  }

  @Test
  void aResumedRunWithoutARequestWaitsForItsTickets() throws Exception {
    FinishedRun run = run(nginx.tickets(), "--session", "resumed", "--handshake-only");
    assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);

    assertThat(run.summary().at("/errors")).isEmpty();
    // More than the stock of 100 that the run began with.
    assertThat(run.summary().at("/sessions/offered").asInt()).isEqualTo(301);
  }

  @Test
  void nginxSawTheSharesOfAMix() throws Exception {
    FinishedRun run = run(nginx.tickets(), "--session", "resumed", "--resume-ratio", "0.5");
    assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);

    assertThat(seen("r")).isEqualTo(151);
    assertThat(run.summary().at("/kinds/fresh/phases/handshake/count").asInt()).isEqualTo(120);
    assertThat(run.summary().at("/kinds/resumed/phases/handshake/count").asInt()).isEqualTo(120);
    assertThat(run.out()).contains("resumed alone: ");
  }

  @Test
  void aFreshRunResumesNothingWhateverTheServerIssues() throws Exception {
    FinishedRun run = run(nginx.tickets());
    assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);

    assertThat(seen("r")).isZero();
    assertThat(seen(".")).isEqualTo(301);
  }

  @Test
  void aServerThatIssuesTicketsAndDoesNotAcceptThemIsRefusedWithTheReason() throws Exception {
    FinishedRun run = run(nginx.target(), "--session", "resumed");

    assertThat(run.exitCode()).isEqualTo(4);
    assertThat(run.err()).contains("issues session tickets and does not accept them: 0 % resumed");
  }
}

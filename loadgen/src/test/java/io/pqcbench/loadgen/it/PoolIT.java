package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Connections that are kept open, against an nginx that closes them. */
class PoolIT {

  @TempDir private Path directory;
  private Nginx nginx;
  private int before;

  @BeforeEach
  void findNginx() throws Exception {
    nginx = Nginx.require();
    before = nginx.log("keepalive").size();
  }

  private FinishedRun run(String... more) throws Exception {
    Path bundle = directory.resolve("bundle");
    List<String> arguments =
        new ArrayList<>(
            List.of("--target", nginx.keepalive(), "--session", "pooled", "--code-warmup", "0s"));
    arguments.addAll(List.of("--out", bundle.toString()));
    arguments.addAll(List.of(more));
    Command command = Command.loadgen(arguments.toArray(String[]::new));
    return FinishedRun.of(command, new BundleFiles(bundle));
  }

  @Test
  void connectionsThatTheServerEndsAfterAHundredRequestsAreReplacedAndNoRequestIsLost()
      throws Exception {
    FinishedRun run =
        run("--connections", "4", "--rate", "300", "--duration", "4s", "--warmup", "0s");
    assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);

    JsonNode summary = run.summary();
    assertThat(summary.get("errors")).isEmpty();
    assertThat(summary.at("/outcomes/SUCCESS").asInt()).isEqualTo(1200);
    // 1,200 requests over connections of 100 each.
    assertThat(summary.at("/pool/opened").asInt()).isBetween(12, 16);
    assertThat(nginx.log("keepalive").size() - before).isEqualTo(1201);
  }

  @Test
  void connectionsThatTheServerClosesWhileIdleAreOpenedAgain() throws Exception {
    // An arrival every three seconds, and nginx closes after two.
    FinishedRun run =
        run("--connections", "1", "--rate", "20/m", "--duration", "10s", "--warmup", "0s");
    assertThat(run.exitCode()).as(run.err() + run.out()).isIn(0, 1, 3);

    JsonNode summary = run.summary();
    assertThat(summary.get("errors")).isEmpty();
    assertThat(summary.at("/outcomes/SUCCESS").asInt()).isEqualTo(3);
    assertThat(summary.at("/pool/closedByServer").asInt()).isGreaterThanOrEqualTo(2);
  }
}

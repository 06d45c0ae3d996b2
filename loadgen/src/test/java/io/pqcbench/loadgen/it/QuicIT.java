package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** QUIC from the command line, by the jar as it is packed: its native code and its processes. */
class QuicIT {

  @TempDir private Path directory;

  @Test
  void aRunOverQuicAgainstTheEmbeddedServerVerifiesTheGroupOfEveryHandshake() throws Exception {
    BundleFiles bundle = new BundleFiles(directory.resolve("bundle"));
    Command command =
        Command.loadgen(
            "run",
            "--transport",
            "quic",
            "--groups",
            "X25519MLKEM768",
            "--rate",
            "50",
            "--duration",
            "3s",
            "--warmup",
            "1s",
            "--out",
            bundle.directory().toString());

    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(bundle.samples())
        .hasSize(150)
        .allMatch(row -> row[3].equals("SUCCESS"))
        .allMatch(row -> String.join(",", row).contains(",X25519MLKEM768,"));
    JsonNode run = bundle.json("run.json");
    assertThat(run.at("/server/alpn").asText()).isEqualTo("hq-interop");
    assertThat(run.at("/server/quic/retry").asBoolean()).isFalse();
    assertThat(bundle.violations("run")).isEmpty();
    assertThat(bundle.violations("summary")).isEmpty();
  }
}

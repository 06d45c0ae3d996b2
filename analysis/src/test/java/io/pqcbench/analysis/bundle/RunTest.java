package io.pqcbench.analysis.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunTest {

  @TempDir private Path directory;

  @Test
  void readsHistogramsAndSamplesInTheOrderOfTheSchedule() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", 1000, 2000, 3000);
    Bundles.samples(
        bundle,
        """
        index,planned_us,measured,outcome,detail,died_in,response_us,handshake_us
        2,20000.000,1,SUCCESS,200,,3000.000,1500.500
        0,0.000,1,SUCCESS,200,,1000.000,500.000
        3,30000.000,1,TCP_RESET,,connect,,
        4,40000.000,0,SUCCESS,200,,9.000,9.000
        1,10000.000,1,SUCCESS,200,,2000.125,
        """);

    Run run = Run.read(bundle);
    Samples samples = run.samples(List.of("response_us", "handshake_us"));

    assertThat(run.verdict()).isEqualTo("TRUSTED");
    assertThat(run.histogram("response").getTotalCount()).isEqualTo(3);
    assertThat(run.histogram("connect").getTotalCount()).isZero();
    assertThat(samples.size()).isEqualTo(3);
    assertThat(samples.plannedSeconds(1)).isCloseTo(0.01, within(1e-12));
    assertThat(samples.value(0, 1)).isEqualTo(2000.125f);
    assertThat(samples.value(1, 1)).isNaN();
    assertThat(samples.value(1, 2)).isEqualTo(1500.5f);
    assertThat(samples.torn()).isFalse();
  }

  @Test
  void aRunThatWasKilledIsReadUpToItsTornEnd() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", new double[5_000]);
    Files.delete(bundle.resolve("summary.json"));
    Path file = bundle.resolve("samples.csv.gz");
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, whole.length / 2));

    Run run = Run.read(bundle);

    assertThat(run.verdict()).isEqualTo("KILLED");
    assertThat(run.samples(List.of("response_us")).torn()).isTrue();
    assertThat(run.samples(List.of("response_us")).size()).isBetween(100, 4_999);
  }

  @Test
  void aDirectoryWithoutABundleIsRefused() {
    assertThatThrownBy(() -> Run.read(directory))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("holds no run.json")
        .hasMessageContaining(directory.toString());
  }

  @Test
  void aFormatThatIsNotKnownIsRefusedWithBothNames() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", 1);
    Files.writeString(bundle.resolve("summary.json"), "{\"schema\": \"loadgen-summary/9\"}");

    assertThatThrownBy(() -> Run.read(bundle))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("schema=loadgen-summary/9 known=loadgen-summary/3");
  }

  @Test
  void damagedFilesAreRefusedByName() throws Exception {
    Path bundle = Bundles.run(directory.resolve("run"), "TRUSTED", 1);
    damaged(bundle, "run.json", "{");
    damaged(bundle, "samples.csv.gz", "no gzip");
    damaged(bundle, "samples.csv.gz", "");
    Bundles.samples(bundle, "index,planned_us\n");
    assertThatThrownBy(() -> Run.read(bundle).samples(List.of("response_us")))
        .hasMessageContaining("has no column 'response_us'");
    Bundles.samples(
        bundle, "index,planned_us,measured,outcome,response_us\n0,1.0,1,SUCCESS,12x4\n");
    assertThatThrownBy(() -> Run.read(bundle).samples(List.of("response_us")))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining("line=2 number=12x4");
    Bundles.samples(bundle, "index,planned_us,measured,outcome,response_us\n0,1.0,1\n");
    assertThatThrownBy(() -> Run.read(bundle).samples(List.of("response_us")))
        .hasMessageContaining("line=2 fields=3 of 5");
  }

  private static void damaged(Path bundle, String name, String content) throws IOException {
    byte[] whole = Files.readAllBytes(bundle.resolve(name));
    Files.writeString(bundle.resolve(name), content);
    assertThatThrownBy(() -> Run.read(bundle).samples(List.of("response_us")))
        .isInstanceOf(UnreadableException.class)
        .hasMessageContaining(name);
    Files.write(bundle.resolve(name), whole);
  }
}

package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.it.BundleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bundles of the sample have the form of those that are written today. The analysis tests
 * against the same ones, so that the two cannot drift apart unseen: if this fails, the sample has
 * to be made anew.
 */
class SampleBundleTest {

  private static final Path TRIAL =
      Path.of("..", "samples", "loopback", "bundle", "trials", "b01-1-x25519");

  @ParameterizedTest
  @ValueSource(strings = {"run", "summary"})
  void theJsonFilesFollowTheSchemasOfToday(String name) throws IOException {
    assertThat(new BundleFiles(TRIAL).violations(name)).isEmpty();
  }

  @Test
  void theSamplesHaveTheColumnsOfToday() throws IOException {
    assertThat(String.join(",", new BundleFiles(TRIAL).columns()) + "\n")
        .isEqualTo(SampleFormat.header());
  }

  @Test
  void theSlowRequestsHaveTheColumnsOfToday() throws IOException {
    assertThat(Files.readAllLines(TRIAL.resolve("slow.csv")).get(0))
        .isEqualTo("why," + SampleFormat.header().stripTrailing() + ",cause,evidence");
  }
}

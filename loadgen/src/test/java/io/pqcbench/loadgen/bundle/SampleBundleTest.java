package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.it.BundleFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bundles of the sample have the form of those that are written today. The analysis tests
 * against the same ones, so that the two cannot drift apart unseen: if this fails, the sample has
 * to be made anew.
 */
class SampleBundleTest {

  private static final Path TRIALS = Path.of("..", "samples", "loopback", "bundle", "trials");

  private static Path trial;

  /** Which arm came first was drawn. */
  @BeforeAll
  static void find() throws IOException {
    try (Stream<Path> trials = Files.list(TRIALS)) {
      trial = trials.filter(Files::isDirectory).sorted().findFirst().orElseThrow();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"run", "summary"})
  void theJsonFilesFollowTheSchemasOfToday(String name) throws IOException {
    assertThat(new BundleFiles(trial).violations(name)).isEmpty();
  }

  @Test
  void theSamplesHaveTheColumnsOfToday() throws IOException {
    assertThat(String.join(",", new BundleFiles(trial).columns()) + "\n")
        .isEqualTo(SampleFormat.header());
  }

  @Test
  void theSlowRequestsHaveTheColumnsOfToday() throws IOException {
    assertThat(Files.readAllLines(trial.resolve("slow.csv")).get(0))
        .isEqualTo("why," + SampleFormat.header().stripTrailing() + ",cause,evidence");
  }
}

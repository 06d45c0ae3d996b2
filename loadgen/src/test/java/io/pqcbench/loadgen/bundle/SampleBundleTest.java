package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bundles of the sample have the form of those that are written today. The analysis tests
 * against the same ones, so that the two cannot drift apart unseen: if this fails, the sample has
 * to be made anew.
 */
class SampleBundleTest {

  private static final Path SAMPLE = Path.of("..", "samples", "loopback", "bundle");
  private static final Path TRIAL = SAMPLE.resolve("trials").resolve("b01-1-x25519");

  @ParameterizedTest
  @ValueSource(strings = {"run", "summary"})
  void theJsonFilesFollowTheSchemasOfToday(String name) throws Exception {
    try (InputStream schema = Bundle.class.getResourceAsStream(name + ".schema.json")) {
      JsonNode json = new ObjectMapper().readTree(TRIAL.resolve(name + ".json").toFile());
      assertThat(
              JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
                  .getSchema(schema)
                  .validate(json))
          .isEmpty();
    }
  }

  @Test
  void theSamplesHaveTheColumnsOfToday() throws Exception {
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(TRIAL.resolve("samples.csv.gz"))),
                StandardCharsets.US_ASCII))) {
      assertThat(in.readLine() + "\n").isEqualTo(SampleFormat.header());
    }
  }

  @Test
  void theSlowRequestsHaveTheColumnsOfToday() throws IOException {
    assertThat(Files.readAllLines(TRIAL.resolve("slow.csv")).get(0))
        .isEqualTo("why," + SampleFormat.header().stripTrailing() + ",cause,evidence");
  }
}

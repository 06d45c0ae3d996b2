package io.pqcbench.loadgen.it;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.networknt.schema.ValidationMessage;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/** Reads a bundle by its documentation, with none of the code that wrote it. */
public record BundleFiles(Path directory) {

  private static final ObjectMapper JSON = new ObjectMapper();

  JsonNode json(String name) throws IOException {
    return JSON.readTree(directory.resolve(name).toFile());
  }

  /** What the file says against its own schema. */
  public Set<ValidationMessage> violations(String name) throws IOException {
    try (InputStream schema =
        BundleFiles.class.getResourceAsStream(
            "/io/pqcbench/loadgen/bundle/" + name + ".schema.json")) {
      return JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V202012)
          .getSchema(schema)
          .validate(json(name + ".json"));
    }
  }

  /** The lines of a CSV file without its header. */
  List<String> lines(String name) throws IOException {
    return Files.readAllLines(directory.resolve(name)).stream().skip(1).toList();
  }

  /** The rows of samples.csv.gz without the header, also of a file that ends in the middle. */
  List<String[]> samples() throws IOException {
    return lines().skip(1).map(line -> line.split(",", -1)).toList();
  }

  /** The names of the columns of {@link #samples}. */
  public List<String> columns() throws IOException {
    return List.of(lines().findFirst().orElseThrow().split(",", -1));
  }

  private Stream<String> lines() throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    try (InputStream in =
        new GZIPInputStream(Files.newInputStream(directory.resolve("samples.csv.gz")))) {
      for (int next = in.read(); next >= 0; next = in.read()) {
        read.write(next);
      }
    } catch (EOFException e) {
      // Killed: what was flushed is here, the last line may be torn.
      String text = read.toString(StandardCharsets.US_ASCII);
      return text.substring(0, text.lastIndexOf('\n') + 1).lines();
    }
    return read.toString(StandardCharsets.US_ASCII).lines();
  }
}

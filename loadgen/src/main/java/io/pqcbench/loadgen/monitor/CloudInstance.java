package io.pqcbench.loadgen.monitor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * What kind of virtual machine this is, as its cloud says: the type is what two results must have
 * in common to be compared.
 *
 * @param type e.g. {@code c7g.large}
 * @param id of the instance
 * @param zone availability zone
 * @param image from which it was started
 */
public record CloudInstance(String type, String id, String zone, String image) {

  /** Amazon's metadata service (link-local; "Instance metadata and user data", EC2 user guide). */
  private static final URI SERVICE = URI.create("http://169.254.169.254/");

  /** Only there is the service asked: elsewhere the address may be anybody's. */
  private static final Path VENDOR = Path.of("/sys/class/dmi/id/sys_vendor");

  private static final Duration PATIENCE = Duration.ofMillis(500);

  /** Returns what this machine is; null on others than Amazon's, or if the service is silent. */
  public static CloudInstance read() {
    try {
      return Files.readString(VENDOR).startsWith("Amazon EC2") ? ask(SERVICE) : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** Asks a service of version 2, which wants a token first. */
  static CloudInstance ask(URI service) throws IOException {
    HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
    String token =
        send(
            client,
            HttpRequest.newBuilder(service.resolve("latest/api/token"))
                .header("X-aws-ec2-metadata-token-ttl-seconds", "60")
                .PUT(HttpRequest.BodyPublishers.noBody()));
    String document =
        send(
            client,
            HttpRequest.newBuilder(service.resolve("latest/dynamic/instance-identity/document"))
                .header("X-aws-ec2-metadata-token", token)
                .GET());
    JsonNode fields = new ObjectMapper().readTree(document);
    return new CloudInstance(
        fields.path("instanceType").asText(),
        fields.path("instanceId").asText(),
        fields.path("availabilityZone").asText(),
        fields.path("imageId").asText());
  }

  private static String send(HttpClient client, HttpRequest.Builder request) throws IOException {
    try {
      HttpResponse<String> response =
          client.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new IOException("the metadata service refuses: status=" + response.statusCode());
      }
      return response.body();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the metadata service was asked", e);
    }
  }
}

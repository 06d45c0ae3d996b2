package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Assumptions;

/** The nginx that the build started. */
record Nginx(
    String target,
    String tls12,
    String tickets,
    String p256,
    String keepalive,
    String http2,
    String mldsa,
    String rsa,
    String chain,
    Path openssl,
    Path program,
    Path accessLog) {

  /** Skips the test, saying why, where there is no nginx; in CI that is a failure. */
  static Nginx require() throws IOException {
    Path base = Path.of(System.getProperty("nginx.local"));
    Properties properties = new Properties();
    try (var in = Files.newInputStream(base.resolveSibling("nginx-local.properties"))) {
      properties.load(in);
    }
    if (properties.getProperty("target") == null) {
      String reason = Files.readString(base.resolveSibling("nginx-local.log"));
      if ("true".equals(System.getenv("CI"))) {
        fail("nginx is needed in CI: " + reason);
      }
      System.out.println("skipped, no nginx: " + reason);
      Assumptions.abort(reason);
    }
    return new Nginx(
        properties.getProperty("target"),
        properties.getProperty("tls12"),
        properties.getProperty("tickets"),
        properties.getProperty("p256"),
        properties.getProperty("keepalive"),
        properties.getProperty("http2"),
        properties.getProperty("mldsa"),
        properties.getProperty("rsa"),
        properties.getProperty("chain"),
        Path.of(properties.getProperty("openssl")),
        Path.of(properties.getProperty("nginx")),
        Path.of(properties.getProperty("access_log")));
  }

  /** The lines of the access log: protocol, curve, cipher, reused, status, bytes, uri, time. */
  List<String> log() throws IOException {
    return Files.readAllLines(accessLog);
  }

  /** The lines of a listener that has a log of its own. Nginx makes the file when it starts. */
  List<String> log(String listener) throws IOException {
    return Files.readAllLines(accessLog.resolveSibling(listener + ".log"));
  }
}

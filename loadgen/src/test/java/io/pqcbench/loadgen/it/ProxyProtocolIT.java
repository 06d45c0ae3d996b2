package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An nginx that is told the client's address by a load balancer before it. */
@Tag("side-by-side")
class ProxyProtocolIT {

  @TempDir private Path directory;
  private OwnNginx nginx;
  private int port;

  @BeforeEach
  void startNginx() throws Exception {
    X509Bundle server =
        new CertificateBuilder()
            .ecp256()
            .subject("CN=server.example")
            .setIsCertificateAuthority(true)
            .buildSelfSigned();
    Files.writeString(directory.resolve("server.pem"), server.getCertificatePEM());
    Files.writeString(directory.resolve("server.key"), server.getPrivateKeyPEM());
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    nginx =
        OwnNginx.start(
            List.of(),
            directory,
            "127.0.0.1",
            port,
            """
            log_format proxied "$status $proxy_protocol_addr $proxy_protocol_port"
                               " $proxy_protocol_server_addr $proxy_protocol_server_port"
                               " $remote_addr $remote_port";
            access_log "%1$s/access.log" proxied;
            server {
              listen 127.0.0.1:%2$d ssl proxy_protocol;
              ssl_certificate "%1$s/server.pem";
              ssl_certificate_key "%1$s/server.key";
              location / { return 200 ok; }
            }
            """
                .formatted(directory, port));
  }

  @AfterEach
  void stopNginx() throws Exception {
    if (nginx != null) {
      nginx.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"v1", "v2"})
  void nginxIsToldTheAddressesOfEveryConnection(String version) throws Exception {
    BundleFiles bundle = new BundleFiles(directory.resolve("bundle"));
    Command command =
        Command.loadgen(
            "--target",
            "127.0.0.1:" + port,
            "--proxy-protocol",
            version,
            // Not the address that the kernel takes by itself.
            "--source-address",
            "127.0.0.7",
            "--rate",
            "50",
            "--duration",
            "1s",
            "--warmup",
            "0s",
            "--code-warmup",
            "200ms",
            "--out",
            bundle.directory().toString());
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(command.out()).contains("PROXY protocol " + version);
    assertThat(bundle.json("run.json").at("/plan/limits/proxyProtocol").asText())
        .isEqualToIgnoringCase(version);

    int column = bundle.columns().indexOf("local_port");
    List<String> told =
        bundle.samples().stream()
            .map(row -> row[column])
            .map(
                source ->
                    "200 127.0.0.7 %1$s 127.0.0.1 %2$d 127.0.0.7 %1$s".formatted(source, port))
            .toList();
    List<String> log = Files.readAllLines(directory.resolve("access.log"));
    // The first is the preflight's.
    assertThat(told).hasSize(50);
    assertThat(log.subList(1, log.size())).containsExactlyInAnyOrderElementsOf(told);
  }

  @Test
  void saysWhereAHeaderMayBeMissingOrUnexpected() throws Exception {
    Command missing = Command.loadgen("probe", "127.0.0.1:" + port);
    assertThat(missing.exitCode()).isEqualTo(4);
    assertThat(missing.err()).contains("may expect a PROXY header: --proxy-protocol");
    Command unexpected =
        Command.loadgen("probe", Nginx.require().target(), "--proxy-protocol", "v2");
    assertThat(unexpected.exitCode()).isEqualTo(4);
    assertThat(unexpected.err()).contains("the PROXY header that --proxy-protocol sends");
  }
}

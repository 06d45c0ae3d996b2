package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Other TLS stacks than BoringSSL against nginx; OpenSSL in a Debian 13. */
class TlsStackIT {

  private static final List<String> SHORT = List.of("--rate", "100", "--duration", "4s");

  @TempDir private Path directory;
  private Nginx nginx;

  @BeforeEach
  void findNginx() throws Exception {
    nginx = Nginx.require();
  }

  private BundleFiles bundle() {
    return new BundleFiles(directory.resolve("bundle"));
  }

  private List<String> run(String target, String... more) {
    List<String> arguments =
        new ArrayList<>(List.of("--target", target, "--out", bundle().directory().toString()));
    arguments.addAll(SHORT);
    arguments.addAll(List.of(more));
    return arguments;
  }

  private void allSucceeded(Command command) throws Exception {
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(bundle().samples()).hasSize(400).allMatch(row -> row[3].equals("SUCCESS"));
    assertThat(bundle().violations("run")).isEmpty();
    assertThat(bundle().violations("summary")).isEmpty();
  }

  @Test
  void openSslMeasuresAnMlDsaCertificate() throws Exception {
    Command command = DebianRoot.require().loadgen(run(nginx.mldsa(), "--tls-stack", "openssl"));
    allSucceeded(command);

    JsonNode run = bundle().json("run.json");
    assertThat(run.at("/plan/tls/stack/name").asText()).isEqualTo("openssl");
    assertThat(run.at("/versions/tlsStack").asText())
        .matches("OpenSSL 3\\.[5-9]\\..*libssl\\.so\\.3\\)");
    assertThat(command.out()).contains(run.at("/versions/tlsStack").asText());
    assertThat(run.at("/server/group").asText()).isEqualTo("X25519MLKEM768");
    assertThat(run.at("/server/certificate/signatureAlgorithm").asText()).contains("ML-DSA-65");
    // The certificate alone has 5.5 KB, and the signature of the handshake 3.3 KB.
    assertThat(run.at("/server/handshakeBytesIn").asInt()).isBetween(10_000, 10_700);
  }

  @Test
  void boringSslSaysWhyAnMlDsaCertificateCannotBeHadByItAndWhatCan() throws Exception {
    Command command = Command.loadgen(run(nginx.mldsa()).toArray(String[]::new));
    assertThat(command.exitCode()).isEqualTo(4);
    assertThat(command.err())
        .contains("handshake_failure", "BoringSSL", "--tls-stack openssl", "mldsa65");
  }

  @Test
  void openSslResumesSessions() throws Exception {
    allSucceeded(
        DebianRoot.require()
            .loadgen(run(nginx.tickets(), "--tls-stack", "openssl", "--session", "resumed")));
    assertThat(bundle().json("summary.json").at("/sessions/offered").asInt())
        .isGreaterThanOrEqualTo(400);
  }

  @Test
  void openSslSeesAHelloRetryRequest() throws Exception {
    Command command =
        DebianRoot.require()
            .loadgen(run(nginx.p256(), "--tls-stack", "openssl", "--groups", "X25519,P-256"));
    assertThat(command.exitCode()).isEqualTo(3);
    assertThat(bundle().samples()).hasSize(400).allMatch(row -> row[3].equals("HELLO_RETRY"));
  }

  /** The second is what its own stack calls secp384r1. */
  @ParameterizedTest
  @CsvSource({
    "X25519, TLS_AES_256_GCM_SHA384",
    "P-384, TLS_CHACHA20_POLY1305_SHA256",
  })
  void openSslOffersTheGroupAndTheCipherSuiteThatItIsTold(String group, String suite)
      throws Exception {
    Command command =
        DebianRoot.require()
            .loadgen(
                List.of(
                    "probe",
                    nginx.target(),
                    "--tls-stack",
                    "openssl",
                    "--openssl-lib",
                    "/lib/"
                        + System.getProperty("os.arch").replace("amd64", "x86_64")
                        + "-linux-gnu",
                    "--groups",
                    group,
                    "--ciphersuites",
                    suite,
                    "--json"));
    assertThat(command.exitCode()).as(command.err()).isZero();
    JsonNode facts = new ObjectMapper().readTree(command.out());
    assertThat(facts.get("group").asText()).isEqualTo(group);
    assertThat(facts.get("cipherSuite").asText()).isEqualTo(suite);
  }

  @Test
  void saysWhatIsMissingWhenThereIsNoOpenSsl() throws Exception {
    Command command =
        Command.loadgen(
            "probe", nginx.target(), "--tls-stack", "openssl", "--openssl-lib", "/nosuch");
    assertThat(command.exitCode()).isEqualTo(4);
    assertThat(command.err())
        .contains("/nosuch/libcrypto.so.3", "OpenSSL 3.5", "Debian 13", "libapr1t64");
  }
}

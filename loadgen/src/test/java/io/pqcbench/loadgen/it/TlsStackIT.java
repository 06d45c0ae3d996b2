package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.TlsStack;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Other TLS stacks than BoringSSL against nginx; OpenSSL in a Debian 13. */
@Tag("side-by-side")
class TlsStackIT {

  private static final List<String> SHORT = List.of("--rate", "100", "--duration", "3s");

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
    // How quiet the machine is has no place here, but what was not measured has none either.
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(bundle().json("summary.json").get("verdict").asText())
        .as(command.err() + command.out())
        .isNotEqualTo("INVALID");
    assertThat(bundle().samples()).hasSize(300).allMatch(row -> row[3].equals("SUCCESS"));
    assertThat(bundle().violations("run")).isEmpty();
    assertThat(bundle().violations("summary")).isEmpty();
  }

  @Test
  void openSslMeasuresAnMlDsaCertificate() throws Exception {
    Command command =
        DebianRoot.require()
            .loadgen(run(nginx.mldsa(), "--tls-stack", "openssl", "--sigalgs", "mldsa65"));
    allSucceeded(command);

    JsonNode run = bundle().json("run.json");
    assertThat(run.at("/plan/tls/stack/name").asText()).isEqualTo("openssl");
    assertThat(run.at("/versions/tlsStack").asText())
        .matches("OpenSSL 3\\.[5-9]\\..*libssl\\.so\\.3\\)");
    assertThat(command.out()).contains(run.at("/versions/tlsStack").asText());
    assertThat(bundle().json("summary.json").get("tlsStack"))
        .isEqualTo(run.at("/versions/tlsStack"));
    // All that was offered, so that each of the signatures was one.
    assertThat(texts(run.at("/plan/tls/stack"), "sigalgs")).containsExactly("mldsa65");
    assertThat(run.at("/server/group").asText()).isEqualTo("X25519MLKEM768");
    assertThat(run.at("/server/certificate/signatureAlgorithm").asText()).isEqualTo("ML-DSA-65");
    assertThat(run.at("/server/certificate/signatureScheme").asText()).isEqualTo("mldsa65");
    assertThat(command.out()).contains("mldsa65 in CertificateVerify");
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
        .isGreaterThanOrEqualTo(300);
  }

  @Test
  void openSslSeesAHelloRetryRequest() throws Exception {
    Command command =
        DebianRoot.require()
            .loadgen(
                List.of(
                    "probe",
                    nginx.p256(),
                    "--tls-stack",
                    "openssl",
                    "--groups",
                    "X25519,P-256",
                    "--json"));
    assertThat(command.exitCode()).as(command.err()).isZero();
    JsonNode facts = new ObjectMapper().readTree(command.out());
    assertThat(facts.get("helloRetryRequest").asBoolean()).isTrue();
    assertThat(facts.get("group").asText()).isEqualTo("P-256");
    // Of the first group only.
    assertThat(texts(facts, "keyShares")).containsExactly("X25519:32");
  }

  @Test
  void theJdkSendsTheSharesOfTwoGroupsOfDifferentKinds() throws Exception {
    Command command =
        DebianRoot.require()
            .loadgen(
                List.of(
                    "probe",
                    nginx.target(),
                    "--tls-stack",
                    "jdk",
                    "--groups",
                    "X25519,P-256,P-384",
                    "--json"));
    assertThat(command.exitCode()).as(command.err()).isZero();
    assertThat(texts(new ObjectMapper().readTree(command.out()), "keyShares"))
        .containsExactly("X25519:32", "P-256:65");
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
  void openSslOffersTheSignatureSchemesThatItIsTold() throws Exception {
    DebianRoot debian = DebianRoot.require();
    Command fits =
        debian.loadgen(
            List.of("probe", nginx.mldsa(), "--tls-stack", "openssl", "--sigalgs", "mldsa65"));
    assertThat(fits.exitCode()).as(fits.err()).isZero();

    Command none =
        debian.loadgen(
            List.of("probe", nginx.mldsa(), "--tls-stack", "openssl", "--sigalgs", "mldsa87"));
    assertThat(none.exitCode()).isEqualTo(4);
    assertThat(none.err()).contains("handshake_failure", "sigalgs=[mldsa87]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"openssl", "jdk"})
  void theOtherStacksSpeakHttp2(String stack) throws Exception {
    List<String> probe = List.of("probe", nginx.http2(), "--http", "2", "--groups", "X25519");
    List<String> arguments = new ArrayList<>(probe);
    arguments.addAll(List.of("--tls-stack", stack, "--json"));
    Command command = DebianRoot.require().loadgen(arguments);
    assertThat(command.exitCode()).as(command.err()).isZero();
    JsonNode facts = new ObjectMapper().readTree(command.out());
    assertThat(facts.get("alpn").asText()).isEqualTo("h2");
    assertThat(facts.get("httpStatus").asInt()).isEqualTo(200);
  }

  @Test
  void theJdksOwnStackIsOneForFunction() throws Exception {
    Command command =
        DebianRoot.require()
            .loadgen(run(nginx.target(), "--tls-stack", "jdk", "--groups", "X25519"));
    allSucceeded(command);
    assertThat(command.out()).contains("not for microseconds", "stack-in-java");
    assertThat(bundle().json("run.json").at("/versions/tlsStack").asText())
        .matches("JDK 21.* SunJSSE");
  }

  @Test
  void bouncyCastleMeasuresAnMlDsaCertificate() throws Exception {
    Command command =
        Command.loadgen(run(nginx.mldsa(), "--tls-stack", "bc").toArray(String[]::new));
    allSucceeded(command);
    JsonNode server = bundle().json("run.json").get("server");
    assertThat(server.get("group").asText()).isEqualTo("X25519MLKEM768");
    assertThat(server.get("handshakeBytesIn").asInt()).isBetween(10_000, 10_700);
  }

  @Test
  void takesOpenSslFromTheFolderThatItIsTold() throws Exception {
    DebianRoot debian = DebianRoot.require();
    Path folder = debian.copyOfOpenSsl(Files.createDirectory(directory.resolve("lib")));
    Command command =
        debian.loadgen(
            run(nginx.target(), "--tls-stack", "openssl", "--openssl-lib", folder.toString()));
    allSucceeded(command);
    // Not from where the loader would have found it.
    assertThat(bundle().json("run.json").at("/versions/tlsStack").asText())
        .startsWith("OpenSSL 3.")
        .endsWith(" (" + folder.resolve("libssl.so.3") + ")");
    assertThat(bundle().json("run.json").at("/plan/tls/stack/library").asText())
        .endsWith(folder.toString());
  }

  @Test
  void tellsWhatEachStackOffersHere() throws Exception {
    Command command = DebianRoot.require().loadgen(List.of("stacks", "--json"));
    assertThat(command.exitCode()).as(command.err()).isZero();
    Map<String, JsonNode> stacks = new TreeMap<>();
    new ObjectMapper()
        .readTree(command.out())
        .forEach(stack -> stacks.put(stack.get("stack").asText(), stack));
    assertThat(stacks).containsOnlyKeys("boringssl", "openssl", "jdk", "bc");
    assertThat(stacks.values()).allMatch(stack -> stack.get("available").asBoolean());
    assertThat(stacks.get("openssl").get("version").asText()).startsWith("OpenSSL 3.");
    assertThat(texts(stacks.get("openssl"), "groups"))
        .isEqualTo(NamedGroup.offered(TlsStack.OPENSSL).stream().map(NamedGroup::label).toList());
    for (String stack : List.of("openssl", "bc")) {
      assertThat(texts(stacks.get(stack), "signatureSchemes"))
          .as(stack)
          .contains("mldsa44", "mldsa65", "mldsa87", "ecdsa_secp256r1_sha256");
    }
    for (String stack : List.of("boringssl", "jdk")) {
      assertThat(texts(stacks.get(stack), "signatureSchemes"))
          .as(stack)
          .contains("ecdsa_secp256r1_sha256")
          .doesNotContain("mldsa65");
    }
    assertThat(stacks.values())
        .allMatch(stack -> texts(stack, "cipherSuites").contains("TLS_AES_256_GCM_SHA384"))
        .allMatch(stack -> texts(stack, "protocols").containsAll(List.of("TLSv1.3", "TLSv1.2")));
  }

  private static List<String> texts(JsonNode stack, String field) {
    List<String> texts = new ArrayList<>();
    stack.get(field).forEach(text -> texts.add(text.asText()));
    return texts;
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

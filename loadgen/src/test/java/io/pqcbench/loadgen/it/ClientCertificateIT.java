package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Client certificates, against an nginx that asks for them. */
@Tag("side-by-side")
class ClientCertificateIT {

  private static final String PASSWORD = "correct horse";

  @TempDir private Path directory;
  private Nginx nginx;
  private OwnNginx own;

  /** The port at which nginx itself looks at the result of the check, after the handshake. */
  private int lenient;

  /**
   * The port at which a handshake without a certificate is ended, as by servers other than nginx.
   */
  private int strict;

  private Path clients;

  @BeforeEach
  void startNginx() throws Exception {
    nginx = Nginx.require();
    X509Bundle server = certificate("server.example").buildSelfSigned();
    X509Bundle authority = certificate("clients").buildSelfSigned();
    clients = write("clients.pem", authority.getCertificatePEM());
    write("server.pem", server.getCertificatePEM());
    write("server.key", server.getPrivateKeyPEM());
    identity("right", authority);
    identity("wrong", certificate("others").buildSelfSigned());
    try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      lenient = one.getLocalPort();
      strict = other.getLocalPort();
    }
    own =
        OwnNginx.start(
            List.of(),
            directory,
            "127.0.0.1",
            strict,
            """
            ssl_certificate "%1$s/server.pem";
            ssl_certificate_key "%1$s/server.key";
            log_format client "$status $ssl_client_verify $ssl_client_s_dn";
            access_log "%1$s/access.log" client;
            server {
              listen 127.0.0.1:%2$d ssl;
              ssl_client_certificate "%4$s";
              ssl_verify_client on;
              location / { return 200 ok; }
            }
            server {
              listen 127.0.0.1:%3$d ssl;
              ssl_client_certificate "%4$s";
              ssl_verify_client on;
              ssl_conf_command VerifyMode Require;
              location / { return 200 ok; }
            }
            """
                .formatted(directory, lenient, strict, clients));
  }

  @AfterEach
  void stopNginx() throws Exception {
    if (own != null) {
      own.close();
    }
  }

  private static CertificateBuilder certificate(String name) {
    return new CertificateBuilder().ecp256().subject("CN=" + name).setIsCertificateAuthority(true);
  }

  private Path write(String name, String content) throws Exception {
    return Files.writeString(directory.resolve(name), content);
  }

  private void identity(String name, X509Bundle authority) throws Exception {
    X509Bundle client = certificate(name).setIsCertificateAuthority(false).buildIssuedBy(authority);
    write(name + ".pem", client.getCertificatePEM());
    write(name + ".key", client.getPrivateKeyPEM());
    KeyStore store = client.toKeyStore(PASSWORD.toCharArray());
    try (OutputStream out = Files.newOutputStream(directory.resolve(name + ".p12"))) {
      store.store(out, PASSWORD.toCharArray());
    }
    write("password", PASSWORD + "\n");
  }

  private String file(String name) {
    return directory.resolve(name).toString();
  }

  private Command probe(int port, String... options) throws Exception {
    return probeAfter("true", port, options);
  }

  private Command probeAfter(String shell, int port, String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("probe", "127.0.0.1:" + port));
    arguments.addAll(List.of(options));
    return Command.loadgenAfter(shell, arguments.toArray(new String[0]));
  }

  private void accepted(Command command) throws Exception {
    assertThat(command.exitCode()).as(command.err() + command.out()).isZero();
    List<String> log = Files.readAllLines(directory.resolve("access.log"));
    assertThat(log.get(log.size() - 1)).isEqualTo("200 SUCCESS CN=right");
  }

  @Test
  void everyHandshakeOfARunPresentsTheCertificate() throws Exception {
    BundleFiles bundle = new BundleFiles(directory.resolve("bundle"));
    Command command =
        Command.loadgen(
            "--target",
            "127.0.0.1:" + strict,
            "--cert",
            file("right.pem"),
            "--key",
            encryptedKey(),
            "--key-password-file",
            file("password"),
            "--rate",
            "50",
            "--duration",
            "2s",
            "--out",
            bundle.directory().toString());
    assertThat(command.exitCode()).as(command.err() + command.out()).isIn(0, 1, 3);
    assertThat(bundle.samples()).hasSize(100).allMatch(row -> row[3].equals("SUCCESS"));
    // One more is the preflight's.
    assertThat(Files.readAllLines(directory.resolve("access.log")))
        .hasSize(101)
        .containsOnly("200 SUCCESS CN=right");
    try (Stream<Path> files = Files.walk(bundle.directory())) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(content(file)).as(file.toString()).isNotEmpty().doesNotContain(PASSWORD);
      }
    }
    assertThat(command.out() + command.err()).doesNotContain(PASSWORD);
  }

  private static String content(Path file) throws Exception {
    try (InputStream in = Files.newInputStream(file);
        InputStream plain = file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in) {
      return new String(plain.readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  private String encryptedKey() throws Exception {
    Command openssl =
        Command.of(
            nginx.openssl().toString(),
            "pkcs8",
            "-topk8",
            "-in",
            file("right.key"),
            "-out",
            file("encrypted.key"),
            "-passout",
            "file:" + file("password"));
    assertThat(openssl.exitCode()).as(openssl.err()).isZero();
    return file("encrypted.key");
  }

  private Command probeByOpenSsl(int port, String... options) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("probe", "127.0.0.1:" + port));
    arguments.addAll(List.of("--tls-stack", "openssl"));
    arguments.addAll(List.of(options));
    return DebianRoot.require().loadgen(arguments);
  }

  @Test
  void openSslPresentsTheCertificateToo() throws Exception {
    accepted(probeByOpenSsl(strict, "--cert", file("right.pem"), "--key", file("right.key")));
    accepted(
        probeByOpenSsl(
            strict,
            "--cert",
            file("right.pem"),
            "--key",
            encryptedKey(),
            "--key-password-file",
            file("password")));
    accepted(
        probeByOpenSsl(
            strict, "--cert", file("right.p12"), "--key-password-file", file("password")));
    Command wrong = probeByOpenSsl(strict, "--cert", file("wrong.pem"), "--key", file("wrong.key"));
    assertThat(wrong.exitCode()).isEqualTo(4);
    assertThat(wrong.err()).contains("wrong.pem");
    Command missing = probeByOpenSsl(strict);
    assertThat(missing.exitCode()).isEqualTo(4);
    assertThat(missing.err()).contains("certificate_required", "--cert and --key");
    // The password of the file is another one.
    write("password", "battery staple");
    Command locked =
        probeByOpenSsl(
            strict,
            "--cert",
            file("right.pem"),
            "--key",
            file("encrypted.key"),
            "--key-password-file",
            file("password"));
    assertThat(locked.exitCode()).isEqualTo(4);
    assertThat(locked.err()).contains("the client's key cannot be read");
  }

  @Test
  void takesPkcs12AndEncryptedKeysWithPasswordsFromAFileOrTheEnvironment() throws Exception {
    accepted(probe(lenient, "--cert", file("right.p12"), "--key-password-file", file("password")));
    accepted(
        probeAfter(
            "export PASS='" + PASSWORD + "'",
            lenient,
            "--cert",
            file("right.p12"),
            "--key-password-env",
            "PASS"));
    accepted(
        probe(
            lenient,
            "--cert",
            file("right.pem"),
            "--key",
            encryptedKey(),
            "--key-password-file",
            file("password")));
  }

  @Test
  void namesTheAlertOfAServerThatMissesTheCertificate() throws Exception {
    Command missing = probe(strict);
    assertThat(missing.exitCode()).isEqualTo(4);
    assertThat(missing.err())
        .contains("after the handshake with the alert certificate_required")
        .contains("--cert and --key");
  }

  @Test
  void namesTheAlertOfAServerThatDoesNotKnowWhoIssuedIt() throws Exception {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    // nginx' own check never ends a handshake, OpenSSL's does.
    Command server =
        Command.of(
            nginx.openssl().toString(),
            "s_server",
            "-accept",
            "127.0.0.1:" + port,
            "-cert",
            file("server.pem"),
            "-key",
            file("server.key"),
            "-CAfile",
            clients.toString(),
            "-Verify",
            "1",
            "-verify_return_error",
            "-www",
            "-quiet");
    try {
      Awaitility.await()
          .until(
              () -> {
                Command right =
                    probe(port, "--cert", file("right.pem"), "--key", file("right.key"));
                return right.exitCode() == 0;
              });
      Command wrong = probe(port, "--cert", file("wrong.pem"), "--key", file("wrong.key"));
      assertThat(wrong.exitCode()).isEqualTo(4);
      assertThat(wrong.err())
          .contains("after the handshake with the alert unknown_ca")
          .contains("wrong.pem");
    } finally {
      server.signal("KILL");
    }
  }

  /** It sends no alert: its own check comes when the handshake is complete. */
  @Test
  void saysWhatNginxAnswersInstead() throws Exception {
    Command wrong = probe(lenient, "--cert", file("wrong.pem"), "--key", file("wrong.key"));
    assertThat(wrong.exitCode()).isEqualTo(4);
    assertThat(wrong.err()).contains("HTTP status 400", "nginx", "wrong.pem");
    Command missing = probe(lenient);
    assertThat(missing.exitCode()).isEqualTo(4);
    assertThat(missing.err()).contains("HTTP status 400", "nginx", "--cert and --key");
  }
}

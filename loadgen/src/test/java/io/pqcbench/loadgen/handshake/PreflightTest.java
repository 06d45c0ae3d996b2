package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.plan.TlsStack;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PreflightTest {

  private static ServerFacts facts(LoadPlan plan) throws PreflightException {
    return new Preflight(plan, NanoClock.SYSTEM).run();
  }

  /** By its stack's own rule, of which the option's description tells. */
  @Test
  void boringSslSendsTheSharesOfTheFirstClassicalAndTheFirstPostQuantumGroupOfAList()
      throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Plans plans = Plans.to(server.address().getPort());
      assertThat(facts(plans.groups(NamedGroup.X25519, NamedGroup.P256).plan()).keyShares())
          .containsExactly("X25519:32");
      assertThat(
              facts(
                      plans
                          .groups(NamedGroup.X25519, NamedGroup.P256, NamedGroup.X25519MLKEM768)
                          .plan())
                  .keyShares())
          .containsExactlyInAnyOrder("X25519:32", "X25519MLKEM768:1216");
    }
  }

  @Test
  void describesTheServer() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      ServerFacts facts = facts(Plans.to(server.address().getPort()).plan());

      assertThat(facts.protocol()).isEqualTo("TLSv1.3");
      assertThat(facts.group()).isEqualTo("X25519MLKEM768");
      assertThat(facts.keyShares()).containsExactly("X25519MLKEM768:1216");
      assertThat(facts.serverKeyShareBytes()).isEqualTo(1120);
      assertThat(facts.clientHelloBytes()).isEqualTo(1382);
      assertThat(facts.helloRetryRequest()).isFalse();
      assertThat(facts.ticketsIssued()).isFalse();
      assertThat(facts.httpStatus()).isEqualTo(200);
      assertThat(facts.bodyBytes()).isEqualTo(3);
      assertThat(facts.certificate().keyType()).isEqualTo("EC 256");
      assertThat(facts.certificate().signatureAlgorithm()).isEqualTo("SHA256withECDSA");
      assertThat(facts.certificate().chainLength()).isEqualTo(1);
      assertThat(facts.certificate().leafBytes())
          .isEqualTo(facts.certificate().chainBytes())
          .isEqualTo(server.certificate().getEncoded().length);
      // The stack does not say it, and is not made to seem as if it did.
      assertThat(facts.certificate().signatureScheme()).isNull();
      assertThat(facts.certificate().possibleSchemes()).containsExactly("ecdsa_secp256r1_sha256");
      assertThat(facts.flight().bytes()).isEqualTo(facts.handshakeBytesIn());
      assertThat(facts.flight().segments()).isPositive();
      assertThat(facts.flight().windowBytes()).isEqualTo(10L * facts.flight().mss());
      assertThat(facts.flight().exceedsWindow()).isFalse();
      assertThat(facts.certificate().trust()).isEqualTo("pinned");
      assertThat(facts.addresses()).contains("127.0.0.1");
    }
  }

  /** TLS 1.2 does not show the group before a message that the stack keeps for itself. */
  @Test
  void aGroupThatNeitherTheWireNorTheStackTellsIsNotReportedAndCannotBeExpected() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTls("1.2"))) {
      Plans plans =
          Plans.to(server.address().getPort())
              .stack(TlsStack.BC)
              .tls("1.2")
              .groups(NamedGroup.P256);
      LoadPlan plan = plans.plan();
      ServerFacts facts = facts(plan);
      assertThat(facts.group()).isEqualTo("not reported");
      assertThat(facts.groupVerified()).isFalse();
      try (OneShot shot = new OneShot(plan, new TlsClient(plan, facts, NanoClock.SYSTEM))) {
        assertThat(shot.run().outcome()).isEqualTo(Outcome.SUCCESS);
      }
      assertThatThrownBy(() -> plans.expectGroup(NamedGroup.P256).plan())
          .hasMessageContaining("leave --expect-group out")
          .hasMessageContaining("expectGroup=P-256");
      LoadPlan told = plans.stack(TlsStack.BORINGSSL).plan();
      assertThat(facts(told).groupVerified()).isTrue();
    }
  }

  @Test
  void seesThatTheServerIssuesTickets() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTickets(true))) {
      assertThat(facts(Plans.to(server.address().getPort()).plan()).ticketsIssued()).isTrue();
    }
  }

  @Test
  void saysWhichGroupsTheServerAcceptsWhenItAcceptsNoneOfTheOffered() throws Exception {
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withGroups(List.of("X25519", "P-256")))) {
      assertThatThrownBy(() -> facts(Plans.to(server.address().getPort()).plan()))
          .isInstanceOf(PreflightException.class)
          .hasMessageContaining("groups=X25519MLKEM768")
          .hasMessageContaining("it does accept: X25519, P-256");
    }
  }

  @Test
  void saysThatATls12ServerDoesNotSpeakTls13() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTls("1.2"))) {
      assertThatThrownBy(() -> facts(Plans.to(server.address().getPort()).plan()))
          .hasMessageContaining("does not speak TLS 1.3")
          .hasMessageContaining("--tls 1.2");
    }
  }

  @Test
  void saysThatAPlainHttpPortDoesNotSpeakTls() throws Exception {
    try (RudeServer rude = new RudeServer(RudeServer.PLAIN_HTTP)) {
      assertThatThrownBy(() -> facts(Plans.to(rude.port()).plan()))
          .hasMessageContaining("does not speak TLS")
          .hasMessageContaining("HTTP/1.1");
    }
  }

  @Test
  void saysWhenTheServerClosesAfterAccept() throws Exception {
    try (RudeServer rude = new RudeServer(RudeServer.CLOSES)) {
      assertThatThrownBy(() -> facts(Plans.to(rude.port()).plan()))
          .hasMessageContaining("is it a TLS server?");
    }
  }

  @Test
  void saysWhenTheServerNeverAnswers() throws Exception {
    try (RudeServer rude = new RudeServer(RudeServer.SILENT)) {
      assertThatThrownBy(() -> facts(Plans.to(rude.port()).timeout(0.2).plan()))
          .hasMessageContaining("--timeout=200ms");
    }
  }

  @Test
  void saysWhenNobodyListens() {
    assertThatThrownBy(() -> facts(Plans.to(1).plan()))
        .hasMessageContaining("nothing accepts connections");
  }

  @Test
  void saysWhenTheNameCannotBeResolved() {
    LoadPlan plan = Plans.to(1).target(new Target("nosuch.invalid", 443, "/")).plan();
    assertThatThrownBy(() -> facts(plan)).hasMessageContaining("host=nosuch.invalid");
  }

  @Test
  void saysWhenThePathIsNotThere() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      assertThatThrownBy(() -> facts(Plans.to(server.address().getPort()).path("/nosuch").plan()))
          .hasMessageContaining("status 404")
          .hasMessageContaining("--path");
    }
  }

  @Test
  void verifiesAgainstTheGivenRootAndTheServersName(@TempDir Path directory) throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Path root = directory.resolve("root.pem");
      Files.writeString(
          root,
          "-----BEGIN CERTIFICATE-----\n"
              + Base64.getMimeEncoder().encodeToString(server.certificate().getEncoded())
              + "\n-----END CERTIFICATE-----\n");
      int port = server.address().getPort();

      assertThat(
              facts(Plans.to(port).trust(LoadPlan.Trust.VERIFY, root).plan()).certificate().trust())
          .isEqualTo("verified");
      assertThatThrownBy(
              () ->
                  facts(
                      Plans.to(port)
                          .trust(LoadPlan.Trust.VERIFY, root)
                          .sni("other.example")
                          .plan()))
          .hasMessageContaining("does not verify");
      assertThatThrownBy(() -> facts(Plans.to(port).trust(LoadPlan.Trust.VERIFY, null).plan()))
          .hasMessageContaining("does not verify")
          .hasMessageContaining("--cacert");
      assertThat(
              facts(Plans.to(port).trust(LoadPlan.Trust.INSECURE, null).plan())
                  .certificate()
                  .trust())
          .isEqualTo("unchecked");
    }
  }

  @Test
  void checksTheNameOfTheHostAlsoWhenNoServerNameIsSent(@TempDir Path directory) throws Exception {
    X509Bundle forTheAddress = certificate().addSanIpAddress("127.0.0.1").buildSelfSigned();
    X509Bundle forAName = certificate().buildSelfSigned();
    for (X509Bundle issued : List.of(forTheAddress, forAName)) {
      Path root = pem(directory.resolve("root.pem"), issued.getCertificatePathPEM());
      try (JdkTlsServer server = new JdkTlsServer(issued, null)) {
        Plans plans =
            Plans.to(server.port())
                .groups(NamedGroup.X25519)
                .sni(null)
                .trust(LoadPlan.Trust.VERIFY_OR_PIN, root);
        ServerFacts.CertificateFacts found = facts(plans.plan()).certificate();
        if (issued == forTheAddress) {
          assertThat(found.trust()).isEqualTo("verified");
        } else {
          assertThat(found.trust()).isEqualTo("pinned");
          assertThat(found.complaint()).contains("host=127.0.0.1");
        }
      }
    }
  }

  @Test
  void describesATls12Server() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTls("1.2"))) {
      ServerFacts facts =
          facts(Plans.to(server.address().getPort()).tls("1.2").groups(NamedGroup.P256).plan());
      assertThat(facts.protocol()).isEqualTo("TLSv1.2");
      assertThat(facts.flight()).isNull();
      assertThat(facts.certificate().possibleSchemes()).isEmpty();
      assertThat(facts.group()).isEqualTo("P-256");
    }
  }

  private static CertificateBuilder certificate() {
    return new CertificateBuilder()
        .algorithm(CertificateBuilder.Algorithm.ecp256)
        .setIsCertificateAuthority(true)
        .addSanDnsName("server.example")
        .subject("CN=server.example");
  }

  private static Path pem(Path file, String content) throws Exception {
    return Files.writeString(file, content);
  }

  @Test
  void refusesAnExpiredCertificateWhenItMustVerify(@TempDir Path directory) throws Exception {
    Instant now = Instant.now();
    X509Bundle expired =
        certificate()
            .notBefore(now.minus(9, ChronoUnit.DAYS))
            .notAfter(now.minus(1, ChronoUnit.DAYS))
            .buildSelfSigned();
    Path root = pem(directory.resolve("root.pem"), expired.getCertificatePathPEM());
    try (JdkTlsServer server = new JdkTlsServer(expired, null)) {
      Plans plans = Plans.to(server.port()).groups(NamedGroup.X25519);
      assertThatThrownBy(() -> facts(plans.trust(LoadPlan.Trust.VERIFY, root).plan()))
          .hasMessageContaining("does not verify")
          .hasMessageContaining("NotAfter");
      assertThat(
              facts(plans.trust(LoadPlan.Trust.VERIFY_OR_PIN, root).plan()).certificate().trust())
          .isEqualTo("pinned");
    }
  }

  @Test
  void presentsTheClientsCertificateWhenTheServerAsksForIt(@TempDir Path directory)
      throws Exception {
    X509Bundle client = certificate().subject("CN=client").buildSelfSigned();
    Path cert = pem(directory.resolve("client.pem"), client.getCertificatePathPEM());
    Path key = pem(directory.resolve("client.key"), client.getPrivateKeyPEM());
    try (JdkTlsServer server = new JdkTlsServer(certificate().buildSelfSigned(), client)) {
      Plans plans = Plans.to(server.port()).groups(NamedGroup.X25519);
      assertThat(facts(plans.clientCertificate(cert, key).plan()).httpStatus()).isEqualTo(200);
      assertThatThrownBy(() -> facts(plans.clientCertificate(null, null).plan()))
          .hasMessageContaining("--cert and --key");
    }
  }

  @Test
  void saysWhatIsWrongWithTheFilesOfTheClientsCertificate(@TempDir Path directory)
      throws Exception {
    X509Bundle client = certificate().subject("CN=client").buildSelfSigned();
    X509Bundle other = certificate().subject("CN=other").buildSelfSigned();
    Path cert = pem(directory.resolve("client.pem"), client.getCertificatePathPEM());
    Path key = pem(directory.resolve("other.key"), other.getPrivateKeyPEM());
    Path password = pem(directory.resolve("password"), "wrong\n");
    Path store = directory.resolve("client.p12");
    try (var out = Files.newOutputStream(store)) {
      client.toKeyStore("right".toCharArray()).store(out, "right".toCharArray());
    }
    Plans plans = Plans.to(1);
    assertThatThrownBy(() -> facts(plans.clientCertificate(cert, key).plan()))
        .hasMessageContaining("the client's key does not belong to its certificate")
        .hasMessageContaining("other.key");
    assertThatThrownBy(() -> facts(plans.clientCertificate(cert, password).plan()))
        .hasMessageContaining("the client's key cannot be read");
    assertThatThrownBy(() -> facts(plans.clientCertificate(password, key).plan()))
        .hasMessageContaining("--cert holds no PEM certificate");
    assertThatThrownBy(() -> facts(plans.clientCertificate(store, null).plan()))
        .hasMessageContaining("--key-password-file");
    assertThatThrownBy(
            () -> facts(plans.clientCertificate(store, null).keyPassword(password).plan()))
        .hasMessageContaining("is the password right?")
        .hasMessageNotContaining("wrong");
    Path bare = keyWithoutCertificate(directory.resolve("bare.p12"), "wrong");
    assertThatThrownBy(
            () -> facts(plans.clientCertificate(bare, null).keyPassword(password).plan()))
        .hasMessageContaining("holds a key but no certificate")
        .hasMessageContaining("bare.p12");
  }

  /** Its key is one of another kind, because the JDK writes no private key without a chain. */
  private static Path keyWithoutCertificate(Path file, String password) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry(
        "client", new SecretKeySpec(new byte[16], "AES"), password.toCharArray(), null);
    try (var out = Files.newOutputStream(file)) {
      store.store(out, password.toCharArray());
    }
    return file;
  }
}

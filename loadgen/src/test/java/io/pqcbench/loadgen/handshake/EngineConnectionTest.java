package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.plan.TlsStack;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import org.junit.jupiter.api.Test;

/** Bouncy Castle's JSSE against BoringSSL; the JDK's where it can be told its groups. */
class EngineConnectionTest {

  private static Plans bouncyCastle(EmbeddedServer server) {
    return Plans.to(server.address().getPort())
        .stack(TlsStack.BC)
        .groups(NamedGroup.X25519MLKEM768, NamedGroup.P256);
  }

  private static EmbeddedServer server() throws Exception {
    return EmbeddedServer.start(ServerOptions.defaults());
  }

  private static Attempt once(LoadPlan plan) throws Exception {
    try (OneShot shot = OneShot.afterPreflight(plan)) {
      return shot.run();
    }
  }

  @Test
  void countsAndTimesWhatItCountsAndTimesForBoringSsl() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan = bouncyCastle(server).plan();
      ServerFacts facts = new Preflight(plan, NanoClock.SYSTEM).run();
      assertThat(facts.group()).isEqualTo("X25519MLKEM768");
      assertThat(facts.keyShares()).containsExactly("X25519MLKEM768:1216");
      assertThat(facts.ticketsIssued()).isNull();

      Attempt attempt = once(plan);
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.group()).isEqualTo(NamedGroup.X25519MLKEM768.codePoint());
      // ClientHello, ChangeCipherSpec, Finished, request.
      assertThat(attempt.recordsOut()).isEqualTo(4);
      assertThat(attempt.recordsIn()).isGreaterThanOrEqualTo(4);
      // An ECDSA signature in DER has 70 to 72 bytes, rarely fewer.
      assertThat(attempt.handshakeBytesIn())
          .isBetween(facts.handshakeBytesIn() - 6, facts.handshakeBytesIn() + 6);
      assertThat(ExchangeTest.instants(attempt)).hasSize(Milestone.values().length - 1).isSorted();
    }
  }

  @Test
  void readsABodyOfManyRecords() throws Exception {
    try (EmbeddedServer server = server()) {
      Attempt attempt = once(bouncyCastle(server).path("/bytes/1000000").plan());
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.bodyBytes()).isEqualTo(1_000_000);
    }
  }

  @Test
  void oneObjectServesOneConnectionAfterTheOther() throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot = OneShot.afterPreflight(bouncyCastle(server).plan())) {
      for (int i = 0; i < 5; i++) {
        assertThat(shot.run().outcome()).isEqualTo(Outcome.SUCCESS);
      }
    }
  }

  @Test
  void speaksHttp2() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan = bouncyCastle(server).http("2").path("/bytes/100000").plan();
      assertThat(new Preflight(plan, NanoClock.SYSTEM).run().alpn()).isEqualTo("h2");
      Attempt attempt = once(plan);
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.bodyBytes()).isEqualTo(100_000);
      assertThat(attempt.reached(Milestone.SETTINGS_RECEIVED)).isTrue();
    }
  }

  @Test
  void measuresTls12() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTls("1.2"))) {
      Attempt attempt = once(bouncyCastle(server).tls("1.2").groups(NamedGroup.P256).plan());
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
    }
  }

  @Test
  void anotherCertificateThanThatOfThePreflightIsRefused() throws Exception {
    try (EmbeddedServer first = server();
        EmbeddedServer second = server()) {
      ServerFacts facts = new Preflight(bouncyCastle(first).plan(), NanoClock.SYSTEM).run();
      LoadPlan plan = bouncyCastle(second).plan();
      try (OneShot shot = new OneShot(plan, new TlsClient(plan, facts, NanoClock.SYSTEM))) {
        assertThat(shot.run().outcome()).isEqualTo(Outcome.CERTIFICATE_CHANGED);
      }
    }
  }

  @Test
  void namesTheAlertOfAServerThatRefuses() throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot = OneShot.blind(bouncyCastle(server).groups(NamedGroup.X448).plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_ALERT);
      assertThat(attempt.detail()).isEqualTo(TlsAlert.HANDSHAKE_FAILURE);
    }
  }

  private static X509Bundle certificate() throws Exception {
    return new CertificateBuilder()
        .ecp256()
        .setIsCertificateAuthority(true)
        .subject("CN=server.example")
        .buildSelfSigned();
  }

  @Test
  void namesAnAlertThatIsEncrypted() throws Exception {
    X509Bundle certificate = certificate();
    try (JdkTlsServer server = new JdkTlsServer(certificate, certificate)) {
      LoadPlan plan = Plans.to(server.port()).stack(TlsStack.BC).groups(NamedGroup.P256).plan();
      try (OneShot shot = OneShot.blind(plan)) {
        Attempt attempt = shot.run();
        assertThat(attempt.reached(Milestone.SECURED)).isTrue();
        assertThat(attempt.outcome()).isEqualTo(Outcome.TLS_ALERT);
        // The JDK's for a client without a certificate, where RFC 8446 has certificate_required.
        assertThat(TlsAlert.name(attempt.detail())).isIn("bad_certificate", "certificate_required");
      }
    }
  }

  @Test
  void sendsARequestThatTheSocketDoesNotTakeAtOnce() throws Exception {
    try (JdkTlsServer server = new JdkTlsServer(certificate(), null);
        OneShot shot =
            OneShot.blind(
                Plans.to(server.port())
                    .stack(TlsStack.BC)
                    .groups(NamedGroup.P256)
                    .headers("X-Long: " + "a".repeat(20_000_000))
                    .plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.bytesOut()).isGreaterThan(20_000_000);
    }
  }

  @Test
  void saysThatACertificateOnP256NeedsItsGroup() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan = bouncyCastle(server).groups(NamedGroup.X25519MLKEM768).plan();
      assertThatThrownBy(() -> new Preflight(plan, NanoClock.SYSTEM).run())
          .isInstanceOf(PreflightException.class)
          .hasMessageContaining("--groups X25519MLKEM768,P-256");
    }
  }

  @Test
  void aJdkThatCannotBeToldItsGroupsSaysWhichOneCan() throws Exception {
    try (EmbeddedServer server = server()) {
      LoadPlan plan =
          Plans.to(server.address().getPort()).stack(TlsStack.JDK).groups(NamedGroup.X25519).plan();
      if (Runtime.version().feature() >= 20) {
        assertThat(once(plan).outcome()).isEqualTo(Outcome.SUCCESS);
      } else {
        assertThatThrownBy(() -> new Preflight(plan, NanoClock.SYSTEM).run())
            .isInstanceOf(PreflightException.class)
            .hasMessageContaining("JDK 20 or newer")
            .hasMessageContaining("JAVA_HOME");
      }
    }
  }
}

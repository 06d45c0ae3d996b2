package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.util.List;
import org.junit.jupiter.api.Test;

class TicketsTest {

  private static X509Bundle certificate() throws Exception {
    return new CertificateBuilder()
        .subject("CN=server.example")
        .algorithm(CertificateBuilder.Algorithm.ecp256)
        .setIsCertificateAuthority(true)
        .buildSelfSigned();
  }

  @Test
  void aConnectionThatWasNotResumedBringsTheTicketForALaterOne() throws Exception {
    X509Bundle certificate = certificate();
    try (JdkTlsServer issuer = new JdkTlsServer(certificate, null);
        JdkTlsServer stranger = new JdkTlsServer(certificate, null);
        Tickets tickets = new Tickets(8)) {
      LoadPlan plan = Plans.to(issuer.port()).groups(NamedGroup.X25519).resuming(1).plan();
      ServerFacts facts = new Preflight(plan, NanoClock.SYSTEM).run();
      try (OneShot first =
          new OneShot(plan, new TlsClient(plan, facts, NanoClock.SYSTEM), tickets)) {
        // There is none to offer yet.
        assertThat(first.run().outcome()).isEqualTo(Outcome.NOT_RESUMED);
        assertThat(tickets.size()).isEqualTo(1);
      }
      LoadPlan other = Plans.to(stranger.port()).groups(NamedGroup.X25519).resuming(1).plan();
      try (OneShot second =
          new OneShot(other, new TlsClient(other, facts, NanoClock.SYSTEM), tickets)) {
        assertThat(second.run().outcome()).isEqualTo(Outcome.NOT_RESUMED);
        assertThat(tickets.offered()).isEqualTo(1);
        assertThat(tickets.size()).isEqualTo(1);
        assertThat(second.run().outcome()).isEqualTo(Outcome.SUCCESS);
        assertThat(tickets.size()).isEqualTo(1);
      }
    }
  }

  /** The JDK's server issues one ticket a connection. */
  @Test
  void aServerWithOneTicketAConnectionHasEachUsedOnceAndReplacedByTheNext() throws Exception {
    try (JdkTlsServer server = new JdkTlsServer(certificate(), null)) {
      LoadPlan plan = Plans.to(server.port()).groups(NamedGroup.X25519).resuming(1).plan();
      ServerFacts facts = new Preflight(plan, NanoClock.SYSTEM).run();
      TlsClient client = new TlsClient(plan, facts, NanoClock.SYSTEM);
      try (Tickets tickets = Harvest.store(plan)) {
        int primed =
            Harvest.fill(plan, client, facts.address(), List.of(tickets), NanoClock.SYSTEM);
        assertThat(tickets.issued()).isEqualTo(primed);
        assertThat(tickets.offered()).isEqualTo(1);
        assertThat(tickets.size()).isEqualTo(primed - 1);

        try (OneShot shot = new OneShot(plan, client, tickets)) {
          for (int i = 0; i < 20; i++) {
            assertThat(shot.run().outcome()).isEqualTo(Outcome.SUCCESS);
          }
        }
        assertThat(tickets.offered()).isEqualTo(21);
        assertThat(tickets.issued()).isEqualTo(primed + 20);
        assertThat(tickets.size()).isEqualTo(primed - 1);
      }
    }
  }
}

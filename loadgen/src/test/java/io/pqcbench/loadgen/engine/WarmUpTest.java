package io.pqcbench.loadgen.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.schedule.NanoClock;
import org.junit.jupiter.api.Test;

/** The target of these plans is a port on which nobody listens: it must not be needed. */
class WarmUpTest {

  private static final long HALF_A_SECOND = 500_000_000L;

  @Test
  void makesHandshakesWithinThisProcess() throws Exception {
    WarmUp.Result result = WarmUp.run(Plans.to(1).plan(), HALF_A_SECOND, NanoClock.SYSTEM);
    assertThat(result.handshakes()).isPositive();
    assertThat(result.seconds()).isPositive();
  }

  @Test
  void worksForEachWayToWaitAndWithoutARequest() throws Exception {
    for (LoadPlan.Wait waiting : LoadPlan.Wait.values()) {
      LoadPlan plan = Plans.to(1).waiting(waiting).handshakeOnly().plan();
      assertThat(WarmUp.run(plan, 1, NanoClock.SYSTEM).handshakes()).isPositive();
    }
  }

  @Test
  void offersWhatTheRunWillOffer() throws Exception {
    LoadPlan plan = Plans.to(1).tls("1.2").groups(NamedGroup.P256).plan();
    assertThat(WarmUp.run(plan, 1, NanoClock.SYSTEM).handshakes()).isPositive();
  }

  @Test
  void isLeftOutWhenItIsGivenNoTime() throws Exception {
    assertThat(WarmUp.run(Plans.to(1).plan(), 0, NanoClock.SYSTEM)).isNull();
  }
}

package io.pqcbench.analysis.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class VarianceTest {

  /** Davies, "Statistical Methods in Research and Production" (1947): yields of six batches. */
  private static final double[][] DYESTUFF = {
    {1545, 1440, 1440, 1520, 1580},
    {1540, 1555, 1490, 1560, 1495},
    {1595, 1550, 1605, 1510, 1560},
    {1445, 1440, 1595, 1465, 1545},
    {1595, 1630, 1515, 1635, 1625},
    {1520, 1455, 1450, 1480, 1445}
  };

  private static List<Variance.Trial> dyestuff(double deviation, long count) {
    List<Variance.Trial> trials = new ArrayList<>();
    for (int batch = 0; batch < DYESTUFF.length; batch++) {
      for (double yield : DYESTUFF[batch]) {
        trials.add(new Variance.Trial("batch" + batch, yield, deviation, count));
      }
    }
    return trials;
  }

  /**
   * R: lmer(Yield ~ 1 + (1 | Batch), lme4::Dyestuff) has the variances 1764 between batches and
   * 2451 within; the same design is in Bates, "lme4: Mixed-effects modeling with R", section 1.3.
   */
  @Test
  void machinesAndTrialsAreToldApartAsInAPublishedExample() {
    Variance variance = Variance.split(dyestuff(0, 1));

    assertThat(variance.hosts()).isEqualTo(6);
    assertThat(variance.betweenHosts()).isCloseTo(Math.sqrt(1764.05), within(1e-9));
    assertThat(variance.betweenTrials()).isCloseTo(Math.sqrt(2451.25), within(1e-9));
    assertThat(variance.withinTrial()).isZero();
  }

  @Test
  void whatTheSamplesExplainIsNotPutDownToTheTrials() {
    Variance variance = Variance.split(dyestuff(300, 100));

    assertThat(variance.withinTrial()).isCloseTo(300, within(1e-9));
    assertThat(variance.ofATrialsMean()).isCloseTo(30, within(1e-9));
    assertThat(variance.betweenTrials()).isCloseTo(Math.sqrt(2451.25 - 900), within(1e-9));
  }

  @Test
  void oneMachineSaysNothingOfOthersAndOneTrialNothingAtAll() {
    List<Variance.Trial> alone =
        List.of(new Variance.Trial("a", 10, 0, 1), new Variance.Trial("a", 14, 0, 1));

    assertThat(Variance.split(alone).betweenHosts()).isNaN();
    assertThat(Variance.split(alone).betweenTrials()).isCloseTo(Math.sqrt(8), within(1e-9));
    assertThat(Variance.split(alone.subList(0, 1)).betweenTrials()).isNaN();
    assertThat(Variance.split(List.of()).withinTrial()).isNaN();
  }
}

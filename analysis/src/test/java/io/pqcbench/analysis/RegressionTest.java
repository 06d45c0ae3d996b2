package io.pqcbench.analysis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pqcbench.analysis.bundle.Bundles;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegressionTest {

  @TempDir private Path directory;

  private Path night(String name, int trials, double level) throws Exception {
    return new Bundles.Trials(trials, "handshake.p50")
        .arm("a", IntStream.range(0, trials).mapToDouble(i -> level + i).toArray())
        .write(directory.resolve(name));
  }

  private static List<Regression.Condition> conditions(String... texts) {
    return List.of(texts).stream().map(Regression.Condition::parse).toList();
  }

  @Test
  void aChangeBeyondTheConditionFailsIfItIsSignificant() throws Exception {
    Path before = night("before", 6, 1_000);
    Path after = night("after", 6, 1_200);

    assertThat(Regression.of(before, after, conditions("handshake.p50 > +10%")).fails()).isTrue();
    assertThat(Regression.of(before, after, conditions("handshake.p50 > +30%")).fails()).isFalse();
    assertThat(Regression.of(before, after, conditions("a:handshake.p50 > 100us")).fails())
        .isTrue();
    assertThat(Regression.of(before, after, conditions("b:handshake.p50 > 100us")).fails())
        .isFalse();
    assertThat(Regression.of(after, before, conditions("handshake.p50 < -0.1ms")).fails()).isTrue();
  }

  @Test
  void oneNoisyNightDoesNotFail() throws Exception {
    Regression regression =
        Regression.of(
            night("before", 2, 1_000),
            night("after", 2, 5_000),
            conditions("handshake.p50 > +10%"));

    assertThat(regression.fails()).isFalse();
    assertThat(regression.toMarkdown()).contains("not significant: handshake.p50 > +10%");
  }

  @Test
  void whatIsNoConditionIsRefusedWithTheForm() {
    assertThatThrownBy(() -> Regression.Condition.parse("handshake.p42 > 10%"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("handshake.p99 > +10%");
  }
}

package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExpectationTest {

  /** A hello that was not read has no group and no suite, as if it were of TLS 1.2. */
  @ParameterizedTest
  @CsvSource({
    "false, false, X25519, ",
    "true, true, X25519, ",
    "true, false, X25519, RESUMED",
    "false, true, X25519, NOT_RESUMED",
    "false, false, P-256, WRONG_GROUP"
  })
  void aHandshakeIsResumedExactlyWhenItIsToBe(
      boolean reused, boolean wanted, String group, Outcome outcome) {
    Expectation expected = new Expectation(0x001D, "X25519", Attempt.NONE);

    assertThat(expected.check(new ServerHello(), reused, wanted, group)).isEqualTo(outcome);
  }
}

package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A hello that was not read has no group and no suite, as if it were of TLS 1.2. */
class ExpectationTest {

  private static Outcome check(
      String expected, boolean reused, boolean wanted, String group, boolean tells) {
    int codePoint = expected.equals("X25519") ? 0x001D : Attempt.NONE;
    return new Expectation(codePoint, expected, Attempt.NONE)
        .check(new ServerHello(), reused, wanted, group, tells);
  }

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
    assertThat(check("X25519", reused, wanted, group, true)).isEqualTo(outcome);
  }

  @ParameterizedTest
  @CsvSource({
    // The RSA key exchange.
    "X25519, , true, WRONG_GROUP",
    "none, , true, ",
    "none, X25519, true, WRONG_GROUP",
    // A stack that does not tell.
    "X25519, , false, WRONG_GROUP",
    "not reported, , false, ",
    "not reported, X25519, true, WRONG_GROUP"
  })
  void aGroupThatNobodyTellsIsNotTheExpectedOne(
      String expected, String group, boolean tells, Outcome outcome) {
    assertThat(check(expected, false, false, group, tells)).isEqualTo(outcome);
  }
}

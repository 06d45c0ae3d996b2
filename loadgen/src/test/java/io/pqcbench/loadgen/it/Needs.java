package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.fail;

import org.junit.jupiter.api.Assumptions;

/** What a test needs of the machine. */
final class Needs {

  private Needs() {}

  /** Skips the test, saying why, where something is missing; in CI that is a failure. */
  static void that(boolean there, String reason) {
    if (!there) {
      if ("true".equals(System.getenv("CI"))) {
        fail("needed in CI: " + reason);
      }
      Assumptions.abort(reason);
    }
  }
}

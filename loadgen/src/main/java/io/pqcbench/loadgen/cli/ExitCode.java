package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.verdict.Verdict;

/** The exit codes, which scripts rely on. */
final class ExitCode {

  static final int TRUSTED = 0;
  static final int SUSPECT = 1;
  static final int USAGE = 2;
  static final int NOT_BELIEVABLE = 3;
  static final int COULD_NOT_RUN = 4;

  /** 128 and SIGINT, as shells have it. */
  static final int INTERRUPTED = 130;

  private ExitCode() {}

  /** From which verdict on a run fails. */
  enum FailOn {
    SUSPECT,
    SATURATED,
    NEVER
  }

  static int of(Verdict verdict, FailOn failOn) {
    return switch (verdict) {
      case TRUSTED -> TRUSTED;
      case SUSPECT -> failOn == FailOn.SUSPECT ? SUSPECT : TRUSTED;
      case SATURATED, INVALID -> failOn == FailOn.NEVER ? TRUSTED : NOT_BELIEVABLE;
    };
  }
}

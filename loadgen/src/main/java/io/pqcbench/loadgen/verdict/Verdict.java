package io.pqcbench.loadgen.verdict;

/** Whether a run's numbers may be believed; from the best to the worst. */
public enum Verdict {
  /** No rule objects. */
  TRUSTED,
  /** The numbers are there, with a doubt that is named. */
  SUSPECT,
  /** The client, or what it runs on, could not offer the load: the numbers measure the client. */
  SATURATED,
  /** The run did not measure what was asked for. */
  INVALID
}

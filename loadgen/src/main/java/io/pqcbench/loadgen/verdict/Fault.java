package io.pqcbench.loadgen.verdict;

/** Where the cause of a finding lies. */
public enum Fault {
  /** This program: its lanes, its JVM, its limits. */
  CLIENT,
  /** What the client runs on: other processes, the hypervisor, quotas, clocks. */
  MACHINE,
  /** Between the client and the target. */
  NETWORK,
  /** The target. */
  SERVER
}

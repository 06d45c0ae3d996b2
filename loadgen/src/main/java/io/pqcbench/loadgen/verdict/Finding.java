package io.pqcbench.loadgen.verdict;

/**
 * One thing that speaks against a run.
 *
 * @param rule its name, stable, for scripts and tests
 * @param level what the run becomes by it
 * @param observed what was seen, with its unit
 * @param limit what is allowed, with its unit
 * @param advice what to do next
 */
public record Finding(String rule, Verdict level, String observed, String limit, String advice) {}

package io.pqcbench.loadgen.verdict;

/**
 * One thing that speaks against a run, or that has to be known to read it.
 *
 * @param rule its name, stable, for scripts and tests
 * @param level what the run becomes by it; TRUSTED for what does not speak against the measurement,
 *     such as a target that cannot serve the rate
 * @param fault whose it is
 * @param observed what was seen, with its unit
 * @param limit what is allowed, with its unit
 * @param when seconds after the start of the run at which it was worst; empty for the whole run
 * @param advice what to do next
 */
public record Finding(
    String rule,
    Verdict level,
    Fault fault,
    String observed,
    String limit,
    String when,
    String advice) {}

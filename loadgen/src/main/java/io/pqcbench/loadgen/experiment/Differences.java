package io.pqcbench.loadgen.experiment;

import io.pqcbench.loadgen.plan.Experiment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds what was not the same in two arms though nobody asked for it: then a difference between
 * their latencies may have another reason than the one that is under test.
 */
final class Differences {

  /** What another server may change. */
  private static final Set<String> SERVER =
      Set.of("target", "certificate", "chain", "server", "cipher suite", "protocol");

  /** Which conditions an option of an arm may change. */
  private static final Map<String, Set<String>> CHANGED_BY =
      Map.ofEntries(
          Map.entry("groups", Set.of("key shares sent", "group", "ClientHello")),
          Map.entry("tls-stack", Set.of("client's TLS", "ClientHello", "key shares sent")),
          Map.entry("openssl-lib", Set.of("client's TLS")),
          Map.entry("sigalgs", Set.of("ClientHello", "certificate", "chain")),
          Map.entry("ciphersuites", Set.of("ClientHello", "cipher suite")),
          Map.entry("session", Set.of("sessions", "reuse")),
          Map.entry("connections", Set.of("reuse")),
          Map.entry("requests-per-connection", Set.of("reuse")),
          Map.entry("resume-ratio", Set.of("sessions")),
          Map.entry("rate", Set.of("offered rate")),
          Map.entry("arrival", Set.of("arrivals")),
          Map.entry("duration", Set.of("measured", "warm-up")),
          Map.entry("warmup", Set.of("measured", "warm-up")),
          Map.entry("path", Set.of("path", "payload")),
          Map.entry("handshake-only", Set.of("reuse", "payload", "server")),
          Map.entry("max-in-flight", Set.of("in flight at most")),
          Map.entry("lanes", Set.of("lanes")),
          Map.entry("wait", Set.of("lanes")),
          Map.entry("pin", Set.of("lanes")),
          Map.entry("sni", Set.of("ClientHello", "certificate", "chain")),
          Map.entry("alpn", Set.of("ClientHello")),
          Map.entry("http", Set.of("HTTP", "ClientHello")),
          Map.entry("tls", Set.of("protocol", "cipher suite", "key shares sent", "ClientHello")),
          Map.entry(
              "transport",
              Set.of(
                  "transport",
                  "client's TLS",
                  "ClientHello",
                  "HTTP",
                  "payload",
                  "server",
                  "target",
                  "certificate",
                  "cipher suite")),
          Map.entry("cert", Set.of("client certificate")),
          Map.entry("proxy-protocol", Set.of("PROXY header")),
          Map.entry("target", SERVER),
          Map.entry("targets", SERVER),
          Map.entry("connect-to", SERVER));

  private Differences() {}

  /**
   * Compares each arm with the baseline of its cell, and each trial with the first of its arm.
   *
   * @param experiment with a baseline
   * @param results complete ones
   * @return sentences; empty if there is nothing to say
   */
  static List<String> undeclared(Experiment experiment, List<TrialResult> results) {
    Map<String, Map<String, String>> first = new TreeMap<>();
    Set<String> found = new LinkedHashSet<>();
    Set<String> told = new LinkedHashSet<>();
    for (TrialResult result : results) {
      Map<String, String> known = first.putIfAbsent(result.arm(), result.conditions());
      if (known != null) {
        for (String condition : differing(known, result.conditions())) {
          // The first trial that differs says it for those after it.
          if (!told.add(result.arm() + " " + condition)) {
            continue;
          }
          found.add(
              String.format(
                  "%s changed within the arm %s: '%s' at first, '%s' in %s",
                  condition,
                  result.arm(),
                  known.get(condition),
                  result.conditions().get(condition),
                  result.trial()));
        }
      }
    }
    for (Experiment.Arm arm : experiment.arms()) {
      Experiment.Arm baseline = baselineOf(experiment, arm);
      if (baseline == null
          || !first.containsKey(arm.name())
          || !first.containsKey(baseline.name())) {
        continue;
      }
      Map<String, String> expected = first.get(baseline.name());
      Map<String, String> actual = first.get(arm.name());
      Set<String> declared = declared(baseline, arm);
      for (String condition : differing(expected, actual)) {
        if (!declared.contains(condition)) {
          found.add(
              String.format(
                  "%s differs between %s ('%s') and %s ('%s') and was not declared",
                  condition,
                  baseline.name(),
                  expected.get(condition),
                  arm.name(),
                  actual.get(condition)));
        }
      }
    }
    return List.copyOf(found);
  }

  /** Returns what an arm is compared with; null for nothing. */
  static Experiment.Arm baselineOf(Experiment experiment, Experiment.Arm arm) {
    if (experiment.baseline() == null) {
      return null;
    }
    return experiment.arms().stream()
        .filter(
            other ->
                other.family().equals(experiment.baseline()) && other.cell().equals(arm.cell()))
        .filter(other -> !other.name().equals(arm.name()))
        .findFirst()
        .orElse(null);
  }

  private static Set<String> declared(Experiment.Arm baseline, Experiment.Arm arm) {
    Set<String> options = new LinkedHashSet<>(baseline.options().keySet());
    options.addAll(arm.options().keySet());
    Set<String> conditions = new LinkedHashSet<>();
    for (String option : options) {
      if (!Objects.equals(baseline.options().get(option), arm.options().get(option))) {
        conditions.addAll(CHANGED_BY.getOrDefault(option, Set.of()));
      }
    }
    return conditions;
  }

  private static List<String> differing(Map<String, String> one, Map<String, String> other) {
    List<String> names = new ArrayList<>();
    one.forEach(
        (name, value) -> {
          if (!value.equals(other.get(name))) {
            names.add(name);
          }
        });
    return names;
  }
}

package io.pqcbench.loadgen.experiment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** Writes what a run would leave, without running it. */
final class FakeTrials implements ExperimentRun.Runner {

  /** The arguments of each trial that counts, in their order. */
  final List<Map<String, String>> trials = new ArrayList<>();

  final List<Map<String, String>> preflights = new ArrayList<>();

  private Function<Map<String, String>, String> verdict = trial -> "TRUSTED";
  private Function<Map<String, String>, Integer> failures = trial -> 0;
  private Function<Map<String, String>, String> chain = trial -> "411";
  private Runnable before = () -> {};

  /** What comes of a trial with these arguments; null for a run that could not begin. */
  FakeTrials verdict(Function<Map<String, String>, String> value) {
    verdict = value;
    return this;
  }

  FakeTrials failures(Function<Map<String, String>, Integer> value) {
    failures = value;
    return this;
  }

  FakeTrials chainBytes(Function<Map<String, String>, String> value) {
    chain = value;
    return this;
  }

  FakeTrials before(Runnable value) {
    before = value;
    return this;
  }

  @Override
  public int run(List<String> arguments, Path log) throws IOException {
    Map<String, String> options = new LinkedHashMap<>();
    for (String argument : arguments) {
      String[] parts = argument.split("=", 2);
      options.put(parts[0], parts.length > 1 ? parts[1] : "");
    }
    Path bundle = Path.of(options.get("--out"));
    options.put("name", bundle.getFileName().toString());
    (bundle.getParent().getFileName().toString().equals("trials") ? trials : preflights)
        .add(options);
    before.run();
    String found = verdict.apply(options);
    if (found == null) {
      Files.writeString(log, "loadgen: nobody listens\n");
      return 4;
    }
    Files.createDirectory(bundle);
    Files.writeString(bundle.resolve("run.json"), run(options));
    Files.writeString(bundle.resolve("summary.json"), summary(options, found));
    return found.equals("TRUSTED") ? 0 : 3;
  }

  private String run(Map<String, String> options) {
    return """
    {"plan": {"target": {"host": "h", "port": 443}, "pace": {"ratePerSecond": %s, "arrival": "CONSTANT",
      "durationNanos": 2000000000, "warmupNanos": 0}, "request": {"handshakeOnly": false, "path": "/"},
      "tls": {"cert": %s},
      "limits": {"lanes": 1, "pinned": false, "waiting": "BLOCK", "maxInFlight": 10,
        "proxyProtocol": "%s"}},
     "versions": {"tlsStack": "T"},
     "server": {"protocol": "TLSv1.3", "group": "%s", "cipherSuite": "C", "keyShares": ["%s:32"],
       "clientHelloBytes": 200, "bodyBytes": 3, "software": "s/1",
       "certificate": {"keyType": "EC 256", "signatureAlgorithm": "S", "chainLength": 1, "chainBytes": %s}}}
    """
        .formatted(
            options.getOrDefault("--rate", "10"),
            options.containsKey("--cert") ? '"' + options.get("--cert") + '"' : "null",
            options.getOrDefault("--proxy-protocol", "none").toUpperCase(Locale.ROOT),
            options.get("--groups"),
            options.get("--groups"),
            chain.apply(options));
  }

  private String summary(Map<String, String> options, String found) {
    boolean interrupted = found.equals("INTERRUPTED");
    String level = interrupted ? "TRUSTED" : found;
    return """
    {"verdict": "%s", "interrupted": %s, "clientCpuMicrosPerHandshake": 100,
     "findings": [{"rule": "a-rule", "level": "%s", "fault": "CLIENT", "observed": "9", "limit": "5",
       "advice": "rest"}],
     "outcomes": {"SUCCESS": 2000, "TCP_REFUSED": %d},
     "errors": [{"outcome": "TCP_REFUSED", "detail": "", "count": %d, "example": "refused"}],
     "phases": {"handshake": {"mean": 1.5, "p50": %d, "p99": null}, "response": {"p50": 7, "p99": 9}}}
    """
        .formatted(
            level,
            interrupted,
            level,
            failures.apply(options),
            failures.apply(options),
            trials.size());
  }

  @Override
  public void stop() {}

  /** How often each trial ran, by its name. */
  Map<String, Integer> counts() {
    Map<String, Integer> counts = new HashMap<>();
    trials.forEach(trial -> counts.merge(trial.get("name"), 1, Integer::sum));
    return counts;
  }

  List<String> names() {
    return trials.stream().map(trial -> trial.get("name")).toList();
  }
}

package io.pqcbench.loadgen.experiment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What an experiment keeps of a trial's bundle. Read from its files, as anybody else would, because
 * the trial ran in another process.
 *
 * @param run {@code run.json}; missing if the run did not get that far
 * @param summary {@code summary.json}; missing if the run was killed or could not begin
 */
record BundleDigest(JsonNode run, JsonNode summary) {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final List<String> FIGURES = List.of("mean", "p50", "p90", "p95", "p99", "p999");

  static BundleDigest read(Path directory) throws IOException {
    return new BundleDigest(
        json(directory.resolve("run.json")), json(directory.resolve("summary.json")));
  }

  private static JsonNode json(Path file) throws IOException {
    return Files.exists(file) ? JSON.readTree(file.toFile()) : JSON.missingNode();
  }

  boolean hasSummary() {
    return !summary.isMissingNode();
  }

  String verdict() {
    return summary.path("interrupted").asBoolean()
        ? TrialResult.INTERRUPTED
        : summary.path("verdict").asText();
  }

  /** Returns the rules that object; not those that only remark. */
  List<String> objections() {
    List<String> rules = new ArrayList<>();
    for (JsonNode finding : summary.path("findings")) {
      if (!finding.path("level").asText().equals(TrialResult.TRUSTED)) {
        rules.add(finding.path("rule").asText());
      }
    }
    return rules;
  }

  /** Returns what objects most, as a sentence; null if nothing does. */
  String worstFinding() {
    String level = summary.path("verdict").asText();
    for (JsonNode finding : summary.path("findings")) {
      if (finding.path("level").asText().equals(level)) {
        return finding.path("rule").asText()
            + " ["
            + finding.path("fault").asText().toLowerCase(Locale.ROOT)
            + "] "
            + finding.path("observed").asText()
            + " (limit "
            + finding.path("limit").asText()
            + "): "
            + finding.path("advice").asText();
      }
    }
    return null;
  }

  /** Returns measured successes. */
  long count() {
    return summary.path("outcomes").path("SUCCESS").asLong();
  }

  /** Returns measured arrivals that were no success. */
  long failures() {
    long all = 0;
    for (JsonNode outcome : summary.path("outcomes")) {
      all += outcome.asLong();
    }
    return all - count();
  }

  /** Returns what went wrong, with examples; empty if nothing did. */
  List<String> errors() {
    List<String> errors = new ArrayList<>();
    for (JsonNode error : summary.path("errors")) {
      errors.add(
          error.path("count").asText()
              + " x "
              + error.path("outcome").asText()
              + " "
              + error.path("detail").asText()
              + (error.path("example").isTextual()
                  ? " (" + error.path("example").asText() + ")"
                  : ""));
    }
    return errors;
  }

  Map<String, Map<String, Double>> figures() {
    Map<String, Map<String, Double>> figures = new LinkedHashMap<>();
    summary
        .path("phases")
        .properties()
        .forEach(
            phase -> {
              Map<String, Double> values = new LinkedHashMap<>();
              for (String name : FIGURES) {
                JsonNode value = phase.getValue().path(name);
                values.put(
                    name.equals("p999") ? "p99.9" : name,
                    value.isNumber() ? value.asDouble() : null);
              }
              figures.put(phase.getKey(), values);
            });
    return figures;
  }

  /** Returns client CPU time, microseconds a handshake. */
  double clientCpuMicros() {
    return summary.path("clientCpuMicrosPerHandshake").asDouble();
  }

  /**
   * Returns what has to be the same in all trials, and in all arms but for what is compared; in the
   * order in which it is printed.
   *
   * @param machine of the client
   * @param blocks trials an arm
   * @param embedded whether the target is the experiment's own server, whose port says nothing
   */
  Map<String, String> conditions(Machine machine, int blocks, boolean embedded) {
    Map<String, String> conditions = new LinkedHashMap<>();
    if (run.isMissingNode()) {
      return conditions;
    }
    JsonNode plan = run.path("plan");
    JsonNode server = run.path("server");
    JsonNode pace = plan.path("pace");
    JsonNode limits = plan.path("limits");
    JsonNode certificate = server.path("certificate");
    List<String> targets = new ArrayList<>();
    targets.add(target(plan.path("target")));
    plan.path("others").forEach(other -> targets.add(target(other)));
    conditions.put("target", embedded ? "embedded server" : String.join(", ", targets));
    double resumed = plan.path("sessions").path("resumedShare").asDouble();
    conditions.put(
        "sessions",
        resumed == 0
            ? "fresh, none offered"
            : resumed == 1 ? "resumed, each ticket once" : resumed + " of them resumed");
    int pool = plan.path("sessions").path("connections").asInt();
    int requests = plan.path("sessions").path("requestsPerConnection").asInt();
    conditions.put(
        "reuse",
        pool > 0
            ? pool
                + " connections kept open, "
                + (requests == 0
                    ? "as long as the server lets"
                    : "for " + requests + " requests each")
            : plan.path("request").path("handshakeOnly").asBoolean()
                ? "handshake only"
                : "one request a connection");
    conditions.put("in flight at most", limits.path("maxInFlight").asText());
    conditions.put("offered rate", pace.path("ratePerSecond").asText() + "/s");
    conditions.put("arrivals", pace.path("arrival").asText().toLowerCase(Locale.ROOT));
    conditions.put(
        "measured",
        (pace.path("durationNanos").asLong() - pace.path("warmupNanos").asLong()) / 1e9 + " s");
    conditions.put("warm-up", pace.path("warmupNanos").asLong() / 1e9 + " s");
    conditions.put("client", machine.describe());
    conditions.put(
        "lanes",
        limits.path("lanes").asText()
            + ", "
            + limits.path("waiting").asText().toLowerCase(Locale.ROOT)
            + (limits.path("pinned").asBoolean() ? ", pinned" : ""));
    conditions.put("transport", plan.path("transport").asText("TCP"));
    conditions.put("client's TLS", run.path("versions").path("tlsStack").asText());
    JsonNode tls = plan.path("tls");
    conditions.put(
        "client certificate", tls.path("cert").isTextual() ? tls.path("cert").asText() : "none");
    conditions.put(
        "PROXY header", limits.path("proxyProtocol").asText("NONE").toLowerCase(Locale.ROOT));
    conditions.put("protocol", server.path("protocol").asText());
    conditions.put("key shares sent", text(server.path("keyShares")));
    conditions.put("group", server.path("group").asText());
    conditions.put("cipher suite", server.path("cipherSuite").asText());
    conditions.put("ClientHello", server.path("clientHelloBytes").asText() + " bytes");
    conditions.put(
        "certificate",
        certificate.path("keyType").asText()
            + ", signed with "
            + certificate.path("signatureAlgorithm").asText());
    conditions.put(
        "chain",
        certificate.path("chainLength").asText()
            + ", "
            + certificate.path("chainBytes").asText()
            + " bytes");
    conditions.put(
        "server",
        server.path("software").isTextual() ? server.path("software").asText() : "does not say");
    // Bundles from before there was a choice do not say.
    conditions.put(
        "HTTP",
        plan.path("transport").asText("TCP").equals("QUIC")
            ? "0.9"
            : plan.path("request").path("http").asText("1.1"));
    conditions.put("path", plan.path("request").path("path").asText());
    conditions.put("payload", server.path("bodyBytes").asText() + " bytes");
    conditions.put(
        "percentiles", "50, 90, 95, 99, 99.9, 99.99, each from ten samples beyond it on");
    conditions.put("trials an arm", Integer.toString(blocks));
    conditions.put("resolution", "clock in ns, histograms of 3 significant digits");
    return conditions;
  }

  private static String target(JsonNode target) {
    String name = target.path("host").asText() + ":" + target.path("port").asText();
    String reached =
        target.path("connectHost").asText() + ":" + target.path("connectPort").asText();
    return name.equals(reached) ? name : name + " at " + reached;
  }

  private static String text(JsonNode list) {
    List<String> items = new ArrayList<>();
    list.forEach(item -> items.add(item.asText()));
    return String.join(", ", items);
  }
}

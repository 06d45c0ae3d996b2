package io.pqcbench.loadgen.it;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A run that is over: what it said and what it left. */
record FinishedRun(int exitCode, String out, String err, BundleFiles bundle) {

  /**
   * By these rules a client looks late on a machine that does something else meanwhile, as one does
   * that builds and tests.
   */
  static final List<String> RULES_OF_A_BUSY_MACHINE =
      List.of("rate-per-second", "lag", "lag-max", "hiccup", "lane-stall");

  static FinishedRun of(Command command, BundleFiles bundle) throws InterruptedException {
    int exitCode = command.exitCode();
    return new FinishedRun(exitCode, command.out(), command.err(), bundle);
  }

  JsonNode summary() throws IOException {
    return bundle.json("summary.json");
  }

  String verdict() throws IOException {
    return summary().get("verdict").asText();
  }

  /** The names of the rules that found something. */
  List<String> rules() throws IOException {
    List<String> rules = new ArrayList<>();
    summary().get("findings").forEach(finding -> rules.add(finding.get("rule").asText()));
    return rules;
  }

  /** The names of the rules that found something of which this party is to blame. */
  List<String> rules(String fault) throws IOException {
    List<String> rules = new ArrayList<>();
    for (JsonNode finding : summary().get("findings")) {
      if (finding.path("fault").asText().equals(fault)) {
        rules.add(finding.get("rule").asText());
      }
    }
    return rules;
  }

  /** How many samples of the tail have which cause. */
  Map<String, Integer> causes() throws IOException {
    Map<String, Integer> causes = new HashMap<>();
    for (JsonNode cause : summary().at("/tail/causes")) {
      causes.put(cause.get("cause").asText(), cause.get("count").asInt());
    }
    return causes;
  }

  /** What a failed assertion should show. */
  @Override
  public String toString() {
    return err + out;
  }
}

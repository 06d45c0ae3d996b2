package io.pqcbench.loadgen.cli;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.TlsStack;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What a calibration found. It is kept in the result directory, and once more where later runs on
 * this machine look for it.
 *
 * @param schema name and version of this format
 * @param at wall clock, ISO 8601
 * @param host its name
 * @param cpuModel of the machine; null if unknown
 * @param cpus of the machine
 * @param jdk that ran
 * @param target where the load went
 * @param sharesMachine whether the target needs this machine's processors too
 * @param groups offered
 * @param transport that carried the connections: tcp or quic
 * @param http version of the requests
 * @param waiting how lanes wait
 * @param lanes how many
 * @param highestTrustedPerSecond the highest rate whose trial was trusted; null if none was
 * @param recommendedPerSecond a part of it, see {@link CalibrateCommand}; null if none was
 * @param gaveOut the rules that objected to the lowest rate above; empty if none did
 * @param clientCpuMicrosPerHandshake at the highest trusted rate; null if none was
 * @param lagP50Micros at the lowest rate
 * @param lagP99Micros at the lowest rate
 * @param noise of the idle machine
 * @param steps the trials in their order
 */
record CalibrationFile(
    String schema,
    String at,
    String host,
    String cpuModel,
    int cpus,
    String jdk,
    String target,
    boolean sharesMachine,
    List<String> groups,
    String transport,
    String http,
    String waiting,
    int lanes,
    Double highestTrustedPerSecond,
    Double recommendedPerSecond,
    List<String> gaveOut,
    Double clientCpuMicrosPerHandshake,
    Double lagP50Micros,
    Double lagP99Micros,
    Monitor.Calibration noise,
    List<Step> steps) {

  static final String SCHEMA = "loadgen-calibration/1";

  private static final ObjectMapper JSON =
      new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);

  /**
   * One trial.
   *
   * @param directory its bundle, below the calibration's
   * @param ratePerSecond offered
   * @param trusted whether the calibration went on
   * @param verdict of the run
   * @param rules that objected, or that say that the target is full
   * @param lagP50Micros how late arrivals were started
   * @param lagP99Micros null without enough samples
   * @param handshakeP50Micros TLS
   * @param laneBusyShare of the busiest lane
   * @param clientCpuMicrosPerHandshake whole process
   */
  record Step(
      String directory,
      double ratePerSecond,
      boolean trusted,
      String verdict,
      List<String> rules,
      Double lagP50Micros,
      Double lagP99Micros,
      Double handshakeP50Micros,
      double laneBusyShare,
      double clientCpuMicrosPerHandshake) {}

  /** Returns the version of HTTP that a plan speaks. */
  static String http(LoadPlan plan) {
    return plan.transport() == LoadPlan.Transport.QUIC ? "0.9" : plan.request().http();
  }

  /** Returns where the calibration for this way of making load is kept on this machine. */
  static Path kept(LoadPlan plan, HostFacts host) {
    String state = System.getenv("XDG_STATE_HOME");
    Path base =
        state == null || state.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".local", "state")
            : Path.of(state);
    String groups =
        plan.tls().groups().stream().map(NamedGroup::label).collect(Collectors.joining("+"));
    TlsStack stack = plan.tls().stack().name();
    // What is not the default has a place in the name, so that older files are still found.
    List<String> others = new ArrayList<>();
    if (stack != TlsStack.BORINGSSL) {
      others.add(stack.option());
    }
    if (plan.transport() != LoadPlan.Transport.TCP) {
      others.add(plan.transport().name());
    } else if (plan.request().http2()) {
      others.add("http2");
    }
    others.add(groups);
    String name =
        String.join(
            "-",
            String.valueOf(host.host()),
            String.join("-", others),
            plan.limits().waiting().name(),
            plan.limits().lanes() + ".json");
    return base.resolve("loadgen/calibrations").resolve(name.toLowerCase(Locale.ROOT));
  }

  /** Keeps this one for later runs; says where, or null when that is not possible. */
  Path keep(LoadPlan plan, HostFacts machine) {
    Path file = kept(plan, machine);
    try {
      Files.createDirectories(file.getParent());
      Bundle.writeJson(file.getParent(), file.getFileName().toString(), this);
      return file;
    } catch (IOException | SecurityException e) {
      return null;
    }
  }

  /** Returns what a run above the calibrated rate should hear; null if there is nothing to say. */
  static String warning(LoadPlan plan, HostFacts host) {
    Path file = kept(plan, host);
    if (!Files.isReadable(file)) {
      return null;
    }
    CalibrationFile found;
    try {
      found = JSON.readValue(file.toFile(), CalibrationFile.class);
    } catch (IOException e) {
      return "a calibration cannot be read, run 'loadgen calibrate' again: file=" + file;
    }
    double rate = plan.pace().ownRatePerSecond();
    boolean sameMachine = found.cpus() == host.cpus() && SCHEMA.equals(found.schema());
    if (!sameMachine
        || found.highestTrustedPerSecond() == null
        || rate <= found.highestTrustedPerSecond()) {
      return null;
    }
    return String.format(
        Locale.ROOT,
        "the rate of %.0f/s is above the highest that was trusted on this machine, %.0f/s on %s"
            + " against %s (recommended: %.0f/s); see %s",
        rate,
        found.highestTrustedPerSecond(),
        found.at().substring(0, Math.min(10, found.at().length())),
        found.target(),
        found.recommendedPerSecond(),
        file);
  }
}

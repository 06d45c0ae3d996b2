package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.plan.LoadPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What this machine allows the run to use, and what the user should hear before it starts.
 *
 * @param maxInFlight attempts open at once
 * @param warnings each with what helps
 */
record Budget(int maxInFlight, List<String> warnings) {

  /**
   * Descriptors that are never used for connections: the connections held ready, files of the
   * bundle, jars, and what the JVM opens by itself. A client that runs out of them cannot even load
   * a class to say so.
   */
  static final int RESERVED_DESCRIPTORS = 128;

  /** An attempt at this rate that takes a second needs a descriptor for a second. */
  private static final double COMFORTABLE_SECONDS = 1;

  static Budget of(LoadPlan plan, HostFacts host) {
    List<String> warnings = new ArrayList<>();
    LoadPlan.Limits limits = plan.limits();
    double rate = plan.pace().ownRatePerSecond();
    int maxInFlight = limits.maxInFlight();
    long spare =
        host.descriptorLimit() - Math.max(0, host.openDescriptors()) - RESERVED_DESCRIPTORS;
    if (spare < maxInFlight) {
      maxInFlight = (int) Math.max(1, spare);
      if (maxInFlight < rate * COMFORTABLE_SECONDS) {
        warnings.add(
            String.format(
                Locale.ROOT,
                "this process may open %d files, which leaves %d attempts in flight, %.2f s of the"
                    + " rate; arrivals beyond are skipped and counted. Raise it: ulimit -n 65536",
                host.descriptorLimit(),
                maxInFlight,
                maxInFlight / rate));
      }
    }
    if (limits.close() == LoadPlan.Close.FIN && plan.transport() == LoadPlan.Transport.TCP) {
      int sources = Math.max(1, limits.sources().size());
      long ports = (long) host.ephemeralPorts() * sources;
      double seconds = Math.min(host.timeWaitSeconds(), plan.pace().durationNanos() / 1e9);
      double needed = rate * seconds;
      if (needed > ports) {
        warnings.add(
            String.format(
                Locale.ROOT,
                "rate x TIME_WAIT exceeds the ephemeral ports: %.0f/s x %.0f s = %.0f ports, there"
                    + " are %d (net.ipv4.ip_local_port_range x %d source addresses). What helps:"
                    + " --close rst, more --source-address, sysctl"
                    + " net.ipv4.ip_local_port_range='1024 65535'",
                rate,
                seconds,
                needed,
                ports,
                sources));
      }
    }
    return new Budget(maxInFlight, List.copyOf(warnings));
  }
}

package io.pqcbench.loadgen.experiment;

import io.pqcbench.loadgen.monitor.CloudInstance;
import io.pqcbench.loadgen.monitor.HostFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The machine on which a part of an experiment ran, as far as trials on another one would not be
 * comparable. A reboot does not change it.
 *
 * @param host its name
 * @param architecture as the JVM names it
 * @param cpuModel null where the kernel does not say
 * @param cpus processors that this process may use
 * @param kernel release
 * @param jdk version and vendor
 * @param loadgen version of this program
 * @param instance what its cloud says it is; null elsewhere
 */
public record Machine(
    String host,
    String architecture,
    String cpuModel,
    int cpus,
    String kernel,
    String jdk,
    String loadgen,
    CloudInstance instance) {

  /**
   * Reads this machine.
   *
   * @param loadgen version of this program
   */
  public static Machine read(String loadgen) {
    HostFacts facts = HostFacts.read();
    return new Machine(
        facts.host(),
        facts.architecture(),
        facts.cpuModel(),
        facts.cpus(),
        facts.kernel(),
        Runtime.version() + " " + System.getProperty("java.vm.vendor"),
        loadgen,
        CloudInstance.read());
  }

  /** Returns what is not the same, each as {@code name: before -> now}; empty if nothing is. */
  List<String> changesSince(Machine before) {
    List<String> changes = new ArrayList<>();
    note(changes, "host", before.host, host);
    note(changes, "architecture", before.architecture, architecture);
    note(changes, "cpuModel", before.cpuModel, cpuModel);
    note(changes, "cpus", before.cpus, cpus);
    note(changes, "kernel", before.kernel, kernel);
    note(changes, "jdk", before.jdk, jdk);
    note(changes, "loadgen", before.loadgen, loadgen);
    note(changes, "instance", before.instance, instance);
    return changes;
  }

  private static void note(List<String> changes, String name, Object before, Object now) {
    if (!Objects.equals(before, now)) {
      changes.add(name + ": " + before + " -> " + now);
    }
  }

  /** Returns what it is in a few words, e.g. {@code c7g.large, 2 CPUs, aarch64}. */
  String describe() {
    String kind = instance != null ? instance.type() : cpuModel != null ? cpuModel : "unknown CPU";
    return kind + ", " + cpus + " CPUs, " + architecture;
  }
}

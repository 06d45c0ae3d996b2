package io.pqcbench.loadgen.monitor;

import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What this machine lets be seen of itself, and facts that do not change during a run.
 *
 * @param steal whether a steal of 0 means something
 * @param clocksource of the kernel; null if unknown
 * @param clockCostNanos of reading the run's clock once
 * @param cpuQuota processors that the control groups allow; NaN without a limit
 * @param throttleFiles cpu.stat of the control groups
 * @param interfaces network interfaces with a device behind them, with their interrupt moderation
 *     as far as it can be read
 * @param notReported what cannot be watched here, and why
 */
public record Platform(
    StealReport steal,
    String clocksource,
    double clockCostNanos,
    double cpuQuota,
    List<String> throttleFiles,
    Map<String, Map<String, String>> interfaces,
    List<String> notReported) {

  private static final Path NET = Path.of("/sys/class/net");

  private static final long COMMAND_MILLIS = 1_000;

  static Platform read(KernelText files, NanoClock clock) {
    List<String> missing = new ArrayList<>();
    String arch = System.getProperty("os.arch");
    StealReport steal =
        StealReport.of(
            CpuTimes.parse(files.read("/proc/stat")),
            arch,
            arch.equals("aarch64") ? output("dmesg") : null,
            files.read("/proc/cpuinfo"));
    if (steal == StealReport.NOT_REPORTED) {
      missing.add("steal (this hypervisor does not report it)");
    }
    if (SchedStat.parse(files.read("/proc/self/schedstat")) == null) {
      missing.add("run delay (kernel without CONFIG_SCHED_INFO)");
    }
    if (Pressure.someTotalMicros(files.read("/proc/pressure/cpu")) < 0) {
      missing.add("CPU pressure (kernel without PSI)");
    }
    List<String> throttle = new ArrayList<>();
    double quota = Double.NaN;
    for (String directory :
        CgroupCpu.directories(
            files.read("/proc/self/cgroup"), files.read("/proc/self/mountinfo"))) {
      if (CgroupCpu.parse(files.read(directory + "/cpu.stat")) != null) {
        throttle.add(directory + "/cpu.stat");
      }
      double here = CgroupCpu.cpusOf(files.read(directory + "/cpu.max"));
      if (Double.isNaN(here)) {
        here =
            CgroupCpu.cpusOf(
                files.read(directory + "/cpu.cfs_quota_us"),
                files.read(directory + "/cpu.cfs_period_us"));
      }
      quota = Double.isNaN(quota) ? here : Double.isNaN(here) ? quota : Math.min(quota, here);
    }
    Map<String, Map<String, String>> interfaces = new TreeMap<>();
    for (String name : physicalInterfaces()) {
      interfaces.put(name, Ethtool.coalescing(output("ethtool", "-c", name)));
      if (isEna(name) && Ethtool.allowances(output("ethtool", "-S", name)).isEmpty()) {
        missing.add("ENA allowances of " + name + " (ethtool cannot be run, or shows none)");
      }
    }
    return new Platform(
        steal,
        text(files, "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        Monitor.clockCost(clock),
        quota,
        List.copyOf(throttle),
        interfaces,
        List.copyOf(missing));
  }

  /**
   * Returns cpu.stat of the control groups of other processes, as far as they are mounted here.
   *
   * @param pids of the processes
   */
  static List<String> throttleFilesOf(KernelText files, List<String> pids) {
    Set<String> found = new LinkedHashSet<>();
    String mounts = files.read("/proc/self/mountinfo");
    for (String pid : pids) {
      for (String directory :
          CgroupCpu.directories(files.read("/proc/" + pid + "/cgroup"), mounts)) {
        if (CgroupCpu.parse(files.read(directory + "/cpu.stat")) != null) {
          found.add(directory + "/cpu.stat");
        }
      }
    }
    return List.copyOf(found);
  }

  /**
   * Returns the ENA driver's counters of packets that were held back because an allowance of the
   * instance was exceeded, by interface and counter; empty elsewhere. Starts a process, so it is
   * for the ends of a run.
   */
  public Map<String, Long> allowances() {
    Map<String, Long> all = new TreeMap<>();
    for (String name : interfaces.keySet()) {
      if (isEna(name)) {
        Ethtool.allowances(output("ethtool", "-S", name))
            .forEach((counter, value) -> all.put(name + " " + counter, value));
      }
    }
    return all;
  }

  private static String text(KernelText files, String path) {
    String text = files.read(path);
    return text == null ? null : text.strip();
  }

  private static List<String> physicalInterfaces() {
    String[] names = NET.toFile().list();
    List<String> physical = new ArrayList<>();
    for (String name : names == null ? new String[0] : names) {
      if (Files.exists(NET.resolve(name).resolve("device"))) {
        physical.add(name);
      }
    }
    return physical;
  }

  private static boolean isEna(String name) {
    try {
      Path driver = NET.resolve(name).resolve("device/driver").toRealPath();
      return driver.endsWith("ena");
    } catch (IOException e) {
      return false;
    }
  }

  /** Returns what a command prints; null when it is not there, fails, or takes a second. */
  private static String output(String... command) {
    return output(COMMAND_MILLIS, command);
  }

  static String output(long millis, String... command) {
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectInput(new File("/dev/null"))
              .start();
      // Read meanwhile: one that has more to say than a pipe holds would not end otherwise, and
      // one that hangs would not let the reader go.
      CompletableFuture<byte[]> printed = CompletableFuture.supplyAsync(() -> all(process));
      try {
        byte[] text = printed.get(millis, TimeUnit.MILLISECONDS);
        return process.waitFor(millis, TimeUnit.MILLISECONDS) && process.exitValue() == 0
            ? new String(text, StandardCharsets.UTF_8)
            : null;
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException | ExecutionException | TimeoutException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    }
  }

  private static byte[] all(Process process) {
    try {
      return process.getInputStream().readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

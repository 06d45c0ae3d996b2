package io.pqcbench.loadgen.monitor;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The machine and the process as they are before the run. Needs no root; what the platform does not
 * report is null or left out, never guessed.
 *
 * @param host its name
 * @param bootId of the kernel, the same for all processes since it was started; null if unknown
 * @param cpus processors that this process may use
 * @param cpuModel as /proc/cpuinfo gives it; null on kernels that do not, such as some aarch64 ones
 * @param memoryBytes of the machine; -1 if unknown
 * @param kernel release and version
 * @param architecture as the JVM names it
 * @param clocksource of the kernel; null if unknown
 * @param descriptorLimit files that this process may have open (RLIMIT_NOFILE, soft)
 * @param openDescriptors that it has open now
 * @param ephemeralPorts how many ports connect() may choose from (net.ipv4.ip_local_port_range)
 * @param timeWaitSeconds how long a closed connection keeps its port; the kernel's constant
 *     TCP_TIMEWAIT_LEN (include/net/tcp.h)
 * @param sysctls that bear on the measurement, as far as they can be read
 * @param jvm vendor and version
 * @param jvmFlags as given on the command line
 * @param collectors names of the garbage collectors
 * @param heapMaxBytes of the heap
 */
public record HostFacts(
    String host,
    String bootId,
    int cpus,
    String cpuModel,
    long memoryBytes,
    String kernel,
    String architecture,
    String clocksource,
    long descriptorLimit,
    long openDescriptors,
    int ephemeralPorts,
    int timeWaitSeconds,
    Map<String, String> sysctls,
    String jvm,
    List<String> jvmFlags,
    List<String> collectors,
    long heapMaxBytes) {

  private static final int TIME_WAIT_SECONDS = 60;

  private static final int MAX_PROC_BYTES = 1 << 20;

  /** Linux's default, for a kernel that does not show its own. */
  private static final int DEFAULT_EPHEMERAL_PORTS = 60_999 - 32_768 + 1;

  private static final List<String> SYSCTLS =
      List.of(
          "net/core/somaxconn",
          "net/core/netdev_max_backlog",
          "net/ipv4/ip_local_port_range",
          "net/ipv4/tcp_tw_reuse",
          "net/ipv4/tcp_fin_timeout",
          "net/ipv4/tcp_max_tw_buckets",
          "net/ipv4/tcp_max_syn_backlog",
          "net/ipv4/tcp_syncookies",
          "net/ipv4/tcp_timestamps",
          "net/ipv4/tcp_congestion_control",
          "net/ipv4/tcp_rmem",
          "net/ipv4/tcp_wmem",
          "kernel/sched_autogroup_enabled",
          "vm/swappiness");

  /** Reads this machine. */
  public static HostFacts read() {
    Path proc = Path.of("/proc");
    Map<String, String> sysctls = new TreeMap<>();
    for (String name : SYSCTLS) {
      String value = text(proc.resolve("sys").resolve(name));
      if (value != null) {
        sysctls.put(name.replace('/', '.'), value.replace('\t', ' '));
      }
    }
    String ports = sysctls.get("net.ipv4.ip_local_port_range");
    var runtime = ManagementFactory.getRuntimeMXBean();
    return new HostFacts(
        text(proc.resolve("sys/kernel/hostname")),
        text(proc.resolve("sys/kernel/random/boot_id")),
        Runtime.getRuntime().availableProcessors(),
        field(text(proc.resolve("cpuinfo")), "model name"),
        memoryBytes(text(proc.resolve("meminfo"))),
        System.getProperty("os.name") + " " + System.getProperty("os.version"),
        System.getProperty("os.arch"),
        text(Path.of("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        descriptorLimit(text(proc.resolve("self/limits"))),
        countDescriptors(),
        ports == null ? DEFAULT_EPHEMERAL_PORTS : portCount(ports),
        TIME_WAIT_SECONDS,
        sysctls,
        runtime.getVmVendor() + " " + runtime.getVmName() + " " + runtime.getVmVersion(),
        runtime.getInputArguments(),
        ManagementFactory.getGarbageCollectorMXBeans().stream()
            .map(bean -> bean.getName())
            .toList(),
        Runtime.getRuntime().maxMemory());
  }

  private static String text(Path file) {
    // Many files below /proc/sys answer the first read only, so it has to be large:
    // Files.readString
    // begins with a single byte because their size is said to be 0.
    try (InputStream in = new FileInputStream(file.toFile())) {
      return new String(in.readNBytes(MAX_PROC_BYTES), StandardCharsets.UTF_8).strip();
    } catch (IOException | SecurityException e) {
      return null;
    }
  }

  private static long countDescriptors() {
    var os = ManagementFactory.getOperatingSystemMXBean();
    return os instanceof com.sun.management.UnixOperatingSystemMXBean unix
        ? unix.getOpenFileDescriptorCount()
        : -1;
  }

  /** Returns the value of the first line {@code name : value}; null if there is none. */
  static String field(String text, String name) {
    if (text == null) {
      return null;
    }
    Matcher matcher =
        Pattern.compile("^" + Pattern.quote(name) + "\\s*:\\s*(.+)$", Pattern.MULTILINE)
            .matcher(text);
    return matcher.find() ? matcher.group(1).strip() : null;
  }

  /** Returns how many sockets are in TIME_WAIT now; -1 if the kernel does not say. */
  public static long timeWaitSockets() {
    return NetCounters.parse(null, null, text(Path.of("/proc/self/net/sockstat")), null).timeWait();
  }

  /**
   * Returns the machine's memory from /proc/meminfo, which counts in units of 1024 bytes; -1 if it
   * is not there.
   */
  static long memoryBytes(String meminfo) {
    String total = field(meminfo, "MemTotal");
    return total == null ? -1 : Long.parseLong(total.replaceAll("\\D", "")) * 1024;
  }

  /**
   * Returns the soft limit of open files from /proc/self/limits; {@link Long#MAX_VALUE} if
   * unlimited or unknown.
   */
  static long descriptorLimit(String limits) {
    if (limits != null) {
      Matcher matcher =
          Pattern.compile("^Max open files\\s+(\\d+)", Pattern.MULTILINE).matcher(limits);
      if (matcher.find()) {
        return Long.parseLong(matcher.group(1));
      }
    }
    return Long.MAX_VALUE;
  }

  /** Returns the size of a range such as {@code 32768 60999}, both ends included. */
  static int portCount(String range) {
    String[] ends = range.strip().split("\\s+", 2);
    return Integer.parseInt(ends[1]) - Integer.parseInt(ends[0]) + 1;
  }
}

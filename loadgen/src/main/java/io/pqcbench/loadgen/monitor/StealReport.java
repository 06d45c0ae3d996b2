package io.pqcbench.loadgen.monitor;

import java.util.List;

/**
 * Whether this machine would say that its hypervisor took CPU time away. A steal of 0 looks the
 * same whether nothing was stolen or nobody counts, and a verdict must not take the one for the
 * other.
 */
public enum StealReport {
  /** The kernel counts steal: a 0 during the run means that nothing was stolen. */
  REPORTED,

  /**
   * The kernel has the column, and it has been 0 since boot. On bare metal there is nobody to
   * steal. On a virtual machine, either nothing was ever stolen or the hypervisor does not tell,
   * and no file says which of the two: a 0 during the run is no evidence of an undisturbed machine.
   */
  ZERO_SINCE_BOOT,

  /**
   * Nobody counts: a 0 during the run means nothing at all. Only the lateness of the program's own
   * threads can show that the machine was taken away.
   */
  NOT_REPORTED;

  /** What arch/arm64/kernel/paravirt.c, pv_time_init, logs once it reads steal from KVM. */
  private static final String ARM_STEAL_CLOCK = "using stolen time PV";

  /**
   * Judges one reading of /proc/stat.
   *
   * <p>On aarch64 the kernel's own clock of stolen time always says 0
   * (arch/arm64/kernel/paravirt.c, native_steal_clock), unless the hypervisor offers another, which
   * only the kernel's log shows. On x86 the log is no help: kernels of today that read steal from
   * KVM say so at debug level only (arch/x86/kernel/kvm.c, kvm_register_steal_time).
   *
   * @param sinceBoot as /proc/stat has it; steal that was ever above 0 is proof whatever else is
   *     known
   * @param osArch the architecture as the JVM names it
   * @param kernelLog as far as it could be read; null if not, which on aarch64 is taken for "not
   *     reported"
   * @param cpuinfo the text of /proc/cpuinfo; null if unknown. Its flag {@code hypervisor} tells a
   *     virtual machine from bare metal on x86, but both are {@link #ZERO_SINCE_BOOT}, so today it
   *     decides nothing.
   */
  static StealReport of(List<CpuTimes> sinceBoot, String osArch, String kernelLog, String cpuinfo) {
    if (sinceBoot == null || sinceBoot.isEmpty()) {
      return NOT_REPORTED;
    }
    boolean column = true;
    for (CpuTimes cpu : sinceBoot) {
      if (cpu.steal() > 0) {
        return REPORTED;
      }
      column &= cpu.steal() == 0;
    }
    if ("aarch64".equals(osArch)) {
      return kernelLog != null && kernelLog.contains(ARM_STEAL_CLOCK) ? REPORTED : NOT_REPORTED;
    }
    return column ? ZERO_SINCE_BOOT : NOT_REPORTED;
  }
}

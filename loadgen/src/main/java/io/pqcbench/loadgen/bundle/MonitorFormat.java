package io.pqcbench.loadgen.bundle;

import io.pqcbench.loadgen.monitor.CpuTimes;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.monitor.NetCounters;
import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.util.List;
import java.util.Locale;

/**
 * Lines of {@code monitor.csv} and {@code disturbances.csv}. A value that is not known is empty.
 */
final class MonitorFormat {

  static final String DISTURBANCES = "source,start_us,end_us,amount_us,detail\n";

  private static final List<Role> ROLES =
      List.of(Role.LANE, Role.JIT, Role.GC, Role.VM, Role.HICCUP, Role.MONITOR, Role.WATCHED);

  private final long start;
  private List<Integer> columns = List.of();
  private final StringBuilder line = new StringBuilder(512);

  MonitorFormat(long start) {
    this.start = start;
  }

  /** Returns the first line for a machine with these processors; the lines that follow fit it. */
  String header(List<CpuTimes> cpus) {
    columns = cpus.stream().map(CpuTimes::cpu).toList();
    StringBuilder text = new StringBuilder("start_us,length_us");
    for (CpuTimes cpu : cpus) {
      for (String column : List.of("user", "system", "irq", "iowait", "idle", "steal")) {
        text.append(",cpu").append(cpu.cpu()).append('_').append(column).append("_ms");
      }
    }
    for (Role role : ROLES) {
      String name = role.name().toLowerCase(Locale.ROOT);
      text.append(',').append(name).append("_cpu_us,").append(name).append("_run_delay_us");
    }
    return text.append(
            ",worst_lane_run_delay_us,process_cpu_us,other_cpus,pressure_us,throttled_us,"
                + "throttled_periods,hiccup_us,lane_busy_us,longest_turn_us,poll_gap_us,behind_us,"
                + "in_flight,retrans_segs,out_segs,syn_retrans,tcp_timeouts,delayed_acks,"
                + "loss_probes,listen_overflows,listen_drops,sockets_used,tcp_in_use,orphans,"
                + "time_wait,softnet_dropped,softnet_squeezed,wall_step_us,frequency_mhz,"
                + "thermal_throttles\n")
        .toString();
  }

  String line(Interval interval) {
    line.setLength(0);
    line.append((interval.startNanos() - start) / 1000);
    micros(interval.lengthNanos());
    for (int column : columns) {
      cpu(interval.cpus(), column);
    }
    for (Role role : ROLES) {
      micros(interval.threads(role).cpuNanos());
      micros(interval.threads(role).runDelayNanos());
    }
    micros(interval.worstLaneRunDelayNanos());
    micros(interval.processCpuNanos());
    line.append(',').append(String.format(Locale.ROOT, "%.3f", interval.otherCpus()));
    value(interval.pressureMicros());
    micros(interval.throttledNanos());
    value(interval.throttledPeriods());
    micros(interval.hiccupNanos());
    micros(interval.lanes().stream().mapToLong(Interval.LaneTimes::busyNanos).sum());
    micros(
        interval.lanes().stream().mapToLong(Interval.LaneTimes::longestTurnNanos).max().orElse(0));
    micros(interval.lanes().stream().mapToLong(Interval.LaneTimes::gapNanos).sum());
    micros(interval.behindNanos());
    value(interval.inFlight());
    NetCounters net = interval.net();
    for (long counter :
        new long[] {
          net.retransSegs(),
          net.outSegs(),
          net.synRetrans(),
          net.timeouts(),
          net.delayedAcks(),
          net.lossProbes(),
          net.listenOverflows(),
          net.listenDrops(),
          net.socketsUsed(),
          net.tcpInUse(),
          net.orphans(),
          net.timeWait(),
          net.softnetDropped(),
          net.softnetSqueezed()
        }) {
      value(counter);
    }
    line.append(',').append(interval.wallStepNanos() / 1000);
    value(interval.frequencyMhz());
    value(interval.thermalThrottles());
    return line.append('\n').toString();
  }

  /** A processor that is offline has no values; one that came later has no columns. */
  private void cpu(List<CpuTimes> cpus, int number) {
    for (CpuTimes cpu : cpus) {
      if (cpu.cpu() == number) {
        ticks(cpu.user() + cpu.nice());
        ticks(cpu.system());
        ticks(cpu.irq() + cpu.softirq());
        ticks(cpu.iowait());
        ticks(cpu.idle());
        if (cpu.steal() < 0) {
          line.append(',');
        } else {
          ticks(cpu.steal());
        }
        return;
      }
    }
    line.append(",,,,,,");
  }

  String line(Disturbance disturbance) {
    line.setLength(0);
    line.append(disturbance.source().label())
        .append(',')
        .append((disturbance.startNanos() - start) / 1000)
        .append(',')
        .append((disturbance.endNanos() - start) / 1000);
    line.append(',').append(String.format(Locale.ROOT, "%.1f", disturbance.amountNanos() / 1e3));
    return line.append(',').append(Bundle.quoted(disturbance.detail())).append('\n').toString();
  }

  private void micros(long nanos) {
    line.append(',').append(nanos / 1000);
  }

  private void ticks(long ticks) {
    line.append(',').append(ticks * (Interval.TICK_NANOS / 1_000_000));
  }

  private void value(long value) {
    line.append(',');
    if (value >= 0) {
      line.append(value);
    }
  }
}

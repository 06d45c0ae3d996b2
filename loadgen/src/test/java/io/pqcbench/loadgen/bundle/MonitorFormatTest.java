package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.CpuTimes;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.monitor.Machines;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MonitorFormatTest {

  private final MonitorFormat format = new MonitorFormat(0);

  private static Map<String, String> row(String header, String line) {
    String[] names = header.strip().split(",", -1);
    String[] values = line.stripTrailing().split(",", -1);
    assertThat(values).hasSameSizeAs(names);
    Map<String, String> row = new LinkedHashMap<>();
    for (int i = 0; i < names.length; i++) {
      row.put(names[i], values[i]);
    }
    assertThat(row).hasSameSizeAs(names); // no name twice
    return row;
  }

  @Test
  void everyValueStandsUnderItsName() {
    Interval interval =
        new Machines(1, 20)
            .cpu(3, 2)
            .process(40_000_000)
            .runDelay(2_500_000)
            .throttled(7_000_000)
            .laneBusy(0.25)
            .behind(1_500_000)
            .inFlight(12)
            .network(4, 5, 6)
            .wallStep(-3_000)
            .pressure(800)
            .thermal(1)
            .next();
    Map<String, String> row = row(format.header(interval.cpus()), format.line(interval));
    assertThat(row)
        .containsEntry("start_us", "1000000")
        .containsEntry("length_us", "100000")
        .containsEntry("cpu0_user_ms", "30")
        .containsEntry("cpu0_idle_ms", "50")
        .containsEntry("cpu0_steal_ms", "20")
        .containsEntry("cpu1_idle_ms", "90")
        .containsEntry("lane_cpu_us", "5000")
        .containsEntry("lane_run_delay_us", "2500")
        .containsEntry("gc_cpu_us", "0")
        .containsEntry("worst_lane_run_delay_us", "2500")
        .containsEntry("process_cpu_us", "40000")
        .containsEntry("other_cpus", "0.000")
        .containsEntry("pressure_us", "800")
        .containsEntry("throttled_us", "7000")
        .containsEntry("throttled_periods", "1")
        .containsEntry("lane_busy_us", "25000")
        .containsEntry("longest_turn_us", "300")
        .containsEntry("behind_us", "1500")
        .containsEntry("in_flight", "12")
        .containsEntry("out_segs", "600")
        .containsEntry("syn_retrans", "4")
        .containsEntry("listen_overflows", "5")
        .containsEntry("softnet_dropped", "6")
        .containsEntry("sockets_used", "50")
        .containsEntry("tcp_in_use", "20")
        .containsEntry("wall_step_us", "-3")
        .containsEntry("thermal_throttles", "1");
  }

  @Test
  void whatIsNotKnownIsEmpty() {
    Interval interval = new Machines(0, 20).next();
    Map<String, String> row = row(format.header(interval.cpus()), format.line(interval));
    assertThat(row)
        .containsEntry("pressure_us", "")
        .containsEntry("frequency_mhz", "")
        .containsEntry("thermal_throttles", "");
  }

  private static Interval withCpus(List<CpuTimes> cpus) {
    Interval model = new Machines(0, 20).inFlight(8).next();
    return new Interval(
        model.startNanos(),
        model.endNanos(),
        cpus,
        model.threads(),
        0,
        0,
        -1,
        0,
        0,
        0,
        model.lanes(),
        model.net(),
        0,
        -1,
        -1);
  }

  private static CpuTimes cpu(int number, long user) {
    return new CpuTimes(number, user, 0, 0, 10 - user, 0, 0, 0, -1);
  }

  @Test
  void aProcessorThatIsOfflineLeavesItsColumnsEmptyAndTheOthersInPlace() {
    String header = format.header(List.of(cpu(0, 1), cpu(1, 2), cpu(2, 3)));
    Map<String, String> row = row(header, format.line(withCpus(List.of(cpu(0, 4), cpu(2, 5)))));
    assertThat(row)
        .containsEntry("cpu0_user_ms", "40")
        .containsEntry("cpu0_steal_ms", "")
        .containsEntry("cpu1_user_ms", "")
        .containsEntry("cpu1_idle_ms", "")
        .containsEntry("cpu2_user_ms", "50")
        .containsEntry("in_flight", "8");
  }

  @Test
  void aProcessorThatCameLaterHasNoColumns() {
    String header = format.header(List.of(cpu(0, 1)));
    assertThat(row(header, format.line(withCpus(List.of(cpu(0, 4), cpu(1, 5))))))
        .containsEntry("cpu0_user_ms", "40")
        .containsEntry("in_flight", "8");
  }

  @Test
  void aDisturbanceHasItsPlaceItsAmountAndItsDetailInQuotes() {
    assertThat(
            new MonitorFormat(1_000_000)
                .line(
                    new Disturbance(
                        Disturbance.Source.GC_PAUSE,
                        3_000_000,
                        5_500_000,
                        2_499_950,
                        "a \"b\", c")))
        .isEqualTo("gc-pause,2000,4500,2500.0,\"a \"\"b\"\", c\"\n");
    assertThat(MonitorFormat.DISTURBANCES.split(",", -1)).hasSize(5);
  }
}

package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import org.junit.jupiter.api.Test;

class EthtoolTest {

  /** An instance of EC2, cut. */
  private static final String ENA =
      """
      NIC statistics:
           total_resets: 0
           tx_timeout: 0
           bw_in_allowance_exceeded: 12
           bw_out_allowance_exceeded: 0
           pps_allowance_exceeded: 345
           conntrack_allowance_exceeded: 0
           conntrack_allowance_available: 136812
           linklocal_allowance_exceeded: 0
           queue_0_tx_cnt: 6732
      """;

  @Test
  void findsTheAllowancesThatWereExceeded() {
    assertThat(Ethtool.allowances(ENA))
        .containsExactly(
            entry("bw_in_allowance_exceeded", 12L),
            entry("bw_out_allowance_exceeded", 0L),
            entry("pps_allowance_exceeded", 345L),
            entry("conntrack_allowance_exceeded", 0L),
            entry("linklocal_allowance_exceeded", 0L));
  }

  @Test
  void otherDriversHaveNoAllowances() {
    assertThat(Ethtool.allowances("NIC statistics:\n     rx_queue_0_packets: 5\n")).isEmpty();
    assertThat(Ethtool.allowances("no stats available\n")).isEmpty();
    assertThat(Ethtool.allowances(null)).isEmpty();
    assertThat(Ethtool.allowances("")).isEmpty();
    assertThat(Ethtool.allowances("x_allowance_exceeded: y\nx_allowance_exceeded\n:\n")).isEmpty();
  }

  @Test
  void readsHowInterruptsAreGathered() {
    assertThat(
            Ethtool.coalescing(
                """
                Coalesce parameters for ens5:
                Adaptive RX: on  TX: off
                stats-block-usecs: 0
                sample-interval: 0

                rx-usecs: 20
                rx-frames: 0
                rx-usecs-irq: 0

                tx-usecs: 64
                tx-frames: 0
                rx-usecs-low: 0
                """))
        .containsExactly(
            entry("Adaptive RX", "on"),
            entry("Adaptive TX", "off"),
            entry("rx-usecs", "20"),
            entry("tx-usecs", "64"));
  }

  @Test
  void whatTheDriverDoesNotHaveIsLeftOut() {
    assertThat(
            Ethtool.coalescing(
                """
                Coalesce parameters for eth0:
                Adaptive RX: n/a  TX: n/a
                rx-usecs:\t3
                tx-usecs:\tn/a
                """))
        .containsExactly(entry("rx-usecs", "3"));
    assertThat(Ethtool.coalescing("Adaptive RX: on\n")).containsExactly(entry("Adaptive RX", "on"));
    assertThat(Ethtool.coalescing("netlink error: Operation not supported\n")).isEmpty();
    assertThat(Ethtool.coalescing("rx-usecs\nrx-usecs:\nAdaptive RX: TX:\n:\n")).isEmpty();
    assertThat(Ethtool.coalescing(null)).isEmpty();
    assertThat(Ethtool.coalescing("")).isEmpty();
  }
}

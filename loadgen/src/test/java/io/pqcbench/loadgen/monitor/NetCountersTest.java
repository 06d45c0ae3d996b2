package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NetCountersTest {

  private static final String SNMP =
      """
      Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams
      Ip: 2 64 2594 0 0 0
      IcmpMsg: InType3
      IcmpMsg: 1
      Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
      Tcp: 1 200 120000 -1 15 2 4 0 0 2574 2023 31 0 12 0
      Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors
      Udp: 19 0 0 20 0 0
      """;

  /** Linux 6.18, columns in its order with some left out. */
  private static final String NETSTAT =
      """
      TcpExt: SyncookiesSent TW PAWSTimewait DelayedACKs DelayedACKLocked ListenOverflows ListenDrops TCPHPHits TCPSpuriousRTOs TCPTimeouts TCPLossProbes TCPLossProbeRecovery TCPReqQFullDoCookies TCPReqQFullDrop TCPSynRetrans TCPOrigDataSent
      TcpExt: 0 8 0 18 1 5 6 7 0 2 9 3 0 10 11 247
      IpExt: InNoRoutes InTruncatedPkts InMcastPkts OutMcastPkts
      IpExt: 0 0 0 0
      """;

  /** Linux 2.6.32 has neither loss probes nor the counter of SYNs sent again. */
  private static final String OLD_NETSTAT =
      """
      TcpExt: SyncookiesSent DelayedACKs DelayedACKLocked ListenOverflows ListenDrops TCPTimeouts
      TcpExt: 0 18 0 5 6 2
      """;

  private static final String SOCKSTAT =
      """
      sockets: used 11
      TCP: inuse 1 orphan 2 tw 3 alloc 4 mem 5
      UDP: inuse 6 mem 7
      UDPLITE: inuse 0
      RAW: inuse 0
      FRAG: inuse 0 memory 0
      """;

  private static final String SOFTNET =
      """
      0000000c 00000001 0000000a 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000
      00000a19 00000010 ffffffff 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000000 00000000
      """;

  private static final NetCounters ALL =
      new NetCounters(31, 2023, 4, 11, 2, 18, 9, 5, 6, 10, 11, 1, 2, 3, 17, 0x1_0000_0009L);

  private static final NetCounters NOTHING =
      new NetCounters(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);

  @Test
  void findsEveryFieldByItsName() {
    assertThat(NetCounters.parse(SNMP, NETSTAT, SOCKSTAT, SOFTNET)).isEqualTo(ALL);
  }

  @Test
  void theOrderOfColumnsDoesNotMatter() {
    NetCounters counters =
        NetCounters.parse(
            "Tcp: OutSegs AttemptFails New RetransSegs\nTcp: 1 2 3 4\n",
            null,
            "TCP: tw 3 inuse 1\n",
            null);
    assertThat(counters.outSegs()).isEqualTo(1);
    assertThat(counters.attemptFails()).isEqualTo(2);
    assertThat(counters.retransSegs()).isEqualTo(4);
    assertThat(counters.timeWait()).isEqualTo(3);
    assertThat(counters.orphans()).isEqualTo(-1);
  }

  @Test
  void aColumnThatTheKernelLacksIsUnknown() {
    NetCounters counters = NetCounters.parse(null, OLD_NETSTAT, null, null);
    assertThat(counters.lossProbes()).isEqualTo(-1);
    assertThat(counters.synRetrans()).isEqualTo(-1);
    assertThat(counters.reqQFullDrop()).isEqualTo(-1);
    assertThat(counters.timeouts()).isEqualTo(2);
    assertThat(counters.delayedAcks()).isEqualTo(18);
  }

  @Test
  void namesArePairedOnlyWithTheLineThatFollows() {
    assertThat(NetCounters.parse("Tcp: OutSegs\nUdp: 1\nTcp: 2\n", null, null, null))
        .isEqualTo(NOTHING);
    assertThat(NetCounters.parse("Tcp: OutSegs", null, null, null)).isEqualTo(NOTHING);
  }

  @Test
  void aValueThatIsCutOffIsUnknown() {
    NetCounters counters =
        NetCounters.parse("Tcp: AttemptFails OutSegs RetransSegs\nTcp: 7 x", null, null, null);
    assertThat(counters.attemptFails()).isEqualTo(7);
    assertThat(counters.outSegs()).isEqualTo(-1);
    assertThat(counters.retransSegs()).isEqualTo(-1);
  }

  @Test
  void socketsOverIpv6AreAnotherFilesMatter() {
    assertThat(NetCounters.parse(null, null, "TCP6: inuse 9\n", null)).isEqualTo(NOTHING);
  }

  @Test
  void aSumOverCpusIsUnknownIfOneOfThemIs() {
    NetCounters counters =
        NetCounters.parse(null, null, null, "0000000c 00000001 00000002\n0000000c 0000000g\n");
    assertThat(counters.softnetDropped()).isEqualTo(-1);
    assertThat(counters.softnetSqueezed()).isEqualTo(-1);
  }

  @Test
  void whatIsNotThereIsUnknown() {
    assertThat(NetCounters.parse(null, null, null, null)).isEqualTo(NOTHING);
    assertThat(NetCounters.parse("", "", "", "")).isEqualTo(NOTHING);
    assertThat(NetCounters.parse("\n\n", "TcpExt:", "TCP: inuse", "\n")).isEqualTo(NOTHING);
    assertThat(NetCounters.parse("Tcp:\nTcp:", "\0", "sockets: used x\nTCP:", "1 2"))
        .isEqualTo(NOTHING);
  }

  @Test
  void countersAreSubtractedAndGaugesAreNot() {
    NetCounters earlier = new NetCounters(1, 23, 3, 10, 1, 8, 4, 3, 2, 9, 100, 200, 300, 400, 7, 9);
    assertThat(ALL.since(earlier))
        .isEqualTo(
            new NetCounters(30, 2000, 1, 1, 1, 10, 5, 2, 4, 1, 11, 1, 2, 3, 10, 0x1_0000_0000L));
  }

  @Test
  void unknownStaysUnknown() {
    assertThat(NOTHING.since(NOTHING)).isEqualTo(NOTHING);
    assertThat(NOTHING.since(ALL)).isEqualTo(NOTHING);
    assertThat(ALL.since(NOTHING))
        .isEqualTo(new NetCounters(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 11, 1, 2, 3, -1, -1));
  }

  @Test
  void aCounterThatWentBackwardsIsUnknown() {
    NetCounters before = NetCounters.parse(null, null, null, "1 5 5\n1 5 5\n");
    NetCounters oneCpuLess = NetCounters.parse(null, null, null, "1 5 5\n");
    assertThat(oneCpuLess.since(before).softnetDropped()).isEqualTo(-1);
  }
}

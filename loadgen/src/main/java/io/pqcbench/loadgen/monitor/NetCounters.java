package io.pqcbench.loadgen.monitor;

/**
 * What the network stack has counted since boot, as one network namespace sees it: IPv4 and IPv6
 * together unless said otherwise. -1 is a number that the kernel does not show.
 *
 * <p>Sources: net/ipv4/proc.c for /proc/net/snmp, netstat and sockstat, whose columns differ among
 * kernels and are therefore found by name (meanings in Documentation/networking/snmp_counter.rst);
 * net/core/net-procfs.c, softnet_seq_show, for /proc/net/softnet_stat.
 *
 * @param retransSegs TCP segments sent again, SYNs included
 * @param outSegs TCP segments sent, without those sent again
 * @param attemptFails connections that never came to be
 * @param synRetrans SYNs and SYN-ACKs sent again; the first costs its connection a second
 * @param timeouts how often a retransmission timer ran out
 * @param delayedAcks acknowledgements that the delay timer sent
 * @param lossProbes tail loss probes sent
 * @param listenOverflows connections that found a listener's accept queue full
 * @param listenDrops connections that a listener dropped, those included
 * @param reqQFullDrop SYNs dropped because the queue of half-open connections was full
 * @param socketsUsed gauge: sockets of any kind
 * @param tcpInUse gauge: TCP sockets over IPv4 only, without those in TIME_WAIT
 * @param orphans gauge: TCP sockets that no process holds any more; of the whole machine
 * @param timeWait gauge: TCP sockets in TIME_WAIT
 * @param softnetDropped packets dropped because a CPU's backlog was full; sum of the CPUs that are
 *     online, of the whole machine
 * @param softnetSqueezed how often a CPU ended its round of receiving with work left; likewise
 */
public record NetCounters(
    long retransSegs,
    long outSegs,
    long attemptFails,
    long synRetrans,
    long timeouts,
    long delayedAcks,
    long lossProbes,
    long listenOverflows,
    long listenDrops,
    long reqQFullDrop,
    long socketsUsed,
    long tcpInUse,
    long orphans,
    long timeWait,
    long softnetDropped,
    long softnetSqueezed) {

  private static final String[] TCP = {"RetransSegs", "OutSegs", "AttemptFails"};

  private static final String[] TCP_EXT = {
    "TCPSynRetrans",
    "TCPTimeouts",
    "DelayedACKs",
    "TCPLossProbes",
    "ListenOverflows",
    "ListenDrops",
    "TCPReqQFullDrop"
  };

  private static final String[] SOCKETS = {"used"};

  private static final String[] TCP_SOCKETS = {"inuse", "orphan", "tw"};

  /**
   * Reads the texts of four files below /proc/net.
   *
   * @param snmp each text may be null, or not be what it should: then its fields are -1
   */
  static NetCounters parse(String snmp, String netstat, String sockstat, String softnet) {
    long[] tcp = columns(snmp, "Tcp:", TCP);
    long[] tcpExt = columns(netstat, "TcpExt:", TCP_EXT);
    long[] sockets = labelled(sockstat, "sockets:", SOCKETS);
    long[] tcpSockets = labelled(sockstat, "TCP:", TCP_SOCKETS);
    long[] cpus = sumOfCpus(softnet);
    return new NetCounters(
        tcp[0],
        tcp[1],
        tcp[2],
        tcpExt[0],
        tcpExt[1],
        tcpExt[2],
        tcpExt[3],
        tcpExt[4],
        tcpExt[5],
        tcpExt[6],
        sockets[0],
        tcpSockets[0],
        tcpSockets[1],
        tcpSockets[2],
        cpus[0],
        cpus[1]);
  }

  /**
   * Returns what was counted since an earlier reading; the gauges as they are now. -1 where one of
   * the two is not known, and where the counter went backwards, as the sums over CPUs do when one
   * goes offline.
   */
  NetCounters since(NetCounters earlier) {
    return new NetCounters(
        difference(retransSegs, earlier.retransSegs),
        difference(outSegs, earlier.outSegs),
        difference(attemptFails, earlier.attemptFails),
        difference(synRetrans, earlier.synRetrans),
        difference(timeouts, earlier.timeouts),
        difference(delayedAcks, earlier.delayedAcks),
        difference(lossProbes, earlier.lossProbes),
        difference(listenOverflows, earlier.listenOverflows),
        difference(listenDrops, earlier.listenDrops),
        difference(reqQFullDrop, earlier.reqQFullDrop),
        socketsUsed,
        tcpInUse,
        orphans,
        timeWait,
        difference(softnetDropped, earlier.softnetDropped),
        difference(softnetSqueezed, earlier.softnetSqueezed));
  }

  /** Returns the sum of two spans' counters, and the larger of their gauges. */
  NetCounters plus(NetCounters other) {
    return new NetCounters(
        sum(retransSegs, other.retransSegs),
        sum(outSegs, other.outSegs),
        sum(attemptFails, other.attemptFails),
        sum(synRetrans, other.synRetrans),
        sum(timeouts, other.timeouts),
        sum(delayedAcks, other.delayedAcks),
        sum(lossProbes, other.lossProbes),
        sum(listenOverflows, other.listenOverflows),
        sum(listenDrops, other.listenDrops),
        sum(reqQFullDrop, other.reqQFullDrop),
        Math.max(socketsUsed, other.socketsUsed),
        Math.max(tcpInUse, other.tcpInUse),
        Math.max(orphans, other.orphans),
        Math.max(timeWait, other.timeWait),
        sum(softnetDropped, other.softnetDropped),
        sum(softnetSqueezed, other.softnetSqueezed));
  }

  /** An unknown part is left out of a sum; two are unknown. */
  private static long sum(long a, long b) {
    return a < 0 ? b : b < 0 ? a : a + b;
  }

  private static long difference(long now, long earlier) {
    return earlier < 0 || now < earlier ? ProcText.ABSENT : now - earlier;
  }

  /** Reads a line of names and the line of values that follows it, side by side. */
  private static long[] columns(String text, String prefix, String[] names) {
    long[] values = ProcText.absent(names.length);
    int line = text == null ? -1 : ProcText.lineOf(text, prefix);
    if (line < 0) {
      return values;
    }
    int namesEnd = ProcText.lineEnd(text, line);
    if (!text.startsWith(prefix, namesEnd + 1)) {
      return values;
    }
    int nameEnd = line + prefix.length();
    int valueEnd = namesEnd + 1 + prefix.length();
    int valuesEnd = ProcText.lineEnd(text, valueEnd);
    while (true) {
      int name = ProcText.wordStart(text, nameEnd, namesEnd);
      int value = ProcText.wordStart(text, valueEnd, valuesEnd);
      nameEnd = ProcText.wordEnd(text, name, namesEnd);
      valueEnd = ProcText.wordEnd(text, value, valuesEnd);
      if (name == nameEnd || value == valueEnd) {
        return values;
      }
      int index = ProcText.indexOfWord(text, name, nameEnd, names);
      if (index >= 0) {
        values[index] = ProcText.decimal(text, value, valueEnd);
      }
    }
  }

  /** Reads a line such as {@code TCP: inuse 1 orphan 0 tw 0}. */
  private static long[] labelled(String text, String prefix, String[] names) {
    int line = text == null ? -1 : ProcText.lineOf(text, prefix);
    return line < 0
        ? ProcText.absent(names.length)
        : ProcText.named(text, line + prefix.length(), ProcText.lineEnd(text, line), names);
  }

  /**
   * Sums columns 2 and 3, which are hexadecimal, over all lines; both are unknown if any line
   * cannot be read, for a sum over fewer CPUs would look like a counter that went backwards.
   */
  private static long[] sumOfCpus(String softnet) {
    long[] sums = ProcText.absent(2);
    if (softnet == null) {
      return sums;
    }
    long dropped = 0;
    long squeezed = 0;
    int lines = 0;
    for (int at = 0; at < softnet.length(); lines++) {
      int end = ProcText.lineEnd(softnet, at);
      int processedEnd = ProcText.wordEnd(softnet, ProcText.wordStart(softnet, at, end), end);
      int second = ProcText.wordStart(softnet, processedEnd, end);
      int secondEnd = ProcText.wordEnd(softnet, second, end);
      int third = ProcText.wordStart(softnet, secondEnd, end);
      int thirdEnd = ProcText.wordEnd(softnet, third, end);
      long lineDropped = ProcText.hex(softnet, second, secondEnd);
      long lineSqueezed = ProcText.hex(softnet, third, thirdEnd);
      if (lineDropped < 0 || lineSqueezed < 0) {
        return sums;
      }
      dropped += lineDropped;
      squeezed += lineSqueezed;
      at = end + 1;
    }
    if (lines > 0) {
      sums[0] = dropped;
      sums[1] = squeezed;
    }
    return sums;
  }
}

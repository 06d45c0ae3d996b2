package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever a file of /proc holds, reading it must not end a run. */
class ParsersAreTotalTest {

  private static final String[] PIECES = {
    " ",
    " ",
    " ",
    "\n",
    "\n",
    "\t",
    "",
    "0",
    "7",
    "-1",
    "ffffffff",
    "99999999999999999999",
    ":",
    "/",
    "/..",
    "/a",
    "\\040",
    "\0",
    "\u0660",
    "cpu",
    "cpu0",
    "cpu1 1 2 3 4 5 6 7 8",
    "Tcp:",
    "TCP:",
    "TcpExt:",
    "OutSegs",
    "TCPTimeouts",
    "inuse",
    "sockets: used",
    "some ",
    "total=",
    "nr_periods",
    "throttled_usec",
    "0::/a",
    "1:cpu:/a",
    "1 1 0:1 / /m rw - cgroup2 c rw",
    " - ",
    "cgroup cgroup rw,cpu",
    "max",
    "x_allowance_exceeded:",
    "Adaptive RX:",
    "TX:",
    "rx-usecs:"
  };

  @Provide
  Arbitrary<String> garbled() {
    return Arbitraries.oneOf(
        List.of(
            Arbitraries.of(PIECES).list().ofMaxSize(40).map(pieces -> String.join("", pieces)),
            Arbitraries.strings().ofMaxLength(60)));
  }

  @Property
  void noTextMakesAParserThrow(@ForAll("garbled") String text, @ForAll("garbled") String other) {
    assertThatCode(
            () -> {
              StealReport.of(CpuTimes.parse(text), "aarch64", text, other);
              CpuTimes.parse(text).forEach(CpuTimes::total);
              SchedStat.parse(text);
              NetCounters.parse(text, text, text, text)
                  .since(NetCounters.parse(other, other, other, other));
              Pressure.someTotalMicros(text);
              CgroupCpu.parse(text);
              CgroupCpu.directories(text, other);
              CgroupCpu.cpusOf(text);
              CgroupCpu.cpusOf(text, other);
              Ethtool.allowances(text);
              Ethtool.coalescing(text);
              ThreadRoles.roleOf(text);
            })
        .doesNotThrowAnyException();
  }
}

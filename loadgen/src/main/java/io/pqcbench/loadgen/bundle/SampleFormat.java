package io.pqcbench.loadgen.bundle;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.CipherSuites;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.handshake.TlsAlert;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One sample as a line of CSV. Times are microseconds with three decimals; what was not reached is
 * empty.
 */
final class SampleFormat {

  /** What is newer stands at the end, so that the others keep their places. */
  private static final List<Phase> PHASES =
      Phase.ALL.stream().filter(phase -> phase != Phase.SETTINGS).toList();

  private final long start;
  private final long measuredFrom;
  private final int targets;
  private final Map<Integer, String> groups = new HashMap<>();
  private final Map<Integer, String> suites = new HashMap<>();

  /**
   * @param targets how many there are, taken in turn
   */
  SampleFormat(long start, long measuredFrom, int targets) {
    this.targets = targets;
    this.start = start;
    this.measuredFrom = measuredFrom;
  }

  /** Returns the first line. */
  static String header() {
    return "index,planned_us,measured,outcome,detail,died_in,"
        + PHASES.stream().map(phase -> phase.label() + "_us").collect(Collectors.joining(","))
        + ",request_sent_us,handshake_bytes_out,handshake_bytes_in,bytes_out,bytes_in,body_bytes,group,cipher,local_port,lane,records_out,records_in,tcp_rtt_us,tcp_retransmits,tcp_lost,session,target,settings_us\n";
  }

  /** Appends one line with its end. */
  void append(StringBuilder line, SampleBlock block, int row) {
    long planned = block.at(row, Milestone.PLANNED);
    Outcome outcome = block.outcome(row);
    line.append(block.index(row)).append(',');
    micros(line, planned - start);
    line.append(',')
        .append(planned >= measuredFrom ? '1' : '0')
        .append(',')
        .append(outcome.name())
        .append(',');
    line.append(detail(outcome, block.detail(row))).append(',');
    if (outcome != Outcome.SUCCESS) {
      line.append(RunRecord.diedIn(block, row));
    }
    for (int i = 0; i < PHASES.size(); i++) {
      line.append(',');
      micros(line, block.nanos(row, PHASES.get(i)));
    }
    long requestSent = block.at(row, Milestone.REQUEST_SENT);
    line.append(',');
    micros(line, requestSent == Attempt.UNSET ? Attempt.UNSET : requestSent - planned);
    line.append(',').append(block.handshakeBytesOut(row));
    line.append(',').append(block.handshakeBytesIn(row));
    line.append(',').append(block.bytesOut(row));
    line.append(',').append(block.bytesIn(row));
    line.append(',').append(block.bodyBytes(row)).append(',');
    int group = block.group(row);
    if (group != Attempt.NONE) {
      line.append(groups.computeIfAbsent(group, NamedGroup::nameOf));
    }
    line.append(',');
    int suite = block.cipherSuite(row);
    if (suite != Attempt.NONE) {
      line.append(suites.computeIfAbsent(suite, CipherSuites::name));
    }
    line.append(',');
    if (block.localPort(row) != Attempt.NONE) {
      line.append(block.localPort(row));
    }
    line.append(',').append(block.lane());
    line.append(',').append(block.recordsOut(row));
    line.append(',').append(block.recordsIn(row)).append(',');
    if (block.rttMicros(row) != Attempt.NONE) {
      line.append(block.rttMicros(row));
    }
    line.append(',').append(block.retransmits(row));
    line.append(',').append(block.lost(row));
    line.append(',').append(block.resumes(row) ? 'r' : 'f');
    line.append(',').append(block.index(row) % targets).append(',');
    micros(line, block.nanos(row, Phase.SETTINGS));
    line.append('\n');
  }

  /** Returns the alert's name, the HTTP status, or nothing. */
  static String detail(Outcome outcome, int detail) {
    if (detail == Attempt.NONE) {
      return "";
    }
    return switch (outcome) {
      case TLS_ALERT -> TlsAlert.name(detail);
      case WRONG_CIPHER -> CipherSuites.name(detail);
      default -> Integer.toString(detail);
    };
  }

  private static void micros(StringBuilder line, long nanos) {
    if (nanos == Attempt.UNSET) {
      return;
    }
    long fraction = nanos % 1000;
    line.append(nanos / 1000).append('.');
    line.append((char) ('0' + fraction / 100));
    line.append((char) ('0' + fraction / 10 % 10));
    line.append((char) ('0' + fraction % 10));
  }
}

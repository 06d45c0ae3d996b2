package io.pqcbench.loadgen.record;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import java.util.Arrays;

/**
 * Some finished attempts of one lane, as plain numbers: the unit in which a lane hands its samples
 * to the writer.
 *
 * <p>Filled by one thread, then read by another; the queue between them orders the two. Blocks are
 * recycled, so a sample costs no allocation.
 */
public final class SampleBlock {

  private static final int ROWS = 512;
  private static final Milestone[] MILESTONE = Milestone.values();

  private static final int INDEX = MILESTONE.length;
  private static final int OUTCOME = INDEX + 1;
  private static final int DETAIL = OUTCOME + 1;
  private static final int LAST_REACHED = DETAIL + 1;
  private static final int GROUP = LAST_REACHED + 1;
  private static final int CIPHER = GROUP + 1;
  private static final int PORT = CIPHER + 1;
  private static final int HANDSHAKE_OUT = PORT + 1;
  private static final int HANDSHAKE_IN = HANDSHAKE_OUT + 1;
  private static final int OUT = HANDSHAKE_IN + 1;
  private static final int IN = OUT + 1;
  private static final int BODY = IN + 1;
  private static final int RECORDS_OUT = BODY + 1;
  private static final int RECORDS_IN = RECORDS_OUT + 1;
  private static final int RTT = RECORDS_IN + 1;
  private static final int RETRANSMITS = RTT + 1;
  private static final int LOST = RETRANSMITS + 1;
  private static final int RESUMES = LOST + 1;
  private static final int FLIGHT_GAP = RESUMES + 1;
  private static final int COLUMNS = FLIGHT_GAP + 1;

  private final int lane;
  private final long[] cells = new long[ROWS * COLUMNS];
  private final Throwable[] failures = new Throwable[ROWS];
  private int rows;

  SampleBlock(int lane) {
    this.lane = lane;
  }

  boolean isFull() {
    return rows == ROWS;
  }

  void clear() {
    Arrays.fill(failures, 0, rows, null);
    rows = 0;
  }

  void add(Attempt attempt) {
    int row = rows * COLUMNS;
    attempt.copyMilestones(cells, row);
    cells[row + INDEX] = attempt.index();
    cells[row + OUTCOME] = attempt.outcome().ordinal();
    cells[row + DETAIL] = attempt.detail();
    cells[row + LAST_REACHED] = attempt.lastReached().ordinal();
    cells[row + GROUP] = attempt.group();
    cells[row + CIPHER] = attempt.cipherSuite();
    cells[row + PORT] = attempt.localPort();
    cells[row + HANDSHAKE_OUT] = attempt.handshakeBytesOut();
    cells[row + HANDSHAKE_IN] = attempt.handshakeBytesIn();
    cells[row + OUT] = attempt.bytesOut();
    cells[row + IN] = attempt.bytesIn();
    cells[row + BODY] = attempt.bodyBytes();
    cells[row + RECORDS_OUT] = attempt.recordsOut();
    cells[row + RECORDS_IN] = attempt.recordsIn();
    cells[row + RTT] = attempt.rttMicros();
    cells[row + RETRANSMITS] = attempt.retransmits();
    cells[row + LOST] = attempt.lost();
    cells[row + RESUMES] = attempt.resumes() ? 1 : 0;
    cells[row + FLIGHT_GAP] = attempt.flightGapNanos();
    failures[rows] = attempt.failure();
    rows++;
  }

  private long cell(int row, int column) {
    return cells[row * COLUMNS + column];
  }

  /** Returns the number of samples. */
  public int rows() {
    return rows;
  }

  /** Returns the lane that ran them, from 0. */
  public int lane() {
    return lane;
  }

  /** Returns an instant on the run's clock, or {@link Attempt#UNSET}. */
  public long at(int row, Milestone milestone) {
    return cell(row, milestone.ordinal());
  }

  /** Returns the length of a phase in nanoseconds, or {@link Attempt#UNSET}. */
  public long nanos(int row, Phase phase) {
    long from = at(row, phase.from());
    long to = at(row, phase.to());
    return from == Attempt.UNSET || to == Attempt.UNSET ? Attempt.UNSET : to - from;
  }

  /** Returns the time from the first byte of the response to the last; 0 without a response. */
  public long bodyNanos(int row) {
    long first = at(row, Milestone.FIRST_BYTE);
    long done = at(row, Milestone.DONE);
    return first == Attempt.UNSET || done == Attempt.UNSET ? 0 : done - first;
  }

  /** Returns the index in the schedule. */
  public long index(int row) {
    return cell(row, INDEX);
  }

  /** Returns how it ended. */
  public Outcome outcome(int row) {
    return Outcome.of((int) cell(row, OUTCOME));
  }

  /** Returns the alert or the HTTP status, or {@link Attempt#NONE}. */
  public int detail(int row) {
    return (int) cell(row, DETAIL);
  }

  /** Returns the last milestone that was reached. */
  public Milestone lastReached(int row) {
    return MILESTONE[(int) cell(row, LAST_REACHED)];
  }

  /** Returns the negotiated group's code point, or {@link Attempt#NONE}. */
  public int group(int row) {
    return (int) cell(row, GROUP);
  }

  /** Returns the negotiated suite's code point, or {@link Attempt#NONE}. */
  public int cipherSuite(int row) {
    return (int) cell(row, CIPHER);
  }

  /** Returns the client's port, or {@link Attempt#NONE}. */
  public int localPort(int row) {
    return (int) cell(row, PORT);
  }

  /** Returns the bytes of the client's handshake flights. */
  public long handshakeBytesOut(int row) {
    return cell(row, HANDSHAKE_OUT);
  }

  /** Returns the bytes of the server's handshake flights. */
  public long handshakeBytesIn(int row) {
    return cell(row, HANDSHAKE_IN);
  }

  /** Returns all bytes sent. */
  public long bytesOut(int row) {
    return cell(row, OUT);
  }

  /** Returns all bytes read. */
  public long bytesIn(int row) {
    return cell(row, IN);
  }

  /** Returns the length of the response's body. */
  public long bodyBytes(int row) {
    return cell(row, BODY);
  }

  /** Returns the TLS records sent. */
  public long recordsOut(int row) {
    return cell(row, RECORDS_OUT);
  }

  /** Returns the TLS records read. */
  public long recordsIn(int row) {
    return cell(row, RECORDS_IN);
  }

  /** Returns the kernel's round-trip time in microseconds, or {@link Attempt#NONE}. */
  public long rttMicros(int row) {
    return cell(row, RTT);
  }

  /** Returns the segments that the client sent again, its SYN among them. */
  public long retransmits(int row) {
    return cell(row, RETRANSMITS);
  }

  /** Returns the segments that the kernel held for lost at the end. */
  public long lost(int row) {
    return cell(row, LOST);
  }

  /** Returns whether it was to resume a session. */
  public boolean resumes(int row) {
    return cell(row, RESUMES) != 0;
  }

  /** Returns how long the client waited within the server's flight. */
  public long flightGapNanos(int row) {
    return cell(row, FLIGHT_GAP);
  }

  /** Returns what was thrown; null if nothing was. */
  public Throwable failure(int row) {
    return failures[row];
  }
}

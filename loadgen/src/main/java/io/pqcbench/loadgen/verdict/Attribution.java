package io.pqcbench.loadgen.verdict;

import io.pqcbench.loadgen.handshake.Attempt;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.Disturbances;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/**
 * Finds the cause of a slow request: what on the timeline overlaps it and can account for half of
 * what it took beyond the median, or else in which phase the time went by.
 *
 * <p>No sample is dropped by its cause. Used by the writer's thread alone.
 */
public final class Attribution {

  /** A disturbance explains a request if it took at least this share of the excess. */
  static final double ENOUGH = 0.5;

  /** What is longer than the median by less than this part of it needs no cause. */
  private static final double USUAL = 0.1;

  /** TCP_TIMEOUT_INIT, include/net/tcp.h: the first SYN is sent again after a second. */
  private static final long SYN_TIMEOUT_NANOS = 1_000_000_000L;

  /** Clock ticks and scheduling blur the kernel's timers by this much. */
  private static final long TIMER_BLUR_NANOS = 60_000_000L;

  /**
   * TCP_DELACK_MIN, include/net/tcp.h, is HZ/25 = 40 ms; ticks of up to 4 ms (HZ=250) and the
   * request's own time come on top.
   */
  private static final long DELAYED_ACK_FROM_NANOS = 36_000_000L;

  private static final long DELAYED_ACK_TO_NANOS = 46_000_000L;

  /** The first byte of the code points of TLS 1.3's suites, RFC 8446, appendix B.4. */
  private static final int TLS_13_SUITES = 0x13;

  /** After a stop, arrivals that were due in it are worked off; those that follow wait for them. */
  private static final long CATCH_UP_NANOS = 1_000_000_000L;

  /**
   * In this order. What keeps the whole process from running also makes its collections long, and
   * what stops the JVM is a better reason than that something stood still.
   */
  private static final List<Source> CAUSES =
      List.of(
          Source.THROTTLED,
          Source.STEAL,
          Source.GC_PAUSE,
          Source.ALLOCATION_STALL,
          Source.SAFEPOINT,
          Source.HICCUP,
          Source.POLL_GAP,
          Source.LATE_WAKE,
          Source.LANE_STALL,
          Source.RUN_DELAY);

  /** These say that something stood still, and not why; the counters of the time may. */
  private static final Set<Source> SYMPTOMS =
      EnumSet.of(Source.HICCUP, Source.POLL_GAP, Source.LATE_WAKE, Source.LANE_STALL);

  private static final List<Source> REASONS =
      List.of(Source.THROTTLED, Source.STEAL, Source.RUN_DELAY);

  private final Disturbances disturbances;
  private final Disturbances server;
  private final RunRecord record;
  private final long[] medians = new long[Phase.ALL.size()];
  private long usualBody;
  private long medianCount = -1;

  /**
   * @param disturbances the timeline
   * @param server the timeline of the server's machine; empty if it is not watched
   * @param record gives the medians; those of the moment are used
   */
  public Attribution(Disturbances disturbances, Disturbances server, RunRecord record) {
    this.disturbances = disturbances;
    this.server = server;
    this.record = record;
  }

  /** Explains a success. Everything that happened during it must have been reported. */
  public Cause explain(SampleBlock block, int row) {
    long planned = block.at(row, Milestone.PLANNED);
    long done = block.at(row, Milestone.DONE);
    long response = done - planned;
    long excess = response - median(Phase.RESPONSE);
    if (excess < USUAL * median(Phase.RESPONSE) || excess <= 0) {
      return new Cause(
          Cause.USUAL,
          millis(response) + ", not slower than usual (" + millis(median(Phase.RESPONSE)) + ")");
    }
    long lag = block.nanos(row, Phase.LAG);
    boolean late = lag > ENOUGH * excess;

    Cause network = late ? null : network(block, row, excess);
    if (network != null) {
      return network;
    }
    Cause stop = stop(disturbances, block.lane(), planned, done, excess, lag, late);
    if (stop != null) {
      return stop;
    }
    Cause silent = late ? null : silentSyn(block, row, excess);
    if (silent != null) {
      return silent;
    }
    if (late) {
      return new Cause(
          Cause.CLIENT_QUEUE, "lane late by " + millis(lag) + ", busy with other arrivals");
    }
    Cause theirs = stop(server, block.lane(), planned, done, excess, lag, false);
    return theirs != null
        ? new Cause(Cause.SERVER + theirs.name(), "on the server: " + theirs.evidence())
        : slowPhase(block, row, excess);
  }

  private static Cause network(SampleBlock block, int row, long excess) {
    long again = block.retransmits(row);
    if (again == 0) {
      return null;
    }
    long connect = block.nanos(row, Phase.CONNECT);
    return isSynTimeout(connect, excess)
        ? new Cause(
            Cause.SYN_RETRANSMIT,
            "SYN retransmitted " + times(again) + ", connect took " + millis(connect))
        : new Cause(
            Cause.RETRANSMIT,
            "segments retransmitted: "
                + again
                + ", round-trip time "
                + block.rttMicros(row)
                + " us, excess "
                + millis(excess));
  }

  /** Without the kernel's count only the time speaks for it, and a stop is a better reason. */
  private static Cause silentSyn(SampleBlock block, int row, long excess) {
    long connect = block.nanos(row, Phase.CONNECT);
    return isSynTimeout(connect, excess)
        ? new Cause(
            Cause.SYN_RETRANSMIT,
            "SYN retransmitted (by the time it took), connect took " + millis(connect))
        : null;
  }

  private static boolean isSynTimeout(long connect, long excess) {
    return connect >= SYN_TIMEOUT_NANOS && connect > ENOUGH * excess;
  }

  private static String times(long count) {
    return count == 1 ? "once" : count == 2 ? "twice" : count + " times";
  }

  private Cause stop(
      Disturbances timeline,
      int lane,
      long planned,
      long done,
      long excess,
      long lag,
      boolean late) {
    Map<Source, Long> taken = new EnumMap<>(Source.class);
    Map<Source, Disturbance> largest = new EnumMap<>(Source.class);
    for (Disturbance disturbance : timeline.within(planned, done)) {
      if (!disturbance.concerns(lane)) {
        continue;
      }
      // A lane that was late lost the time in one piece, so all of a window's may have been it.
      long amount =
          late ? disturbance.atMostWithin(planned, done) : disturbance.within(planned, done);
      taken.merge(disturbance.source(), amount, Long::sum);
      largest.merge(
          disturbance.source(), disturbance, (a, b) -> a.amountNanos() >= b.amountNanos() ? a : b);
    }
    for (Source source : CAUSES) {
      long amount = taken.getOrDefault(source, 0L);
      if (amount >= ENOUGH * excess) {
        Disturbance found = largest.get(source);
        Disturbance reason = SYMPTOMS.contains(source) ? reason(timeline, found) : null;
        return reason == null
            ? overlap(found, amount, excess, lag, late)
            : new Cause(
                reason.source().label(),
                (late ? "lane late by " + millis(lag) + ": " : "")
                    + describe(reason)
                    + " in the "
                    + millis(reason.endNanos() - reason.startNanos())
                    + " of "
                    + describe(found));
      }
    }
    return late ? catchingUp(lane, planned, excess) : null;
  }

  /** What the counters say that a symptom was; null if they do not account for half of it. */
  private static Disturbance reason(Disturbances timeline, Disturbance symptom) {
    for (Source source : REASONS) {
      long amount = 0;
      Disturbance largest = null;
      for (Disturbance window : timeline.within(symptom.startNanos(), symptom.endNanos())) {
        if (window.source() == source) {
          amount += window.atMostWithin(symptom.startNanos(), symptom.endNanos());
          largest =
              largest == null || window.amountNanos() > largest.amountNanos() ? window : largest;
        }
      }
      if (amount >= ENOUGH * symptom.amountNanos()) {
        return largest;
      }
    }
    return null;
  }

  private static String describe(Disturbance disturbance) {
    return disturbance.source().label().replace('-', ' ')
        + (disturbance.detail().isEmpty() ? "" : " (" + disturbance.detail() + ")")
        + " "
        + millis(disturbance.amountNanos());
  }

  private static Cause overlap(
      Disturbance disturbance, long amount, long excess, long lag, boolean late) {
    Source source = disturbance.source();
    String share = String.format(Locale.ROOT, "%.0f %%", Math.min(100, 100.0 * amount / excess));
    String evidence =
        describe(disturbance)
            + (source.isExact()
                ? " overlaps "
                : " within " + millis(disturbance.endNanos() - disturbance.startNanos()) + ", ")
            + share
            + " of the excess of "
            + millis(excess);
    return new Cause(
        source.label(), late ? "lane late by " + millis(lag) + ": " + evidence : evidence);
  }

  /** The arrival was not due yet in the stop, but waited behind those that were. */
  private Cause catchingUp(int lane, long planned, long excess) {
    Disturbance best = null;
    for (Disturbance past : disturbances.within(planned - CATCH_UP_NANOS, planned)) {
      if (CAUSES.contains(past.source())
          && past.concerns(lane)
          && past.amountNanos() >= ENOUGH * excess
          && (best == null || CAUSES.indexOf(past.source()) < CAUSES.indexOf(best.source()))) {
        best = past;
      }
    }
    return best == null
        ? null
        : new Cause(
            best.source().label(),
            "behind by "
                + millis(excess)
                + " after "
                + best.source().label().replace('-', ' ')
                + " "
                + millis(best.amountNanos())
                + " which ended "
                + millis(Math.max(0, planned - best.endNanos()))
                + " earlier");
  }

  private Cause slowPhase(SampleBlock block, int row, long excess) {
    long connect = beyond(block, row, Phase.CONNECT);
    long hello = beyond(block, row, Phase.HELLO);
    long flight = beyond(block, row, Phase.FLIGHT);
    long finish = beyond(block, row, Phase.FINISH);
    long ttfb = beyond(block, row, Phase.TTFB);
    long body = Math.max(0, block.bodyNanos(row) - usualBody);
    long gap = Math.max(0, block.flightGapNanos(row) - record.usualFlightGap(block, row));
    // In TLS 1.3 nothing is left to wait for then, in TLS 1.2 the server's second flight is.
    boolean tls13 = block.cipherSuite(row) >> 8 == TLS_13_SUITES;
    long work = hello + (tls13 ? finish : 0);
    long secondFlight = tls13 ? 0 : finish;
    // The second of two small writes waits for the acknowledgement of the first, so some bytes of
    // what the server has to say are here already. A server that is slow sends none.
    long held = Math.max(gap, Math.max(secondFlight, body));
    // Over QUIC, where connecting takes no time at all, nothing is held back for that.
    boolean tcp = block.nanos(row, Phase.CONNECT) != 0;
    if (tcp
        && held >= DELAYED_ACK_FROM_NANOS
        && held <= DELAYED_ACK_TO_NANOS
        && held > ENOUGH * excess) {
      return new Cause(
          Cause.DELAYED_ACK,
          "plateau of the delayed acknowledgement (40 ms): "
              + millis(held)
              + " in "
              + (body == held ? "the body, after its first byte" : "the server's flight"));
    }
    long late = Math.max(secondFlight, body);
    long waiting = connect + flight + ttfb + secondFlight + body;
    if (waiting >= ENOUGH * excess) {
      String where =
          connect >= Math.max(flight, Math.max(ttfb, late))
              ? "connect"
              : flight >= Math.max(ttfb, late)
                  ? "flight"
                  : ttfb >= late ? "ttfb" : secondFlight >= body ? "finish" : "body";
      return new Cause(
          Cause.SERVER_OR_NETWORK,
          "slow in "
              + where
              + ", where the client waits: "
              + millis(waiting)
              + " of the excess of "
              + millis(excess)
              + hint(flight, ttfb, late));
    }
    if (work >= ENOUGH * excess) {
      return new Cause(
          Cause.CLIENT_WORK,
          (hello >= work - hello ? "key generation" : "decapsulation and the certificate's check")
              + " took "
              + millis(Math.max(hello, work - hello))
              + " more than usual");
    }
    return new Cause(Cause.UNEXPLAINED, "excess " + millis(excess) + ", spread over the phases");
  }

  /** TCP_RTO_MIN, include/net/tcp.h, is HZ/5: what a server sends again comes 200 ms late. */
  private static String hint(long flight, long ttfb, long late) {
    long wait = Math.max(flight, Math.max(ttfb, late));
    return wait >= 200_000_000L && wait <= 200_000_000L + TIMER_BLUR_NANOS
        ? ", near 200 ms as when the server sends a segment again"
        : "";
  }

  private long beyond(SampleBlock block, int row, Phase phase) {
    long nanos = block.nanos(row, phase);
    return nanos == Attempt.UNSET ? 0 : Math.max(0, nanos - median(phase));
  }

  /** The medians change once a second at most, and finding one takes a walk over a histogram. */
  private long median(Phase phase) {
    long count = record.total(Phase.RESPONSE).getTotalCount();
    if (count != medianCount) {
      medianCount = count;
      for (Phase each : Phase.ALL) {
        Histogram histogram = record.total(each);
        medians[each.ordinal()] =
            histogram.getTotalCount() == 0 ? 0 : histogram.getValueAtPercentile(50);
      }
      usualBody = record.usualBody();
    }
    return medians[phase.ordinal()];
  }

  static String millis(long nanos) {
    return String.format(Locale.ROOT, nanos < 10_000_000 ? "%.2f ms" : "%.1f ms", nanos / 1e6);
  }
}

package io.pqcbench.loadgen.verdict;

import static io.pqcbench.loadgen.verdict.Verdict.INVALID;
import static io.pqcbench.loadgen.verdict.Verdict.SATURATED;
import static io.pqcbench.loadgen.verdict.Verdict.SUSPECT;
import static io.pqcbench.loadgen.verdict.Verdict.TRUSTED;

import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.MachineRecord;
import io.pqcbench.loadgen.monitor.NetCounters;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.Timeline;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/**
 * Every rule and every threshold. Rules look at tenths of a second, seconds and percentiles of the
 * measured part, never at the run's average alone. Limits without a source are this project's own.
 */
public final class Rules {

  /**
   * Lancet accepts 0.90 to 1.10 (lancet-tool, coordinator); a fixed rate on an idle machine has no
   * reason to miss 1 %.
   */
  private static final double ACHIEVED_TOLERANCE = 0.01;

  /**
   * In a single second a stall of 50 ms is worth telling; by Poisson's luck nothing changes, the
   * plan is compared.
   */
  private static final double SECOND_TOLERANCE = 0.05;

  /** So many seconds out of tolerance are a client that cannot keep up, and not one stall. */
  private static final double SECONDS_SATURATED = 0.05;

  /** One in a thousand: fewer cannot move a p99. RFC 9411 allows one in 100,000. */
  private static final double SKIPPED_LIMIT = 0.001;

  private static final double ERROR_LIMIT = 0.001;

  /** Hyperfoil's watchdog takes five seconds; trends need as many. */
  private static final long SHORT_NANOS = 5_000_000_000L;

  /** A monitor that sees less than this of a run cannot speak for it. */
  private static final double WATCHED = 0.9;

  /** Told while a run goes, and of its warm-up too, where a stumble is forgiven. */
  private static final double SKIPPED_EARLY = 0.1;

  private static final long BEHIND_NANOS = 1_000_000_000L;

  /**
   * A steady system completes as many as arrive; the first third is left for it to become steady.
   */
  private static final double TREND_LIMIT = 0.98;

  /** With fewer, what is in flight at the two ends weighs too much. */
  private static final long TREND_MIN_ARRIVALS = 500;

  /** Attempts in flight of the last third over those of the first, at least so many more. */
  private static final double IN_FLIGHT_GROWTH = 1.5;

  private static final double IN_FLIGHT_MORE = 10;

  /** Of the seconds that follow each other, so many must grow: noise has half. */
  private static final double IN_FLIGHT_RISING = 0.6;

  private static final int IN_FLIGHT_MIN_SECONDS = 6;

  /** A lateness of the client's own that stands in the response's tail. */
  private static final long LAG_MAX_NANOS = 10_000_000L;

  /** A lateness that is small against the response is not what the response waits for. */
  private static final double LAG_SHARE = 0.1;

  /**
   * Above this share of a lane's time arrivals queue for it: W = rho S / (2 (1 - rho)) is half a
   * service time (M/D/1).
   */
  private static final double LANE_BUSY = 0.5;

  /** So many seconds above {@link MachineRecord#BUSY_SECOND} are saturation. */
  private static final double BUSY_SECONDS_SATURATED = 0.1;

  /** A client that spends less than this on its lanes, punctually, has room to spare. */
  private static final double CLIENT_IDLE = 0.6;

  /** Hyperfoil's IDLE_THRESHOLD, over its five seconds (CpuWatchdog). */
  private static final double CPU_IDLE = 0.2;

  /** A tenth of a second in which a lane waited longer than this for a processor. */
  private static final long RUN_DELAY_WINDOW_NANOS = 20_000_000L;

  private static final double RUN_DELAY_SHARE = 0.05;

  /** A cause that explains so much of the slowest hundredth shapes the p99. */
  private static final double TAIL_SHARE = 0.1;

  /** A tail of fewer requests is an anecdote. */
  private static final int TAIL_MIN = 10;

  /** A single stop that is longer stands in the tail of any run. */
  private static final long STOP_MAX_NANOS = 10_000_000L;

  private static final double UNEXPLAINED_LIMIT = 0.2;

  /** In a run of fewer seconds every tail is in few of them. */
  private static final double CLUSTER_MIN_SECONDS = 10;

  private static final double RETRANSMIT_LIMIT = 0.001;

  /**
   * A flight that waits for an acknowledgement comes apart by a round trip. The quickest connection
   * to the target is one, less for what the client does meanwhile.
   */
  private static final double ROUND_TRIP_FROM = 0.8;

  /** Over the round trips that a flight needs; the usual connection is one, with its jitter. */
  private static final double ROUND_TRIP_BLUR = 0.5;

  /** They are slow, coarse, or emulated (Documentation/timers, xen: hypercalls). */
  private static final Set<String> BAD_CLOCKS =
      Set.of("xen", "hpet", "acpi_pm", "jiffies", "refined-jiffies");

  private static final double CLOCK_COST_NANOS = 1_000;

  /** The kernel's delayed acknowledgement with the blur of its ticks; see {@link Attribution}. */
  private static final double DELAYED_ACK_FROM_MICROS = 36_000;

  private static final double DELAYED_ACK_TO_MICROS = 46_000;

  private final Evidence evidence;
  private final RunRecord record;
  private final MachineRecord machine;
  private final List<Finding> findings = new ArrayList<>();
  private final long planned;
  private final boolean clientHasRoom;
  private long told;

  private Rules(Evidence evidence) {
    this.evidence = evidence;
    this.record = evidence.record();
    this.machine = evidence.machine();
    this.planned = record.measuredCount();
    this.clientHasRoom = clientHasRoom();
  }

  /** The verdict and what speaks against the run, the gravest first. */
  public record Judgement(Verdict verdict, List<Finding> findings) {}

  /** Judges the measured part of a run, or what there is of it so far. */
  public static Judgement judge(Evidence evidence) {
    return new Rules(evidence).judgement();
  }

  /**
   * Looks at a run that goes, the warm-up too, for a load that cannot be offered: what is due is
   * not started.
   *
   * @param behindNanos by how much the next arrival is overdue now
   * @param skipped arrivals that were not started so far
   * @param due arrivals so far
   * @param laneBusyShare of the busiest lane in the last second
   * @param fewDescriptors whether the limit of attempts in flight comes from that of open files
   * @return what there is to say; empty if nothing
   */
  public static List<Finding> early(
      long behindNanos, long skipped, long due, double laneBusyShare, boolean fewDescriptors) {
    boolean client = fewDescriptors || laneBusyShare > CLIENT_IDLE || behindNanos > BEHIND_NANOS;
    List<Finding> found = new ArrayList<>();
    if (behindNanos > BEHIND_NANOS) {
      found.add(
          new Finding(
              "behind-schedule",
              SATURATED,
              Fault.CLIENT,
              "the next arrival is overdue by " + millis(behindNanos),
              millis(BEHIND_NANOS),
              "",
              "this client cannot offer the rate: lower it, or give it more CPU"));
    }
    if (due >= TREND_MIN_ARRIVALS && skipped > due * SKIPPED_EARLY) {
      found.add(
          new Finding(
              fewDescriptors ? "descriptors" : "skipped",
              client ? SATURATED : INVALID,
              client ? Fault.CLIENT : Fault.SERVER,
              percent(skipped, due) + " of arrivals were not started so far",
              percent(SKIPPED_EARLY),
              "",
              fewDescriptors
                  ? "the limit of open files leaves no room for more: ulimit -n 65536"
                  : "as many as allowed are in flight: lower the rate"));
    }
    return found;
  }

  private Judgement judgement() {
    findings.addAll(evidence.saidEarly());
    if (!evidence.live()) {
      completeness();
      double length = evidence.toNanos() - evidence.fromNanos();
      if (length < SHORT_NANOS) {
        add(
            "too-short",
            SUSPECT,
            Fault.CLIENT,
            String.format(Locale.ROOT, "%.1f s were measured", length / 1e9),
            String.format(Locale.ROOT, "%.0f s", SHORT_NANOS / 1e9),
            "rules that look at seconds have too few of them: let it run longer");
      } else if (evidence.conditions().watched() && machine.lengthNanos() < length * WATCHED) {
        add(
            "not-watched",
            SUSPECT,
            Fault.MACHINE,
            percent(machine.lengthNanos() / length) + " of the measured part was watched",
            percent(WATCHED),
            "the monitor's thread did not get to run, or /proc cannot be read");
      }
      if (!evidence.conditions().watched()) {
        add(
            "not-watched",
            SUSPECT,
            Fault.CLIENT,
            "the machine was not watched",
            "watched",
            "without --no-monitor a run says whether its machine disturbed it");
      }
    }
    clock();
    stack();
    if (planned > 0) {
      wrongHandshakes();
      boolean targetFull = trend();
      errors(targetFull);
      skipped();
      if (evidence.conditions().pooled()) {
        setUps();
      } else {
        perSecond();
      }
      lag();
      lanes();
      processors();
      stops();
      network();
      initialWindow();
      server();
      tail();
    }
    findings.sort((a, b) -> b.level().compareTo(a.level()));
    Verdict verdict = findings.isEmpty() ? TRUSTED : findings.get(0).level();
    return new Judgement(verdict, List.copyOf(findings));
  }

  private void add(
      String rule, Verdict level, Fault fault, String observed, String limit, String advice) {
    add(rule, level, fault, observed, limit, "", advice);
  }

  private void add(
      String rule,
      Verdict level,
      Fault fault,
      String observed,
      String limit,
      String when,
      String advice) {
    findings.add(new Finding(rule, level, fault, observed, limit, when, advice));
  }

  /**
   * A client that works little, starts on time and is not kept from running cannot be what the
   * attempts wait for.
   */
  private boolean clientHasRoom() {
    Histogram lag = record.total(Phase.LAG);
    // In a pool an arrival also lags while all connections are in use, which is not our doing.
    boolean lagIsOurs = lag.getTotalCount() > 0 && !evidence.conditions().pooled();
    boolean punctual =
        lagIsOurs
            ? lag.getValueAtPercentile(99)
                <= Math.max(LAG_MAX_NANOS, LAG_SHARE * median(Phase.RESPONSE))
            : machine.behind().max() <= LAG_MAX_NANOS;
    double busy = machine.laneBusyShare();
    return punctual
        && (Double.isNaN(busy) || busy < CLIENT_IDLE)
        && !(machine.leastIdle().share() < CPU_IDLE)
        && machine.throttled().count() == 0;
  }

  private void completeness() {
    // A run that was ended in its warm-up has measured nothing, and has said why.
    if (record.measured(Outcome.SUCCESS) == 0 && (planned > 0 || findings.isEmpty())) {
      add(
          "no-success",
          clientHasRoom ? INVALID : SATURATED,
          planned == 0 || !clientHasRoom ? Fault.CLIENT : Fault.SERVER,
          "0 of " + planned + " succeeded",
          "at least 1",
          planned == 0 ? "let it run longer than its warm-up" : "see the errors");
    }
    if (record.allCount() != evidence.scheduled()) {
      add(
          "unaccounted",
          INVALID,
          Fault.CLIENT,
          record.allCount() + " of " + evidence.scheduled() + " arrivals have an outcome",
          "all",
          "this is a defect of loadgen, please report it");
    }
  }

  private void stack() {
    if (evidence.conditions().javaStack() != null) {
      add(
          "stack-in-java",
          TRUSTED,
          Fault.CLIENT,
          evidence.conditions().javaStack(),
          "a TLS stack of native code, for numbers that are to be compared",
          "hello and finish, and what contains them, are those of this stack in Java, which takes"
              + " several times as long: read what was negotiated, not the microseconds");
    }
    if (!evidence.conditions().groupVerified()) {
      add(
          "group-not-verified",
          TRUSTED,
          Fault.CLIENT,
          "the group is not reported: in TLS 1.2 only the TLS stack knows it, and this one does not"
              + " tell",
          "a group that is compared on every connection",
          "--tls 1.3, or --tls-stack boringssl or openssl");
    }
  }

  private void clock() {
    Evidence.Conditions conditions = evidence.conditions();
    if (conditions.clocksource() != null && BAD_CLOCKS.contains(conditions.clocksource())) {
      add(
          "clocksource",
          INVALID,
          Fault.MACHINE,
          conditions.clocksource(),
          "tsc, kvm-clock, arch_sys_counter or another fast one",
          "choose another in /sys/devices/system/clocksource, or another machine");
    }
    if (conditions.clockCostNanos() > CLOCK_COST_NANOS) {
      add(
          "clock-cost",
          INVALID,
          Fault.MACHINE,
          String.format(Locale.ROOT, "%.0f ns to read the clock", conditions.clockCostNanos()),
          String.format(Locale.ROOT, "%.0f ns", CLOCK_COST_NANOS),
          "each attempt reads it ten times: use a machine with a fast clock");
    }
    MachineRecord.Tally steps = machine.disturbances(Source.CLOCK_STEP);
    if (steps.count() > 0) {
      add(
          "clock-step",
          TRUSTED,
          Fault.MACHINE,
          "the wall clock was set " + steps.count() + " times",
          "0",
          seconds(steps.maxAt()),
          "no latency depends on it, but files of other machines do not line up: let NTP settle");
    }
  }

  private void wrongHandshakes() {
    for (Outcome wrong :
        List.of(
            Outcome.WRONG_GROUP,
            Outcome.WRONG_CIPHER,
            Outcome.RESUMED,
            Outcome.NOT_RESUMED,
            Outcome.HELLO_RETRY,
            Outcome.QUIC_RETRY,
            Outcome.CERTIFICATE_CHANGED)) {
      long count = record.measured(wrong) + record.failedSetUps(wrong);
      if (count > 0) {
        add(
            name(wrong),
            INVALID,
            Fault.SERVER,
            count + " handshakes: " + wrong.text(),
            "0",
            switch (wrong) {
              case HELLO_RETRY ->
                  "offer a group that the server prefers, so that no extra round trip is measured";
              case QUIC_RETRY ->
                  "the server must ask every client for proof of its address, or none: one that"
                      + " asks under load measures two things at once";
              case NOT_RESUMED ->
                  "the server must accept every ticket that it issues, for as long as the run goes:"
                      + " one ticket key on all its machines, no rotation meanwhile";
              default -> "make the server negotiate one thing only, or name what is expected";
            });
      }
    }
  }

  private void errors(boolean targetFull) {
    for (Outcome outcome : Outcome.values()) {
      long count = record.measured(outcome);
      // An interruption itself abandons what is in flight.
      boolean expected = evidence.interrupted() && outcome == Outcome.ABANDONED;
      if (expected || count <= planned * ERROR_LIMIT) {
        continue;
      }
      switch (outcome) {
        case SUCCESS,
            SKIPPED,
            WRONG_GROUP,
            WRONG_CIPHER,
            RESUMED,
            NOT_RESUMED,
            HELLO_RETRY,
            QUIC_RETRY,
            CERTIFICATE_CHANGED -> {
          // Judged by other rules.
        }
        case NO_PORT ->
            add(
                name(outcome),
                SATURATED,
                Fault.CLIENT,
                percent(count, planned) + " of attempts: " + outcome.text(),
                percent(ERROR_LIMIT),
                "the client's fault: --close rst, more --source-address, or sysctl"
                    + " net.ipv4.ip_local_port_range='1024 65535'");
        case NO_FD ->
            add(
                name(outcome),
                SATURATED,
                Fault.CLIENT,
                percent(count, planned) + " of attempts: " + outcome.text(),
                percent(ERROR_LIMIT),
                "the client's fault: ulimit -n 65536");
        case TCP_TIMEOUT, TCP_RESET, CLOSED_EARLY, TLS_TIMEOUT, HTTP_TIMEOUT, ABANDONED ->
            add(
                name(outcome),
                targetFull ? SUSPECT : clientHasRoom ? INVALID : SATURATED,
                clientHasRoom ? Fault.SERVER : Fault.CLIENT,
                percent(count, planned) + " of attempts: " + outcome.text(),
                percent(ERROR_LIMIT),
                "latencies are those of the attempts that made it; see the errors, and the"
                    + " server's log");
        default ->
            add(
                name(outcome),
                INVALID,
                Fault.SERVER,
                percent(count, planned) + " of attempts: " + outcome.text(),
                percent(ERROR_LIMIT),
                "see the errors, and the server's log");
      }
    }
  }

  private void skipped() {
    long skipped = record.measured(Outcome.SKIPPED);
    boolean said =
        findings.stream()
            .anyMatch(
                finding ->
                    finding.rule().equals("skipped") || finding.rule().equals("descriptors"));
    if (said || skipped <= planned * SKIPPED_LIMIT) {
      return;
    }
    String observed = percent(skipped, planned) + " of arrivals were not started";
    if (evidence.conditions().fewDescriptors()) {
      add(
          "descriptors",
          SATURATED,
          Fault.CLIENT,
          observed + ", the limit of open files leaves no room for more",
          percent(SKIPPED_LIMIT),
          "ulimit -n 65536");
    } else if (clientHasRoom) {
      add(
          "skipped",
          INVALID,
          Fault.SERVER,
          observed + ", as many as allowed were waiting for the target",
          percent(SKIPPED_LIMIT),
          "the target cannot serve the rate: lower it, or raise --max-in-flight to see the queue");
    } else {
      add(
          "skipped",
          SATURATED,
          Fault.CLIENT,
          observed,
          percent(SKIPPED_LIMIT),
          "this client does not keep up with the rate: lower it, or give it more CPU");
    }
  }

  private void setUps() {
    long failed = record.failedSetUps();
    if (failed > 0) {
      add(
          "pool-set-up",
          SUSPECT,
          Fault.SERVER,
          failed
              + " of "
              + (failed + record.setUps())
              + " connections of the pool could not be opened",
          "0",
          "arrivals waited for a connection meanwhile; see the errors");
    }
  }

  private void perSecond() {
    Timeline timeline = record.timeline();
    int slots = (int) (1_000_000_000L / Timeline.SLOT_NANOS);
    int first = (int) ((evidence.fromNanos() + 999_999_999L) / 1_000_000_000L);
    int end = (int) (evidence.toNanos() / 1_000_000_000L);
    int seconds = 0;
    int off = 0;
    double worst = 0;
    int worstAt = -1;
    for (int second = first; second < end; second++) {
      long due = timeline.planned(second * slots, (second + 1) * slots);
      long started = timeline.started(second * slots, (second + 1) * slots);
      double deviation = Math.abs(started - due) / (double) Math.max(1, due);
      seconds++;
      // One arrival across the border of two seconds is no deviation, however low the rate.
      if (deviation > SECOND_TOLERANCE && Math.abs(started - due) > 1) {
        off++;
        if (deviation > worst) {
          worst = deviation;
          worstAt = second;
        }
      }
    }
    long skipped = record.measured(Outcome.SKIPPED);
    boolean skips = skipped > planned * SKIPPED_LIMIT && clientHasRoom;
    if (off > 0 && !skips) {
      long due = timeline.planned(worstAt * slots, (worstAt + 1) * slots);
      long started = timeline.started(worstAt * slots, (worstAt + 1) * slots);
      boolean saturated = off > Math.max(1, seconds * SECONDS_SATURATED);
      add(
          "rate-per-second",
          saturated ? SATURATED : SUSPECT,
          Fault.CLIENT,
          off
              + " of "
              + seconds
              + " seconds off, the worst: "
              + started
              + " of "
              + due
              + " started",
          percent(SECOND_TOLERANCE) + " in each second",
          worstAt + " s",
          "the client was stalled or starved: give it an idle machine, or lower the rate");
    }
    long due = timeline.planned(first * slots, end * slots);
    long started = timeline.started(first * slots, end * slots);
    if (due > 0 && !skips && Math.abs(started - due) > Math.max(1, due * ACHIEVED_TOLERANCE)) {
      add(
          "achieved-rate",
          SATURATED,
          Fault.CLIENT,
          started + " of " + due + " started in time",
          percent(ACHIEVED_TOLERANCE),
          "lower the rate, or give the client more CPU");
    }
  }

  /**
   * Looks for a queue that grows, and says at which side.
   *
   * @return whether it is the target's
   */
  private boolean trend() {
    Timeline timeline = record.timeline();
    int first = (int) ((evidence.fromNanos() + Timeline.SLOT_NANOS - 1) / Timeline.SLOT_NANOS);
    int end = (int) (evidence.toNanos() / Timeline.SLOT_NANOS);
    int from = first + (end - first) / 3;
    long due = timeline.planned(from, end);
    double done = timeline.done(from, end) / (double) Math.max(1, due);
    boolean falling = due >= TREND_MIN_ARRIVALS && done < TREND_LIMIT;
    String growth = inFlightGrowth();
    if (!falling && growth == null) {
      return false;
    }
    if (clientHasRoom) {
      add(
          "target-saturated",
          TRUSTED,
          Fault.SERVER,
          (falling
                  ? percent(done) + " of the arrivals of the last two thirds were done in them"
                  : "")
              + (falling && growth != null ? "; " : "")
              + (growth != null ? growth : ""),
          "at least " + percent(TREND_LIMIT) + ", and no growing queue",
          "the target cannot serve the rate, and the client has room: a latency depends on how long"
              + " the run is, the completed rate is what the target can do");
      return true;
    }
    if (falling) {
      add(
          "completion-trend",
          SATURATED,
          Fault.CLIENT,
          percent(done) + " of the arrivals of the last two thirds were done in them",
          "at least " + percent(TREND_LIMIT),
          "a queue is growing here: lower the rate, or give the client more CPU");
    }
    if (growth != null) {
      add(
          "in-flight-trend",
          SATURATED,
          Fault.CLIENT,
          growth,
          "no growth",
          "a queue is growing here: lower the rate, or give the client more CPU");
    }
    return false;
  }

  private String inFlightGrowth() {
    int seconds = machine.seconds();
    if (seconds < IN_FLIGHT_MIN_SECONDS) {
      return null;
    }
    int third = seconds / 3;
    double before = 0;
    double after = 0;
    int rising = 0;
    for (int i = 0; i < third; i++) {
      before += machine.inFlight(i) / third;
      after += machine.inFlight(seconds - 1 - i) / third;
    }
    for (int i = 1; i < seconds; i++) {
      rising += machine.inFlight(i) > machine.inFlight(i - 1) ? 1 : 0;
    }
    return after > before * IN_FLIGHT_GROWTH
            && after > before + IN_FLIGHT_MORE
            && rising > IN_FLIGHT_RISING * (seconds - 1)
        ? String.format(
            Locale.ROOT,
            "in flight from %.1f in the first to %.1f in the last third",
            before,
            after)
        : null;
  }

  private void lag() {
    Histogram lag = record.total(Phase.LAG);
    if (lag.getTotalCount() == 0 || evidence.conditions().pooled()) {
      return;
    }
    long handshake = record.total(Phase.HANDSHAKE).getValueAtPercentile(50);
    long p99 = lag.getValueAtPercentile(99);
    long saturated = Math.max(LAG_MAX_NANOS, handshake);
    if (p99 > saturated) {
      add(
          "lag",
          SATURATED,
          Fault.CLIENT,
          "p99 " + millis(p99),
          millis(saturated),
          "the client starts too late to say anything about a tail: lower the rate, or give it more"
              + " CPU");
    } else if (p99 > handshake) {
      add(
          "lag",
          SUSPECT,
          Fault.CLIENT,
          "p99 " + millis(p99),
          "the handshake's p50, " + millis(handshake),
          "the tail of the response is the client's own lateness: --wait busy, or an idle machine");
    } else if (lag.getMaxValue() > LAG_MAX_NANOS) {
      add(
          "lag-max",
          SUSPECT,
          Fault.CLIENT,
          millis(lag.getMaxValue()),
          millis(LAG_MAX_NANOS),
          "the client was late at least once; see the slow log before quoting a tail");
    }
  }

  private void lanes() {
    if (machine.behind().max() > BEHIND_NANOS && evidence.saidEarly().isEmpty()) {
      add(
          "behind-schedule",
          SATURATED,
          Fault.CLIENT,
          "an arrival was overdue by " + millis(machine.behind().max()),
          millis(BEHIND_NANOS),
          seconds(machine.behind().maxAt()),
          "this client cannot offer the rate: lower it, or give it more CPU");
    }
    double share = machine.laneBusyShare();
    if (Double.isNaN(share)) {
      return;
    }
    double seconds = machine.lengthNanos() / 1e9;
    if (machine.busySeconds() > Math.max(1, seconds * BUSY_SECONDS_SATURATED)) {
      add(
          "lane-busy",
          SATURATED,
          Fault.CLIENT,
          String.format(
              Locale.ROOT,
              "a lane worked for more than %s of %d of %.0f seconds",
              percent(MachineRecord.BUSY_SECOND),
              machine.busySeconds(),
              seconds),
          percent(BUSY_SECONDS_SATURATED) + " of the seconds",
          "the client is at its limit: lower the rate, or more --lanes if there are processors");
    } else if (share > LANE_BUSY) {
      add(
          "lane-busy",
          SUSPECT,
          Fault.CLIENT,
          percent(share) + " of a lane's time is work",
          percent(LANE_BUSY),
          "arrivals wait for each other in the client: lower the rate, or more --lanes");
    }
  }

  private void processors() {
    MachineRecord.Worst idle = machine.leastIdle();
    // A polling lane's own processor is never idle, and is left out here; the rule above stands in.
    if (idle.share() < CPU_IDLE) {
      boolean others = machine.otherCpus() > machine.processCpus();
      add(
          "cpu-idle",
          SATURATED,
          others ? Fault.MACHINE : Fault.CLIENT,
          String.format(
              Locale.ROOT,
              "processor %d idle for %s of five seconds (this process %.2f processors, others"
                  + " %.2f)",
              idle.cpu(),
              percent(idle.share()),
              machine.processCpus(),
              machine.otherCpus()),
          percent(CPU_IDLE),
          seconds(idle.at()),
          others
              ? "other processes have the machine: stop them, or move the target to another one"
              : "the client needs the whole machine: lower the rate");
    }
    MachineRecord.Tally delay = machine.runDelay();
    double share = delay.total() / (double) Math.max(1, machine.lengthNanos());
    double tailShare = tailShare(Source.RUN_DELAY.label());
    if (share > RUN_DELAY_SHARE
        || delay.max() > RUN_DELAY_WINDOW_NANOS
        || tailShare >= TAIL_SHARE) {
      told = delay.max();
      add(
          "run-delay",
          SUSPECT,
          Fault.MACHINE,
          String.format(
              Locale.ROOT,
              "a lane waited for a processor %s of the time, at most %s in 0.1 s%s",
              percent(share),
              millis(delay.max()),
              tailShare >= TAIL_SHARE
                  ? ", the cause of " + percent(tailShare) + " of the slowest hundredth"
                  : ""),
          percent(RUN_DELAY_SHARE) + ", " + millis(RUN_DELAY_WINDOW_NANOS),
          seconds(delay.maxAt()),
          "others use the processors that the lanes need: stop them, or fewer --lanes");
    }
    MachineRecord.Tally steal = machine.steal();
    if (steal.count() > 0) {
      add(
          "steal",
          SUSPECT,
          Fault.MACHINE,
          String.format(
              Locale.ROOT,
              "the hypervisor took %s in all, at most %s in 0.1 s",
              millis(steal.total()),
              millis(steal.max())),
          "0",
          seconds(steal.maxAt()),
          "a shared host: repeat, or use a dedicated one");
    }
    if (machine.throttled().count() > 0) {
      add(
          "throttled",
          INVALID,
          Fault.MACHINE,
          String.format(
              Locale.ROOT,
              "the CPU quota stopped this process in %d periods, for %s in all",
              machine.throttledPeriods(),
              millis(machine.throttled().total())),
          "0",
          seconds(machine.throttled().maxAt()),
          "take the limit away (Kubernetes: no CPU limit, or Guaranteed with static CPUs)");
    }
    if (machine.thermalThrottles() > 0) {
      add(
          "thermal",
          SUSPECT,
          Fault.MACHINE,
          machine.thermalThrottles() + " times a processor was slowed down for its temperature",
          "0",
          "cool the machine, or lower the rate");
    }
  }

  /**
   * What stopped the process, if it shaped the tail. One stop is seen by several sources; the first
   * of them that saw most of it tells of it.
   */
  private void stops() {
    told = Math.max(told, Math.max(machine.throttled().max(), machine.steal().max()));
    stop(
        Source.GC_PAUSE,
        Fault.CLIENT,
        "a larger LOADGEN_HEAP, or a collector that pauses less (the launcher sets one)");
    stop(Source.ALLOCATION_STALL, Fault.CLIENT, "a larger LOADGEN_HEAP");
    stop(Source.SAFEPOINT, Fault.CLIENT, "see disturbances.csv for what the JVM stopped for");
    stop(
        Source.HICCUP,
        Fault.MACHINE,
        "the process or the machine stood still, see disturbances.csv: repeat on an idle machine");
    stop(
        Source.LATE_WAKE,
        Fault.MACHINE,
        "a sleeping lane was woken late, see disturbances.csv: --wait busy, or an idle machine");
    stop(
        Source.POLL_GAP,
        Fault.MACHINE,
        "a polling lane did not get to run, see disturbances.csv: an idle machine, or fewer"
            + " --lanes");
    stop(
        Source.LANE_STALL,
        Fault.CLIENT,
        "one turn of the loop took too long, see disturbances.csv for when");
  }

  private void stop(Source source, Fault fault, String advice) {
    MachineRecord.Tally tally = machine.disturbances(source);
    double share = tailShare(source.label());
    boolean longOne =
        tally.max() > Math.max(STOP_MAX_NANOS, evidence.conditions().pauseThresholdNanos())
            && tally.max() > 2 * told;
    if (share >= TAIL_SHARE || longOne) {
      told = Math.max(told, tally.max());
      add(
          source.label(),
          SUSPECT,
          fault,
          String.format(
              Locale.ROOT,
              "%d of them, the longest %s%s",
              tally.count(),
              millis(tally.max()),
              tailTells() ? ", the cause of " + percent(share) + " of the slowest hundredth" : ""),
          millis(STOP_MAX_NANOS) + ", " + percent(TAIL_SHARE) + " of the slowest hundredth",
          seconds(tally.maxAt()),
          advice);
    }
  }

  /** Returns the share of the slowest hundredth that a cause explains; 0 of a tail of a few. */
  private double tailShare(String cause) {
    return tailTells() ? evidence.tail().share(cause) : 0;
  }

  /** Whether there is a slowest hundredth yet, of so many that its shares mean something. */
  private boolean tailTells() {
    return evidence.tail() != null && evidence.tail().count() >= TAIL_MIN;
  }

  private void network() {
    long successes = Math.max(1, record.measured(Outcome.SUCCESS));
    if (record.retransmitting() > successes * RETRANSMIT_LIMIT) {
      add(
          "retransmits",
          SUSPECT,
          Fault.NETWORK,
          percent(record.retransmitting(), successes) + " of connections sent a segment again",
          percent(RETRANSMIT_LIMIT),
          "packets are lost between here and the target, or, over QUIC, acknowledgements come later"
              + " than the stack waits for them");
    }
    for (Map.Entry<String, Long> allowance : evidence.conditions().allowances().entrySet()) {
      if (allowance.getValue() > 0) {
        add(
            "ena-allowance",
            INVALID,
            Fault.NETWORK,
            allowance.getKey() + " grew by " + allowance.getValue(),
            "0",
            "the instance's network allowance was exceeded: a larger instance, or a lower rate");
      }
    }
    NetCounters net = machine.net();
    if (net == null) {
      return;
    }
    if (net.synRetrans() > 0) {
      add(
          "syn-retransmits",
          SUSPECT,
          net.listenOverflows() > 0 ? Fault.SERVER : Fault.NETWORK,
          net.synRetrans() + " SYNs sent again, each a second late or more",
          "0",
          "packets are lost, or the target's accept queue is full");
    }
    if (net.listenOverflows() > 0) {
      add(
          "listen-overflows",
          SUSPECT,
          Fault.SERVER,
          net.listenOverflows() + " connections found the accept queue full",
          "0",
          "a server on this machine accepts too slowly: a longer backlog (and net.core.somaxconn)");
    }
    if (net.softnetDropped() > 0) {
      add(
          "softnet-drops",
          SUSPECT,
          Fault.MACHINE,
          net.softnetDropped() + " packets were dropped by this kernel's receive queue",
          "0",
          "raise net.core.netdev_max_backlog, or free the processor that handles the interrupts");
    }
  }

  /**
   * A server's flight that is longer than a new connection may send. It is what is measured, and so
   * no objection, but whoever compares certificates has to know that a round trip is in between.
   */
  private void initialWindow() {
    List<ServerFacts.Flight> flights = evidence.conditions().flights();
    for (int target = 0; target < flights.size(); target++) {
      ServerFacts.Flight flight = flights.get(target);
      Histogram connects = record.connects(target);
      if (flight == null || !flight.exceedsWindow() || connects.getTotalCount() == 0) {
        continue;
      }
      long connect = connects.getValueAtPercentile(50);
      long gap = record.flightGaps(target).getValueAtPercentile(50);
      // A server that works between two parts of its flight takes as long on any link.
      if (gap >= ROUND_TRIP_FROM * connects.getMinValue()
          && gap <= (flight.furtherRoundTrips() + ROUND_TRIP_BLUR) * connect) {
        add(
            "initial-window",
            TRUSTED,
            Fault.SERVER,
            String.format(
                Locale.ROOT,
                "the server's flight is %d bytes%s, its rest waits for one more round trip: connect"
                    + " p50 %s, within the flight p50 %s",
                flight.bytes(),
                flight.segments() < 0 ? "" : " in " + flight.segments() + " segments",
                millis(connect),
                millis(gap)),
            String.format(
                Locale.ROOT,
                "%d bytes, %d segments of %d",
                flight.windowBytes(),
                ServerFacts.Flight.INITIAL_SEGMENTS,
                flight.mss()),
            "a shorter chain or smaller certificates, or a larger initial window at the server (ip"
                + " route ... initcwnd)");
      }
    }
  }

  /** What the server's machine did, where it is watched. Its own load is no fault. */
  private void server() {
    MachineRecord server = evidence.server();
    if (server == null) {
      return;
    }
    if (server.lengthNanos() == 0) {
      add(
          "server-monitor",
          SUSPECT,
          Fault.SERVER,
          "no line of the server's monitor lies in the measured part",
          "all of it",
          "is 'loadgen monitor' running there, and are the clocks right? the analysis can join the"
              + " files later");
      return;
    }
    if (server.leastIdle().share() < CPU_IDLE) {
      add(
          "server-cpu-idle",
          TRUSTED,
          Fault.SERVER,
          String.format(
              Locale.ROOT,
              "the server's processor %d idle for %s of five seconds",
              server.leastIdle().cpu(),
              percent(server.leastIdle().share())),
          percent(CPU_IDLE),
          seconds(server.leastIdle().at()),
          "the target is at its limit");
    }
    serverTally("server-steal", server.steal(), "the hypervisor took %s from the server");
    serverTally("server-throttled", server.throttled(), "its CPU quota stopped the server for %s");
    if (server.net() != null && server.net().listenOverflows() > 0) {
      add(
          "server-listen-overflows",
          SUSPECT,
          Fault.SERVER,
          server.net().listenOverflows() + " connections found the server's accept queue full",
          "0",
          "a longer backlog (and net.core.somaxconn), or a lower rate");
    }
    MachineRecord.Tally hiccups = server.disturbances(Source.HICCUP);
    if (hiccups.max() > STOP_MAX_NANOS) {
      add(
          "server-hiccup",
          SUSPECT,
          Fault.SERVER,
          "the server's machine stood still for " + millis(hiccups.max()),
          millis(STOP_MAX_NANOS),
          seconds(hiccups.maxAt()),
          "see disturbances.csv of the server's monitor");
    }
  }

  private void serverTally(String rule, MachineRecord.Tally tally, String observed) {
    if (tally.count() > 0) {
      add(
          rule,
          SUSPECT,
          Fault.SERVER,
          String.format(Locale.ROOT, observed, millis(tally.total())),
          "0",
          seconds(tally.maxAt()),
          "see monitor.csv of the server's monitor");
    }
  }

  private void tail() {
    delayedAck();
    Tail.Report tail = evidence.tail();
    if (tail == null || tail.count() == 0) {
      return;
    }
    double queued = tailShare(Cause.CLIENT_QUEUE);
    if (queued > TAIL_SHARE) {
      add(
          "client-queue",
          SUSPECT,
          Fault.CLIENT,
          percent(queued) + " of the slowest hundredth waited for a lane that was at work",
          percent(TAIL_SHARE),
          "the tail is the client's own: lower the rate, or more --lanes");
    }
    double unexplained = tail.share(Cause.UNEXPLAINED) + tail.share(Cause.CLIENT_WORK);
    if (unexplained > UNEXPLAINED_LIMIT && tailTells()) {
      add(
          "tail-unexplained",
          SUSPECT,
          Fault.CLIENT,
          percent(unexplained) + " of the slowest hundredth",
          percent(UNEXPLAINED_LIMIT),
          "do not quote a tail that nothing explains; see slow.csv");
    }
    if ((evidence.toNanos() - evidence.fromNanos()) / 1e9 >= CLUSTER_MIN_SECONDS
        && tail.clustered() > 0.5
        && tailTells()) {
      add(
          "tail-clustered",
          SUSPECT,
          Fault.MACHINE,
          percent(tail.clustered()) + " of the slowest hundredth lie in two seconds",
          "50 %",
          "the p99 tells of one incident; run longer, and compare runs");
    }
  }

  private void delayedAck() {
    double share = tailShare(Cause.DELAYED_ACK);
    double usual = record.usualBody() / 1e3;
    boolean always = usual >= DELAYED_ACK_FROM_MICROS && usual <= DELAYED_ACK_TO_MICROS;
    if (share >= TAIL_SHARE || always) {
      add(
          "delayed-ack",
          SUSPECT,
          Fault.SERVER,
          always
              ? String.format(
                  Locale.ROOT, "half of all responses wait %.1f ms for their rest", usual / 1e3)
              : percent(share) + " of the slowest hundredth wait about 40 ms for their rest",
          percent(TAIL_SHARE),
          "the server writes in two small pieces and holds the second back (Nagle): TCP_NODELAY");
    }
  }

  private double median(Phase phase) {
    Histogram histogram = record.total(phase);
    return histogram.getTotalCount() == 0 ? 0 : histogram.getValueAtPercentile(50);
  }

  private static String name(Outcome outcome) {
    return outcome.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static String percent(long part, long whole) {
    return percent(part / (double) whole);
  }

  private static String percent(double fraction) {
    return String.format(Locale.ROOT, "%.2f %%", fraction * 100);
  }

  private static String millis(long nanos) {
    return String.format(Locale.ROOT, "%.2f ms", nanos / 1e6);
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }
}

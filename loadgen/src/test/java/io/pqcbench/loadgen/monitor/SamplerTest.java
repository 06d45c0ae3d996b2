package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.monitor.Interval.ThreadTimes;
import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SamplerTest {

  private static final long MILLI = 1_000_000L;
  private static final long TENTH = 100 * MILLI;
  private static final String LANE_0 = "/proc/self/task/11";
  private static final String LANE_1 = "/proc/self/task/12";
  private static final String JIT = "/proc/self/task/13";

  private final Map<String, String> texts = new HashMap<>();
  private final Map<String, Role> tasks = new HashMap<>();
  private final Disturbances disturbances = new Disturbances();
  private long wallOffset = 1_700_000_000_000_000_000L;
  private long processCpu = 5_000_000_000L;
  private long now;

  private final Sampler sampler =
      new Sampler(
          texts::get,
          () -> Map.copyOf(tasks),
          List.of("/cg/group/cpu.stat", "/cg/cpu.stat"),
          List.of("/cpu0/freq", "/cpu1/freq"),
          List.of("/cpu0/thermal", "/cpu1/thermal"),
          () -> wallOffset,
          () -> processCpu,
          disturbances);

  @BeforeEach
  void aQuietMachineWithTwoProcessors() {
    stat("cpu0 1000 0 500 8000 10 0 5 2 0 0", "cpu1 900 3 400 8200 20 1 6 0 0 0");
    tasks.put(LANE_0, Role.LANE);
    tasks.put(LANE_1, Role.LANE);
    tasks.put(JIT, Role.JIT);
    thread(LANE_0, 700 * MILLI, 10 * MILLI);
    thread(LANE_1, 600 * MILLI, 20 * MILLI);
    thread(JIT, 900 * MILLI, 90 * MILLI);
    texts.put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n");
  }

  private void stat(String... cpus) {
    texts.put(
        "/proc/stat", "cpu  1 2 3 4 5 6 7 8 0 0\n" + String.join("\n", cpus) + "\nintr 12 0 1\n");
  }

  private void thread(String directory, long cpu, long delay) {
    texts.put(directory + "/schedstat", cpu + " " + delay + " 42\n");
  }

  private Interval sample() {
    Interval interval = sampler.sample(now, 7 * MILLI);
    now += TENTH;
    return interval;
  }

  private List<Disturbance> reported() {
    return disturbances.takeOver();
  }

  @Test
  void twoReadingsMakeAnIntervalAndAQuietOneHasNoDisturbance() {
    assertThat(sample()).isNull();
    processCpu += 12 * MILLI;
    Interval interval = sample();
    assertThat(interval.startNanos()).isZero();
    assertThat(interval.endNanos()).isEqualTo(TENTH);
    assertThat(interval.lengthNanos()).isEqualTo(TENTH);
    assertThat(interval.processCpuNanos()).isEqualTo(12 * MILLI);
    assertThat(interval.hiccupNanos()).isEqualTo(7 * MILLI);
    assertThat(interval.lanes()).isEmpty();
    assertThat(interval.laneBusyShare()).isZero();
    assertThat(reported()).isEmpty();
  }

  @Test
  void twoReadingsInTheSameInstantMakeNone() {
    sample();
    assertThat(sampler.sample(0, 0)).isNull();
  }

  @Test
  void ticksAreThoseSinceTheReadingBeforeByProcessor() {
    sample();
    stat("cpu0 1004 0 501 8004 10 0 6 2 0 0", "cpu1 900 3 400 8210 20 1 6 0 0 0");
    processCpu += 20 * MILLI;
    Interval interval = sample();
    assertThat(interval.cpus())
        .containsExactly(
            new CpuTimes(0, 4, 0, 1, 4, 0, 0, 1, 0), new CpuTimes(1, 0, 0, 0, 10, 0, 0, 0, 0));
    // 60 ms of work in 100 ms, a third of it this process's.
    assertThat(interval.otherCpus()).isEqualTo(0.4);
  }

  @Test
  void runDelayIsSummedByRoleAndThatOfTheWorstLaneIsReported() {
    sample();
    thread(LANE_0, 740 * MILLI, 13 * MILLI);
    thread(LANE_1, 610 * MILLI, 25 * MILLI);
    thread(JIT, 950 * MILLI, 140 * MILLI);
    Interval interval = sample();
    assertThat(interval.threads(Role.LANE)).isEqualTo(new ThreadTimes(50 * MILLI, 8 * MILLI, 0));
    assertThat(interval.threads(Role.JIT)).isEqualTo(new ThreadTimes(50 * MILLI, 50 * MILLI, 0));
    assertThat(interval.threads(Role.GC)).isEqualTo(ThreadTimes.NONE);
    assertThat(interval.worstLaneRunDelayNanos()).isEqualTo(5 * MILLI);
    assertThat(reported())
        .containsExactly(new Disturbance(Source.RUN_DELAY, 0, TENTH, 5 * MILLI, "lanes"));
  }

  @Test
  void aMillisecondOfRunDelayIsNotReported() {
    sample();
    thread(LANE_0, 740 * MILLI, 11 * MILLI);
    assertThat(sample().worstLaneRunDelayNanos()).isEqualTo(MILLI);
    assertThat(reported()).isEmpty();
  }

  /** The kernel adds a delay when it is over, however many readings it lasted. */
  @Test
  void aDelayThatBeganBeforeTheIntervalTakesNoMoreThanTheInterval() {
    sample();
    thread(LANE_0, 700 * MILLI, 310 * MILLI);
    assertThat(sample().worstLaneRunDelayNanos()).isEqualTo(300 * MILLI);
    assertThat(reported())
        .containsExactly(new Disturbance(Source.RUN_DELAY, 0, TENTH, TENTH, "lanes"));
  }

  @Test
  void aThreadThatCameOrWentBetweenTwoReadingsIsLeftOut() {
    texts.remove(LANE_1 + "/schedstat");
    sample();
    thread(LANE_1, 600 * MILLI, 20 * MILLI); // only now
    texts.remove(JIT + "/schedstat"); // no more
    thread(LANE_0, 701 * MILLI, 10 * MILLI);
    Interval interval = sample();
    assertThat(interval.threads()).containsOnlyKeys(Role.LANE);
    assertThat(interval.threads(Role.LANE)).isEqualTo(new ThreadTimes(MILLI, 0, 0));
    assertThat(reported()).isEmpty();
    thread(LANE_1, 605 * MILLI, 24 * MILLI);
    assertThat(sample().threads(Role.LANE)).isEqualTo(new ThreadTimes(5 * MILLI, 4 * MILLI, 0));
  }

  @Test
  void whoTheThreadsAreIsLookedUpEveryTenthReading() {
    sample();
    String late = "/proc/self/task/99";
    tasks.put(late, Role.WATCHED);
    thread(late, 100 * MILLI, 0);
    for (int reading = 1; reading < 10; reading++) {
      assertThat(sample().threads()).doesNotContainKey(Role.WATCHED);
    }
    assertThat(sample().threads()).doesNotContainKey(Role.WATCHED); // its first reading
    thread(late, 103 * MILLI, 0);
    assertThat(sample().threads(Role.WATCHED)).isEqualTo(new ThreadTimes(3 * MILLI, 0, 0));
  }

  @Test
  void throttlingOfVersion2IsReportedForItsWindow() {
    texts.put("/cg/group/cpu.stat", "nr_periods 50\nnr_throttled 7\nthrottled_usec 9000\n");
    sample();
    texts.put("/cg/group/cpu.stat", "nr_periods 51\nnr_throttled 8\nthrottled_usec 39000\n");
    Interval interval = sample();
    assertThat(interval.throttledNanos()).isEqualTo(30 * MILLI);
    assertThat(interval.throttledPeriods()).isEqualTo(1);
    assertThat(reported())
        .containsExactly(new Disturbance(Source.THROTTLED, 0, TENTH, 30 * MILLI, ""));
  }

  /** Which is a sum over the processors, and so may be longer than the window. */
  @Test
  void throttlingOfVersion1IsReportedAndIsNoLongerThanItsWindow() {
    texts.put("/cg/cpu.stat", "nr_periods 50\nnr_throttled 7\nthrottled_time 9000\n");
    sample();
    texts.put("/cg/cpu.stat", "nr_periods 51\nnr_throttled 8\nthrottled_time 180009000\n");
    assertThat(sample().throttledNanos()).isEqualTo(180 * MILLI);
    assertThat(reported()).containsExactly(new Disturbance(Source.THROTTLED, 0, TENTH, TENTH, ""));
  }

  @Test
  void throttlingOfAllGroupsAboveTheProcessCounts() {
    texts.put("/cg/group/cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_usec 1000\n");
    texts.put("/cg/cpu.stat", "nr_periods 9\nnr_throttled 2\nthrottled_usec 2000\n");
    sample();
    texts.put("/cg/group/cpu.stat", "nr_periods 6\nnr_throttled 2\nthrottled_usec 4000\n");
    texts.put("/cg/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_usec 7000\n");
    Interval interval = sample();
    assertThat(interval.throttledNanos()).isEqualTo(8 * MILLI);
    assertThat(interval.throttledPeriods()).isEqualTo(3);
  }

  /** Else what the group was throttled since it was made would be taken for that of an instant. */
  @Test
  void aQuotaThatCouldNotBeReadOnceMakesNoThrottling() {
    String stat = "nr_periods 500\nnr_throttled 70\nthrottled_usec 9000000\n";
    texts.put("/cg/cpu.stat", stat);
    sample();
    texts.remove("/cg/cpu.stat");
    assertThat(sample().throttledNanos()).isZero();
    texts.put("/cg/cpu.stat", stat);
    Interval back = sample();
    assertThat(back.throttledNanos()).isZero();
    assertThat(back.throttledPeriods()).isZero();
    assertThat(reported()).isEmpty();
  }

  @Test
  void stealIsReportedByTheProcessorThatLostMost() {
    sample();
    stat("cpu0 1000 0 500 8000 10 0 5 3 0 0", "cpu1 900 3 400 8200 20 1 6 4 0 0");
    Interval interval = sample();
    assertThat(interval.stealNanos()).isEqualTo(40 * MILLI);
    assertThat(reported()).containsExactly(new Disturbance(Source.STEAL, 0, TENTH, 40 * MILLI, ""));
  }

  @Test
  void aProcessorThatGoesOfflineOrComesBackIsLeftOut() {
    sample();
    stat("cpu0 1002 0 500 8008 10 0 5 2 0 0");
    assertThat(sample().cpus()).extracting(CpuTimes::cpu).containsExactly(0);
    // Its counters go on where they were, or begin anew; neither is the work of this interval.
    stat("cpu0 1004 0 500 8016 10 0 5 2 0 0", "cpu1 0 0 0 100 0 0 0 9 0 0");
    Interval back = sample();
    assertThat(back.cpus()).extracting(CpuTimes::cpu).containsExactly(0);
    assertThat(back.stealNanos()).isZero();
    stat("cpu0 1006 0 500 8024 10 0 5 2 0 0", "cpu1 3 0 0 107 0 0 0 9 0 0");
    assertThat(sample().cpus())
        .containsExactly(
            new CpuTimes(0, 2, 0, 0, 8, 0, 0, 0, 0), new CpuTimes(1, 3, 0, 0, 7, 0, 0, 0, 0));
    assertThat(reported()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1_500_000, -1_500_000})
  void aWallClockThatIsSetIsReportedButTakesNoTime(long step) {
    sample();
    wallOffset += step;
    assertThat(sample().wallStepNanos()).isEqualTo(step);
    assertThat(reported())
        .containsExactly(new Disturbance(Source.CLOCK_STEP, 0, TENTH, 0, step / 1_000 + " us"));
  }

  @Test
  void aWallClockThatIsSlewedIsNot() {
    sample();
    wallOffset += MILLI;
    assertThat(sample().wallStepNanos()).isEqualTo(MILLI);
    assertThat(reported()).isEmpty();
  }

  @Test
  void pressureIsTheDifferenceAndUnknownWhereItIsNotShown() {
    sample();
    texts.put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1450\n");
    assertThat(sample().pressureMicros()).isEqualTo(450);
    texts.remove("/proc/pressure/cpu");
    assertThat(sample().pressureMicros()).isEqualTo(-1);
    texts.put("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9000\n");
    assertThat(sample().pressureMicros()).isEqualTo(-1);
  }

  @Test
  void whatAMachineDoesNotShowIsMinusOneAndNeverAZero() {
    texts.clear();
    sample();
    Interval interval = sample();
    assertThat(interval.pressureMicros()).isEqualTo(-1);
    assertThat(interval.frequencyMhz()).isEqualTo(-1);
    assertThat(interval.thermalThrottles()).isEqualTo(-1);
    assertThat(interval.net().synRetrans()).isEqualTo(-1);
    assertThat(interval.net().softnetDropped()).isEqualTo(-1);
    assertThat(interval.cpus()).isEmpty();
    assertThat(interval.threads()).isEmpty();
    assertThat(reported()).isEmpty();
  }

  @Test
  void theFrequencyIsTheMeanOfTheProcessorsThatShowIt() {
    texts.put("/cpu0/freq", "2400000\n");
    sample();
    assertThat(sample().frequencyMhz()).isEqualTo(2_400);
    texts.put("/cpu1/freq", "3000000\n");
    for (int reading = 2; reading < 10; reading++) {
      assertThat(sample().frequencyMhz()).isEqualTo(2_400); // looked up every tenth time
    }
    assertThat(sample().frequencyMhz()).isEqualTo(2_700);
  }

  @Test
  void thermalThrottlingIsSummedOverTheProcessors() {
    texts.put("/cpu0/thermal", "5\n");
    texts.put("/cpu1/thermal", "7\n");
    sample();
    texts.put("/cpu0/thermal", "6\n");
    texts.put("/cpu1/thermal", "9\n");
    for (int reading = 1; reading < 10; reading++) {
      assertThat(sample().thermalThrottles()).isZero();
    }
    assertThat(sample().thermalThrottles()).isEqualTo(3);
    assertThat(sample().thermalThrottles()).isZero();
  }

  @Test
  void networkCountersAreThoseSinceTheReadingBefore() {
    String names = "TcpExt: ListenOverflows TCPSynRetrans\n";
    texts.put("/proc/self/net/netstat", names + "TcpExt: 4 30\n");
    texts.put("/proc/net/softnet_stat", "0000000a 0000000f 00000001\n");
    texts.put("/proc/self/net/sockstat", "sockets: used 80\nTCP: inuse 9 orphan 0 tw 3\n");
    sample();
    texts.put("/proc/self/net/netstat", names + "TcpExt: 4 32\n");
    texts.put("/proc/net/softnet_stat", "0000000b 00000012 00000001\n");
    texts.put("/proc/self/net/sockstat", "sockets: used 70\nTCP: inuse 8 orphan 0 tw 5\n");
    NetCounters net = sample().net();
    assertThat(net.synRetrans()).isEqualTo(2);
    assertThat(net.listenOverflows()).isZero();
    assertThat(net.softnetDropped()).isEqualTo(3);
    assertThat(net.softnetSqueezed()).isZero();
    assertThat(net.socketsUsed()).isEqualTo(70);
    assertThat(net.timeWait()).isEqualTo(5);
  }

  @Test
  void lanesAreLookedAtFromWhenTheyAreThere() {
    LaneWatch lane = new LaneWatch(0, new Disturbances());
    LaneWatch other = new LaneWatch(1, new Disturbances());
    sample();
    lane.turn(0, 50 * MILLI, 0, false); // before anyone looked
    lane.takeLongestTurn();
    sampler.watch(List.of(lane, other));
    assertThat(sample()).isNull(); // the one before knew nothing of them
    lane.turn(100 * MILLI, 140 * MILLI, 10 * MILLI, false);
    lane.turn(140 * MILLI, 145 * MILLI, 0, true);
    lane.nextPlanned(198 * MILLI);
    lane.inFlight(4);
    other.turn(100 * MILLI, 110 * MILLI, 0, false);
    other.inFlight(2);
    thread(LANE_0, 735 * MILLI, 10 * MILLI);
    thread(LANE_1, 610 * MILLI, 20 * MILLI);
    Interval interval = sample();
    assertThat(interval.startNanos()).isEqualTo(100 * MILLI);
    assertThat(interval.lanes())
        .containsExactly(
            new Interval.LaneTimes(30 * MILLI, 30 * MILLI, 5 * MILLI, 2 * MILLI, 4),
            new Interval.LaneTimes(10 * MILLI, 10 * MILLI, 0, 0, 2));
    assertThat(interval.laneBusyShare()).isEqualTo(0.3);
    assertThat(interval.inFlight()).isEqualTo(6);
    assertThat(interval.behindNanos()).isEqualTo(2 * MILLI);
  }

  @Test
  void aLaneThatLosesItsProcessorInTheMiddleOfItsWorkIsNotBusyMeanwhile() {
    LaneWatch lane = new LaneWatch(0, new Disturbances());
    sampler.watch(List.of(lane));
    sample();
    lane.turn(0, 80 * MILLI, 0, false);
    thread(LANE_0, 720 * MILLI, 70 * MILLI);
    Interval interval = sample();
    assertThat(interval.lanes().get(0).busyNanos()).isEqualTo(20 * MILLI);
    assertThat(interval.lanes().get(0).longestTurnNanos()).isEqualTo(80 * MILLI);
  }

  /**
   * In a virtual machine each waking costs tens of microseconds, though nobody has the processor.
   */
  @Test
  void whatWakingUpUsuallyCostsIsNoRunDelay() {
    sampler.usualWake(70_000);
    texts.put(LANE_0 + "/schedstat", "1000 1000 100\n");
    sample();
    texts.put(LANE_0 + "/schedstat", "2000 " + (1_000 + 13 * MILLI) + " 200\n");
    Interval interval = sample();
    assertThat(interval.threads(Role.LANE)).isEqualTo(new ThreadTimes(1_000, 13 * MILLI, 100));
    assertThat(interval.worstLaneRunDelayNanos()).isEqualTo(6 * MILLI);
  }
}

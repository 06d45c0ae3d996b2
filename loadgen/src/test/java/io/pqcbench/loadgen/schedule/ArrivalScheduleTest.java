package io.pqcbench.loadgen.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArrivalScheduleTest {

  private static final long SECOND = 1_000_000_000L;

  private static List<Long> all(ArrivalSchedule schedule, int lane, int lanes) {
    List<Long> planned = new ArrayList<>();
    ArrivalSchedule.Arrivals arrivals = schedule.slice(lane, lanes);
    while (arrivals.advance()) {
      planned.add(arrivals.plannedNanos());
    }
    return planned;
  }

  @ParameterizedTest
  @CsvSource({
    "300, 60, 18000",
    "5, 10, 50",
    "0.5, 4, 2",
    "1000, 300, 300000",
    "333.3, 10, 3333",
    "0.1, 1, 1"
  })
  void plansTheRateTimesTheDurationWhateverTheArrival(double rate, long seconds, long expected) {
    assertThat(all(ArrivalSchedule.constant(rate, seconds * SECOND), 0, 1)).hasSize((int) expected);
    assertThat(all(ArrivalSchedule.poisson(rate, seconds * SECOND, 7), 0, 1))
        .hasSize((int) expected);
  }

  @Test
  void constantArrivalsNeverDrift() {
    List<Long> planned = all(ArrivalSchedule.constant(300, 3600 * SECOND), 0, 1);
    for (int i = 0; i < planned.size(); i += 300) {
      assertThat(planned.get(i)).isBetween(i / 300 * SECOND - 1, i / 300 * SECOND + 1);
    }
  }

  @Test
  void constantArrivalsAreNotRoundedToMilliseconds() {
    List<Long> planned = all(ArrivalSchedule.constant(300, SECOND), 0, 1);
    assertThat(planned).filteredOn(nanos -> nanos % 1_000_000 != 0).hasSizeGreaterThan(190);
    assertThat(planned.get(1)).isEqualTo(3_333_333L);
  }

  @ParameterizedTest
  @CsvSource({"true, 3", "false, 3", "true, 7", "false, 2"})
  void lanesSplitTheSameArrivalsBetweenThem(boolean poisson, int lanes) {
    ArrivalSchedule schedule =
        poisson
            ? ArrivalSchedule.poisson(100, 10 * SECOND, 42)
            : ArrivalSchedule.constant(100, 10 * SECOND);
    List<Long> together = new ArrayList<>();
    for (int lane = 0; lane < lanes; lane++) {
      together.addAll(all(schedule, lane, lanes));
    }
    together.sort(null);
    assertThat(together).isEqualTo(all(schedule, 0, 1));
  }

  private static void collect(ArrivalSchedule schedule, int lanes, Map<Long, Long> plannedByIndex) {
    for (int lane = 0; lane < lanes; lane++) {
      ArrivalSchedule.Arrivals arrivals = schedule.slice(lane, lanes);
      while (arrivals.advance()) {
        assertThat(plannedByIndex.put(arrivals.index(), arrivals.plannedNanos()))
            .as("twice: index=" + arrivals.index())
            .isNull();
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "true, 1, 1", "true, 2, 1", "true, 2, 2", "true, 3, 3", "true, 7, 2",
    "false, 1, 1", "false, 2, 1", "false, 2, 2", "false, 3, 3", "false, 7, 3"
  })
  void theShardsOfAScheduleAreTogetherTheWholeHoweverManyLanesEachHas(
      boolean poisson, int shards, int lanes) {
    // No multiple of the shards, so that they differ in size.
    ArrivalSchedule whole =
        poisson
            ? ArrivalSchedule.poisson(101, 10 * SECOND, 42)
            : ArrivalSchedule.constant(101, 10 * SECOND);
    Map<Long, Long> expected = new TreeMap<>();
    collect(whole, 1, expected);
    assertThat(expected).hasSize(1_010);

    Map<Long, Long> together = new TreeMap<>();
    long sum = 0;
    for (int shard = 0; shard < shards; shard++) {
      ArrivalSchedule own = whole.shard(shard, shards);
      int before = together.size();
      // Machines need not be alike: each has another number of lanes.
      collect(own, 1 + (lanes + shard) % 3, together);
      assertThat(own.count()).isEqualTo(together.size() - before);
      sum += own.count();
    }
    assertThat(together).isEqualTo(expected);
    assertThat(sum).isEqualTo(whole.count());
  }

  @Test
  void aShardTakesEveryNthArrivalByItsIndexInTheWhole() {
    ArrivalSchedule.Arrivals arrivals =
        ArrivalSchedule.constant(12, SECOND).shard(1, 3).slice(1, 2);
    List<Long> indexes = new ArrayList<>();
    while (arrivals.advance()) {
      indexes.add(arrivals.index());
    }
    // Of 1, 4, 7 and 10 the second lane's.
    assertThat(indexes).containsExactly(4L, 10L);
  }

  @Test
  void aShardForWhichNoArrivalIsLeftIsRefused() {
    ArrivalSchedule three = ArrivalSchedule.constant(3, SECOND);
    assertThat(three.shard(2, 4).count()).isEqualTo(1);
    assertThatThrownBy(() -> three.shard(3, 4)).hasMessageContaining("arrivals=3 shard=3 shards=4");
    assertThatThrownBy(() -> three.shard(2, 2)).hasMessageContaining("shard=2 shards=2");
  }

  @Test
  void aSliceKnowsTheIndexInTheWholeSchedule() {
    ArrivalSchedule.Arrivals arrivals = ArrivalSchedule.constant(10, SECOND).slice(1, 4);
    List<Long> indexes = new ArrayList<>();
    while (arrivals.advance()) {
      indexes.add(arrivals.index());
    }
    assertThat(indexes).containsExactly(1L, 5L, 9L);
  }

  @Test
  void oneSeedGivesTheSameInstantsOnEveryJdk() {
    List<Long> planned = all(ArrivalSchedule.poisson(300, 60 * SECOND, 1), 0, 1);
    assertThat(planned).isEqualTo(all(ArrivalSchedule.poisson(300, 60 * SECOND, 1), 0, 1));
    assertThat(planned).isNotEqualTo(all(ArrivalSchedule.poisson(300, 60 * SECOND, 2), 0, 1));
    // Recorded on JDK 17 and 25; another value means that seeds of old bundles do not reproduce any
    // more.
    assertThat(planned.subList(0, 3)).containsExactly(FIRST);
  }

  private static final Long[] FIRST = {2_786_620L, 7_351_695L, 19_152_248L};

  @Test
  void poissonArrivalsAreInOrderAndWithinTheDuration() {
    List<Long> planned = all(ArrivalSchedule.poisson(1000, 60 * SECOND, 3), 0, 1);
    assertThat(planned).isSorted();
    assertThat(planned.get(0)).isNotNegative();
    assertThat(planned.get(planned.size() - 1)).isLessThan(60 * SECOND);
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "3", "4", "5"})
  void poissonGapsAreExponential(long seed) {
    List<Long> planned = all(ArrivalSchedule.poisson(300, 60 * SECOND, seed), 0, 1);
    double[] gaps = new double[planned.size() - 1];
    for (int i = 0; i < gaps.length; i++) {
      gaps[i] = (planned.get(i + 1) - planned.get(i)) / 1e9;
    }
    java.util.Arrays.sort(gaps);
    double distance = 0;
    for (int i = 0; i < gaps.length; i++) {
      double expected = 1 - Math.exp(-300 * gaps[i]);
      distance =
          Math.max(
              distance,
              Math.max(expected - i / (double) gaps.length, (i + 1.0) / gaps.length - expected));
    }
    // Kolmogorov-Smirnov at p = 0.01: 1.628 / sqrt(n), e.g. Massey 1951, table 1.
    assertThat(distance).isLessThan(1.628 / Math.sqrt(gaps.length));
  }

  @Test
  void poissonArrivalsInASecondVaryAsAPoissonCountDoes() {
    List<Long> planned = all(ArrivalSchedule.poisson(300, 600 * SECOND, 11), 0, 1);
    long[] perSecond = new long[600];
    planned.forEach(nanos -> perSecond[(int) (nanos / SECOND)]++);
    double variance =
        java.util.Arrays.stream(perSecond).mapToDouble(n -> (n - 300.0) * (n - 300.0)).sum() / 599;
    // Index of dispersion of a Poisson count is 1; for 600 seconds its standard error is
    // sqrt(2/599) = 0.058.
    assertThat(variance / 300).isBetween(0.8, 1.2);
  }

  @Test
  void refusesWhatCannotBeARateOrADuration() {
    assertThatThrownBy(() -> ArrivalSchedule.constant(0, SECOND))
        .hasMessageContaining("ratePerSecond=0.0");
    assertThatThrownBy(() -> ArrivalSchedule.constant(Double.NaN, SECOND))
        .hasMessageContaining("ratePerSecond=NaN");
    assertThatThrownBy(() -> ArrivalSchedule.poisson(1, 0, 1))
        .hasMessageContaining("durationNanos=0");
    assertThatThrownBy(() -> ArrivalSchedule.constant(1, SECOND).slice(2, 2))
        .hasMessageContaining("lane=2 lanes=2");
  }

  @Test
  void walkingThroughAScheduleAllocatesNothing() {
    var threads =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    ArrivalSchedule.Arrivals arrivals = ArrivalSchedule.poisson(1000, 60 * SECOND, 5).slice(0, 2);
    long sum = walk(arrivals, 10_000);
    long measuring = allocated(threads);
    long before = allocated(threads);
    sum += walk(arrivals, 10_000);
    long after = allocated(threads);
    assertThat(after - before).isLessThanOrEqualTo(before - measuring);
    assertThat(sum).isPositive();
  }

  private static long allocated(com.sun.management.ThreadMXBean threads) {
    return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  private static long walk(ArrivalSchedule.Arrivals arrivals, int steps) {
    long sum = 0;
    for (int i = 0; i < steps; i++) {
      arrivals.advance();
      sum += arrivals.plannedNanos();
    }
    return sum;
  }
}

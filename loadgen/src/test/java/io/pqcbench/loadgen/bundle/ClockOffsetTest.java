package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.monitor.NetCounters;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClockOffsetTest {

  private static final long TENTH = 100_000_000L;

  private final ClockOffset offset = new ClockOffset();

  private static Interval sent(long from, long segments) {
    return new Interval(
        from,
        from + TENTH,
        List.of(),
        Map.of(),
        0,
        0,
        -1,
        0,
        0,
        0,
        List.of(),
        new NetCounters(0, segments, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        0,
        -1,
        -1);
  }

  /** Nothing, then a load that wavers, then nothing: as both have counted it. */
  private static long load(int tenth) {
    return tenth < 20 || tenth >= 100 ? 1 : 100 + 37L * tenth % 50;
  }

  @Test
  void theTrafficTellsByHowMuchTheServersClockIsAhead() {
    for (int i = 0; i < 150; i++) {
      offset.client(sent(i * TENTH, load(i)));
      offset.server(sent(i * TENTH + 730_000_000L, load(i)));
    }
    assertThat(offset.estimate()).matches("the server's clock is ahead by 7[2-4]0 ms.*");
  }

  @Test
  void aClockThatIsBehindIsToldToo() {
    for (int i = 0; i < 150; i++) {
      offset.client(sent(i * TENTH, load(i)));
      offset.server(sent(i * TENTH - 1_200_000_000L, load(i)));
    }
    assertThat(offset.estimate()).contains("ahead by -1200 ms");
  }

  @Test
  void trafficThatNeverChangesTellsNothing() {
    for (int i = 0; i < 150; i++) {
      offset.client(sent(i * TENTH, 100));
      offset.server(sent(i * TENTH, 100));
    }
    assertThat(offset.estimate()).contains("too even");
  }

  @Test
  void aFewSecondsAreTooLittleToCompare() {
    for (int i = 0; i < 10; i++) {
      offset.client(sent(i * TENTH, load(i)));
      offset.server(sent(i * TENTH, load(i)));
    }
    assertThat(offset.estimate()).contains("too little in common");
  }
}

package io.pqcbench.loadgen.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlowLogTest {

  private final StringWriter out = new StringWriter();

  private List<String> lines() {
    return out.toString().lines().skip(1).toList();
  }

  private static void add(SlowLog log, long from, long to) throws IOException {
    for (long nanos = from; nanos <= to; nanos++) {
      log.add(nanos, nanos + "\n");
    }
  }

  @Test
  void theHeaderNamesTheCauseLast() throws IOException {
    SlowLog log = new SlowLog(1_000, out);
    log.finish();
    assertThat(out.toString()).startsWith("why,index,").endsWith(",cause,evidence\n");
  }

  @Test
  void whatIsAboveTheThresholdIsWrittenAtOnceAndTheRestAtTheEnd() throws IOException {
    SlowLog log = new SlowLog(1_000, out);
    add(log, 998, 1_002);
    assertThat(lines()).containsExactly("threshold,1001", "threshold,1002");
    log.finish();
    assertThat(lines())
        .containsExactly(
            "threshold,1001", "threshold,1002", "slowest,1000", "slowest,999", "slowest,998");
  }

  @Test
  void onlyTheSlowestHundredOfTheRestAreKept() throws IOException {
    SlowLog log = new SlowLog(1_000, out);
    add(log, 1, 250);
    log.finish();
    assertThat(lines()).hasSize(100).startsWith("slowest,250").endsWith("slowest,151");
  }

  @Test
  void thoseAboveTheThresholdTakeThePlaceOfTheRest() throws IOException {
    SlowLog log = new SlowLog(1_000, out);
    add(log, 801, 1_099);
    log.finish();
    assertThat(lines()).hasSize(100).endsWith("threshold,1099", "slowest,1000");
  }

  @Test
  void wantsOnlyWhatItWouldKeep() throws IOException {
    SlowLog log = new SlowLog(1_000, out);
    assertThat(log.wants(1)).isTrue();
    add(log, 101, 200);
    assertThat(log.wants(101)).isFalse();
    assertThat(log.wants(102)).isTrue();
    assertThat(log.wants(1_001)).isTrue();
  }
}

package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.Disturbance.Source;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** In real time, for the JVM has no other. */
class JvmProbeTest {

  private final Disturbances disturbances = new Disturbances();

  @Test
  void aCollectionIsFoundBetweenTwoReadingsOfTheClock() {
    try (JvmProbe probe = new JvmProbe(NanoClock.SYSTEM, disturbances)) {
      probe.start();
      assertThat(probe.isRecorder()).isTrue();
      probe.flush(); // the clocks are tied together now
      disturbances.takeOver();
      long before = System.nanoTime();
      System.gc();
      long after = System.nanoTime();
      // A flush waits for a busy recorder for a while only.
      List<Disturbance> stops = new ArrayList<>();
      Awaitility.await()
          .until(
              () -> {
                probe.flush();
                disturbances.takeOver().stream()
                    .filter(found -> isStop(found.source()))
                    .forEach(stops::add);
                return !stops.isEmpty();
              });
      assertThat(stops)
          .anySatisfy(
              found -> {
                assertThat(found.startNanos()).isGreaterThanOrEqualTo(before);
                assertThat(found.endNanos()).isLessThanOrEqualTo(after);
                assertThat(found.amountNanos()).isPositive();
                assertThat(found.detail()).isNotEmpty();
              });
    }
  }

  private static boolean isStop(Source source) {
    return source == Source.GC_PAUSE || source == Source.SAFEPOINT;
  }

  @Test
  void withoutARecorderTheCollectorsBeansTellOfAPause() {
    try (JvmProbe probe =
        new JvmProbe(
            NanoClock.SYSTEM,
            disturbances,
            () -> {
              throw new IllegalStateException("no flight recorder");
            })) {
      probe.start();
      assertThat(probe.isRecorder()).isFalse();
      probe.flush(); // has nothing to wait for
      List<Disturbance> found = new ArrayList<>();
      Awaitility.await()
          .until(
              () -> {
                System.gc();
                found.addAll(disturbances.takeOver());
                return !found.isEmpty();
              });
      assertThat(found)
          .allSatisfy(
              pause -> {
                assertThat(pause.source()).isEqualTo(Source.GC_PAUSE);
                assertThat(pause.amountNanos()).isPositive();
                assertThat(pause.detail()).contains("System.gc()");
              });
    }
  }

  @Test
  void aJvmWithoutTheModuleFallsBackToo() {
    try (JvmProbe probe =
        new JvmProbe(
            NanoClock.SYSTEM,
            disturbances,
            () -> {
              throw new NoClassDefFoundError("jdk/jfr/consumer/RecordingStream");
            })) {
      probe.start();
      assertThat(probe.isRecorder()).isFalse();
    }
  }
}

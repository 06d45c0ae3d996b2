package io.pqcbench.loadgen.monitor;

import com.sun.management.GarbageCollectionNotificationInfo;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;

/**
 * Listens to the JVM's own flight recorder for everything that stops Java threads: pauses of the
 * collector, safepoints with the operation that asked for them, allocation stalls; and for
 * compilations. Events arrive about a second after they happened.
 *
 * <p>JFR has a clock of its own. A beacon event that carries the run's clock, once a second, ties
 * the two together.
 */
final class JvmProbe implements AutoCloseable {

  /** Compilations take a processor and stop nobody, so short ones explain nothing. */
  private static final long COMPILATION_NANOS = 1_000_000L;

  /** JFR hands over what it has once a second; two more are patience. */
  private static final long FLUSH_NANOS = 3_000_000_000L;

  /** A beacon that takes longer was interrupted between its two clocks. */
  private static final long BEACON_NANOS = 50_000L;

  private final NanoClock clock;
  private final Disturbances disturbances;
  private final Supplier<RecordingStream> recorders;
  private RecordingStream stream;
  private NotificationListener listener;

  /** To be added to a JFR instant to get one of the run's clock; set by the first beacon. */
  private volatile long offsetNanos = Long.MIN_VALUE;

  private volatile long lastBeacon = Long.MIN_VALUE;

  /**
   * Safepoints whose end was not seen yet, and operations whose safepoint was not; JFR's thread.
   */
  private final Map<Long, Instant> begun = new HashMap<>();

  private final Map<Long, String> operations = new HashMap<>();

  /** Carries an instant of the run's clock through JFR. */
  @Name("io.pqcbench.loadgen.ClockBeacon")
  @Label("Clock beacon")
  @StackTrace(false)
  static final class ClockBeacon extends Event {
    @Label("Run clock, ns")
    long nanos;
  }

  JvmProbe(NanoClock clock, Disturbances disturbances) {
    this(clock, disturbances, () -> new RecordingStream());
  }

  /** For tests, which have a JVM without a recorder. */
  JvmProbe(NanoClock clock, Disturbances disturbances, Supplier<RecordingStream> recorders) {
    this.clock = clock;
    this.disturbances = disturbances;
    this.recorders = recorders;
  }

  /** Starts to listen; falls back to the collectors' beans where JFR cannot be had. */
  void start() {
    try {
      startRecorder();
    } catch (RuntimeException | LinkageError e) {
      // A JRE without the module, or a directory for its files that cannot be written.
      if (stream != null) {
        stream.close();
        stream = null;
      }
      startBeans();
    }
  }

  /** Returns whether safepoints and exact pauses are seen. */
  boolean isRecorder() {
    return stream != null;
  }

  private void startRecorder() {
    RecordingStream recorder = recorders.get();
    stream = recorder;
    recorder.setReuse(true);
    recorder.setOrdered(false);
    recorder.setMaxAge(Duration.ofSeconds(10));
    for (String name :
        new String[] {
          "jdk.GCPhasePause",
          "jdk.SafepointBegin",
          "jdk.SafepointEnd",
          "jdk.ExecuteVMOperation",
          "jdk.Compilation",
          "jdk.ZAllocationStall"
        }) {
      recorder.enable(name).withoutThreshold().withoutStackTrace();
    }
    recorder.enable(ClockBeacon.class);
    recorder.onEvent("io.pqcbench.loadgen.ClockBeacon", this::beacon);
    recorder.onEvent(
        "jdk.GCPhasePause", event -> report(Disturbance.Source.GC_PAUSE, event, "name", 0));
    recorder.onEvent(
        "jdk.ZAllocationStall",
        event -> report(Disturbance.Source.ALLOCATION_STALL, event, "type", 0));
    recorder.onEvent(
        "jdk.Compilation",
        event -> report(Disturbance.Source.COMPILATION, event, "method", COMPILATION_NANOS));
    recorder.onEvent("jdk.ExecuteVMOperation", this::operation);
    recorder.onEvent(
        "jdk.SafepointBegin",
        event -> begun.put(event.getLong("safepointId"), event.getStartTime()));
    recorder.onEvent("jdk.SafepointEnd", this::safepointEnd);
    recorder.startAsync();
    sendBeacon();
  }

  /** Lets the two clocks be compared again. Costs a microsecond. */
  long sendBeacon() {
    ClockBeacon beacon = new ClockBeacon();
    beacon.begin();
    beacon.nanos = clock.nanos();
    beacon.commit();
    return beacon.nanos;
  }

  private void beacon(RecordedEvent event) {
    long nanos = event.getLong("nanos");
    lastBeacon = nanos;
    // The two clocks were read one after the other; if something came in between, they do not
    // match.
    if (offsetNanos != Long.MIN_VALUE && event.getDuration().toNanos() > BEACON_NANOS) {
      return;
    }
    offsetNanos = nanos - epochNanos(event.getStartTime());
  }

  private static long epochNanos(Instant instant) {
    return instant.getEpochSecond() * 1_000_000_000L + instant.getNano();
  }

  private void report(
      Disturbance.Source source, RecordedEvent event, String detailField, long atLeastNanos) {
    long length = event.getDuration().toNanos();
    if (length >= atLeastNanos && offsetNanos != Long.MIN_VALUE) {
      long from = epochNanos(event.getStartTime()) + offsetNanos;
      Object detail = event.hasField(detailField) ? event.getValue(detailField) : "";
      String text =
          detail instanceof jdk.jfr.consumer.RecordedMethod method
              ? method.getType().getName() + "." + method.getName()
              : String.valueOf(detail);
      disturbances.report(new Disturbance(source, from, from + length, length, text));
    }
  }

  private void operation(RecordedEvent event) {
    if (event.getBoolean("safepoint")) {
      operations.put(event.getLong("safepointId"), event.getString("operation"));
    }
  }

  private void safepointEnd(RecordedEvent event) {
    long id = event.getLong("safepointId");
    Instant from = begun.remove(id);
    String operation = operations.remove(id);
    if (from != null && offsetNanos != Long.MIN_VALUE) {
      long begin = epochNanos(from) + offsetNanos;
      long end = Math.max(begin, epochNanos(event.getEndTime()) + offsetNanos);
      disturbances.report(
          new Disturbance(
              Disturbance.Source.SAFEPOINT,
              begin,
              end,
              end - begin,
              operation == null ? "" : operation));
    }
    // What has no partner by now will not get one.
    if (begun.size() > 1000 || operations.size() > 1000) {
      begun.clear();
      operations.clear();
    }
  }

  /**
   * The beans tell milliseconds, and of concurrent collectors the length of the whole cycle, which
   * is not a pause.
   */
  private void startBeans() {
    listener =
        (Notification notification, Object handback) -> {
          if (notification
              .getType()
              .equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            var info =
                GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData());
            boolean concurrent =
                info.getGcName().contains("Cycles") || info.getGcCause().equals("No GC");
            long length = info.getGcInfo().getDuration() * 1_000_000L;
            if (!concurrent && length > 0) {
              long end = clock.nanos();
              disturbances.report(
                  new Disturbance(
                      Disturbance.Source.GC_PAUSE,
                      end - length,
                      end,
                      length,
                      info.getGcAction() + " (" + info.getGcCause() + ")"));
            }
          }
        };
    for (var bean : ManagementFactory.getGarbageCollectorMXBeans()) {
      if (bean instanceof NotificationEmitter emitter) {
        emitter.addNotificationListener(listener, null, null);
      }
    }
  }

  /** Waits until everything that has happened so far was reported. */
  void flush() {
    if (stream == null) {
      return;
    }
    long sent = sendBeacon();
    long until = clock.nanos() + FLUSH_NANOS;
    while (lastBeacon < sent && clock.nanos() < until) {
      try {
        Thread.sleep(20);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  @Override
  public void close() {
    if (stream != null) {
      stream.close();
    }
    if (listener != null) {
      for (var bean : ManagementFactory.getGarbageCollectorMXBeans()) {
        if (bean instanceof NotificationEmitter emitter) {
          remove(emitter);
        }
      }
    }
  }

  private void remove(NotificationEmitter emitter) {
    try {
      emitter.removeNotificationListener(listener);
    } catch (javax.management.ListenerNotFoundException e) {
      // It was never added, which is as well.
      return;
    }
  }
}

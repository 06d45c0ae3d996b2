package io.pqcbench.loadgen.monitor;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The timeline of disturbances. Any thread reports; the writer's thread takes them over, keeps them
 * for as long as a sample can still ask for them, and then forgets them, so that a run of any
 * length needs little memory.
 */
public final class Disturbances {

  /** Kept by the tenth of a second, so that a question looks at few, however many there are. */
  private static final long SLOT_NANOS = 100_000_000L;

  private final Queue<Disturbance> reported = new ConcurrentLinkedQueue<>();
  private final NavigableMap<Long, List<Disturbance>> kept = new TreeMap<>();

  /** Reports one. Any thread; wait-free. */
  public void report(Disturbance disturbance) {
    reported.add(disturbance);
  }

  /** Takes over what was reported since the last call, and returns it. For the writer. */
  public List<Disturbance> takeOver() {
    List<Disturbance> fresh = new ArrayList<>();
    for (Disturbance next = reported.poll(); next != null; next = reported.poll()) {
      fresh.add(next);
      for (long slot = slot(next.startNanos()); slot <= slot(next.endNanos()); slot++) {
        kept.computeIfAbsent(slot, none -> new ArrayList<>()).add(next);
      }
    }
    return fresh;
  }

  private static long slot(long nanos) {
    return Math.floorDiv(nanos, SLOT_NANOS);
  }

  /** Forgets those that ended well before an instant of the run's clock. For the writer. */
  public void forgetBefore(long nanos) {
    kept.headMap(slot(nanos)).clear();
  }

  /** Returns those that were taken over and overlap a span of the run's clock. For the writer. */
  public List<Disturbance> within(long fromNanos, long toNanos) {
    List<Disturbance> found = new ArrayList<>();
    long first = slot(fromNanos);
    kept.subMap(first, true, slot(toNanos), true)
        .forEach(
            (slot, there) -> {
              for (Disturbance disturbance : there) {
                // One that lies in several slots is met in each of them.
                boolean met = slot > first && slot(disturbance.startNanos()) < slot;
                if (!met && disturbance.overlaps(fromNanos, toNanos)) {
                  found.add(disturbance);
                }
              }
            });
    return found;
  }
}

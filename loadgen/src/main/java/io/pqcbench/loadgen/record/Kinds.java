package io.pqcbench.loadgen.record;

import java.util.ArrayList;
import java.util.List;

/**
 * Which attempts of one run are tabulated apart, because they do not do the same: those to each of
 * several targets, and full and resumed handshakes.
 *
 * @param targets names, in the order in which arrivals take them in turn
 * @param mixed whether some handshakes are full and some resumed
 */
public record Kinds(List<String> targets, boolean mixed) {

  /** All alike. */
  public static final Kinds ONE = new Kinds(List.of("target"), false);

  public Kinds {
    targets = List.copyOf(targets);
  }

  /** Returns whether there is more than one kind. */
  boolean several() {
    return mixed || targets.size() > 1;
  }

  /** Returns the names of the kinds. */
  List<String> names() {
    List<String> names = new ArrayList<>();
    for (String target : targets) {
      String prefix = targets.size() > 1 ? target : "";
      if (mixed) {
        names.add((prefix + " fresh").strip());
        names.add((prefix + " resumed").strip());
      } else {
        names.add(prefix);
      }
    }
    return names;
  }

  /** Returns the position of a sample's target. */
  int target(SampleBlock block, int row) {
    return (int) (block.index(row) % targets.size());
  }

  /** Returns the position of a sample's kind in {@link #names}. */
  int of(SampleBlock block, int row) {
    int target = target(block, row);
    return mixed ? 2 * target + (block.resumes(row) ? 1 : 0) : target;
  }
}

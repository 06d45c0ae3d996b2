package io.pqcbench.loadgen.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.awaitility.Awaitility;

/** A control group of one's own whose processor time can be limited, by version 1 or 2. */
final class CpuQuota implements AutoCloseable {

  private static final Path V1 = Path.of("/sys/fs/cgroup/cpu");
  private static final Path V2 = Path.of("/sys/fs/cgroup");

  private final Path group;
  private final boolean second;

  private CpuQuota(Path group, boolean second) {
    this.group = group;
    this.second = second;
  }

  /** Makes a group without a limit; skips the test where that cannot be. */
  static CpuQuota create() throws IOException {
    boolean second = Files.exists(V2.resolve("cgroup.controllers"));
    Path parent = second ? V2 : V1;
    Needs.that(
        Files.isDirectory(parent) && Files.isWritable(parent.resolve("cgroup.procs")),
        "a control group for processor time: run as root, with " + parent + " mounted");
    Path group = parent.resolve("loadgen-it-" + ProcessHandle.current().pid());
    Files.createDirectory(group);
    CpuQuota quota = new CpuQuota(group, second);
    if (!Files.exists(group.resolve(second ? "cpu.max" : "cpu.cfs_quota_us"))) {
      quota.close();
      Needs.that(false, "the processor controller in " + parent);
    }
    return quota;
  }

  /** The words in front of a command that is to run in the group. */
  List<String> inside() {
    return List.of(
        "sh", "-c", "echo $$ > \"$0\"; exec \"$@\"", group.resolve("cgroup.procs").toString());
  }

  /** Allows this much of each tenth of a second, over all processors together. */
  void limit(int millis) throws IOException {
    if (second) {
      Files.writeString(group.resolve("cpu.max"), millis * 1000 + " 100000");
    } else {
      Files.writeString(group.resolve("cpu.cfs_period_us"), "100000");
      Files.writeString(group.resolve("cpu.cfs_quota_us"), Integer.toString(millis * 1000));
    }
  }

  @Override
  public void close() {
    // The kernel keeps a group for a moment after its last process.
    Awaitility.await().ignoreExceptions().until(() -> Files.deleteIfExists(group));
  }
}

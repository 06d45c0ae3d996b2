package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.ThreadRoles.Role;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class ProcTasksTest {

  @Test
  void findsAThreadOfThisProcessByItsNameUntilItHasEnded() throws InterruptedException {
    CountDownLatch running = new CountDownLatch(1);
    CountDownLatch enough = new CountDownLatch(1);
    Thread lane =
        new Thread(
            () -> {
              running.countDown();
              try {
                enough.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "lane-77");
    ProcTasks tasks = new ProcTasks(new KernelText.Files(), List.of());
    long before = lanes(tasks.find());
    lane.start();
    running.await();
    assertThat(lanes(tasks.find())).isEqualTo(before + 1);
    assertThat(tasks.find().keySet()).allMatch(path -> path.startsWith("/proc/self/task/"));
    assertThat(tasks.find()).doesNotContainValue(Role.OTHER);
    enough.countDown();
    lane.join();
    org.awaitility.Awaitility.await().until(() -> lanes(tasks.find()) == before);
  }

  private static long lanes(Map<String, Role> found) {
    return found.values().stream().filter(role -> role == Role.LANE).count();
  }

  @Test
  void findsTheThreadsOfAWatchedProcess() throws IOException, InterruptedException {
    Process sleeper = new ProcessBuilder("sleep", "60").start();
    KernelText files = new KernelText.Files();
    try {
      // Between fork and exec it is still called as its parent is.
      org.awaitility.Awaitility.await()
          .until(() -> "sleep\n".equals(files.read("/proc/" + sleeper.pid() + "/comm")));
      ProcTasks tasks = new ProcTasks(files, List.of("sleep"));
      assertThat(tasks.find())
          .containsEntry("/proc/" + sleeper.pid() + "/task/" + sleeper.pid(), Role.WATCHED);
      assertThat(new ProcTasks(files, List.of("sleeper")).find()).doesNotContainValue(Role.WATCHED);
    } finally {
      sleeper.destroyForcibly().waitFor();
    }
  }
}

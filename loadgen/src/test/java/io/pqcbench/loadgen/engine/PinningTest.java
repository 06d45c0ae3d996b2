package io.pqcbench.loadgen.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class PinningTest {

  private static final String STATUS =
      """
      Name:\tjava
      Threads:\t31
      Cpus_allowed:\td01
      Cpus_allowed_list:\t0,8,10-11
      Mems_allowed_list:\t0
      """;

  @Test
  void readsTheKernelsListOfAllowedProcessors() throws Exception {
    assertThat(Pinning.parseList(Pinning.allowed(STATUS))).containsExactly(0, 8, 10, 11);
    assertThat(Pinning.parseList("3")).containsExactly(3);
  }

  @Test
  void givesAThreadOneProcessor() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Thread thread =
        new Thread(
            () -> {
              try {
                end.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "to-be-pinned");
    thread.start();
    try {
      Pinning.pin(List.of("to-be-pinned"));
      try (var tasks = Files.list(Path.of("/proc/self/task"))) {
        List<Path> pinned = tasks.filter(each -> comm(each).equals("to-be-pinned")).toList();
        assertThat(pinned).hasSize(1);
        String list = Pinning.allowed(Files.readString(pinned.get(0).resolve("status")));
        assertThat(Pinning.parseList(list)).hasSize(1);
      }
    } finally {
      end.countDown();
      thread.join();
    }
  }

  private static String comm(Path task) {
    try {
      return Files.readString(task.resolve("comm")).strip();
    } catch (IOException e) {
      return "";
    }
  }

  @Test
  void refusesMoreLanesThanProcessors() {
    List<String> names = Collections.nCopies(5000, "lane");
    assertThatThrownBy(() -> Pinning.pin(names))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("lanes=5000")
        .hasMessageContaining("processors=");
  }
}

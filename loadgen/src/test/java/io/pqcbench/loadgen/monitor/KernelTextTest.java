package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelTextTest {

  @TempDir private Path directory;

  @Test
  void readsAFileAnewEachTime() throws IOException {
    Path file = Files.writeString(directory.resolve("stat"), "cpu0 100\n");
    KernelText files = new KernelText.Files();
    assertThat(files.read(file.toString())).isEqualTo("cpu0 100\n");
    Files.writeString(file, "cpu0 2\n"); // shorter than before
    assertThat(files.read(file.toString())).isEqualTo("cpu0 2\n");
    Files.writeString(file, "");
    assertThat(files.read(file.toString())).isEmpty();
  }

  @Test
  void aFileThatIsNotThereIsNullUntilItIs() throws IOException {
    Path file = directory.resolve("later");
    KernelText files = new KernelText.Files();
    assertThat(files.read(file.toString())).isNull();
    Files.writeString(file, "now");
    assertThat(files.read(file.toString())).isEqualTo("now");
  }

  /** Threads end between two looks at them. */
  @Test
  void theFileOfAThreadThatHasEndedIsNull() throws Exception {
    KernelText files = new KernelText.Files();
    Process sleeper = new ProcessBuilder("sleep", "60").start();
    String comm = "/proc/" + sleeper.pid() + "/comm";
    assertThat(files.read(comm)).isNotBlank();
    sleeper.destroyForcibly().waitFor();
    assertThat(files.read(comm)).isNull();
  }

  @Test
  void aDirectoryIsNull() {
    KernelText files = new KernelText.Files();
    assertThat(files.read(directory.toString())).isNull();
  }

  @Test
  void ofAFileThatIsTooLongTheBeginIsRead() throws IOException {
    Path file = Files.writeString(directory.resolve("long"), "x".repeat(300 * 1024));
    KernelText files = new KernelText.Files();
    assertThat(files.read(file.toString())).hasSize(256 * 1024).startsWith("xxx");
  }

  @Test
  void readsWhatTheKernelWrites() {
    KernelText files = new KernelText.Files();
    assertThat(CpuTimes.parse(files.read("/proc/stat"))).isNotEmpty();
  }
}

package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What can be held against a Dockerfile without an engine: no image is built by the tests. */
class ContainerFileTest {

  private static final Path FILE =
      Path.of(System.getProperty("basedir", "."), "..", "deploy", "container", "Dockerfile");

  /** One instruction each, with its continuation lines. */
  private List<String> instructions;

  @BeforeEach
  void read() throws IOException {
    String text = Files.readString(FILE).replaceAll("(?m)^\\s*#.*\n", "").replace("\\\n", " ");
    instructions = text.lines().filter(line -> !line.isBlank()).toList();
  }

  private List<String> valuesOf(String instruction) {
    return instructions.stream()
        .filter(line -> line.startsWith(instruction + " "))
        .map(line -> line.substring(instruction.length() + 1).strip())
        .toList();
  }

  @Test
  void theBaseIsAnExactVersionOfAJre25() {
    assertThat(valuesOf("FROM"))
        .singleElement()
        .asString()
        .matches("eclipse-temurin:25\\.\\d+\\.\\d+_\\d+-jre-noble");
  }

  @Test
  void theOnlyFileIsTheArchiveOfTheBuildAndTheOnlyPackageThatWhichKnowsTheClock() {
    assertThat(valuesOf("ADD")).containsExactly("pqcbench-*-linux.tar.gz /opt/");
    assertThat(valuesOf("COPY")).isEmpty();
    assertThat(valuesOf("RUN"))
        .noneMatch(run -> run.matches(".*(curl|wget|://).*"))
        .filteredOn(run -> run.contains("apt-get install"))
        .singleElement()
        .asString()
        .matches(".* --no-install-recommends adjtimex +&& rm -rf /var/lib/apt/lists/\\*");
  }

  @Test
  void itRunsAsAUserWhoIsNotRootFromBeforeLoadgenIsFirstStarted() {
    assertThat(valuesOf("USER")).containsExactly("10001:10001");
    assertThat(valuesOf("RUN"))
        .filteredOn(run -> run.contains("useradd"))
        .singleElement()
        .asString()
        .contains("useradd --uid 10001 --gid 10001", "install -d -o loadgen -g loadgen /data");
    assertThat(instructions.indexOf("USER 10001:10001"))
        .isLessThan(instructions.indexOf("RUN loadgen --version"));
  }

  @Test
  void itHoldsNoSecretAndOpensNoPort() {
    assertThat(valuesOf("ENV")).containsExactly("XDG_CACHE_HOME=/var/cache");
    assertThat(valuesOf("ARG")).isEmpty();
    assertThat(valuesOf("EXPOSE")).isEmpty();
  }

  @Test
  void signalsReachLoadgenBecauseNoShellIsInBetween() {
    assertThat(valuesOf("ENTRYPOINT")).containsExactly("[\"loadgen\"]");
    assertThat(valuesOf("CMD")).isEmpty();
  }
}

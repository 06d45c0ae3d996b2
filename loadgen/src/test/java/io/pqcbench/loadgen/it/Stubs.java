package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Programs for a script under test in the place of real ones, that write down what they are told.
 */
record Stubs(Path directory) {

  /** The top of this project. */
  static final Path PROJECT =
      Path.of(System.getProperty("loadgen.launcher.script"))
          .toAbsolutePath()
          .getParent()
          .getParent()
          .getParent()
          .normalize();

  static Command bash(Map<String, String> environment, String script) throws IOException {
    List<String> words = new ArrayList<>(List.of("env"));
    environment.forEach((key, value) -> words.add(key + "=" + value));
    words.addAll(List.of("bash", "-c", script));
    return Command.of(words.toArray(String[]::new));
  }

  /** Writes a program that says what it was told, and then does something. */
  void put(String name, String script) throws IOException {
    Path stub = Files.createDirectories(directory.resolve("bin")).resolve(name);
    Files.writeString(
        stub, "#!/bin/bash\necho \"" + name + " $*\" >>'" + file() + "'\n" + script + "\n");
    assertThat(stub.toFile().setExecutable(true)).isTrue();
  }

  private Path file() {
    return directory.resolve("told");
  }

  /** What all of them were told, a line each. */
  String told() throws IOException {
    return Files.exists(file()) ? Files.readString(file()) : "";
  }

  /** For the variable PATH. */
  String path() {
    return directory.resolve("bin") + ":" + System.getenv("PATH");
  }
}

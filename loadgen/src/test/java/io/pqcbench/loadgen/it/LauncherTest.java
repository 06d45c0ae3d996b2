package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The launchers as they are installed by a package, with a JDK and a Maven that only say that they
 * were called.
 */
class LauncherTest {

  private static final Path ROOT = Path.of(System.getProperty("basedir", "."), "..");

  /** Every file of a release has its date, whatever is in it. */
  private static final FileTime RELEASED = FileTime.fromMillis(1_767_225_600_000L);

  @TempDir private Path folder;

  private Path installed;
  private Path jar;
  private Path home;

  @BeforeEach
  void install() throws IOException {
    installed = Files.createDirectories(folder.resolve("a project/pqcbench 0.1.0"));
    home = Files.createDirectory(folder.resolve("home"));
    Files.createDirectory(installed.resolve("bin"));
    Files.createDirectory(installed.resolve("lib"));
    Files.copy(ROOT.resolve("loadgen/bin/loadgen"), installed.resolve("bin/loadgen"));
    Files.copy(
        ROOT.resolve("analysis/bin/loadgen-report"), installed.resolve("bin/loadgen-report"));
    jar = installed.resolve("lib/loadgen.jar");
    released(jar, "one");
    released(installed.resolve("lib/loadgen-report.jar"), "report");
    // A package may be unpacked anywhere.
    Files.writeString(installed.resolveSibling("pom.xml"), "<project/>");
    script("path/mvn", "echo Maven was called >&2; exit 1");
    script(
        "jdk/bin/java",
        "for word; do case $word in *AOTCacheOutput=*) echo >\"${word#*=}\";; esac; done\n"
            + "printf '%s\\n' \"$@\"");
    Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25.0.3\"\n");
  }

  private static void released(Path file, String text) throws IOException {
    Files.writeString(file, text);
    Files.setLastModifiedTime(file, RELEASED);
  }

  private void script(String name, String text) throws IOException {
    Path script = folder.resolve(name);
    Files.createDirectories(script.getParent());
    Files.writeString(script, "#!/bin/sh\n" + text + "\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private Command run(Path launcher, String... arguments) throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                "env",
                "-i",
                "PATH=" + folder.resolve("path") + ":" + System.getenv("PATH"),
                "JAVA_HOME=" + folder.resolve("jdk"),
                "HOME=" + home,
                launcher.toString()));
    words.addAll(List.of(arguments));
    return Command.of(words.toArray(String[]::new));
  }

  private String cacheUsedBy(Path launcher) throws Exception {
    Command command = run(launcher, "--version");
    assertThat(command.exitCode()).as(command.err()).isZero();
    return command
        .out()
        .lines()
        .filter(line -> line.startsWith("-XX:AOTCache="))
        .map(line -> line.substring(line.indexOf('=') + 1))
        .findFirst()
        .orElse("none");
  }

  private List<String> filesIn(Path place) throws IOException {
    try (Stream<Path> files = Files.walk(place)) {
      return files.map(file -> place.relativize(file).toString()).sorted().toList();
    }
  }

  @Test
  void aPackageStartsItsOwnJarAndBuildsNothing() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("link"), installed.resolve("bin/loadgen"));
    Command command = run(link, "probe", "a b");
    assertThat(command.exitCode()).as(command.err()).isZero();
    assertThat(command.out()).endsWith("-jar\n" + jar.toRealPath() + "\nprobe\na b\n");
    assertThat(command.err()).doesNotContain("Maven");
  }

  @Test
  void aPackageKeepsItsClassCacheWithTheUserAndNothingIsWrittenBesideTheJar() throws Exception {
    List<String> before = filesIn(installed);
    Path cache = Path.of(cacheUsedBy(installed.resolve("bin/loadgen")));
    assertThat(cache).exists().hasParent(home.resolve(".cache/pqcbench"));
    assertThat(cacheUsedBy(installed.resolve("bin/loadgen"))).isEqualTo(cache.toString());
    assertThat(filesIn(installed)).isEqualTo(before);
    assertThat(filesIn(cache.getParent())).containsExactly("", cache.getFileName().toString());
  }

  @Test
  void anotherJarOfTheSameSizeAndDateGetsAnotherClassCache() throws Exception {
    String first = cacheUsedBy(installed.resolve("bin/loadgen"));
    released(jar, "two");
    assertThat(cacheUsedBy(installed.resolve("bin/loadgen")))
        .isNotEqualTo(first)
        .isNotEqualTo("none");
  }

  @Test
  void aUserWhoseHomeCannotBeWrittenRunsWithoutAClassCache() throws Exception {
    home = Files.createFile(folder.resolve("no folder"));
    assertThat(cacheUsedBy(installed.resolve("bin/loadgen"))).isEqualTo("none");
  }

  @Test
  void aPackageWithoutItsJarSaysSo() throws Exception {
    Files.delete(jar);
    Command command = run(installed.resolve("bin/loadgen"), "--version");
    assertThat(command.exitCode()).isEqualTo(4);
    assertThat(command.err())
        .contains("jar=" + installed.toRealPath().resolve("lib/loadgen.jar"))
        .doesNotContain("Maven");
  }

  @Test
  void theReportOfAPackageStartsItsOwnJarToo() throws Exception {
    Path link =
        Files.createSymbolicLink(folder.resolve("link"), installed.resolve("bin/loadgen-report"));
    Command command = run(link, "a bundle");
    assertThat(command.exitCode()).as(command.err()).isZero();
    assertThat(command.out())
        .endsWith("-jar\n" + installed.toRealPath() + "/lib/loadgen-report.jar\na bundle\n");
  }
}

package io.pqcbench.loadgen.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An unpacked Debian 13, whose OpenSSL is 3.5: a library of it needs its libc, so the client runs
 * in there. The network is the machine's.
 */
final class DebianRoot {

  /**
   * Unpacked is enough: no package is configured. What packages leave to Debian's installer are the
   * links at the top.
   */
  private static final String MAKE =
      """
      set -eu
      # The host's own mirror; without one, mmdebstrap's default.
      mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null |
        head -n 1) || true
      rm -rf "$1.new"
      mmdebstrap --quiet --variant=extract --dpkgopt='path-exclude=/usr/share/doc/*' \
        --include=openjdk-21-jre-headless,libapr1t64,libssl3t64 trixie "$1.new" ${mirror:+"$mirror"}
      for link in bin lib lib64 sbin; do ln -sfn "usr/$link" "$1.new/$link"; done
      mkdir -p "$1.new/proc" "$1.new/dev" "$1.new/mnt" "$1.new/tmp"
      mv -T "$1.new" "$1"
      """;

  /** Mounts for this process alone, which are gone when it ends. */
  private static final String ENTER =
      "mount -t proc proc \"$0/proc\" && mount --rbind /dev \"$0/dev\" && mount --bind /tmp"
          + " \"$0/tmp\" && mount --bind \"$1\" \"$0/mnt\" && root=$0 && shift && exec chroot"
          + " \"$root\" \"$@\"";

  private final Path root;

  private DebianRoot(Path root) {
    this.root = root;
  }

  /** Makes it, once for a build folder; skips the test where that cannot be. */
  static synchronized DebianRoot require() throws Exception {
    Path root = jar().resolveSibling("trixie");
    if (!Files.exists(root)) {
      Needs.that(
          Command.of("sh", "-c", "command -v mmdebstrap").exitCode() == 0,
          "mmdebstrap unpacks a Debian 13: apt-get install mmdebstrap");
      Command make = Command.of("bash", "-c", MAKE, "-", root.toString());
      Needs.that(make.exitCode() == 0, "a Debian 13 cannot be unpacked: " + make.err());
    }
    return new DebianRoot(root);
  }

  private static Path jar() {
    return Path.of(System.getProperty("loadgen.jar"));
  }

  /** Starts {@code java -jar loadgen.jar} in there. It sees the machine's /tmp. */
  Command loadgen(List<String> arguments) throws IOException {
    List<String> words = new ArrayList<>();
    words.addAll(List.of("unshare", "--mount", "sh", "-c", ENTER, root.toString()));
    words.add(jar().getParent().toString());
    words.add("/usr/lib/jvm/" + jdk() + "/bin/java");
    words.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar"));
    words.add("/mnt/" + jar().getFileName());
    words.addAll(arguments);
    return Command.of(words.toArray(String[]::new));
  }

  /** Copies its OpenSSL to a folder below the machine's /tmp, which it sees too. */
  Path copyOfOpenSsl(Path folder) throws IOException {
    Path libraries =
        root.resolve("usr/lib")
            .resolve(System.getProperty("os.arch").replace("amd64", "x86_64") + "-linux-gnu");
    for (String library : List.of("libssl.so.3", "libcrypto.so.3")) {
      Files.copy(libraries.resolve(library), folder.resolve(library));
    }
    return folder;
  }

  private String jdk() throws IOException {
    try (var folders = Files.list(root.resolve("usr/lib/jvm"))) {
      return folders
          .map(folder -> folder.getFileName().toString())
          .filter(name -> name.matches("java-21-openjdk-[a-z0-9]+"))
          .findFirst()
          .orElseThrow();
    }
  }
}

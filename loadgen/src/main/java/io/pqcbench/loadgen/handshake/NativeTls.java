package io.pqcbench.loadgen.handshake;

import io.netty.channel.epoll.Epoll;
import io.netty.handler.ssl.OpenSsl;
import io.netty.internal.tcnative.SSL;
import io.netty.util.internal.NativeLibraryLoader;
import io.netty.util.internal.PlatformDependent;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.TlsStack;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The native libraries: epoll, and BoringSSL or OpenSSL behind netty-tcnative, of which a process
 * can load one, because both stand behind the same classes.
 *
 * <p>Both are in the jar. Netty takes the one whose name ends with a classifier of the operating
 * system before the one without, if it is there and can be loaded: {@code fedora} is that of the
 * build that links the system's OpenSSL, and here it says which of the two is wanted.
 */
public final class NativeTls {

  /** Read by Netty once, when its first class is loaded. */
  private static final String CLASSIFIERS = "io.netty.osClassifiers";

  private static final String OPENSSL_CLASSIFIER = "fedora";

  /** The first with ML-KEM and ML-DSA. */
  private static final int LEAST_MAJOR = 3;

  private static final int LEAST_MINOR = 5;

  private static final Pattern OPENSSL = Pattern.compile("OpenSSL ([0-9]+)\\.([0-9]+)\\b.*");

  /** In this order: each needs those before it. */
  private static final String[] LIBRARIES = {"libcrypto.so.3", "libssl.so.3"};

  private static final String HOW_TO_GET_IT =
      "; it needs OpenSSL 3.5 or newer (libssl.so.3, libcrypto.so.3) and libapr-1.so.0. Debian 13"
          + " has both: apt-get install libssl3t64 libapr1t64. Debian 12 and Ubuntu 24.04 have"
          + " OpenSSL 3.0 only: there deploy/nginx/build.sh --prefix DIR builds a 3.5, which"
          + " --openssl-lib DIR/openssl/lib names; and install libapr1 (libapr1t64)";

  private static TlsStack loaded;
  private static Path loadedFrom;

  private NativeTls() {}

  /** Has Netty take BoringSSL, also where the operating system is one with a classifier. */
  public static void preferBoringSsl() {
    System.setProperty(CLASSIFIERS, "");
  }

  /**
   * Loads what a stack needs. The first call decides for the life of the process, and must come
   * before any other use of Netty when OpenSSL is wanted.
   *
   * @throws IllegalStateException with the reason and what to do
   */
  public static synchronized void require(LoadPlan.Stack stack) {
    // The stacks in Java need none, but the server of the warm-up does.
    TlsStack wanted = stack.name() == TlsStack.OPENSSL ? TlsStack.OPENSSL : TlsStack.BORINGSSL;
    if (loaded == null) {
      if (wanted == TlsStack.OPENSSL) {
        System.setProperty(CLASSIFIERS, OPENSSL_CLASSIFIER);
        load(stack.library());
      }
      requireEpoll();
      if (wanted == TlsStack.OPENSSL) {
        requireOpenSsl();
      } else {
        requireBoringSsl();
      }
      loaded = wanted;
      loadedFrom = stack.library();
    } else if (loaded != wanted || !Objects.equals(loadedFrom, stack.library())) {
      throw new IllegalStateException(
          "a process can load one of BoringSSL and OpenSSL: tlsStack="
              + stack.name()
              + " loaded="
              + loaded
              + "; give each trial a process of its own (fresh-jvm: true)",
          new UnsatisfiedLinkError("netty-tcnative is loaded already: " + OpenSsl.versionString()));
    }
  }

  private static void requireEpoll() {
    if (!Epoll.isAvailable()) {
      throw new IllegalStateException(
          "Linux's epoll transport cannot be loaded, and no other is precise enough to measure with"
              + " (Netty's NIO rounds timers to a millisecond): run on Linux x86-64 or aarch64 with"
              + " glibc",
          Epoll.unavailabilityCause());
    }
  }

  private static void requireBoringSsl() {
    if (!OpenSsl.isAvailable()) {
      throw new IllegalStateException(
          "the TLS stack (BoringSSL) cannot be loaded: run on Linux x86-64 or aarch64 with glibc,"
              + " and with a temporary directory from which libraries may be loaded"
              + " (-Djava.io.tmpdir=DIR)",
          OpenSsl.unavailabilityCause());
    }
  }

  /** What is loaded by its path is not looked for by its name. */
  private static void load(Path folder) {
    if (folder == null) {
      return;
    }
    for (String library : LIBRARIES) {
      Path file = folder.resolve(library).toAbsolutePath();
      try {
        System.load(file.toString());
      } catch (UnsatisfiedLinkError e) {
        throw new IllegalStateException(
            "--openssl-lib has no OpenSSL that can be loaded: file=" + file + HOW_TO_GET_IT, e);
      }
    }
  }

  private static void requireOpenSsl() {
    String version = OpenSsl.isAvailable() ? OpenSsl.versionString() : "none";
    Matcher matcher = OPENSSL.matcher(version);
    if (!matcher.matches()) {
      throw new IllegalStateException(
          "the TLS stack OpenSSL cannot be loaded" + HOW_TO_GET_IT, reason());
    }
    int major = Integer.parseInt(matcher.group(1));
    int minor = Integer.parseInt(matcher.group(2));
    if (major < LEAST_MAJOR || (major == LEAST_MAJOR && minor < LEAST_MINOR)) {
      throw new IllegalStateException(
          "OpenSSL is too old: version='" + version + "'" + HOW_TO_GET_IT,
          new UnsatisfiedLinkError(library().map(Path::toString).orElse("libssl.so.3")));
    }
  }

  /** Why Netty took the other library. */
  private static Throwable reason() {
    try {
      NativeLibraryLoader.load(
          "netty_tcnative_linux_" + PlatformDependent.normalizedArch() + "_" + OPENSSL_CLASSIFIER,
          SSL.class.getClassLoader());
    } catch (UnsatisfiedLinkError e) {
      return e;
    }
    return new UnsatisfiedLinkError(
        "Netty was in use before the TLS stack was chosen, or was told to take no OpenSSL");
  }

  /** Returns what is loaded, e.g. {@code OpenSSL 3.5.6 7 Apr 2026}. */
  public static String version() {
    return OpenSsl.isAvailable()
        ? OpenSsl.versionString()
        : "not available: " + OpenSsl.unavailabilityCause();
  }

  /** Returns the file of the system's TLS library that this process has loaded; empty for none. */
  public static Optional<Path> library() {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("/libssl.so."))
          .map(line -> Path.of(line.substring(line.indexOf('/'))))
          .findFirst();
    } catch (IOException e) {
      // Where /proc is not mounted the version has to do.
      return Optional.empty();
    }
  }
}

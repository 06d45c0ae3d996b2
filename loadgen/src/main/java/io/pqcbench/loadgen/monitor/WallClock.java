package io.pqcbench.loadgen.monitor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How well this machine's wall clock agrees with the time of the world, as far as somebody on it
 * says so. Java has no call for adjtimex(2), and no file shows what it returns, so programs are
 * asked that are there where the clock is cared for.
 *
 * @param source who said it; null if nobody did
 * @param synchronised whether it is kept right; null if not known
 * @param offsetMicros by how much it is ahead, as estimated; null if not known
 * @param errorMicros the most by which it may be wrong; null if not known
 */
public record WallClock(
    String source, Boolean synchronised, Double offsetMicros, Double errorMicros) {

  private static final WallClock NOT_KNOWN = new WallClock(null, null, null, null);

  /** chronyc(1), "tracking" with -c: these of its comma-separated fields. */
  private static final int STRATUM = 2;

  private static final int OFFSET = 4;
  private static final int ROOT_DELAY = 10;
  private static final int ROOT_DISPERSION = 11;
  private static final int LEAP = 13;
  private static final int FIELDS = 14;

  private static final Pattern MAX_ERROR = Pattern.compile("maxerror:\\s*(\\d+)");

  /** TIME_ERROR of adjtimex(2) is 5: the clock is not synchronised. */
  private static final Pattern RETURNED = Pattern.compile("return value\\s*[=:]\\s*(\\d+)");

  private static final String TIME_ERROR = "5";

  private static final long PATIENCE_SECONDS = 2;

  /** Runs a command; the seam through which tests give literal text. */
  interface Commands {
    /** Returns its standard output; null if it is not there or fails. */
    String run(List<String> words);
  }

  /**
   * systemd-timesyncd(8) touches it whenever it has set the clock. It tells the kernel then that
   * the clock is wrong by nothing at all, so that the kernel's bound is none.
   */
  private static final Path TIMESYNCD = Path.of("/run/systemd/timesync/synchronized");

  /** Asks this machine. */
  public static WallClock read() {
    return read(WallClock::run, Files.exists(TIMESYNCD));
  }

  static WallClock read(Commands commands, boolean timesyncd) {
    // The best first: an estimate of the offset, the kernel's bound, a yes or no.
    WallClock found = chrony(commands.run(List.of("chronyc", "-c", "-n", "tracking")));
    if (found == null && !timesyncd) {
      found = adjtimex("adjtimex", commands.run(List.of("adjtimex", "--print")));
    }
    if (found == null && !timesyncd) {
      found = adjtimex("busybox adjtimex", commands.run(List.of("busybox", "adjtimex")));
    }
    if (found == null) {
      found = timedatectl(commands.run(List.of("timedatectl", "show", "-p", "NTPSynchronized")));
    }
    return found == null ? NOT_KNOWN : found;
  }

  /** The bound is that of RFC 5905: half of the way to the reference, and what it may have lost. */
  private static WallClock chrony(String said) {
    String[] fields = said == null ? new String[0] : said.strip().split(",", -1);
    if (fields.length < FIELDS) {
      return null;
    }
    try {
      double offset = Double.parseDouble(fields[OFFSET]);
      double error =
          Math.abs(offset)
              + Double.parseDouble(fields[ROOT_DELAY]) / 2
              + Double.parseDouble(fields[ROOT_DISPERSION]);
      boolean synchronised = !fields[LEAP].startsWith("Not") && !fields[STRATUM].equals("0");
      return synchronised
          ? new WallClock("chronyc", true, micros(offset), micros(error))
          : new WallClock("chronyc", false, null, null);
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static double micros(double seconds) {
    return Math.rint(seconds * 1e9) / 1e3;
  }

  private static WallClock adjtimex(String source, String said) {
    Matcher error = MAX_ERROR.matcher(said == null ? "" : said);
    Matcher returned = RETURNED.matcher(said == null ? "" : said);
    if (!error.find() || !returned.find()) {
      return null;
    }
    return returned.group(1).equals(TIME_ERROR)
        ? new WallClock(source, false, null, null)
        : new WallClock(source, true, null, Double.valueOf(error.group(1)));
  }

  private static WallClock timedatectl(String said) {
    return switch (said == null ? "" : said.strip()) {
      case "NTPSynchronized=yes" -> new WallClock("timedatectl", true, null, null);
      case "NTPSynchronized=no" -> new WallClock("timedatectl", false, null, null);
      default -> null;
    };
  }

  private static String run(List<String> words) {
    Process process;
    try {
      process = new ProcessBuilder(words).redirectErrorStream(false).start();
    } catch (IOException e) {
      return null;
    }
    CompletableFuture<String> said =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return new String(
                    process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
              } catch (IOException e) {
                return null;
              }
            });
    try {
      String text = said.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0
          ? text
          : null;
    } catch (ExecutionException | TimeoutException e) {
      return null;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return null;
    } finally {
      process.destroyForcibly();
    }
  }
}

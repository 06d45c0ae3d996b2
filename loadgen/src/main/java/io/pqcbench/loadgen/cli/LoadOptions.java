package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Target;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Where load goes and how the client makes it: the options that {@code run} and {@code calibrate}
 * share.
 */
final class LoadOptions {

  private static final int DEFAULT_MAX_IN_FLIGHT = 10_000;

  private static final DateTimeFormatter DIRECTORY_TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  @Option(
      names = {"-t", "--target"},
      paramLabel = "TARGET",
      converter = ConnectionOptions.TargetText.class,
      description =
          "host:port, [v6]:port or https://host[:port]/path. Default: an embedded server in a"
              + " process of its own")
  Target target;

  @Mixin private ConnectionOptions connection;

  @Option(
      names = "--arrival",
      paramLabel = "constant|poisson",
      description = "Spacing of the arrivals. Default: ${DEFAULT-VALUE}")
  private LoadPlan.Arrival arrival = LoadPlan.Arrival.CONSTANT;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the Poisson arrivals. Default: random, recorded")
  private Long seed;

  @Option(
      names = "--lanes",
      paramLabel = "N",
      description = "Event loops, each a thread. Default: ${DEFAULT-VALUE}")
  private int lanes = 1;

  @Option(
      names = "--pin",
      description = "Give each lane a processor of its own, the last ones first; needs taskset")
  private boolean pin;

  @Option(
      names = "--wait",
      paramLabel = "busy|block",
      description =
          "How lanes wait: busy polls (a core each, about 1 us late), block sleeps (about 75 us"
              + " late). Default: busy on 2 cores or more against another machine, else block")
  private LoadPlan.Wait wait;

  @Option(
      names = "--max-in-flight",
      paramLabel = "N",
      description =
          "Attempts open at once; arrivals beyond are skipped and counted. Default:"
              + " ${DEFAULT-VALUE}")
  private int maxInFlight = DEFAULT_MAX_IN_FLIGHT;

  @Option(
      names = "--code-warmup",
      paramLabel = "TIME",
      converter = ConnectionOptions.Nanos.class,
      description =
          "Before the run, run the client's code against a server in this process until it is"
              + " compiled, for so long at most; the target hears nothing of it. 0s for none."
              + " Default: 3s")
  long codeWarmupNanos = 3_000_000_000L;

  /**
   * Returns what is to be done.
   *
   * @param resolved where to; the user's or an embedded server's
   * @param onThisMachine whether the target needs this machine's processors
   */
  LoadPlan plan(
      Target resolved,
      boolean onThisMachine,
      double ratePerSecond,
      long durationNanos,
      long warmupNanos,
      long slowThresholdNanos) {
    connection.validate();
    boolean spareCore = Runtime.getRuntime().availableProcessors() > lanes;
    LoadPlan.Wait chosen =
        wait != null
            ? wait
            : spareCore && !onThisMachine ? LoadPlan.Wait.BUSY : LoadPlan.Wait.BLOCK;
    return new LoadPlan(
        resolved,
        new LoadPlan.Pace(
            ratePerSecond,
            durationNanos,
            warmupNanos,
            arrival,
            // Kept within what every JSON reader takes for an integer.
            seed != null ? seed : new SecureRandom().nextLong() >>> 11),
        connection.tlsOffer(resolved),
        connection.request(resolved),
        connection.limits(lanes, pin, chosen, maxInFlight, slowThresholdNanos));
  }

  /** Returns a result directory for now, for who has named none. */
  static Path defaultDirectory(String name) {
    return Path.of("bundles", DIRECTORY_TIME.format(Instant.now()) + "-" + name);
  }

  /** Returns whether a host is an address of this machine. */
  static boolean isLocal(String name) {
    try {
      InetAddress address = InetAddress.getByName(name);
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      // The preflight says it better.
      return false;
    }
  }
}

package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Target;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Where load goes and how the client makes it: the options that {@code run} and {@code calibrate}
 * share.
 */
final class LoadOptions {

  private static final int DEFAULT_MAX_IN_FLIGHT = 10_000;
  private static final int DEFAULT_CONNECTIONS = 10;

  private static final DateTimeFormatter DIRECTORY_TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  @Option(
      names = {"-t", "--target"},
      paramLabel = "TARGET",
      converter = ConnectionOptions.TargetText.class,
      description =
          "host:port, [v6]:port or https://host[:port]/path; repeatable, arrivals take them in turn"
              + " and the rate is that of all. Default: an embedded server in a process of its own")
  private List<Target> targets = List.of();

  @Option(
      names = "--targets",
      paramLabel = "FILE",
      description =
          "More targets, one a line; empty lines and those with # are skipped." + " Default: none")
  private Path targetsFile;

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

  /** What an arrival does. */
  enum SessionMode {
    FRESH,
    RESUMED,
    POOLED
  }

  @Option(
      names = "--session",
      paramLabel = "fresh|resumed|pooled",
      description =
          "fresh makes full handshakes and never offers a session; resumed collects tickets by"
              + " priming handshakes, offers each once, and counts a full handshake as NOT_RESUMED;"
              + " pooled sends requests over connections that are kept open. Default:"
              + " ${DEFAULT-VALUE}")
  private SessionMode session = SessionMode.FRESH;

  @Option(
      names = "--resume-ratio",
      paramLabel = "SHARE",
      description =
          "Share of the connections that resume a session, the others are full handshakes; both are"
              + " tabulated apart. Default: 1, with --session resumed")
  private Double resumeRatio;

  @Option(
      names = "--connections",
      paramLabel = "N",
      description =
          "Connections that are kept open; a request that finds none free waits, and its wait"
              + " counts. Default: 10, with --session pooled")
  private Integer connections;

  @Option(
      names = "--requests-per-connection",
      paramLabel = "N",
      description =
          "Replace a connection after so many requests. Default: as many as the server allows, with"
              + " --session pooled")
  private Integer requestsPerConnection;

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
   * Returns all targets that were given, none if there was none.
   *
   * @throws IllegalArgumentException with file and line, if one cannot be understood
   */
  List<Target> targets() {
    List<Target> all = new ArrayList<>(targets);
    if (targetsFile != null) {
      List<String> lines;
      try {
        lines = Files.readAllLines(targetsFile);
      } catch (IOException e) {
        throw new IllegalArgumentException("--targets cannot be read: file=" + targetsFile, e);
      }
      for (int i = 0; i < lines.size(); i++) {
        String line = lines.get(i).strip();
        if (!line.isEmpty() && !line.startsWith("#")) {
          try {
            all.add(Target.parse(line));
          } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                targetsFile + ":" + (i + 1) + ": " + e.getMessage(), e);
          }
        }
      }
      if (all.isEmpty()) {
        throw new IllegalArgumentException("--targets names none: file=" + targetsFile);
      }
    }
    return all;
  }

  /**
   * Returns what is to be done.
   *
   * @param resolved where to, in turn; the user's or an embedded server
   * @param onThisMachine whether the target needs this machine's processors
   * @param shard this machine's part
   * @param startAt null for as soon as possible
   */
  LoadPlan plan(
      List<Target> resolved,
      boolean onThisMachine,
      double ratePerSecond,
      long durationNanos,
      long warmupNanos,
      long slowThresholdNanos,
      LoadPlan.Shard shard,
      Instant startAt) {
    connection.validate();
    if (shard.count() > 1 && arrival == LoadPlan.Arrival.POISSON && seed == null) {
      throw new IllegalArgumentException(
          "--shard with --arrival poisson needs --seed, the same for all, or each would make"
              + " arrivals of its own: shard="
              + shard);
    }
    boolean spareCore = Runtime.getRuntime().availableProcessors() > lanes;
    LoadPlan.Wait chosen =
        wait != null
            ? wait
            : spareCore && !onThisMachine ? LoadPlan.Wait.BUSY : LoadPlan.Wait.BLOCK;
    return new LoadPlan(
        connection.redirected(resolved.get(0)),
        resolved.stream().skip(1).map(connection::redirected).toList(),
        new LoadPlan.Pace(
            ratePerSecond,
            durationNanos,
            warmupNanos,
            arrival,
            // Kept within what every JSON reader takes for an integer.
            seed != null ? seed : new SecureRandom().nextLong() >>> 11,
            shard,
            startAt),
        connection.tlsOffer(resolved.get(0)),
        sessions(),
        connection.request(resolved.get(0)),
        connection.limits(lanes, pin, chosen, maxInFlight, slowThresholdNanos),
        connection.transport());
  }

  private LoadPlan.Sessions sessions() {
    only(SessionMode.RESUMED, "--resume-ratio", resumeRatio);
    only(SessionMode.POOLED, "--connections", connections);
    only(SessionMode.POOLED, "--requests-per-connection", requestsPerConnection);
    if (resumeRatio != null && resumeRatio == 0) {
      throw new IllegalArgumentException(
          "--resume-ratio 0 resumes nothing, which is --session fresh: resumeRatio=0");
    }
    if (connections != null && connections == 0) {
      throw new IllegalArgumentException(
          "--connections 0 keeps none, which is --session fresh: connections=0");
    }
    return switch (session) {
      case FRESH -> LoadPlan.Sessions.FRESH;
      case RESUMED -> new LoadPlan.Sessions(resumeRatio == null ? 1 : resumeRatio, 0, 0);
      case POOLED ->
          new LoadPlan.Sessions(
              0,
              connections == null ? DEFAULT_CONNECTIONS : connections,
              requestsPerConnection == null ? 0 : requestsPerConnection);
    };
  }

  private void only(SessionMode mode, String option, Number value) {
    if (value != null && session != mode) {
      throw new IllegalArgumentException(
          option + " needs --session " + mode.name().toLowerCase(Locale.ROOT) + ": value=" + value);
    }
  }

  /** Returns what carries the connections. */
  LoadPlan.Transport transport() {
    return connection.transport();
  }

  /** Returns a result directory for now, for who has named none. */
  static Path defaultDirectory(String name) {
    return Path.of("bundles", DIRECTORY_TIME.format(Instant.now()) + "-" + name);
  }

  /** Returns whether connections to one of these go to an address of this machine. */
  boolean isLocal(List<Target> given) {
    return given.stream().anyMatch(this::isLocal);
  }

  private boolean isLocal(Target given) {
    try {
      InetAddress address = InetAddress.getByName(connection.redirected(given).connectHost());
      return address.isLoopbackAddress() || NetworkInterface.getByInetAddress(address) != null;
    } catch (IOException e) {
      // The preflight says it better.
      return false;
    }
  }
}

package io.pqcbench.loadgen.plan;

import io.pqcbench.loadgen.schedule.ArrivalSchedule;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;

/**
 * What exactly one run will do: immutable, validated, and written to the bundle as it is.
 *
 * @param target where the load goes
 * @param pace how many arrivals and when
 * @param tls what the client offers and what it accepts
 * @param request what is sent over the secured connection
 * @param limits how the client spends its machine
 */
public record LoadPlan(Target target, Pace pace, TlsOffer tls, Request request, Limits limits) {

  /** How arrivals are spaced. */
  public enum Arrival {
    CONSTANT,
    POISSON
  }

  /**
   * How a lane waits for its next arrival: polling (a whole core, about 1 us late) or sleeping in
   * epoll.
   */
  public enum Wait {
    BUSY,
    BLOCK
  }

  /**
   * How a finished connection is closed: orderly, or by a reset that leaves no TIME_WAIT behind.
   */
  public enum Close {
    FIN,
    RST
  }

  /** What the client demands of the server's certificate. */
  public enum Trust {
    /** Verify if it verifies in the preflight; else say so and pin the leaf. */
    VERIFY_OR_PIN,
    /** Refuse a server whose chain does not verify. */
    VERIFY,
    /** Accept anything, on every connection. */
    INSECURE
  }

  /**
   * How many arrivals there are, and when they are due.
   *
   * @param ratePerSecond offered rate; positive
   * @param durationNanos whole length of the run, with the warm-up; positive
   * @param warmupNanos from the start, recorded but not measured; shorter than the duration
   * @param arrival constant or Poisson
   * @param seed of the Poisson arrivals
   */
  public record Pace(
      double ratePerSecond, long durationNanos, long warmupNanos, Arrival arrival, long seed) {
    public Pace {
      if (durationNanos <= 0) {
        throw new IllegalArgumentException(
            "--duration must be positive: duration=" + Quantity.format(durationNanos));
      }
      if (warmupNanos >= durationNanos) {
        throw new IllegalArgumentException(
            "--warmup must be shorter than --duration, which it is a part of: warmup="
                + Quantity.format(warmupNanos)
                + " duration="
                + Quantity.format(durationNanos));
      }
    }

    /** Returns when the arrivals are due. */
    public ArrivalSchedule schedule() {
      return arrival == Arrival.CONSTANT
          ? ArrivalSchedule.constant(ratePerSecond, durationNanos)
          : ArrivalSchedule.poisson(ratePerSecond, durationNanos, seed);
    }
  }

  /**
   * What the client offers to the server, and what it accepts from it.
   *
   * @param groups offered, in order; not empty
   * @param version "1.3" or "1.2"
   * @param expectGroup the group that every handshake must negotiate; null to take the preflight's
   * @param expectCipher the suite that every handshake must negotiate, by its IANA name; null to
   *     take the preflight's
   * @param sni server name to send; null to send none
   * @param alpn protocols to offer; empty to offer none
   * @param trust what is demanded of the certificate
   * @param cacert PEM file of trusted roots; null for the system's
   * @param cert PEM file of the client's chain; null for none
   * @param key PEM file of the client's key; null exactly when {@code cert} is
   */
  public record TlsOffer(
      List<NamedGroup> groups,
      String version,
      NamedGroup expectGroup,
      String expectCipher,
      String sni,
      List<String> alpn,
      Trust trust,
      Path cacert,
      Path cert,
      Path key) {
    public TlsOffer {
      groups = List.copyOf(groups);
      alpn = List.copyOf(alpn);
      if ((cert == null) != (key == null)) {
        throw new IllegalArgumentException(
            "--cert and --key belong together (a server's root goes to --cacert): cert="
                + cert
                + " key="
                + key);
      }
      if (expectGroup != null && !groups.contains(expectGroup)) {
        throw new IllegalArgumentException(
            "--expect-group must be one of --groups: expectGroup="
                + expectGroup
                + " groups="
                + groups);
      }
      if (version.equals("1.2")) {
        groups.stream()
            .filter(NamedGroup::needsTls13)
            .findFirst()
            .ifPresent(
                group -> {
                  throw new IllegalArgumentException(
                      "this group is defined for TLS 1.3 only, take a classical one with --tls 1.2:"
                          + " group="
                          + group);
                });
      }
    }
  }

  /**
   * What is sent over a secured connection.
   *
   * @param handshakeOnly whether to close after the handshake without a request
   * @param path with a leading slash
   * @param headers as {@code Name: value}; may replace Host and User-Agent
   */
  public record Request(boolean handshakeOnly, String path, List<String> headers) {
    public Request {
      headers = List.copyOf(headers);
      if (!path.startsWith("/") || path.chars().anyMatch(c -> c <= ' ' || c >= 127)) {
        throw new IllegalArgumentException(
            "--path must begin with a slash and hold no space or control character: path='"
                + path
                + "'");
      }
      for (String header : headers) {
        int colon = header.indexOf(':');
        if (colon < 1 || header.chars().anyMatch(c -> c == '\r' || c == '\n')) {
          throw new IllegalArgumentException("-H must be 'Name: value': header='" + header + "'");
        }
      }
    }
  }

  /**
   * How the client spends its machine, and how long it waits.
   *
   * @param lanes event loops; at least 1
   * @param pinned whether each lane has a processor of its own
   * @param waiting how they wait
   * @param maxInFlight attempts open at once over all lanes; arrivals beyond are skipped and
   *     counted
   * @param connectTimeoutNanos from started to connected; positive
   * @param timeoutNanos from started to done; positive
   * @param close how connections are closed
   * @param sources local addresses to connect from, in turn; empty to let the kernel choose
   * @param slowThresholdNanos responses above it go to the slow log; positive
   */
  public record Limits(
      int lanes,
      boolean pinned,
      Wait waiting,
      int maxInFlight,
      long connectTimeoutNanos,
      long timeoutNanos,
      Close close,
      List<InetAddress> sources,
      long slowThresholdNanos) {
    public Limits {
      sources = List.copyOf(sources);
      positive("--lanes", lanes);
      positive("--max-in-flight", maxInFlight);
      positive("--connect-timeout", connectTimeoutNanos);
      positive("--timeout", timeoutNanos);
      positive("--slow-threshold", slowThresholdNanos);
    }

    private static void positive(String option, long value) {
      if (value <= 0) {
        throw new IllegalArgumentException(option + " must be positive: value=" + value);
      }
    }
  }
}

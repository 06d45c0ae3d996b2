package io.pqcbench.loadgen.plan;

import io.netty.util.NetUtil;
import io.pqcbench.loadgen.schedule.ArrivalSchedule;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What exactly one run will do: immutable, validated, and written to the bundle as it is.
 *
 * @param target where the load goes
 * @param others more of them; arrivals take all in turn
 * @param pace how many arrivals and when
 * @param tls what the client offers and what it accepts
 * @param sessions whether connections resume sessions
 * @param request what is sent over the secured connection
 * @param limits how the client spends its machine
 * @param transport what carries the connections
 */
public record LoadPlan(
    Target target,
    List<Target> others,
    Pace pace,
    TlsOffer tls,
    Sessions sessions,
    Request request,
    Limits limits,
    Transport transport) {

  /** What carries a connection. */
  public enum Transport {
    TCP,
    QUIC
  }

  /** A plan over TCP. */
  public LoadPlan(
      Target target,
      List<Target> others,
      Pace pace,
      TlsOffer tls,
      Sessions sessions,
      Request request,
      Limits limits) {
    this(target, others, pace, tls, sessions, request, limits, Transport.TCP);
  }

  /**
   * What an arrival does: opens a connection with a full handshake, or by resuming a session, or
   * sends its request over one that is open already. Which of them is checked on every connection.
   *
   * @param resumedShare of the connections, evenly spread, from 0 (no session is ever offered) to
   *     1; the others make full handshakes
   * @param connections that are kept open for requests; 0 to open one for each arrival
   * @param requestsPerConnection after which a kept connection is replaced; 0 for as many as the
   *     server allows
   */
  public record Sessions(double resumedShare, int connections, int requestsPerConnection) {

    /** Full handshakes only. */
    public static final Sessions FRESH = new Sessions(0, 0, 0);

    public Sessions {
      if (!(resumedShare >= 0 && resumedShare <= 1)) {
        throw new IllegalArgumentException(
            "--resume-ratio must be from 0 to 1: resumeRatio=" + resumedShare);
      }
      if (connections < 0 || requestsPerConnection < 0) {
        throw new IllegalArgumentException(
            "--connections and --requests-per-connection must not be negative: connections="
                + connections
                + " requestsPerConnection="
                + requestsPerConnection);
      }
    }

    /** Returns whether arrivals are requests over connections that are kept open. */
    public boolean pooled() {
      return connections > 0;
    }

    /** Returns whether any connection resumes a session. */
    public boolean resume() {
      return resumedShare > 0;
    }

    /** Returns whether there are connections of both kinds. */
    public boolean mixed() {
      return resumedShare > 0 && resumedShare < 1;
    }

    /**
     * Returns whether an arrival is to resume a session: of the first n, n times the share, rounded
     * down.
     *
     * @param index of the arrival, from 0
     */
    public boolean resumes(long index) {
      return Math.floor((index + 1) * resumedShare) > Math.floor(index * resumedShare);
    }
  }

  public LoadPlan {
    others = List.copyOf(others);
    if (!others.isEmpty() && (sessions.pooled() || sessions.resume())) {
      throw new IllegalArgumentException(
          "--session resumed and pooled take one target, several runs can go side by side: targets="
              + (others.size() + 1));
    }
    if (sessions.resume() && !tls.stack().name().compiled()) {
      throw new IllegalArgumentException(
          "--session resumed needs a TLS stack that hands its tickets out, boringssl or openssl:"
              + " tlsStack="
              + tls.stack().name());
    }
    if (tls.cert() != null && tls.tls13() && request.handshakeOnly()) {
      throw new IllegalArgumentException(
          "in TLS 1.3 a server refuses a client's certificate only after the handshake, which"
              + " --handshake-only would take for a success: leave one of --cert and"
              + " --handshake-only out, or measure --tls 1.2: cert="
              + tls.cert());
    }
    if (sessions.pooled() && request.handshakeOnly()) {
      throw new IllegalArgumentException(
          "--session pooled is about requests, --handshake-only sends none: connections="
              + sessions.connections());
    }
    if (sessions.pooled() && sessions.connections() < limits.lanes()) {
      throw new IllegalArgumentException(
          "--connections must be at least --lanes, each of which has its own: connections="
              + sessions.connections()
              + " lanes="
              + limits.lanes());
    }
    if (transport == Transport.QUIC) {
      requireQuic(sessions, tls, request, limits);
    }
  }

  private static void requireQuic(Sessions sessions, TlsOffer tls, Request request, Limits limits) {
    if (sessions.pooled() || sessions.resume()) {
      throw new IllegalArgumentException(
          "--transport quic makes full handshakes only, leave out --session: sessions=" + sessions);
    }
    if (tls.stack().name() != TlsStack.BORINGSSL) {
      throw new IllegalArgumentException(
          "QUIC comes with a BoringSSL of its own, leave out --tls-stack or --transport quic:"
              + " tlsStack="
              + tls.stack().name());
    }
    if (tls.tls12()) {
      throw new IllegalArgumentException(
          "QUIC is defined for TLS 1.3 only, leave out --tls or --transport quic: tls="
              + tls.version());
    }
    if (tls.cert() != null) {
      throw new IllegalArgumentException(
          "this client shows no certificate over QUIC, leave out --cert and --key or --transport"
              + " quic: cert="
              + tls.cert());
    }
    if (request.http2()) {
      throw new IllegalArgumentException(
          "HTTP/2 goes over TCP, a request over QUIC is one of HTTP/0.9: leave out --http or"
              + " --transport quic: http="
              + request.http());
    }
    if (!request.headers().isEmpty()) {
      throw new IllegalArgumentException(
          "a request over QUIC is one of HTTP/0.9, which has no headers: headers="
              + request.headers());
    }
    if (limits.proxyProtocol() != ProxyProtocol.NONE) {
      throw new IllegalArgumentException(
          "a PROXY header begins a TCP connection, leave out --proxy-protocol or --transport quic:"
              + " proxyProtocol="
              + limits.proxyProtocol().name().toLowerCase(Locale.ROOT));
    }
    if (limits.close() == Close.RST) {
      throw new IllegalArgumentException(
          "--close rst resets a TCP connection, QUIC has none and leaves no TIME_WAIT: close=rst");
    }
  }

  /** Returns this plan over another transport. */
  public LoadPlan over(Transport other) {
    return new LoadPlan(target, others, pace, tls, sessions, request, limits, other);
  }

  /** Returns all targets, in the order in which arrivals take them in turn. */
  public List<Target> targets() {
    List<Target> all = new ArrayList<>(List.of(target));
    all.addAll(others);
    return all;
  }

  /**
   * Returns the plan as it is for one of the targets alone. Its own name is sent to it, and its own
   * path asked for, unless the plan names others.
   */
  public LoadPlan only(Target one) {
    return new LoadPlan(
        one,
        List.of(),
        pace,
        target.host().equals(tls.sni()) ? tls.withSni(one.host()) : tls,
        sessions,
        request.path().equals(target.path()) ? request.withPath(one.path()) : request,
        limits,
        transport);
  }

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

  /** Whether a connection begins with a header that names its addresses, as behind a proxy. */
  public enum ProxyProtocol {
    NONE,
    V1,
    V2
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
   * Which part of a run this machine offers, of several that offer it together.
   *
   * @param index from 0
   * @param count of the machines; 1 for the whole
   */
  public record Shard(int index, int count) {

    /** Everything. */
    public static final Shard WHOLE = new Shard(0, 1);

    public Shard {
      if (count < 1 || index < 0 || index >= count) {
        throw new IllegalArgumentException(
            "--shard must be I/N with I from 0 to N-1, such as 0/2 and 1/2: shard="
                + index
                + "/"
                + count);
      }
    }

    @Override
    public String toString() {
      return index + "/" + count;
    }
  }

  /**
   * How many arrivals there are, and when they are due.
   *
   * @param ratePerSecond offered rate, of all shards together; positive
   * @param durationNanos whole length of the run, with the warm-up; positive
   * @param warmupNanos from the start, recorded but not measured; shorter than the duration
   * @param arrival constant or Poisson
   * @param seed of the Poisson arrivals
   * @param shard which of the arrivals are this machine's
   * @param startAt when the run starts by the wall clock; null for as soon as it is ready
   */
  public record Pace(
      double ratePerSecond,
      long durationNanos,
      long warmupNanos,
      Arrival arrival,
      long seed,
      Shard shard,
      Instant startAt) {

    /** A whole run that starts as soon as it is ready. */
    public Pace(
        double ratePerSecond, long durationNanos, long warmupNanos, Arrival arrival, long seed) {
      this(ratePerSecond, durationNanos, warmupNanos, arrival, seed, Shard.WHOLE, null);
    }

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

    /** Returns when the arrivals of this machine are due. */
    public ArrivalSchedule schedule() {
      ArrivalSchedule whole =
          arrival == Arrival.CONSTANT
              ? ArrivalSchedule.constant(ratePerSecond, durationNanos)
              : ArrivalSchedule.poisson(ratePerSecond, durationNanos, seed);
      return whole.shard(shard.index(), shard.count());
    }

    /** Returns the rate that this machine offers. */
    public double ownRatePerSecond() {
      return ratePerSecond / shard.count();
    }
  }

  /**
   * What the client offers to the server, and what it accepts from it.
   *
   * @param groups offered, in order; not empty
   * @param version "1.3", "1.2", or both, of which the server then takes one: "1.2,1.3"
   * @param expectGroup the group that every handshake must negotiate; null to take the preflight's
   * @param expectCipher the suite that every handshake must negotiate, by its IANA name; null to
   *     take the preflight's
   * @param sni server name to send; null to send none
   * @param alpn protocols to offer; empty to offer none
   * @param trust what is demanded of the certificate
   * @param cacert PEM file of trusted roots; null for the system's
   * @param cert file of the client's chain, PEM, or PKCS#12 with its key; null for none
   * @param key PEM file of the client's key; null without one, and for PKCS#12
   * @param keyPasswordFile whose first line is the password of the key or the PKCS#12 file; null
   *     for none
   * @param keyPasswordEnv variable of the environment that holds it; null for none
   * @param stack by what all of this is done
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
      Path key,
      Path keyPasswordFile,
      String keyPasswordEnv,
      Stack stack) {
    public TlsOffer {
      groups = List.copyOf(groups);
      alpn = List.copyOf(alpn);
      if (cert == null && key != null) {
        throw new IllegalArgumentException(
            "--key needs --cert (a server's root goes to --cacert): key=" + key);
      }
      if (keyPasswordFile != null && keyPasswordEnv != null) {
        throw new IllegalArgumentException(
            "--key-password-file and --key-password-env are two ways of the same, take one: file="
                + keyPasswordFile
                + " variable="
                + keyPasswordEnv);
      }
      if (cert == null && (keyPasswordFile != null || keyPasswordEnv != null)) {
        throw new IllegalArgumentException(
            "there is no key that a password could be for, --cert is missing: file="
                + keyPasswordFile
                + " variable="
                + keyPasswordEnv);
      }
      if (cert != null && !stack.name().compiled()) {
        throw new IllegalArgumentException(
            "the TLS stack "
                + stack.name().label()
                + " shows no client certificate here, take --tls-stack boringssl or openssl: cert="
                + cert);
      }
      NamedGroup.requireOffered(groups, stack.name());
      if (expectGroup != null && !groups.contains(expectGroup)) {
        throw new IllegalArgumentException(
            "--expect-group must be one of --groups: expectGroup="
                + expectGroup
                + " groups="
                + groups);
      }
      if (!version.contains("1.3") && !stack.cipherSuites().isEmpty()) {
        throw new IllegalArgumentException(
            "--ciphersuites names suites of TLS 1.3, which is not offered: cipherSuites="
                + stack.cipherSuites()
                + " tls="
                + version
                + "; leave it out, and check every handshake with --expect-cipher");
      }
      if (expectGroup != null && !version.contains("1.3") && !stack.name().compiled()) {
        throw new IllegalArgumentException(
            "neither TLS 1.2 in plaintext nor the TLS stack "
                + stack.name().label()
                + " says which group was negotiated, leave --expect-group out or take --tls-stack"
                + " boringssl or openssl: expectGroup="
                + expectGroup);
      }
      if (!version.contains("1.3")) {
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

    /** Returns whether TLS 1.2 is offered. */
    public boolean tls12() {
      return version.contains("1.2");
    }

    /** Returns whether TLS 1.3 is offered. */
    public boolean tls13() {
      return version.contains("1.3");
    }

    /**
     * Returns the server name that goes into the ClientHello; null for none, as for an address,
     * which must not be sent as one (RFC 6066, section 3).
     */
    public String serverName() {
      return sni == null || NetUtil.isValidIpV4Address(sni) || NetUtil.isValidIpV6Address(sni)
          ? null
          : sni;
    }

    TlsOffer withSni(String name) {
      return new TlsOffer(
          groups,
          version,
          expectGroup,
          expectCipher,
          name,
          alpn,
          trust,
          cacert,
          cert,
          key,
          keyPasswordFile,
          keyPasswordEnv,
          stack);
    }
  }

  /**
   * The TLS stack, and what is asked of it beyond what it offers by itself.
   *
   * @param name of the stack
   * @param library folder of libssl and libcrypto; null for the machine's own; of {@code openssl}
   *     only
   * @param sigalgs signature schemes to offer, in order; empty for the stack's own
   * @param cipherSuites of TLS 1.3 to offer, in order, by their IANA names; empty for the stack's
   *     own
   */
  public record Stack(
      TlsStack name, Path library, List<SignatureScheme> sigalgs, List<String> cipherSuites) {

    /** What is in the jar, as it is. */
    public static final Stack DEFAULT = new Stack(TlsStack.BORINGSSL, null, List.of(), List.of());

    public Stack {
      sigalgs = List.copyOf(sigalgs);
      cipherSuites = List.copyOf(cipherSuites);
      if (library != null && name != TlsStack.OPENSSL) {
        throw new IllegalArgumentException(
            "--openssl-lib is for --tls-stack openssl: opensslLib="
                + library
                + " tlsStack="
                + name);
      }
      if (name == TlsStack.BORINGSSL && !cipherSuites.isEmpty()) {
        throw new IllegalArgumentException(
            "the TLS stack BoringSSL cannot restrict the cipher suites of TLS 1.3: ciphers="
                + cipherSuites
                + "; restrict them at the server and check every handshake with --expect-cipher, or"
                + " take another stack: --tls-stack openssl");
      }
      if (name == TlsStack.BORINGSSL && !sigalgs.isEmpty()) {
        throw new IllegalArgumentException(
            "the TLS stack BoringSSL cannot be told its signature schemes (netty-tcnative has no"
                + " call for it): sigalgs="
                + sigalgs
                + "; take another stack: --tls-stack openssl");
      }
    }
  }

  /**
   * What is sent over a secured connection.
   *
   * @param handshakeOnly whether to close after the handshake without a request
   * @param path with a leading slash
   * @param headers as {@code Name: value}; may replace Host and User-Agent
   * @param expectBytes length that the response's body must have; {@link #ANY_LENGTH} for any
   * @param http version of HTTP over TCP, "1.1" or "2", which the server must take by ALPN
   */
  public record Request(
      boolean handshakeOnly, String path, List<String> headers, long expectBytes, String http) {

    /** Accepts bodies of every length. */
    public static final long ANY_LENGTH = -1;

    /** What is about one connection (RFC 9113, section 8.2.2), and what would announce a body. */
    private static final Set<String> NOT_IN_HTTP2 =
        Set.of(
            "connection",
            "keep-alive",
            "proxy-connection",
            "transfer-encoding",
            "upgrade",
            "content-length");

    public Request {
      headers = List.copyOf(headers);
      if (!http.equals("1.1") && !http.equals("2")) {
        throw new IllegalArgumentException("--http must be 1.1 or 2: http=" + http);
      }
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
        String name = header.substring(0, colon).strip().toLowerCase(Locale.ROOT);
        if (http.equals("2") && (NOT_IN_HTTP2.contains(name) || name.startsWith(":"))) {
          throw new IllegalArgumentException(
              "this header has no place in HTTP/2, leave it out: header='" + header + "'");
        }
      }
    }

    /** Returns whether it is HTTP/2. */
    public boolean http2() {
      return http.equals("2");
    }

    Request withPath(String other) {
      return new Request(handshakeOnly, other, headers, expectBytes, http);
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
   * @param proxyProtocol header with which every connection begins
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
      long slowThresholdNanos,
      ProxyProtocol proxyProtocol) {
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

package io.pqcbench.loadgen.plan;

import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;

/** Makes plans for tests: short, on loopback, with every value replaceable. */
public final class Plans {

  private Target target;
  private List<Target> others = List.of();
  private double rate = 100;
  private long durationNanos = 1_000_000_000L;
  private long warmupNanos;
  private LoadPlan.Arrival arrival = LoadPlan.Arrival.CONSTANT;
  private long seed = 1;
  private List<NamedGroup> groups = List.of(NamedGroup.X25519MLKEM768);
  private String version = "1.3";
  private NamedGroup expectGroup;
  private String expectCipher;
  private String sni = "server.example";
  private LoadPlan.Trust trust = LoadPlan.Trust.VERIFY_OR_PIN;
  private Path cacert;
  private Path cert;
  private Path key;
  private Path keyPasswordFile;
  private LoadPlan.Stack stack = LoadPlan.Stack.DEFAULT;
  private LoadPlan.Sessions sessions = LoadPlan.Sessions.FRESH;
  private boolean handshakeOnly;
  private long expectBytes = LoadPlan.Request.ANY_LENGTH;
  private String path = "/";
  private List<String> headers = List.of();
  private String http = "1.1";
  private List<String> alpn = List.of();
  private int lanes = 1;
  private boolean pinned;
  private LoadPlan.Wait waiting = LoadPlan.Wait.BLOCK;
  private int maxInFlight = 1000;
  private long connectTimeoutNanos = 2_000_000_000L;
  private long timeoutNanos = 10_000_000_000L;
  private LoadPlan.Close close = LoadPlan.Close.FIN;
  private List<InetAddress> sources = List.of();
  private LoadPlan.ProxyProtocol proxyProtocol = LoadPlan.ProxyProtocol.NONE;

  private Plans(int port) {
    target = new Target("127.0.0.1", port, "/");
  }

  public static Plans to(int port) {
    return new Plans(port);
  }

  public Plans target(Target value) {
    target = value;
    return this;
  }

  public Plans others(Target... values) {
    others = List.of(values);
    return this;
  }

  public Plans rate(double perSecond) {
    rate = perSecond;
    return this;
  }

  public Plans duration(double seconds) {
    durationNanos = (long) (seconds * 1e9);
    return this;
  }

  public Plans warmup(double seconds) {
    warmupNanos = (long) (seconds * 1e9);
    return this;
  }

  public Plans poisson(long value) {
    arrival = LoadPlan.Arrival.POISSON;
    seed = value;
    return this;
  }

  public Plans groups(NamedGroup... values) {
    groups = List.of(values);
    return this;
  }

  public Plans tls(String value) {
    version = value;
    return this;
  }

  public Plans expectGroup(NamedGroup value) {
    expectGroup = value;
    return this;
  }

  public Plans expectCipher(String value) {
    expectCipher = value;
    return this;
  }

  public Plans sni(String value) {
    sni = value;
    return this;
  }

  public Plans trust(LoadPlan.Trust value, Path roots) {
    trust = value;
    cacert = roots;
    return this;
  }

  public Plans clientCertificate(Path chain, Path privateKey) {
    cert = chain;
    key = privateKey;
    return this;
  }

  public Plans stack(TlsStack name) {
    stack = new LoadPlan.Stack(name, null, List.of(), List.of());
    return this;
  }

  public Plans keyPassword(Path file) {
    keyPasswordFile = file;
    return this;
  }

  public Plans resuming(double share) {
    sessions = new LoadPlan.Sessions(share, 0, 0);
    return this;
  }

  public Plans pooled(int connections, int requestsPerConnection) {
    sessions = new LoadPlan.Sessions(0, connections, requestsPerConnection);
    return this;
  }

  public Plans handshakeOnly() {
    handshakeOnly = true;
    return this;
  }

  public Plans expectBytes(long value) {
    expectBytes = value;
    return this;
  }

  public Plans path(String value) {
    path = value;
    return this;
  }

  public Plans headers(String... values) {
    headers = List.of(values);
    return this;
  }

  public Plans lanes(int value) {
    lanes = value;
    return this;
  }

  public Plans pinned() {
    pinned = true;
    return this;
  }

  public Plans waiting(LoadPlan.Wait value) {
    waiting = value;
    return this;
  }

  public Plans maxInFlight(int value) {
    maxInFlight = value;
    return this;
  }

  public Plans connectTimeout(double seconds) {
    connectTimeoutNanos = (long) (seconds * 1e9);
    return this;
  }

  public Plans timeout(double seconds) {
    timeoutNanos = (long) (seconds * 1e9);
    return this;
  }

  /** Speaks this version of HTTP, with the offer that goes with it. */
  public Plans http(String value) {
    http = value;
    alpn = value.equals("2") ? List.of("h2") : List.of();
    return this;
  }

  public Plans alpn(String... values) {
    alpn = List.of(values);
    return this;
  }

  public Plans close(LoadPlan.Close value) {
    close = value;
    return this;
  }

  public Plans proxyProtocol(LoadPlan.ProxyProtocol value) {
    proxyProtocol = value;
    return this;
  }

  public Plans sources(InetAddress... values) {
    sources = List.of(values);
    return this;
  }

  public LoadPlan plan() {
    return new LoadPlan(
        target,
        others,
        new LoadPlan.Pace(rate, durationNanos, warmupNanos, arrival, seed),
        new LoadPlan.TlsOffer(
            groups,
            version,
            expectGroup,
            expectCipher,
            sni,
            alpn,
            trust,
            cacert,
            cert,
            key,
            keyPasswordFile,
            null,
            stack),
        sessions,
        new LoadPlan.Request(handshakeOnly, path, headers, expectBytes, http),
        new LoadPlan.Limits(
            lanes,
            pinned,
            waiting,
            maxInFlight,
            connectTimeoutNanos,
            timeoutNanos,
            close,
            sources,
            100_000_000L,
            proxyProtocol));
  }
}

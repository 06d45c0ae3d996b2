package io.pqcbench.loadgen.target;

import java.util.HashSet;
import java.util.List;

/**
 * How an {@link EmbeddedServer} listens and answers. Immutable; every change makes a new value.
 *
 * @param host the address to bind, a name or a literal; not null, not blank
 * @param port the port to bind, 0 to 65535; 0 lets the kernel choose a free one
 * @param groups key exchange groups by their BoringSSL names, most preferred first; at least one,
 *     each once. The server's order decides: a client that supports the first group but sent no key
 *     share for it is asked for one by a HelloRetryRequest
 * @param tickets whether session tickets are issued and accepted. Without them no session can be
 *     resumed, so every connection costs a full handshake
 * @param delayNanos nanoseconds between the end of a request and the start of its answer, 0 or more
 * @param threads event loops, 1 to {@value #MAX_THREADS}
 * @param tls the one protocol version that is spoken, {@code "1.3"} or {@code "1.2"}. In 1.2 no
 *     post-quantum group is ever negotiated, and clients have to list P-256 besides the group they
 *     want, because the certificate's key is on that curve
 */
public record ServerOptions(
    String host,
    int port,
    List<String> groups,
    boolean tickets,
    long delayNanos,
    int threads,
    String tls) {

  /** Far more loops than a machine this tool is meant for has cores: larger is a typing error. */
  static final int MAX_THREADS = 256;

  private static final int MAX_PORT = 65_535;

  private static final ServerOptions DEFAULTS =
      new ServerOptions(
          "127.0.0.1", 0, List.of("X25519MLKEM768", "X25519", "P-256"), false, 0, 1, "1.3");

  /**
   * Checks every field. Whether BoringSSL knows the groups shows only when a server starts.
   *
   * @throws IllegalArgumentException if a value is out of range; the message ends in name=value
   * @throws NullPointerException if {@code groups} is or holds null
   */
  public ServerOptions {
    if (host == null || host.isBlank()) {
      throw new IllegalArgumentException("host must be a name or an address: host=" + host);
    }
    if (port < 0 || port > MAX_PORT) {
      throw new IllegalArgumentException("port must be 0 to " + MAX_PORT + ": port=" + port);
    }
    groups = List.copyOf(groups);
    if (groups.isEmpty() || groups.stream().anyMatch(String::isBlank)) {
      throw new IllegalArgumentException("groups must be one name or more: groups=" + groups);
    }
    if (new HashSet<>(groups).size() < groups.size()) {
      throw new IllegalArgumentException("groups must not repeat a name: groups=" + groups);
    }
    if (delayNanos < 0) {
      throw new IllegalArgumentException("delay must be 0 or more: delayNanos=" + delayNanos);
    }
    if (threads < 1 || threads > MAX_THREADS) {
      throw new IllegalArgumentException(
          "threads must be 1 to " + MAX_THREADS + ": threads=" + threads);
    }
    if (!"1.3".equals(tls) && !"1.2".equals(tls)) {
      throw new IllegalArgumentException("TLS version must be 1.3 or 1.2: tls=" + tls);
    }
  }

  /**
   * The server that a run without a target gets: 127.0.0.1, any port, X25519MLKEM768 before X25519
   * before P-256, no tickets, no delay, one thread, TLS 1.3.
   */
  public static ServerOptions defaults() {
    return DEFAULTS;
  }

  /** A copy that binds {@code host}. */
  public ServerOptions withHost(String host) {
    return new ServerOptions(host, port, groups, tickets, delayNanos, threads, tls);
  }

  /** A copy that binds {@code port}; 0 is any free one. */
  public ServerOptions withPort(int port) {
    return new ServerOptions(host, port, groups, tickets, delayNanos, threads, tls);
  }

  /** A copy that offers exactly {@code groups}, most preferred first. */
  public ServerOptions withGroups(List<String> groups) {
    return new ServerOptions(host, port, groups, tickets, delayNanos, threads, tls);
  }

  /** A copy that offers exactly {@code groups}, most preferred first. */
  public ServerOptions withGroups(String... groups) {
    return withGroups(List.of(groups));
  }

  /** A copy that issues and accepts session tickets, or does neither. */
  public ServerOptions withTickets(boolean tickets) {
    return new ServerOptions(host, port, groups, tickets, delayNanos, threads, tls);
  }

  /** A copy that holds each answer back for {@code delayNanos} nanoseconds. */
  public ServerOptions withDelayNanos(long delayNanos) {
    return new ServerOptions(host, port, groups, tickets, delayNanos, threads, tls);
  }

  /** A copy that runs {@code threads} event loops. */
  public ServerOptions withThreads(int threads) {
    return new ServerOptions(host, port, groups, tickets, delayNanos, threads, tls);
  }

  /** A copy that speaks only {@code tls}, {@code "1.3"} or {@code "1.2"}. */
  public ServerOptions withTls(String tls) {
    return new ServerOptions(host, port, groups, tickets, delayNanos, threads, tls);
  }
}

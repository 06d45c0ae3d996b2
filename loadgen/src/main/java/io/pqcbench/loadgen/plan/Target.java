package io.pqcbench.loadgen.plan;

import java.net.URI;
import java.net.URISyntaxException;

/**
 * Where the load goes.
 *
 * @param host a name, or an address without brackets; not empty
 * @param port from 1 to 65535
 * @param path the request path with its query, beginning with a slash
 */
public record Target(String host, int port, String path) {

  private static final int HTTPS_PORT = 443;

  public Target {
    if (host.isEmpty()) {
      throw new IllegalArgumentException(
          "target needs a host, as in example.org:443 or [2001:db8::1]:443: host=''");
    }
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("target port must be from 1 to 65535: port=" + port);
    }
  }

  /**
   * Parses a target.
   *
   * @param text {@code host:port}, {@code host} (port 443), {@code [v6]:port} or {@code
   *     https://host[:port][/path]}
   * @throws IllegalArgumentException with a message that shows the text and the forms that are
   *     understood
   */
  public static Target parse(String text) {
    String rest = text.strip();
    if (rest.regionMatches(true, 0, "http://", 0, 7)) {
      throw new IllegalArgumentException(
          "this client measures TLS handshakes, so the target must be https: target=" + text);
    }
    if (rest.regionMatches(true, 0, "https://", 0, 8)) {
      rest = rest.substring(8);
    } else if (rest.contains("://")) {
      throw new IllegalArgumentException(
          "target must be host:port or https://host[:port][/path]: target=" + text);
    }
    if (rest.chars().filter(c -> c == ':').count() > 1 && !rest.startsWith("[")) {
      throw new IllegalArgumentException(
          "an IPv6 address needs brackets, as in [2001:db8::1]:443: target=" + text);
    }
    URI uri;
    try {
      uri = new URI("https://" + rest);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          "target is not host:port or https://host[:port][/path]: target=" + text, e);
    }
    String authority = uri.getRawAuthority() == null ? "" : uri.getRawAuthority();
    // URI leaves host and port unset for names with an underscore and for ports that are not
    // numbers.
    int colon =
        authority.startsWith("[")
            ? authority.indexOf(':', authority.indexOf(']'))
            : authority.lastIndexOf(':');
    String host = colon >= 0 ? authority.substring(0, colon) : authority;
    int port = colon >= 0 ? port(authority.substring(colon + 1), text) : HTTPS_PORT;
    if (host.contains("@")) {
      throw new IllegalArgumentException("target must not hold a user name: target=" + text);
    }
    if (host.startsWith("[") && host.endsWith("]")) {
      host = host.substring(1, host.length() - 1);
    }
    String path = uri.getRawPath().isEmpty() ? "/" : uri.getRawPath();
    return new Target(
        host, port, uri.getRawQuery() == null ? path : path + "?" + uri.getRawQuery());
  }

  private static int port(String digits, String text) {
    try {
      return Integer.parseInt(digits);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "target port must be a number from 1 to 65535: target=" + text, e);
    }
  }

  /** Returns {@code host:port}, with brackets around an IPv6 address. */
  public String authority() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }
}

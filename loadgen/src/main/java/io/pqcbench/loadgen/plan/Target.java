package io.pqcbench.loadgen.plan;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where the load goes.
 *
 * @param host a name, or an address without brackets; not empty
 * @param port from 1 to 65535
 * @param path the request path with its query, beginning with a slash
 * @param connectHost where the connection really goes; names, certificate check and Host header
 *     stay those of {@code host}
 * @param connectPort from 1 to 65535
 */
public record Target(String host, int port, String path, String connectHost, int connectPort) {

  private static final int HTTPS_PORT = 443;

  private static final Pattern CONNECT_TO =
      Pattern.compile("(\\[[^\\]]+]|[^:]*):([0-9]{0,5}):(\\[[^\\]]+]|[^:]*):([0-9]{0,5})");

  public Target {
    if (host.isEmpty()) {
      throw new IllegalArgumentException(
          "target needs a host, as in example.org:443 or [2001:db8::1]:443: host=''");
    }
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("target port must be from 1 to 65535: port=" + port);
    }
  }

  /** A target that is connected to under its own name. */
  public Target(String host, int port, String path) {
    this(host, port, path, host, port);
  }

  /**
   * Returns this target with the connection redirected, if the rule is for it.
   *
   * @param rule as curl's --connect-to has it: {@code HOST1:PORT1:HOST2:PORT2}, addresses of IPv6
   *     in brackets; an empty first half is for every target, an empty part of the second changes
   *     nothing
   * @throws IllegalArgumentException if it has another form
   */
  public Target connectTo(String rule) {
    Matcher matcher = CONNECT_TO.matcher(rule);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(
          "--connect-to must be HOST1:PORT1:HOST2:PORT2, parts may be empty: connectTo='"
              + rule
              + "'");
    }
    String fromHost = unbracketed(matcher.group(1));
    String fromPort = matcher.group(2);
    if ((!fromHost.isEmpty() && !fromHost.equalsIgnoreCase(host))
        || (!fromPort.isEmpty() && Integer.parseInt(fromPort) != port)) {
      return this;
    }
    String toHost = unbracketed(matcher.group(3));
    int toPort = matcher.group(4).isEmpty() ? port : Integer.parseInt(matcher.group(4));
    if (toPort < 1 || toPort > 65_535) {
      throw new IllegalArgumentException(
          "--connect-to has a port that is none: port=" + toPort + " connectTo='" + rule + "'");
    }
    return new Target(host, port, path, toHost.isEmpty() ? host : toHost, toPort);
  }

  private static String unbracketed(String name) {
    return name.startsWith("[") ? name.substring(1, name.length() - 1) : name;
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

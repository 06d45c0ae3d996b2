package io.pqcbench.loadgen.handshake;

import io.pqcbench.loadgen.plan.LoadPlan;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The header by which a proxy tells a server whose connection it forwards: HAProxy's PROXY
 * protocol, sections 2.1 and 2.2 (haproxy.org, doc/proxy-protocol.txt). This client speaks for
 * itself, so the addresses are those of its own connection.
 */
final class ProxyHeader {

  private static final byte[] SIGNATURE = {
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A
  };

  /** Version 2, command PROXY. */
  private static final byte VERSION_AND_COMMAND = 0x21;

  private static final byte TCP_OVER_IPV4 = 0x11;
  private static final byte TCP_OVER_IPV6 = 0x21;
  private static final int IPV4_BYTES = 4;

  private ProxyHeader() {}

  /**
   * Writes a header to the beginning of a buffer.
   *
   * @param version not {@link LoadPlan.ProxyProtocol#NONE}
   * @param from the connection's own address
   * @param to the server's, of the same family
   * @return its length, at most 107 bytes
   */
  static int write(
      LoadPlan.ProxyProtocol version,
      InetSocketAddress from,
      InetSocketAddress to,
      ByteBuffer buffer) {
    byte[] source = from.getAddress().getAddress();
    byte[] destination = to.getAddress().getAddress();
    boolean ipv4 = source.length == IPV4_BYTES;
    buffer.clear();
    if (version == LoadPlan.ProxyProtocol.V1) {
      String line =
          "PROXY "
              + (ipv4 ? "TCP4 " : "TCP6 ")
              + text(from)
              + ' '
              + text(to)
              + ' '
              + from.getPort()
              + ' '
              + to.getPort()
              + "\r\n";
      buffer.put(line.getBytes(StandardCharsets.US_ASCII));
    } else {
      // Not put as shorts, because the buffer has the machine's order.
      int length = source.length + destination.length + 4;
      buffer.put(SIGNATURE).put(VERSION_AND_COMMAND).put(ipv4 ? TCP_OVER_IPV4 : TCP_OVER_IPV6);
      buffer.put((byte) 0).put((byte) length).put(source).put(destination);
      buffer.put((byte) (from.getPort() >> 8)).put((byte) from.getPort());
      buffer.put((byte) (to.getPort() >> 8)).put((byte) to.getPort());
    }
    int length = buffer.position();
    buffer.clear();
    return length;
  }

  /** Without the zone that a link-local address has on this machine. */
  private static String text(InetSocketAddress address) {
    String text = address.getAddress().getHostAddress();
    int zone = text.indexOf('%');
    return zone < 0 ? text : text.substring(0, zone);
  }
}

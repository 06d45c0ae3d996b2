package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.plan.LoadPlan.ProxyProtocol;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class ProxyHeaderTest {

  private static byte[] header(
      ProxyProtocol version, String from, int fromPort, String to, int toPort) throws Exception {
    ByteBuffer buffer = ByteBuffer.allocate(200).order(ByteOrder.LITTLE_ENDIAN);
    int length =
        ProxyHeader.write(
            version,
            new InetSocketAddress(InetAddress.getByName(from), fromPort),
            new InetSocketAddress(InetAddress.getByName(to), toPort),
            buffer);
    byte[] written = new byte[length];
    buffer.get(0, written);
    return written;
  }

  private static String text(byte[] header) {
    return new String(header, StandardCharsets.US_ASCII);
  }

  @Test
  void versionOneIsALine() throws Exception {
    assertThat(text(header(ProxyProtocol.V1, "192.0.2.1", 40_000, "198.51.100.2", 443)))
        .isEqualTo("PROXY TCP4 192.0.2.1 198.51.100.2 40000 443\r\n");
    assertThat(text(header(ProxyProtocol.V1, "2001:db8::1", 40_000, "2001:db8::2", 443)))
        .isEqualTo("PROXY TCP6 2001:db8:0:0:0:0:0:1 2001:db8:0:0:0:0:0:2 40000 443\r\n");
  }

  @Test
  void versionTwoIsBinaryInNetworkOrder() throws Exception {
    String signature = "0d0a0d0a000d0a515549540a";
    assertThat(header(ProxyProtocol.V2, "192.0.2.1", 40_000, "198.51.100.2", 443))
        .hasSize(28)
        .asHexString()
        .isEqualToIgnoringCase(signature + "2111000c" + "c0000201c6336402" + "9c4001bb");
    assertThat(header(ProxyProtocol.V2, "2001:db8::1", 40_000, "2001:db8::2", 443))
        .hasSize(52)
        .asHexString()
        .isEqualToIgnoringCase(
            signature
                + "21210024"
                + "20010db8000000000000000000000001"
                + "20010db8000000000000000000000002"
                + "9c4001bb");
  }

  @Test
  void aZoneOfThisMachineMeansNothingToOthers() throws Exception {
    String line = text(header(ProxyProtocol.V1, "fe80::1%1", 1, "fe80::2%1", 2));
    assertThat(line).isEqualTo("PROXY TCP6 fe80:0:0:0:0:0:0:1 fe80:0:0:0:0:0:0:2 1 2\r\n");
    assertThat(HexFormat.of().formatHex(header(ProxyProtocol.V2, "fe80::1%1", 1, "fe80::2%1", 2)))
        .hasSize(104);
  }
}

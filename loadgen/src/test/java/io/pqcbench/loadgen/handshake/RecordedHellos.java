package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/** The literal bytes of hellos.hex, and every fact that a scanner can tell about some bytes. */
final class RecordedHellos {
  private static final Map<String, byte[]> BYTES = load();

  private RecordedHellos() {}

  static Set<String> names() {
    return BYTES.keySet();
  }

  static byte[] bytes(String name) {
    return BYTES.get(name).clone();
  }

  static HelloScanner<?> scannerFor(String name) {
    return name.startsWith("client") ? HelloScanner.ofClient() : HelloScanner.ofServer();
  }

  /** Everything observable, so that two scanners can be compared. */
  static String facts(HelloScanner<?> scanner) {
    StringBuilder facts = new StringBuilder();
    add(facts, "complete", scanner.helloComplete());
    add(facts, "settled", scanner.settled());
    add(facts, "notTls", scanner.notTls());
    add(facts, "firstBytes", scanner.firstBytes());
    add(facts, "malformed", scanner.malformed());
    add(facts, "alert", scanner.alertLevel() + "/" + scanner.alertDescription());
    add(facts, "bytes", scanner.helloBytes() + "/" + scanner.recordBytes());
    if (scanner.hello() instanceof ServerHello server) {
      add(facts, "retries", server.helloRetryRequests() + "/" + server.retryGroup());
      add(facts, "cipherSuite", server.cipherSuite());
      add(facts, "version", server.version());
      add(facts, "keyShare", server.group() + "/" + server.keyShareBytes());
      add(facts, "psk", server.pskSelected());
    } else if (scanner.hello() instanceof ClientHello client) {
      add(facts, "hellos", client.clientHellos());
      add(facts, "groups", client.offeredGroups());
      for (int i = -1; i <= ClientHello.MAX_GROUPS; i++) {
        add(facts, "group " + i, client.offeredGroup(i));
      }
      add(facts, "shares", client.keyShares());
      for (int i = -1; i <= ClientHello.MAX_KEY_SHARES; i++) {
        add(facts, "share " + i, client.keyShareGroup(i) + "/" + client.keyShareLength(i));
      }
      add(facts, "psk", client.pskOffered());
      add(facts, "serverName", client.serverNameSent() + "/" + client.serverName());
    }
    return facts.toString();
  }

  static String facts(HelloScanner<?> scanner, byte[] bytes) {
    scanner.scan(Unpooled.wrappedBuffer(bytes));
    return facts(scanner);
  }

  /** Feeds {@code bytes} in pieces, each a buffer with nothing outside its readable bytes. */
  static String facts(HelloScanner<?> scanner, byte[] bytes, Iterable<Integer> pieces) {
    int pos = 0;
    for (int piece : pieces) {
      int length = Math.min(piece, bytes.length - pos);
      scanner.scan(exactly(bytes, pos, length));
      pos += length;
    }
    scanner.scan(exactly(bytes, pos, bytes.length - pos));
    return facts(scanner);
  }

  private static ByteBuf exactly(byte[] bytes, int from, int length) {
    return Unpooled.wrappedBuffer(bytes, from, length);
  }

  private static void add(StringBuilder facts, String name, Object value) {
    facts.append(name).append('=').append(value).append('\n');
  }

  private static Map<String, byte[]> load() {
    Map<String, StringBuilder> hex = new LinkedHashMap<>();
    StringBuilder current = new StringBuilder();
    for (String line : text().split("\n", -1)) {
      if (line.startsWith("[")) {
        current = new StringBuilder();
        hex.put(line.substring(1, line.length() - 1), current);
      } else if (!line.startsWith("#")) {
        current.append(line);
      }
    }
    Map<String, byte[]> bytes = new LinkedHashMap<>();
    hex.forEach((name, digits) -> bytes.put(name, HexFormat.of().parseHex(digits)));
    return bytes;
  }

  private static String text() {
    try (InputStream in = RecordedHellos.class.getResourceAsStream("hellos.hex")) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

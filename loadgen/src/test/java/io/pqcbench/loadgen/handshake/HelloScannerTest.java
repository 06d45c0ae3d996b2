package io.pqcbench.loadgen.handshake;

import static io.pqcbench.loadgen.handshake.RecordedHellos.facts;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HelloScannerTest {
  private static final int X25519 = 0x001d;
  private static final int P256 = 0x0017;
  private static final int X25519_MLKEM768 = 0x11ec;
  private static final String RANDOM =
      "4242424242424242424242424242424242424242424242424242424242424242";
  private static final String RETRY_RANDOM =
      "cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c";

  private final HelloScanner<ServerHello> server = HelloScanner.ofServer();
  private final HelloScanner<ClientHello> client = HelloScanner.ofClient();

  @Nested
  class WithLiveEngines {
    @ParameterizedTest
    @CsvSource({
      "X25519,         29,   32,   32,   198,  127",
      "X25519MLKEM768, 4588, 1216, 1120, 1382, 1215",
      "P-256,          23,   65,   65,   231,  160"
    })
    void readsWhatBothSidesSentForTheOnlyGroup(
        String group,
        int code,
        int clientShare,
        int serverShare,
        int clientRecord,
        int serverRecord)
        throws Exception {
      scan(EnginePair.tls13(List.of(group), List.of(group)));

      assertThat(client.helloComplete()).isTrue();
      assertThat(client.settled()).as("at application data").isTrue();
      assertThat(client.recordBytes()).isEqualTo(clientRecord);
      assertThat(client.helloBytes()).isEqualTo(clientRecord - 9);
      assertThat(client.hello().clientHellos()).isOne();
      assertThat(client.hello().serverName()).isEqualTo(EnginePair.HOST);
      assertThat(client.hello().offeredGroups()).isOne();
      assertThat(client.hello().offeredGroup(0)).isEqualTo(code);
      assertThat(client.hello().keyShares()).isOne();
      assertThat(client.hello().keyShareGroup(0)).isEqualTo(code);
      assertThat(client.hello().keyShareLength(0)).isEqualTo(clientShare);
      assertThat(client.hello().pskOffered()).isFalse();
      assertThat(server.helloComplete()).isTrue();
      assertThat(server.recordBytes()).isEqualTo(serverRecord);
      assertThat(server.helloBytes()).isEqualTo(serverRecord - 9);
      assertThat(server.hello().helloRetryRequests()).isZero();
      assertThat(server.hello().retryGroup()).isEqualTo(-1);
      assertThat(server.hello().version()).isEqualTo(0x0304);
      assertThat(server.hello().cipherSuite()).isBetween(0x1301, 0x1303);
      assertThat(server.hello().group()).isEqualTo(code);
      assertThat(server.hello().keyShareBytes()).isEqualTo(serverShare);
      assertThat(server.hello().pskSelected()).isFalse();
    }

    @Test
    void countsTwoSharesWhenAClassicalAndAHybridGroupAreListed() throws Exception {
      scan(EnginePair.tls13(List.of("X25519MLKEM768", "X25519"), List.of("X25519")));

      assertThat(client.recordBytes()).isEqualTo(1420);
      assertThat(client.hello().offeredGroups()).isEqualTo(2);
      assertThat(client.hello().offeredGroup(1)).isEqualTo(X25519);
      assertThat(client.hello().keyShares()).isEqualTo(2);
      assertThat(client.hello().keyShareGroup(0)).isEqualTo(X25519_MLKEM768);
      assertThat(client.hello().keyShareLength(0)).isEqualTo(1216);
      assertThat(client.hello().keyShareGroup(1)).isEqualTo(X25519);
      assertThat(client.hello().keyShareLength(1)).isEqualTo(32);
      assertThat(server.hello().group()).isEqualTo(X25519);
    }

    @Test
    void goesOnToTheServerHelloAfterAHelloRetryRequest() throws Exception {
      scan(EnginePair.tls13(List.of("X25519", "P-256"), List.of("P-256")));

      assertThat(server.hello().helloRetryRequests()).isOne();
      assertThat(server.hello().retryGroup()).isEqualTo(P256);
      assertThat(server.helloComplete()).isTrue();
      assertThat(server.hello().group()).isEqualTo(P256);
      assertThat(server.hello().keyShareBytes()).isEqualTo(65);
      assertThat(client.hello().clientHellos()).isEqualTo(2);
      assertThat(client.recordBytes()).isEqualTo(200);
      assertThat(client.hello().keyShareGroup(0)).as("of the first hello").isEqualTo(X25519);
    }

    @Test
    void tellsAResumedHandshakeByThePreSharedKey() throws Exception {
      try (EnginePair engines = EnginePair.tls13(List.of("X25519"), List.of("X25519")).resuming()) {
        engines.handshake();
        scan(engines.handshake());
      }

      assertThat(client.hello().pskOffered()).isTrue();
      assertThat(server.hello().pskSelected()).isTrue();
      assertThat(server.hello().group()).isEqualTo(X25519);
    }

    @Test
    void readsTheAlertOfAServerWithoutACommonGroup() throws Exception {
      scan(EnginePair.tls13(List.of("X25519"), List.of("P-256")));

      assertThat(server.alertLevel()).isEqualTo(2);
      assertThat(server.alertDescription()).as("handshake_failure").isEqualTo(40);
      assertThat(server.helloComplete()).isFalse();
      assertThat(server.malformed()).isFalse();
    }

    @Test
    void readsATls12HandshakeInWhichNoKeyShareExists() throws Exception {
      List<String> groups = List.of("X25519", "P-256");
      scan(EnginePair.of("TLSv1.2", groups, groups));

      assertThat(server.hello().version()).isEqualTo(0x0303);
      assertThat(server.hello().cipherSuite()).isGreaterThan(0xc000);
      assertThat(server.hello().group()).isEqualTo(-1);
      assertThat(server.hello().keyShareBytes()).isEqualTo(-1);
      assertThat(client.hello().offeredGroups()).isEqualTo(2);
      assertThat(client.hello().keyShares()).isZero();
      assertThat(client.hello().clientHellos()).isOne();
      assertThat(client.malformed()).isFalse();
    }

    private void scan(EnginePair engines) throws Exception {
      try (engines) {
        scan(engines.handshake());
      }
    }

    private void scan(EnginePair.Wire wire) {
      client.scan(wire.client());
      server.scan(wire.server());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "X25519,            29,   32,   0x1301, 0, false",
    "X25519MLKEM768,    4588, 1120, 0x1301, 0, false",
    "HelloRetryRequest, 23,   65,   0x1301, 1, false",
    "resumed,           29,   32,   0x1301, 0, true",
    "TLS 1.2,           -1,   -1,   0xc02c, 0, false"
  })
  void readsARecordedServerHello(
      String name, int group, int share, int cipherSuite, int retries, boolean psk) {
    server.scan(Unpooled.wrappedBuffer(RecordedHellos.bytes("server, " + name)));

    assertThat(server.helloComplete()).isTrue();
    assertThat(server.hello().group()).isEqualTo(group);
    assertThat(server.hello().keyShareBytes()).isEqualTo(share);
    assertThat(server.hello().cipherSuite()).isEqualTo(cipherSuite);
    assertThat(server.hello().helloRetryRequests()).isEqualTo(retries);
    assertThat(server.hello().pskSelected()).isEqualTo(psk);
  }

  @ParameterizedTest
  @CsvSource({
    "X25519,            198,  1, 1, 29,   32,   false",
    "X25519MLKEM768,    1382, 1, 1, 4588, 1216, false",
    "HelloRetryRequest, 200,  2, 1, 29,   32,   false",
    "resumed,           517,  1, 1, 29,   32,   true",
    "TLS 1.2,           140,  1, 0, -1,   -1,   false"
  })
  void readsARecordedClientHello(
      String name, int record, int hellos, int shares, int group, int share, boolean psk) {
    client.scan(Unpooled.wrappedBuffer(RecordedHellos.bytes("client, " + name)));

    assertThat(client.helloComplete()).isTrue();
    assertThat(client.recordBytes()).isEqualTo(record);
    assertThat(client.hello().clientHellos()).isEqualTo(hellos);
    assertThat(client.hello().keyShares()).isEqualTo(shares);
    assertThat(client.hello().keyShareGroup(0)).isEqualTo(group);
    assertThat(client.hello().keyShareLength(0)).isEqualTo(share);
    assertThat(client.hello().pskOffered()).isEqualTo(psk);
    assertThat(client.hello().serverName()).isEqualTo(EnginePair.HOST);
  }

  @Test
  void recognisesAHelloRetryRequestByItsRandom() {
    byte[] recorded = RecordedHellos.bytes("server, HelloRetryRequest");
    int record = 5 + 88;

    server.scan(Unpooled.wrappedBuffer(recorded, 0, record));

    assertThat(HexFormat.of().formatHex(recorded, 11, 43)).isEqualTo(RETRY_RANDOM);
    assertThat(server.hello().helloRetryRequests()).isOne();
    assertThat(server.hello().retryGroup()).isEqualTo(P256);
    assertThat(server.helloComplete()).isFalse();
    assertThat(server.settled()).isFalse();
    assertThat(server.hello().cipherSuite()).as("provisional").isEqualTo(-1);
    assertThat(server.hello().group()).isEqualTo(-1);
  }

  @Test
  void rejectsASecondHelloRetryRequest() {
    String retry = record(22, serverHello(RETRY_RANDOM, "00330002" + "0017"));

    scan(server, retry, "140303000101", retry);

    assertThat(server.malformed()).isTrue();
    assertThat(server.hello().helloRetryRequests()).isOne();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 40, 121})
  void joinsAHelloThatIsSplitOverRecords(int recordLength) {
    String hello = serverHello(RANDOM, "002b00020304" + "00330024001d0020" + "77".repeat(32));
    StringBuilder records = new StringBuilder();
    for (int i = 0; i < hello.length(); i += 2 * recordLength) {
      records.append(
          record(22, hello.substring(i, Math.min(hello.length(), i + 2 * recordLength))));
      records.append(record(22, "")); // Forbidden, but no reason to stumble.
    }

    scan(server, records.toString());

    assertThat(server.helloComplete()).isTrue();
    assertThat(server.hello().version()).isEqualTo(0x0304);
    assertThat(server.hello().group()).isEqualTo(X25519);
    assertThat(server.hello().keyShareBytes()).isEqualTo(32);
    assertThat(server.recordBytes()).isEqualTo(5 + Math.min(recordLength, hello.length() / 2));
  }

  @Test
  void readsAServerHelloThatSharesItsRecordWithOtherMessages() {
    String certificate = "0b000080" + "000000".repeat(43);
    String record = record(22, serverHello(RANDOM, null) + certificate + "0e000000");

    for (int cut = 0; cut <= record.length(); cut += 2) {
      server.reset();
      scan(server, record.substring(0, cut), record.substring(cut));

      assertThat(server.helloComplete()).isTrue();
      assertThat(server.hello().version()).isEqualTo(0x0303);
      assertThat(server.hello().cipherSuite()).isEqualTo(0x1301);
      assertThat(server.recordBytes()).isEqualTo(record.length() / 2);
    }
  }

  @Test
  void leavesGreaseOut() {
    String groups = vector("fafa" + "001d" + "0a0a" + "0a1a");
    String shares = vector("3a3a" + vector("00") + "001d" + vector("77".repeat(32)));

    scan(client, record(22, clientHello(extension(10, groups) + extension(51, shares))));

    assertThat(client.hello().offeredGroups()).isEqualTo(2);
    assertThat(client.hello().offeredGroup(0)).isEqualTo(X25519);
    assertThat(client.hello().offeredGroup(1)).as("not GREASE").isEqualTo(0x0a1a);
    assertThat(client.hello().keyShares()).isOne();
    assertThat(client.hello().keyShareGroup(0)).isEqualTo(X25519);
  }

  @Test
  void countsGroupsAndSharesBeyondThoseItKeeps() {
    String groups = vector("0100".repeat(40));
    String shares = vector(("0100" + vector("77")).repeat(12));

    scan(client, record(22, clientHello(extension(10, groups) + extension(51, shares))));

    assertThat(client.hello().offeredGroups()).isEqualTo(40);
    assertThat(client.hello().offeredGroup(31)).isEqualTo(0x0100);
    assertThat(client.hello().offeredGroup(32)).isEqualTo(-1);
    assertThat(client.hello().keyShares()).isEqualTo(12);
    assertThat(client.hello().keyShareLength(7)).isOne();
    assertThat(client.hello().keyShareLength(8)).isEqualTo(-1);
  }

  @ParameterizedTest
  @CsvSource({"666f6f2e, foo.", "610a5c, a\\x0a\\x5c"})
  void escapesTheServerName(String name, String text) {
    scan(client, record(22, clientHello(extension(0, vector("00" + vector(name))))));

    assertThat(client.hello().serverName()).isEqualTo(text);
  }

  @Test
  void cutsAServerNameThatIsLongerThanADnsNameCanBe() {
    String name = "61".repeat(300);

    scan(client, record(22, clientHello(extension(0, vector("00" + vector(name))))));

    assertThat(client.hello().serverName()).isEqualTo("a".repeat(255));
  }

  @Test
  void knowsNoServerNameIfNoneWasSent() {
    scan(client, record(22, clientHello("")));

    assertThat(client.helloComplete()).isTrue();
    assertThat(client.hello().serverNameSent()).isFalse();
    assertThat(client.hello().serverName()).isNull();
  }

  @Test
  void showsAnHttpAnswerInsteadOfTls() {
    String answer = "HTTP/1.1 400 Bad Request\r\n\r\n";

    server.scan(Unpooled.copiedBuffer(answer, StandardCharsets.US_ASCII));

    assertThat(server.notTls()).isTrue();
    assertThat(server.malformed()).isFalse();
    assertThat(server.settled()).isTrue();
    assertThat(server.firstBytes()).isEqualTo("HTTP/1.1 400 Bad");
  }

  @ParameterizedTest
  @CsvSource({"160203, \\x16\\x02\\x03", "00, \\x00", "1804, \\x18\\x04", "1403030000, ''"})
  void takesForTlsOnlyWhatBeginsLikeARecord(String bytes, String shown) {
    scan(server, bytes);

    assertThat(server.notTls()).isEqualTo(!shown.isEmpty());
    assertThat(server.firstBytes()).isEqualTo(shown);
  }

  @ParameterizedTest
  @CsvSource({
    "15030300020228, 2, 40",
    "15030300020170 15030300020100, 1, 0",
    "150303000228, -1, -1"
  })
  void readsPlaintextAlerts(String bytes, int level, int description) {
    scan(server, bytes.split(" ", -1));

    assertThat(server.alertLevel()).isEqualTo(level);
    assertThat(server.alertDescription()).isEqualTo(description);
  }

  @Test
  void takesNoEncryptedAlertForAPlaintextOne() {
    scan(server, record(21, "02".repeat(19)));

    assertThat(server.alertLevel()).isEqualTo(-1);
    assertThat(server.malformed()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1603034001", // record of 2^14 + 1 bytes
        "1703030010", // application data before any hello
        "14030300010116020300", // second record with another major version
        "160303000401000026", // not a ServerHello
        "160303000402004001", // message of 2^14 + 1 bytes
        "160303000402000025" // message that is too short for a ServerHello
      })
  void rejectsWhatCannotLeadToAServerHello(String bytes) {
    scan(server, bytes);

    assertThat(server.malformed()).isTrue();
    assertThat(server.settled()).isTrue();
    assertThat(server.helloComplete()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "002b000103", // supported_versions of one byte
        "002b00020304" + "0029000100", // pre_shared_key of one byte
        "0033000400170000", // key_share with an empty key_exchange
        "0033000600170003aabb", // key_exchange longer than its extension
        "003300020017", // key_share of a HelloRetryRequest
        "00330006001700", // extension longer than the list
        "002b00" // list ends within an extension's header
      })
  void leavesNoFactsBehindIfAServerHelloBreaksItsLengths(String extensions) {
    scan(server, record(22, serverHello(RANDOM, extensions)));

    assertThat(server.malformed()).isTrue();
    assertThat(server.hello().cipherSuite()).isEqualTo(-1);
    assertThat(server.hello().version()).isEqualTo(-1);
    assertThat(server.hello().group()).isEqualTo(-1);
    assertThat(server.hello().pskSelected()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "000a0004000400", // group list longer than its extension
        "000a000500030017aa", // half a group
        "003300080006001d0003aabb", // key_exchange longer than the list
        "00330007000600170001aa", // list longer than its extension
        "003300060004001d0000", // empty key_exchange
        "000000050003000001", // server name longer than its list
        "000000020000" // no server name at all
      })
  void leavesNoFactsBehindIfAClientHelloBreaksItsLengths(String extensions) {
    String groups = extension(10, vector("001d")) + extension(41, "");

    scan(client, record(22, clientHello(groups + extensions)));

    assertThat(client.malformed()).isTrue();
    assertThat(client.hello().clientHellos()).isZero();
    assertThat(client.hello().offeredGroups()).isZero();
    assertThat(client.hello().pskOffered()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "21" + RANDOM + "42" + "130100", // session ID of 33 bytes
        "05" + "130100", // session ID longer than the message
        "01" + "130100", // nothing left for the compression method
        "02" + "130100" // nothing left for all of the cipher suite
      })
  void rejectsAServerHelloWithoutRoomForItsFields(String fields) {
    scan(server, record(22, message(2, "0303" + RANDOM + fields)));

    assertThat(server.malformed()).isTrue();
    assertThat(server.hello().version()).isEqualTo(-1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "21" + RANDOM + "42" + "000213010100", // session ID of 33 bytes
        "07" + "000213010100", // session ID longer than the message
        "05" + "000213010100", // nothing left for the length of the cipher suites
        "00" + "000413010100", // cipher suites up to the end
        "00" + "0000" + "0100" + "0000", // no cipher suites
        "00" + "0003130101" + "0100", // half a cipher suite
        "00" + "000213010200", // compression methods longer than the message
        "00" + "0002130100" + "0000" // no compression methods
      })
  void rejectsAClientHelloWithoutRoomForItsFields(String fields) {
    scan(client, record(22, message(1, "0303" + RANDOM + fields)));

    assertThat(client.malformed()).isTrue();
    assertThat(client.hello().clientHellos()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "140000", // neither a hello
        "01ffffff", // nor one of this length
        "0100003e" // nor one with this version, but all could be the beginning of a Finished
      })
  void doesNotCallTheCiphertextOfTls12Malformed(String start) {
    String finished = record(22, start + RANDOM + RANDOM);

    scan(client, record(22, clientHello("")), "140303000101", finished);

    assertThat(client.helloComplete()).isTrue();
    assertThat(client.settled()).isTrue();
    assertThat(client.malformed()).isFalse();
    assertThat(client.hello().clientHellos()).isOne();
  }

  @Test
  void stopsAfter64KiBWithoutAHello() {
    String records = "140303000101".repeat(10_922); // 65,532 bytes

    scan(server, records);
    assertThat(server.settled()).isFalse();
    scan(server, "14030300");
    assertThat(server.malformed()).isTrue();

    scan(client, record(22, clientHello("")), records);
    assertThat(client.settled()).isTrue();
    assertThat(client.malformed()).isFalse();
  }

  @Test
  void ignoresWhateverFollowsTheServerHello() {
    byte[] hello = RecordedHellos.bytes("server, X25519");
    String before = facts(server, hello);

    scan(server, "ff".repeat(100), "15030300020228");

    assertThat(facts(server)).isEqualTo(before);
  }

  @Test
  void allocatesNothingForAHelloInOneBuffer() {
    ByteBuf fromClient = direct(RecordedHellos.bytes("client, X25519MLKEM768"));
    ByteBuf fromServer = direct(RecordedHellos.bytes("server, X25519MLKEM768"));
    Runnable scans =
        () -> {
          for (int i = 0; i < 10_000; i++) {
            client.reset();
            client.scan(fromClient);
            server.reset();
            server.scan(fromServer);
          }
        };

    assertThat(leastAllocatedBy(scans)).isZero();
    assertThat(client.helloComplete() && server.helloComplete()).isTrue();
    fromClient.release();
    fromServer.release();
  }

  @Test
  void allocatesNoMoreThanTheLargestHelloForASplitOne() {
    long largest = HelloScanner.MAX_MESSAGE;
    ByteBuf start = direct(HexFormat.of().parseHex("1603034000" + "02004000" + "0303"));
    Runnable scan =
        () -> {
          server.reset();
          server.scan(start);
        };

    assertThat(leastAllocatedBy(scan)).isBetween(largest, largest + 1_000);
    assertThat(server.settled()).isFalse();
    start.release();
  }

  /**
   * Bytes that this thread allocates in {@code task} every time. When the JIT swaps code, a round
   * now and then gets a few thousand bytes once, which are not the task's; hence the least of ten.
   */
  private static long leastAllocatedBy(Runnable task) {
    task.run();
    return LongStream.range(0, 10).map(round -> allocatedBy(task)).min().getAsLong();
  }

  /** Bytes allocated by this thread in {@code task}, without those of asking. */
  private static long allocatedBy(Runnable task) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(id);
    long asked = threads.getThreadAllocatedBytes(id);
    task.run();
    return threads.getThreadAllocatedBytes(id) - asked - (asked - before);
  }

  private static ByteBuf direct(byte[] bytes) {
    return Unpooled.directBuffer(bytes.length).writeBytes(bytes);
  }

  private static void scan(HelloScanner<?> scanner, String... hex) {
    for (String buffer : hex) {
      scanner.scan(Unpooled.wrappedBuffer(HexFormat.of().parseHex(buffer)));
    }
  }

  /** A message with these extensions, or none at all if null. */
  private static String serverHello(String random, String extensions) {
    return message(
        2, "0303" + random + "00" + "1301" + "00" + (extensions == null ? "" : vector(extensions)));
  }

  private static String clientHello(String extensions) {
    return message(1, "0303" + RANDOM + "00" + vector("1301") + "0100" + vector(extensions));
  }

  private static String message(int type, String body) {
    return String.format("%02x%06x%s", type, body.length() / 2, body);
  }

  private static String record(int type, String payload) {
    return String.format("%02x0303%s", type, vector(payload));
  }

  private static String extension(int type, String body) {
    return String.format("%04x%s", type, vector(body));
  }

  /** Hex with its length in bytes, as two bytes, in front. */
  private static String vector(String hex) {
    return String.format("%04x%s", hex.length() / 2, hex);
  }
}

package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class Http2ReaderTest {

  private static final int DATA = 0;
  private static final int HEADERS = 1;
  private static final int PRIORITY = 2;
  private static final int RST_STREAM = 3;
  private static final int SETTINGS = 4;
  private static final int PUSH_PROMISE = 5;
  private static final int PING = 6;
  private static final int GOAWAY = 7;
  private static final int WINDOW_UPDATE = 8;
  private static final int CONTINUATION = 9;

  private static final int END_STREAM = 0x1;
  private static final int ACK = 0x1;
  private static final int END_HEADERS = 0x4;
  private static final int PADDED = 0x8;
  private static final int PRIORITISED = 0x20;

  /** One connection of a server, which keeps one table of headers as real ones do. */
  private static final class Server {
    private final ByteBuf bytes = Unpooled.buffer();
    private final DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();

    Server frame(int type, int flags, int stream, byte... payload) {
      bytes.writeMedium(payload.length).writeByte(type).writeByte(flags).writeInt(stream);
      bytes.writeBytes(payload);
      return this;
    }

    Server settings() {
      return frame(SETTINGS, 0, 0, (byte) 0, (byte) 3, (byte) 0, (byte) 0, (byte) 0, (byte) 100);
    }

    Server headers(int stream, int flags, String... namesAndValues) {
      return frame(HEADERS, flags, stream, block(namesAndValues));
    }

    byte[] block(String... namesAndValues) {
      Http2Headers headers = new DefaultHttp2Headers(/* validate= */ false);
      for (int i = 0; i < namesAndValues.length; i += 2) {
        headers.add(namesAndValues[i], namesAndValues[i + 1]);
      }
      ByteBuf block = Unpooled.buffer();
      try {
        encoder.encodeHeaders(1, headers, block);
      } catch (Http2Exception e) {
        throw new IllegalStateException(e);
      }
      return ByteBufUtil.getBytes(block);
    }

    Server data(int stream, int flags, int length) {
      return frame(DATA, flags, stream, new byte[length]);
    }

    byte[] take() {
      byte[] all = ByteBufUtil.getBytes(bytes);
      bytes.clear();
      return all;
    }
  }

  private final ByteBuf answers = Unpooled.buffer(4096, 4096);
  private final Http2Reader reader = new Http2Reader(/* keepSoftware= */ true, answers);
  private final Server server = new Server();

  private void request() {
    reader.reset();
  }

  private void read() {
    reader.read(Unpooled.wrappedBuffer(server.take()));
  }

  private String answered() {
    String hex = ByteBufUtil.hexDump(answers);
    answers.clear();
    return hex;
  }

  @Test
  void readsAResponseAndAcknowledgesTheSettings() {
    request();
    server
        .settings()
        .frame(SETTINGS, ACK, 0)
        .frame(WINDOW_UPDATE, 0, 0, (byte) 0, (byte) 1, (byte) 0, (byte) 0);
    read();
    assertThat(reader.settled()).isTrue();
    assertThat(reader.begun()).isFalse();
    assertThat(answered()).isEqualTo("000000040100000000");

    server.headers(1, END_HEADERS, ":status", "200", "server", "nginx/1.26", "content-length", "3");
    read();
    assertThat(reader.begun()).isTrue();
    assertThat(reader.complete()).isFalse();
    server.data(1, END_STREAM, 3);
    read();

    assertThat(reader.failure()).isNull();
    assertThat(reader.complete()).isTrue();
    assertThat(reader.status()).isEqualTo(200);
    assertThat(reader.bodyBytes()).isEqualTo(3);
    assertThat(reader.software()).isEqualTo("nginx/1.26");
    assertThat(reader.persistent()).isTrue();
    assertThat(answered()).isEmpty();
  }

  @Test
  void headersMayReferToThoseOfAnEarlierResponseOfTheConnection() {
    server.settings();
    for (int stream = 1; stream < 9; stream += 2) {
      request();
      server
          .headers(
              stream, END_HEADERS, ":status", "200", "x-tag", "the same", "content-length", "7")
          .data(stream, END_STREAM, 7);
      read();
      assertThat(reader.failure()).isNull();
      assertThat(reader.stream()).isEqualTo(stream);
      assertThat(reader.complete()).isTrue();
      assertThat(reader.bodyBytes()).isEqualTo(7);
    }
  }

  @Test
  void anotherConnectionKnowsNothingOfTheOneBefore() {
    request();
    server.settings().headers(1, END_HEADERS | END_STREAM, ":status", "200", "x-tag", "kept");
    read();
    assertThat(reader.complete()).isTrue();
    byte[] referring = server.block(":status", "200", "x-tag", "kept");

    reader.open();
    request();
    server.settings().frame(HEADERS, END_HEADERS | END_STREAM, 1, referring);
    read();
    assertThat(reader.failure()).startsWith("headers that cannot be read");
  }

  @Test
  void readsHeadersInPiecesWithPaddingAndPriorityAndATrailer() {
    request();
    byte[] block = server.block(":status", "200", "x-long", "y".repeat(300));
    byte[] first = new byte[1 + 5 + 100 + 4];
    first[0] = 4;
    System.arraycopy(block, 0, first, 6, 100);
    byte[] rest = Arrays.copyOfRange(block, 100, block.length);
    server
        .settings()
        .frame(HEADERS, PADDED | PRIORITISED, 1, first)
        .frame(CONTINUATION, 0, 1)
        .frame(CONTINUATION, END_HEADERS, 1, rest)
        .frame(DATA, PADDED, 1, (byte) 2, (byte) 'O', (byte) 'K', (byte) 0, (byte) 0)
        .headers(1, END_HEADERS | END_STREAM, "x-sum", "1");
    read();
    assertThat(reader.failure()).isNull();
    assertThat(reader.complete()).isTrue();
    assertThat(reader.bodyBytes()).isEqualTo(2);
  }

  @Test
  void anInterimResponseAnnouncesAnotherOne() {
    request();
    server.settings().headers(1, END_HEADERS, ":status", "103", "link", "</a>");
    read();
    assertThat(reader.status()).isEqualTo(103);
    assertThat(reader.complete()).isFalse();
    server.headers(1, END_HEADERS | END_STREAM, ":status", "404");
    read();
    assertThat(reader.complete()).isTrue();
    assertThat(reader.status()).isEqualTo(404);
  }

  @Test
  void aResponseWithoutABodyMaySayHowLongItWouldBe() {
    request();
    server.settings().headers(1, END_HEADERS | END_STREAM, ":status", "304", "content-length", "9");
    read();
    assertThat(reader.complete()).isTrue();
  }

  @Test
  void answersPingsWithTheirContentAndIgnoresWhatItDoesNotKnow() {
    server
        .settings()
        .frame(
            PING, 0, 0, (byte) 1, (byte) 2, (byte) 3, (byte) 4, (byte) 5, (byte) 6, (byte) 7,
            (byte) 8)
        .frame(PING, ACK, 0, new byte[8])
        .frame(0x77, 0xFF, 1234, new byte[50])
        .frame(PRIORITY, 0, 3, new byte[5]);
    read();
    assertThat(reader.failure()).isNull();
    assertThat(answered())
        .isEqualTo("000000040100000000" + "000008060100000000" + "0102030405060708");
  }

  @Test
  void givesTheWindowBackInHalves() {
    request();
    server.settings().headers(1, END_HEADERS, ":status", "200");
    read();
    answered();
    int half = Http2Reader.WINDOW_BYTES / 2;
    for (int given = 0; given < half - 16_384; given += 16_384) {
      server.data(1, 0, 16_384);
      read();
    }
    assertThat(answered()).isEmpty();
    server.data(1, 0, 16_384);
    read();
    assertThat(answered()).isEqualTo("00000408000000000000800000" + "00000408000000000100800000");
    for (int given = 0; given < half; given += 16_384) {
      server.data(1, given == half - 16_384 ? END_STREAM : 0, 16_384);
      read();
    }
    // The stream has ended and needs none.
    assertThat(answered()).isEqualTo("00000408000000000000800000");
    assertThat(reader.bodyBytes()).isEqualTo(2L * half);
  }

  private static byte[] goAway(int lastStream, int code) {
    return ByteBufUtil.getBytes(
        Unpooled.buffer().writeInt(lastStream).writeInt(code).writeBytes(new byte[20]));
  }

  @Test
  void aConnectionThatTheServerLeavesIsFinishedAndTakesNoOtherRequest() {
    request();
    server
        .settings()
        .frame(GOAWAY, 0, 0, goAway(1, 0))
        .headers(1, END_HEADERS | END_STREAM, ":status", "200");
    read();
    assertThat(reader.complete()).isTrue();
    assertThat(reader.persistent()).isFalse();
    assertThat(reader.failure()).isNull();
  }

  @Test
  void aRequestThatTheServerDidNotProcessMayBeSentAgain() {
    request();
    server.settings().headers(1, END_HEADERS | END_STREAM, ":status", "200");
    read();
    request();
    server.frame(GOAWAY, 0, 0, goAway(1, 0));
    read();
    assertThat(reader.refused()).isTrue();
    assertThat(reader.failure()).contains("GOAWAY with NO_ERROR");

    reader.open();
    request();
    server.settings().frame(RST_STREAM, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 7);
    read();
    assertThat(reader.refused()).isTrue();
    assertThat(reader.failure()).contains("REFUSED_STREAM");
  }

  @Test
  void aStreamThatIsResetAfterItsEndHasEnded() {
    request();
    server
        .settings()
        .headers(1, END_HEADERS | END_STREAM, ":status", "200")
        .frame(RST_STREAM, 0, 1, new byte[4]);
    read();
    assertThat(reader.complete()).isTrue();
    assertThat(reader.failure()).isNull();
  }

  @Test
  void saysGoodbye() {
    reader.sayGoodbye();
    assertThat(answered()).isEqualTo("000008070000000000" + "0000000000000000");
  }

  @Test
  void givesUpOnMorePingsThanItCanAnswer() {
    server.settings();
    for (int i = 0; i < 300; i++) {
      server.frame(PING, 0, 0, new byte[8]);
    }
    read();
    assertThat(reader.failure()).startsWith("more pings and settings");
    assertThat(answers.readableBytes()).isLessThanOrEqualTo(4096);
  }

  @Test
  void givesUpOnHeadersThatDoNotEnd() {
    request();
    server.settings().frame(HEADERS, 0, 1, new byte[16_384]);
    for (int i = 0; i < 4; i++) {
      server.frame(CONTINUATION, 0, 1, new byte[16_384]);
    }
    read();
    assertThat(reader.failure()).contains(String.valueOf(Http2Reader.MAX_HEAD_BYTES));
  }

  private static Server begun() {
    return new Server().settings().headers(1, END_HEADERS, ":status", "200", "content-length", "5");
  }

  static List<Server> breaches() {
    return List.of(
        new Server().frame(PING, 0, 0, new byte[8]),
        new Server().frame(SETTINGS, ACK, 0),
        new Server().frame(SETTINGS, 0, 0, new byte[5]),
        new Server().frame(SETTINGS, 0, 1, new byte[6]),
        // ENABLE_PUSH of 1, INITIAL_WINDOW_SIZE of 2^31, MAX_FRAME_SIZE of 0.
        new Server()
            .frame(SETTINGS, 0, 0, (byte) 0, (byte) 2, (byte) 0, (byte) 0, (byte) 0, (byte) 1),
        new Server()
            .frame(SETTINGS, 0, 0, (byte) 0, (byte) 4, (byte) 0x80, (byte) 0, (byte) 0, (byte) 0),
        new Server()
            .frame(SETTINGS, 0, 0, (byte) 0, (byte) 5, (byte) 0, (byte) 0, (byte) 0, (byte) 0),
        new Server().settings().frame(SETTINGS, ACK, 0, new byte[6]),
        new Server().settings().data(1, 0, 1),
        new Server().settings().headers(3, END_HEADERS, ":status", "200"),
        new Server().settings().headers(0, END_HEADERS, ":status", "200"),
        new Server().settings().headers(1, END_HEADERS, "server", "x"),
        new Server().settings().headers(1, END_HEADERS, ":status", "20"),
        new Server().settings().headers(1, END_HEADERS, ":status", "2x0"),
        new Server().settings().headers(1, END_HEADERS, ":status", "000"),
        new Server()
            .settings()
            .frame(HEADERS, 0, 1, new Server().block("server", "x"))
            .frame(CONTINUATION, END_HEADERS, 1, new Server().block(":status", "200")),
        new Server().settings().headers(1, END_HEADERS, ":status", "200", "Upper", "x"),
        new Server().settings().headers(1, END_HEADERS, ":status", "200", "content-length", "-1"),
        new Server().settings().headers(1, END_HEADERS | END_STREAM, ":status", "100"),
        new Server().settings().frame(HEADERS, END_HEADERS, 1, (byte) 0x80),
        new Server().settings().frame(HEADERS, END_HEADERS, 1, (byte) 0xFF),
        new Server().settings().frame(HEADERS, END_HEADERS | PADDED, 1),
        new Server().settings().frame(HEADERS, END_HEADERS | PADDED, 1, (byte) 1),
        new Server().settings().frame(HEADERS, END_HEADERS | PRIORITISED, 1, new byte[4]),
        new Server().settings().frame(HEADERS, 0, 1).frame(DATA, 0, 1),
        new Server().settings().frame(HEADERS, 0, 1).frame(CONTINUATION, 0, 3),
        new Server().settings().frame(CONTINUATION, 0, 1),
        new Server().settings().frame(PUSH_PROMISE, END_HEADERS, 1, new byte[4]),
        new Server().settings().frame(PING, 0, 0, new byte[7]),
        new Server().settings().frame(PING, 0, 1, new byte[8]),
        new Server().settings().frame(GOAWAY, 0, 0, new byte[7]),
        new Server().settings().frame(GOAWAY, 0, 0, goAway(1, 1)),
        new Server().settings().frame(RST_STREAM, 0, 3, new byte[4]),
        new Server().settings().frame(RST_STREAM, 0, 1, new byte[4]),
        new Server().settings().frame(RST_STREAM, 0, 1, new byte[5]),
        new Server().settings().frame(WINDOW_UPDATE, 0, 0, new byte[4]),
        new Server().settings().frame(PRIORITY, 0, 0, new byte[5]),
        new Server().settings().frame(0x77, 0, 0, new byte[16_385]),
        begun().data(1, END_STREAM, 4),
        begun().data(1, END_STREAM, 6),
        begun().headers(1, END_HEADERS, "x-sum", "1"),
        begun().headers(1, END_HEADERS | END_STREAM, ":status", "200"),
        begun().frame(DATA, PADDED, 1, (byte) 1));
  }

  @ParameterizedTest
  @MethodSource("breaches")
  void saysWhatIsNoHttp2(Server breach) {
    request();
    reader.read(Unpooled.wrappedBuffer(breach.take()));
    assertThat(reader.failure()).isNotNull();
    assertThat(reader.complete()).isFalse();
    assertThat(reader.persistent()).isFalse();
  }

  /** A plain answer of HTTP/1.1, as a server sends that ALPN has led astray. */
  @Test
  void takesHttp1ForWhatItIs() {
    request();
    reader.read(Unpooled.copiedBuffer("HTTP/1.1 400 Bad Request\r\n", StandardCharsets.US_ASCII));
    assertThat(reader.failure()).isNotNull();
  }

  private static String facts(byte[] bytes, int cut) {
    ByteBuf answers = Unpooled.buffer(4096, 4096);
    Http2Reader reader = new Http2Reader(/* keepSoftware= */ true, answers);
    reader.reset();
    for (int at = 0; at < bytes.length; at += cut) {
      reader.read(Unpooled.wrappedBuffer(bytes, at, Math.min(cut, bytes.length - at)));
    }
    return reader.status()
        + " "
        + reader.bodyBytes()
        + " "
        + reader.complete()
        + reader.settled()
        + reader.begun()
        + reader.persistent()
        + reader.refused()
        + " "
        + reader.software()
        + " "
        + reader.failure()
        + " "
        + ByteBufUtil.hexDump(answers);
  }

  private record Frame(int type, int flags, int stream, String payload) {}

  @Provide
  static Arbitrary<Integer> cuts() {
    return Arbitraries.of(1, 2, 3, 7, 16, 100_000);
  }

  /** Frames that are whole, of any kind and with any payload. */
  @Provide
  static Arbitrary<List<Frame>> frames() {
    Arbitrary<Integer> types = Arbitraries.integers().between(0, 11);
    Arbitrary<Integer> flags = Arbitraries.of(0, 1, 4, 5, 8, 9, 0xD, 0x20, 0x25, 0x2D, 0xFF);
    Arbitrary<Integer> streams = Arbitraries.of(0, 1, 1, 1, 3);
    Arbitrary<byte[]> payloads =
        Arbitraries.oneOf(
            Arbitraries.bytes().array(byte[].class).ofMaxSize(40),
            Arbitraries.of(
                new byte[4],
                new byte[8],
                new Server().block(":status", "200"),
                new Server().block(":status", "204", "server", "x", "content-length", "0")));
    return Combinators.combine(types, flags, streams, payloads)
        .as(
            (type, flag, stream, bytes) ->
                new Frame(type, flag, stream, ByteBufUtil.hexDump(bytes)))
        .list()
        .ofMaxSize(12);
  }

  @Property(tries = 2000)
  void isTotalOnAnyFramesHoweverTheyAreCut(
      @ForAll("frames") List<Frame> frames, @ForAll("cuts") int cut) {
    Server server = new Server().settings();
    frames.forEach(
        frame ->
            server.frame(
                frame.type(),
                frame.flags(),
                frame.stream(),
                ByteBufUtil.decodeHexDump(frame.payload())));
    byte[] bytes = server.take();
    assertThat(facts(bytes, cut)).isEqualTo(facts(bytes, 1));
  }

  @Property(tries = 1000)
  void isTotalOnAnyBytes(@ForAll byte[] noise, @ForAll("cuts") int cut) {
    assertThat(facts(noise, cut)).isEqualTo(facts(noise, 1));
  }

  /** Some octets of a response that was right are not as they were. */
  @Property(tries = 2000)
  void isTotalOnADamagedResponse(
      @ForAll("places") List<Integer> places, @ForAll byte value, @ForAll("cuts") int cut) {
    byte[] bytes = response(4, 300);
    places.forEach(place -> bytes[place % bytes.length] ^= value);
    assertThat(facts(bytes, cut)).isEqualTo(facts(bytes, 1));
  }

  @Provide
  static Arbitrary<List<Integer>> places() {
    return Arbitraries.integers().between(0, 2000).list().ofMaxSize(4);
  }

  private static byte[] response(int pieces, int piece) {
    Server server =
        new Server()
            .settings()
            .headers(
                1,
                END_HEADERS,
                ":status",
                "200",
                "server",
                "nginx",
                "content-length",
                String.valueOf(pieces * piece));
    for (int i = 0; i < pieces; i++) {
      server.data(1, i == pieces - 1 ? END_STREAM : 0, piece);
    }
    return server.take();
  }

  @Property(tries = 500)
  void readsEveryResponseHoweverItIsFramedAndCut(
      @ForAll("shapes") List<Integer> shape, @ForAll("cuts") int cut) {
    long sum = shape.stream().mapToInt(Integer::intValue).sum();
    Server server =
        new Server()
            .settings()
            .headers(1, END_HEADERS, ":status", "206", "content-length", String.valueOf(sum));
    shape.forEach(length -> server.data(1, 0, length));
    server.data(1, END_STREAM, 0);
    assertThat(facts(server.take(), cut))
        .startsWith("206 " + sum + " truetruetruetruefalse null null");
  }

  @Provide
  static Arbitrary<List<Integer>> shapes() {
    return Arbitraries.integers().between(0, 16_384).list().ofMaxSize(4);
  }
}

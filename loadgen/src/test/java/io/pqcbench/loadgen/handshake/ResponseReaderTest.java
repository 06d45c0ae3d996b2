package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponseReaderTest {

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.ISO_8859_1);
  }

  private static ResponseReader read(String text) {
    ResponseReader reader = new ResponseReader(/* keepSoftware= */ false);
    reader.read(Unpooled.wrappedBuffer(bytes(text)));
    return reader;
  }

  @Test
  void readsTheLengthThatIsGiven() {
    ResponseReader reader = read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nOK\n");
    assertThat(reader.complete()).isTrue();
    assertThat(reader.status()).isEqualTo(200);
    assertThat(reader.bodyBytes()).isEqualTo(3);
  }

  @Test
  void isNotCompleteBeforeTheLastByte() {
    ResponseReader reader = read("HTTP/1.1 200 OK\r\ncontent-LENGTH:  3 \r\n\r\nOK");
    assertThat(reader.complete()).isFalse();
    assertThat(reader.bodyBytes()).isEqualTo(2);
    assertThat(reader.endOfInput()).isFalse();
  }

  @Test
  void aBodyWithoutALengthEndsWithTheConnection() {
    ResponseReader reader = read("HTTP/1.0 200\n\nsome bytes");
    assertThat(reader.complete()).isFalse();
    assertThat(reader.endOfInput()).isTrue();
    assertThat(reader.bodyBytes()).isEqualTo(10);
  }

  /** A lone line feed ends a line too, so the lines of a text block will do. */
  @Test
  void anInterimResponseAnnouncesAnotherOne() {
    ResponseReader reader =
        read(
            """
            HTTP/1.1 103 Early Hints
            Link: </a>

            HTTP/1.1 404 Not Found
            Content-Length: 0

            """);
    assertThat(reader.complete()).isTrue();
    assertThat(reader.status()).isEqualTo(404);
    assertThat(read("HTTP/1.1 100 Continue\r\n\r\n").complete()).isFalse();
  }

  @Test
  void countsTheContentOfChunksAndNotTheirFraming() {
    ResponseReader reader =
        read(
            """
            HTTP/1.1 200 OK
            Transfer-Encoding: gzip, Chunked
            Content-Length: 7

            5;ext=1
            hello
            A
            0123456789
            0
            Trailer: x

            """);
    assertThat(reader.complete()).isTrue();
    assertThat(reader.bodyBytes()).isEqualTo(15);
  }

  @ParameterizedTest
  @ValueSource(ints = {204, 304})
  void hasNoBodyWhereThereIsNone(int status) {
    assertThat(read("HTTP/1.1 " + status + " x\r\nContent-Length: 9\r\n\r\n").complete()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "220 mail.example ESMTP\r\n",
        "HTTP/2 200\r\n",
        "HTTP/1.1 2x0 OK\r\n",
        "HTTP/1.1 2000 OK\r\n",
        "\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1234567890123456\r\n"
      })
  void saysWhatIsNoHttp(String text) {
    ResponseReader reader = read(text);
    assertThat(reader.failure()).isNotNull();
    assertThat(reader.complete()).isFalse();
  }

  @Test
  void givesUpOnAHeadThatDoesNotEnd() {
    assertThat(read("HTTP/1.1 200 OK\r\nX: " + "a".repeat(70_000)).failure())
        .contains(String.valueOf(ResponseReader.MAX_HEAD_BYTES));
  }

  @Test
  void startsAnewForTheNextResponse() {
    ResponseReader reader = read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe");
    reader.reset();
    reader.read(Unpooled.wrappedBuffer(bytes("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")));
    assertThat(reader.complete()).isTrue();
    assertThat(reader.bodyBytes()).isEqualTo(1);
  }

  @Provide
  static Arbitrary<String> responses() {
    Arbitrary<String> status =
        Arbitraries.of(
            "200 OK", "204 No Content", "206", "301 Moved", "404 Not Found", "500 Oh no");
    Arbitrary<String> header =
        Arbitraries.of(
            "Server: nginx", "Set-Cookie: a=b; c", "X-Empty:", "Date: Tue, 1 Dec", "x:y: z");
    Arbitrary<String> body =
        Arbitraries.strings().withChars("ab\r\n0;:").ofMinLength(0).ofMaxLength(40);
    Arbitrary<Integer> framing = Arbitraries.of(0, 1, 2, 3);
    return Combinators.combine(status, header.list().ofMaxSize(4), body, framing)
        .as(ResponseReaderTest::response);
  }

  private static String response(String status, List<String> headers, String body, int framing) {
    StringBuilder text = new StringBuilder("HTTP/1.1 ").append(status).append("\r\n");
    headers.forEach(header -> text.append(header).append("\r\n"));
    if (status.startsWith("204")) {
      return text.append("\r\n").toString();
    }
    return switch (framing) {
      case 0 -> text.append("Content-Length: ").append(body.length()) + "\r\n\r\n" + body;
      case 1 -> text.append("\r\n") + body;
      case 2 -> {
        text.append("transfer-encoding: chunked\r\n\r\n");
        for (int at = 0; at < body.length(); at += 7) {
          String chunk = body.substring(at, Math.min(body.length(), at + 7));
          text.append(Integer.toHexString(chunk.length())).append("\r\n").append(chunk);
          text.append("\r\n");
        }
        yield text.append("0\r\n\r\n").toString();
      }
      default -> text.append("Content-Length: ").append(body.length() + 5) + "\r\n\r\n" + body;
    };
  }

  private static String facts(boolean complete, int status, long body) {
    return (complete ? "complete " : "incomplete ") + status + " " + body;
  }

  private static String ours(byte[] bytes, int cut) {
    ResponseReader reader = new ResponseReader(/* keepSoftware= */ false);
    for (int at = 0; at < bytes.length; at += cut) {
      reader.read(Unpooled.wrappedBuffer(bytes, at, Math.min(cut, bytes.length - at)));
    }
    boolean complete = reader.endOfInput();
    return facts(complete, reader.status(), reader.bodyBytes());
  }

  private static String nettys(byte[] bytes) {
    EmbeddedChannel channel = new EmbeddedChannel(new HttpResponseDecoder());
    channel.writeInbound(Unpooled.wrappedBuffer(bytes));
    channel.finish();
    boolean complete = false;
    int status = -1;
    long body = 0;
    for (Object part = channel.readInbound(); part != null && !complete; ) {
      if (part instanceof HttpResponse response) {
        status = response.status().code();
      }
      if (part instanceof HttpContent content) {
        body += content.content().readableBytes();
      }
      complete = part instanceof LastHttpContent last && last.decoderResult().isSuccess();
      ReferenceCountUtil.release(part);
      part = channel.readInbound();
    }
    return facts(complete, status, body);
  }

  @Property(tries = 2000)
  void agreesWithNettysDecoderHoweverTheResponseIsCut(
      @ForAll("responses") String response, @ForAll("cuts") int cut) {
    assertThat(ours(bytes(response), cut)).isEqualTo(nettys(bytes(response)));
  }

  @Provide
  static Arbitrary<Integer> cuts() {
    return Arbitraries.of(1, 2, 3, 7, 16, 100_000);
  }

  @Property(tries = 2000)
  void isTotalOnAnyBytes(@ForAll byte[] noise, @ForAll("cuts") int cut) {
    byte[] head = bytes("HTTP/1.1 200 OK\r\n");
    byte[] all = new byte[head.length + noise.length];
    System.arraycopy(head, 0, all, 0, head.length);
    System.arraycopy(noise, 0, all, head.length, noise.length);
    assertThat(ours(all, cut)).isEqualTo(ours(all, 1));
    assertThat(ours(noise, cut)).isEqualTo(ours(noise, 1));
  }
}

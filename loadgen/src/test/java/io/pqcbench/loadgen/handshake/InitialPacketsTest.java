package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Against the examples of RFC 9001, appendix A. */
class InitialPacketsTest {

  /** The ID from which the keys of the appendix follow. */
  private static final String DESTINATION = "8394c8f03e515708";

  /** Appendix A.3: a server's Initial packet with its ServerHello, protected. */
  private static final String SERVER_INITIAL =
      "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780"
          + "bb38cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b"
          + "562bfb19fb84022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd07"
          + "4ee";

  /** Appendix A.4. */
  private static final String RETRY =
      "ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba";

  private final InitialPackets packets = new InitialPackets();
  private final ClientHello client = new ClientHello();
  private final ServerHello server = new ServerHello();

  private static ByteBuf hex(String text) {
    return Unpooled.wrappedBuffer(HexFormat.of().parseHex(text));
  }

  /** A client's first packet as far as its header, from which the keys follow. */
  private static ByteBuf clientInitial() {
    return hex("c000000001" + "08" + DESTINATION + "00" + "00" + "14" + "00".repeat(20));
  }

  @Test
  void readsTheServerHelloOfTheRfcsExample() {
    packets.keep(clientInitial(), true, 1);
    packets.keep(hex(SERVER_INITIAL), false, 2);

    packets.read(client, server);

    assertThat(server.complete()).isTrue();
    assertThat(server.cipherSuite()).isEqualTo(0x1301);
    assertThat(server.group()).isEqualTo(0x001d);
    assertThat(server.version()).isEqualTo(0x0304);
    assertThat(packets.serverHelloNanos()).isEqualTo(2);
    assertThat(packets.retry()).isFalse();
    assertThat(packets.versions()).isNull();
  }

  @Test
  void readsNothingThatWasChangedOnTheWay() {
    ByteBuf changed = hex(SERVER_INITIAL);
    changed.setByte(60, changed.getByte(60) ^ 1);
    packets.keep(clientInitial(), true, 1);
    packets.keep(changed, false, 2);

    packets.read(client, server);

    assertThat(server.complete()).isFalse();
    assertThat(packets.serverHelloNanos()).isEqualTo(Attempt.UNSET);
  }

  @Test
  void seesARetry() {
    packets.keep(clientInitial(), true, 1);
    packets.keep(hex(RETRY), false, 2);

    packets.read(client, server);

    assertThat(packets.retry()).isTrue();
  }

  @Test
  void readsTheVersionsThatAServerSpeaks() {
    packets.keep(clientInitial(), true, 1);
    packets.keep(hex("8000000000" + "00" + "08" + DESTINATION + "ff00001d" + "6b3343cf"), false, 2);

    packets.read(client, server);

    assertThat(packets.versions()).containsExactly(0xff00001d, 0x6b3343cf);
  }

  @Test
  void forgetsAllForTheNextConnection() {
    packets.keep(clientInitial(), true, 1);
    packets.keep(hex(RETRY), false, 2);
    packets.read(client, server);

    packets.reset();
    packets.keep(hex(SERVER_INITIAL), false, 3);
    packets.read(client, server);

    assertThat(packets.retry()).isFalse();
    assertThat(server.complete()).as("read with the keys of another connection").isFalse();
  }

  @Test
  void takesWhateverBytesThereAre() {
    Random random = new Random(9001);
    for (int i = 0; i < 20_000; i++) {
      packets.reset();
      ByteBuf bytes = i % 2 == 0 ? hex(SERVER_INITIAL) : clientInitial();
      for (int flips = random.nextInt(8); flips >= 0; flips--) {
        bytes.setByte(random.nextInt(bytes.readableBytes()), random.nextInt());
      }
      bytes.writerIndex(1 + random.nextInt(bytes.readableBytes()));
      packets.keep(clientInitial(), true, 1);
      packets.keep(bytes, random.nextBoolean(), 2);

      packets.read(new ClientHello(), new ServerHello());
    }
  }
}

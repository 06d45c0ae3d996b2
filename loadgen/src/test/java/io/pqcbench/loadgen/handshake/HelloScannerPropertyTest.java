package io.pqcbench.loadgen.handshake;

import static io.pqcbench.loadgen.handshake.RecordedHellos.facts;
import static io.pqcbench.loadgen.handshake.RecordedHellos.scannerFor;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class HelloScannerPropertyTest {
  @Property
  void noBytesInAnySplitMakeItThrow(
      @ForAll boolean client,
      @ForAll @Size(max = 600) byte[] bytes,
      @ForAll("pieces") List<Integer> pieces) {
    String name = client ? "client" : "server";

    assertThat(facts(scannerFor(name), bytes, pieces)).isEqualTo(facts(scannerFor(name), bytes));
  }

  @Property
  void noRecordsInAnySplitMakeItThrow(
      @ForAll boolean client,
      @ForAll("records") byte[] bytes,
      @ForAll("pieces") List<Integer> pieces) {
    String name = client ? "client" : "server";

    assertThat(facts(scannerFor(name), bytes, pieces)).isEqualTo(facts(scannerFor(name), bytes));
  }

  @Property
  void everySplitOfARealHelloGivesTheSameFacts(
      @ForAll("names") String name, @ForAll("pieces") List<Integer> pieces) {
    byte[] bytes = RecordedHellos.bytes(name);

    assertThat(facts(scannerFor(name), bytes, pieces)).isEqualTo(facts(scannerFor(name), bytes));
  }

  @Property
  void noMutationOfARealHelloMakesItThrow(
      @ForAll("names") String name,
      @ForAll @Size(min = 1, max = 3) List<@IntRange(max = 1500) Integer> places,
      @ForAll byte value,
      @ForAll("pieces") List<Integer> pieces) {
    byte[] bytes = RecordedHellos.bytes(name);
    places.forEach(place -> bytes[place % bytes.length] = value);

    assertThat(facts(scannerFor(name), bytes, pieces)).isEqualTo(facts(scannerFor(name), bytes));
  }

  @Property
  void aTruncatedHelloIsIncompleteButNotMalformed(
      @ForAll("names") String name, @ForAll @IntRange(max = 87) int length) {
    HelloScanner<?> scanner = scannerFor(name);

    scanner.scan(Unpooled.wrappedBuffer(Arrays.copyOf(RecordedHellos.bytes(name), length)));

    assertThat(scanner.helloComplete() || scanner.malformed() || scanner.notTls()).isFalse();
  }

  @Property
  void bytesOutsideTheReadableOnesDoNotMatter(
      @ForAll("names") String name, @ForAll byte filler, @ForAll @IntRange(max = 1500) int place) {
    byte[] bytes = RecordedHellos.bytes(name);
    bytes[place % bytes.length] = filler;
    byte[] padded = new byte[bytes.length + 200];
    Arrays.fill(padded, filler);
    System.arraycopy(bytes, 0, padded, 100, bytes.length);
    HelloScanner<?> scanner = scannerFor(name);

    scanner.scan(Unpooled.wrappedBuffer(padded).setIndex(100, 100 + bytes.length));

    assertThat(facts(scanner)).isEqualTo(facts(scannerFor(name), bytes));
  }

  @Property
  void scanningLeavesTheBufferAsItWas(
      @ForAll("names") String name,
      @ForAll @IntRange(max = 100) int readerIndex,
      @ForAll @IntRange(max = 200) int cut) {
    byte[] bytes = RecordedHellos.bytes(name);
    int at = Math.min(cut, bytes.length);
    ByteBuf direct = Unpooled.directBuffer(readerIndex + bytes.length + 10);
    CompositeByteBuf buf =
        Unpooled.compositeBuffer()
            .addComponent(true, direct.writeZero(readerIndex).writeBytes(bytes, 0, at))
            .addComponent(true, Unpooled.wrappedBuffer(bytes, at, bytes.length - at));
    buf.readerIndex(readerIndex);
    HelloScanner<?> scanner = scannerFor(name);

    scanner.scan(buf);

    assertThat(buf.readerIndex()).isEqualTo(readerIndex);
    assertThat(buf.writerIndex()).isEqualTo(readerIndex + bytes.length);
    assertThat(buf.refCnt()).isOne();
    assertThat(facts(scanner)).isEqualTo(facts(scannerFor(name), bytes));
    buf.release();
  }

  @Property
  void aResetScannerIsAsGoodAsNew(
      @ForAll("names") String name,
      @ForAll @IntRange(max = 1500) int cut,
      @ForAll @IntRange(max = 87) int place,
      @ForAll byte value) {
    byte[] bytes = RecordedHellos.bytes(name);
    byte[] earlier = Arrays.copyOf(bytes, Math.min(cut, bytes.length));
    if (place < earlier.length) {
      earlier[place] = value;
    }
    HelloScanner<?> scanner = scannerFor(name);
    scanner.scan(Unpooled.wrappedBuffer(earlier));

    scanner.reset();

    assertThat(facts(scanner)).isEqualTo(facts(scannerFor(name)));
    assertThat(facts(scanner, bytes)).isEqualTo(facts(scannerFor(name), bytes));
  }

  /** Lengths of the buffers that come first; what is left over comes as one more. */
  @Provide
  Arbitrary<List<Integer>> pieces() {
    return Arbitraries.integers().between(0, 300).list().ofMaxSize(60);
  }

  /** Recordings that are longer than the 87 bytes to which they are cut. */
  @Provide
  Arbitrary<String> names() {
    Set<String> names = RecordedHellos.names();
    return Arbitraries.of(names).filter(name -> !name.equals("server, no common group"));
  }

  /** Records and messages that are mostly right in form, so that what is inside them gets read. */
  @Provide
  Arbitrary<byte[]> records() {
    Arbitrary<Integer> types = Arbitraries.of(20, 21, 22, 22, 22, 22, 23);
    Arbitrary<byte[]> payloads =
        Combinators.combine(
                Arbitraries.of(1, 2, 11),
                Arbitraries.integers().between(-1, 2),
                Arbitraries.bytes().between((byte) 0, (byte) 51).array(byte[].class).ofMaxSize(90))
            .as(HelloScannerPropertyTest::message);
    return Combinators.combine(types, payloads)
        .as(HelloScannerPropertyTest::record)
        .list()
        .ofMaxSize(6)
        .map(records -> concat(records));
  }

  private static byte[] message(int type, int error, byte[] body) {
    int length = Math.max(0, body.length + error);
    return concat(List.of(new byte[] {(byte) type, 0, 0, (byte) length}, body));
  }

  private static byte[] record(int type, byte[] payload) {
    return concat(List.of(new byte[] {(byte) type, 3, 3, 0, (byte) payload.length}, payload));
  }

  private static byte[] concat(List<byte[]> parts) {
    ByteBuf all = Unpooled.buffer();
    parts.forEach(all::writeBytes);
    return Arrays.copyOf(all.array(), all.writerIndex());
  }
}

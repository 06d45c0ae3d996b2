package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RecordCounterTest {

  /** A handshake record of 3 bytes, an empty one, a ChangeCipherSpec, application data of 2. */
  private static final byte[] FOUR =
      ByteBufUtil.decodeHexDump(
          "1603030003aabbcc" + "1703030000" + "140303000101" + "1703030002ffff");

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 7, 100})
  void countsRecordsWhateverTheFragmentation(int piece) {
    RecordCounter counter = new RecordCounter();
    for (int at = 0; at < FOUR.length; at += piece) {
      counter.count(Unpooled.wrappedBuffer(FOUR, at, Math.min(piece, FOUR.length - at)));
    }
    assertThat(counter.records()).isEqualTo(4);
  }

  @Test
  void aTornHeaderIsNoRecordYet() {
    RecordCounter counter = new RecordCounter();
    counter.count(Unpooled.wrappedBuffer(FOUR, 0, 4));
    assertThat(counter.records()).isZero();
  }
}

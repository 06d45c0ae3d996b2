package io.pqcbench.loadgen.handshake;

import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What the kernel knows of a TCP connection: the beginning of struct tcp_info (Linux,
 * include/uapi/linux/tcp.h), which only ever grew at its end. A kernel before Linux 4.6 does not
 * count segments with data.
 */
final class TcpInfo {

  static final int BYTES = 160;

  private static final int IPPROTO_TCP = 6;
  private static final int TCP_INFO = 11;
  private static final int SND_MSS = 16;
  private static final int LOST = 32;
  private static final int RTT = 68;
  private static final int TOTAL_RETRANS = 100;
  private static final int DATA_SEGS_IN = 152;

  private TcpInfo() {}

  /**
   * Asks the kernel: one system call.
   *
   * @param scratch overwritten; at least {@link #BYTES} long
   */
  static void note(Socket socket, ByteBuffer scratch, Attempt attempt) {
    try {
      socket.getRawOpt(IPPROTO_TCP, TCP_INFO, scratch.clear());
      attempt.rttMicros = Integer.toUnsignedLong(scratch.getInt(RTT));
      attempt.retransmits = Integer.toUnsignedLong(scratch.getInt(TOTAL_RETRANS));
      attempt.lost = Integer.toUnsignedLong(scratch.getInt(LOST));
      attempt.mss = scratch.getInt(SND_MSS);
      int segments = scratch.getInt(DATA_SEGS_IN);
      attempt.segmentsIn = segments == 0 ? Attempt.NONE : Integer.toUnsignedLong(segments);
    } catch (IOException e) {
      // A socket that has failed may not say; the attempt then has no round-trip time.
      return;
    }
  }
}

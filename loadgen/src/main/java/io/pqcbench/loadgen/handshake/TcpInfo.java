package io.pqcbench.loadgen.handshake;

import io.netty.channel.unix.Socket;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What the kernel knows of a TCP connection: the beginning of struct tcp_info (Linux,
 * include/uapi/linux/tcp.h), which has not changed since Linux 2.6.
 */
final class TcpInfo {

  static final int BYTES = 104;

  private static final int IPPROTO_TCP = 6;
  private static final int TCP_INFO = 11;
  private static final int LOST = 32;
  private static final int RTT = 68;
  private static final int TOTAL_RETRANS = 100;

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
    } catch (IOException e) {
      // A socket that has failed may not say; the attempt then has no round-trip time.
      return;
    }
  }
}

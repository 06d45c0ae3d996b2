package io.pqcbench.loadgen.handshake;

import java.net.InetSocketAddress;

/** Changes what a preflight found. */
public final class Facts {

  private Facts() {}

  /** The same facts with another address: measures one server by what another one is like. */
  public static ServerFacts at(ServerFacts facts, InetSocketAddress address) {
    return new ServerFacts(
        facts.addresses(),
        address,
        facts.protocol(),
        facts.group(),
        facts.cipherSuite(),
        facts.keyShares(),
        facts.clientHelloBytes(),
        facts.serverKeyShareBytes(),
        facts.helloRetryRequest(),
        facts.certificate(),
        facts.flight(),
        facts.ticketsIssued(),
        facts.alpn(),
        facts.httpStatus(),
        facts.bodyBytes(),
        facts.software(),
        facts.handshakeBytesOut(),
        facts.handshakeBytesIn(),
        facts.bytesOut(),
        facts.bytesIn(),
        facts.rttMicros(),
        facts.handshakeMicros(),
        facts.quic(),
        facts.leaf());
  }
}

package io.pqcbench.loadgen.handshake;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Target;
import java.net.InetSocketAddress;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * What one handshake before the load found out about the server. Written to the bundle as it is.
 *
 * @param addresses all that the name resolves to
 * @param address the one that is used, with the port
 * @param protocol e.g. {@code TLSv1.3}
 * @param group negotiated, by name; {@value #NO_GROUP} without one, {@value #UNVERIFIED} if neither
 *     the wire nor the TLS stack tells
 * @param cipherSuite negotiated, by IANA name
 * @param keyShares what the client really sent, e.g. {@code X25519MLKEM768:1216}
 * @param clientHelloBytes the ClientHello's record with its header
 * @param serverKeyShareBytes the length of the server's key share; -1 in TLS 1.2
 * @param helloRetryRequest whether the server asked for another key share first
 * @param certificate the leaf and its chain
 * @param flight the server's part of the handshake; null in TLS 1.2, where it comes in two, and
 *     over QUIC
 * @param ticketsIssued whether the server sent session tickets with its response; null if the
 *     connection was closed too early to tell
 * @param alpn the protocol that the server took by ALPN; null for none
 * @param httpStatus of the response; -1 without a request
 * @param bodyBytes of the response
 * @param software what the response's Server header says; null without one
 * @param handshakeBytesOut ClientHello to Finished
 * @param handshakeBytesIn until the handshake was complete
 * @param bytesOut the whole connection
 * @param bytesIn the whole connection
 * @param rttMicros the kernel's smoothed round-trip time (TCP_INFO), microseconds
 * @param handshakeMicros this one handshake, cold: no measurement
 * @param quic what only a server of QUIC has; null over TCP
 * @param leaf the server's certificate
 */
public record ServerFacts(
    List<String> addresses,
    @JsonIgnore InetSocketAddress address,
    String protocol,
    String group,
    String cipherSuite,
    List<String> keyShares,
    int clientHelloBytes,
    int serverKeyShareBytes,
    boolean helloRetryRequest,
    CertificateFacts certificate,
    Flight flight,
    Boolean ticketsIssued,
    String alpn,
    int httpStatus,
    long bodyBytes,
    String software,
    long handshakeBytesOut,
    long handshakeBytesIn,
    long bytesOut,
    long bytesIn,
    long rttMicros,
    double handshakeMicros,
    QuicFacts quic,
    @JsonIgnore X509Certificate leaf) {

  /** The group of a handshake without one, as with the RSA key exchange of TLS 1.2. */
  public static final String NO_GROUP = "none";

  /** The group of a handshake of which nobody tells it. */
  public static final String UNVERIFIED = "not reported";

  /**
   * The server's certificate.
   *
   * @param subject distinguished name of the leaf
   * @param keyType e.g. {@code EC 256}
   * @param signatureAlgorithm with which the leaf was signed
   * @param leafBytes DER bytes of the leaf
   * @param chainLength certificates sent
   * @param chainBytes their DER bytes together
   * @param signatureScheme of the CertificateVerify, by its name in the IANA registry; null when
   *     the TLS stack does not report it
   * @param possibleSchemes those that TLS 1.3 has for such a key, of which the stack has verified
   *     one; empty in TLS 1.2, which leaves the hash open, and for kinds of keys not known here
   * @param notAfter end of the leaf's validity, ISO 8601
   * @param sha256 fingerprint of the leaf, hexadecimal
   * @param trust {@code verified}, {@code pinned} or {@code unchecked}
   * @param complaint why it does not verify; null when it does
   */
  public record CertificateFacts(
      String subject,
      String keyType,
      String signatureAlgorithm,
      int leafBytes,
      int chainLength,
      int chainBytes,
      String signatureScheme,
      List<String> possibleSchemes,
      String notAfter,
      String sha256,
      String trust,
      String complaint) {}

  /**
   * What only a server of QUIC has.
   *
   * @param retry whether it asked for proof of the client's address first, one more round trip
   */
  public record QuicFacts(boolean retry) {}

  /**
   * The server's part of a handshake, from its ServerHello to its Finished, and whether a server
   * may send it at once: what is more than the initial congestion window waits until the client has
   * acknowledged the beginning, which is one more round trip.
   *
   * @param bytes on the TCP connection
   * @param segments in which they came; -1 when the kernel does not count them
   * @param mss bytes of a full segment on this connection
   * @param windowBytes {@value #INITIAL_SEGMENTS} full segments
   * @param exceedsWindow whether it is longer, or came in more segments, which is what Linux
   *     counts, full or not
   */
  public record Flight(
      long bytes, long segments, int mss, long windowBytes, boolean exceedsWindow) {

    /** RFC 6928, section 2; Linux, include/net/tcp.h, TCP_INIT_CWND. */
    public static final int INITIAL_SEGMENTS = 10;

    /**
     * Returns how many further round trips it needs unless the server's window is larger: each lets
     * the server send twice as many segments as the one before (RFC 5681, slow start).
     */
    public int furtherRoundTrips() {
      long needed = Math.max(segments, (bytes + mss - 1) / mss);
      int trips = 0;
      for (long sent = INITIAL_SEGMENTS; sent < needed; sent = 2 * sent + INITIAL_SEGMENTS) {
        trips++;
      }
      return trips;
    }

    /** Compares a flight with the window of a connection. */
    public static Flight of(long bytes, long segments, int mss) {
      long window = (long) INITIAL_SEGMENTS * mss;
      return new Flight(
          bytes, segments, mss, window, bytes > window || segments > INITIAL_SEGMENTS);
    }
  }

  /** Returns the address in use, as {@code address:port}. */
  @JsonProperty
  public String usedAddress() {
    return new Target(address.getAddress().getHostAddress(), address.getPort(), "/").authority();
  }

  /** Returns whether the group of every handshake can be compared with the expected one. */
  public boolean groupVerified() {
    return !group.equals(UNVERIFIED);
  }

  ServerTrust trust(LoadPlan plan) throws SSLException {
    try {
      return switch (certificate.trust()) {
        case "verified" -> new ServerTrust.Known(leaf.getEncoded(), ServerTrust.verifier(plan));
        case "pinned" -> new ServerTrust.Known(leaf.getEncoded(), null);
        default -> new ServerTrust.Blind();
      };
    } catch (CertificateEncodingException e) {
      throw new SSLException("the server's certificate cannot be encoded", e);
    } catch (CertificateException e) {
      throw new SSLException(e.getMessage(), e);
    }
  }

  Expectation expectation(LoadPlan.TlsOffer offer) {
    String groupName = offer.expectGroup() == null ? group : offer.expectGroup().label();
    String suite = offer.expectCipher() == null ? cipherSuite : offer.expectCipher();
    return new Expectation(
        NamedGroup.find(groupName).map(NamedGroup::codePoint).orElse(Attempt.NONE),
        groupName,
        suiteCodePoint(suite));
  }

  private static int suiteCodePoint(String suite) {
    return suite.startsWith("0x") ? Integer.decode(suite) : CipherSuites.codePoint(suite);
  }
}

package io.pqcbench.loadgen.handshake;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import java.util.List;
import javax.net.ssl.SSLException;

/** What all TLS connections of a client share, by whatever stack. Thread-safe. */
sealed interface TlsConnections extends AutoCloseable permits NativeContext, EngineContext {

  /** Makes an object for connections of one thread, one after the other. */
  TlsConnection connection();

  @Override
  void close();

  /**
   * Makes what the connections of an offer share.
   *
   * @param tickets gets the sessions that the server issues; null to keep none
   * @throws SSLException when the TLS stack refuses the offer, or a certificate file cannot be read
   */
  static TlsConnections of(
      LoadPlan.TlsOffer offer, List<NamedGroup> groups, ServerTrust trust, Tickets tickets)
      throws SSLException {
    return offer.stack().name().compiled()
        ? new NativeContext(offer, groups, trust, tickets)
        : new EngineContext(offer, groups, trust);
  }
}

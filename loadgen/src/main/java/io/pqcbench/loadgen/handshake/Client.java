package io.pqcbench.loadgen.handshake;

import io.netty.channel.IoEventLoop;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.schedule.NanoClock;
import javax.net.ssl.SSLException;

/**
 * What all connections of a run to one target have in common: what they offer, what they expect,
 * what they ask for. Thread-safe.
 */
public sealed interface Client extends AutoCloseable permits TlsClient, QuicClient {

  /**
   * Makes the client that a run uses, from what the preflight found.
   *
   * @param plan what to offer, and over what
   * @param facts what to expect
   * @param clock the run's
   * @throws SSLException when the TLS stack refuses the offer, or a certificate file cannot be read
   */
  static Client of(LoadPlan plan, ServerFacts facts, NanoClock clock) throws SSLException {
    return plan.transport() == LoadPlan.Transport.QUIC
        ? new QuicClient(plan, facts, clock)
        : new TlsClient(plan, facts, clock);
  }

  /**
   * Returns a maker of connections for one thread.
   *
   * @param loop that thread's
   * @param owner who is told how each attempt ended
   * @param tickets that thread's, of which connections offer as many as the plan says; outlives the
   *     maker; null to resume no session
   * @return to be closed before this client
   * @throws SSLException when the TLS stack refuses the offer
   */
  Connections connections(IoEventLoop loop, Connection.Owner owner, Tickets tickets)
      throws SSLException;

  @Override
  void close();
}

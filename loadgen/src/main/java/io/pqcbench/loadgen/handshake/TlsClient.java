package io.pqcbench.loadgen.handshake;

import io.netty.channel.ChannelException;
import io.netty.channel.IoEventLoop;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * What all connections of a run have in common: what they offer, what they expect, what they ask
 * for. A lane's own connections are made by a {@link Connector}. Thread-safe.
 *
 * <p>A connector without {@link Tickets} offers no session and keeps none, so every handshake is a
 * full one.
 */
public final class TlsClient implements Client {

  private final NanoClock clock;
  private final Expectation expected;
  private final boolean describes;
  private final ServerTrust trust;
  private final TlsConnections context;
  private final LoadPlan plan;
  private final List<NamedGroup> groups;

  private final RequestBytes request;

  private final boolean orderlyClose;
  private final long expectBytes;

  /**
   * Makes the client that a run uses, from what the preflight found.
   *
   * @param plan what to offer
   * @param facts what to expect
   * @param clock the run's
   * @throws SSLException when the TLS stack refuses the offer, or a certificate file cannot be read
   */
  public TlsClient(LoadPlan plan, ServerFacts facts, NanoClock clock) throws SSLException {
    this(
        plan,
        plan.tls().groups(),
        facts.trust(plan),
        facts.expectation(plan.tls()),
        /* describes= */ false,
        clock);
  }

  TlsClient(
      LoadPlan plan,
      List<NamedGroup> groups,
      ServerTrust trust,
      Expectation expected,
      boolean describes,
      NanoClock clock)
      throws SSLException {
    this.clock = clock;
    this.expected = expected;
    this.describes = describes;
    this.plan = plan;
    this.groups = List.copyOf(groups);
    this.trust = trust;
    this.context = TlsConnections.of(plan.tls(), groups, trust, null);
    this.request = RequestBytes.of(plan);
    this.expectBytes = plan.request().expectBytes();
    this.orderlyClose = plan.limits().close() == LoadPlan.Close.FIN;
  }

  /**
   * Returns a maker of connections for one thread, none of which resumes a session.
   *
   * @param loop that thread's
   * @param owner who is told how each attempt ended
   * @return to be closed before this client
   */
  public Connector connector(IoEventLoop loop, Connection.Owner owner) {
    return new Connector(
        context,
        false,
        trust,
        expected,
        request,
        expectBytes,
        orderlyClose,
        plan.limits().proxyProtocol(),
        describes,
        null,
        index -> false,
        describes ? LoadPlan.Sessions.FRESH : plan.sessions(),
        clock,
        loop,
        owner);
  }

  /**
   * Returns a maker of connections for one thread, which keeps the sessions that the server issues.
   *
   * @param loop that thread's
   * @param owner who is told how each attempt ended
   * @param tickets that thread's; outlives the maker
   * @param offers whether connections offer them, as the plan says; else each is a full handshake
   * @return to be closed before this client
   * @throws SSLException when the TLS stack refuses the offer
   */
  public Connector connector(
      IoEventLoop loop, Connection.Owner owner, Tickets tickets, boolean offers)
      throws SSLException {
    return new Connector(
        // Its own, because the stack tells a context of new sessions and not who was issued them.
        TlsConnections.of(plan.tls(), groups, trust, tickets),
        true,
        trust,
        expected,
        request,
        expectBytes,
        orderlyClose,
        plan.limits().proxyProtocol(),
        describes,
        tickets,
        offers ? plan.sessions()::resumes : index -> false,
        describes ? LoadPlan.Sessions.FRESH : plan.sessions(),
        clock,
        loop,
        owner);
  }

  @Override
  public Connections connections(IoEventLoop loop, Connection.Owner owner, Tickets tickets)
      throws SSLException {
    return tickets == null
        ? connector(loop, owner)
        : connector(loop, owner, tickets, /* offers= */ true);
  }

  /**
   * Returns whether {@link Connections#prepare} failed because the process, or the machine, has no
   * descriptor left.
   */
  public static boolean isOutOfDescriptors(ChannelException cause) {
    return Failures.ofSocket(cause) == Outcome.NO_FD;
  }

  @Override
  public void close() {
    context.close();
  }
}

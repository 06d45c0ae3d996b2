package io.pqcbench.loadgen.engine;

import io.pqcbench.loadgen.handshake.Client;
import io.pqcbench.loadgen.handshake.Preflight;
import io.pqcbench.loadgen.handshake.PreflightException;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.monitor.Disturbances;
import io.pqcbench.loadgen.monitor.LaneWatch;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.plan.TlsStack;
import io.pqcbench.loadgen.record.LaneRecorder;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.QuicServer;
import io.pqcbench.loadgen.target.Server;
import io.pqcbench.loadgen.target.ServerOptions;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * Runs the client's own code before the run, against a server in this process, until the compiler
 * has little left to do: otherwise the first seconds of every run would measure the interpreter,
 * and the compiler would take the processor from what is measured.
 *
 * <p>What it runs is a {@link Lane} as the run's own; the target hears nothing of it.
 */
public final class WarmUp {

  /** Of one lane's life; the compiler is looked at after each. */
  private static final double ROUND_SECONDS = 0.25;

  /** More than a processor can do, so that the lane never waits. */
  private static final double RATE = 4000;

  private static final int MAX_IN_FLIGHT = 4;

  private static final long CONNECT_TIMEOUT_NANOS = 5_000_000_000L;
  private static final long TIMEOUT_NANOS = 10_000_000_000L;

  /** The compiler has settled when it takes less than this share of a round. */
  private static final double SETTLED = 0.1;

  private final NanoClock clock;
  private long handshakes;

  private WarmUp(NanoClock clock) {
    this.clock = clock;
  }

  /**
   * What a warm-up came to.
   *
   * @param seconds it took
   * @param handshakes it made
   * @param settled whether the compiler had little left to do in the end
   */
  public record Result(double seconds, long handshakes, boolean settled) {}

  /**
   * Warms up.
   *
   * @param plan of the run; its groups and its request are taken
   * @param longestNanos to give up after, but for one round at least; 0 for no warm-up at all
   * @return what it came to; null for none
   * @throws PreflightException when the server in this process cannot be reached
   */
  public static Result run(LoadPlan plan, long longestNanos, NanoClock clock)
      throws PreflightException {
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    if (longestNanos <= 0 || compiler == null || !compiler.isCompilationTimeMonitoringSupported()) {
      return null;
    }
    List<NamedGroup> groups = served(plan.tls());
    if (groups.isEmpty()) {
      return null;
    }
    ServerOptions options =
        ServerOptions.defaults()
            .withTls(plan.tls().tls13() ? "1.3" : "1.2")
            .withGroups(groups.stream().map(NamedGroup::label).toList());
    WarmUp warmUp = new WarmUp(clock);
    long begin = clock.nanos();
    boolean settled = false;
    try (Server server = serve(plan.transport(), options)) {
      LoadPlan own = against(server, plan, groups);
      ServerFacts facts = new Preflight(own, clock).run();
      do {
        long compiled = compiler.getTotalCompilationTime();
        long from = clock.nanos();
        warmUp.round(own, facts);
        long milliseconds = (clock.nanos() - from) / 1_000_000;
        settled = compiler.getTotalCompilationTime() - compiled < SETTLED * milliseconds;
      } while (!settled && clock.nanos() - begin < longestNanos);
    } catch (SSLException e) {
      throw new PreflightException("the warm-up of the client's code failed: " + e.getMessage(), e);
    }
    return new Result((clock.nanos() - begin) / 1e9, warmUp.handshakes, settled);
  }

  private static Server serve(LoadPlan.Transport transport, ServerOptions options) {
    return transport == LoadPlan.Transport.QUIC
        ? QuicServer.start(options, /* retry= */ false)
        : EmbeddedServer.start(options);
  }

  /**
   * The groups that the server in this process has, which is of the client's stack if that is
   * native.
   */
  private static List<NamedGroup> served(LoadPlan.TlsOffer tls) {
    TlsStack server = tls.stack().name().compiled() ? tls.stack().name() : TlsStack.BORINGSSL;
    List<NamedGroup> groups = new ArrayList<>(tls.groups());
    groups.removeIf(group -> !group.offeredBy(server));
    if (tls.stack().name() == TlsStack.BC
        && !groups.isEmpty()
        && !groups.contains(NamedGroup.P256)) {
      // Without it this stack does not offer the scheme of the server's certificate.
      groups.add(NamedGroup.P256);
    }
    return groups;
  }

  private static LoadPlan against(Server server, LoadPlan plan, List<NamedGroup> groups) {
    LoadPlan.TlsOffer tls = plan.tls();
    LoadPlan.Limits limits = plan.limits();
    return new LoadPlan(
        new Target("127.0.0.1", server.address().getPort(), "/"),
        List.of(),
        new LoadPlan.Pace(
            RATE, (long) (ROUND_SECONDS * 1e9), 0, plan.pace().arrival(), plan.pace().seed()),
        new LoadPlan.TlsOffer(
            groups,
            tls.version(),
            null,
            null,
            tls.sni(),
            plan.request().http2() ? tls.alpn() : List.of(),
            LoadPlan.Trust.VERIFY_OR_PIN,
            null,
            null,
            null,
            null,
            null,
            // Without the signature schemes, among which that of the server here may not be.
            new LoadPlan.Stack(
                tls.stack().name(), tls.stack().library(), List.of(), tls.stack().cipherSuites())),
        LoadPlan.Sessions.FRESH,
        new LoadPlan.Request(
            plan.request().handshakeOnly(),
            "/",
            plan.request().headers(),
            LoadPlan.Request.ANY_LENGTH,
            plan.request().http()),
        new LoadPlan.Limits(
            1,
            false,
            limits.waiting(),
            MAX_IN_FLIGHT,
            // Not the user's, which are for a server that is warm.
            CONNECT_TIMEOUT_NANOS,
            TIMEOUT_NANOS,
            limits.close(),
            List.of(),
            limits.slowThresholdNanos(),
            LoadPlan.ProxyProtocol.NONE),
        plan.transport());
  }

  private void round(LoadPlan plan, ServerFacts facts) throws SSLException {
    try (Client client = Client.of(plan, facts, clock)) {
      long start = clock.nanos();
      LaneRecorder recorder =
          new LaneRecorder(
              0,
              start,
              plan.pace().durationNanos() + plan.limits().timeoutNanos(),
              start,
              plan.limits().timeoutNanos());
      LaneWatch watch = new LaneWatch(0, new Disturbances());
      new Lane(
              0,
              plan,
              MAX_IN_FLIGHT,
              List.of(new Lane.Route(client, facts.address())),
              null,
              start,
              recorder,
              watch,
              clock)
          .run();
      handshakes += recorder.finishedCount();
    }
  }
}

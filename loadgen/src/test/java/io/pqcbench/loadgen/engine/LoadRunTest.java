package io.pqcbench.loadgen.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.pkitesting.CertificateBuilder;
import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.Summary;
import io.pqcbench.loadgen.handshake.Facts;
import io.pqcbench.loadgen.handshake.JdkTlsServer;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Preflight;
import io.pqcbench.loadgen.handshake.PreflightException;
import io.pqcbench.loadgen.handshake.RudeServer;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class LoadRunTest {

  private static final Progress SILENT = new Progress(System.err, false, true);

  @TempDir private Path directory;
  private Monitor monitor;

  @BeforeEach
  void watch() {
    monitor = Monitor.start(NanoClock.SYSTEM, List.of());
    monitor.calibrate(100_000_000L);
  }

  @AfterEach
  void unwatch() {
    monitor.close();
  }

  private LoadRun prepare(LoadPlan plan, ServerFacts facts) throws Exception {
    return prepare(plan, List.of(facts));
  }

  private LoadRun prepare(LoadPlan plan, List<ServerFacts> facts) throws Exception {
    Bundle bundle = Bundle.create(directory.resolve("bundle"), plan.limits().slowThresholdNanos());
    return new LoadRun(
        plan,
        facts,
        plan.limits().maxInFlight(),
        bundle,
        new LoadRun.Observers(monitor, null, SILENT, null),
        false,
        NanoClock.SYSTEM);
  }

  private Summary run(LoadPlan plan) throws Exception {
    return prepare(plan, new Preflight(plan, NanoClock.SYSTEM).run()).run().summary();
  }

  @ParameterizedTest
  @EnumSource(LoadPlan.Wait.class)
  void runsExactlyThePlannedArrivals(LoadPlan.Wait waiting) throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Summary summary =
          run(
              Plans.to(server.address().getPort())
                  .rate(50)
                  .duration(2)
                  .warmup(0.5)
                  .lanes(2)
                  .waiting(waiting)
                  .plan());

      assertThat(summary.planned()).isEqualTo(100);
      assertThat(summary.plannedMeasured()).isEqualTo(75);
      assertThat(summary.outcomes())
          .containsOnlyKeys(Outcome.SUCCESS)
          .containsEntry(Outcome.SUCCESS, 75L);
      assertThat(summary.warmupOutcomes()).containsEntry(Outcome.SUCCESS, 25L);
      assertThat(summary.phases().get("response").count()).isEqualTo(75);
      assertThat(summary.phases().get("ttlb").count()).isEqualTo(75);
      assertThat(summary.bodyBytesPerResponse()).isEqualTo(3);
      assertThat(summary.bodyBytesPerSecond()).isEqualTo(75 * 3 / 1.5);
      assertThat(summary.clientCpuIncludesPolling()).isEqualTo(waiting == LoadPlan.Wait.BUSY);
      // Also when the lanes end before the writer reads their counters.
      assertThat(summary.laneCpuMicrosPerHandshake()).isPositive();
      assertThat(summary.laneCpuMicrosPerHandshake())
          .isLessThanOrEqualTo(summary.clientCpuMicrosPerHandshake());
      assertThat(summary.allocatedBytesPerHandshake()).isPositive();
      // One more for the preflight.
      assertThat(server.requests()).isEqualTo(101);
    }
  }

  @Test
  void aStallOfTheLoopIsInTheResponseAndNotInTheService() throws Exception {
    long stallNanos = 200_000_000L;
    double rate = 100;
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      LoadPlan plan = Plans.to(server.address().getPort()).rate(rate).duration(6).warmup(1).plan();
      LoadRun run = prepare(plan, new Preflight(plan, NanoClock.SYSTEM).run());
      CompletableFuture<LoadRun.Result> result =
          CompletableFuture.supplyAsync(() -> unchecked(run));
      Awaitility.await().until(() -> !run.lanes().isEmpty());
      AtomicBoolean stalled = new AtomicBoolean();
      stallWhenIdle(run.lanes().get(0), System.nanoTime() + 2_500_000_000L, stallNanos, stalled);

      Summary summary = result.join().summary();
      assertThat(stalled).isTrue();
      Summary.PhaseSummary response = summary.phases().get("response");
      Summary.PhaseSummary service = summary.phases().get("service");
      assertThat(response.max()).isGreaterThanOrEqualTo(190_000);
      assertThat(summary.phases().get("lag").max()).isGreaterThanOrEqualTo(190_000);
      // Those that were due in the stall were late by a part of it: rate x length of them.
      assertThat(service.count()).isEqualTo(response.count());
      assertThat(service.max()).isLessThan(response.max());
      assertThat(response.mean() - service.mean())
          .isGreaterThan(0.5 * (rate * 0.2) * 100_000 / summary.plannedMeasured());
      assertThat(summary.findings())
          .extracting("rule")
          .containsAnyOf("lag", "lag-max")
          .contains("lane-stall");
      assertThat(summary.tail().causes()).extracting("cause").contains("lane-stall");
      // Not its shape: where the backlog is worked off as slowly as it came, it is a plateau.
    }
  }

  /**
   * Sleeps on the loop at a moment without an attempt in flight, so that no attempt's own service
   * holds the stall.
   */
  private static void stallWhenIdle(Lane lane, long after, long nanos, AtomicBoolean stalled) {
    // A timer, not a task that repeats itself: the loop would run it for ever instead of its input.
    lane.loop()
        .schedule(
            () -> {
              if (System.nanoTime() < after || lane.inFlight() > 0) {
                stallWhenIdle(lane, after, nanos, stalled);
                return;
              }
              long until = System.nanoTime() + nanos;
              while (System.nanoTime() < until) {
                LockSupport.parkNanos(until - System.nanoTime());
              }
              stalled.set(true);
            },
            500,
            TimeUnit.MICROSECONDS);
  }

  private static LoadRun.Result unchecked(LoadRun run) {
    try {
      return run.run();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static ServerFacts describedBy(LoadPlan plan, int port) throws Exception {
    ServerFacts facts = new Preflight(plan, NanoClock.SYSTEM).run();
    return Facts.at(facts, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
  }

  @Test
  void arrivalsBeyondTheLimitAreSkippedAndCounted() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults());
        RudeServer silent = new RudeServer(RudeServer.SILENT)) {
      LoadPlan plan =
          Plans.to(server.address().getPort())
              .rate(100)
              .duration(1)
              .maxInFlight(5)
              .timeout(0.8)
              .plan();
      Summary summary = prepare(plan, describedBy(plan, silent.port())).run().summary();

      assertThat(summary.outcomes().get(Outcome.SKIPPED)).isBetween(80L, 95L);
      assertThat(summary.outcomes().get(Outcome.TLS_TIMEOUT)).isBetween(5L, 20L);
      assertThat(summary.plannedMeasured()).isEqualTo(100);
      assertThat(summary.findings())
          .extracting("rule")
          .contains("skipped", "no-success", "tls-timeout");
      assertThat(summary.verdict()).isEqualTo("INVALID");
    }
  }

  @Test
  void attemptsInFlightAtTheEndAreWaitedForUpToTheirTimeout() throws Exception {
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withDelayNanos(700_000_000L))) {
      Summary summary =
          run(Plans.to(server.address().getPort()).rate(20).duration(1).timeout(20).plan());
      assertThat(summary.outcomes())
          .containsOnlyKeys(Outcome.SUCCESS)
          .containsEntry(Outcome.SUCCESS, 20L);
      assertThat(summary.phases().get("ttfb").min()).isGreaterThanOrEqualTo(690_000);
    }
  }

  @Test
  void aStoppedRunKeepsWhatItHasAndSaysSo() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      LoadPlan plan = Plans.to(server.address().getPort()).rate(100).duration(600).plan();
      LoadRun run = prepare(plan, new Preflight(plan, NanoClock.SYSTEM).run());
      CompletableFuture<LoadRun.Result> result =
          CompletableFuture.supplyAsync(() -> unchecked(run));
      Awaitility.await().until(() -> server.requests() > 30);
      run.stop();

      Summary summary = result.join().summary();
      assertThat(summary.interrupted()).isTrue();
      assertThat(summary.outcomes().get(Outcome.SUCCESS)).isGreaterThan(20);
      assertThat(summary.planned()).isLessThan(60_000);
    }
  }

  @Test
  void noLaneOutlivesARunThatCannotBePinned() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      LoadPlan plan =
          Plans.to(server.address().getPort())
              .rate(100)
              .duration(600)
              .lanes(Runtime.getRuntime().availableProcessors() + 1)
              .pinned()
              .plan();
      LoadRun run = prepare(plan, new Preflight(plan, NanoClock.SYSTEM).run());

      assertThatThrownBy(run::run).isInstanceOf(IOException.class).hasMessageContaining("--pin");
      assertThat(run.lanes()).hasSize(plan.limits().lanes());
      assertThat(Thread.getAllStackTraces().keySet())
          .extracting(Thread::getName)
          .noneMatch(name -> name.startsWith("lane-"));
    }
  }

  @Test
  void theSameSeedPlansTheSameInstantsInEveryRun() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      LoadPlan plan = Plans.to(server.address().getPort()).rate(50).duration(1).poisson(9).plan();
      Summary summary = run(plan);
      assertThat(summary.planned()).isEqualTo(50);
      assertThat(summary.outcomes()).containsEntry(Outcome.SUCCESS, 50L);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.2", "1.3"})
  void everyConnectionOfAResumedRunResumesASessionAndUsesATicketOfItsOwn(String version)
      throws Exception {
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withTickets(true).withTls(version))) {
      Summary summary =
          run(
              Plans.to(server.address().getPort())
                  .tls(version)
                  // The server's only classical group of TLS 1.2 by default.
                  .groups(NamedGroup.P256)
                  .rate(60)
                  .duration(2)
                  .lanes(2)
                  .resuming(1)
                  .plan());

      assertThat(summary.outcomes()).containsOnly(Map.entry(Outcome.SUCCESS, 120L));
      // One more to see that the server accepts them.
      assertThat(summary.sessions().offered()).isEqualTo(121);
      // This server issues two with each full handshake.
      assertThat(summary.sessions().primingHandshakes()).isGreaterThanOrEqualTo(32);
      assertThat(summary.kinds()).isEmpty();
    }
  }

  @Test
  void aMixTabulatesFullAndResumedHandshakesApart() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTickets(true))) {
      Summary summary =
          run(Plans.to(server.address().getPort()).rate(100).duration(2).resuming(0.25).plan());

      assertThat(summary.outcomes()).containsOnly(Map.entry(Outcome.SUCCESS, 200L));
      assertThat(summary.kinds().get("resumed").phases().get("handshake").count()).isEqualTo(50);
      assertThat(summary.kinds().get("fresh").phases().get("handshake").count()).isEqualTo(150);
      assertThat(summary.phases().get("handshake").count()).isEqualTo(200);
    }
  }

  @Test
  void aServerWithoutTicketsHasNothingToResumeAndIsRefused() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      LoadPlan plan = Plans.to(server.address().getPort()).resuming(1).plan();

      assertThatThrownBy(() -> run(plan))
          .isInstanceOf(PreflightException.class)
          .hasMessageContaining("the server issues no session tickets");
    }
  }

  @Test
  void requestsOfAPoolUseItsConnectionsAndTheirSetUpIsReportedApart() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Summary summary =
          run(
              Plans.to(server.address().getPort())
                  .rate(100)
                  .duration(2)
                  .lanes(2)
                  .pooled(5, 0)
                  .plan());

      assertThat(summary.outcomes()).containsOnly(Map.entry(Outcome.SUCCESS, 200L));
      assertThat(summary.pool().opened()).isEqualTo(5);
      assertThat(summary.phases().get("response").count()).isEqualTo(200);
      assertThat(summary.phases().get("ttfb").count()).isEqualTo(200);
      // The connections were opened when the run began or just before.
      assertThat(summary.phases().get("handshake").count()).isLessThanOrEqualTo(5);
    }
  }

  @Test
  void aPoolOfHttp2TimesTheSettingsOfEachConnectionOnceAndSendsItsRequestsOneAfterTheOther()
      throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Summary summary =
          run(
              Plans.to(server.address().getPort())
                  .http("2")
                  .rate(100)
                  .duration(2)
                  .warmup(0)
                  .lanes(2)
                  .pooled(4, 20)
                  .plan());

      assertThat(summary.outcomes()).containsOnly(Map.entry(Outcome.SUCCESS, 200L));
      assertThat(summary.pool().opened()).isBetween(10L, 14L);
      assertThat(summary.pool().failed()).isZero();
      assertThat(summary.phases().get("ttfb").count()).isEqualTo(200);
      long settings = summary.phases().get("settings").count();
      assertThat(settings).isPositive().isEqualTo(summary.phases().get("handshake").count());
      assertThat(summary.bodyBytesPerResponse()).isEqualTo(3);
      // One more is the preflight's.
      assertThat(server.requests()).isEqualTo(201);
    }
  }

  @Test
  void sessionsAreResumedWithHttp2() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults().withTickets(true))) {
      Summary summary =
          run(
              Plans.to(server.address().getPort())
                  .http("2")
                  .rate(60)
                  .duration(2)
                  .resuming(1)
                  .plan());

      assertThat(summary.outcomes()).containsOnly(Map.entry(Outcome.SUCCESS, 120L));
      assertThat(summary.phases().get("settings").count()).isEqualTo(120);
      assertThat(summary.sessions().offered()).isEqualTo(121);
    }
  }

  @Test
  void aConnectionOfAPoolIsReplacedAfterItsRequests() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      Summary summary =
          run(Plans.to(server.address().getPort()).rate(100).duration(2).pooled(2, 10).plan());

      assertThat(summary.outcomes()).containsOnly(Map.entry(Outcome.SUCCESS, 200L));
      assertThat(summary.pool().opened()).isBetween(20L, 22L);
      assertThat(summary.pool().failed()).isZero();
    }
  }

  /** As HTTP/2 has it for a server that shuts down (RFC 9113, section 6.8). */
  @Test
  void aServerThatTakesBackEveryConnectionOfAPoolIsNotHammered() throws Exception {
    byte[] settings = HexFormat.of().parseHex("000000040000000000");
    byte[] acknowledged = HexFormat.of().parseHex("000000040100000000");
    byte[] goAway = HexFormat.of().parseHex("0000080700000000000000000000000000");
    AtomicInteger connections = new AtomicInteger();
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults());
        JdkTlsServer leaving =
            JdkTlsServer.http2(
                new CertificateBuilder()
                    .ecp256()
                    .subject("CN=localhost")
                    .setIsCertificateAuthority(true)
                    .buildSelfSigned(),
                socket -> {
                  connections.incrementAndGet();
                  socket.getOutputStream().write(settings);
                  // To the acknowledgement, with which the connection waits for a request.
                  byte[] some = new byte[1_000];
                  int read = 0;
                  while (read < 9 || !Arrays.equals(some, read - 9, read, acknowledged, 0, 9)) {
                    int more = socket.getInputStream().read(some, read, some.length - read);
                    if (more < 0) {
                      return;
                    }
                    read += more;
                  }
                  socket.getOutputStream().write(goAway);
                  RudeServer.SILENT.treat(socket);
                })) {
      Plans plans =
          Plans.to(server.address().getPort())
              .groups(NamedGroup.X25519)
              .trust(LoadPlan.Trust.INSECURE, null)
              .http("2")
              .rate(10)
              .duration(1)
              .pooled(1, 0);
      ServerFacts facts = describedBy(plans.plan(), leaving.port());
      LoadRun run = prepare(plans.timeout(0.5).plan(), facts);
      long begin = System.nanoTime();
      run.run();

      assertThat(connections.get()).isPositive();
      // A pause of 50 ms between two.
      assertThat((connections.get() - 1) * 50_000_000L)
          .isLessThanOrEqualTo(System.nanoTime() - begin);
    }
  }

  @Test
  void waitingForAConnectionIsInTheResponseAndNotInTheService() throws Exception {
    long delay = 50_000_000L;
    try (EmbeddedServer server =
        EmbeddedServer.start(ServerOptions.defaults().withDelayNanos(delay))) {
      Summary summary =
          run(Plans.to(server.address().getPort()).rate(100).duration(2).pooled(1, 0).plan());

      // One connection serves 20 a second at most; the last arrivals wait for most of eight
      // seconds.
      assertThat(summary.outcomes().get(Outcome.SUCCESS)).isGreaterThan(20);
      assertThat(summary.pool().waited()).isGreaterThan(190);
      assertThat(summary.phases().get("response").max()).isGreaterThan(5e6);
      assertThat(summary.phases().get("service").p50()).isBetween(5e4, 5e5);
      assertThat(summary.findings())
          .noneMatch(finding -> finding.rule().equals("lag") || finding.rule().equals("lag-max"))
          .noneMatch(finding -> finding.rule().equals("rate-per-second"))
          .noneMatch(finding -> finding.rule().equals("achieved-rate"));
    }
  }

  @Test
  void severalTargetsAreTakenInTurnAndTabulatedApart() throws Exception {
    try (EmbeddedServer first = EmbeddedServer.start(ServerOptions.defaults());
        EmbeddedServer second = EmbeddedServer.start(ServerOptions.defaults())) {
      Target other = new Target("127.0.0.1", second.address().getPort(), "/");
      LoadPlan plan =
          Plans.to(first.address().getPort()).others(other).rate(75).duration(1).lanes(2).plan();
      List<ServerFacts> facts =
          List.of(
              new Preflight(plan.only(plan.target()), NanoClock.SYSTEM).run(),
              new Preflight(plan.only(other), NanoClock.SYSTEM).run());
      Summary summary = prepare(plan, facts).run().summary();

      assertThat(summary.outcomes()).containsOnly(Map.entry(Outcome.SUCCESS, 75L));
      assertThat(summary.kinds()).containsOnlyKeys(plan.target().authority(), other.authority());
      assertThat(summary.kinds().get(plan.target().authority()).outcomes())
          .containsOnly(Map.entry(Outcome.SUCCESS, 38L));
      assertThat(summary.kinds().get(other.authority()).phases().get("response").count())
          .isEqualTo(37);
    }
  }
}

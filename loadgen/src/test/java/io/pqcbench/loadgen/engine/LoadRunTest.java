package io.pqcbench.loadgen.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.bundle.Summary;
import io.pqcbench.loadgen.handshake.Facts;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Preflight;
import io.pqcbench.loadgen.handshake.RudeServer;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.live.Progress;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
      assertThat(summary.tail().shape()).startsWith("ramp");
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
  void theSameSeedPlansTheSameInstantsInEveryRun() throws Exception {
    try (EmbeddedServer server = EmbeddedServer.start(ServerOptions.defaults())) {
      LoadPlan plan = Plans.to(server.address().getPort()).rate(50).duration(1).poisson(9).plan();
      Summary summary = run(plan);
      assertThat(summary.planned()).isEqualTo(50);
      assertThat(summary.outcomes()).containsEntry(Outcome.SUCCESS, 50L);
    }
  }
}

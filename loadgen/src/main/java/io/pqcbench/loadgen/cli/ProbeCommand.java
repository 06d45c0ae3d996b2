package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.handshake.Preflight;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code loadgen probe}. */
@Command(
    name = "probe",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description =
        "Makes one handshake and one request, and describes the server: the preflight of a run on"
            + " its own.")
final class ProbeCommand implements Callable<Integer> {

  private static final LoadPlan.Pace ONCE =
      new LoadPlan.Pace(1, 1_000_000_000L, 0, LoadPlan.Arrival.CONSTANT, 0);

  @Parameters(
      paramLabel = "TARGET",
      converter = ConnectionOptions.TargetText.class,
      description = "host:port, [v6]:port or https://host[:port]/path")
  private Target target;

  @Mixin private ConnectionOptions connection;

  @Option(names = "--json", description = "Print what was found as JSON")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    connection.validate();
    LoadPlan plan =
        new LoadPlan(
            connection.redirected(target),
            List.of(),
            ONCE,
            connection.tlsOffer(target),
            LoadPlan.Sessions.FRESH,
            connection.request(target),
            connection.limits(1, false, LoadPlan.Wait.BLOCK, 1, Long.MAX_VALUE),
            connection.transport());
    ServerFacts facts = new Preflight(plan, NanoClock.SYSTEM).run();
    System.out.print(json ? Bundle.toJson(facts) + "\n" : Header.server(plan, facts));
    return 0;
  }
}

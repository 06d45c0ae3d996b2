package io.pqcbench.samples;

import static io.gatling.javaapi.core.CoreDsl.constantConcurrentUsers;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.time.Duration;
import java.util.Locale;

/**
 * One fresh TLS handshake and one request a virtual user, as loadgen does it. Requests of the
 * warm-up are silent unless asked, because Gatling's summary would mix them with the rest.
 */
public final class HandshakeSimulation extends Simulation {
  private final String target = setting("target", "https://127.0.0.1:443/");
  private final double rate = Double.parseDouble(setting("rate", "300"));
  private final Duration length = seconds("seconds", "30");
  private final Duration warmup = seconds("warmup", "0");
  // False: the warm-up is a row of its own, and part of the row of all requests.
  private final boolean silent = Boolean.parseBoolean(setting("silent", "true"));
  // Above 0: the closed model, as many users as this at any time, whatever the rate.
  private final int users = Integer.parseInt(setting("users", "0"));

  private long warmupEnd;

  public HandshakeSimulation() {
    // Without shareConnections() connections belong to their user, who lives for one request.
    HttpProtocolBuilder protocol = http.disableWarmUp().disableFollowRedirect();
    HttpRequestActionBuilder request = request("handshake");
    HttpRequestActionBuilder first = request("warm-up");
    // One population, because a second one would start after a gap.
    ScenarioBuilder scenario =
        scenario("handshake")
            .doIfOrElse(session -> System.nanoTime() < warmupEnd)
            .then(exec(silent ? first.silent() : first))
            .orElse(exec(request));
    Duration whole = warmup.plus(length);
    setUp(
            users > 0
                ? scenario.injectClosed(constantConcurrentUsers(users).during(whole))
                : scenario.injectOpen(constantUsersPerSec(rate).during(whole)))
        .protocols(protocol);
  }

  @Override
  public void before() {
    warmupEnd = System.nanoTime() + warmup.toNanos();
  }

  private HttpRequestActionBuilder request(String name) {
    return http(name).get(target).header("Connection", "close");
  }

  private static Duration seconds(String name, String missing) {
    return Duration.ofSeconds(Long.parseLong(setting(name, missing)));
  }

  /** Returns the system property of that name, or the environment variable in capitals. */
  private static String setting(String name, String missing) {
    String variable = System.getenv(name.toUpperCase(Locale.ROOT));
    return System.getProperty(name, variable == null ? missing : variable);
  }
}

package io.pqcbench.loadgen.live;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.ClassLoaderMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.verdict.Rules;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPOutputStream;

/**
 * Lets Prometheus read a run while it goes. It is fed once a second by the writer, with what was
 * summed up anyway; nothing that is measured or judged depends on it.
 */
public final class Metrics implements AutoCloseable {

  private static final String PATH = "/metrics";

  /** What every version of Prometheus reads. */
  private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  /** Seconds that a client may take to send its request, and to read the answer. */
  private static final String PATIENCE_SECONDS = "10";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics collections = new JvmGcMetrics();
  private final RunSeries series;
  private final HttpServer server;
  private final ExecutorService thread;

  /**
   * What is run; the labels of {@code loadgen_run_info}.
   *
   * @param target host and port
   * @param groups offered, separated by commas
   * @param ratePerSecond offered, as it was asked for
   * @param version of this program
   */
  public record Run(String target, String groups, String ratePerSecond, String version) {}

  /**
   * What the writer knows after a second.
   *
   * @param record everything recorded so far; read before {@link #tick} returns, and not kept
   * @param offered planned arrivals a second
   * @param started attempts a second
   * @param completed attempts a second, however they ended
   * @param inFlight attempts
   * @param intervals of the machine since the last tick; may be empty
   * @param disturbances reported since the last tick; may be empty
   * @param judgement of the run so far; null before the first
   */
  public record Tick(
      RunRecord record,
      double offered,
      double started,
      double completed,
      int inFlight,
      List<Interval> intervals,
      List<Disturbance> disturbances,
      Rules.Judgement judgement) {}

  private Metrics(HttpServer server, Run run) {
    this.server = server;
    series = new RunSeries(run);
    registry.getPrometheusRegistry().register(series);
    List.<MeterBinder>of(
            new JvmMemoryMetrics(),
            collections,
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new ClassLoaderMetrics(),
            new UptimeMetrics())
        .forEach(binder -> binder.bindTo(registry));
    thread =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread daemon = new Thread(task, "prometheus");
              daemon.setDaemon(true);
              return daemon;
            });
    server.setExecutor(thread);
    server.createContext("/", this::answer);
    // The server's dispatcher inherits from the thread that starts it that it keeps no JVM alive.
    CompletableFuture.runAsync(server::start, thread).join();
  }

  /**
   * Begins to serve; the first tick is yet to come.
   *
   * @param listen where to; resolved here if it is not yet, and port 0 takes a free one
   * @param run what is run
   * @throws IOException when it cannot listen there, with the reason and the address
   */
  public static Metrics serve(InetSocketAddress listen, Run run) throws IOException {
    // Without them one client that sends half a request keeps the only thread for good. The
    // server reads them once and has no other switch.
    System.setProperty("sun.net.httpserver.maxReqTime", PATIENCE_SECONDS);
    System.setProperty("sun.net.httpserver.maxRspTime", PATIENCE_SECONDS);
    HttpServer server;
    try {
      InetAddress address = InetAddress.getByName(listen.getHostString());
      server = HttpServer.create(new InetSocketAddress(address, listen.getPort()), 0);
    } catch (IOException e) {
      throw new IOException(
          "--prometheus cannot listen there ("
              + e.getMessage()
              + "): address="
              + authority(listen.getHostString(), listen.getPort()),
          e);
    }
    return new Metrics(server, run);
  }

  private static String authority(String host, int port) {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
  }

  /** Returns where it serves; never null. */
  public String url() {
    InetSocketAddress address = server.getAddress();
    return "http://" + authority(address.getAddress().getHostAddress(), address.getPort()) + PATH;
  }

  /** Takes over a second. For the writer's thread. */
  public void tick(Tick tick) {
    series.tick(tick);
  }

  /** Takes over the last word on the run. For the writer's thread. */
  public void judged(Rules.Judgement judgement) {
    series.judged(judgement);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      if (!exchange.getRequestURI().getPath().equals(PATH)) {
        say(exchange, 404, "see " + PATH + "\n");
      } else if (!exchange.getRequestMethod().equals("GET")) {
        exchange.getResponseHeaders().set("Allow", "GET");
        say(exchange, 405, "GET only\n");
      } else {
        scrape(exchange);
      }
    }
  }

  private static void say(HttpExchange exchange, int status, String text) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    send(exchange, status, text.getBytes(StandardCharsets.UTF_8));
  }

  private void scrape(HttpExchange exchange) throws IOException {
    String encodings = exchange.getRequestHeaders().getFirst("Accept-Encoding");
    boolean compressed = encodings != null && encodings.contains("gzip");
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (OutputStream out = compressed ? new GZIPOutputStream(body) : body) {
      registry.scrape(out, CONTENT_TYPE);
    }
    exchange.getResponseHeaders().set("Content-Type", CONTENT_TYPE);
    if (compressed) {
      exchange.getResponseHeaders().set("Content-Encoding", "gzip");
    }
    send(exchange, 200, body.toByteArray());
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    if (exchange.getRequestMethod().equals("HEAD")) {
      exchange.sendResponseHeaders(status, -1);
      return;
    }
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
  }

  @Override
  public void close() {
    server.stop(0);
    thread.shutdownNow();
    collections.close();
    registry.close();
  }
}

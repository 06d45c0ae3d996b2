package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.QuicServer;
import io.pqcbench.loadgen.target.Server;
import io.pqcbench.loadgen.target.ServerOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code loadgen serve}. */
@Command(
    name = "serve",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description = "Runs the embedded TLS server in the foreground: something to shoot at.")
final class ServeCommand implements Callable<Integer> {

  private final ServerOptions defaults = ServerOptions.defaults();

  @Option(
      names = "--host",
      paramLabel = "ADDR",
      description = "Address to listen on. Default: ${DEFAULT-VALUE}")
  private String host = defaults.host();

  @Option(
      names = "--port",
      paramLabel = "N",
      description = "Port to listen on; 0 takes a free one. Default: 0")
  private int port;

  @Option(
      names = "--groups",
      paramLabel = "GROUP[,GROUP]",
      converter = ConnectionOptions.Groups.class,
      description = "Groups to accept, the preferred first. Default: X25519MLKEM768,X25519,P-256")
  private List<NamedGroup> groups = NamedGroup.parseList(String.join(",", defaults.groups()));

  @Option(
      names = "--tls",
      paramLabel = "VERSION",
      description = "TLS version, 1.3 or 1.2. Default: ${DEFAULT-VALUE}")
  private String tls = defaults.tls();

  @Option(names = "--tickets", description = "Issue session tickets. Default: none")
  private boolean tickets;

  @Option(
      names = "--delay",
      paramLabel = "TIME",
      converter = ConnectionOptions.Nanos.class,
      description = "Time to wait before each response, e.g. 10ms. Default: 0s")
  private long delayNanos;

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "Event loops. Default: ${DEFAULT-VALUE}")
  private int threads = defaults.threads();

  @Option(
      names = "--transport",
      paramLabel = "tcp|quic",
      description =
          "HTTP/1.1 over TLS and TCP, or HTTP/0.9 (hq-interop) over QUIC. Default:"
              + " ${DEFAULT-VALUE}")
  private LoadPlan.Transport transport = LoadPlan.Transport.TCP;

  @Option(
      names = "--retry",
      description =
          "Let every client prove its address first (Retry), with --transport quic. Default: no")
  private boolean retry;

  @Option(
      names = "--until-stdin-closes",
      hidden = true,
      description = "End when the process that started it ends")
  private boolean untilStdinCloses;

  @Override
  public Integer call() throws Exception {
    ServerOptions options =
        defaults
            .withHost(host)
            .withPort(port)
            .withGroups(groups.stream().map(NamedGroup::label).toList())
            .withTls(tls)
            .withTickets(tickets)
            .withDelayNanos(delayNanos)
            .withThreads(threads);
    if (transport == LoadPlan.Transport.TCP && retry) {
      throw new IllegalArgumentException("--retry needs --transport quic: transport=tcp");
    }
    if (transport == LoadPlan.Transport.QUIC && (tickets || !tls.equals("1.3"))) {
      throw new IllegalArgumentException(
          "--transport quic speaks TLS 1.3 and always issues tickets, leave out --tls and"
              + " --tickets: tls="
              + tls
              + " tickets="
              + tickets);
    }
    try (Server server =
        transport == LoadPlan.Transport.QUIC
            ? QuicServer.start(options, retry)
            : EmbeddedServer.start(options)) {
      String address = server.address().getAddress().getHostAddress();
      System.out.println(
          "target=" + new Target(address, server.address().getPort(), "/").authority());
      System.out.flush();
      if (untilStdinCloses) {
        awaitEndOfInput();
      } else {
        System.err.println("loadgen: serving, end with ctrl-C");
        new CountDownLatch(1).await();
      }
    }
    return 0;
  }

  private static void awaitEndOfInput() throws IOException {
    System.in.transferTo(OutputStream.nullOutputStream());
  }
}

package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.engine.WarmUp;
import io.pqcbench.loadgen.handshake.ServerFacts;
import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.monitor.Monitor;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.Target;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Collectors;

/** Where the numbers come from: printed before any of them. */
final class Header {

  private Header() {}

  static String render(LoadPlan plan, Session session, Path directory) {
    HostFacts host = session.host();
    Session.Versions versions = Session.Versions.read(plan);
    StringBuilder text = new StringBuilder();
    line(
        text,
        "loadgen",
        "%s, %s, Netty %s, JDK %s",
        versions.loadgen(),
        versions.tlsStack(),
        versions.netty(),
        versions.jdk());
    line(
        text,
        "client",
        "%s, %d CPUs%s, %s, %s, heap %d MiB, %s",
        host.host(),
        host.cpus(),
        host.cpuModel() == null ? "" : " (" + host.cpuModel() + ")",
        host.kernel(),
        host.architecture(),
        host.heapMaxBytes() >> 20,
        host.collectors().stream()
            .map(name -> name.split(" ", 2)[0])
            .distinct()
            .collect(Collectors.joining("+")));
    if (System.getProperty("loadgen.launcher") == null) {
      line(
          text,
          "note",
          "started without the launcher bin/loadgen: heap and collector are the JVM's defaults, so"
              + " a collector pause may stand in the tail, and start-up uses no class cache");
    }
    if (!plan.tls().stack().name().compiled()) {
      line(
          text,
          "note",
          "%s is a TLS stack in Java: for what it can do, not for microseconds",
          plan.tls().stack().name().label());
    }
    line(
        text,
        "target",
        "%s%s",
        plan.target().authority(),
        session.embedded() ? " (embedded server, separate process)" : "");
    text.append(server(plan, session.facts().get(0)));
    for (int i = 0; i < plan.others().size(); i++) {
      Target other = plan.others().get(i);
      line(text, "target", "%s", other.authority());
      text.append(server(plan.only(other), session.facts().get(i + 1)));
    }
    if (plan.transport() == LoadPlan.Transport.QUIC) {
      line(
          text,
          "transport",
          "QUIC, a new UDP socket each; through Netty's codec, which costs the client more than its"
              + " own way over TCP");
    }
    LoadPlan.Pace pace = plan.pace();
    if (pace.shard().count() > 1) {
      line(
          text,
          "shard",
          "%s: of the load below one arrival in %d, from number %d on, %s/s",
          pace.shard(),
          pace.shard().count(),
          pace.shard().index(),
          Quantity.trim(pace.ownRatePerSecond()));
    }
    if (pace.startAt() != null) {
      line(text, "start", "agreed for %s", pace.startAt());
    }
    line(
        text,
        "load",
        "%s/s %s for %s, the first %s not measured%s",
        Quantity.trim(pace.ratePerSecond()),
        pace.arrival().name().toLowerCase(Locale.ROOT),
        Quantity.format(pace.durationNanos()),
        Quantity.format(pace.warmupNanos()),
        pace.arrival() == LoadPlan.Arrival.POISSON ? ", seed " + pace.seed() : "");
    line(
        text,
        "lanes",
        "%d%s, waiting: %s, at most %d in flight, timeouts %s connect %s in all, close %s%s",
        plan.limits().lanes(),
        plan.limits().pinned() ? " pinned" : "",
        plan.limits().waiting().name().toLowerCase(Locale.ROOT),
        session.maxInFlight(),
        Quantity.format(plan.limits().connectTimeoutNanos()),
        Quantity.format(plan.limits().timeoutNanos()),
        plan.limits().close().name().toLowerCase(Locale.ROOT),
        plan.request().handshakeOnly() ? ", handshake only" : ", GET " + plan.request().path());
    if (plan.limits().proxyProtocol() != LoadPlan.ProxyProtocol.NONE) {
      line(
          text,
          "proxy",
          "PROXY protocol %s: a header before each ClientHello, in no count of bytes",
          plan.limits().proxyProtocol().name().toLowerCase(Locale.ROOT));
    }
    if (plan.sessions().pooled()) {
      line(
          text,
          "pool",
          "%d connections kept open%s; a request that finds none free waits, and its wait counts",
          plan.sessions().connections(),
          plan.sessions().requestsPerConnection() == 0
              ? ""
              : ", each for " + plan.sessions().requestsPerConnection() + " requests");
    }
    if (plan.sessions().resume()) {
      line(
          text,
          "sessions",
          "%s of the connections resume one, each ticket once; tickets are collected before",
          plan.sessions().mixed()
              ? Quantity.trim(plan.sessions().resumedShare() * 100) + " %"
              : "all");
    }
    WarmUp.Result code = session.codeWarmup();
    if (code != null) {
      line(
          text,
          "code",
          "compiled in %.1f s by %d handshakes within this process%s",
          code.seconds(),
          code.handshakes(),
          code.settled() ? "" : ", the compiler is still at work");
    }
    Monitor.Calibration noise = session.noise();
    if (noise != null) {
      line(
          text,
          "noise",
          "idle for 1 s, a thread that slept 1 ms woke late by p50 %.0f, p99 %.0f, max %.0f us;"
              + " stops above %.1f ms are reported",
          noise.wakeP50Micros(),
          noise.wakeP99Micros(),
          noise.wakeMaxMicros(),
          noise.hiccupThresholdMicros() / 1e3);
    }
    line(text, "out", "%s", directory);
    return text.append('\n').toString();
  }

  /** What the preflight found: the report of {@code loadgen probe}, and a part of the header. */
  static String server(LoadPlan plan, ServerFacts facts) {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "address",
        "%s%s, RTT %d us",
        facts.usedAddress(),
        facts.addresses().size() > 1 ? " (of " + String.join(", ", facts.addresses()) + ")" : "",
        facts.rttMicros());
    line(
        text,
        "tls",
        "%s, %s, %s, key shares sent %s%s",
        facts.protocol(),
        facts.group(),
        facts.cipherSuite(),
        facts.keyShares(),
        facts.serverKeyShareBytes() < 0 ? "" : ", received " + facts.serverKeyShareBytes());
    if (facts.quic() != null) {
      line(
          text,
          "quic",
          "version 1, %s, %s",
          facts.alpn(),
          facts.quic().retry()
              ? "the server asks for proof of the address first (Retry): one more round trip,"
                  + " expected of every handshake"
              : "no Retry");
    }
    if (facts.helloRetryRequest()) {
      line(
          text,
          "WARNING",
          "the server answered with a HelloRetryRequest: every handshake costs one more round trip"
              + " and is counted as HELLO_RETRY, not as a success; offer the group that it"
              + " prefers");
    }
    ServerFacts.CertificateFacts certificate = facts.certificate();
    line(
        text,
        "cert",
        "%s, %s, signed with %s, %d bytes, chain of %d (%d bytes), until %s",
        certificate.subject(),
        certificate.keyType(),
        certificate.signatureAlgorithm(),
        certificate.leafBytes(),
        certificate.chainLength(),
        certificate.chainBytes(),
        certificate.notAfter());
    line(text, "signature", "%s", signature(certificate));
    ServerFacts.Flight flight = facts.flight();
    if (flight != null) {
      line(
          text,
          "flight",
          "%d bytes%s from the server; %d x %d = %d bytes are a new connection's initial window:"
              + " %s",
          flight.bytes(),
          flight.segments() < 0 ? "" : " in " + flight.segments() + " segments",
          ServerFacts.Flight.INITIAL_SEGMENTS,
          flight.mss(),
          flight.windowBytes(),
          flight.exceedsWindow()
              ? "it needs one more round trip unless the server's window is larger"
              : "no further round trip");
    }
    line(
        text,
        "trust",
        "%s",
        switch (certificate.trust()) {
          case "verified" -> "verified, and so must be every handshake's";
          case "pinned" ->
              "does not verify ("
                  + certificate.complaint()
                  + "); pinned: every handshake must show this one";
          default -> "not checked (--insecure)";
        });
    line(
        text,
        "tickets",
        "%s",
        facts.ticketsIssued() == null
            ? whyUnknown(plan)
            : facts.ticketsIssued()
                ? plan.sessions().resume()
                    ? "issued by the server"
                    : "issued by the server; this client never offers one"
                : "none seen");
    line(
        text,
        "bytes",
        "ClientHello %d, handshake %d out %d in, connection %d out %d in",
        facts.clientHelloBytes(),
        facts.handshakeBytesOut(),
        facts.handshakeBytesIn(),
        facts.bytesOut(),
        facts.bytesIn());
    if (!plan.request().handshakeOnly()) {
      line(
          text,
          "http",
          "%s, body %d bytes",
          facts.quic() == null
              ? (plan.request().http2() ? "HTTP/2, " : "") + "status " + facts.httpStatus()
              : "HTTP/0.9, which has no status",
          facts.bodyBytes());
    }
    return text.toString();
  }

  /** Why it is not known whether the server issues tickets. */
  private static String whyUnknown(LoadPlan plan) {
    if (plan.transport() == LoadPlan.Transport.QUIC) {
      return "not looked for over QUIC";
    }
    return plan.tls().stack().name().compiled()
        ? "not known without a request"
        : "not reported by this TLS stack; this client never offers one";
  }

  /** How the server signed the handshake, which is encrypted in TLS 1.3. */
  private static String signature(ServerFacts.CertificateFacts certificate) {
    if (certificate.signatureScheme() != null) {
      return certificate.signatureScheme() + " in CertificateVerify";
    }
    String unknown = "scheme of CertificateVerify not reported by this TLS stack";
    return switch (certificate.possibleSchemes().size()) {
      case 0 -> unknown;
      case 1 ->
          unknown + "; TLS 1.3 has one for such a key: " + certificate.possibleSchemes().get(0);
      default ->
          unknown
              + "; one of "
              + String.join(", ", certificate.possibleSchemes())
              + ", by the kind of the key";
    };
  }

  private static void line(StringBuilder text, String name, String format, Object... values) {
    text.append(String.format(Locale.ROOT, "%-10s ", name))
        .append(String.format(Locale.ROOT, format, values));
    text.append('\n');
  }
}

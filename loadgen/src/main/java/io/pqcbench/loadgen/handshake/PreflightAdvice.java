package io.pqcbench.loadgen.handshake;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.TlsStack;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Says of a preflight that failed what happened, and what to do about it. */
final class PreflightAdvice {

  private static final int BAD_REQUEST = 400;

  private final LoadPlan plan;

  /** The target, and the address that was tried. */
  private final String where;

  private final Predicate<NamedGroup> accepts;

  /**
   * @param accepts tries whether the server accepts a group
   */
  PreflightAdvice(LoadPlan plan, InetSocketAddress address, Predicate<NamedGroup> accepts) {
    this.plan = plan;
    this.where = plan.target().authority() + " (" + address.getAddress().getHostAddress() + ")";
    this.accepts = accepts;
  }

  private boolean quic() {
    return plan.transport() == LoadPlan.Transport.QUIC;
  }

  /** Returns what to tell the user. */
  String explain(Connection exchange) {
    Attempt attempt = exchange.attempt();
    String version = "TLS " + plan.tls().version();
    return switch (attempt.outcome()) {
      case TCP_REFUSED ->
          (quic() ? "nothing listens on UDP at " : "nothing accepts connections at ")
              + where
              + ": "
              + attempt.failure().getMessage()
              + "; is the server running?";
      case TCP_TIMEOUT ->
          "no answer from "
              + where
              + " within --connect-timeout="
              + Quantity.format(plan.limits().connectTimeoutNanos())
              + ": a firewall may drop the packets";
      case TLS_TIMEOUT ->
          where
              + (quic() && attempt.bytesIn() == 0
                  ? " answers no packet of QUIC, a firewall may drop UDP, or nothing listens; no "
                  : quic()
                      ? " answers over QUIC but did not finish a "
                      : " accepts connections but did not finish a ")
              + version
              + " handshake within --timeout="
              + Quantity.format(plan.limits().timeoutNanos());
      case HTTP_TIMEOUT ->
          where
              + " finished the handshake but did not answer the request within --timeout="
              + Quantity.format(plan.limits().timeoutNanos())
              + "; without a request: --handshake-only";
      case HTTP_ERROR ->
          attempt.detail() > 0
              ? where
                  + " answers "
                  + plan.request().path()
                  + " with HTTP status "
                  + attempt.detail()
                  + (attempt.detail() == BAD_REQUEST
                      ? ", as nginx does without a client certificate that it accepts"
                          + clientCertificateHint()
                      : "; try --path")
              : where
                  + " did not answer with HTTP/"
                  + (quic() ? "0.9" : plan.request().http())
                  + ": "
                  + attempt.failure().getMessage();
      case WRONG_PROTOCOL ->
          where
              + " does not take HTTP/2: of "
              + plan.tls().alpn()
              + " it took "
              + (exchange.negotiatedProtocol() == null ? "none" : exchange.negotiatedProtocol())
              + " (ALPN); to measure with HTTP/1.1: --http 1.1";
      case WRONG_LENGTH ->
          where
              + " answers "
              + plan.request().path()
              + " with a body of another length than --expect-bytes says: "
              + attempt.failure().getMessage();
      case TCP_RESET, CLOSED_EARLY ->
          where
              + " "
              + (attempt.outcome() == Outcome.TCP_RESET ? "reset" : "closed")
              + " the connection after "
              + stage(attempt.lastReached())
              + ", before the exchange was over"
              + said(attempt)
              + (quic() ? "" : "; is it a TLS server?" + proxyDoubt());
      case TLS_ALERT -> explainAlert(attempt);
      case NO_PORT -> "this machine has no ephemeral port left for " + where;
      default ->
          "no "
              + version
              + " handshake with "
              + where
              + ": "
              + attempt.failure().getMessage()
              + proxyHint();
    };
  }

  /** What is known beyond the outcome, which may be nothing. */
  private static String said(Attempt attempt) {
    String message = attempt.failure() == null ? null : attempt.failure().getMessage();
    return message == null ? "" : ": " + message;
  }

  private String explainAlert(Attempt attempt) {
    String alert = TlsAlert.name(attempt.detail());
    if (attempt.reached(Milestone.SECURED) || TlsAlert.aboutCertificate(attempt.detail())) {
      // In TLS 1.3 the client's certificate is the last thing that it sends, so the answer to it
      // comes when the handshake is over here.
      return where
          + " ended the connection "
          + (attempt.reached(Milestone.SECURED) ? "after" : "in")
          + " the handshake with the alert "
          + alert
          + clientCertificateHint();
    }
    if (quic() && attempt.detail() == TlsAlert.NO_APPLICATION_PROTOCOL) {
      return where
          + " speaks none of the offered protocols over QUIC (alert "
          + alert
          + "); this client can ask by "
          + QuicClient.HQ
          + " only, without a request any will do: --handshake-only, and --alpn to name one";
    }
    if (attempt.detail() == TlsAlert.PROTOCOL_VERSION) {
      return where
          + " does not speak TLS "
          + plan.tls().version()
          + " (alert "
          + alert
          + ")"
          + (plan.tls().tls13() ? "; to measure TLS 1.2: --tls 1.2 with a classical group" : "")
          + proxyHint();
    }
    if (attempt.detail() == TlsAlert.NO_APPLICATION_PROTOCOL) {
      return where
          + " takes none of the protocols that were offered by ALPN (alert "
          + alert
          + "): alpn="
          + plan.tls().alpn()
          + (plan.request().http2() ? "; to measure with HTTP/1.1: --http 1.1" : "");
    }
    List<NamedGroup> accepted = new ArrayList<>();
    for (NamedGroup group : NamedGroup.offered(plan.tls().stack().name())) {
      boolean possible = !group.needsTls13() || plan.tls().tls13();
      if (possible && !plan.tls().groups().contains(group)) {
        if (accepts.test(group)) {
          accepted.add(group);
        }
      }
    }
    String offered = names(plan.tls().groups());
    return accepted.isEmpty()
        ? where
            + " refuses the handshake with the alert "
            + alert
            + ", whatever group is offered: groups="
            + offered
            + certificateHint()
        : where
            + " accepts none of the groups that were offered (alert "
            + alert
            + "): groups="
            + offered
            + ", it does accept: "
            + names(accepted)
            + (plan.tls().stack().name() == TlsStack.BC ? certificateHint() : "");
  }

  private String certificateHint() {
    LoadPlan.Stack stack = plan.tls().stack();
    if (!stack.sigalgs().isEmpty()) {
      return "; its certificate may need another signature scheme than those that were offered:"
          + " sigalgs="
          + stack.sigalgs();
    }
    return switch (stack.name()) {
      case BORINGSSL, JDK ->
          "; its certificate may need a signature scheme that the TLS stack "
              + stack.name().label()
              + " does not offer, as one of ML-DSA does: "
              + (quic() ? "over TCP " : "")
              + "--tls-stack openssl and bc offer mldsa44, mldsa65 and mldsa87";
      case OPENSSL ->
          "; its certificate may need a signature scheme that the TLS stack OpenSSL does not offer;"
              + " see loadgen stacks";
      case BC ->
          "; Bouncy Castle offers the signature scheme of a curve only with its group, so a"
              + " certificate with a key on P-256 needs that too: --groups "
              + plan.tls().groups().get(0)
              + ",P-256";
    };
  }

  private String proxyDoubt() {
    return plan.limits().proxyProtocol() == LoadPlan.ProxyProtocol.NONE
        ? " Behind a load balancer it may expect a PROXY header: --proxy-protocol"
        : proxyHint();
  }

  private String proxyHint() {
    return plan.limits().proxyProtocol() == LoadPlan.ProxyProtocol.NONE
        ? ""
        : "; was it told to expect the PROXY header that --proxy-protocol sends?";
  }

  private String clientCertificateHint() {
    return plan.tls().cert() == null
        ? "; if it wants a client certificate: --cert and --key"
        : "; the client's certificate is " + plan.tls().cert();
  }

  private static String names(List<NamedGroup> groups) {
    return groups.stream().map(NamedGroup::label).collect(Collectors.joining(", "));
  }

  private static String stage(Milestone last) {
    return switch (last) {
      case PLANNED, STARTED -> "the connect call";
      case CONNECTED -> "accepting it";
      case HELLO_SENT -> "the ClientHello";
      case HELLO_RECEIVED -> "its ServerHello";
      case SECURED, REQUEST_SENT, SETTINGS_RECEIVED -> "the request";
      case FIRST_BYTE, DONE -> "a part of the response";
    };
  }
}

package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.util.Version;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.SignatureScheme;
import io.pqcbench.loadgen.plan.TlsStack;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLException;

/**
 * What a TLS stack offers by itself, read from ClientHellos that it made.
 *
 * @param stack its option
 * @param available whether it can be used here
 * @param reason why it cannot; null when it can
 * @param version of the stack; null when it is not available
 * @param protocols e.g. {@code TLSv1.3}
 * @param groups each of which it offers when told
 * @param cipherSuites of TLS 1.3
 * @param signatureSchemes by IANA's names
 * @param limits what it cannot, in sentences
 */
public record StackFacts(
    String stack,
    boolean available,
    String reason,
    String version,
    List<String> protocols,
    List<String> groups,
    List<String> cipherSuites,
    List<String> signatureSchemes,
    List<String> limits) {

  /** Also of a ClientHello with ten key shares. */
  private static final int HELLO_BYTES = 1 << 15;

  /** All suites of TLS 1.3 begin with this byte (RFC 8446, appendix B.4). */
  private static final int TLS_13_SUITES = 0x13;

  /** Looks at a stack, which must be the first of its kind in this process. */
  public static StackFacts of(LoadPlan.Stack stack) {
    List<String> none = List.of();
    try {
      NativeTls.require(stack);
      List<NamedGroup> groups = new ArrayList<>();
      SSLException refused = null;
      for (NamedGroup group : NamedGroup.offered(stack.name())) {
        try {
          if (hello(stack, List.of(group)).offeredGroup(0) == group.codePoint()) {
            groups.add(group);
          }
        } catch (SSLException e) {
          refused = e;
        }
      }
      if (groups.isEmpty()) {
        throw refused == null ? new SSLException("it offers no group") : refused;
      }
      Offer offer = hello(stack, groups);
      return new StackFacts(
          stack.name().option(),
          true,
          null,
          version(stack.name()),
          offer.protocols,
          groups.stream().map(NamedGroup::label).toList(),
          offer.suites,
          offer.schemes,
          limits(stack.name()));
    } catch (SSLException | IllegalStateException e) {
      String cause = e.getCause() == null ? "" : " (" + e.getCause().getMessage() + ")";
      return new StackFacts(
          stack.name().option(),
          false,
          e.getMessage() + cause,
          null,
          none,
          none,
          none,
          none,
          limits(stack.name()));
    }
  }

  /** Returns the name and version of what makes the handshakes of a plan, in its own process. */
  public static String version(LoadPlan plan) {
    if (plan.transport() == LoadPlan.Transport.QUIC) {
      Version codec = Version.identify().get("netty-codec-classes-quic");
      return "BoringSSL within quiche (Netty's codec-quic "
          + (codec == null ? "of unknown version" : codec.artifactVersion())
          + ")";
    }
    return version(plan.tls().stack().name());
  }

  /** Returns the name and version of a stack, which must be the one that this process uses. */
  public static String version(TlsStack stack) {
    return switch (stack) {
      case BORINGSSL -> {
        Version classes = Version.identify().get("netty-tcnative-classes");
        yield NativeTls.version()
            + (classes == null ? "" : " (tcnative " + classes.artifactVersion() + ")");
      }
      // Which of those that may be on the machine.
      case OPENSSL ->
          NativeTls.version() + NativeTls.library().map(file -> " (" + file + ")").orElse("");
      case JDK, BC -> EngineContext.version(stack);
    };
  }

  private static List<String> limits(TlsStack stack) {
    return switch (stack) {
      case BORINGSSL ->
          List.of(
              "--sigalgs and --ciphersuites cannot be set",
              "of a list of groups it sends the shares of the first classical and the first"
                  + " post-quantum one");
      case OPENSSL ->
          List.of(
              "needs OpenSSL 3.5 or newer and libapr-1 on the machine",
              "of a list of groups it sends the share of the first one");
      case JDK ->
          List.of(
              "in Java: not for microseconds",
              "no --session resumed, no client certificate",
              "does not name the negotiated group: it is read from the ServerHello, and in TLS 1.2"
                  + " not reported",
              "groups can be set from JDK 20 on, X25519MLKEM768 comes with JDK 27",
              "of a list of groups it sends the shares of up to two, of different kinds: X25519 or"
                  + " X448, and a NIST curve");
      case BC ->
          List.of(
              "in Java: not for microseconds",
              "no --session resumed, no client certificate",
              "does not name the negotiated group: it is read from the ServerHello, and in TLS 1.2"
                  + " not reported",
              "offers the ECDSA scheme of a curve only when its group is among --groups",
              "of a list of groups it sends the share of the first one");
    };
  }

  private static Offer hello(LoadPlan.Stack stack, List<NamedGroup> groups) throws SSLException {
    LoadPlan.TlsOffer offer =
        new LoadPlan.TlsOffer(
            groups,
            "1.2,1.3",
            null,
            null,
            null,
            List.of(),
            LoadPlan.Trust.INSECURE,
            null,
            null,
            null,
            null,
            null,
            stack);
    Offer read = new Offer();
    Memory out = new Memory(HELLO_BYTES);
    try (TlsConnections connections =
        TlsConnections.of(offer, groups, new ServerTrust.Blind(), null)) {
      TlsConnection connection = connections.connection();
      connection.open();
      connection.sinkTo(out);
      connection.handshake();
      HelloScanner.ofClient(read).scan(out.view(0, connection.sunk()));
      connection.detach();
      connection.free();
    } finally {
      out.free();
    }
    return read;
  }

  /** A ClientHello with what nobody has to read under load. */
  private static final class Offer extends ClientHello {
    private final List<String> suites = new ArrayList<>();
    private final List<String> schemes = new ArrayList<>();
    private final List<String> protocols = new ArrayList<>();

    @Override
    void cipherSuites(ByteBuf buf, int at, int end) {
      for (int pos = at; pos < end; pos += 2) {
        int suite = buf.getUnsignedShort(pos);
        if (suite >> 8 == TLS_13_SUITES) {
          suites.add(CipherSuites.name(suite));
        }
      }
    }

    @Override
    boolean extension(int type, ByteBuf buf, int at, int end) {
      if (type == SIGNATURE_ALGORITHMS) {
        for (int pos = at + 2; pos + 2 <= end; pos += 2) {
          schemes.add(SignatureScheme.nameOf(buf.getUnsignedShort(pos)));
        }
      } else if (type == SUPPORTED_VERSIONS) {
        for (int pos = at + 1; pos + 2 <= end; pos += 2) {
          int version = buf.getUnsignedShort(pos);
          if (version == 0x0304 || version == 0x0303) {
            protocols.add(version == 0x0304 ? "TLSv1.3" : "TLSv1.2");
          }
        }
      }
      return super.extension(type, buf, at, end);
    }
  }
}

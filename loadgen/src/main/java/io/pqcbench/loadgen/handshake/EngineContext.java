package io.pqcbench.loadgen.handshake;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.SignatureScheme;
import io.pqcbench.loadgen.plan.TlsStack;
import java.lang.reflect.InvocationTargetException;
import java.security.GeneralSecurityException;
import java.security.Provider;
import java.security.Security;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.jsse.BCSNIHostName;
import org.bouncycastle.jsse.BCSSLEngine;
import org.bouncycastle.jsse.BCSSLParameters;
import org.bouncycastle.jsse.provider.BouncyCastleJsseProvider;
import org.bouncycastle.tls.crypto.impl.jcajce.JcaTlsCryptoProvider;

/**
 * What all TLS connections of a client share by a stack in Java: the JDK's or Bouncy Castle's JSSE.
 *
 * <p>It offers no sessions: an engine that is not told its peer looks for none. The stack keeps the
 * last one all the same, because a cache of none cannot be asked for: 0 stands for no limit.
 */
final class EngineContext implements TlsConnections {

  private final SSLContext context;

  /** Tells why a certificate was refused. */
  final EngineTrust trust;

  private final LoadPlan.TlsOffer offer;
  private final List<NamedGroup> groups;
  private final SSLParameters parameters;

  /**
   * Makes what connections share.
   *
   * @throws SSLException when the stack refuses the offer
   */
  EngineContext(LoadPlan.TlsOffer offer, List<NamedGroup> groups, ServerTrust trust)
      throws SSLException {
    NativeTls.require(offer.stack());
    this.offer = offer;
    this.groups = groups;
    this.trust = new EngineTrust(trust);
    try {
      context = SSLContext.getInstance("TLS", provider());
      context.init(null, new TrustManager[] {this.trust}, null);
      // The JDK's would fill up with a session for every ticket, 20,480 of them by itself.
      context.getClientSessionContext().setSessionCacheSize(1);
      parameters = bouncyCastle() ? null : ofJdk(context.getDefaultSSLParameters());
      // Refused now, and not with the first connection.
      engine();
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw new SSLException(
          "the TLS stack "
              + version(offer.stack().name())
              + " refuses the offer: "
              + e.getMessage(),
          e);
    }
  }

  /** Returns the stack's name with its version. */
  static String version(TlsStack stack) {
    return stack == TlsStack.BC
        ? BouncyCastle.PROVIDER.getInfo()
        : "JDK " + Runtime.version() + " " + Security.getProvider("SunJSSE").getName();
  }

  private boolean bouncyCastle() {
    return offer.stack().name() == TlsStack.BC;
  }

  private Provider provider() {
    if (!bouncyCastle()) {
      return Security.getProvider("SunJSSE");
    }
    return BouncyCastle.PROVIDER;
  }

  /** Made when it is wanted, because that takes a tenth of a second. */
  private static final class BouncyCastle {

    /** Tells of every alert. Kept, or the logger would forget its level. */
    private static final Logger LOGGER = Logger.getLogger("org.bouncycastle.jsse");

    static final Provider PROVIDER;

    static {
      LOGGER.setLevel(Level.SEVERE);
      PROVIDER =
          new BouncyCastleJsseProvider(
              false, new JcaTlsCryptoProvider().setProvider(new BouncyCastleProvider()));
    }
  }

  @Override
  public TlsConnection connection() {
    return new EngineConnection(this);
  }

  /** Makes the TLS state of one connection. */
  SSLEngine engine() {
    // Without its peer's name, by which it would look for a session.
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(true);
    if (bouncyCastle()) {
      ((BCSSLEngine) engine).setParameters(ofBouncyCastle(((BCSSLEngine) engine).getParameters()));
    } else {
      engine.setSSLParameters(parameters);
    }
    return engine;
  }

  private String[] versions() {
    List<String> versions = new ArrayList<>();
    if (offer.tls13()) {
      versions.add("TLSv1.3");
    }
    if (offer.tls12()) {
      versions.add("TLSv1.2");
    }
    return versions.toArray(String[]::new);
  }

  /** The suites of TLS 1.3 that are asked for, and the stack's own of TLS 1.2. */
  private String[] cipherSuites(String[] own) {
    List<String> asked = offer.stack().cipherSuites();
    if (asked.isEmpty()) {
      return own;
    }
    List<String> suites = new ArrayList<>(asked);
    Arrays.stream(own).filter(suite -> suite.contains("_WITH_")).forEach(suites::add);
    return suites.toArray(String[]::new);
  }

  private SSLParameters ofJdk(SSLParameters jdk) throws SSLException {
    jdk.setProtocols(versions());
    jdk.setCipherSuites(cipherSuites(jdk.getCipherSuites()));
    jdk.setServerNames(
        offer.serverName() == null ? List.of() : List.of(new SNIHostName(offer.serverName())));
    jdk.setApplicationProtocols(offer.alpn().toArray(String[]::new));
    set(jdk, "setNamedGroups", 20, groups.stream().map(NamedGroup::jsseName).toList());
    if (!offer.stack().sigalgs().isEmpty()) {
      set(
          jdk,
          "setSignatureSchemes",
          19,
          offer.stack().sigalgs().stream().map(SignatureScheme::label).toList());
    }
    return jdk;
  }

  /** Calls what the JDK of this program's bytecode does not have. */
  private static void set(SSLParameters jdk, String setter, int since, List<String> names)
      throws SSLException {
    try {
      SSLParameters.class
          .getMethod(setter, String[].class)
          .invoke(jdk, (Object) names.toArray(String[]::new));
    } catch (NoSuchMethodException e) {
      throw new SSLException(
          "the TLS stack JDK "
              + Runtime.version().feature()
              + " cannot be told what to offer, JDK "
              + since
              + " or newer can: "
              + setter.substring(3)
              + "="
              + names
              + "; set JAVA_HOME to one, or take another --tls-stack",
          e);
    } catch (IllegalAccessException | InvocationTargetException e) {
      throw new SSLException(setter + " failed: " + names, e);
    }
  }

  private BCSSLParameters ofBouncyCastle(BCSSLParameters bc) {
    bc.setProtocols(versions());
    bc.setCipherSuites(cipherSuites(bc.getCipherSuites()));
    bc.setServerNames(
        offer.serverName() == null ? List.of() : List.of(new BCSNIHostName(offer.serverName())));
    bc.setApplicationProtocols(offer.alpn().toArray(String[]::new));
    // By itself it sends the share of the group that it likes best.
    bc.setEarlyKeyShares(new String[] {groups.get(0).jsseName()});
    bc.setNamedGroups(groups.stream().map(NamedGroup::jsseName).toArray(String[]::new));
    List<SignatureScheme> schemes = offer.stack().sigalgs();
    // By itself it offers none of ML-DSA.
    bc.setSignatureSchemes(
        (schemes.isEmpty() ? Arrays.asList(SignatureScheme.values()) : schemes)
            .stream().map(SignatureScheme::label).toArray(String[]::new));
    return bc;
  }

  @Override
  public void close() {}
}

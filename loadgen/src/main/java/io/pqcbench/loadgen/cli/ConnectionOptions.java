package io.pqcbench.loadgen.cli;

import io.pqcbench.loadgen.handshake.CipherSuites;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Quantity;
import io.pqcbench.loadgen.plan.SignatureScheme;
import io.pqcbench.loadgen.plan.Target;
import io.pqcbench.loadgen.plan.TlsStack;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** What one connection looks like: the options that {@code run} and {@code probe} share. */
final class ConnectionOptions {

  private static final Set<String> VERSIONS = Set.of("1.3", "1.2", "1.2,1.3");

  @Option(
      names = "--groups",
      paramLabel = "GROUP[,GROUP]",
      converter = Groups.class,
      description =
          "Key exchange groups to offer, as OpenSSL or BoringSSL name them. One group is one key"
              + " share; of a list, openssl and bc send the first group's, boringssl those of the"
              + " first classical and the first post-quantum one, jdk up to two of different kinds:"
              + " the header shows them. Default: X25519MLKEM768")
  private List<NamedGroup> groups = List.of(NamedGroup.X25519MLKEM768);

  @Option(
      names = "--expect-group",
      paramLabel = "GROUP",
      converter = Group.class,
      description =
          "Group that every handshake must negotiate. Default: the one that the preflight"
              + " negotiates")
  private NamedGroup expectGroup;

  @Option(
      names = "--expect-cipher",
      paramLabel = "SUITE",
      converter = Cipher.class,
      description =
          "Cipher suite that every handshake must negotiate, e.g. TLS_AES_256_GCM_SHA384. Default:"
              + " the one that the preflight negotiates")
  private String expectCipher;

  @Option(
      names = {"--ciphersuites", "--tls13-ciphers", "--ciphers"},
      paramLabel = "SUITE[,SUITE]",
      split = "[,:]",
      converter = Cipher.class,
      description =
          "Cipher suites of TLS 1.3 to offer, in order; not with boringssl. Default: the TLS"
              + " stack's own")
  private List<String> cipherSuites = List.of();

  @Option(
      names = "--sigalgs",
      paramLabel = "SCHEME[,SCHEME]",
      converter = SignatureSchemes.class,
      description =
          "Signature schemes to offer, in order, e.g. mldsa65,ecdsa_secp256r1_sha256; not with"
              + " boringssl. Default: the TLS stack's own")
  private List<SignatureScheme> sigalgs = List.of();

  @Option(
      names = "--tls-stack",
      paramLabel = "boringssl|openssl|jdk|bc",
      description =
          "TLS stack: boringssl is in the jar, openssl the machine's 3.5 or newer, jdk the JDK's,"
              + " bc Bouncy Castle. The last two are pure Java: for what they can do, not for"
              + " microseconds. See loadgen stacks. Default: boringssl")
  private TlsStack tlsStack = TlsStack.BORINGSSL;

  @Option(
      names = "--openssl-lib",
      paramLabel = "DIR",
      description =
          "Folder of libssl.so.3 and libcrypto.so.3 for --tls-stack openssl. Default: the"
              + " machine's")
  private Path opensslLib;

  @Option(
      names = "--tls",
      paramLabel = "VERSION",
      description =
          "TLS version to offer, 1.3 or 1.2; 1.2,1.3 offers both, as browsers and most clients do."
              + " Default: ${DEFAULT-VALUE}")
  private String tls = "1.3";

  @Option(
      names = "--sni",
      paramLabel = "NAME",
      description =
          "Server name to send and to verify; '' sends none. Default: the target's host, unless an"
              + " address")
  private String sni;

  @Option(
      names = "--http",
      paramLabel = "1.1|2",
      description =
          "Version of HTTP. 2 is offered by ALPN and must be taken on every connection; requests of"
              + " a connection follow each other, there are never two at once. Default:"
              + " ${DEFAULT-VALUE}")
  private String http = "1.1";

  @Option(
      names = "--alpn",
      paramLabel = "PROTO[,PROTO]",
      split = ",",
      description = "ALPN protocols to offer, e.g. http/1.1. Default: none, or h2 with --http 2")
  private List<String> alpn = List.of();

  @Option(
      names = "--cacert",
      paramLabel = "FILE",
      description = "PEM file of trusted roots for the server's certificate. Default: the system's")
  private Path cacert;

  @Option(
      names = {"-k", "--insecure"},
      description =
          "Accept any certificate, on every connection. Default: verify, or pin what does not"
              + " verify")
  private boolean insecure;

  @Option(
      names = "--verify",
      description = "Refuse a server whose certificate does not verify. Default: pin it")
  private boolean verify;

  @Option(
      names = "--cert",
      paramLabel = "FILE",
      description =
          "File of the client's certificate, for servers that ask for one: a PEM chain, leaf first,"
              + " with --key, or PKCS#12 (.p12, .pfx) with the key in it. Default: none")
  private Path cert;

  @Option(
      names = "--key",
      paramLabel = "FILE",
      description = "PEM file of the client's key. Default: none")
  private Path key;

  @Option(
      names = "--key-password-file",
      paramLabel = "FILE",
      description =
          "File whose first line is the password of the key, or of the PKCS#12 file. Default: none")
  private Path keyPasswordFile;

  @Option(
      names = "--key-password-env",
      paramLabel = "NAME",
      description = "Variable of the environment that holds that password. Default: none")
  private String keyPasswordEnv;

  @Option(
      names = "--path",
      paramLabel = "PATH",
      description = "Path of the request. Default: the target's, or /")
  private String path;

  @Option(
      names = {"-H", "--header"},
      paramLabel = "'NAME: VALUE'",
      description =
          "Header of the request; repeatable. Default: Host, User-Agent, Accept, Connection: close")
  private List<String> headers = List.of();

  @Option(names = "--handshake-only", description = "Close after the handshake, without a request")
  private boolean handshakeOnly;

  @Option(
      names = "--connect-timeout",
      paramLabel = "TIME",
      converter = Nanos.class,
      description = "Time for the TCP connection, e.g. 500ms. Default: 5s")
  private long connectTimeoutNanos = 5_000_000_000L;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      converter = Nanos.class,
      description = "Time for a whole attempt, e.g. 10s. Default: 10s")
  private long timeoutNanos = 10_000_000_000L;

  @Option(
      names = "--close",
      paramLabel = "fin|rst",
      description =
          "How to close: fin says goodbye and may leave a TIME_WAIT, rst resets and leaves none."
              + " Default: ${DEFAULT-VALUE}")
  private LoadPlan.Close close = LoadPlan.Close.FIN;

  @Option(
      names = "--proxy-protocol",
      paramLabel = "v1|v2",
      description =
          "Begin every connection with a header of HAProxy's PROXY protocol, as a server behind a"
              + " load balancer expects it, with the connection's own addresses. Default: none")
  private LoadPlan.ProxyProtocol proxyProtocol = LoadPlan.ProxyProtocol.NONE;

  @Option(
      names = "--connect-to",
      paramLabel = "HOST1:PORT1:HOST2:PORT2",
      description =
          "Connect to HOST2:PORT2 instead of HOST1:PORT1, whose name is still sent and verified;"
              + " repeatable, parts may be empty, as curl has it. Default: none")
  private List<String> connectTo = List.of();

  @Option(
      names = "--expect-bytes",
      paramLabel = "N",
      description =
          "Length that the body of every response must have, e.g. 10240; others are counted as"
              + " WRONG_LENGTH. Default: any")
  private Long expectBytes;

  @Option(
      names = "--source-address",
      paramLabel = "ADDR",
      split = ",",
      description =
          "Local address to connect from; repeatable, used in turn. Default: the kernel's choice")
  private List<String> sourceAddresses = List.of();

  @Option(
      names = "--transport",
      paramLabel = "tcp|quic",
      description =
          "What carries the connections. quic makes fresh handshakes over UDP, each from a socket"
              + " of its own, and asks by HTTP/0.9 (hq-interop). Default: ${DEFAULT-VALUE}")
  private String transport = "tcp";

  /** Checks what needs no network. */
  void validate() {
    if (transport.equalsIgnoreCase("nio")) {
      throw new IllegalArgumentException(
          "only the epoll transport is precise enough to measure with, Netty's NIO rounds timers to"
              + " a millisecond: transport="
              + transport);
    }
    transport();
    if (!VERSIONS.contains(tls)) {
      throw new IllegalArgumentException("--tls must be 1.3, 1.2 or 1.2,1.3: tls=" + tls);
    }
    if (insecure && verify) {
      throw new IllegalArgumentException("--insecure and --verify contradict each other");
    }
    if (!http.equals("1.1") && !http.equals("2")) {
      throw new IllegalArgumentException("--http must be 1.1 or 2: http=" + http);
    }
    boolean offersHttp2 = alpn.contains("h2");
    if (!alpn.isEmpty() && !handshakeOnly && offersHttp2 != http.equals("2")) {
      throw new IllegalArgumentException(
          offersHttp2
              ? "a server that takes h2 of --alpn wants HTTP/2, which is --http 2: alpn=" + alpn
              : "--http 2 needs h2 among the protocols of --alpn, which may be left out: alpn="
                  + alpn);
    }
    requireFile("--cacert", cacert);
    requireFile("--cert", cert);
    requireFile("--key", key);
    requireFile("--key-password-file", keyPasswordFile);
    if (cert != null && key == null && isPem(cert)) {
      throw new IllegalArgumentException(
          "--cert is a PEM file, whose key must be given by --key (a server's root goes to"
              + " --cacert): cert="
              + cert);
    }
  }

  /** Whether a file is text: PKCS#12 is DER and begins with a SEQUENCE, 0x30, and its length. */
  private static boolean isPem(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      return in.read() != 0x30 || in.read() < 0x80;
    } catch (IOException e) {
      throw new IllegalArgumentException("--cert cannot be read: file=" + file, e);
    }
  }

  private static void requireFile(String option, Path file) {
    if (file != null && !Files.isReadable(file)) {
      throw new IllegalArgumentException(option + " cannot be read: file=" + file);
    }
  }

  /** Returns what carries the connections. */
  LoadPlan.Transport transport() {
    return switch (transport.toLowerCase(Locale.ROOT)) {
      case "tcp", "epoll" -> LoadPlan.Transport.TCP;
      case "quic" -> LoadPlan.Transport.QUIC;
      default ->
          throw new IllegalArgumentException(
              "--transport must be tcp or quic: transport=" + transport);
    };
  }

  /** Returns where the connections to a target go. */
  Target redirected(Target target) {
    for (String rule : connectTo) {
      Target redirected = target.connectTo(rule);
      if (!redirected.equals(target)) {
        return redirected;
      }
    }
    return target;
  }

  LoadPlan.TlsOffer tlsOffer(Target target) {
    LoadPlan.Trust trust =
        insecure
            ? LoadPlan.Trust.INSECURE
            : verify ? LoadPlan.Trust.VERIFY : LoadPlan.Trust.VERIFY_OR_PIN;
    String name = sni == null ? target.host() : sni.isEmpty() ? null : sni;
    List<String> protocols = alpn.isEmpty() && http.equals("2") ? List.of("h2") : alpn;
    return new LoadPlan.TlsOffer(
        groups,
        tls,
        expectGroup,
        expectCipher,
        name,
        protocols,
        trust,
        cacert,
        cert,
        key,
        keyPasswordFile,
        keyPasswordEnv,
        new LoadPlan.Stack(tlsStack, opensslLib, sigalgs, cipherSuites));
  }

  LoadPlan.Request request(Target target) {
    if (expectBytes != null && (expectBytes < 0 || handshakeOnly)) {
      throw new IllegalArgumentException(
          handshakeOnly
              ? "--expect-bytes needs a response, --handshake-only has none: expectBytes="
                  + expectBytes
              : "--expect-bytes must not be negative: expectBytes=" + expectBytes);
    }
    return new LoadPlan.Request(
        handshakeOnly,
        path == null ? target.path() : path,
        headers,
        expectBytes == null ? LoadPlan.Request.ANY_LENGTH : expectBytes,
        http);
  }

  LoadPlan.Limits limits(
      int lanes, boolean pinned, LoadPlan.Wait wait, int maxInFlight, long slowThresholdNanos) {
    List<InetAddress> sources = new ArrayList<>();
    for (String source : sourceAddresses) {
      try {
        InetAddress address = InetAddress.getByName(source);
        if (!address.isLoopbackAddress() && NetworkInterface.getByInetAddress(address) == null) {
          throw new IllegalArgumentException(
              "--source-address is no address of this machine: address=" + source);
        }
        sources.add(address);
      } catch (IOException e) {
        throw new IllegalArgumentException(
            "--source-address is no local address: address=" + source, e);
      }
    }
    return new LoadPlan.Limits(
        lanes,
        pinned,
        wait,
        maxInFlight,
        connectTimeoutNanos,
        timeoutNanos,
        close,
        sources,
        slowThresholdNanos,
        proxyProtocol);
  }

  private static final Pattern LISTEN =
      Pattern.compile("(?:(?:\\[(?<v6>[^\\]]+)]|(?<host>[^:]+)):)?(?<port>[0-9]{1,5})");

  /** The message of a converter reaches the user as it is. */
  private abstract static class Converter<T> implements ITypeConverter<T> {
    abstract T parse(String text);

    @Override
    public final T convert(String text) {
      try {
        return parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  static final class Groups extends Converter<List<NamedGroup>> {
    @Override
    List<NamedGroup> parse(String text) {
      return NamedGroup.parseList(text);
    }
  }

  static final class Group extends Converter<NamedGroup> {
    @Override
    NamedGroup parse(String text) {
      return NamedGroup.parseList(text).get(0);
    }
  }

  static final class SignatureSchemes extends Converter<List<SignatureScheme>> {
    @Override
    List<SignatureScheme> parse(String text) {
      return SignatureScheme.parseList(text);
    }
  }

  static final class Cipher extends Converter<String> {
    @Override
    String parse(String text) {
      return CipherSuites.name(CipherSuites.codePoint(text.toUpperCase(Locale.ROOT)));
    }
  }

  static final class Nanos extends Converter<Long> {
    @Override
    Long parse(String text) {
      return Quantity.nanos(text);
    }
  }

  static final class Rate extends Converter<Double> {
    @Override
    Double parse(String text) {
      return Quantity.ratePerSecond(text);
    }
  }

  static final class Listen extends Converter<InetSocketAddress> {
    @Override
    InetSocketAddress parse(String text) {
      Matcher matcher = LISTEN.matcher(text);
      int port = matcher.matches() ? Integer.parseInt(matcher.group("port")) : -1;
      if (port < 0 || port > 65_535) {
        throw new IllegalArgumentException(
            "--prometheus must be PORT, HOST:PORT or [V6]:PORT with a port from 0 to 65535:"
                + " address='"
                + text
                + "'");
      }
      String host = matcher.group("v6") != null ? matcher.group("v6") : matcher.group("host");
      return InetSocketAddress.createUnresolved(host == null ? "127.0.0.1" : host, port);
    }
  }

  static final class TargetText extends Converter<Target> {
    @Override
    Target parse(String text) {
      return Target.parse(text);
    }
  }
}

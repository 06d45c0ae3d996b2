package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.OpenSsl;
import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.OpenSslSessionContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.util.ReferenceCountUtil;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLException;

/**
 * Makes connections ready to be started: socket, pipeline and TLS engine exist before the arrival
 * is due, so that none of their cost is in a latency.
 *
 * <p>One TLS context serves all connections, because building one costs more than a handshake. It
 * offers no session: no ticket is kept, so every handshake is a full one. Thread-safe.
 */
public final class TlsClient implements AutoCloseable {

  private final LoadPlan plan;
  private final NanoClock clock;
  private final Expectation expected;
  private final boolean watchClient;
  private final SslContext context;

  /**
   * The request on the wire; null for none. Ours to release, while connections share {@code
   * request}.
   */
  private final ByteBuf encoded;

  private final ByteBuf request;
  private final boolean orderlyClose;

  /**
   * Makes the client that a run uses, from what the preflight found.
   *
   * @param plan what to offer
   * @param facts what to expect
   * @param clock the run's
   * @throws SSLException when the TLS stack refuses the offer, or a certificate file cannot be read
   */
  public TlsClient(LoadPlan plan, ServerFacts facts, NanoClock clock) throws SSLException {
    this(
        plan,
        plan.tls().groups(),
        facts.trust(plan.tls()),
        facts.expectation(plan.tls()),
        /* keepSessions= */ false,
        /* watchClient= */ false,
        clock);
  }

  TlsClient(
      LoadPlan plan,
      List<NamedGroup> groups,
      ServerTrust trust,
      Expectation expected,
      boolean keepSessions,
      boolean watchClient,
      NanoClock clock)
      throws SSLException {
    this.plan = plan;
    this.clock = clock;
    this.expected = expected;
    this.watchClient = watchClient;
    this.context = context(plan.tls(), groups, trust, keepSessions);
    this.encoded = plan.request().handshakeOnly() ? null : encode(plan);
    this.request = encoded == null ? null : Unpooled.unreleasableBuffer(encoded.asReadOnly());
    this.orderlyClose = plan.limits().close() == LoadPlan.Close.FIN;
  }

  /**
   * Checks that the native libraries can be loaded.
   *
   * @throws IllegalStateException with the reason and what to do
   */
  public static void requireNative() {
    if (!Epoll.isAvailable()) {
      throw new IllegalStateException(
          "Linux's epoll transport cannot be loaded, and no other is precise enough to measure with"
              + " (Netty's NIO rounds timers to a millisecond): run on Linux x86-64 or aarch64 with"
              + " glibc",
          Epoll.unavailabilityCause());
    }
    if (!OpenSsl.isAvailable()) {
      throw new IllegalStateException(
          "the TLS stack (BoringSSL) cannot be loaded: run on Linux x86-64 or aarch64 with glibc,"
              + " and with a temporary directory from which libraries may be loaded"
              + " (-Djava.io.tmpdir=DIR)",
          OpenSsl.unavailabilityCause());
    }
  }

  private static SslContext context(
      LoadPlan.TlsOffer offer, List<NamedGroup> groups, ServerTrust trust, boolean keepSessions)
      throws SSLException {
    requireNative();
    SslContextBuilder builder =
        SslContextBuilder.forClient()
            .sslProvider(SslProvider.OPENSSL_REFCNT)
            .protocols("TLSv" + offer.version())
            .trustManager(trust)
            .endpointIdentificationAlgorithm(trust.checksHostName() ? "HTTPS" : null)
            // Tasks would move the certificate check to another turn of the loop, and into another
            // phase.
            .option(OpenSslContextOption.USE_TASKS, false)
            .option(
                OpenSslContextOption.GROUPS,
                groups.stream().map(NamedGroup::label).toArray(String[]::new));
    if (!offer.alpn().isEmpty()) {
      builder.applicationProtocolConfig(
          new ApplicationProtocolConfig(
              ApplicationProtocolConfig.Protocol.ALPN,
              ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
              ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
              offer.alpn()));
    }
    if (offer.cert() != null) {
      File cert = offer.cert().toFile();
      File key = offer.key().toFile();
      try {
        builder.keyManager(cert, key);
      } catch (IllegalArgumentException e) {
        throw new SSLException(
            "the client certificate cannot be used, it must be a PEM chain with an unencrypted"
                + " PKCS#8 key: cert="
                + cert
                + " key="
                + key,
            e);
      }
    }
    SslContext context = builder.build();
    ((OpenSslSessionContext) context.sessionContext()).setSessionCacheEnabled(keepSessions);
    return context;
  }

  OpenSslSessionContext sessions() {
    return (OpenSslSessionContext) context.sessionContext();
  }

  private static ByteBuf encode(LoadPlan plan) {
    StringBuilder head = new StringBuilder(256);
    head.append("GET ").append(plan.request().path()).append(" HTTP/1.1\r\n");
    List<String> headers = plan.request().headers();
    if (!has(headers, "host")) {
      String name = plan.target().host();
      head.append("Host: ").append(name.contains(":") ? "[" + name + "]" : name);
      if (plan.target().port() != 443) {
        head.append(':').append(plan.target().port());
      }
      head.append("\r\n");
    }
    if (!has(headers, "user-agent")) {
      head.append("User-Agent: loadgen\r\n");
    }
    if (!has(headers, "accept")) {
      head.append("Accept: */*\r\n");
    }
    headers.forEach(header -> head.append(header).append("\r\n"));
    if (!has(headers, "connection")) {
      head.append("Connection: close\r\n");
    }
    byte[] bytes = head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    ByteBuf buffer = UnpooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
    return buffer;
  }

  private static boolean has(List<String> headers, String name) {
    return headers.stream()
        .anyMatch(header -> header.toLowerCase(Locale.ROOT).startsWith(name + ":"));
  }

  /**
   * Opens a socket and puts everything around it that a connection needs. Must be called on the
   * loop's thread.
   *
   * @param loop the lane's
   * @param owner who is told the outcome
   * @param source local address to connect from; null to let the kernel choose
   * @return an exchange that waits for {@link Exchange#start}
   * @throws ChannelException when no socket can be had; see {@link #isOutOfDescriptors}
   */
  public Exchange prepare(EventLoop loop, Exchange.Owner owner, InetAddress source) {
    Exchange exchange = new Exchange(clock, owner, expected, request, orderlyClose, watchClient);
    Channel channel = new EpollSocketChannel();
    // The lane watches the deadlines of all its attempts; a timer for each would be one more thing
    // to allocate.
    channel.config().setOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0);
    if (!orderlyClose) {
      channel.config().setOption(ChannelOption.SO_LINGER, 0);
    }
    SslHandler tls =
        plan.tls().sni() == null
            ? context.newHandler(channel.alloc())
            : context.newHandler(channel.alloc(), plan.tls().sni(), plan.target().port());
    tls.setHandshakeTimeoutMillis(0);
    exchange.attach(channel, tls);
    channel.pipeline().addLast(exchange.tap, tls);
    if (request != null) {
      channel.pipeline().addLast(new FirstByteDecoder(exchange));
    }
    channel.pipeline().addLast(exchange);
    loop.register(channel);
    if (source != null) {
      // Lets the kernel choose the port in connect, where it knows the destination and can share
      // ports between them.
      channel.config().setOption(EpollChannelOption.IP_BIND_ADDRESS_NO_PORT, true);
      ChannelFuture bound = channel.bind(new InetSocketAddress(source, 0));
      if (bound.cause() != null) {
        exchange.discard();
        throw new ChannelException(
            "cannot connect from this address: source=" + source, bound.cause());
      }
    }
    return exchange;
  }

  /**
   * Returns whether {@link #prepare} failed because the process, or the machine, has no descriptor
   * left.
   */
  public static boolean isOutOfDescriptors(ChannelException cause) {
    return Failures.ofSocket(cause) == Outcome.NO_FD;
  }

  @Override
  public void close() {
    ReferenceCountUtil.release(context);
    ReferenceCountUtil.release(encoded);
  }

  /**
   * Notes when the first plaintext arrives, which may be well before a whole header can be decoded.
   */
  private static final class FirstByteDecoder extends HttpResponseDecoder {
    private final Exchange exchange;

    FirstByteDecoder(Exchange exchange) {
      super(new HttpDecoderConfig());
      this.exchange = exchange;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
      exchange.firstByte();
      super.channelRead(ctx, message);
    }
  }
}

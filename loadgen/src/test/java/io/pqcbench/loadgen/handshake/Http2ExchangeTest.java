package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.Plans;
import io.pqcbench.loadgen.schedule.NanoClock;
import io.pqcbench.loadgen.target.EmbeddedServer;
import io.pqcbench.loadgen.target.ServerOptions;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class Http2ExchangeTest {

  private static EmbeddedServer server() {
    return EmbeddedServer.start(ServerOptions.defaults());
  }

  private static Plans http2(EmbeddedServer server) {
    return Plans.to(server.address().getPort()).http("2");
  }

  private static Attempt once(LoadPlan plan) throws Exception {
    try (OneShot shot = OneShot.afterPreflight(plan)) {
      return shot.run();
    }
  }

  @ParameterizedTest
  @EnumSource(LoadPlan.Close.class)
  void timesEveryPhaseAndTheServersSettingsBeforeTheFirstByteOfTheResponse(LoadPlan.Close close)
      throws Exception {
    try (EmbeddedServer server = server()) {
      Attempt attempt = once(http2(server).close(close).plan());

      assertThat(attempt.failure()).isNull();
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.detail()).isEqualTo(200);
      assertThat(attempt.bodyBytes()).isEqualTo(3);
      assertThat(ExchangeTest.instants(attempt)).hasSize(Milestone.values().length).isSorted();
      for (Phase phase : Phase.ALL) {
        assertThat(attempt.nanos(phase)).as(phase.label()).isNotNegative();
      }
    }
  }

  /** The longer ones need windows that are given anew. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 16_384, 65_536, 1_048_576, 50_000_000})
  void readsBodiesOfEveryLength(int length) throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot =
            OneShot.blind(http2(server).path("/bytes/" + length).expectBytes(length).plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.failure()).isNull();
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.bodyBytes()).isEqualTo(length);
    }
  }

  @Test
  void anErrorStatusIsAnHttpErrorWithTheStatus() throws Exception {
    try (EmbeddedServer server = server();
        OneShot shot = OneShot.blind(http2(server).path("/nosuch").plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.HTTP_ERROR);
      assertThat(attempt.detail()).isEqualTo(404);
    }
  }

  @Test
  void aServerThatDoesNotAnswerTheRequestIsAResponseTimeout() throws Exception {
    try (EmbeddedServer server =
            EmbeddedServer.start(ServerOptions.defaults().withDelayNanos(60_000_000_000L));
        OneShot shot = OneShot.blind(http2(server).timeout(0.3).plan())) {
      Attempt attempt = shot.run();
      assertThat(attempt.outcome()).isEqualTo(Outcome.HTTP_TIMEOUT);
      assertThat(attempt.lastReached()).isEqualTo(Milestone.SETTINGS_RECEIVED);
    }
  }

  @Test
  void aServerThatDoesNotTakeHttp2IsTheWrongProtocolAndThePreflightSaysSo() throws Exception {
    try (JdkTlsServer server = new JdkTlsServer(certificate(), null)) {
      LoadPlan plan = Plans.to(server.port()).groups(NamedGroup.X25519).http("2").plan();
      try (OneShot shot = OneShot.blind(plan)) {
        assertThat(shot.run().outcome()).isEqualTo(Outcome.WRONG_PROTOCOL);
      }
      assertThatThrownBy(() -> new Preflight(plan, NanoClock.SYSTEM).run())
          .isInstanceOf(PreflightException.class)
          .hasMessageContaining("does not take HTTP/2: of [h2] it took none");
    }
  }

  private static X509Bundle certificate() throws Exception {
    return new CertificateBuilder()
        .ecp256()
        .subject("CN=localhost")
        .setIsCertificateAuthority(true)
        .buildSelfSigned();
  }

  /** There is nothing that it could be repeated over, unless it is one of a pool. */
  @Test
  void aRequestThatIsRefusedOnAConnectionOfItsOwnIsAnHttpErrorAndThePreflightSaysWhy()
      throws Exception {
    byte[] refusal = HexFormat.of().parseHex("000000040000000000" + "00000403000000000100000007");
    try (JdkTlsServer server =
        JdkTlsServer.http2(
            certificate(),
            socket -> {
              socket.getInputStream().read(new byte[16_384]);
              socket.getOutputStream().write(refusal);
              RudeServer.SILENT.treat(socket);
            })) {
      LoadPlan plan = Plans.to(server.port()).groups(NamedGroup.X25519).http("2").plan();
      try (OneShot shot = OneShot.blind(plan)) {
        Attempt attempt = shot.run();
        assertThat(attempt.outcome()).isEqualTo(Outcome.HTTP_ERROR);
        assertThat(attempt.failure()).hasMessageContaining("REFUSED_STREAM");
      }
      assertThatThrownBy(() -> new Preflight(plan, NanoClock.SYSTEM).run())
          .isInstanceOf(PreflightException.class)
          .hasMessageContaining("did not answer with HTTP/2")
          .hasMessageContaining("REFUSED_STREAM");
    }
  }

  @Test
  void thePreflightSaysWhatWasTakenByAlpn() throws Exception {
    try (EmbeddedServer server = server()) {
      ServerFacts facts = new Preflight(http2(server).plan(), NanoClock.SYSTEM).run();
      assertThat(facts.alpn()).isEqualTo("h2");
      assertThat(facts.httpStatus()).isEqualTo(200);
      assertThat(facts.bodyBytes()).isEqualTo(3);
      assertThat(
              new Preflight(Plans.to(server.address().getPort()).plan(), NanoClock.SYSTEM)
                  .run()
                  .alpn())
          .isNull();
    }
  }

  @Test
  void aHandshakeWithoutARequestNeedsTheProtocolAsWell() throws Exception {
    try (EmbeddedServer server = server()) {
      Attempt attempt = once(http2(server).handshakeOnly().plan());
      assertThat(attempt.outcome()).isEqualTo(Outcome.SUCCESS);
      assertThat(attempt.reached(Milestone.SETTINGS_RECEIVED)).isFalse();
    }
  }

  private static Http2Headers decoded(RequestBytes bytes) throws Exception {
    byte[] request = bytes.request;
    assertThat(Unpooled.wrappedBuffer(request).getMedium(0)).isEqualTo(request.length - 9);
    DefaultHttp2HeadersDecoder decoder = new DefaultHttp2HeadersDecoder();
    // A server may allow no table at all.
    decoder.configuration().maxHeaderTableSize(0);
    return decoder.decodeHeaders(1, Unpooled.wrappedBuffer(request, 9, request.length - 9));
  }

  @Test
  void theRequestIsRightWithoutATableAndUsersHeadersReplaceItsOwn() throws Exception {
    Http2Headers plain = decoded(RequestBytes.of(Plans.to(8443).http("2").path("/a?b").plan()));
    assertThat(plain.names())
        .extracting(CharSequence::toString)
        .containsExactly(":method", ":scheme", ":authority", ":path", "user-agent", "accept");
    assertThat(plain.path()).hasToString("/a?b");
    assertThat(plain.authority()).asString().endsWith(":8443");

    Http2Headers own =
        decoded(
            RequestBytes.of(
                Plans.to(8443)
                    .http("2")
                    .headers("Host: other.example", "User-Agent: x/1", "X-Trace:  7 ")
                    .plan()));
    assertThat(own.authority()).hasToString("other.example");
    assertThat(own.getAll("user-agent")).extracting(CharSequence::toString).containsExactly("x/1");
    assertThat(own.get("x-trace")).hasToString("7");
  }

  @Test
  void headersThatHaveNoPlaceInHttp2AreRefused() {
    assertThatThrownBy(() -> Plans.to(1).http("2").headers("Connection: close").plan())
        .hasMessageContaining("has no place in HTTP/2");
    assertThatThrownBy(
            () -> RequestBytes.of(Plans.to(1).http("2").headers("X: " + "y".repeat(20_000)).plan()))
        .hasMessageContaining("must fit into one frame");
    assertThat(RequestBytes.of(Plans.to(1).headers("Connection: close").plan()).http2).isFalse();
  }
}

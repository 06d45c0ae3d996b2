package io.pqcbench.loadgen.monitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CloudInstanceTest {

  private HttpServer service;

  @BeforeEach
  void start() throws IOException {
    service = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    service.start();
  }

  @AfterEach
  void stop() {
    service.stop(0);
  }

  private URI uri() {
    return URI.create("http://127.0.0.1:" + service.getAddress().getPort() + "/");
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  @Test
  void anInstanceIsDescribedByTheServiceThatWantsAToken() throws IOException {
    service.createContext(
        "/latest/api/token",
        exchange ->
            answer(exchange, exchange.getRequestMethod().equals("PUT") ? 200 : 405, "secret"));
    service.createContext(
        "/latest/dynamic/instance-identity/document",
        exchange ->
            answer(
                exchange,
                "secret".equals(exchange.getRequestHeaders().getFirst("X-aws-ec2-metadata-token"))
                    ? 200
                    : 401,
                """
                {"instanceType": "c7g.large", "instanceId": "i-1", "availabilityZone": "us-east-1a",
                 "imageId": "ami-1", "region": "us-east-1"}\
                """));

    assertThat(CloudInstance.ask(uri()))
        .isEqualTo(new CloudInstance("c7g.large", "i-1", "us-east-1a", "ami-1"));
  }

  @Test
  void aServiceThatRefusesIsAnError() {
    service.createContext("/", exchange -> answer(exchange, 403, ""));

    assertThatThrownBy(() -> CloudInstance.ask(uri())).hasMessageContaining("status=403");
  }
}

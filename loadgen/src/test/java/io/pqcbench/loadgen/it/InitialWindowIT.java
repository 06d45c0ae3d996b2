package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.netty.pkitesting.CertificateBuilder;
import io.netty.pkitesting.X509Bundle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a certificate's length costs over a long way: a server may send ten segments before it hears
 * of the client again.
 */
class InitialWindowIT {

  private static final Duration ROUND_TRIP = Duration.ofMillis(50);

  /** Of an ML-DSA-65 certificate, and what its CertificateVerify has more than that of P-256. */
  private static final int ML_DSA_65 = 5_490 + 3_240;

  /** The same of ML-DSA-87 (FIPS 204: a key of 2,592 and a signature of 4,627 bytes). */
  private static final int ML_DSA_87 = 7_470 + 4_555;

  private static final int ML_DSA_87_INTERMEDIATE = 7_470;

  @TempDir private Path directory;
  private Namespaces network;

  @BeforeEach
  void connect() throws Exception {
    Nginx.require();
    network = Namespaces.create(ROUND_TRIP);
  }

  @AfterEach
  void disconnect() throws Exception {
    if (network != null) {
      network.close();
    }
  }

  /** A server's identity: its chain, leaf first, and its key. */
  private record Identity(Path chain, Path key) {}

  /**
   * P-256 certificates, leaf first, that are as long as others by an extension that nobody knows.
   */
  private Identity classical(int... bytes) throws Exception {
    X509Bundle issuer = padded("root", 0).buildSelfSigned();
    StringBuilder chain = new StringBuilder();
    for (int i = bytes.length - 1; i >= 0; i--) {
      issuer = padded("number " + i, bytes[i]).buildIssuedBy(issuer);
      chain.insert(0, issuer.getCertificatePEM());
    }
    return new Identity(
        Files.writeString(directory.resolve("chain.pem"), chain),
        Files.writeString(directory.resolve("key.pem"), issuer.getPrivateKeyPEM()));
  }

  private static CertificateBuilder padded(String name, int bytes) {
    return new CertificateBuilder()
        .ecp256()
        .subject("CN=" + name)
        .setIsCertificateAuthority(true)
        // The number of RFC 5612, which is for documentation.
        .addExtensionOctetString("1.3.6.1.4.1.32473.1", false, new byte[bytes]);
  }

  private FinishedRun run(Identity identity) throws Exception {
    String target =
        network.serveByNginx(
            Files.createDirectories(directory.resolve("nginx")), identity.chain(), identity.key());
    BundleFiles bundle = new BundleFiles(directory.resolve("bundle"));
    FinishedRun run =
        FinishedRun.of(
            Command.loadgenBy(
                network.inClient(),
                "--target",
                target,
                "--out",
                bundle.directory().toString(),
                "--wait",
                "block",
                "--rate",
                "20",
                "--duration",
                "4s",
                "--warmup",
                "1s",
                "--code-warmup",
                "0s"),
            bundle);
    assertThat(run.summary().at("/outcomes/SUCCESS").asInt()).as(run.toString()).isEqualTo(60);
    return run;
  }

  /** How many round trips of the link a phase took. */
  private static double roundTrips(FinishedRun run, String phase) throws Exception {
    return run.summary().at("/phases/" + phase + "/p50").asDouble()
        / (ROUND_TRIP.toNanos() / 1_000.0);
  }

  private static JsonNode flight(FinishedRun run) throws Exception {
    return run.bundle().json("run.json").at("/server/flight");
  }

  @Test
  void aFlightThatFitsTakesOneRoundTrip() throws Exception {
    FinishedRun run = run(classical(ML_DSA_65));

    assertThat(flight(run).get("mss").asInt()).isEqualTo(1_448);
    assertThat(flight(run).get("bytes").asInt()).as(run.toString()).isBetween(9_500, 11_000);
    assertThat(flight(run).get("exceedsWindow").asBoolean()).as(run.toString()).isFalse();
    assertThat(run.rules()).as(run.toString()).doesNotContain("initial-window");
    assertThat(roundTrips(run, "flight")).as(run.toString()).isBetween(0.9, 1.6);
  }

  /**
   * OpenSSL writes a flight in pieces of 4 KB, each of which ends in a segment that is not full.
   */
  @Test
  void aFlightWhoseBytesFitAndWhoseSegmentsDoNotTakesTwo() throws Exception {
    FinishedRun run = run(classical(ML_DSA_87));

    assertThat(flight(run).get("bytes").asInt()).as(run.toString()).isBetween(13_000, 14_480);
    assertThat(flight(run).get("segments").asInt()).as(run.toString()).isGreaterThan(10);
    assertThat(run.rules("SERVER")).as(run.toString()).contains("initial-window");
    assertThat(roundTrips(run, "flight")).as(run.toString()).isBetween(1.9, 2.6);
  }

  @Test
  void aChainOfTwoDoesNotFitAndCostsOneMoreInFlight() throws Exception {
    FinishedRun run = run(classical(ML_DSA_87, ML_DSA_87_INTERMEDIATE));

    assertThat(flight(run).get("bytes").asInt()).as(run.toString()).isBetween(19_500, 22_500);
    assertThat(run.rules("SERVER")).as(run.toString()).contains("initial-window");
    // The wait is the network's and not the client's, whose work has a phase of its own.
    assertThat(roundTrips(run, "flight")).as(run.toString()).isBetween(1.9, 2.6);
    assertThat(roundTrips(run, "finish")).as(run.toString()).isLessThan(0.5);
    List<String> header = run.out().lines().filter(line -> line.startsWith("flight ")).toList();
    assertThat(header.get(0))
        .contains("it needs one more round trip unless the server's window is larger");
  }
}

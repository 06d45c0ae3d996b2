package io.pqcbench.loadgen.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SessionsTest {

  @ParameterizedTest
  @CsvSource({"0, 1000, 0", "1, 1000, 1000", "0.5, 1000, 500", "0.25, 7, 1", "0.9, 10, 9"})
  void theFirstArrivalsHoldTheShareThatIsToResume(double share, long arrivals, long resumed) {
    LoadPlan.Sessions sessions = new LoadPlan.Sessions(share, 0, 0);

    assertThat(LongStream.range(0, arrivals).filter(sessions::resumes).count()).isEqualTo(resumed);
  }

  @Test
  void theShareIsSpreadEvenly() {
    LoadPlan.Sessions sessions = new LoadPlan.Sessions(0.25, 0, 0);

    assertThat(LongStream.range(0, 12).filter(sessions::resumes)).containsExactly(3L, 7L, 11L);
  }

  @Test
  void whatCannotBeIsRefused() {
    assertThatThrownBy(() -> new LoadPlan.Sessions(1.1, 0, 0)).hasMessageContaining("1.1");
    assertThatThrownBy(() -> new LoadPlan.Sessions(Double.NaN, 0, 0)).hasMessageContaining("NaN");
    assertThatThrownBy(() -> new LoadPlan.Sessions(0, -1, 0)).hasMessageContaining("-1");
    assertThatThrownBy(() -> Plans.to(1).lanes(3).pooled(2, 0).plan())
        .hasMessageContaining("--connections must be at least --lanes");
    Plans certified = Plans.to(1).clientCertificate(Path.of("cert.pem"), Path.of("key.pem"));
    assertThatThrownBy(() -> certified.handshakeOnly().plan())
        .hasMessageContaining("leave one of --cert and --handshake-only out");
    assertThat(certified.tls("1.2").groups(NamedGroup.P256).plan().tls().cert()).isNotNull();
    assertThatThrownBy(() -> Plans.to(1).handshakeOnly().pooled(2, 0).plan())
        .hasMessageContaining("--handshake-only sends none");
    assertThatThrownBy(() -> Plans.to(1).others(new Target("b", 1, "/")).resuming(1).plan())
        .hasMessageContaining("take one target");
  }
}

package io.pqcbench.loadgen.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.monitor.HostFacts;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.Plans;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class CalibrationFileTest {

  @Test
  void anotherTransportOrVersionOfHttpIsKeptInAnotherFile() {
    HostFacts host = HostFacts.read();
    LoadPlan tcp = Plans.to(443).plan();
    List<Path> files =
        List.of(
            CalibrationFile.kept(tcp, host),
            CalibrationFile.kept(tcp.over(LoadPlan.Transport.QUIC), host),
            CalibrationFile.kept(Plans.to(443).http("2").plan(), host));

    assertThat(files).doesNotHaveDuplicates();
    assertThat(CalibrationFile.kept(Plans.to(444).plan(), host)).isEqualTo(files.get(0));
  }

  @Test
  void requestsOverQuicAreOfHttp09() {
    LoadPlan plan = Plans.to(443).plan();
    assertThat(CalibrationFile.http(plan)).isEqualTo("1.1");
    assertThat(CalibrationFile.http(plan.over(LoadPlan.Transport.QUIC))).isEqualTo("0.9");
  }
}

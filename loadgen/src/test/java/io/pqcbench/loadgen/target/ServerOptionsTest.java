package io.pqcbench.loadgen.target;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class ServerOptionsTest {

  private final ServerOptions defaults = ServerOptions.defaults();

  @Test
  void shouldOfferTheHybridGroupFirstOnLoopbackWithoutTickets() {
    assertThat(defaults)
        .isEqualTo(
            new ServerOptions(
                "127.0.0.1", 0, List.of("X25519MLKEM768", "X25519", "P-256"), false, 0, 1, "1.3"));
  }

  @Test
  void shouldChangeOneFieldAtATime() {
    assertThat(
            defaults
                .withHost("::1")
                .withPort(8443)
                .withGroups("P-384")
                .withTickets(true)
                .withDelayNanos(5)
                .withThreads(2)
                .withTls("1.2"))
        .isEqualTo(new ServerOptions("::1", 8443, List.of("P-384"), true, 5, 2, "1.2"));
  }

  @Test
  void shouldNotSeeLaterChangesOfTheListItWasGiven() {
    List<String> groups = new ArrayList<>(List.of("X25519"));
    ServerOptions options = defaults.withGroups(groups);
    groups.add("P-256");
    assertThat(options.groups()).containsExactly("X25519");
  }

  @Test
  void shouldNameTheFieldAndTheValueThatIsWrong() {
    refuses(() -> defaults.withHost(" "), "host must be a name or an address: host= ");
    refuses(() -> defaults.withHost(null), "host must be a name or an address: host=null");
    refuses(() -> defaults.withPort(-1), "port must be 0 to 65535: port=-1");
    refuses(() -> defaults.withPort(65_536), "port must be 0 to 65535: port=65536");
    refuses(() -> defaults.withGroups(), "groups must be one name or more: groups=[]");
    refuses(() -> defaults.withGroups("P-256", ""), "must be one name or more: groups=[P-256, ]");
    refuses(
        () -> defaults.withGroups("P-256", "P-256"),
        "groups must not repeat a name: groups=[P-256, P-256]");
    refuses(() -> defaults.withDelayNanos(-1), "delay must be 0 or more: delayNanos=-1");
    refuses(() -> defaults.withThreads(0), "threads must be 1 to 256: threads=0");
    refuses(() -> defaults.withThreads(257), "threads must be 1 to 256: threads=257");
    refuses(() -> defaults.withTls("1.1"), "TLS version must be 1.3 or 1.2: tls=1.1");
    refuses(() -> defaults.withTls(null), "TLS version must be 1.3 or 1.2: tls=null");
  }

  private static void refuses(ThrowingCallable change, String messageEnd) {
    assertThatIllegalArgumentException().isThrownBy(change).withMessageEndingWith(messageEnd);
  }
}

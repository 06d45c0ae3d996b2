package io.pqcbench.loadgen.handshake;

import static org.assertj.core.api.Assertions.assertThat;

import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.TlsStack;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StackFactsTest {

  private static StackFacts of(TlsStack stack) {
    return StackFacts.of(new LoadPlan.Stack(stack, null, List.of(), List.of()));
  }

  @ParameterizedTest
  @EnumSource(names = {"BORINGSSL", "BC"})
  void aStackOffersExactlyTheGroupsThatUsersAreToldOf(TlsStack stack) {
    StackFacts facts = of(stack);
    assertThat(facts.available()).as(facts.reason()).isTrue();
    assertThat(facts.groups())
        .isEqualTo(NamedGroup.offered(stack).stream().map(NamedGroup::label).toList());
    assertThat(facts.protocols()).containsExactly("TLSv1.3", "TLSv1.2");
    assertThat(facts.cipherSuites())
        .contains("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");
    assertThat(facts.signatureSchemes()).contains("ecdsa_secp256r1_sha256");
    assertThat(facts.signatureSchemes().contains("mldsa65")).isEqualTo(stack == TlsStack.BC);
  }

  @Test
  void aJdkIsOneThatCanBeToldItsGroupsOrSaysThatItIsNot() {
    StackFacts facts = of(TlsStack.JDK);
    if (Runtime.version().feature() >= 20) {
      assertThat(facts.groups()).contains("X25519", "P-256");
    } else {
      assertThat(facts.available()).isFalse();
      assertThat(facts.reason()).contains("JDK 20 or newer");
    }
  }

  @Test
  void aProcessUsesOneOfTheTwoNativeStacks() {
    assertThat(of(TlsStack.BORINGSSL).available()).isTrue();
    StackFacts facts = of(TlsStack.OPENSSL);
    assertThat(facts.available()).isFalse();
    assertThat(facts.reason()).contains("one of BoringSSL and OpenSSL", "fresh-jvm: true");
  }
}

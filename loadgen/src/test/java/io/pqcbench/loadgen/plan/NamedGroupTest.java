package io.pqcbench.loadgen.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.ssl.OpenSslContextOption;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class NamedGroupTest {

  @ParameterizedTest
  @CsvSource({
    "x25519, X25519",
    "X25519mlkem768, X25519MLKEM768",
    "0x11EC, X25519MLKEM768",
    "p-256, P256",
    "prime256v1, P256",
    "secp256r1, P256",
    "SECP384R1, P384",
    "P-521, P521"
  })
  void knowsTheNamesOfOpenSslAndBoringSslInAnyCase(String name, NamedGroup expected) {
    assertThat(NamedGroup.parseList(name)).containsExactly(expected);
  }

  @Test
  void readsListsAsBothWriteThem() {
    assertThat(NamedGroup.parseList("X25519MLKEM768:x25519"))
        .isEqualTo(NamedGroup.parseList("X25519MLKEM768, X25519"))
        .containsExactly(NamedGroup.X25519MLKEM768, NamedGroup.X25519);
  }

  @Test
  void listsTheKnownGroupsWhenOneIsUnknown() {
    assertThatThrownBy(() -> NamedGroup.parseList("nosuch"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("group='nosuch'")
        .hasMessageContaining("X25519MLKEM768")
        .hasMessageContaining("P-256");
    assertThatThrownBy(() -> NamedGroup.parseList("")).hasMessageContaining("unknown group");
    assertThatThrownBy(() -> NamedGroup.parseList("X25519,")).hasMessageContaining("unknown group");
  }

  @Test
  void saysWhenAGroupIsKnownButNotToTheTlsStackAndWhichOneHasIt() {
    List<NamedGroup> groups = NamedGroup.parseList("SecP256r1MLKEM768");
    assertThatThrownBy(() -> NamedGroup.requireOffered(groups, TlsStack.BORINGSSL))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("BoringSSL")
        .hasMessageContaining("group=SecP256r1MLKEM768")
        .hasMessageContaining("it can offer: X25519, X25519MLKEM768")
        .hasMessageContaining("--tls-stack openssl");
    NamedGroup.requireOffered(groups, TlsStack.OPENSSL);
  }

  @Test
  void refusesAGroupThatIsNamedTwice() {
    assertThatThrownBy(() -> NamedGroup.parseList("X25519,x25519")).hasMessageContaining("twice");
  }

  @ParameterizedTest
  @EnumSource(NamedGroup.class)
  void offersExactlyWhatBoringSslTakes(NamedGroup group) {
    var builder =
        SslContextBuilder.forClient()
            .sslProvider(SslProvider.OPENSSL)
            .option(OpenSslContextOption.GROUPS, new String[] {group.label()});
    if (group.offeredBy(TlsStack.BORINGSSL)) {
      assertThat(org.assertj.core.api.Assertions.catchThrowable(builder::build)).isNull();
    } else {
      assertThatThrownBy(builder::build).hasMessageContaining("failed to set curves");
    }
  }

  @Test
  void namesCodePointsThatItDoesNotKnowByTheirNumber() {
    assertThat(NamedGroup.nameOf(0x11EC)).isEqualTo("X25519MLKEM768");
    assertThat(NamedGroup.nameOf(0x1234)).isEqualTo("0x1234");
  }
}

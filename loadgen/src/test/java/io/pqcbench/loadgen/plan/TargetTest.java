package io.pqcbench.loadgen.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TargetTest {

  @ParameterizedTest
  @CsvSource({
    "example.org:443:10.0.0.1:8443, 10.0.0.1, 8443",
    "EXAMPLE.org::10.0.0.1:, 10.0.0.1, 443",
    "::other:9, other, 9",
    ":443:[2001:db8::1]:, 2001:db8::1, 443",
    "example.org:444:10.0.0.1:1, example.org, 443",
    "else:443:10.0.0.1:1, example.org, 443"
  })
  void connectionsAreRedirectedAsCurlDoesAndNamesAreNot(String rule, String host, int port) {
    Target target = new Target("example.org", 443, "/x").connectTo(rule);

    assertThat(target).isEqualTo(new Target("example.org", 443, "/x", host, port));
    assertThat(target.authority()).isEqualTo("example.org:443");
  }

  @ParameterizedTest
  @ValueSource(strings = {"a:1:b", "a:1:b:c", "a:1:b:70000", "2001:db8::1:443:x:1"})
  void aRuleThatCannotBeUnderstoodIsRefused(String rule) {
    assertThatThrownBy(() -> new Target("a", 1, "/").connectTo(rule))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--connect-to");
  }

  @ParameterizedTest
  @CsvSource({
    "example.org:8443, example.org, 8443, /",
    "example.org, example.org, 443, /",
    "10.0.0.1:443, 10.0.0.1, 443, /",
    "[2001:db8::1]:8443, 2001:db8::1, 8443, /",
    "[::1], ::1, 443, /",
    "https://example.org, example.org, 443, /",
    "https://example.org:444/a/b?c=d, example.org, 444, /a/b?c=d",
    "HTTPS://example.org/x, example.org, 443, /x",
    "example.org:443/payload/1K, example.org, 443, /payload/1K",
    "under_score.internal:443, under_score.internal, 443, /"
  })
  void understandsTheFormsThatPeopleWrite(String text, String host, int port, String path) {
    assertThat(Target.parse(text)).isEqualTo(new Target(host, port, path));
  }

  @ParameterizedTest
  @ValueSource(strings = {"host:0", "host:70000", "host:-1", "host:https", "host:"})
  void refusesPortsThatAreNone(String text) {
    assertThatThrownBy(() -> Target.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("port");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ":443",
        "http://example.org",
        "ftp://example.org",
        "a b:443",
        "user@host:443",
        "[::1:443"
      })
  void refusesWhatIsNoTarget(String text) {
    assertThatThrownBy(() -> Target.parse(text)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void asksForBracketsAroundAnIpv6Address() {
    assertThatThrownBy(() -> Target.parse("2001:db8::1:443")).hasMessageContaining("brackets");
  }

  @Test
  void writesBracketsAroundAnIpv6Address() {
    assertThat(Target.parse("[::1]:443").authority()).isEqualTo("[::1]:443");
    assertThat(Target.parse("a:1").authority()).isEqualTo("a:1");
  }
}

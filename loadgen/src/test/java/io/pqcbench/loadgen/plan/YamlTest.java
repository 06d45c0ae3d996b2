package io.pqcbench.loadgen.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class YamlTest {

  private static final String TEXT =
      """
      name: x
      list: [1, 2k]
      inner:
        deep: 0x11ec
        empty: ~
      """;

  @Test
  void scalarsAreKeptAsTheyAreWritten() {
    Yaml root = Yaml.parse("a.yaml", TEXT);

    assertThat(root.get("inner").get("deep").text()).isEqualTo("0x11ec");
    assertThat(root.get("list").items()).extracting(Yaml::text).containsExactly("1", "2k");
    assertThat(root.get("name").items()).extracting(Yaml::text).containsExactly("x");
  }

  @Test
  void whatIsWrongIsSaidWithFileLineAndColumn() {
    Yaml root = Yaml.parse("a.yaml", TEXT);

    assertThatThrownBy(() -> root.get("inner").get("deep").integer(1, 9))
        .hasMessage("a.yaml:4:9: inner.deep: must be a whole number from 1 to 9: value='0x11ec'");
    assertThatThrownBy(() -> root.get("inner").get("empty").text())
        .hasMessageStartingWith("a.yaml:5:")
        .hasMessageContaining("inner.empty: must be a single value: value=nothing");
  }

  @Test
  void brokenYamlIsSaidWithItsPlace() {
    assertThatThrownBy(() -> Yaml.parse("a.yaml", "a: [1,\nb: 2"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("a.yaml:")
        .hasMessageContaining("no valid YAML");
  }

  @Test
  void aKeyThatIsThereTwiceIsRefused() {
    assertThatThrownBy(() -> Yaml.parse("a.yaml", "a: 1\na: 2\n"))
        .hasMessageStartingWith("a.yaml:2:")
        .hasMessageContaining("'a'");
  }

  @Test
  void emptyFilesAndSecondDocumentsAreRefused() {
    assertThatThrownBy(() -> Yaml.parse("a.yaml", "# nothing\n"))
        .hasMessage("a.yaml: the file is empty");
    assertThatThrownBy(() -> Yaml.parse("a.yaml", "a: 1\n---\nb: 2\n"))
        .hasMessageContaining("second document");
    assertThatThrownBy(() -> Yaml.parse("a.yaml", "just text"))
        .hasMessageContaining("must be a mapping");
  }

  @Test
  void anAssignmentReplacesOrAddsAValueAndIsNamedInErrors() {
    Yaml root = Yaml.parse("a.yaml", TEXT).with("inner.deep=[3, 4]").with("new.one=5");

    assertThat(root.get("inner").get("deep").items())
        .extracting(Yaml::text)
        .containsExactly("3", "4");
    assertThat(root.get("new").get("one").integer(1, 9)).isEqualTo(5);
    assertThatThrownBy(() -> root.get("new").get("one").integer(6, 9))
        .hasMessage("--set new.one=5: new.one: must be from 6 to 9: value='5'");
    assertThatThrownBy(() -> root.with("name.below=1"))
        .hasMessageContaining("name: must be a mapping");
    assertThatThrownBy(() -> root.with("novalue")).hasMessageContaining("key=value");
  }

  @Test
  void aKeyWithADotIsNamedByAnAssignmentIfItIsThere() {
    Yaml root = Yaml.parse("a.yaml", "margin: {handshake.p50: 1ms, handshake: {x: 1}}");

    Yaml changed = root.with("margin.handshake.p50=2ms").with("margin.handshake.x=3");

    assertThat(changed.get("margin").get("handshake.p50").text()).isEqualTo("2ms");
    assertThat(changed.get("margin").get("handshake").get("x").text()).isEqualTo("3");
  }
}

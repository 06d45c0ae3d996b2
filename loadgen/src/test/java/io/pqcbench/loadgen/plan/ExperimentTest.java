package io.pqcbench.loadgen.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExperimentTest {

  private static final String TWO_ARMS =
      """
      experiment: test
      options: {rate: 300, duration: 10s}
      arms:
        classical: {groups: X25519}
        hybrid: {groups: X25519MLKEM768, rate: 200}
      baseline: classical
      seed: 7
      """;

  private static Experiment parse(String... more) {
    return Experiment.parse(Yaml.parse("e.yaml", TWO_ARMS + String.join("\n", more)));
  }

  @Test
  void armsHaveTheCommonOptionsAndTheirOwnBeforeThem() {
    Experiment experiment = parse();

    assertThat(experiment.arm("classical").arguments())
        .containsExactly("--rate=300", "--duration=10s", "--groups=X25519");
    assertThat(experiment.arm("hybrid").arguments())
        .containsExactly("--rate=200", "--duration=10s", "--groups=X25519MLKEM768");
  }

  @Test
  void flagsAndRepeatedOptionsBecomeArguments() {
    Experiment experiment =
        Experiment.parse(
            Yaml.parse(
                "e.yaml",
                "experiment: t\n"
                    + "arms: {a: {handshake-only: true, pin: false, header: ['A: 1', 'B: 2']}}"));

    assertThat(experiment.arm("a").arguments())
        .containsExactly("--handshake-only", "--header=A: 1", "--header=B: 2");
  }

  @Test
  void aComparisonHasAnArmThatIsTheBaselineAgain() {
    assertThat(parse().arms())
        .extracting(Experiment.Arm::name)
        .containsExactly("classical", "classical-aa", "hybrid");
    assertThat(parse().arm("classical-aa").again()).isTrue();
    assertThat(parse("aa: false").arms())
        .extracting(Experiment.Arm::name)
        .containsExactly("classical", "hybrid");
  }

  @Test
  void everyCombinationOfTheMatrixIsRunWithEveryArm() {
    Experiment experiment = parse("aa: false", "matrix: {rate: [100, 300], path: [/a, /b]}");

    assertThat(experiment.arms()).hasSize(8);
    assertThat(experiment.arm("hybrid@rate=300@path=/b").options())
        .containsEntry("rate", List.of("300"))
        .containsEntry("path", List.of("/b"));
    assertThat(experiment.arm("hybrid@rate=300@path=/b").cell())
        .isEqualTo(Map.of("rate", "300", "path", "/b"));
  }

  @Test
  void aValueOfTheMatrixCanStandForSeveralOptions() {
    Experiment experiment =
        parse(
            "aa: false",
            "matrix: {size: {1K: {path: /1K, expect-bytes: 1024}, 1M: {path: /1M, rate: 5}}}");

    assertThat(experiment.arms()).hasSize(4);
    assertThat(experiment.arm("hybrid@size=1K").options())
        .containsEntry("path", List.of("/1K"))
        .containsEntry("expect-bytes", List.of("1024"))
        .doesNotContainKey("size");
    assertThat(experiment.arm("hybrid@size=1M").options()).containsEntry("rate", List.of("5"));
    assertThat(experiment.arm("hybrid@size=1M").cell()).isEqualTo(Map.of("size", "1M"));
  }

  @Test
  void eachBlockRunsEveryArmOnceInAnOrderOfItsOwn() {
    Experiment experiment = parse("blocks: 40");

    Set<List<String>> orders = new HashSet<>();
    for (int block = 1; block <= 40; block++) {
      int number = block;
      List<String> arms =
          experiment.order().stream()
              .filter(trial -> trial.block() == number)
              .map(Experiment.Trial::arm)
              .toList();
      assertThat(arms).containsExactlyInAnyOrder("classical", "classical-aa", "hybrid");
      orders.add(arms);
    }
    // All six orders of three arms; forty fair draws miss one of them once in 1,500 seeds.
    assertThat(orders).hasSize(6);
  }

  @Test
  void theOrderIsAFunctionOfTheSeedAlone() {
    assertThat(parse().order()).isEqualTo(parse().order());
    assertThat(parse("blocks: 12").order().subList(0, 30))
        .extracting(Experiment.Trial::arm)
        .isEqualTo(parse().order().stream().map(Experiment.Trial::arm).toList());
  }

  @Test
  void theArmsOfABlockShareTheirArrivalsAndBlocksDoNot() {
    Map<Integer, Set<Long>> seeds =
        parse().order().stream()
            .collect(
                Collectors.groupingBy(
                    Experiment.Trial::block,
                    Collectors.mapping(Experiment.Trial::seed, Collectors.toSet())));

    assertThat(seeds.values()).allSatisfy(of -> assertThat(of).hasSize(1));
    assertThat(new HashSet<>(seeds.values())).hasSize(10);
  }

  @Test
  void trialsHaveNamesThatFilesCanHave() {
    assertThat(parse("matrix: {path: [/a]}").order())
        .extracting(Experiment.Trial::name)
        .allMatch(name -> name.matches("b\\d\\d-\\d-[a-zA-Z0-9._-]+"))
        .doesNotHaveDuplicates();
  }

  @Test
  void marginsAreAbsoluteRelativeOrBoth() {
    Experiment experiment =
        parse(
            "compare:",
            "  primary: [handshake.p50, response.p99, connect.mean]",
            "  margin: {handshake.p50: 0.1ms, response.p99: 10 %}");

    assertThat(experiment.comparison().margins())
        .isEqualTo(
            Map.of(
                "handshake.p50", new Experiment.Margin(100.0, null),
                "response.p99", new Experiment.Margin(null, 10.0),
                "connect.mean", new Experiment.Margin(250.0, 5.0)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "blocks: 0 | e.yaml:8:9: blocks: must be from 1 to 1000: value='0'",
        "bloks: 3 | e.yaml:8:8: bloks: no such key; known here: experiment, question",
        "exclude: [BAD] | exclude[0]: must be SUSPECT, SATURATED or INVALID: verdict='BAD'",
        "compare: {primary: [latency]} | must be a phase and a figure, such as handshake.p50",
        "compare: {margin: {ttfb.p50: 1ms}} | is no primary metric",
        "matrix: {rate: []} | has no value",
        "matrix: {rate: [100, 100]} | stands twice in the list",
        "cool-down: soon | e.yaml:8:12: cool-down: duration must be a number",
        "price: {per-hour: free} | must be a positive number: value='free'",
        "fresh-jvm: maybe | must be true or false: value='maybe'",
        "question: [a] | question: must be a single value",
      })
  void whatIsWrongIsSaidWithItsPlace(String line, String message) {
    assertThatThrownBy(() -> parse(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @Test
  void whatDoesNotFitTogetherIsRefused() {
    Yaml root = Yaml.parse("e.yaml", TWO_ARMS);
    assertThatThrownBy(() -> Experiment.parse(root.with("baseline=other")))
        .hasMessageContaining("names no arm: baseline='other' arms=[classical, hybrid]");
    assertThatThrownBy(() -> Experiment.parse(root.with("arms.x-aa.groups=X25519")))
        .hasMessageContaining("made by 'aa: true'");
    assertThatThrownBy(() -> Experiment.parse(Yaml.parse("e.yaml", "experiment: t")))
        .hasMessageContaining("the key 'arms' is missing");
    assertThatThrownBy(
            () -> Experiment.parse(Yaml.parse("e.yaml", "experiment: t\narms: {a: {}}\naa: true")))
        .hasMessageContaining("needs a baseline");
    assertThatThrownBy(
            () -> Experiment.parse(Yaml.parse("e.yaml", "experiment: a/b\narms: {a: {}}")))
        .hasMessageContaining("name='a/b'");
  }
}

package io.pqcbench.loadgen.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantityTest {

  @ParameterizedTest
  @CsvSource({
    "300, 300",
    "0.5, 0.5",
    "1k, 1000",
    "1.5K, 1500",
    "30/m, 0.5",
    "300/s, 300",
    "2k/s, 2000",
    "3600/h, 1"
  })
  void readsRates(String text, double expected) {
    assertThat(Quantity.ratePerSecond(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0", "-5", "fast", "1e3x", "1M", "NaN", "Infinity", "0/s"})
  void refusesRatesThatAreNone(String text) {
    assertThatThrownBy(() -> Quantity.ratePerSecond(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("rate='" + text + "'");
  }

  @ParameterizedTest
  @CsvSource({
    "60, 60000000000",
    "60s, 60000000000",
    "5m, 300000000000",
    "5m30s, 330000000000",
    "1h1s500ms, 3601500000000",
    "1h, 3600000000000",
    "500ms, 500000000",
    "50us, 50000",
    "1.5s, 1500000000",
    "0, 0"
  })
  void readsDurations(String text, long expected) {
    assertThat(Quantity.nanos(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-1s", "soon", "1d", "9999999999999h", "s"})
  void refusesDurationsThatAreNone(String text) {
    assertThatThrownBy(() -> Quantity.nanos(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("duration='" + text + "'");
  }

  @ParameterizedTest
  @CsvSource({"0, 0s", "1500000000, 1.5s", "300000000000, 300s", "20000000, 20ms", "50000, 50us"})
  void writesDurationsWithTheirUnit(long nanos, String expected) {
    assertThat(Quantity.format(nanos)).isEqualTo(expected);
  }
}

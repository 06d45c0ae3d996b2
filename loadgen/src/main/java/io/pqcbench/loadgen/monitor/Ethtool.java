package io.pqcbench.loadgen.monitor;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads what ethtool(8) prints of a network interface. */
final class Ethtool {

  private static final String ALLOWANCE_EXCEEDED = "_allowance_exceeded";

  private static final String ADAPTIVE_RX = "Adaptive RX";

  private static final String ADAPTIVE_TX = "Adaptive TX";

  /** What ethtool prints where the driver has no such setting. */
  private static final String NOT_AVAILABLE = "n/a";

  private Ethtool() {}

  /**
   * Returns the counters of {@code ethtool -S} that tell that the cloud's own limit for this
   * machine was hit, in packets since the driver was loaded; an empty map if there are none. The
   * driver of Amazon's ENA has them (drivers/net/ethernet/amazon/ena/ena_ethtool.c).
   */
  static Map<String, Long> allowances(String statistics) {
    Map<String, Long> allowances = new LinkedHashMap<>();
    if (statistics != null) {
      for (String line : statistics.lines().toList()) {
        int colon = line.lastIndexOf(':');
        String name = colon < 0 ? "" : line.substring(0, colon).strip();
        long value = ProcText.decimal(line.substring(colon + 1));
        if (name.endsWith(ALLOWANCE_EXCEEDED) && value >= 0) {
          allowances.put(name, value);
        }
      }
    }
    return Collections.unmodifiableMap(allowances);
  }

  /**
   * Returns how the interface gathers interrupts, from {@code ethtool -c}: "Adaptive RX" and
   * "Adaptive TX" (on or off), "rx-usecs" and "tx-usecs" (microseconds from a packet to its
   * interrupt). What is not there, or not available with this driver, is left out.
   */
  static Map<String, String> coalescing(String options) {
    Map<String, String> coalescing = new LinkedHashMap<>();
    if (options != null) {
      for (String line : options.lines().toList()) {
        int colon = line.indexOf(':');
        String name = colon < 0 ? "" : line.substring(0, colon).strip();
        String value = line.substring(colon + 1).strip();
        switch (name) {
          case ADAPTIVE_RX -> {
            int tx = value.indexOf("TX:");
            put(coalescing, ADAPTIVE_RX, tx < 0 ? value : value.substring(0, tx).strip());
            put(coalescing, ADAPTIVE_TX, tx < 0 ? "" : value.substring(tx + 3).strip());
          }
          case "rx-usecs", "tx-usecs" -> put(coalescing, name, value);
          default -> {
            // of no interest
          }
        }
      }
    }
    return Collections.unmodifiableMap(coalescing);
  }

  private static void put(Map<String, String> map, String name, String value) {
    if (!value.isEmpty() && !value.equals(NOT_AVAILABLE)) {
      map.put(name, value);
    }
  }
}

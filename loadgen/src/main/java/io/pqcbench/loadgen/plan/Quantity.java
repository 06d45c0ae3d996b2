package io.pqcbench.loadgen.plan;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Numbers with units as a user writes them. All methods throw {@link IllegalArgumentException} with
 * a full message.
 */
public final class Quantity {

  private static final Pattern NUMBER_AND_UNIT =
      Pattern.compile("([0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)\\s*(.*)", Pattern.CASE_INSENSITIVE);

  /** One after the other, e.g. 1h30m. */
  private static final Pattern PART = Pattern.compile("[0-9]+(?:h|ms|min|m|us|s)");

  private static final Pattern SEVERAL = Pattern.compile("(?:" + PART + "){2,}");

  /** A year: longer runs are mistakes, and nanoseconds of a long end at 292 years. */
  private static final double MAX_SECONDS = 366 * 86_400.0;

  private Quantity() {}

  /**
   * Parses a rate.
   *
   * @param text {@code 300}, {@code 0.5}, {@code 1k}, {@code 300/s}, {@code 30/m}; not null
   * @return arrivals per second; positive and finite
   */
  public static double ratePerSecond(String text) {
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip());
    if (matcher.matches()) {
      double scale =
          switch (matcher.group(2).toLowerCase(Locale.ROOT)) {
            case "", "/s" -> 1;
            case "k", "k/s" -> 1_000;
            case "/m", "/min" -> 1 / 60.0;
            case "/h" -> 1 / 3600.0;
            default -> 0;
          };
      double rate = Double.parseDouble(matcher.group(1)) * scale;
      if (rate > 0 && rate <= 1e9) {
        return rate;
      }
    }
    throw new IllegalArgumentException(
        "rate must be a positive number per second, such as 300, 0.5, 1k or 30/m: rate='"
            + text
            + "'");
  }

  /**
   * Parses a duration.
   *
   * @param text a number with {@code us}, {@code ms}, {@code s}, {@code m} or {@code h}, or
   *     several, as {@code 5m30s}; seconds without a unit
   * @return nanoseconds; 0 or positive
   */
  public static long nanos(String text) {
    if (SEVERAL.matcher(text.strip()).matches()) {
      return PART.matcher(text).results().mapToLong(part -> nanos(part.group())).sum();
    }
    Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip());
    if (matcher.matches()) {
      double seconds =
          switch (matcher.group(2).toLowerCase(Locale.ROOT)) {
            case "us" -> 1e-6;
            case "ms" -> 1e-3;
            case "", "s" -> 1;
            case "m", "min" -> 60;
            case "h" -> 3600;
            default -> Double.NaN;
          };
      double value = Double.parseDouble(matcher.group(1)) * seconds;
      if (value <= MAX_SECONDS) {
        return Math.round(value * 1e9);
      }
    }
    throw new IllegalArgumentException(
        "duration must be a number with us, ms, s, m or h, such as 60s or 5m: duration='"
            + text
            + "'");
  }

  /**
   * Formats nanoseconds with the largest unit that keeps the value at 1 or more, e.g. {@code 1.5s}.
   */
  public static String format(long nanos) {
    if (nanos == 0) {
      return "0s";
    }
    if (nanos >= 1_000_000_000L) {
      return trim(nanos / 1e9) + "s";
    }
    return nanos >= 1_000_000L ? trim(nanos / 1e6) + "ms" : trim(nanos / 1e3) + "us";
  }

  /** Formats a rate without needless digits, e.g. {@code 300} or {@code 0.5}. */
  public static String trim(double value) {
    if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      return Long.toString((long) value);
    }
    return String.format(Locale.ROOT, "%.3f", value).replaceAll("0+$", "").replaceAll("\\.$", "");
  }
}

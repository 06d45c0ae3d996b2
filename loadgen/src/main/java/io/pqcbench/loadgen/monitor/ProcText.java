package io.pqcbench.loadgen.monitor;

import java.util.Arrays;

/**
 * Reads the text of /proc by index, without allocation, because it is read every 100 ms on the
 * machine that is being measured. Total: a range that holds nothing of what was asked for gives
 * {@link #ABSENT} or an empty range.
 *
 * <p>Ranges are half open. A blank is any character up to the space, so also a line's end.
 */
final class ProcText {

  /** Stands for a number that is not there; none of those that are read can be negative. */
  static final long ABSENT = -1;

  /** So many digits always fit in a long: 10^18 is less than 2^63. */
  private static final int MAX_DECIMAL_DIGITS = 18;

  /** 16^15 is less than 2^63. */
  private static final int MAX_HEX_DIGITS = 15;

  private ProcText() {}

  /** Returns where the line ends that {@code from} lies in: at its newline or the text's end. */
  static int lineEnd(String text, int from) {
    int end = text.indexOf('\n', from);
    return end < 0 ? text.length() : end;
  }

  /** Returns where the first line with this prefix begins; -1 if there is none. */
  static int lineOf(String text, String prefix) {
    for (int at = 0; at < text.length(); at = lineEnd(text, at) + 1) {
      if (text.startsWith(prefix, at)) {
        return at;
      }
    }
    return -1;
  }

  /** Returns where the next word begins; {@code end} if there is none. */
  static int wordStart(String text, int from, int end) {
    int at = from;
    while (at < end && text.charAt(at) <= ' ') {
      at++;
    }
    return at;
  }

  /** Returns where the word ends that begins at {@code from}. */
  static int wordEnd(String text, int from, int end) {
    int at = from;
    while (at < end && text.charAt(at) > ' ') {
      at++;
    }
    return at;
  }

  /** Returns whether the range holds exactly this word. */
  static boolean isWord(String text, int from, int to, String word) {
    return to - from == word.length() && text.startsWith(word, from);
  }

  /** Returns which of the words the range holds; -1 if none. */
  static int indexOfWord(String text, int from, int to, String[] words) {
    for (int i = 0; i < words.length; i++) {
      if (isWord(text, from, to, words[i])) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the number that fills the range; {@link #ABSENT} if anything else does. */
  static long decimal(String text, int from, int to) {
    if (from >= to || to - from > MAX_DECIMAL_DIGITS) {
      return ABSENT;
    }
    long value = 0;
    for (int at = from; at < to; at++) {
      int digit = text.charAt(at) - '0';
      if (digit < 0 || digit > 9) {
        return ABSENT;
      }
      value = value * 10 + digit;
    }
    return value;
  }

  /** Returns the only number of a text, with blanks around it or not; else {@link #ABSENT}. */
  static long decimal(String text) {
    if (text == null) {
      return ABSENT;
    }
    int start = wordStart(text, 0, text.length());
    int end = wordEnd(text, start, text.length());
    return wordStart(text, end, text.length()) < text.length() ? ABSENT : decimal(text, start, end);
  }

  /** As {@link #decimal(String, int, int)}, in base 16 without a prefix. */
  static long hex(String text, int from, int to) {
    if (from >= to || to - from > MAX_HEX_DIGITS) {
      return ABSENT;
    }
    long value = 0;
    for (int at = from; at < to; at++) {
      int digit = Character.digit(text.charAt(at), 16);
      if (digit < 0) {
        return ABSENT;
      }
      value = value << 4 | digit;
    }
    return value;
  }

  /** Returns that many numbers that are not there. */
  static long[] absent(int count) {
    long[] values = new long[count];
    Arrays.fill(values, ABSENT);
    return values;
  }

  /**
   * Reads {@code name number name number ...}, on one line or over several.
   *
   * @return the numbers of the names that are asked for; {@link #ABSENT} where there is none
   */
  static long[] named(String text, int from, int end, String[] names) {
    long[] values = absent(names.length);
    int at = wordStart(text, from, end);
    while (at < end) {
      int nameEnd = wordEnd(text, at, end);
      int value = wordStart(text, nameEnd, end);
      int valueEnd = wordEnd(text, value, end);
      int index = indexOfWord(text, at, nameEnd, names);
      if (index >= 0) {
        values[index] = decimal(text, value, valueEnd);
      }
      at = wordStart(text, valueEnd, end);
    }
    return values;
  }
}

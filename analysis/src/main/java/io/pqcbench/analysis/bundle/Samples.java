package io.pqcbench.analysis.bundle;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPInputStream;

/**
 * The measured successes of {@code samples.csv.gz}, as many columns of them as are asked for, in
 * the order of the schedule.
 *
 * <p>Reads bytes, not strings: a benchmark of an hour has millions of lines of thirty fields, of
 * which a report needs a handful.
 */
public final class Samples {

  private static final int BUFFER_BYTES = 1 << 16;
  private static final int MOST_COLUMNS = 128;
  private static final String SUCCESS = "SUCCESS";

  private final long[] index;
  private final double[] planned;
  private final float[][] values;
  private final boolean torn;

  private Samples(long[] index, double[] planned, float[][] values, boolean torn) {
    this.index = index;
    this.planned = planned;
    this.values = values;
    this.torn = torn;
  }

  /** Those of a run that was killed before its first. */
  static Samples none(int columns) {
    return new Samples(new long[0], new double[0], new float[columns][0], true);
  }

  /** Returns how many there are. */
  public int size() {
    return index.length;
  }

  /** Returns when one was due, in seconds after the start of the run. */
  public double plannedSeconds(int sample) {
    return planned[sample];
  }

  /**
   * Returns a value of one, in the column's unit; NaN where the file has none.
   *
   * @param column its place in the list that was asked for
   */
  public float value(int column, int sample) {
    return values[column][sample];
  }

  /** Returns whether the file has no end, because the run was killed. */
  public boolean torn() {
    return torn;
  }

  /**
   * Reads a file.
   *
   * @param file {@code samples.csv.gz}
   * @param columns names of the columns to keep, such as {@code response_us}
   * @throws UnreadableException if it is no such file, or lacks a column
   */
  static Samples read(Path file, List<String> columns) throws UnreadableException, IOException {
    try (InputStream in = new GZIPInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
      return new Reader(file, in, columns).read();
    } catch (java.util.zip.ZipException e) {
      throw new UnreadableException("the file is damaged, it is not in gzip's format: " + file, e);
    } catch (EOFException e) {
      throw new UnreadableException("the file is empty: " + file, e);
    }
  }

  /** One pass over a file. */
  private static final class Reader {
    private final Path file;
    private final InputStream in;
    private final List<String> columns;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int at;
    private int end;
    private boolean torn;
    private long line = 1;

    private final int[] wanted = new int[MOST_COLUMNS];
    private int indexColumn = -1;
    private int plannedColumn = -1;
    private int measuredColumn = -1;
    private int outcomeColumn = -1;
    private int fields;

    private long[] index = new long[1024];
    private double[] planned = new double[1024];
    private final float[][] values;
    private int size;

    Reader(Path file, InputStream in, List<String> columns) {
      this.file = file;
      this.in = in;
      this.columns = columns;
      this.values = new float[columns.size()][1024];
    }

    Samples read() throws IOException, UnreadableException {
      header();
      byte[] field = new byte[64];
      double[] kept = new double[columns.size()];
      while (true) {
        long row = -1;
        double due = 0;
        boolean counts = true;
        int column = 0;
        int length = 0;
        int c;
        Arrays.fill(kept, Double.NaN);
        while ((c = next()) >= 0) {
          if (c != ',' && c != '\n') {
            if (length < field.length) {
              field[length++] = (byte) c;
            }
            continue;
          }
          if (column == indexColumn) {
            row = (long) number(field, length);
          } else if (column == plannedColumn) {
            due = number(field, length) / 1e6;
          } else if (column == measuredColumn) {
            counts &= length == 1 && field[0] == '1';
          } else if (column == outcomeColumn) {
            counts &= is(SUCCESS, field, length);
          } else if (column < fields && wanted[column] >= 0 && length > 0) {
            kept[wanted[column]] = number(field, length);
          }
          length = 0;
          column++;
          if (c == '\n') {
            break;
          }
        }
        if (c < 0) {
          // A line without its end is torn, and one of nothing is the end.
          torn |= column > 0 || length > 0;
          return sorted();
        }
        line++;
        if (column != fields) {
          throw new UnreadableException(
              "the file is damaged: line="
                  + line
                  + " fields="
                  + column
                  + " of "
                  + fields
                  + ": "
                  + file);
        }
        if (counts) {
          add(row, due, kept);
        }
      }
    }

    private void header() throws IOException, UnreadableException {
      StringBuilder text = new StringBuilder();
      int c;
      while ((c = next()) >= 0 && c != '\n') {
        text.append((char) c);
      }
      String[] names = text.toString().split(",", -1);
      fields = names.length;
      Arrays.fill(wanted, -1);
      for (int i = 0; i < Math.min(fields, MOST_COLUMNS); i++) {
        wanted[i] = columns.indexOf(names[i]);
        switch (names[i]) {
          case "index" -> indexColumn = i;
          case "planned_us" -> plannedColumn = i;
          case "measured" -> measuredColumn = i;
          case "outcome" -> outcomeColumn = i;
          default -> {}
        }
      }
      for (String column : columns) {
        if (!Arrays.asList(names).contains(column)) {
          throw new UnreadableException("the file has no column '" + column + "': " + file);
        }
      }
      if (indexColumn < 0 || plannedColumn < 0 || measuredColumn < 0 || outcomeColumn < 0) {
        throw new UnreadableException(
            "the file does not begin with the header of samples: " + file);
      }
    }

    private int next() throws IOException {
      if (at == end) {
        try {
          end = in.read(buffer);
        } catch (EOFException e) {
          // The run was killed; what was flushed before is whole.
          torn = true;
          end = -1;
        }
        at = 0;
        if (end < 0) {
          end = 0;
          return -1;
        }
      }
      return buffer[at++];
    }

    private static boolean is(String text, byte[] field, int length) {
      if (length != text.length()) {
        return false;
      }
      for (int i = 0; i < length; i++) {
        if (field[i] != text.charAt(i)) {
          return false;
        }
      }
      return true;
    }

    /** A decimal number as the bundle has them: digits, a point, digits, perhaps a minus. */
    private double number(byte[] field, int length) throws UnreadableException {
      long digits = 0;
      int decimals = -1;
      boolean negative = length > 0 && field[0] == '-';
      for (int i = negative ? 1 : 0; i < length; i++) {
        byte c = field[i];
        if (c == '.' && decimals < 0) {
          decimals = 0;
        } else if (c >= '0' && c <= '9' && digits < Long.MAX_VALUE / 10 - 9) {
          digits = digits * 10 + (c - '0');
          decimals += decimals < 0 ? 0 : 1;
        } else {
          throw new UnreadableException(
              "the file is damaged: line="
                  + (line + 1)
                  + " number="
                  + new String(field, 0, length, StandardCharsets.ISO_8859_1)
                  + ": "
                  + file);
        }
      }
      double value = digits;
      for (int i = 0; i < decimals; i++) {
        value /= 10;
      }
      return negative ? -value : value;
    }

    private void add(long row, double due, double[] kept) {
      if (size == index.length) {
        int larger = size + (size >> 1);
        index = Arrays.copyOf(index, larger);
        planned = Arrays.copyOf(planned, larger);
        for (int i = 0; i < values.length; i++) {
          values[i] = Arrays.copyOf(values[i], larger);
        }
      }
      index[size] = row;
      planned[size] = due;
      for (int i = 0; i < values.length; i++) {
        values[i][size] = (float) kept[i];
      }
      size++;
    }

    /** Lines are in the order in which attempts ended. */
    private Samples sorted() {
      // The place of each in the low bits, so that primitives can be sorted.
      long[] order = new long[size];
      for (int i = 0; i < size; i++) {
        order[i] = index[i] << 28 | i;
      }
      Arrays.sort(order);
      long[] sortedIndex = new long[size];
      double[] sortedPlanned = new double[size];
      float[][] sortedValues = new float[values.length][size];
      for (int i = 0; i < size; i++) {
        int from = (int) (order[i] & (1 << 28) - 1);
        sortedIndex[i] = index[from];
        sortedPlanned[i] = planned[from];
        for (int j = 0; j < values.length; j++) {
          sortedValues[j][i] = values[j][from];
        }
      }
      return new Samples(sortedIndex, sortedPlanned, sortedValues, torn);
    }
  }
}

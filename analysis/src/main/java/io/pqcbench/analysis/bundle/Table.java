package io.pqcbench.analysis.bundle;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A small CSV file of a bundle, a line at a time. A file that is not there has no lines. */
public final class Table implements Closeable {
  private final Path file;
  private final BufferedReader in;
  private final List<String> header;
  private List<String> fields = List.of();
  private long line = 1;

  /** Opens a file. */
  public Table(Path file) throws IOException {
    this.file = file;
    this.in = Files.exists(file) ? Files.newBufferedReader(file, StandardCharsets.UTF_8) : null;
    String names = in == null ? null : in.readLine();
    this.header = names == null ? List.of() : fields(names);
  }

  /** Reads a line; the last one may be torn, because the run was killed, and is left out then. */
  public boolean next() throws IOException, UnreadableException {
    String text = in == null ? null : in.readLine();
    if (text == null) {
      return false;
    }
    line++;
    fields = fields(text);
    if (fields.size() == header.size()) {
      return true;
    }
    if (in.readLine() == null) {
      return false;
    }
    throw new UnreadableException(
        "the file is damaged: line="
            + line
            + " fields="
            + fields.size()
            + " of "
            + header.size()
            + ": "
            + file);
  }

  /** Returns a field of the line. */
  public String text(String column) throws UnreadableException {
    int at = header.indexOf(column);
    if (at < 0) {
      throw new UnreadableException("the file has no column '" + column + "': " + file);
    }
    return fields.get(at);
  }

  /** Returns NaN for a field that is empty. */
  public double number(String column) throws UnreadableException {
    String text = text(column);
    try {
      return text.isEmpty() ? Double.NaN : Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new UnreadableException(
          "the file is damaged: line=" + line + " number=" + text + ": " + file, e);
    }
  }

  /** Commas in quotes separate nothing, and a quote in them is doubled. */
  private static List<String> fields(String text) {
    List<String> fields = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' && quoted && i + 1 < text.length() && text.charAt(i + 1) == '"') {
        field.append('"');
        i++;
      } else if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        fields.add(field.toString());
        field.setLength(0);
      } else {
        field.append(c);
      }
    }
    fields.add(field.toString());
    return fields;
  }

  @Override
  public void close() throws IOException {
    if (in != null) {
      in.close();
    }
  }
}

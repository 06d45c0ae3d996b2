package io.pqcbench.loadgen.plan;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * A value of a YAML document that knows where it stands, so that whatever is wrong with it can be
 * said with line and column. Scalars are kept as they are written: what they mean is for whoever
 * asks, as on a command line.
 *
 * <p>All methods that ask for a kind of value throw {@link IllegalArgumentException} with the
 * place, the value and what would be right.
 */
public final class Yaml {

  private static final YAMLFactory FACTORY =
      YAMLFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private final String place;
  private final String path;

  /** A {@link String}, a {@code List<Yaml>}, a {@code Map<String, Yaml>}, or null. */
  private final Object value;

  private Yaml(String place, String path, Object value) {
    this.place = place;
    this.path = path;
    this.value = value;
  }

  /**
   * Reads a document.
   *
   * @param name of its file, for messages
   * @param text one YAML document
   * @return its root, a mapping
   */
  public static Yaml parse(String name, String text) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        throw new IllegalArgumentException(name + ": the file is empty");
      }
      Yaml root = read(parser, "", at -> name + ":" + at.getLineNr() + ":" + at.getColumnNr());
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException(
            name
                + ":"
                + parser.currentTokenLocation().getLineNr()
                + ": there is a second document in this file, there must be one");
      }
      root.fields();
      return root;
    } catch (JsonProcessingException e) {
      JsonLocation at = e.getLocation();
      String where = at == null ? "" : ":" + at.getLineNr() + ":" + at.getColumnNr();
      String what = e.getOriginalMessage().lines().findFirst().orElse("not understood");
      throw new IllegalArgumentException(name + where + ": this is no valid YAML: " + what, e);
    } catch (IOException e) {
      throw new IllegalArgumentException(name + ": cannot be read: " + e.getMessage(), e);
    }
  }

  private static Yaml read(JsonParser parser, String path, Function<JsonLocation, String> places)
      throws IOException {
    String place = places.apply(parser.currentTokenLocation());
    switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, Yaml> fields = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String key = parser.currentName();
          parser.nextToken();
          fields.put(key, read(parser, path.isEmpty() ? key : path + "." + key, places));
        }
        return new Yaml(place, path, fields);
      }
      case START_ARRAY -> {
        List<Yaml> items = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          items.add(read(parser, path + "[" + items.size() + "]", places));
        }
        return new Yaml(place, path, items);
      }
      case VALUE_NULL -> {
        return new Yaml(place, path, null);
      }
      default -> {
        return new Yaml(place, path, parser.getText());
      }
    }
  }

  /**
   * Returns this document with one value replaced or added.
   *
   * @param assignment {@code key=value} or {@code outer.key=value}; the value is YAML, e.g. {@code
   *     [1, 2]}
   */
  public Yaml with(String assignment) {
    int equals = assignment.indexOf('=');
    if (equals < 1) {
      throw new IllegalArgumentException(
          "--set must be key=value, with dots between the keys of a path: set='"
              + assignment
              + "'");
    }
    String path = assignment.substring(0, equals);
    String source = "--set " + assignment;
    Yaml replacement;
    try (JsonParser parser = FACTORY.createParser(assignment.substring(equals + 1))) {
      replacement =
          parser.nextToken() == null
              ? new Yaml(source, path, "")
              : read(parser, path, at -> source);
    } catch (IOException e) {
      throw new IllegalArgumentException(source + ": the value is no valid YAML", e);
    }
    return with(path, source, replacement);
  }

  private Yaml with(String keys, String source, Yaml replacement) {
    Map<String, Yaml> changed = new LinkedHashMap<>(fields());
    String key = firstOf(keys, changed.keySet());
    if (key.isEmpty()) {
      throw new IllegalArgumentException(source + ": a key is empty");
    }
    if (key.length() == keys.length()) {
      changed.put(key, replacement);
    } else {
      String inner = path.isEmpty() ? key : path + "." + key;
      Yaml next = changed.getOrDefault(key, new Yaml(source, inner, Map.of()));
      changed.put(key, next.with(keys.substring(key.length() + 1), source, replacement));
    }
    return new Yaml(place, path, changed);
  }

  /**
   * Returns the first key of a path: the longest one that is there, because keys may hold dots as
   * well; without one, what is before the first dot.
   */
  private static String firstOf(String keys, Set<String> known) {
    String longest = "";
    for (String key : known) {
      if (key.length() > longest.length() && (keys.equals(key) || keys.startsWith(key + "."))) {
        longest = key;
      }
    }
    int dot = keys.indexOf('.');
    return !longest.isEmpty() ? longest : dot < 0 ? keys : keys.substring(0, dot);
  }

  /**
   * Makes an error about this value.
   *
   * @param what is wrong, in the form {@code must be ...: name=value}
   */
  public IllegalArgumentException wrong(String what) {
    return new IllegalArgumentException(place + ": " + (path.isEmpty() ? "" : path + ": ") + what);
  }

  /** Returns where this value stands, e.g. {@code part1.yaml:12:5}. */
  public String place() {
    return place;
  }

  /** Returns whether this is a mapping. */
  public boolean isMapping() {
    return value instanceof Map;
  }

  /** Returns the fields of a mapping, in their order. */
  @SuppressWarnings("unchecked")
  public Map<String, Yaml> fields() {
    if (value instanceof Map) {
      return (Map<String, Yaml>) value;
    }
    throw wrong("must be a mapping of keys to values: value=" + this);
  }

  /** Returns a field of a mapping; null if it is not there. */
  public Yaml get(String key) {
    return fields().get(key);
  }

  /** Returns the items of a list; a scalar counts as a list of itself. */
  @SuppressWarnings("unchecked")
  public List<Yaml> items() {
    if (value instanceof List) {
      return (List<Yaml>) value;
    }
    if (value instanceof String) {
      return List.of(this);
    }
    throw wrong("must be a value or a list of values: value=" + this);
  }

  /** Returns a scalar as it is written. */
  public String text() {
    if (value instanceof String text) {
      return text;
    }
    throw wrong("must be a single value: value=" + this);
  }

  /** Returns {@code true} or {@code false}. */
  public boolean flag() {
    return switch (text()) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong("must be true or false: value=" + this);
    };
  }

  /** Returns an integer within limits, both included. */
  public long integer(long least, long most) {
    try {
      long number = Long.parseLong(text());
      if (number >= least && number <= most) {
        return number;
      }
    } catch (NumberFormatException e) {
      throw wrong("must be a whole number from " + least + " to " + most + ": value=" + this);
    }
    throw wrong("must be from " + least + " to " + most + ": value=" + this);
  }

  /**
   * Returns what a function makes of a scalar.
   *
   * @param parse throws {@link IllegalArgumentException} with what is wrong
   */
  public <T> T as(Function<String, T> parse) {
    try {
      return parse.apply(text());
    } catch (IllegalArgumentException e) {
      throw wrong(e.getMessage());
    }
  }

  /** Refuses a mapping with other keys than these. */
  public void allow(Set<String> keys) {
    fields()
        .forEach(
            (key, field) -> {
              if (!keys.contains(key)) {
                throw field.wrong("no such key; known here: " + String.join(", ", keys));
              }
            });
  }

  @Override
  public String toString() {
    return value == null
        ? "nothing"
        : value instanceof String ? "'" + value + "'" : value.toString();
  }
}

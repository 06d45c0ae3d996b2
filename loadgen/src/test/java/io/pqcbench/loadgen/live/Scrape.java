package io.pqcbench.loadgen.live;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What Prometheus would read: its text format, version 0.0.4, as far as tests need it. */
public final class Scrape {

  private final Map<String, Double> samples = new LinkedHashMap<>();
  private final Map<String, String> types = new LinkedHashMap<>();
  private final Map<String, String> helps = new LinkedHashMap<>();

  private Scrape(String text) {
    for (String line : text.lines().toList()) {
      String[] words = line.split(" ", 4);
      if (words[0].equals("#")) {
        (words[1].equals("TYPE") ? types : helps).put(words[2], words[3]);
      } else {
        int space = line.lastIndexOf(' ');
        samples.put(line.substring(0, space), number(line.substring(space + 1)));
      }
    }
  }

  private static double number(String text) {
    return text.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(text);
  }

  /** Reads a text. */
  static Scrape of(String text) {
    return new Scrape(text);
  }

  /** Fetches a text by HTTP. */
  public static Scrape from(String url) throws IOException, InterruptedException {
    HttpResponse<String> response =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(url)).build(),
                HttpResponse.BodyHandlers.ofString());
    return of(response.body());
  }

  /** Returns a sample by its name with its labels; NaN if there is none. */
  public double value(String series) {
    return samples.getOrDefault(series, Double.NaN);
  }

  /** Returns all samples by name with labels, in their order. */
  Map<String, Double> samples() {
    return samples;
  }

  /** Returns the names of all samples, without labels: what an expression may name. */
  Set<String> names() {
    Set<String> names = new TreeSet<>();
    samples.keySet().forEach(series -> names.add(series.split("\\{", 2)[0]));
    return names;
  }

  /** Returns the metrics' types by name. */
  Map<String, String> types() {
    return types;
  }

  /** Returns the metrics' descriptions by name. */
  Map<String, String> helps() {
    return helps;
  }
}

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a handshake costs the client, and how late it is, as the offered rate and the number of
 * attempts in flight grow; started by scaling.sh, which has the usage text.
 *
 * <p>Knows loadgen only by its command line, its summary and its bundle. Every run has a client and
 * a server of its own, so that no run inherits anything from another, and every round has all
 * points in an order of its own, so that a slow drift of the machine does not look like a
 * difference between them.
 */
public final class Scaling {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String SCHEMA = "loadgen-scaling/1";

  /** What is taken from each run; a point has the median of each over its rounds. */
  private static final List<String> METRICS =
      List.of(
          "offeredPerSecond",
          "achievedPerSecond",
          "completedPerSecond",
          "clientCpuMicrosPerHandshake",
          "laneCpuMicrosPerHandshake",
          "lagP50Micros",
          "lagP99Micros",
          "inFlight",
          "notSuccessful",
          "rssMiB",
          "rssAnonMiB",
          "rssPeakMiB");

  private static final List<String> VERDICTS =
      List.of("TRUSTED", "SUSPECT", "SATURATED", "INVALID");

  private static final double SOAK_RATE = 1_000;
  private static final long SOAK_SAMPLE_MILLIS = 10_000;

  /** Growth of the proportional set size above this is called a leak. */
  private static final double FLAT_MIB_PER_MINUTE = 1;

  /** Descriptors that a client and a server keep for other things than connections. */
  private static final int RESERVED_DESCRIPTORS = 300;

  private static final int DEFAULT_MAX_IN_FLIGHT = 10_000;

  /** One thing to measure. Without a delay, as many attempts are in flight as the server causes. */
  private record Point(String group, int lanes, double rate, int wantedInFlight) {

    long delayMillis() {
      return Math.round(wantedInFlight / rate * 1e3);
    }

    String text() {
      return String.format(
          Locale.ROOT,
          "%s, %d lane%s, %s/s, server's delay %d ms",
          group,
          lanes,
          lanes == 1 ? "" : "s",
          number(rate),
          delayMillis());
    }
  }

  private final Map<String, String> options;
  private final Path launcher;
  private final Path out;
  private final double seconds;
  private final double warmupSeconds;

  private Scaling(Map<String, String> options) throws IOException {
    this.options = options;
    this.seconds = decimal("seconds");
    this.warmupSeconds = decimal("warmup");
    this.launcher = Path.of(System.getProperty("loadgen.launcher.script", "loadgen/bin/loadgen"));
    if (!Files.isExecutable(launcher)) {
      throw new UsageException("no launcher to start: launcher=" + launcher + "; use scaling.sh");
    }
    String time =
        DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT)
            .withZone(ZoneOffset.UTC)
            .format(Instant.now());
    this.out = Path.of(options.getOrDefault("out", "bundles/scaling-" + time));
    Files.createDirectories(out);
  }

  private static final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1;

    UsageException(String message) {
      super(message);
    }
  }

  public static void main(String[] args) throws Exception {
    try {
      Map<String, String> options = parse(args);
      // Whoever ends this program means its client and server too.
      Runtime.getRuntime()
          .addShutdownHook(
              new Thread(
                  () -> ProcessHandle.current().descendants().forEach(ProcessHandle::destroy)));
      if (options.containsKey("draw")) {
        draw(Path.of(options.get("draw")));
      } else if (options.containsKey("soak")) {
        System.exit(new Scaling(options).soak() ? 0 : 1);
      } else {
        new Scaling(options).measure();
      }
    } catch (UsageException e) {
      System.err.println("scaling: " + e.getMessage());
      System.exit(2);
    } catch (IOException e) {
      System.err.println("scaling: " + e.getMessage());
      System.exit(4);
    }
  }

  // --- Options ---------------------------------------------------------------------------------

  private static Map<String, String> parse(String[] args) {
    Map<String, String> defaults = new LinkedHashMap<>();
    defaults.put("rates", "100,300,1000,3000,10000");
    defaults.put("groups", "X25519,X25519MLKEM768");
    defaults.put("lanes", "1,2");
    defaults.put("in-flight", "1,100,1000,5000,20000");
    defaults.put("in-flight-rate", "1000");
    defaults.put("seconds", "20");
    defaults.put("warmup", "8");
    defaults.put("rounds", "3");
    defaults.put("seed", "1");
    List<String> others = List.of("out", "soak", "draw");
    Map<String, String> options = new LinkedHashMap<>(defaults);
    for (int i = 0; i < args.length; i += 2) {
      String name = args[i].startsWith("--") ? args[i].substring(2) : "";
      if (!defaults.containsKey(name) && !others.contains(name)) {
        throw new UsageException("unknown option: option='" + args[i] + "', see --help");
      }
      if (i + 1 == args.length) {
        throw new UsageException("an option has no value: option=--" + name + ", see --help");
      }
      options.put(name, args[i + 1]);
    }
    return options;
  }

  private double decimal(String name) {
    return positive(name, options.get(name));
  }

  private static double positive(String name, String text) {
    try {
      double value = Double.parseDouble(text.strip());
      if (value > 0 && value < 1e9) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Told below, with the value.
    }
    throw new UsageException(
        "must be a number above 0 and below 1e9: " + name + "='" + text + "', see --help");
  }

  private List<String> words(String name) {
    return Arrays.stream(options.get(name).split(",")).map(String::strip).toList();
  }

  private List<Integer> wholes(String name) {
    return words(name).stream().map(word -> (int) positive(name, word)).toList();
  }

  // --- The programme ---------------------------------------------------------------------------

  private List<Point> points() {
    List<Point> points = new ArrayList<>();
    for (String group : words("groups")) {
      for (int lanes : wholes("lanes")) {
        for (String rate : words("rates")) {
          points.add(new Point(group, lanes, positive("rates", rate), 0));
        }
      }
      if (!options.get("in-flight").equals("none")) {
        for (int inFlight : wholes("in-flight")) {
          points.add(new Point(group, wholes("lanes").get(0), decimal("in-flight-rate"), inFlight));
        }
      }
    }
    return points;
  }

  private void measure() throws IOException, InterruptedException {
    ObjectNode result = JSON.createObjectNode();
    result.put("schema", SCHEMA);
    result.put("startedAt", Instant.now().toString());
    ObjectNode settings = result.putObject("settings");
    options.forEach(settings::put);
    result.putNull("machine");
    ArrayNode nodes = result.putArray("points");
    ArrayNode absent = result.putArray("absent");

    Map<Point, ObjectNode> measurable = new LinkedHashMap<>();
    for (Point point : points()) {
      String reason = whyNot(point);
      if (reason != null) {
        absent.add(describe(point).put("reason", reason));
        System.err.println("scaling: left out: " + point.text() + ": " + reason);
      } else {
        ObjectNode node = describe(point);
        node.putArray("runs");
        nodes.add(node);
        measurable.put(point, node);
      }
    }
    int rounds = (int) decimal("rounds");
    Random random = new Random((long) decimal("seed"));
    int total = rounds * measurable.size();
    double minutes = measurable.keySet().stream().mapToDouble(this::seconds).sum() * rounds / 60;
    System.err.printf(Locale.ROOT, "scaling: %d runs, about %.0f minutes%n", total, minutes);
    int done = 0;
    for (int round = 1; round <= rounds; round++) {
      List<Point> order = new ArrayList<>(measurable.keySet());
      Collections.shuffle(order, random);
      for (Point point : order) {
        done++;
        System.err.printf(Locale.ROOT, "  %d/%d  %s", done, total, point.text());
        ObjectNode node = measurable.get(point);
        try {
          ObjectNode run = run(point, result);
          run.put("round", round).put("place", done);
          ((ArrayNode) node.get("runs")).add(run);
          System.err.printf(
              Locale.ROOT,
              ": %s us CPU, lag p99 %s us, %s%n",
              cell(run.get("clientCpuMicrosPerHandshake")),
              cell(run.get("lagP99Micros")),
              run.get("verdict").asText());
        } catch (IOException e) {
          absent.add(describe(point).put("round", round).put("reason", e.getMessage()));
          System.err.println(": absent: " + e.getMessage());
        }
        sumUp(node);
        // Written each time: a programme that is ended keeps what it has.
        write(out.resolve("scaling.json"), result);
      }
    }
    print(result);
    draw(out.resolve("scaling.json"));
    System.err.println("scaling: " + out.resolve("scaling.json") + ", scaling.svg");
  }

  private static ObjectNode describe(Point point) {
    ObjectNode node = JSON.createObjectNode();
    node.put("group", point.group).put("lanes", point.lanes).put("ratePerSecond", point.rate);
    node.put("delayMillis", point.delayMillis());
    if (point.wantedInFlight > 0) {
      node.put("wantedInFlight", point.wantedInFlight);
    }
    return node;
  }

  /** Returns why this machine cannot measure a point; null if it can. */
  private static String whyNot(Point point) throws IOException {
    Matcher files =
        Pattern.compile("Max open files\\s+\\S+\\s+(\\d+)")
            .matcher(kernelText(Path.of("/proc/self/limits")));
    if (files.find()) {
      long limit = Long.parseLong(files.group(1));
      if (point.wantedInFlight > limit - RESERVED_DESCRIPTORS) {
        return "a process may open too few files: inFlight="
            + point.wantedInFlight
            + " limit="
            + limit
            + "; raise it: ulimit -n 65536";
      }
    }
    Path range = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    if (Files.isReadable(range)) {
      String[] ends = kernelText(range).strip().split("\\s+");
      int ports = Integer.parseInt(ends[1]) - Integer.parseInt(ends[0]) + 1;
      if (point.wantedInFlight > ports) {
        return "there are too few ports: inFlight="
            + point.wantedInFlight
            + " ports="
            + ports
            + "; raise it: sysctl net.ipv4.ip_local_port_range='1024 65535'";
      }
    }
    return null;
  }

  /**
   * Reads in one go: Files would begin with a single byte, and sysctl files give nothing after it.
   */
  private static String kernelText(Path file) throws IOException {
    try (FileInputStream in = new FileInputStream(file.toFile())) {
      return new String(in.readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  /** Returns how long a run is, without its start; a slow server has to fill up first. */
  private double seconds(Point point) {
    return warmup(point) + seconds + point.delayMillis() / 1e3;
  }

  private double warmup(Point point) {
    return warmupSeconds + point.delayMillis() / 1e3;
  }

  private ObjectNode run(Point point, ObjectNode result) throws IOException, InterruptedException {
    Path bundle = out.resolve("bundle");
    delete(bundle);
    try (Server server = new Server(launcher, point.delayMillis(), out.resolve("server.log"))) {
      List<String> words = client(point, server.target, warmup(point), seconds);
      Process process = start(words, Map.of());
      List<Memory> memory = new ArrayList<>();
      long end = System.nanoTime() + (long) ((2 * seconds(point) + 120) * 1e9);
      while (!process.waitFor(500, TimeUnit.MILLISECONDS)) {
        Memory.read(process.pid(), 0, false).ifPresent(memory::add);
        if (System.nanoTime() > end) {
          process.destroyForcibly();
          throw new IOException("the client did not end, and was killed");
        }
      }
      JsonNode summary = summary(process);
      if (result.get("machine").isNull()) {
        result.set("machine", machine(bundle));
      }
      ObjectNode run = metrics(summary);
      double from = warmup(point) * 1e6;
      put(run, "inFlight", inFlight(bundle, from, from + seconds * 1e6));
      // From half of its life on, when heap and code cache are there and the load is on.
      List<Memory> later = memory.subList(memory.size() / 2, memory.size());
      put(run, "rssMiB", median(later.stream().map(m -> m.rss).toList()));
      put(run, "rssAnonMiB", median(later.stream().map(m -> m.anon).toList()));
      put(run, "rssPeakMiB", later.isEmpty() ? null : later.get(later.size() - 1).peak);
      return run;
    } finally {
      delete(bundle);
    }
  }

  private List<String> client(Point point, String target, double warmup, double measured) {
    long timeoutMillis = point.delayMillis() + 10_000;
    List<String> words = new ArrayList<>(List.of(launcher.toString(), "run", "--json", "--quiet"));
    words.addAll(List.of("--fail-on", "never", "--target", target, "--groups", point.group));
    words.addAll(List.of("--lanes", "" + point.lanes, "--rate", number(point.rate)));
    words.addAll(List.of("--warmup", millis(warmup), "--duration", millis(warmup + measured)));
    words.addAll(List.of("--timeout", timeoutMillis + "ms"));
    int maxInFlight = Math.max(DEFAULT_MAX_IN_FLIGHT, point.wantedInFlight * 5 / 4);
    words.addAll(List.of("--max-in-flight", "" + maxInFlight));
    // One client address has too few ports for ten thousand TIME_WAITs a second.
    words.addAll(List.of("--close", "rst", "--out", out.resolve("bundle").toString()));
    return words;
  }

  private static String millis(double seconds) {
    return Math.round(seconds * 1e3) + "ms";
  }

  private Process start(List<String> words, Map<String, String> environment) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().putAll(environment);
    builder.redirectOutput(out.resolve("client.json").toFile());
    builder.redirectError(out.resolve("client.log").toFile());
    return builder.start();
  }

  private JsonNode summary(Process process) throws IOException {
    JsonNode summary = JSON.readTree(out.resolve("client.json").toFile());
    if (process.exitValue() != 0 || !summary.hasNonNull("verdict")) {
      List<String> log = Files.readAllLines(out.resolve("client.log"));
      throw new IOException(
          "the client ended without a result: exitCode="
              + process.exitValue()
              + ", it said: "
              + (log.isEmpty() ? "nothing" : log.get(log.size() - 1)));
    }
    return summary;
  }

  private static ObjectNode metrics(JsonNode summary) {
    ObjectNode run = JSON.createObjectNode();
    run.set("verdict", summary.get("verdict"));
    for (String name : METRICS) {
      if (summary.has(name)) {
        run.set(name, summary.get(name));
      }
    }
    run.set("lagP50Micros", summary.at("/phases/lag/p50"));
    run.set("lagP99Micros", summary.at("/phases/lag/p99"));
    long others = 0;
    for (Map.Entry<String, JsonNode> outcome : summary.get("outcomes").properties()) {
      others += outcome.getKey().equals("SUCCESS") ? 0 : outcome.getValue().asLong();
    }
    run.put("notSuccessful", others);
    ArrayNode findings = run.putArray("findings");
    summary.get("findings").forEach(finding -> findings.add(finding.path("rule").asText()));
    return run;
  }

  private static ObjectNode machine(Path bundle) throws IOException {
    JsonNode run = JSON.readTree(bundle.resolve("run.json").toFile());
    ObjectNode machine = JSON.createObjectNode();
    for (String name : List.of("cpus", "cpuModel", "memoryBytes", "kernel", "architecture")) {
      machine.set(name, run.at("/host/" + name));
    }
    machine.set("jdk", run.at("/versions/jdk"));
    machine.set("jvmFlags", run.at("/host/jvmFlags"));
    machine.set("loadgen", run.at("/versions/loadgen"));
    return machine;
  }

  /** Returns the median number of attempts in flight in a part of the run, null if unknown. */
  private static Double inFlight(Path bundle, double fromMicros, double toMicros)
      throws IOException {
    List<String> lines = Files.readAllLines(bundle.resolve("monitor.csv"));
    List<String> header = Arrays.asList(lines.get(0).split(","));
    int at = header.indexOf("in_flight");
    int start = header.indexOf("start_us");
    List<Double> values = new ArrayList<>();
    for (String line : lines.subList(1, lines.size())) {
      String[] cells = line.split(",", -1);
      if (at >= 0 && cells.length == header.size() && !cells[at].isEmpty()) {
        double micros = Double.parseDouble(cells[start]);
        if (micros >= fromMicros && micros < toMicros) {
          values.add(Double.valueOf(cells[at]));
        }
      }
    }
    return median(values);
  }

  private static void sumUp(ObjectNode point) {
    List<JsonNode> runs = new ArrayList<>();
    point.get("runs").forEach(runs::add);
    ObjectNode medians = point.putObject("median");
    for (String name : METRICS) {
      put(medians, name, median(values(runs, name)));
    }
    List<String> verdicts =
        runs.stream()
            .map(run -> run.get("verdict").asText())
            .sorted(Comparator.comparingInt(VERDICTS::indexOf))
            .toList();
    point.put("verdict", verdicts.isEmpty() ? null : verdicts.get(verdicts.size() / 2));
  }

  private static List<Double> values(List<JsonNode> runs, String name) {
    return runs.stream()
        .map(run -> run.path(name))
        .filter(JsonNode::isNumber)
        .map(JsonNode::asDouble)
        .toList();
  }

  private static void put(ObjectNode node, String name, Double value) {
    node.put(name, value == null ? null : (Double) (Math.round(value * 1e3) / 1e3));
  }

  /** Returns null for no values. */
  private static Double median(List<Double> values) {
    if (values.isEmpty()) {
      return null;
    }
    List<Double> sorted = values.stream().sorted().toList();
    int half = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(half)
        : (Double) ((sorted.get(half - 1) + sorted.get(half)) / 2);
  }

  private static void print(JsonNode result) {
    String row = "%-16s %5s %10s %9s %10s %11s %10s %10s %10s %10s %8s %8s %8s  %s%n";
    System.out.printf(
        row,
        "group",
        "lanes",
        "offered/s",
        "delay_ms",
        "in_flight",
        "achieved/s",
        "cpu_us/hs",
        "lane_us/hs",
        "lag_p50_us",
        "lag_p99_us",
        "rss_MiB",
        "anon_MiB",
        "peak_MiB",
        "verdict");
    for (JsonNode point : result.get("points")) {
      JsonNode median = point.path("median");
      System.out.printf(
          row,
          point.get("group").asText(),
          point.get("lanes").asText(),
          number(point.get("ratePerSecond").asDouble()),
          point.get("delayMillis").asText(),
          cell(median.path("inFlight")),
          cell(median.path("achievedPerSecond")),
          cell(median.path("clientCpuMicrosPerHandshake")),
          cell(median.path("laneCpuMicrosPerHandshake")),
          cell(median.path("lagP50Micros")),
          cell(median.path("lagP99Micros")),
          cell(median.path("rssMiB")),
          cell(median.path("rssAnonMiB")),
          cell(median.path("rssPeakMiB")),
          point.path("verdict").asText("absent"));
    }
    for (JsonNode absent : result.get("absent")) {
      System.out.printf(
          "absent: %s, %s lanes, %s/s, delay %s ms: %s%n",
          absent.get("group").asText(),
          absent.get("lanes").asText(),
          number(absent.get("ratePerSecond").asDouble()),
          absent.get("delayMillis").asText(),
          absent.get("reason").asText());
    }
  }

  private static String cell(JsonNode value) {
    return value != null && value.isNumber()
        ? String.format(Locale.ROOT, "%.1f", value.asDouble())
        : "-";
  }

  private static String number(double value) {
    return value == Math.rint(value) ? Long.toString((long) value) : Double.toString(value);
  }

  private static void write(Path file, JsonNode node) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".tmp");
    JSON.writerWithDefaultPrettyPrinter().writeValue(next.toFile(), node);
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void delete(Path directory) throws IOException {
    if (!Files.isDirectory(directory)) {
      return;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  /** The embedded server in a process of its own, which ends when its standard input is closed. */
  private static final class Server implements AutoCloseable {
    private final Process process;
    private final String target;

    Server(Path launcher, long delayMillis, Path log) throws IOException {
      process =
          new ProcessBuilder(
                  launcher.toString(),
                  "serve",
                  "--until-stdin-closes",
                  "--delay",
                  delayMillis + "ms")
              .redirectError(log.toFile())
              .start();
      BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
      String line = lines.readLine();
      if (line == null || !line.startsWith("target=")) {
        process.destroy();
        throw new IOException("the embedded server did not start: see " + log);
      }
      target = line.substring("target=".length());
    }

    @Override
    public void close() throws IOException {
      process.getOutputStream().close();
      try {
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
          process.destroyForcibly().waitFor();
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * What the kernel says of a process's memory, MiB. ZGC before JDK 23 maps its heap three times,
   * and the resident set counts it as often; the proportional one does not, and the anonymous part
   * does not hold the heap at all.
   *
   * @param seconds after the start of the process
   * @param pss null if not asked for
   */
  private record Memory(double seconds, Double rss, Double anon, Double peak, Double pss) {

    static Optional<Memory> read(long pid, double seconds, boolean withPss) {
      try {
        Path process = Path.of("/proc", Long.toString(pid));
        String status = kernelText(process.resolve("status"));
        String rollup = withPss ? kernelText(process.resolve("smaps_rollup")) : "";
        Memory memory =
            new Memory(
                seconds,
                field(status, "VmRSS"),
                field(status, "RssAnon"),
                field(status, "VmHWM"),
                field(rollup, "Pss"));
        return Optional.ofNullable(memory.peak == null ? null : memory);
      } catch (IOException e) {
        // It has ended meanwhile.
        return Optional.empty();
      }
    }

    private static Double field(String text, String name) {
      Matcher line = Pattern.compile("(?m)^" + name + ":\\s+(\\d+) kB").matcher(text);
      return line.find() ? (Double) (Long.parseLong(line.group(1)) / 1024.0) : null;
    }
  }

  // --- The soak --------------------------------------------------------------------------------

  /** Returns whether memory was flat. */
  private boolean soak() throws IOException, InterruptedException {
    double minutes = decimal("soak");
    List<String> groups = words("groups");
    Point point = new Point(groups.get(groups.size() - 1), wholes("lanes").get(0), SOAK_RATE, 0);
    Path gcLog = out.resolve("gc.log");
    Path bundle = out.resolve("bundle");
    delete(bundle);
    double warmup = Math.min(30, minutes * 12);
    List<Memory> memory = new ArrayList<>();
    JsonNode summary;
    JsonNode machine;
    System.err.printf(Locale.ROOT, "scaling: soak, %s, %.1f minutes%n", point.text(), minutes);
    try (Server server = new Server(launcher, 0, out.resolve("server.log"))) {
      String options = System.getenv().getOrDefault("LOADGEN_JAVA_OPTS", "");
      Process process =
          start(
              client(point, server.target, warmup, minutes * 60 - warmup),
              Map.of("LOADGEN_JAVA_OPTS", "-Xlog:gc:file=" + gcLog + ":uptime " + options));
      long start = System.nanoTime();
      while (!process.waitFor(SOAK_SAMPLE_MILLIS, TimeUnit.MILLISECONDS)) {
        double at = (System.nanoTime() - start) / 1e9;
        Memory.read(process.pid(), at, true).ifPresent(memory::add);
        if (!memory.isEmpty()) {
          Memory last = memory.get(memory.size() - 1);
          System.err.printf(
              Locale.ROOT, "  %.0f s  RSS %.1f MiB, Pss %.1f MiB%n", at, last.rss, last.pss);
        }
      }
      summary = summary(process);
      machine = machine(bundle);
    } finally {
      delete(bundle);
    }
    double from = memory.isEmpty() ? 0 : memory.get(memory.size() - 1).seconds / 3;
    Map<String, List<double[]>> series = new LinkedHashMap<>();
    series.put("pss", series(memory, Memory::pss));
    series.put("rss", series(memory, Memory::rss));
    series.put("rssAnon", series(memory, Memory::anon));
    series.put("heapAfterGc", heapAfterGc(gcLog));

    ObjectNode result = JSON.createObjectNode();
    result.put("schema", SCHEMA + "-soak").put("startedAt", Instant.now().toString());
    result.put("group", point.group).put("lanes", point.lanes).put("ratePerSecond", SOAK_RATE);
    result.put("minutes", minutes).put("slopeFromSecond", from);
    result.set("machine", machine);
    result.set("run", metrics(summary));
    System.out.printf(
        "%-12s %8s %10s %10s %14s%n", "soak", "samples", "first_MiB", "last_MiB", "slope_MiB/min");
    Double slopeOfPss = null;
    for (Map.Entry<String, List<double[]>> entry : series.entrySet()) {
      ObjectNode node = result.putObject(entry.getKey());
      ArrayNode samples = node.putArray("secondsAndMiB");
      entry.getValue().forEach(pair -> samples.addArray().add(pair[0]).add(pair[1]));
      List<double[]> later = entry.getValue().stream().filter(pair -> pair[0] >= from).toList();
      Double slope = slopePerMinute(later);
      node.put("slopeMiBPerMinute", slope);
      slopeOfPss = entry.getKey().equals("pss") ? slope : slopeOfPss;
      System.out.printf(
          Locale.ROOT,
          "%-12s %8d %10s %10s %14s%n",
          entry.getKey(),
          later.size(),
          later.isEmpty() ? "-" : String.format(Locale.ROOT, "%.1f", later.get(0)[1]),
          later.isEmpty()
              ? "-"
              : String.format(Locale.ROOT, "%.1f", later.get(later.size() - 1)[1]),
          slope == null ? "-" : String.format(Locale.ROOT, "%.3f", slope));
    }
    boolean flat = slopeOfPss != null && slopeOfPss <= FLAT_MIB_PER_MINUTE;
    result.put("flat", flat);
    write(out.resolve("soak.json"), result);
    System.out.printf(
        Locale.ROOT,
        "%s: Pss %s (limit %.1f MiB/min over the last two thirds), verdict of the run %s, %s%n",
        flat ? "flat" : "not shown to be flat",
        slopeOfPss == null ? "too few samples" : String.format("%.3f MiB/min", slopeOfPss),
        FLAT_MIB_PER_MINUTE,
        summary.get("verdict").asText(),
        out.resolve("soak.json"));
    return flat;
  }

  private static List<double[]> series(List<Memory> memory, Function<Memory, Double> of) {
    return memory.stream()
        .filter(sample -> of.apply(sample) != null)
        .map(sample -> new double[] {sample.seconds, of.apply(sample)})
        .toList();
  }

  /**
   * Reads the heap's use after each collection. Of a generational collector only the major ones
   * count, if there are some: after a minor one the old generation's garbage is still there.
   */
  private static List<double[]> heapAfterGc(Path log) throws IOException {
    Pattern line = Pattern.compile("\\[([0-9.]+)s\\].* \\d+([KMG])\\S*->(\\d+)([KMG])");
    List<double[]> all = new ArrayList<>();
    List<double[]> major = new ArrayList<>();
    for (String text : Files.readAllLines(log)) {
      Matcher found = line.matcher(text);
      if (found.find()) {
        double scale = Map.of("K", 1 / 1024.0, "M", 1.0, "G", 1024.0).get(found.group(4));
        double[] pair = {
          Double.parseDouble(found.group(1)), Long.parseLong(found.group(3)) * scale
        };
        all.add(pair);
        if (text.contains("Major Collection")) {
          major.add(pair);
        }
      }
    }
    return major.size() >= 3 ? major : all;
  }

  /** Returns the least-squares slope; null for fewer than three samples. */
  private static Double slopePerMinute(List<double[]> pairs) {
    if (pairs.size() < 3) {
      return null;
    }
    double meanX = pairs.stream().mapToDouble(pair -> pair[0]).average().orElseThrow();
    double meanY = pairs.stream().mapToDouble(pair -> pair[1]).average().orElseThrow();
    double xy = pairs.stream().mapToDouble(p -> (p[0] - meanX) * (p[1] - meanY)).sum();
    double xx = pairs.stream().mapToDouble(p -> (p[0] - meanX) * (p[0] - meanX)).sum();
    return xx == 0 ? null : (Double) (xy / xx * 60);
  }

  // --- The picture -----------------------------------------------------------------------------

  private static void draw(Path json) throws IOException {
    JsonNode result = JSON.readTree(json.toFile());
    if (!SCHEMA.equals(result.path("schema").asText())) {
      throw new IOException(
          "not a result of this programme: schema='"
              + result.path("schema").asText()
              + "', needed: "
              + SCHEMA
              + ", file="
              + json);
    }
    Path svg = json.resolveSibling("scaling.svg");
    Files.writeString(svg, new Picture(result).render());
  }

  /** The picture of a result: cost above, lag below, over one axis of offered rates. */
  private static final class Picture {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 640;
    private static final int LEFT = 76;
    private static final int RIGHT = 650;
    private static final int COST_TOP = 92;
    private static final int COST_BOTTOM = 372;
    private static final int LAG_TOP = 418;
    private static final int LAG_BOTTOM = 578;

    /** Of one lane, two lanes, and so on. */
    private static final List<String> DASHES = List.of("", "7 4", "2 3", "9 3 2 3");

    private final JsonNode result;
    private final List<JsonNode> points = new ArrayList<>();
    private final List<String> groups;
    private final List<Integer> lanes;
    private final TreeSet<Double> rates = new TreeSet<>();
    private final StringBuilder svg = new StringBuilder();

    Picture(JsonNode result) throws IOException {
      this.result = result;
      for (JsonNode point : result.get("points")) {
        if (!point.has("wantedInFlight") && point.path("verdict").isTextual()) {
          points.add(point);
          rates.add(point.get("ratePerSecond").asDouble());
        }
      }
      if (points.isEmpty()) {
        throw new IOException("nothing to draw: there is no point without a delay");
      }
      groups = points.stream().map(point -> point.get("group").asText()).distinct().toList();
      lanes = points.stream().map(point -> point.get("lanes").asInt()).distinct().sorted().toList();
    }

    String render() {
      svg.append(
          """
          <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" width="%1$d" height="%2$d" role="img">
          <style>
          text { font-family: system-ui, sans-serif; font-size: 12px; fill: #24292f }
          .title { font-size: 16px; font-weight: 600 }
          .axis { font-size: 12px; fill: #57606a }
          .page { fill: #ffffff } .hollow { fill: #ffffff }
          .grid { stroke: #d8dee4; stroke-width: 1 } .frame { stroke: #8c959f; fill: none }
          .line { fill: none; stroke-width: 2 } .thin { stroke-width: 1.2; opacity: .65 }
          .mark { stroke-width: 1.8 }
          .s0 { stroke: #0072b2 } .s1 { stroke: #d55e00 } .s2 { stroke: #008060 } .s3 { stroke: #a04080 }
          .f0 { fill: #0072b2 } .f1 { fill: #d55e00 } .f2 { fill: #008060 } .f3 { fill: #a04080 }
          .sn { stroke: #57606a } .fn { fill: #57606a }
          @media (prefers-color-scheme: dark) {
          text { fill: #e6edf3 } .axis { fill: #9da7b3 }
          .page, .hollow { fill: #0d1117 } .grid { stroke: #2b323b } .frame { stroke: #6e7681 }
          .s0 { stroke: #56b4e9 } .s1 { stroke: #f0913a } .s2 { stroke: #33c49a } .s3 { stroke: #d893bd }
          .f0 { fill: #56b4e9 } .f1 { fill: #f0913a } .f2 { fill: #33c49a } .f3 { fill: #d893bd }
          .sn { stroke: #9da7b3 } .fn { fill: #9da7b3 }
          }
          </style>
          """
              .formatted(WIDTH, HEIGHT));
      add("<rect class='page' width='%d' height='%d' rx='6'/>", WIDTH, HEIGHT);
      title();
      cost();
      lag();
      legend();
      return svg.append("</svg>\n").toString();
    }

    private void title() {
      JsonNode machine = result.get("machine");
      JsonNode settings = result.get("settings");
      text(LEFT, 30, "title", "start", "What a TLS 1.3 handshake costs the load generator");
      text(
          LEFT,
          50,
          "axis",
          "start",
          "%s, %s CPUs, %s, JDK %s, loadgen %s"
              .formatted(
                  machine.path("cpuModel").asText("CPU model unknown"),
                  machine.path("cpus").asText(),
                  machine.path("kernel").asText(),
                  machine.path("jdk").asText(),
                  machine.path("loadgen").asText()));
      text(
          LEFT,
          67,
          "axis",
          "start",
          "%s, median of %s x %s s; client and server share this machine"
              .formatted(
                  result.get("startedAt").asText().substring(0, 10),
                  settings.get("rounds").asText(),
                  settings.get("seconds").asText()));
    }

    private void cost() {
      double highest =
          points.stream()
              .flatMap(point -> values(runs(point), "clientCpuMicrosPerHandshake").stream())
              .mapToDouble(Double::doubleValue)
              .max()
              .orElse(1);
      double step = niceStep(highest / 5);
      double top = Math.ceil(highest * 1.02 / step) * step;
      DoubleUnaryOperator y = value -> COST_BOTTOM - value / top * (COST_BOTTOM - COST_TOP);
      for (double value = 0; value <= top * 1.001; value += step) {
        tick(y.applyAsDouble(value), number(Math.rint(value)));
      }
      frame(COST_TOP, COST_BOTTOM, "client CPU, us per handshake");
      eachSeries(
          (series, style, dash) -> {
            for (JsonNode point : series) {
              List<Double> all = values(runs(point), "clientCpuMicrosPerHandshake");
              double x = x(point);
              add(
                  "<line class='thin s%d' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>",
                  style,
                  x,
                  y.applyAsDouble(Collections.min(all)),
                  x,
                  y.applyAsDouble(Collections.max(all)));
            }
            curve(series, "clientCpuMicrosPerHandshake", y, style, dash, "", 4.2);
          });
    }

    private void lag() {
      List<Double> all =
          points.stream()
              .flatMap(point -> values(List.of(point.get("median")), "lagP50Micros").stream())
              .collect(Collectors.toCollection(ArrayList::new));
      points.forEach(point -> all.addAll(values(List.of(point.get("median")), "lagP99Micros")));
      all.removeIf(value -> value <= 0);
      double low = Math.floor(Math.log10(all.isEmpty() ? 10 : Collections.min(all)));
      double high = Math.ceil(Math.log10(all.isEmpty() ? 1000 : Collections.max(all)) + 1e-9);
      DoubleUnaryOperator y =
          value ->
              LAG_BOTTOM
                  - (Math.log10(Math.max(value, 1e-3)) - low)
                      / Math.max(1, high - low)
                      * (LAG_BOTTOM - LAG_TOP);
      for (double power = low; power <= high; power++) {
        double micros = Math.pow(10, power);
        String label =
            power >= 6
                ? number(Math.rint(micros / 1e6)) + " s"
                : power >= 3
                    ? number(Math.rint(micros / 1e3)) + " ms"
                    : power >= 0 ? number(Math.rint(micros)) + " us" : micros + " us";
        tick(y.applyAsDouble(micros), label);
      }
      frame(LAG_TOP, LAG_BOTTOM, "lag (lateness of starts)");
      eachSeries(
          (series, style, dash) -> {
            curve(series, "lagP50Micros", y, style, dash, " thin", 2.6);
            curve(series, "lagP99Micros", y, style, dash, "", 3.6);
          });
      text(
          (LEFT + RIGHT) / 2.0,
          LAG_BOTTOM + 42,
          "axis",
          "middle",
          "offered rate, handshakes per second");
    }

    private interface Drawing {
      void draw(List<JsonNode> series, int style, String dash);
    }

    private void eachSeries(Drawing drawing) {
      for (int group = 0; group < groups.size(); group++) {
        for (int lane = 0; lane < lanes.size(); lane++) {
          String name = groups.get(group);
          int count = lanes.get(lane);
          List<JsonNode> series =
              points.stream()
                  .filter(point -> point.get("group").asText().equals(name))
                  .filter(point -> point.get("lanes").asInt() == count)
                  .sorted(Comparator.comparingDouble(this::x))
                  .toList();
          if (!series.isEmpty()) {
            drawing.draw(series, group % 4, DASHES.get(lane % DASHES.size()));
          }
        }
      }
    }

    /** A line through the medians, with a mark at each; hollow where they are no result. */
    private void curve(
        List<JsonNode> series,
        String metric,
        DoubleUnaryOperator y,
        int style,
        String dash,
        String more,
        double radius) {
      List<JsonNode> known =
          series.stream().filter(point -> point.get("median").path(metric).isNumber()).toList();
      String path =
          known.stream()
              .map(
                  point ->
                      String.format(
                          Locale.ROOT,
                          "%.1f,%.1f",
                          x(point),
                          y.applyAsDouble(median(point, metric))))
              .collect(Collectors.joining(" "));
      add(
          "<polyline class='line%s s%d' stroke-dasharray='%s' points='%s'/>",
          more, style, dash.isEmpty() ? "none" : dash, path);
      for (JsonNode point : known) {
        boolean hollow = VERDICTS.indexOf(point.get("verdict").asText()) >= 2;
        add(
            "<circle class='mark s%d %s' cx='%.1f' cy='%.1f' r='%.1f'/>",
            style,
            hollow ? "hollow" : "f" + style,
            x(point),
            y.applyAsDouble(median(point, metric)),
            radius);
      }
    }

    private void legend() {
      int at = COST_TOP + 8;
      int x = RIGHT + 24;
      for (int group = 0; group < groups.size(); group++) {
        for (int lane = 0; lane < lanes.size(); lane++) {
          String dash = DASHES.get(lane % DASHES.size());
          add(
              "<line class='line s%d' stroke-dasharray='%s' x1='%d' y1='%d' x2='%d' y2='%d'/>",
              group % 4, dash.isEmpty() ? "none" : dash, x, at - 4, x + 34, at - 4);
          int count = lanes.get(lane);
          String label = groups.get(group) + ", " + count + (count == 1 ? " lane" : " lanes");
          text(x + 42, at, "", "start", label);
          at += 20;
        }
      }
      at += 10;
      add("<circle class='mark sn fn' cx='%d' cy='%d' r='4.2'/>", x + 17, at - 4);
      text(x + 42, at, "", "start", "TRUSTED or SUSPECT");
      at += 20;
      add("<circle class='mark sn hollow' cx='%d' cy='%d' r='4.2'/>", x + 17, at - 4);
      text(x + 42, at, "", "start", "SATURATED or INVALID:");
      at += 16;
      text(x + 42, at, "", "start", "beyond the limit, no result");
      at += 22;
      add(
          "<line class='thin sn' x1='%1$d' y1='%2$d' x2='%1$d' y2='%3$d'/>",
          x + 17, at - 11, at + 2);
      text(x + 42, at, "", "start", "lowest to highest round");
      at = LAG_TOP + 12;
      add("<line class='line sn' x1='%d' y1='%d' x2='%d' y2='%d'/>", x, at - 4, x + 34, at - 4);
      text(x + 42, at, "", "start", "p99");
      at += 20;
      add(
          "<line class='line thin sn' x1='%d' y1='%d' x2='%d' y2='%d'/>",
          x, at - 4, x + 34, at - 4);
      text(x + 42, at, "", "start", "p50");
    }

    private void tick(double y, String label) {
      add("<line class='grid' x1='%d' y1='%.1f' x2='%d' y2='%.1f'/>", LEFT, y, RIGHT, y);
      text(LEFT - 8, y + 4, "axis", "end", label);
    }

    private void frame(int top, int bottom, String label) {
      for (double rate : rates) {
        double x = x(rate);
        add("<line class='grid' x1='%.1f' y1='%d' x2='%.1f' y2='%d'/>", x, top, x, bottom);
        text(x, bottom + 18, "axis", "middle", String.format(Locale.ROOT, "%,.0f", rate));
      }
      add(
          "<rect class='frame' x='%d' y='%d' width='%d' height='%d'/>",
          LEFT, top, RIGHT - LEFT, bottom - top);
      double middle = (top + bottom) / 2.0;
      add(
          "<text class='axis' text-anchor='middle' transform='translate(18 %.1f)"
              + " rotate(-90)'>%s</text>",
          middle, label);
    }

    private double x(JsonNode point) {
      return x(point.get("ratePerSecond").asDouble());
    }

    private double x(double rate) {
      double low = Math.log(rates.first() * 0.8);
      double high = Math.log(rates.last() * 1.25);
      return LEFT + (Math.log(rate) - low) / (high - low) * (RIGHT - LEFT);
    }

    private static List<JsonNode> runs(JsonNode point) {
      List<JsonNode> runs = new ArrayList<>();
      point.get("runs").forEach(runs::add);
      return runs;
    }

    private static double median(JsonNode point, String metric) {
      return point.get("median").get(metric).asDouble();
    }

    /** Returns 1, 2 or 5 times a power of ten, at least {@code least}. */
    private static double niceStep(double least) {
      double power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 1e-3))));
      return least <= power
          ? power
          : least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
    }

    private void text(double x, double y, String style, String anchor, String text) {
      String escaped = text.replace("&", "&amp;").replace("<", "&lt;");
      add(
          "<text class='%s' text-anchor='%s' x='%.1f' y='%.1f'>%s</text>",
          style, anchor, x, y, escaped);
    }

    private void add(String format, Object... values) {
      svg.append(String.format(Locale.ROOT, format, values).replace('\'', '"')).append('\n');
    }
  }
}

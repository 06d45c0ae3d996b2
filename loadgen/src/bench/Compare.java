import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * Runs several clients in turn against one nginx, and reads from the kernel what a handshake cost
 * each of them. Started by {@code bench.sh}, which prepares server and clients.
 *
 * <p>No client is believed about its own cost or its own rate: CPU time is the kernel's, handshakes
 * are the lines of nginx's access log, and so is the group that was negotiated. Only latencies are
 * the client's own, and they are not comparable with each other; {@link Client#latency} says why.
 */
final class Compare {
  /** How /proc counts CPU time: USER_HZ, which is 100 on every Linux that the clients run on. */
  private static final long MICROS_PER_TICK = 10_000;

  /** The load has begun when nginx has logged so many: before it, loadgen's preflight asks once. */
  private static final int LINES_OF_A_PREFLIGHT = 3;

  /** A port in TIME_WAIT may be used again on loopback after one second (tcp_tw_reuse). */
  private static final long SETTLE_MILLIS = 1500;

  private static final long TIME_WAIT_SECONDS = 60;

  /** Assumed for a run without a rate, where only a bound is needed. */
  private static final int FLAT_GUESS_PER_SECOND = 4000;

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  // --- What is asked for ------------------------------------------------------------------------

  /** Rate 0 is flat: as fast as the client can. */
  record Cell(String group, int rate) {
    String rateText() {
      return rate == 0 ? "flat" : rate + "/s";
    }

    String inLog() {
      return group.equals("X25519") ? "X25519" : "0x11ec";
    }
  }

  record Setting(Map<String, String> options) {
    String text(String name) {
      String value = options.get(name);
      if (value == null) {
        throw new IllegalArgumentException("option is missing: option=--" + name);
      }
      return value;
    }

    int number(String name, int least, int most) {
      String value = text(name);
      try {
        int number = Integer.parseInt(value);
        if (number >= least && number <= most) {
          return number;
        }
      } catch (NumberFormatException e) {
        // The same message: it is no number in the range.
      }
      throw new IllegalArgumentException(
          String.format("must be a number from %d to %d: %s=%s", least, most, name, value));
    }

    List<String> list(String name) {
      return Arrays.stream(text(name).split(",")).map(String::trim).distinct().toList();
    }

    Path path(String name) {
      return Path.of(text(name)).toAbsolutePath();
    }

    int seconds() {
      return number("seconds", 4, 3600);
    }

    int connections() {
      return number("connections", 1, 10_000);
    }

    List<Cell> cells() {
      List<Cell> cells = new ArrayList<>();
      for (String group : list("groups")) {
        if (!group.equals("X25519") && !group.equals("X25519MLKEM768")) {
          throw new IllegalArgumentException("must be X25519 or X25519MLKEM768: group=" + group);
        }
        for (String rate : list("rates")) {
          if (!rate.matches("flat|[1-9][0-9]{0,5}")) {
            throw new IllegalArgumentException(
                "must be whole handshakes per second, or flat: rate=" + rate);
          }
          cells.add(new Cell(group, rate.equals("flat") ? 0 : Integer.parseInt(rate)));
        }
      }
      return cells;
    }
  }

  // --- The clients ------------------------------------------------------------------------------

  /** One run of one client: where it works, and against what. */
  record Task(Setting setting, Cell cell, Path folder) {
    String target() {
      return setting.text("target");
    }

    String url() {
      return "https://" + target() + "/";
    }

    String connections() {
      return String.valueOf(setting.connections());
    }

    boolean flat() {
      return cell.rate == 0;
    }

    /** Output of the client, standard output first. */
    String output() throws IOException {
      return Files.readString(folder.resolve("stdout.txt"), StandardCharsets.UTF_8)
          + Files.readString(folder.resolve("stderr.txt"), StandardCharsets.UTF_8);
    }
  }

  /** What a client says of its own run. Microseconds; null where it says nothing. */
  record Said(
      Long done, Long errors, Double p50, Double p99, Double max, Map<String, Object> more) {
    static final Said NOTHING = new Said(null, null, null, null, null, Map.of());
  }

  interface Reader {
    Said read(Task task) throws IOException, InterruptedException;
  }

  /**
   * A client. {@code paced} and {@code flat} make its command line, and are null where it cannot do
   * that; {@code absent} is the reason why it cannot be run here, or null.
   */
  record Client(
      String name,
      String absent,
      String version,
      Function<Task, List<String>> paced,
      Function<Task, List<String>> flat,
      Function<Task, Map<String, String>> environment,
      boolean requests,
      Reader reader,
      String keyShares,
      String latency) {

    boolean can(Cell cell) {
      return (cell.rate == 0 ? flat : paced) != null;
    }

    List<String> command(Task task) {
      return (task.flat() ? flat : paced).apply(task);
    }
  }

  /** The shortest period in whole ms in which a whole number of connections is due. */
  private static int evenPeriod(int rate) {
    for (int period = 1; period < 1000; period++) {
      if (rate * period % 1000 == 0) {
        return period;
      }
    }
    return 1000;
  }

  private static List<Client> clients(Setting setting) throws IOException, InterruptedException {
    Path opensslConfigs = setting.path("out").resolve("openssl");
    Files.createDirectories(opensslConfigs);
    for (String group : List.of("X25519", "X25519MLKEM768")) {
      Files.writeString(
          opensslConfigs.resolve(group + ".cnf"),
          """
          openssl_conf = init
          [init]
          ssl_conf = ssl
          [ssl]
          system_default = system_default_sect
          [system_default_sect]
          Groups = %s
          """
              .formatted(group));
    }
    // For the tools that have no option for the group.
    Function<Task, Map<String, String>> restricted =
        task -> Map.of("OPENSSL_CONF", opensslConfigs.resolve(task.cell.group + ".cnf").toString());
    Function<Task, Map<String, String>> plain = task -> Map.of();
    String one = "the one asked for";
    String two = "X25519: one; X25519MLKEM768: two, the other is x25519";
    String java = setting.text("java");
    Path gatling = setting.path("gatling");

    List<Client> all = new ArrayList<>();
    for (String wait : List.of("block", "busy")) {
      all.add(
          new Client(
              wait.equals("block") ? "loadgen" : "loadgen-busy",
              null,
              "",
              task -> loadgen(task, wait),
              task -> loadgen(task, wait),
              plain,
              true,
              Compare::readLoadgen,
              one,
              "response: from the planned instant to the last byte, with connect and handshake,"
                  + " free of coordinated omission; second half; ns resolution. Flat: arrivals that"
                  + " found all connections in use are skipped"));
    }
    all.add(
        new Client(
            "gatling",
            setting.text("gatling-absent").isEmpty() ? null : setting.text("gatling-absent"),
            "",
            task -> gatling(task, java, gatling),
            task -> gatling(task, java, gatling),
            plain,
            true,
            task -> readGatling(task, java, gatling),
            two,
            "from its own send to the last byte, with connect and handshake; the injector's"
                + " lateness is left out (coordinated omission); second half; whole ms"));
    Tool h2load = Tool.find(setting, "h2load");
    for (boolean even : List.of(false, true)) {
      all.add(
          new Client(
              even ? "h2load-even" : "h2load",
              h2load.absent,
              h2load.version("--version"),
              // The first burst is at once, so one second's worth more lasts as long as the others.
              h2load.command(
                  "--h1 -t1 --groups={group} -n{total} -c{total} "
                      + (even
                          ? "--rate={burst} --rate-period={period}ms"
                          : "--rate={rate} --rate-period=1s")
                      + " {url}"),
              even
                  ? null
                  : h2load.command("--h1 -t1 --groups={group} -c{connections} -D{seconds} {url}"),
              task -> Map.of("OPENSSL_CONF", "/dev/null"),
              true,
              Compare::readH2load,
              one,
              "'time for request': from sending the request on a finished handshake, so without"
                  + " connect and handshake; prints no percentiles; us. Connections start in a"
                  + " burst"
                  + (even ? " of the smallest size that whole ms allow" : " at each full second")
                  + ". 'time for connect' is TCP and TLS; flat: of the first connections only"));
    }
    Tool wrk = Tool.find(setting, "wrk");
    all.add(
        new Client(
            "wrk",
            wrk.absent,
            wrk.version("-v"),
            null,
            wrk.command("-t1 -c{connections} -d{seconds}s --latency -H{close} {url}"),
            restricted,
            true,
            Compare::readWrk,
            one,
            "closed loop; from sending the request on a finished handshake, so without connect and"
                + " handshake; coordinated omission; 10 us printed"));
    Tool wrk2 = Tool.find(setting, "wrk2");
    all.add(
        new Client(
            "wrk2",
            wrk2.absent,
            wrk2.version("-v"),
            wrk2.command("-t1 -c{connections} -d{seconds}s -R{rate} --latency -H{close} {url}"),
            null,
            restricted,
            true,
            Compare::readWrk,
            one,
            "from the instant at which the request was due on its connection, which was meant for"
                + " connections that stay open; 10 us printed"));
    Tool openssl = Tool.find(setting, "openssl");
    all.add(
        new Client(
            "s_time",
            openssl.absent,
            openssl.version("version"),
            null,
            openssl.command("s_time -connect {target} -new -time {seconds} -www /"),
            restricted,
            true,
            Compare::readSTime,
            one,
            "none: one connection at a time, closed loop, prints counts only"));
    Tool hey = Tool.find(setting, "hey");
    all.add(
        new Client(
            "hey",
            hey.absent,
            "prints none",
            hey.command("-disable-keepalive -z {seconds}s -c {connections} -q {rateEach} {url}"),
            hey.command("-disable-keepalive -z {seconds}s -c {connections} {url}"),
            // Go decides by it whether it sends the hybrid share at all.
            task -> Map.of("GODEBUG", "tlsmlkem=" + (task.cell.group.equals("X25519") ? 0 : 1)),
            true,
            Compare::readHey,
            two,
            "from the start of a request that a worker sent, with connect and handshake; a worker"
                + " that waits sends none, and what was not sent is left out (coordinated"
                + " omission); 100 us printed"));
    Tool tlsPerf = Tool.find(setting, "tls-perf");
    all.add(
        new Client(
            "tls-perf",
            tlsPerf.absent,
            "prints none",
            null,
            tlsPerf.command(
                "-l {connections} -t 1 -T {seconds} --tls 1.3 -C {group} {host} {port}"),
            restricted,
            false,
            Compare::readTlsPerf,
            one + ", not verified: without a request nothing is logged",
            "closed loop; TLS alone, without TCP and without a request"));
    return all;
  }

  private static final int GATLING_LATE_SECONDS = 4;

  private static List<String> loadgen(Task task, String wait) {
    int seconds = task.setting.seconds();
    List<String> command =
        new ArrayList<>(
            List.of(
                task.setting.text("loadgen"),
                "--target=" + task.target(),
                "--groups=" + task.cell.group,
                "--rate=" + (task.flat() ? task.setting.text("flat-rate") : task.cell.rate),
                "--duration=" + seconds + "s",
                // Its numbers then are of the same half as those that are read from the kernel.
                "--warmup=" + (seconds - seconds / 2) + "s",
                "--wait=" + wait,
                "--fail-on=never",
                "--json",
                "--out=" + task.folder.resolve("bundle")));
    if (task.flat()) {
      command.add("--max-in-flight=" + task.connections());
    }
    return command;
  }

  private static List<String> java(String java, Path gatling, Stream<String> arguments) {
    return Stream.concat(
            Stream.of(
                java,
                "--add-opens=java.base/java.lang=ALL-UNNAMED",
                "-Xmx1G",
                "-cp",
                gatling.resolve("target/classes") + ":" + gatling.resolve("target/lib") + "/*"),
            arguments)
        .toList();
  }

  private static List<String> gatling(Task task, String java, Path gatling) {
    int seconds = task.setting.seconds();
    return java(
        java,
        gatling,
        Stream.of(
            "-Djdk.tls.namedGroups="
                + (task.cell.group.equals("X25519") ? "x25519" : "X25519MLKEM768,x25519"),
            "-Dtarget=" + task.url(),
            "-Drate=" + task.cell.rate,
            "-Dusers=" + (task.flat() ? task.connections() : "0"),
            "-Dwarmup=" + (seconds - seconds / 2),
            // Its first request comes up to seconds after its schedule began, by which it also
            // ends.
            "-Dseconds=" + (seconds / 2 + GATLING_LATE_SECONDS),
            "io.gatling.app.Gatling",
            "-s",
            "io.pqcbench.samples.HandshakeSimulation",
            "-rf",
            task.folder.resolve("gatling").toString(),
            "-nr"));
  }

  /**
   * A program of the host's PATH or of the unpacked Debian root, which has an OpenSSL that knows
   * the hybrid group. The root's run by their own loader, so that no chroot is needed.
   */
  record Tool(List<String> prefix, String absent) {
    static Tool find(Setting setting, String name) {
      String root = setting.text("peers-root");
      boolean packaged = List.of("h2load", "wrk", "openssl", "hey").contains(name);
      if (packaged && !root.isEmpty()) {
        Path program = Path.of(root, "usr/bin", name);
        if (!Files.isExecutable(program)) {
          return new Tool(List.of(), "not in the unpacked packages: " + program);
        }
        try (Stream<Path> libraries = Files.list(Path.of(root, "usr/lib"))) {
          Path folder =
              libraries
                  .filter(path -> path.getFileName().toString().endsWith("-linux-gnu"))
                  .findFirst()
                  .orElseThrow();
          try (Stream<Path> files = Files.list(folder)) {
            Path loader =
                files
                    .filter(path -> path.getFileName().toString().startsWith("ld-linux-"))
                    .findFirst()
                    .orElseThrow();
            return new Tool(
                List.of(
                    loader.toString(),
                    "--inhibit-cache",
                    "--library-path",
                    folder.toString(),
                    program.toString()),
                null);
          }
        } catch (IOException | java.util.NoSuchElementException e) {
          return new Tool(List.of(), "the unpacked packages have no loader: peers-root=" + root);
        }
      }
      if (packaged && !setting.text("peers-absent").isEmpty()) {
        return new Tool(List.of(), setting.text("peers-absent"));
      }
      for (String folder : System.getenv().getOrDefault("PATH", "").split(":")) {
        if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, name))) {
          return new Tool(List.of(Path.of(folder, name).toString()), null);
        }
      }
      return new Tool(List.of(), name + " is not on the PATH");
    }

    /** Makes command lines of a template, in whose words names in braces are replaced. */
    Function<Task, List<String>> command(String template) {
      return task -> {
        String[] target = task.target().split(":");
        int seconds = task.setting.seconds();
        Map<String, String> values =
            Map.of(
                "{group}", task.cell.group,
                "{rate}", String.valueOf(task.cell.rate),
                "{rateEach}",
                    String.format(
                        Locale.ROOT, "%.6f", (double) task.cell.rate / task.setting.connections()),
                "{total}", String.valueOf(task.cell.rate * (seconds + 1L)),
                "{seconds}", String.valueOf(seconds),
                "{connections}", task.connections(),
                "{close}", "Connection: close",
                "{target}", task.target(),
                "{host}", target[0],
                "{port}", target[1]);
        int period = evenPeriod(task.cell.rate);
        return Stream.concat(prefix.stream(), Arrays.stream(template.split(" ")))
            .map(word -> word.replace("{url}", task.url()))
            .map(word -> word.replace("{period}", String.valueOf(period)))
            .map(word -> word.replace("{burst}", String.valueOf(task.cell.rate * period / 1000)))
            .map(
                word -> {
                  for (Map.Entry<String, String> value : values.entrySet()) {
                    word = word.replace(value.getKey(), value.getValue());
                  }
                  return word;
                })
            .toList();
      };
    }

    String version(String option) throws IOException, InterruptedException {
      return absent == null
          ? firstLine(Stream.concat(prefix.stream(), Stream.of(option)).toList())
          : "";
    }
  }

  // --- What the clients say ---------------------------------------------------------------------

  private static Said readLoadgen(Task task) throws IOException {
    String text = Files.readString(task.folder.resolve("stdout.txt"), StandardCharsets.UTF_8);
    int start = text.indexOf('{');
    if (start < 0) {
      return Said.NOTHING;
    }
    // The samples are the largest part by far, and the summary has what is compared.
    Files.deleteIfExists(task.folder.resolve("bundle/samples.csv.gz"));
    JsonNode summary = JSON.readTree(text.substring(start));
    long done = 0;
    long errors = 0;
    long skipped = 0;
    for (Map.Entry<String, JsonNode> outcome : summary.path("outcomes").properties()) {
      long count = outcome.getValue().asLong();
      switch (outcome.getKey()) {
        case "SUCCESS" -> done += count;
        case "SKIPPED" -> skipped += count;
        default -> errors += count;
      }
    }
    // Without a rate, skipping is how the number of connections is kept.
    if (!task.flat()) {
      errors += skipped;
    }
    JsonNode response = summary.path("phases").path("response");
    Map<String, Object> more = new LinkedHashMap<>();
    more.put("verdict", summary.path("verdict").asText());
    more.put("skipped", skipped);
    for (String field :
        List.of(
            "clientCpuMicrosPerHandshake",
            "laneCpuMicrosPerHandshake",
            "laneWorkMicrosPerHandshake",
            "completedPerSecond")) {
      more.put(field, number(summary, field));
    }
    return new Said(
        done,
        errors,
        number(response, "p50"),
        number(response, "p99"),
        number(response, "max"),
        more);
  }

  private static Double number(JsonNode node, String field) {
    return node.path(field).isNumber() ? node.path(field).asDouble() : null;
  }

  /** Gatling sums its own file up in a second command, so that this is not counted as load. */
  private static Said readGatling(Task task, String java, Path gatling)
      throws IOException, InterruptedException {
    Path results = task.folder.resolve("gatling");
    if (!Files.isDirectory(results)) {
      return Said.NOTHING;
    }
    Path run;
    try (Stream<Path> runs = Files.list(results)) {
      run = runs.findFirst().orElse(null);
    }
    if (run == null) {
      return Said.NOTHING;
    }
    List<String> command =
        java(
            java,
            gatling,
            Stream.of(
                "io.gatling.app.Gatling",
                "-ro",
                run.getFileName().toString(),
                "-rf",
                results.toString()));
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(task.folder.resolve("report.txt").toFile())
            .start();
    try {
      if (!process.waitFor(120, TimeUnit.SECONDS) || process.exitValue() != 0) {
        return Said.NOTHING;
      }
    } finally {
      process.destroyForcibly();
    }
    deleteTree(results);
    // Warm-up requests are silent, so these are of the measured part. Columns: all, OK, KO.
    String report = Files.readString(task.folder.resolve("report.txt"), StandardCharsets.UTF_8);
    Long done = reported(report, "request count", 2);
    Long errors = reported(report, "request count", 3);
    return new Said(
        done,
        errors,
        reportedMicros(report, "response time 50th percentile \\(ms\\)"),
        reportedMicros(report, "response time 99th percentile \\(ms\\)"),
        reportedMicros(report, "max response time \\(ms\\)"),
        Map.of());
  }

  /** Returns a number of Gatling's summary; a dash there is none at all. */
  private static Long reported(String report, String what, int column) {
    Matcher line =
        Pattern.compile("> " + what + " *\\| *([0-9,-]+) *\\| *([0-9,-]+) *\\| *([0-9,-]+)")
            .matcher(report);
    if (!line.find()) {
      return null;
    }
    String digits = line.group(column).replaceAll("[^0-9]", "");
    return digits.isEmpty() ? 0 : Long.parseLong(digits);
  }

  private static Double reportedMicros(String report, String what) {
    Long millis = reported(report, what, 2);
    return millis == null ? null : 1000.0 * millis;
  }

  private static Said readH2load(Task task) throws IOException {
    String output = task.output();
    Matcher requests =
        Pattern.compile("(\\d+) succeeded, (\\d+) failed, (\\d+) errored").matcher(output);
    if (!requests.find()) {
      return Said.NOTHING;
    }
    Map<String, Object> more = new LinkedHashMap<>();
    Double max = null;
    for (String what : List.of("request", "connect")) {
      Matcher line =
          Pattern.compile("time for " + what + ": +\\S+ +(\\S+) +(\\S+)").matcher(output);
      if (line.find()) {
        more.put(what + "MeanMicros", micros(line.group(2)));
        more.put(what + "MaxMicros", micros(line.group(1)));
        max = max == null ? micros(line.group(1)) : max;
      }
    }
    return new Said(
        Long.parseLong(requests.group(1)),
        Long.parseLong(requests.group(2)) + Long.parseLong(requests.group(3)),
        null,
        null,
        max,
        more);
  }

  private static Said readWrk(Task task) throws IOException {
    String output = task.output();
    Matcher socket =
        Pattern.compile("Socket errors: connect (\\d+), read (\\d+), write (\\d+), timeout (\\d+)")
            .matcher(output);
    long errors = 0;
    if (socket.find()) {
      for (int i = 1; i <= 4; i++) {
        errors += Long.parseLong(socket.group(i));
      }
    }
    Matcher responses = Pattern.compile("Non-2xx or 3xx responses: (\\d+)").matcher(output);
    if (responses.find()) {
      errors += Long.parseLong(responses.group(1));
    }
    Double done = find(output, "(\\d+) requests in ");
    return new Said(
        done == null ? null : done.longValue(),
        errors,
        time(output, "\\n +50(?:\\.000)?% +(\\S+)"),
        time(output, "\\n +99(?:\\.000)?% +(\\S+)"),
        time(output, "Latency +\\S+ +\\S+ +(\\S+)"),
        Map.of());
  }

  private static Said readSTime(Task task) throws IOException {
    Double done = find(task.output(), "(\\d+) connections in \\S+ real seconds");
    return done == null
        ? Said.NOTHING
        : new Said(done.longValue(), null, null, null, null, Map.of());
  }

  private static Said readHey(Task task) throws IOException {
    String output = task.output();
    long done = 0;
    long errors = 0;
    Matcher status = Pattern.compile("\\[(\\d+)\\]\\s+(\\d+) responses").matcher(output);
    while (status.find()) {
      if (status.group(1).equals("200")) {
        done += Long.parseLong(status.group(2));
      } else {
        errors += Long.parseLong(status.group(2));
      }
    }
    int distribution = output.indexOf("Error distribution:");
    if (distribution >= 0) {
      Matcher error = Pattern.compile("\\[(\\d+)\\]\\s").matcher(output.substring(distribution));
      while (error.find()) {
        errors += Long.parseLong(error.group(1));
      }
    }
    return new Said(
        done,
        errors,
        seconds(output, "50%+ in (\\S+) secs"),
        seconds(output, "99%+ in (\\S+) secs"),
        seconds(output, "Slowest:\\s+(\\S+) secs"),
        Map.of());
  }

  private static Said readTlsPerf(Task task) throws IOException {
    String output = task.output();
    Double done = find(output, "(?i)handshakes (\\d+)");
    return new Said(done == null ? null : done.longValue(), null, null, null, null, Map.of());
  }

  private static Double find(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    return matcher.find() ? Double.valueOf(matcher.group(1)) : null;
  }

  private static Double seconds(String text, String pattern) {
    Double value = find(text, pattern);
    return value == null ? null : value * 1e6;
  }

  private static Double time(String text, String pattern) {
    Matcher matcher = Pattern.compile(pattern).matcher(text);
    return matcher.find() ? micros(matcher.group(1)) : null;
  }

  /** Reads a duration as wrk and h2load print it, e.g. 774us, 8.10ms, 1.02s, 1.50m. */
  private static Double micros(String text) {
    Matcher matcher = Pattern.compile("([0-9.]+)(us|ms|s|m)").matcher(text);
    if (!matcher.matches()) {
      return null;
    }
    double unit =
        switch (matcher.group(2)) {
          case "us" -> 1;
          case "ms" -> 1e3;
          case "s" -> 1e6;
          default -> 60e6;
        };
    return Double.parseDouble(matcher.group(1)) * unit;
  }

  // --- What the kernel says ---------------------------------------------------------------------

  /**
   * CPU time of a process and of all that it started. {@code threadNanos} is exact to the
   * nanosecond, but knows only threads that live; {@code ticks} knows the dead ones too, in steps
   * of 10 ms. So the difference of two is taken from the first if the same threads lived at both
   * ends.
   */
  record Cpu(long ticks, Map<String, Long> threadNanos) {
    static Cpu of(List<Long> pids) {
      long ticks = 0;
      Map<String, Long> threads = new TreeMap<>();
      for (long pid : pids) {
        List<Long> tree = new ArrayList<>(List.of(pid));
        ProcessHandle.of(pid)
            .ifPresent(handle -> handle.descendants().map(ProcessHandle::pid).forEach(tree::add));
        for (long process : tree) {
          long[] times = times("/proc/" + process + "/stat");
          ticks += times[0] + times[1];
          try (Stream<Path> tasks = Files.list(Path.of("/proc/" + process + "/task"))) {
            for (Path task : tasks.toList()) {
              String[] words = Files.readString(task.resolve("schedstat")).split(" ");
              threads.put(task.toString(), Long.parseLong(words[0]));
            }
          } catch (IOException e) {
            // It ended meanwhile, or the kernel does not say: the ticks are left.
            threads.put("/proc/" + process + " unknown at " + System.nanoTime(), 0L);
          }
        }
      }
      return new Cpu(ticks, threads);
    }

    double microsSince(Cpu earlier) {
      if (threadNanos.keySet().equals(earlier.threadNanos.keySet())) {
        long nanos = 0;
        for (Map.Entry<String, Long> thread : threadNanos.entrySet()) {
          nanos += thread.getValue() - earlier.threadNanos.get(thread.getKey());
        }
        return nanos / 1e3;
      }
      return (ticks - earlier.ticks) * (double) MICROS_PER_TICK;
    }
  }

  /** Returns the ticks of a process itself and of its children that were waited for. */
  private static long[] times(String file) {
    try {
      String text = Files.readString(Path.of(file));
      // The name in brackets may hold anything.
      String[] words = text.substring(text.lastIndexOf(')') + 2).split(" ");
      return new long[] {
        Long.parseLong(words[11]) + Long.parseLong(words[12]),
        Long.parseLong(words[13]) + Long.parseLong(words[14])
      };
    } catch (IOException e) {
      return new long[] {0, 0};
    }
  }

  /** Returns the ticks of the whole machine: working, and stolen by its host. */
  private static long[] machineTicks() throws IOException {
    String[] words = Files.readAllLines(Path.of("/proc/stat")).get(0).trim().split(" +");
    long busy = 0;
    for (int column : new int[] {1, 2, 3, 6, 7}) {
      busy += Long.parseLong(words[column]);
    }
    return new long[] {busy, Long.parseLong(words[8])};
  }

  private static int timeWaits() throws IOException {
    Double value = find(Files.readString(Path.of("/proc/net/sockstat")), " tw (\\d+)");
    return value == null ? 0 : value.intValue();
  }

  /** Everything that is read at one end of the window. */
  record Instants(long nanos, long logBytes, Cpu client, Cpu server, long[] machine, long own) {
    static Instants now(Process client, List<Long> workers, Path log) throws IOException {
      return new Instants(
          System.nanoTime(),
          Files.size(log),
          Cpu.of(List.of(client.pid())),
          Cpu.of(workers),
          machineTicks(),
          times("/proc/self/stat")[0]);
    }
  }

  // --- One run ----------------------------------------------------------------------------------

  private final Setting setting;
  private final Path log;
  private final List<Long> workers;
  private final List<ObjectNode> runs = new ArrayList<>();
  private volatile boolean interrupted;

  private Compare(Setting setting) {
    this.setting = setting;
    this.log = setting.path("access-log");
    long master = Long.parseLong(setting.text("nginx-pid"));
    workers =
        ProcessHandle.of(master).stream()
            .flatMap(ProcessHandle::children)
            .map(ProcessHandle::pid)
            .toList();
    if (workers.isEmpty()) {
      throw new IllegalStateException("nginx has no worker: pid=" + master);
    }
  }

  private ObjectNode measure(Client client, Cell cell, int round)
      throws IOException, InterruptedException {
    String name =
        String.format(
            "r%d-%s-%s-%s",
            round,
            cell.group.toLowerCase(Locale.ROOT),
            cell.rate == 0 ? "flat" : cell.rate,
            client.name);
    Task task = new Task(setting, cell, setting.path("out").resolve("raw").resolve(name));
    Files.createDirectories(task.folder);
    awaitPorts(cell);
    // nginx appends, so it goes on at the new end.
    Files.newByteChannel(log, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)
        .close();

    List<String> command = client.command(task);
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(task.folder.resolve("stdout.txt").toFile())
            .redirectError(task.folder.resolve("stderr.txt").toFile());
    builder.environment().putAll(client.environment.apply(task));
    List<String> objections = new ArrayList<>();
    int timeWaitsBefore = timeWaits();
    Cpu serverBefore = Cpu.of(workers);
    long reapedBefore = times("/proc/self/stat")[1];
    long started = System.nanoTime();
    Process process = builder.start();
    Instants from = null;
    Instants to = null;
    Long firstRequest = null;
    long ended;
    try {
      long deadline = started + TimeUnit.SECONDS.toNanos(setting.seconds() + 60L);
      Long loadStart = null;
      while (client.requests && loadStart == null && process.isAlive()) {
        if (System.nanoTime() > deadline) {
          objections.add("no request within " + (setting.seconds() + 60) + " s");
          break;
        }
        long bytes = Files.size(log);
        if (firstRequest == null && bytes > 0) {
          firstRequest = System.nanoTime();
        }
        if (bytes > 0 && lines(Files.readAllBytes(log)).size() > LINES_OF_A_PREFLIGHT) {
          loadStart = System.nanoTime();
        }
        Thread.sleep(5);
      }
      if (loadStart != null) {
        // Both ends lie in the middle of a second, because some clients send in bursts at full
        // seconds. The last half second is left out: those that start late end early.
        long second = 1_000_000_000L;
        long end = loadStart + setting.seconds() * second - second / 2;
        if (!endedBefore(process, end - setting.seconds() / 2 * second)) {
          from = Instants.now(process, workers, log);
          if (!endedBefore(process, end)) {
            to = Instants.now(process, workers, log);
            if (!process.isAlive()) {
              // It may have ended before its times were read.
              to = null;
            }
          }
        }
        if (to == null) {
          objections.add("ended before its time");
        }
      }
      if (!process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        objections.add("did not end by itself within 60 s after its time");
      }
    } finally {
      stop(process);
      ended = System.nanoTime();
    }
    // The kernel adds a child's CPU time to its parent's account when it was waited for.
    double clientWhole = (times("/proc/self/stat")[1] - reapedBefore) * (double) MICROS_PER_TICK;
    double serverWhole = Cpu.of(workers).microsSince(serverBefore);
    int timeWaitsAfter = timeWaits();
    if (process.exitValue() != 0) {
      objections.add("exit code " + process.exitValue());
    }

    byte[] logged = Files.readAllBytes(log);
    Said said;
    try {
      said = client.reader.read(task);
    } catch (IOException | RuntimeException e) {
      objections.add("its output could not be read: " + e);
      said = Said.NOTHING;
    }
    Logged whole = Logged.of(logged, cell);
    objections.addAll(whole.objections);
    long handshakes = client.requests ? whole.count : said.done == null ? 0 : said.done;
    if (handshakes == 0) {
      objections.add("no handshake");
    }

    ObjectNode run = JSON.createObjectNode();
    run.put("client", client.name)
        .put("group", cell.group)
        .put("rate", cell.rateText())
        .put("round", round)
        .put(
            "startedAt",
            Instant.now().minusNanos(ended - started).truncatedTo(ChronoUnit.MILLIS).toString())
        .put("wallSeconds", (ended - started) / 1e9)
        .put("exitCode", process.exitValue())
        .put("countedBy", client.requests ? "access log" : "the client itself, whole run")
        .put("handshakes", handshakes);
    run.set("command", JSON.valueToTree(command));
    if (firstRequest != null) {
      run.put("firstRequestSeconds", (firstRequest - started) / 1e9);
    }
    if (handshakes > 0) {
      run.put("clientMicrosPerHandshakeWhole", clientWhole / handshakes)
          .put("serverMicrosPerHandshakeWhole", serverWhole / handshakes);
    }
    if (from != null && to != null) {
      long count =
          Logged.of(Arrays.copyOfRange(logged, (int) from.logBytes, (int) to.logBytes), cell).count;
      double seconds = (to.nanos - from.nanos) / 1e9;
      double clientMicros = to.client.microsSince(from.client);
      double serverMicros = to.server.microsSince(from.server);
      double others =
          (to.machine[0] - from.machine[0] - (to.own - from.own)) * (double) MICROS_PER_TICK
              - clientMicros
              - serverMicros;
      run.put("windowSeconds", seconds)
          .put("windowHandshakes", count)
          .put("perSecond", count / seconds)
          .put("clientCpus", clientMicros / 1e6 / seconds)
          .put("serverCpus", serverMicros / 1e6 / seconds)
          .put("othersCpus", Math.max(0, others / 1e6 / seconds))
          .put(
              "stealCpus",
              (to.machine[1] - from.machine[1]) * (double) MICROS_PER_TICK / 1e6 / seconds);
      if (count > 0) {
        run.put("clientMicrosPerHandshake", clientMicros / count)
            .put("serverMicrosPerHandshake", serverMicros / count);
      } else {
        objections.add("no handshake in the second half");
      }
    }
    run.put("errors", said.errors)
        .put("saidDone", said.done)
        .put("p50Micros", said.p50)
        .put("p99Micros", said.p99)
        .put("maxMicros", said.max);
    run.set("said", JSON.valueToTree(said.more));
    run.put("timeWaitBefore", timeWaitsBefore).put("timeWaitAfter", timeWaitsAfter);
    run.put("valid", objections.isEmpty());
    run.set("objections", JSON.valueToTree(objections));
    return run;
  }

  /** Sleeps until an instant; returns whether the process ended before it. */
  private static boolean endedBefore(Process process, long instant) throws InterruptedException {
    return process.waitFor(Math.max(0, instant - System.nanoTime()), TimeUnit.NANOSECONDS);
  }

  /** Ends a client and what it started, and waits: what is not waited for is not accounted. */
  private static void stop(Process process) {
    List<ProcessHandle> children = process.descendants().toList();
    process.destroy();
    boolean again = false;
    while (process.isAlive()) {
      try {
        if (!process.waitFor(5, TimeUnit.SECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        again = true;
      }
    }
    children.forEach(ProcessHandle::destroyForcibly);
    if (again) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<String> lines(byte[] bytes) {
    return new String(bytes, StandardCharsets.US_ASCII).lines().toList();
  }

  /** Lines of the access log: protocol, group, suite, resumption, status, and more. */
  record Logged(long count, List<String> objections) {
    static Logged of(byte[] bytes, Cell cell) {
      long count = 0;
      Map<String, Integer> wrong = new TreeMap<>();
      for (String line : lines(bytes)) {
        String[] words = line.split(" ");
        if (words.length < 5) {
          continue;
        }
        count++;
        if (!words[1].equals(cell.inLog()) && !words[1].equals(cell.group)) {
          wrong.merge("group=" + words[1], 1, Integer::sum);
        }
        if (words[3].equals("r")) {
          wrong.merge("resumed", 1, Integer::sum);
        }
        if (!words[4].equals("200")) {
          wrong.merge("status=" + words[4], 1, Integer::sum);
        }
      }
      return new Logged(
          count,
          wrong.entrySet().stream()
              .map(entry -> entry.getValue() + " of " + entry.getKey())
              .toList());
    }
  }

  /** Waits until the last run is over for the kernel too, and longer if ports would run out. */
  private void awaitPorts(Cell cell) throws IOException, InterruptedException {
    Thread.sleep(SETTLE_MILLIS);
    if (reusesPorts()) {
      return;
    }
    long needed = connections(cell);
    for (long waited = 0; timeWaits() + needed > ports() && timeWaits() > 0; waited++) {
      if (waited > TIME_WAIT_SECONDS) {
        break;
      }
      if (waited == 0) {
        say("waiting for ports: TIME_WAIT=%d, ports=%d, needed=%d", timeWaits(), ports(), needed);
      }
      Thread.sleep(1000);
    }
  }

  private long connections(Cell cell) {
    return (long) (cell.rate == 0 ? FLAT_GUESS_PER_SECOND : cell.rate) * setting.seconds();
  }

  private static int ports() throws IOException {
    String[] range = sysctl("net/ipv4/ip_local_port_range").split("\\s+");
    return Integer.parseInt(range[1]) - Integer.parseInt(range[0]) + 1;
  }

  private static boolean reusesPorts() throws IOException {
    return !sysctl("net/ipv4/tcp_tw_reuse").equals("0");
  }

  /** These files have to be read with one call, which {@link Files#readString} does not do. */
  private static String sysctl(String name) throws IOException {
    byte[] bytes = new byte[4096];
    try (InputStream in = new FileInputStream("/proc/sys/" + name)) {
      int length = in.read(bytes);
      return new String(bytes, 0, Math.max(0, length), StandardCharsets.US_ASCII).trim();
    }
  }

  // --- All runs ---------------------------------------------------------------------------------

  private void run() throws IOException, InterruptedException {
    List<Cell> cells = setting.cells();
    List<String> wanted = setting.list("clients");
    List<Client> known = clients(setting);
    for (String name : wanted) {
      if (known.stream().noneMatch(client -> client.name.equals(name))) {
        throw new IllegalArgumentException(
            "is no client; there are "
                + known.stream().map(Client::name).collect(Collectors.joining(","))
                + ": client="
                + name);
      }
    }
    List<Client> selected = known.stream().filter(c -> wanted.contains(c.name)).toList();
    List<Client> present = selected.stream().filter(c -> c.absent == null).toList();
    int rounds = setting.number("rounds", 1, 100);
    long seed = Long.parseLong(setting.text("seed"));

    int planned = 0;
    long connections = 0;
    for (Cell cell : cells) {
      for (Client client : present) {
        if (client.can(cell)) {
          planned += rounds;
          connections += rounds * connections(cell);
        }
      }
    }
    long most = Long.parseLong(setting.text("max-connections"));
    if (connections > most) {
      throw new IllegalArgumentException(
          String.format(
              "too many connections: planned=%d, limit=%d: fewer --rates, --clients, --rounds or"
                  + " --seconds, or a higher --max-connections",
              connections, most));
    }
    selected.stream()
        .filter(client -> client.absent != null)
        .forEach(client -> say("absent: %s: %s", client.name, client.absent));
    long perRun = setting.seconds() + 6L;
    say(
        "%d runs of %d s, at most about %d connections, about %d min in all",
        planned, setting.seconds(), connections, Math.max(1, planned * perRun / 60));
    long largest = cells.stream().mapToLong(this::connections).max().orElse(0);
    if (largest > ports() && !reusesPorts()) {
      say(
          "warning: a run may need more ports than there are, and TIME_WAIT keeps them for %d s:"
              + " net.ipv4.ip_local_port_range holds %d; set net.ipv4.tcp_tw_reuse=2",
          TIME_WAIT_SECONDS, ports());
    }

    ObjectNode result = JSON.createObjectNode();
    result.put("schema", "loadgen-compare/1").put("startedAt", now());
    result.set("options", JSON.valueToTree(new TreeMap<>(setting.options)));
    result.set("machine", facts());
    ArrayNode described = result.putArray("clients");
    for (Client client : selected) {
      described
          .addObject()
          .put("name", client.name)
          .put("absent", client.absent)
          .put("version", client.version)
          .put("keyShares", client.keyShares)
          .put("latencyContains", client.latency);
    }

    Thread main = Thread.currentThread();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  interrupted = true;
                  main.interrupt();
                  try {
                    main.join(15_000);
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                }));
    int number = 0;
    try {
      for (int round = 1; round <= rounds; round++) {
        // Clients of a cell follow each other closely, so that what drifts does so for all of them.
        Random random = new Random(seed + round);
        List<Cell> order = new ArrayList<>(cells);
        Collections.shuffle(order, random);
        for (Cell cell : order) {
          List<Client> turn = new ArrayList<>(present);
          Collections.shuffle(turn, random);
          for (Client client : turn) {
            if (client.can(cell)) {
              ObjectNode run = measure(client, cell, round);
              runs.add(run);
              say("%3d/%d  round %d  %s", ++number, planned, round, line(run));
              write(result);
            }
          }
        }
      }
    } catch (InterruptedException e) {
      say("interrupted after %d of %d runs", number, planned);
      // Cleared, or the last writes would fail.
      Thread.interrupted();
    }
    result.put("interrupted", interrupted);
    write(result);
    table(selected);
    say("result: %s", setting.path("out").resolve("result.json"));
  }

  private void write(ObjectNode result) throws IOException {
    result.put("endedAt", now());
    result.set("runs", JSON.valueToTree(runs));
    result.set("medians", JSON.valueToTree(medians()));
    Path file = setting.path("out").resolve("result.json");
    Path fresh = file.resolveSibling("result.json.tmp");
    JSON.writeValue(fresh.toFile(), result);
    Files.move(
        fresh,
        file,
        java.nio.file.StandardCopyOption.REPLACE_EXISTING,
        java.nio.file.StandardCopyOption.ATOMIC_MOVE);
  }

  private static String now() {
    return Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private ObjectNode facts() throws IOException, InterruptedException {
    ObjectNode facts = JSON.createObjectNode();
    String cpu = Files.readString(Path.of("/proc/cpuinfo"));
    Matcher model = Pattern.compile("(?m)^(?:model name|CPU part)\\s*: (.*)$").matcher(cpu);
    facts
        .put("cpu", model.find() ? model.group(1) : "unknown")
        .put("processors", Runtime.getRuntime().availableProcessors())
        .put("kernel", System.getProperty("os.version"))
        .put("architecture", System.getProperty("os.arch"))
        .put("jdkOfTheClients", firstLine(List.of(setting.text("java"), "--version")))
        .put("ports", ports())
        .put("tcpTwReuse", reusesPorts())
        .put("commit", setting.text("commit"))
        .put("nginx", setting.text("nginx-version"))
        .put("nginxWorkers", workers.size());
    return facts;
  }

  private static String firstLine(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output.lines().filter(line -> !line.isBlank()).findFirst().orElse("").trim();
  }

  private static void deleteTree(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : files.sorted(Collections.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  // --- The result -------------------------------------------------------------------------------

  /** A number over the rounds: never a mean, which one disturbed round would move. */
  record Spread(double median, double min, double max) {
    static Spread of(DoubleStream values) {
      double[] sorted = values.sorted().toArray();
      if (sorted.length == 0) {
        return null;
      }
      int middle = sorted.length / 2;
      double median =
          sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
      return new Spread(median, sorted[0], sorted[sorted.length - 1]);
    }
  }

  /** The valid runs of a client in a cell. */
  record Row(
      String group,
      String rate,
      String client,
      int runs,
      int invalid,
      boolean wholeRun,
      Spread perSecond,
      Spread clientMicrosPerHandshake,
      Spread clientMicrosPerHandshakeWhole,
      Double clientRatioToH2load,
      Spread serverMicrosPerHandshake,
      Spread othersCpus,
      Spread errors,
      Spread p50Micros,
      Spread p99Micros,
      Spread maxMicros,
      Spread firstRequestSeconds,
      String verdicts) {}

  private List<Row> medians() {
    Map<List<String>, List<ObjectNode>> byCell = new LinkedHashMap<>();
    for (Cell cell : setting.cells()) {
      for (String client : setting.list("clients")) {
        byCell.put(List.of(cell.group, cell.rateText(), client), new ArrayList<>());
      }
    }
    for (ObjectNode run : runs) {
      byCell
          .get(
              List.of(
                  run.get("group").asText(), run.get("rate").asText(), run.get("client").asText()))
          .add(run);
    }
    List<Row> rows = new ArrayList<>();
    byCell.forEach(
        (key, all) -> {
          if (all.isEmpty()) {
            return;
          }
          List<ObjectNode> valid = valid(all);
          boolean whole = valid.stream().noneMatch(run -> run.has("windowSeconds"));
          String suffix = whole ? "Whole" : "";
          Spread client = spread(valid, "clientMicrosPerHandshake" + suffix);
          List<ObjectNode> peers =
              valid(byCell.getOrDefault(List.of(key.get(0), key.get(1), "h2load"), List.of()));
          Spread h2load = spread(peers, "clientMicrosPerHandshake");
          rows.add(
              new Row(
                  key.get(0),
                  key.get(1),
                  key.get(2),
                  valid.size(),
                  all.size() - valid.size(),
                  whole,
                  whole
                      ? spread(
                          valid,
                          run ->
                              run.get("handshakes").asDouble() / run.get("wallSeconds").asDouble())
                      : spread(valid, "perSecond"),
                  client,
                  spread(valid, "clientMicrosPerHandshakeWhole"),
                  client == null || h2load == null ? null : client.median / h2load.median,
                  spread(valid, "serverMicrosPerHandshake" + suffix),
                  spread(valid, "othersCpus"),
                  spread(valid, "errors"),
                  spread(valid, "p50Micros"),
                  spread(valid, "p99Micros"),
                  spread(valid, "maxMicros"),
                  spread(valid, "firstRequestSeconds"),
                  valid.stream()
                      .map(run -> run.path("said").path("verdict").asText())
                      .filter(verdict -> !verdict.isEmpty())
                      .collect(Collectors.joining(" "))));
        });
    return rows;
  }

  private static List<ObjectNode> valid(List<ObjectNode> runs) {
    return runs.stream().filter(run -> run.get("valid").asBoolean()).toList();
  }

  private static Spread spread(List<ObjectNode> runs, String field) {
    return spread(
        runs.stream().filter(run -> run.path(field).isNumber()).toList(),
        run -> run.get(field).asDouble());
  }

  private static Spread spread(List<ObjectNode> runs, ToDoubleFunction<ObjectNode> value) {
    return Spread.of(runs.stream().mapToDouble(value));
  }

  private static String line(ObjectNode run) {
    return String.format(
        Locale.ROOT,
        "%-14s %7s %-12s  %7.1f/s  client %7.1f us  server %7.1f us per handshake%s",
        run.get("group").asText(),
        run.get("rate").asText(),
        run.get("client").asText(),
        run.path("perSecond").asDouble(Double.NaN),
        run.path("clientMicrosPerHandshake").asDouble(Double.NaN),
        run.path("serverMicrosPerHandshake").asDouble(Double.NaN),
        run.get("valid").asBoolean() ? "" : "  INVALID: " + run.get("objections"));
  }

  private void table(List<Client> selected) {
    List<Row> rows = medians();
    StringBuilder out = new StringBuilder();
    out.append(
        "CPU time per handshake, user and system, read from the kernel over the second half of each"
            + " run; 'whole' is with start-up.\n"
            + "Medians over the valid rounds, (min-max); 'ratio' is the client's to h2load's, same"
            + " rate and group.\n\n");
    String format = "%-14s %7s %-13s %4s %17s %22s %6s %8s %20s %7s %6s  %10s %10s %10s  %s%n";
    out.append(
        String.format(
            format,
            "group",
            "rate",
            "client",
            "runs",
            "handshakes",
            "client",
            "ratio",
            "whole",
            "server",
            "others",
            "errors",
            "p50*",
            "p99*",
            "max*",
            ""));
    out.append(
        String.format(
            format,
            "",
            "",
            "",
            "",
            "1/s",
            "us/handshake",
            "",
            "us",
            "us/handshake",
            "CPUs",
            "",
            "us",
            "us",
            "us",
            ""));
    for (Row row : rows) {
      List<String> notes = new ArrayList<>();
      if (row.wholeRun && row.runs > 0) {
        notes.add("whole run, counted by the client");
      }
      if (row.invalid > 0) {
        notes.add(row.invalid + " invalid");
      }
      if (!row.rate.equals("flat")
          && row.perSecond != null
          && row.perSecond.median < 0.95 * Double.parseDouble(row.rate.replace("/s", ""))) {
        notes.add("behind its rate");
      }
      if (row.rate.equals("flat")
          && row.client.startsWith("loadgen")
          && row.perSecond != null
          && row.perSecond.max > 0.95 * Double.parseDouble(setting.text("flat-rate"))) {
        notes.add("limited by --flat-rate");
      }
      if (!row.verdicts.isEmpty()) {
        notes.add(row.verdicts);
      }
      out.append(
          String.format(
              Locale.ROOT,
              format,
              row.group,
              row.rate,
              row.client,
              row.runs,
              text(row.perSecond, 0),
              text(row.clientMicrosPerHandshake, 1),
              row.clientRatioToH2load == null
                  ? "-"
                  : String.format(Locale.ROOT, "%.2f", row.clientRatioToH2load),
              median(row.clientMicrosPerHandshakeWhole, 1),
              text(row.serverMicrosPerHandshake, 1),
              median(row.othersCpus, 2),
              median(row.errors, 0),
              median(row.p50Micros, 0),
              median(row.p99Micros, 0),
              median(row.maxMicros, 0),
              String.join("; ", notes)));
    }
    out.append(
        "\n"
            + "others: work of the machine in that half that is neither the client's nor the"
            + " server's: near 0, or the run was disturbed.\n"
            + "* what the client itself says. These are different things, and are not to be"
            + " compared:\n");
    for (Client client : selected) {
      out.append(
          String.format(
              "  %-13s %s%n",
              client.name, client.absent == null ? client.latency : "absent: " + client.absent));
    }
    List<ObjectNode> invalid = runs.stream().filter(run -> !run.get("valid").asBoolean()).toList();
    if (!invalid.isEmpty()) {
      out.append("\nInvalid runs, left out above:\n");
      for (ObjectNode run : invalid) {
        out.append(
            String.format(
                "  round %d %s %s %s: %s%n",
                run.get("round").asInt(),
                run.get("group").asText(),
                run.get("rate").asText(),
                run.get("client").asText(),
                run.get("objections")));
      }
    }
    System.out.print(out);
    System.out.flush();
  }

  private static String text(Spread spread, int digits) {
    return spread == null
        ? "-"
        : String.format(
            Locale.ROOT,
            "%." + digits + "f (%." + digits + "f-%." + digits + "f)",
            spread.median,
            spread.min,
            spread.max);
  }

  private static String median(Spread spread, int digits) {
    return spread == null ? "-" : String.format(Locale.ROOT, "%." + digits + "f", spread.median);
  }

  private static void say(String format, Object... values) {
    System.err.println("bench: " + String.format(Locale.ROOT, format, values));
  }

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Map<String, String> options = new LinkedHashMap<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      options.put(argument.substring(2, equals), argument.substring(equals + 1));
    }
    try {
      new Compare(new Setting(options)).run();
    } catch (IllegalArgumentException | IllegalStateException e) {
      say("%s", e.getMessage());
      System.exit(2);
    }
  }
}

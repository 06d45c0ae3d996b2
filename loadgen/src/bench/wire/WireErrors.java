import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedInputStream;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/**
 * Compares the phases in a bundle with a capture of the same run, connection by connection.
 *
 * <p>Each instant that the client records has an event on the wire beside it. A phase lies between
 * two instants, so its error is a difference of two durations and needs no common clock; only
 * {@code response}, which begins at a planned instant that is no event on the wire, does. What is
 * read of a bundle is what BUNDLE.md promises, and nothing else.
 */
public final class WireErrors {

  private static final String USAGE =
      """
      usage: WireErrors.java run RUN           compare RUN/bundle with RUN/capture.pcap and RUN/tcpdump.log;
                                               prints a table, writes RUN/wire.json
             WireErrors.java all DIR RUN...    sum up compared runs; prints tables, writes DIR/wire.json
      Exit: 0 valid, 2 usage, 3 a run is invalid, 4 it could not be compared.
      """;

  /** More samples than this without their connection, and the others may be a selection. */
  private static final double UNMATCHED_LIMIT = 0.01;

  /** As in the bundle: a percentile needs this many samples beyond it. */
  private static final int BEYOND = 10;

  private static final ObjectMapper JSON = new ObjectMapper();

  private WireErrors() {}

  /** What the client records, each with what is on the wire beside it. */
  private enum Instant {
    /** SYN. */
    STARTED(Side.BEFORE),
    /** SYN-ACK. */
    CONNECTED(Side.AFTER),
    /** First segment of the ClientHello. */
    HELLO_SENT(Side.BEFORE),
    /** Segment with the last byte of the ServerHello. */
    HELLO_RECEIVED(Side.AFTER),
    /** Segment with the last byte of the client's Finished. */
    SECURED(Side.NEITHER),
    /** Segment with the last byte of the request. */
    REQUEST_SENT(Side.BEFORE),
    /** First segment of the response. */
    FIRST_BYTE(Side.AFTER),
    /** Last segment of the response. */
    DONE(Side.AFTER);

    private final Side side;

    Instant(Side side) {
      this.side = side;
    }
  }

  /** Whether an instant is recorded before what it stands for is on the wire, or after it. */
  private enum Side {
    BEFORE,
    AFTER,
    NEITHER
  }

  private record Phase(String name, Instant from, Instant to) {}

  private static final List<Phase> PHASES =
      List.of(
          new Phase("connect", Instant.STARTED, Instant.CONNECTED),
          new Phase("hello", Instant.CONNECTED, Instant.HELLO_SENT),
          new Phase("flight", Instant.HELLO_SENT, Instant.HELLO_RECEIVED),
          new Phase("finish", Instant.HELLO_RECEIVED, Instant.SECURED),
          new Phase("handshake", Instant.CONNECTED, Instant.SECURED),
          new Phase("ttfb", Instant.REQUEST_SENT, Instant.FIRST_BYTE),
          new Phase("service", Instant.STARTED, Instant.DONE));

  /** What makes a comparison impossible, in words for the user. */
  private static final class Unusable extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Unusable(String message) {
      super(message);
    }
  }

  /**
   * Compares a run, or sums up.
   *
   * @param args see the usage text
   */
  public static void main(String[] args) {
    int status;
    try {
      if (args.length == 2 && args[0].equals("run")) {
        status = run(Path.of(args[1]));
      } else if (args.length >= 3 && args[0].equals("all")) {
        status = all(Path.of(args[1]), Arrays.stream(args).skip(2).map(Path::of).toList());
      } else if (args.length == 1 && args[0].equals("--help")) {
        System.out.print(USAGE);
        status = 0;
      } else {
        System.err.print(USAGE);
        status = 2;
      }
    } catch (Unusable e) {
      System.err.println("WireErrors: " + e.getMessage());
      status = 4;
    } catch (IOException | UncheckedIOException e) {
      System.err.println("WireErrors: cannot read or write: " + e);
      status = 4;
    }
    System.exit(status);
  }

  // --- The capture -------------------------------------------------------------------------------

  /**
   * One segment with data that was not seen before; positions count from the stream's first byte.
   */
  private record Segment(long start, long end, long nanos, boolean closeNotify) {}

  private record TlsRecord(int type, long end) {}

  /** One direction of a connection. */
  private static final class Stream {
    private static final int CHANGE_CIPHER_SPEC = 20;
    private static final int HANDSHAKE = 22;
    private static final int APPLICATION_DATA = 23;
    private static final int HEADER = 5;

    /** An alert of two bytes, its type and the tag of the cipher. */
    private static final int ALERT = 2 + 1 + 16;

    private final int base;
    private final List<Segment> segments = new ArrayList<>();

    /** The records from the first one on, as far as their headers are in the capture. */
    private final List<TlsRecord> records = new ArrayList<>();

    private boolean headersSeen = true;
    private long length;
    private boolean hole;

    Stream(int synSequence) {
      base = synSequence + 1;
    }

    void add(int sequence, int size, ByteBuffer captured, long nanos) {
      long start = sequence - base;
      long end = start + size;
      if (end <= length) {
        return; // sent again
      }
      hole |= start > length;
      boolean alert =
          size == HEADER + ALERT
              && type(captured, 0) == APPLICATION_DATA
              && size(captured, 0) == ALERT;
      segments.add(new Segment(Math.max(start, length), end, nanos, alert));
      length = end;
      long next = records.isEmpty() ? 0 : records.get(records.size() - 1).end();
      while (headersSeen && next < end) {
        int at = (int) (next - start);
        int type = type(captured, at);
        headersSeen = type >= CHANGE_CIPHER_SPEC && type <= APPLICATION_DATA;
        if (headersSeen) {
          next += HEADER + size(captured, at);
          records.add(new TlsRecord(type, next));
        }
      }
    }

    /** Returns the type in a record's header, -1 if there is none in the capture. */
    private static int type(ByteBuffer captured, int at) {
      return at >= 0 && at + HEADER <= captured.limit() && captured.get(at + 1) == 3
          ? captured.get(at)
          : -1;
    }

    private static int size(ByteBuffer captured, int at) {
      return captured.getShort(at + 3) & 0xffff;
    }

    /** Returns when the byte before a position was sent; the position must have been reached. */
    long nanosAt(long end) {
      return segments.stream().filter(s -> s.end() >= end).findFirst().orElseThrow().nanos();
    }
  }

  private static final class Connection {
    private final long synNanos;
    private final int synSequence;
    private final Stream client;
    private long synAckNanos;
    private Stream server;

    Connection(long nanos, int sequence) {
      synNanos = nanos;
      synSequence = sequence;
      client = new Stream(sequence);
    }
  }

  /** The connections of a capture by the client's port, each in the order of their SYNs. */
  private static final class Capture {
    private static final int NANOSECOND_MAGIC = 0xa1b23c4d;
    private static final int MICROSECOND_MAGIC = 0xa1b2c3d4;
    private static final int ETHERNET = 1;
    private static final int MAX_PACKET = 1 << 18;
    private static final int IPV4 = 0x0800;
    private static final int IPV6 = 0x86dd;
    private static final int TCP = 6;
    private static final int SYN = 2;
    private static final int ACK = 16;

    private final Map<Integer, List<Connection>> byPort = new HashMap<>();
    private int serverPort = -1;
    private long packets;
    private boolean torn;

    static Capture read(Path file) throws IOException {
      Capture capture = new Capture();
      try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
        capture.read(in, file);
      } catch (EOFException e) {
        capture.torn = true;
      }
      return capture;
    }

    private void read(InputStream in, Path file) throws IOException {
      ByteBuffer header = bytes(in, 24);
      ByteOrder order = ByteOrder.BIG_ENDIAN;
      if (Integer.reverseBytes(header.getInt(0)) == NANOSECOND_MAGIC
          || Integer.reverseBytes(header.getInt(0)) == MICROSECOND_MAGIC) {
        order = ByteOrder.LITTLE_ENDIAN;
      }
      int magic = header.order(order).getInt(0);
      if (magic != NANOSECOND_MAGIC) {
        throw new Unusable(
            "%s is no pcap file with nanoseconds (magic=%08x, expected %08x): capture with tcpdump --time-stamp-precision=nano -w"
                .formatted(file, magic, NANOSECOND_MAGIC));
      }
      // The upper bits may say how long a frame check sequence is.
      int linkType = header.getInt(20) & 0xffff;
      if (linkType != ETHERNET) {
        throw new Unusable(
            "%s has a link type that is not understood (linkType=%d, expected %d): capture on lo"
                .formatted(file, linkType, ETHERNET));
      }
      while (true) {
        in.mark(1);
        if (in.read() < 0) {
          return;
        }
        in.reset();
        ByteBuffer about = bytes(in, 16).order(order);
        int captured = about.getInt(8);
        if (captured < 0 || captured > MAX_PACKET) {
          throw new Unusable(
              "%s is damaged after %d packets (capturedBytes=%d)"
                  .formatted(file, packets, captured));
        }
        packets++;
        long seconds = about.getInt(0) & 0xffffffffL;
        packet(bytes(in, captured), seconds * 1_000_000_000L + about.getInt(4));
      }
    }

    private static ByteBuffer bytes(InputStream in, int count) throws IOException {
      byte[] bytes = in.readNBytes(count);
      if (bytes.length < count) {
        throw new EOFException();
      }
      return ByteBuffer.wrap(bytes);
    }

    private void packet(ByteBuffer packet, long nanos) {
      if (packet.limit() < 14 + 20 + 20) {
        return;
      }
      int etherType = packet.getShort(12) & 0xffff;
      int ip = 14;
      int tcp;
      int end;
      if (etherType == IPV4 && packet.get(ip + 9) == TCP) {
        tcp = ip + (packet.get(ip) & 15) * 4;
        end = ip + (packet.getShort(ip + 2) & 0xffff);
      } else if (etherType == IPV6 && packet.get(ip + 6) == TCP) {
        tcp = ip + 40;
        end = tcp + (packet.getShort(ip + 4) & 0xffff);
      } else {
        return;
      }
      if (tcp + 20 <= packet.limit()) {
        segment(packet, tcp, end, nanos);
      }
    }

    private void segment(ByteBuffer packet, int tcp, int end, long nanos) {
      int from = packet.getShort(tcp) & 0xffff;
      int to = packet.getShort(tcp + 2) & 0xffff;
      int sequence = packet.getInt(tcp + 4);
      int flags = packet.get(tcp + 13);
      if ((flags & (SYN | ACK)) == SYN) {
        serverPort = serverPort < 0 ? to : serverPort;
        Connection last = newest(from);
        // The same SYN once more is sent again; the time counts from the first.
        if (to == serverPort && (last == null || last.synSequence != sequence)) {
          byPort
              .computeIfAbsent(from, port -> new ArrayList<>(1))
              .add(new Connection(nanos, sequence));
        }
        return;
      }
      boolean fromServer = from == serverPort;
      Connection connection = newest(fromServer ? to : from);
      if (connection == null) {
        return;
      }
      if ((flags & SYN) != 0) {
        if (connection.server == null) {
          connection.synAckNanos = nanos;
          connection.server = new Stream(sequence);
        }
        return;
      }
      int data = tcp + ((packet.get(tcp + 12) >> 4) & 15) * 4;
      Stream stream = fromServer ? connection.server : connection.client;
      if (stream != null && end > data && data <= packet.limit()) {
        ByteBuffer captured = packet.slice(data, Math.min(packet.limit(), end) - data);
        stream.add(sequence, end - data, captured, nanos);
      }
    }

    private Connection newest(int clientPort) {
      List<Connection> connections = byPort.get(clientPort);
      return connections == null ? null : connections.get(connections.size() - 1);
    }

    int connections() {
      return byPort.values().stream().mapToInt(List::size).sum();
    }
  }

  // --- The bundle --------------------------------------------------------------------------------

  /**
   * One attempt. Instants are nanoseconds after the start of the run; those that it did not reach
   * are of no use, and then it is no success.
   */
  private record Sample(
      long index,
      int port,
      boolean measured,
      boolean success,
      long planned,
      long[] instants,
      long bytesOut,
      long bytesIn,
      long bodyBytes) {

    long at(Instant instant) {
      return instants[instant.ordinal()];
    }
  }

  /** Reads the attempts that had a port, in the order in which they were started. */
  private static List<Sample> samples(Path file) throws IOException {
    List<Sample> samples = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(Files.newInputStream(file)), StandardCharsets.US_ASCII))) {
      List<String> header = List.of(lines.readLine().split(","));
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] fields = line.split(",", -1);
        Map<String, String> row = new HashMap<>();
        for (int i = 0; i < header.size(); i++) {
          row.put(header.get(i), fields[i]);
        }
        if (!field(row, "local_port").isEmpty()) {
          samples.add(sample(row));
        }
      }
    }
    samples.sort(Comparator.comparingLong(sample -> sample.at(Instant.STARTED)));
    return samples;
  }

  private static Sample sample(Map<String, String> row) {
    long planned = nanos(row, "planned_us");
    long started = planned + nanos(row, "lag_us");
    long connected = started + nanos(row, "connect_us");
    long helloSent = connected + nanos(row, "hello_us");
    long helloReceived = helloSent + nanos(row, "flight_us");
    long secured = helloReceived + nanos(row, "finish_us");
    long requestSent = planned + nanos(row, "request_sent_us");
    long firstByte = requestSent + nanos(row, "ttfb_us");
    long done = planned + nanos(row, "response_us");
    return new Sample(
        Long.parseLong(field(row, "index")),
        Integer.parseInt(field(row, "local_port")),
        field(row, "measured").equals("1"),
        field(row, "outcome").equals("SUCCESS"),
        planned,
        new long[] {
          started, connected, helloSent, helloReceived, secured, requestSent, firstByte, done
        },
        Long.parseLong(field(row, "bytes_out")),
        Long.parseLong(field(row, "bytes_in")),
        Long.parseLong(field(row, "body_bytes")));
  }

  private static String field(Map<String, String> row, String column) {
    String value = row.get(column);
    if (value == null) {
      throw new Unusable("samples.csv.gz has no column that is needed: column=" + column);
    }
    return value;
  }

  private static long nanos(Map<String, String> row, String column) {
    String micros = field(row, column);
    return micros.isEmpty() ? 0 : Math.round(Double.parseDouble(micros) * 1000);
  }

  private static JsonNode json(Path file, String schema) throws IOException {
    JsonNode json = JSON.readTree(file.toFile());
    String found = json.path("schema").asText();
    if (!found.equals(schema)) {
      throw new Unusable(
          "%s has a format that is not known here (schema=%s, expected %s): adapt WireErrors.java"
              .formatted(file, found, schema));
    }
    return json;
  }

  private static double number(Path file, String pattern) throws IOException {
    Matcher matcher = Pattern.compile(pattern).matcher(Files.readString(file));
    return matcher.find() ? Double.parseDouble(matcher.group(1)) : Double.NaN;
  }

  // --- The comparison ----------------------------------------------------------------------------

  /** A sample with the wall-clock nanoseconds of its events on the wire, by {@link Instant}. */
  private record Pair(Sample sample, long[] wire) {

    long recorded(Phase phase) {
      return sample.at(phase.to()) - sample.at(phase.from());
    }

    long wire(Phase phase) {
      return wire[phase.to().ordinal()] - wire[phase.from().ordinal()];
    }
  }

  /** The successes with their connections, and why some of the measured ones have none. */
  private static final class Match {
    /** The start is known to the millisecond; the preflight was a second earlier. */
    private static final long BEFORE_START_NANOS = 50_000_000;

    private static final long SYN_WITHIN_NANOS = 1_000_000_000;

    /** Status line and the empty line after it, with a record's header, type and tag. */
    private static final int LEAST_HEAD = 19 + Stream.HEADER + 1 + 16;

    /** With the warm-up, whose first connections met no queue and so tie the clocks best. */
    private final List<Pair> pairs = new ArrayList<>();

    private final Map<String, Integer> unmatched = new TreeMap<>();

    Match(List<Sample> samples, Capture capture, long startWallNanos) {
      Map<Integer, Integer> uses = new HashMap<>();
      for (Sample sample : samples) {
        int use = uses.merge(sample.port(), 1, Integer::sum);
        if (!sample.success()) {
          continue;
        }
        Connection connection =
            capture.byPort.getOrDefault(sample.port(), List.of()).stream()
                .filter(c -> c.synNanos >= startWallNanos - BEFORE_START_NANOS)
                .skip(use - 1L)
                .findFirst()
                .orElse(null);
        long[] wire = new long[Instant.values().length];
        String trouble = read(sample, connection, startWallNanos, wire);
        if (trouble == null) {
          pairs.add(new Pair(sample, wire));
        } else if (sample.measured()) {
          unmatched.merge(trouble, 1, Integer::sum);
        }
      }
    }

    /** Fills in the instants on the wire; returns what is in the way, or null. */
    private static String read(
        Sample sample, Connection connection, long startWallNanos, long[] wire) {
      if (connection == null || connection.server == null) {
        return "not in the capture";
      }
      long late = connection.synNanos - startWallNanos - sample.at(Instant.STARTED);
      if (late < -BEFORE_START_NANOS || late > SYN_WITHIN_NANOS) {
        return "the SYN is at another time";
      }
      Stream client = connection.client;
      Stream server = connection.server;
      if (client.hole || server.hole || client.segments.isEmpty() || server.segments.isEmpty()) {
        return "segments are missing";
      }
      if (server.records.isEmpty()
          || server.records.get(0).type() != Stream.HANDSHAKE
          || server.records.get(0).end() > server.length
          || client.records.isEmpty()
          || client.records.get(0).type() != Stream.HANDSHAKE) {
        return "does not begin with hellos";
      }
      // Without a client certificate the first protected record is the Finished, the second the
      // request. What follows is the goodbye.
      List<TlsRecord> protectedRecords =
          client.records.stream().filter(r -> r.type() == Stream.APPLICATION_DATA).toList();
      if (protectedRecords.size() < 2 || protectedRecords.get(1).end() > client.length) {
        return "no Finished and request within the snapshot";
      }
      long request = protectedRecords.get(1).end();
      if (request != sample.bytesOut()) {
        return "the client's bytes differ";
      }
      int last = server.segments.size() - 1;
      while (last > 0 && server.segments.get(last).closeNotify()) {
        last--;
      }
      // Tickets are protected records as well and come before the response, so the response is
      // found from its end: as many segments as its body and the least possible head need.
      long end = server.segments.get(last).end();
      int first = last;
      while (first > 0
          && end - server.segments.get(first).start() < sample.bodyBytes() + LEAST_HEAD) {
        first--;
      }
      // The client may have read the close_notify together with the response.
      if (sample.bytesIn() != end && sample.bytesIn() != server.length) {
        return "the server's bytes differ";
      }
      wire[Instant.STARTED.ordinal()] = connection.synNanos;
      wire[Instant.CONNECTED.ordinal()] = connection.synAckNanos;
      wire[Instant.HELLO_SENT.ordinal()] = client.segments.get(0).nanos();
      wire[Instant.HELLO_RECEIVED.ordinal()] = server.nanosAt(server.records.get(0).end());
      wire[Instant.SECURED.ordinal()] = client.nanosAt(protectedRecords.get(0).end());
      wire[Instant.REQUEST_SENT.ordinal()] = client.nanosAt(request);
      wire[Instant.FIRST_BYTE.ordinal()] = server.segments.get(first).nanos();
      wire[Instant.DONE.ordinal()] = server.segments.get(last).nanos();
      if (wire[Instant.FIRST_BYTE.ordinal()] < wire[Instant.REQUEST_SENT.ordinal()]) {
        return "the response is before the request";
      }
      return null;
    }
  }

  /**
   * The wall-clock instant of the run's start, between two bounds: nothing may have been recorded
   * as being sent after its packet was on the wire, nor as read before it. If the bounds contradict
   * each other, a clock was stepped, or samples have connections of others. The upper bound is
   * taken: it is a system call away from the truth in every run, while the lower one needs a lane
   * that reads at once, which a saturated client does not have.
   */
  private record Alignment(long earliest, long latest) {

    static Alignment of(List<Pair> pairs) {
      long earliest = Long.MIN_VALUE;
      long latest = Long.MAX_VALUE;
      for (Pair pair : pairs) {
        for (Instant instant : Instant.values()) {
          long start = pair.wire()[instant.ordinal()] - pair.sample().at(instant);
          switch (instant.side) {
            case BEFORE -> latest = Math.min(latest, start);
            case AFTER -> earliest = Math.max(earliest, start);
            case NEITHER -> {}
          }
        }
      }
      return new Alignment(earliest, latest);
    }

    boolean possible() {
      return earliest <= latest;
    }

    double widthMicros() {
      return (latest - earliest) / 1000.0;
    }
  }

  /** The recorded and the true lengths of one phase, in nanoseconds; the worst sample's index. */
  private record Errors(
      String phase, long[] recorded, long[] wire, long[] signed, long[] absolute, long worst) {

    static Errors of(
        String phase,
        List<Pair> pairs,
        ToLongFunction<Pair> recordedOf,
        ToLongFunction<Pair> wireOf) {
      long[] recorded = pairs.stream().mapToLong(recordedOf).toArray();
      long[] wire = pairs.stream().mapToLong(wireOf).toArray();
      long[] signed = new long[recorded.length];
      for (int i = 0; i < signed.length; i++) {
        signed[i] = recorded[i] - wire[i];
      }
      long[] absolute = Arrays.stream(signed).map(Math::abs).toArray();
      int worst = 0;
      for (int i = 1; i < absolute.length; i++) {
        worst = absolute[i] > absolute[worst] ? i : worst;
      }
      return new Errors(
          phase,
          sorted(recorded),
          sorted(wire),
          sorted(signed),
          sorted(absolute),
          pairs.get(worst).sample().index());
    }

    private static long[] sorted(long[] values) {
      long[] sorted = values.clone();
      Arrays.sort(sorted);
      return sorted;
    }

    private static Double percentile(long[] sorted, double percent) {
      double beyond = sorted.length * (100 - percent) / 100;
      int rank = (int) Math.ceil(sorted.length * percent / 100);
      return beyond < BEYOND - 1e-9 ? null : (Double) (sorted[rank - 1] / 1000.0);
    }

    ObjectNode toJson() {
      ObjectNode json = JSON.createObjectNode();
      json.put("phase", phase);
      json.put("count", signed.length);
      json.put("recordedP50Micros", percentile(recorded, 50));
      json.put("wireP50Micros", percentile(wire, 50));
      json.put("errorP50Micros", percentile(signed, 50));
      json.put("absoluteErrorP99Micros", percentile(absolute, 99));
      json.put("absoluteErrorMaxMicros", absolute[absolute.length - 1] / 1000.0);
      json.put("absoluteErrorMaxIndex", worst);
      return json;
    }
  }

  private static int run(Path directory) throws IOException {
    Path bundle = directory.resolve("bundle");
    JsonNode asked = json(bundle.resolve("run.json"), "loadgen-run/2");
    JsonNode plan = asked.path("plan");
    JsonNode summary = json(bundle.resolve("summary.json"), "loadgen-summary/3");
    double startSeconds = number(bundle.resolve("latency.hlog"), "#\\[StartTime: ([0-9.]+)");
    if (Double.isNaN(startSeconds)) {
      throw new Unusable("latency.hlog has no StartTime: bundle=" + bundle);
    }
    if (plan.at("/request/handshakeOnly").asBoolean()) {
      throw new Unusable("a run with requests is needed: handshakeOnly=true bundle=" + bundle);
    }
    long startWallNanos = Math.round(startSeconds * 1000) * 1_000_000;
    List<Sample> samples = samples(bundle.resolve("samples.csv.gz"));
    Capture capture = Capture.read(directory.resolve("capture.pcap"));
    Match match = new Match(samples, capture, startWallNanos);
    Path log = directory.resolve("tcpdump.log");
    double dropped = number(log, "(\\d+) packets? dropped by kernel");
    double counted = number(log, "(\\d+) packets? captured");

    int unmatched = match.unmatched.values().stream().mapToInt(Integer::intValue).sum();
    List<Pair> pairs = match.pairs.stream().filter(pair -> pair.sample().measured()).toList();
    int measured = pairs.size() + unmatched;
    Alignment alignment = Alignment.of(match.pairs);
    List<String> objections = new ArrayList<>();
    if (!(dropped == 0)) {
      objections.add(
          Double.isNaN(dropped)
              ? "tcpdump.log does not say how many packets were dropped"
              : "packets dropped by the kernel: %.0f (limit 0)".formatted(dropped));
    }
    if (capture.torn || counted != capture.packets) {
      objections.add(
          "the capture is not whole: %d packets in the file, %.0f counted by tcpdump"
              .formatted(capture.packets, counted));
    }
    if (measured == 0 || unmatched > UNMATCHED_LIMIT * measured) {
      objections.add(
          "not found in the capture: %d of %d measured successes (limit %.0f %%)"
              .formatted(unmatched, measured, UNMATCHED_LIMIT * 100));
    }
    if (!match.pairs.isEmpty() && !alignment.possible()) {
      objections.add(
          "the clocks contradict each other by %.1f us: a clock was stepped, or connections were confused; response is left out"
              .formatted(-alignment.widthMicros()));
    }

    ObjectNode json = JSON.createObjectNode();
    json.put("wait", plan.at("/limits/waiting").asText().toLowerCase(Locale.ROOT));
    json.put("ratePerSecond", plan.at("/pace/ratePerSecond").asDouble());
    json.set("groups", plan.at("/tls/groups"));
    json.put("durationSeconds", plan.at("/pace/durationNanos").asLong() / 1e9);
    json.put("warmupSeconds", plan.at("/pace/warmupNanos").asLong() / 1e9);
    json.set("versions", asked.path("versions"));
    json.set("cpuModel", asked.at("/host/cpuModel"));
    json.set("cpus", asked.at("/host/cpus"));
    json.set("kernel", asked.at("/host/kernel"));
    json.put("verdict", summary.path("verdict").asText());
    json.put("valid", objections.isEmpty());
    objections.forEach(json.putArray("invalidBecause")::add);
    json.put("packets", capture.packets);
    json.put("packetsDropped", Double.isNaN(dropped) ? null : (Double) dropped);
    json.put("connections", capture.connections());
    json.put("measuredSuccesses", measured);
    json.put("compared", pairs.size());
    json.put("unmatched", unmatched);
    json.set("unmatchedBecause", JSON.valueToTree(match.unmatched));
    boolean aligned = !pairs.isEmpty() && alignment.possible();
    json.put("startLateAtMostMicros", aligned ? (Double) alignment.widthMicros() : null);
    json.put(
        "startAfterStartTimeMicros",
        aligned ? (Double) ((alignment.latest() - startWallNanos) / 1000.0) : null);
    ArrayNode phases = json.putArray("phases");
    if (!pairs.isEmpty()) {
      for (Phase phase : PHASES) {
        phases.add(
            Errors.of(phase.name(), pairs, pair -> pair.recorded(phase), pair -> pair.wire(phase))
                .toJson());
      }
    }
    if (aligned) {
      phases.add(response(pairs, alignment.latest()).toJson());
    }
    JSON.writerWithDefaultPrettyPrinter().writeValue(directory.resolve("wire.json").toFile(), json);
    print(json);
    return objections.isEmpty() ? 0 : 3;
  }

  /** From the planned instant, which only a common clock can place beside the wire. */
  private static Errors response(List<Pair> pairs, long start) {
    int done = Instant.DONE.ordinal();
    return Errors.of(
        "response",
        pairs,
        pair -> pair.sample().at(Instant.DONE) - pair.sample().planned(),
        pair -> pair.wire()[done] - start - pair.sample().planned());
  }

  // --- The report --------------------------------------------------------------------------------

  private static void print(JsonNode run) {
    System.out.printf(
        Locale.ROOT,
        "run        %s, %.0f/s, %s, %.0f s with %.0f s of warm-up, loadgen's verdict %s%n",
        run.path("wait").asText(),
        run.path("ratePerSecond").asDouble(),
        JSON.convertValue(run.path("groups"), List.class),
        run.path("durationSeconds").asDouble(),
        run.path("warmupSeconds").asDouble(),
        run.path("verdict").asText());
    System.out.printf(
        "capture    %d packets, %s dropped by the kernel, %d connections with warm-up and"
            + " preflight%n",
        run.path("packets").asLong(),
        run.path("packetsDropped").isNull() ? "?" : run.path("packetsDropped").asLong(),
        run.path("connections").asInt());
    System.out.printf(
        "compared   %d of %d measured successes, %d not found in the capture%s%n",
        run.path("compared").asInt(),
        run.path("measuredSuccesses").asInt(),
        run.path("unmatched").asInt(),
        run.path("unmatched").asInt() == 0 ? "" : " " + run.path("unmatchedBecause"));
    if (!run.path("startLateAtMostMicros").isNull()) {
      System.out.printf(
          Locale.ROOT,
          "clocks     the run's start is placed at most %.1f us too late, %.1f us after its"
              + " StartTime in latency.hlog%n",
          run.path("startLateAtMostMicros").asDouble(),
          run.path("startAfterStartTimeMicros").asDouble());
    }
    for (JsonNode objection : run.path("invalidBecause")) {
      System.out.println("INVALID    " + objection.asText());
    }
    heading("us");
    for (JsonNode phase : run.path("phases")) {
      row(phase.path("phase").asText(), phase, "");
    }
    System.out.println();
  }

  private static void heading(String first) {
    System.out.printf(
        "%-14s %8s %13s %11s %11s %13s %13s%n",
        first, "count", "recorded p50", "wire p50", "error p50", "|error| p99", "|error| max");
  }

  private static void row(String name, JsonNode phase, String remark) {
    System.out.printf(
        "%-14s %8d %13s %11s %11s %13s %13s%s%n",
        name,
        phase.path("count").asInt(),
        micros(phase.path("recordedP50Micros"), 50),
        micros(phase.path("wireP50Micros"), 50),
        micros(phase.path("errorP50Micros"), 50),
        micros(phase.path("absoluteErrorP99Micros"), 99),
        micros(phase.path("absoluteErrorMaxMicros"), 100),
        remark);
  }

  private static String micros(JsonNode value, int percent) {
    return value.isNull()
        ? "n<" + 100 * BEYOND / (100 - percent)
        : String.format(Locale.ROOT, "%.1f", value.asDouble());
  }

  private static int all(Path directory, List<Path> runs) throws IOException {
    ObjectNode json = JSON.createObjectNode();
    json.put("schema", "loadgen-wire/1");
    ArrayNode results = json.putArray("runs");
    for (Path run : runs) {
      results.add(JSON.readTree(run.resolve("wire.json").toFile()));
    }
    JSON.writerWithDefaultPrettyPrinter().writeValue(directory.resolve("wire.json").toFile(), json);
    for (String wanted : List.of("handshake", "response")) {
      heading(wanted + ", us");
      for (JsonNode run : results) {
        String name = run.path("wait").asText() + " " + run.path("ratePerSecond").asInt() + "/s";
        String remark =
            "  "
                + run.path("verdict").asText()
                + (run.path("valid").asBoolean() ? "" : ", INVALID");
        boolean found = false;
        for (JsonNode phase : run.path("phases")) {
          if (phase.path("phase").asText().equals(wanted)) {
            row(name, phase, remark);
            found = true;
          }
        }
        if (!found) {
          System.out.printf("%-14s absent: %s%n", name, run.path("invalidBecause"));
        }
      }
      System.out.println();
    }
    for (JsonNode run : results) {
      if (!run.path("valid").asBoolean()) {
        return 3;
      }
    }
    return 0;
  }
}

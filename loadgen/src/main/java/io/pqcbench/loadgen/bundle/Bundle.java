package io.pqcbench.loadgen.bundle;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import io.pqcbench.loadgen.handshake.Milestone;
import io.pqcbench.loadgen.handshake.Outcome;
import io.pqcbench.loadgen.handshake.Phase;
import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import io.pqcbench.loadgen.plan.NamedGroup;
import io.pqcbench.loadgen.plan.SignatureScheme;
import io.pqcbench.loadgen.plan.TlsStack;
import io.pqcbench.loadgen.record.RunRecord;
import io.pqcbench.loadgen.record.SampleBlock;
import io.pqcbench.loadgen.verdict.Attribution;
import io.pqcbench.loadgen.verdict.Cause;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/**
 * The result directory, written as the run goes and flushed every second, so that a run that is
 * killed leaves what it measured. The format is documented in BUNDLE.md.
 *
 * <p>Used by the writer's thread alone.
 */
public final class Bundle implements AutoCloseable {

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .addModule(
              new SimpleModule()
                  .addSerializer(InetAddress.class, text(InetAddress::getHostAddress))
                  .addSerializer(NamedGroup.class, text(NamedGroup::label))
                  .addSerializer(TlsStack.class, text(TlsStack::option))
                  .addSerializer(SignatureScheme.class, text(SignatureScheme::label))
                  .addSerializer(Instant.class, text(Instant::toString))
                  .addSerializer(Path.class, text(Path::toString))
                  .addSerializer(Double.class, new FiniteOrNull())
                  .addSerializer(double.class, new FiniteOrNull()))
          .build();

  private final Path directory;
  private final long slowThresholdNanos;

  private SampleFormat format;
  private long measuredFrom;
  private OutputStream samples;

  /** Made when the first connection of a pool was opened. */
  private OutputStream connections;

  private Writer slowFile;
  private SlowLog slow;
  private MonitorFiles monitor;
  private OutputStream hlog;
  private HistogramLogWriter hlogWriter;
  private final ByteArrayOutputStream hlogPending = new ByteArrayOutputStream();
  private final StringBuilder lines = new StringBuilder(128 * 1024);
  private long failuresWritten;

  private Bundle(Path directory, long slowThresholdNanos) {
    this.directory = directory;
    this.slowThresholdNanos = slowThresholdNanos;
  }

  /**
   * Makes the directory.
   *
   * @param directory must not exist, or be empty
   * @param slowThresholdNanos responses above it are kept in the slow log
   * @throws IOException with a message for the user when it cannot be used
   */
  public static Bundle create(Path directory, long slowThresholdNanos) throws IOException {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new IOException(
          "the result directory cannot be made: out=" + directory + " (" + e + ")", e);
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      if (entries.iterator().hasNext()) {
        throw new IOException(
            "the result directory exists and is not empty, results are never overwritten: out="
                + directory);
      }
    }
    if (!Files.isWritable(directory)) {
      throw new IOException("the result directory cannot be written: out=" + directory);
    }
    return new Bundle(directory, slowThresholdNanos);
  }

  /** Returns the directory. */
  public Path directory() {
    return directory;
  }

  /** Writes everything that was asked for and found out before the load, as {@code run.json}. */
  public void begin(Object run) throws IOException {
    writeJson(directory, "run.json", run);
  }

  /**
   * Opens the files that grow.
   *
   * @param start of the run, on the run's clock
   * @param measuredFrom end of the warm-up, on the run's clock
   * @param wall the start as the wall clock has it
   * @param targets how many there are, taken in turn
   */
  public void open(long start, long measuredFrom, Instant wall, int targets) throws IOException {
    this.format = new SampleFormat(start, measuredFrom, targets);
    this.measuredFrom = measuredFrom;
    samples = new SampleStream(file("samples.csv.gz"));
    samples.write(SampleFormat.header().getBytes(StandardCharsets.US_ASCII));
    slowFile = new OutputStreamWriter(file("slow.csv"), StandardCharsets.US_ASCII);
    slow = new SlowLog(slowThresholdNanos, slowFile);
    monitor = new MonitorFiles(directory, start);
    hlog = file("latency.hlog");
    hlogWriter = new HistogramLogWriter(hlogPending);
    hlogWriter.outputComment("[Values in nanoseconds; tags are the phases of loadgen's BUNDLE.md]");
    hlogWriter.outputLogFormatVersion();
    hlogWriter.outputStartTime(wall.toEpochMilli());
    hlogWriter.setBaseTime(wall.toEpochMilli());
    hlogWriter.outputLegend();
    flush();
  }

  private OutputStream file(String name) throws IOException {
    return new BufferedOutputStream(Files.newOutputStream(directory.resolve(name)), 1 << 16);
  }

  /** Adds samples. */
  public void write(SampleBlock block) throws IOException {
    lines.setLength(0);
    for (int row = 0; row < block.rows(); row++) {
      format.append(lines, block, row);
    }
    samples.write(lines.toString().getBytes(StandardCharsets.US_ASCII));
  }

  /** Adds openings of connections that are kept for requests. */
  public void writeConnections(SampleBlock block) throws IOException {
    if (connections == null) {
      connections = new SampleStream(file("connections.csv.gz"));
      connections.write(SampleFormat.header().getBytes(StandardCharsets.US_ASCII));
    }
    lines.setLength(0);
    for (int row = 0; row < block.rows(); row++) {
      format.append(lines, block, row);
    }
    connections.write(lines.toString().getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * Adds the slow ones among measured successes, some seconds after {@link #write}, when everything
   * that happened during them is known.
   *
   * @param attribution explains those that are kept
   */
  public void writeSlow(SampleBlock block, Attribution attribution) throws IOException {
    for (int row = 0; row < block.rows(); row++) {
      if (block.outcome(row) == Outcome.SUCCESS
          && block.at(row, Milestone.PLANNED) >= measuredFrom) {
        long response = block.nanos(row, Phase.RESPONSE);
        if (slow.wants(response)) {
          lines.setLength(0);
          format.append(lines, block, row);
          Cause cause = attribution.explain(block, row);
          lines.setLength(lines.length() - 1);
          lines.append(',').append(cause.name()).append(',').append(quoted(cause.evidence()));
          slow.add(response, lines.append('\n'));
        }
      }
    }
  }

  /** Adds what the machine did in a tenth of a second. */
  public void write(Interval interval) throws IOException {
    monitor.write(interval);
  }

  /** Adds a disturbance. */
  public void write(Disturbance disturbance) throws IOException {
    monitor.write(disturbance);
  }

  /**
   * Adds one interval's histograms.
   *
   * @param record whose interval is complete
   * @param fromSeconds since the start of the run
   * @param toSeconds since the start of the run
   */
  public void writeInterval(RunRecord record, double fromSeconds, double toSeconds)
      throws IOException {
    for (boolean measured : new boolean[] {false, true}) {
      for (Phase phase : Phase.ALL) {
        Histogram histogram = record.interval(phase, measured);
        if (histogram.getTotalCount() > 0) {
          hlogWriter.outputIntervalHistogram(fromSeconds, toSeconds, histogram, 1e6);
        }
      }
    }
    long failures = record.failures() + record.failedSetUps();
    if (failures != failuresWritten) {
      failuresWritten = failures;
      writeErrors(record);
    }
    flush();
  }

  private void writeErrors(RunRecord record) throws IOException {
    StringBuilder text =
        new StringBuilder("outcome,died_in,detail,count,first_planned_us,example\n");
    for (Map.Entry<RunRecord.ErrorKey, RunRecord.ErrorCount> error : record.errors().entrySet()) {
      RunRecord.ErrorKey key = error.getKey();
      RunRecord.ErrorCount count = error.getValue();
      text.append(key.outcome()).append(',').append(key.diedIn()).append(',');
      text.append(SampleFormat.detail(key.outcome(), key.detail()))
          .append(',')
          .append(count.count())
          .append(',');
      text.append(count.firstPlannedNanos() / 1000)
          .append(',')
          .append(quoted(count.example()))
          .append('\n');
    }
    replace(directory, "errors.csv", text.toString().getBytes(StandardCharsets.UTF_8));
  }

  static String quoted(String text) {
    return text == null
        ? ""
        : '"' + text.replaceAll("\\p{Cntrl}+", " ").replace("\"", "\"\"") + '"';
  }

  private void flush() throws IOException {
    hlogPending.writeTo(hlog);
    hlogPending.reset();
    hlog.flush();
    samples.flush();
    if (connections != null) {
      connections.flush();
    }
    slowFile.flush();
    monitor.flush();
  }

  /** Writes the result of the run, as {@code summary.json}, and completes the other files. */
  public void finish(Object summary) throws IOException {
    slow.finish();
    flush();
    writeJson(directory, "summary.json", summary);
  }

  /**
   * Writes a value as a file of a result directory, or replaces it: a reader never sees half of it.
   *
   * @param directory must exist
   */
  public static void writeJson(Path directory, String name, Object value) throws IOException {
    replace(directory, name, (toJson(value) + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a value as it would stand in the bundle. */
  public static String toJson(Object value) throws IOException {
    return JSON.writeValueAsString(value);
  }

  /** A reader never sees half of such a file, nor does one after a power failure. */
  private static void replace(Path directory, String name, byte[] content) throws IOException {
    Path draft = directory.resolve(name + ".tmp");
    try (FileChannel channel =
        FileChannel.open(
            draft,
            StandardOpenOption.CREATE,
            StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING)) {
      ByteBuffer bytes = ByteBuffer.wrap(content);
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
      channel.force(true);
    }
    Files.move(
        draft,
        directory.resolve(name),
        StandardCopyOption.REPLACE_EXISTING,
        StandardCopyOption.ATOMIC_MOVE);
  }

  @Override
  public void close() throws IOException {
    if (samples != null) {
      // Each may fail by itself, as on a full disk, and then the others are still worth closing.
      IOException failure = null;
      for (Closeable file : Arrays.asList(samples, connections, slowFile, monitor, hlog)) {
        try {
          if (file != null) {
            file.close();
          }
        } catch (IOException e) {
          failure = e;
        }
      }
      if (failure != null) {
        throw failure;
      }
    }
  }

  private static <T> JsonSerializer<T> text(Function<T, String> toText) {
    return new JsonSerializer<>() {
      @Override
      public void serialize(T value, JsonGenerator out, SerializerProvider provider)
          throws IOException {
        out.writeString(toText.apply(value));
      }
    };
  }

  /** JSON has no NaN: what could not be computed is null. */
  private static final class FiniteOrNull extends JsonSerializer<Double> {
    @Override
    public void serialize(Double value, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      if (Double.isFinite(value)) {
        out.writeNumber(value);
      } else {
        out.writeNull();
      }
    }
  }

  /** Compresses fast rather than well, because it shares the machine with the measurement. */
  private static final class SampleStream extends GZIPOutputStream {
    SampleStream(OutputStream out) throws IOException {
      super(out, 1 << 16, /* syncFlush= */ true);
      def.setLevel(Deflater.BEST_SPEED);
    }
  }
}

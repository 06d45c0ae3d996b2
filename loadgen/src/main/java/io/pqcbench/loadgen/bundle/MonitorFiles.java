package io.pqcbench.loadgen.bundle;

import io.pqcbench.loadgen.monitor.Disturbance;
import io.pqcbench.loadgen.monitor.Interval;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * {@code monitor.csv} and {@code disturbances.csv}: what a machine did, beside a run or on the
 * server. Used by one thread.
 */
public final class MonitorFiles implements Closeable {

  private final Writer intervals;
  private final Writer disturbances;
  private final MonitorFormat format;
  private boolean begun;

  /**
   * Creates the two files.
   *
   * @param directory must exist
   * @param start from which their times count, on the run's clock
   */
  public MonitorFiles(Path directory, long start) throws IOException {
    intervals =
        Files.newBufferedWriter(directory.resolve("monitor.csv"), StandardCharsets.US_ASCII);
    disturbances =
        Files.newBufferedWriter(directory.resolve("disturbances.csv"), StandardCharsets.UTF_8);
    format = new MonitorFormat(start);
    disturbances.write(MonitorFormat.DISTURBANCES);
  }

  /** Adds what the machine did in a tenth of a second. */
  public void write(Interval interval) throws IOException {
    if (!begun) {
      begun = true;
      intervals.write(format.header(interval.cpus()));
    }
    intervals.write(format.line(interval));
  }

  /** Adds a disturbance. */
  public void write(Disturbance disturbance) throws IOException {
    disturbances.write(format.line(disturbance));
  }

  /** Gives everything so far to the kernel. */
  public void flush() throws IOException {
    intervals.flush();
    disturbances.flush();
  }

  @Override
  public void close() throws IOException {
    try {
      intervals.close();
    } finally {
      disturbances.close();
    }
  }
}

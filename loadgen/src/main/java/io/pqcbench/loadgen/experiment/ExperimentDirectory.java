package io.pqcbench.loadgen.experiment;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.plan.Experiment;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The directory of an experiment: what was planned, and every trial that has ended. Whatever ends
 * this process, the directory says how far it got. The format is documented in BUNDLE.md.
 */
final class ExperimentDirectory implements Closeable {

  static final String SCHEMA = "loadgen-experiment/1";

  private static final String RECORD = "experiment.json";
  private static final String TRIALS = "trials.jsonl";
  private static final String LOCK = "lock";

  private static final JsonMapper JSON =
      JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

  private final Path directory;
  private final FileChannel lock;
  private final FileChannel trials;
  private final List<TrialResult> results = new ArrayList<>();

  /** What {@code experiment.json} holds; see BUNDLE.md. */
  record Contents(
      String schema,
      String status,
      Experiment plan,
      List<Experiment.Trial> order,
      List<Session> sessions,
      List<String> findings,
      List<ArmResult> result,
      List<TrialResult> trials) {}

  /**
   * One process that worked on the experiment.
   *
   * @param startedAt wall clock, ISO 8601
   * @param machine on which
   * @param changes of the machine since the first session, which the user has allowed
   * @param target an embedded server's, or the plan's
   * @param timeWaitSockets that there were before the experiment; -1 if the kernel does not say
   * @param preflight one trial of each arm at a low rate, which counts for nothing
   * @param headroom one at the highest rate; null until it was made
   */
  record Session(
      String startedAt,
      Machine machine,
      List<String> changes,
      String target,
      long timeWaitSockets,
      List<TrialResult> preflight,
      TrialResult headroom) {}

  private ExperimentDirectory(Path directory, FileChannel lock, FileChannel trials) {
    this.directory = directory;
    this.lock = lock;
    this.trials = trials;
  }

  /**
   * Makes the directory of a new experiment.
   *
   * @param directory must not exist, or be empty
   */
  static ExperimentDirectory create(Path directory) throws IOException {
    Bundle.create(directory, Long.MAX_VALUE).close();
    return open(directory);
  }

  /**
   * Opens the directory of an experiment that was begun, and reads which trials have ended.
   *
   * @throws IOException if another process is at it, or if it is none
   */
  static ExperimentDirectory resume(Path directory) throws IOException {
    if (!Files.exists(directory.resolve(RECORD))) {
      throw new IOException(
          "this is no directory of an experiment, it holds no " + RECORD + ": resume=" + directory);
    }
    return open(directory);
  }

  private static ExperimentDirectory open(Path directory) throws IOException {
    FileChannel lock =
        FileChannel.open(
            directory.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (!locked(lock)) {
      lock.close();
      throw new IOException(
          "another process is working on this experiment, wait for it or end it: directory="
              + directory);
    }
    Path file = directory.resolve(TRIALS);
    String text = Files.exists(file) ? Files.readString(file) : "";
    // A line that was cut off when the machine went down has no end, and what follows must not
    // join it.
    int whole = text.lastIndexOf('\n') + 1;
    FileChannel trials =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    trials.truncate(text.substring(0, whole).getBytes(StandardCharsets.UTF_8).length);
    trials.position(trials.size());
    ExperimentDirectory opened = new ExperimentDirectory(directory, lock, trials);
    for (String line : text.substring(0, whole).lines().toList()) {
      opened.results.add(JSON.readValue(line, TrialResult.class));
    }
    return opened;
  }

  private static boolean locked(FileChannel channel) throws IOException {
    try {
      FileLock held = channel.tryLock();
      return held != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  Path path() {
    return directory;
  }

  /** Returns all attempts that have ended, in their order; those of preflights are elsewhere. */
  List<TrialResult> results() {
    return results;
  }

  Contents contents() throws IOException {
    Contents contents = JSON.readValue(directory.resolve(RECORD).toFile(), Contents.class);
    if (!SCHEMA.equals(contents.schema())) {
      throw new IOException(
          "this experiment has another format, use the version of loadgen that began it: schema="
              + contents.schema()
              + " known="
              + SCHEMA);
    }
    return contents;
  }

  void write(Contents contents) throws IOException {
    Bundle.writeJson(directory, RECORD, contents);
  }

  /** Keeps what came of an attempt; it is on the disk when this returns. */
  void add(TrialResult result) throws IOException {
    byte[] line = (JSON.writeValueAsString(result) + "\n").getBytes(StandardCharsets.UTF_8);
    ByteBuffer bytes = ByteBuffer.wrap(line);
    while (bytes.hasRemaining()) {
      trials.write(bytes);
    }
    trials.force(true);
    results.add(result);
  }

  /**
   * Returns a directory that is not there yet. One that is there without having been kept by {@link
   * #add} belongs to a trial that was killed: it is moved aside.
   *
   * @param name wanted, from the experiment's directory
   * @return where the remains of a killed trial now are; null if there were none
   */
  String makeRoom(String name) throws IOException {
    Path wanted = directory.resolve(name);
    if (!Files.exists(wanted)) {
      return null;
    }
    for (int i = 1; ; i++) {
      String aside = name + ".killed" + i;
      if (!Files.exists(directory.resolve(aside))) {
        Files.move(wanted, directory.resolve(aside));
        return aside;
      }
    }
  }

  @Override
  public void close() throws IOException {
    try (lock) {
      trials.close();
    }
  }
}

package io.pqcbench.loadgen.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What all benchmarks share: mean time in microseconds, short iterations, and the heap and
 * collector with which the launcher starts the client, because ZGC's barriers are in everything
 * that is measured here.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
    value = 2,
    jvmArgsAppend = {
      "-XX:+UseZGC",
      "-Xms512m",
      "-Xmx512m",
      "-XX:+AlwaysPreTouch",
      "-Dio.netty.leakDetection.level=disabled"
    })
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public abstract class MicroBenchmark {}

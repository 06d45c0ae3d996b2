package io.pqcbench.loadgen.schedule;

import java.util.SplittableRandom;

/**
 * When each arrival of an open-loop run is due, in nanoseconds after the start of the run.
 *
 * <p>A schedule is a pure function of its parameters: it knows nothing of the server or of the
 * lanes' progress, which is what makes the load open loop. It always holds exactly {@link #count()}
 * arrivals, so that two arms of a comparison, or two runs of one seed, offer the same number of
 * handshakes.
 *
 * <p>Immutable. {@link #slice} may be called from any thread; the {@link Arrivals} that it returns
 * belong to one.
 */
public final class ArrivalSchedule {

  private final double ratePerSecond;
  private final long count;
  private final boolean poisson;
  private final long seed;

  /** Which of the arrivals are this machine's: those that leave the remainder {@code shard}. */
  private final int shard;

  private final int shards;

  private ArrivalSchedule(double ratePerSecond, long durationNanos, boolean poisson, long seed) {
    if (!(ratePerSecond > 0) || Double.isInfinite(ratePerSecond)) {
      throw new IllegalArgumentException("rate must be positive: ratePerSecond=" + ratePerSecond);
    }
    if (durationNanos <= 0) {
      throw new IllegalArgumentException(
          "duration must be positive: durationNanos=" + durationNanos);
    }
    this.ratePerSecond = ratePerSecond;
    this.count = Math.max(1, Math.round(ratePerSecond * (durationNanos / 1e9)));
    this.poisson = poisson;
    this.seed = seed;
    this.shard = 0;
    this.shards = 1;
  }

  private ArrivalSchedule(ArrivalSchedule whole, int shard, int shards) {
    this.ratePerSecond = whole.ratePerSecond;
    this.count = whole.count;
    this.poisson = whole.poisson;
    this.seed = whole.seed;
    this.shard = shard;
    this.shards = shards;
  }

  /**
   * Arrivals at equal gaps, the first at 0. Each is computed from its index, not by adding up gaps,
   * so that the rate never drifts by rounding.
   *
   * @param ratePerSecond offered rate; positive
   * @param durationNanos length of the run; positive
   */
  public static ArrivalSchedule constant(double ratePerSecond, long durationNanos) {
    return new ArrivalSchedule(ratePerSecond, durationNanos, false, 0);
  }

  /**
   * A Poisson process over the duration, conditioned on its count: given that n arrivals fall into
   * it, they are distributed as n ordered uniform instants (Ross, Stochastic Processes, theorem
   * 2.3.1), and the gaps are exponential but for that condition. The count is fixed so that arms
   * and trials offer the same number of handshakes; an unconditioned process would differ by
   * sqrt(n).
   *
   * @param ratePerSecond mean offered rate; positive
   * @param durationNanos length of the run; positive
   * @param seed any value; the same seed gives the same instants on every JDK
   */
  public static ArrivalSchedule poisson(double ratePerSecond, long durationNanos, long seed) {
    return new ArrivalSchedule(ratePerSecond, durationNanos, true, seed);
  }

  /**
   * Returns the part of one of several machines that offer this schedule together: every {@code
   * shards}-th arrival. Indexes and instants stay those of the whole, so that the parts together
   * are the whole.
   *
   * @param shard from 0 to {@code shards - 1}
   * @param shards at least 1
   * @throws IllegalArgumentException also if no arrival is left for this one
   */
  public ArrivalSchedule shard(int shard, int shards) {
    if (shards < 1 || shard < 0 || shard >= shards) {
      throw new IllegalArgumentException(
          "shard must be below shards: shard=" + shard + " shards=" + shards);
    }
    if (shard >= count) {
      throw new IllegalArgumentException(
          "there are fewer arrivals than shards, this one has none: arrivals="
              + count
              + " shard="
              + shard
              + " shards="
              + shards);
    }
    return new ArrivalSchedule(this, shard, shards);
  }

  /**
   * Returns how many arrivals there are: the rate times the duration, rounded, and at least 1; of a
   * shard, its own.
   */
  public long count() {
    return (count - shard + shards - 1) / shards;
  }

  /**
   * Returns every {@code lanes}-th arrival, in order; of a shard, every {@code lanes}-th of its
   * own.
   *
   * @param lane from 0 to {@code lanes - 1}
   * @param lanes at least 1
   */
  public Arrivals slice(int lane, int lanes) {
    if (lanes < 1 || lane < 0 || lane >= lanes) {
      throw new IllegalArgumentException(
          "lane must be below lanes: lane=" + lane + " lanes=" + lanes);
    }
    long first = shard + (long) shards * lane;
    long step = (long) shards * lanes;
    return poisson ? new PoissonArrivals(first, step) : new ConstantArrivals(first, step);
  }

  /** An iterator over one lane's arrivals, without boxing. */
  public abstract static class Arrivals {
    private final long step;
    private final long total;
    private long index;

    private Arrivals(long first, long step, long total) {
      this.index = first - step;
      this.step = step;
      this.total = total;
    }

    /**
     * Steps to the next arrival.
     *
     * @return whether there is one; after {@code false} the accessors keep their values
     */
    public boolean advance() {
      if (index + step >= total) {
        return false;
      }
      index += step;
      return true;
    }

    /** Returns the index of this arrival in the whole schedule, from 0. */
    public final long index() {
      return index;
    }

    /**
     * Returns when this arrival is due, in nanoseconds after the start of the run; never negative.
     */
    public abstract long plannedNanos();
  }

  private final class ConstantArrivals extends Arrivals {
    ConstantArrivals(long first, long step) {
      super(first, step, count);
    }

    @Override
    public long plannedNanos() {
      return (long) (index() * 1e9 / ratePerSecond);
    }
  }

  /**
   * The ordered uniforms, one after the other: of the n - k instants still to come the earliest
   * lies at {@code u + (1 - u) * (1 - v^(1/(n-k)))} with v uniform. Every lane walks through all of
   * them and keeps its own, so that the instants do not depend on the number of lanes or machines.
   */
  private final class PoissonArrivals extends Arrivals {
    private final SplittableRandom random = new SplittableRandom(seed);
    private final double spanNanos = count * 1e9 / ratePerSecond;
    private long drawn;

    /**
     * What is left of the span after the last instant, as a fraction: kept instead of u, which
     * would lose digits.
     */
    private double left = 1;

    PoissonArrivals(long first, long step) {
      super(first, step, count);
    }

    @Override
    public boolean advance() {
      if (!super.advance()) {
        return false;
      }
      for (; drawn <= index(); drawn++) {
        left *= Math.pow(1 - random.nextDouble(), 1.0 / (count - drawn));
      }
      return true;
    }

    @Override
    public long plannedNanos() {
      return (long) ((1 - left) * spanNanos);
    }
  }
}

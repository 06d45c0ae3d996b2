package io.pqcbench.loadgen.engine;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import io.pqcbench.loadgen.schedule.NanoClock;

/**
 * Tells how long an event loop slept in epoll, as against handled what epoll brought: Netty does
 * both in one call. Used by the lane's thread alone.
 */
final class SleepMeter implements IoHandlerContext {

  private final NanoClock clock;
  private IoHandlerContext asked;
  private long activeNanos;
  private long sleptNanos;
  private long wokeAt;

  SleepMeter(NanoClock clock) {
    this.clock = clock;
  }

  IoHandlerFactory around(IoHandlerFactory factory) {
    return executor -> new Measured(factory.newHandler(executor));
  }

  /** Returns how long the loop slept since the last call, in nanoseconds. */
  long take() {
    long slept = sleptNanos;
    sleptNanos = 0;
    return slept;
  }

  /** Returns when the last sleep ended, on the run's clock. */
  long wokeAt() {
    return wokeAt;
  }

  @Override
  public boolean canBlock() {
    return asked.canBlock();
  }

  @Override
  public long delayNanos(long currentTimeNanos) {
    return asked.delayNanos(currentTimeNanos);
  }

  @Override
  public long deadlineNanos() {
    return asked.deadlineNanos();
  }

  @Override
  public boolean shouldReportActiveIoTime() {
    return true;
  }

  @Override
  public void reportActiveIoTime(long nanos) {
    activeNanos += nanos;
  }

  private final class Measured implements IoHandler {
    private final IoHandler epoll;

    Measured(IoHandler epoll) {
      this.epoll = epoll;
    }

    @Override
    public int run(IoHandlerContext context) {
      asked = context;
      activeNanos = 0;
      long from = clock.nanos();
      int handled = epoll.run(SleepMeter.this);
      wokeAt = clock.nanos() - activeNanos;
      sleptNanos += Math.max(0, wokeAt - from);
      return handled;
    }

    @Override
    public void initialize() {
      epoll.initialize();
    }

    @Override
    public void prepareToDestroy() {
      epoll.prepareToDestroy();
    }

    @Override
    public void destroy() {
      epoll.destroy();
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
      return epoll.register(handle);
    }

    @Override
    public void wakeup() {
      epoll.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
      return epoll.isCompatible(type);
    }
  }
}

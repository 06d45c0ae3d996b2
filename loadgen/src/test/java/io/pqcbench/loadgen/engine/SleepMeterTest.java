package io.pqcbench.loadgen.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SleepMeterTest {

  private long now = 1_000;
  private final SleepMeter meter = new SleepMeter(() -> now);
  private final Epoll epoll = new Epoll();
  private final IoHandler measured = meter.around(executor -> epoll).newHandler(null);

  private static final IoHandlerContext LOOP =
      new IoHandlerContext() {
        @Override
        public boolean canBlock() {
          return true;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
          return currentTimeNanos + 5;
        }

        @Override
        public long deadlineNanos() {
          return 77;
        }
      };

  /** Sleeps and handles for as long as it is told, in virtual time. */
  private final class Epoll implements IoHandler {
    private long sleeps;
    private long handles;
    private final List<String> called = new ArrayList<>();
    private IoHandlerContext seen;

    @Override
    public int run(IoHandlerContext context) {
      seen = context;
      now += sleeps;
      if (handles > 0) {
        now += handles;
        if (context.shouldReportActiveIoTime()) {
          context.reportActiveIoTime(handles);
        }
        return 3;
      }
      return 0;
    }

    @Override
    public void initialize() {
      called.add("initialize");
    }

    @Override
    public void prepareToDestroy() {
      called.add("prepareToDestroy");
    }

    @Override
    public void destroy() {
      called.add("destroy");
    }

    @Override
    public IoRegistration register(IoHandle handle) {
      called.add("register");
      return null;
    }

    @Override
    public void wakeup() {
      called.add("wakeup");
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> type) {
      return type == IoHandle.class;
    }
  }

  @Test
  void sleepIsWhatWasNotSpentOnHandlingEvents() {
    epoll.sleeps = 900;
    epoll.handles = 250;
    assertThat(measured.run(LOOP)).isEqualTo(3);
    assertThat(meter.take()).isEqualTo(900);
  }

  @Test
  void aSleepThatNothingEndedIsWhole() {
    epoll.sleeps = 5_000;
    assertThat(measured.run(LOOP)).isZero();
    assertThat(meter.take()).isEqualTo(5_000);
  }

  @Test
  void sleepsAddUpUntilTheyAreTaken() {
    epoll.sleeps = 100;
    epoll.handles = 10;
    measured.run(LOOP);
    measured.run(LOOP);
    assertThat(meter.take()).isEqualTo(200);
    assertThat(meter.take()).isZero();
    measured.run(LOOP);
    assertThat(meter.take()).isEqualTo(100);
  }

  @Test
  void aLoopThatOnlyWorkedDidNotSleep() {
    epoll.handles = 400;
    measured.run(LOOP);
    assertThat(meter.take()).isZero();
  }

  /** Netty measures with its own clock, which may have read a moment earlier and later. */
  @Test
  void moreWorkThanTimeIsNoNegativeSleep() {
    epoll.handles = 400;
    measured.run(LOOP);
    meter.reportActiveIoTime(50);
    assertThat(meter.take()).isZero();
    epoll.sleeps = 30;
    measured.run(LOOP);
    assertThat(meter.take()).isEqualTo(30);
  }

  @Test
  void theLoopIsAskedForHowLongToSleep() {
    measured.run(LOOP);
    assertThat(epoll.seen.canBlock()).isTrue();
    assertThat(epoll.seen.delayNanos(10)).isEqualTo(15);
    assertThat(epoll.seen.deadlineNanos()).isEqualTo(77);
  }

  @Test
  void everythingElseIsPassedOn() throws Exception {
    measured.initialize();
    measured.register(null);
    measured.wakeup();
    measured.prepareToDestroy();
    measured.destroy();
    assertThat(epoll.called)
        .containsExactly("initialize", "register", "wakeup", "prepareToDestroy", "destroy");
    assertThat(measured.isCompatible(IoHandle.class)).isTrue();
  }
}

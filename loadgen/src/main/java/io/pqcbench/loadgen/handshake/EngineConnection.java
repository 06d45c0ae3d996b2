package io.pqcbench.loadgen.handshake;

import java.nio.ByteBuffer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/** A connection of a stack in Java. */
final class EngineConnection extends TlsConnection {

  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final EngineContext context;
  private SSLEngine engine;
  private boolean begun;
  private SSLException failure;

  /** What came and is not decrypted, ready to be read; at most a record's part stays. */
  private ByteBuffer received = ByteBuffer.allocate(1 << 16).limit(0);

  /** What is decrypted and not taken, ready to be read. */
  private ByteBuffer decrypted = ByteBuffer.allocate(1 << 15).limit(0);

  /** What is written while no sink is attached, ready to be added to. */
  private ByteBuffer kept = ByteBuffer.allocate(1 << 15);

  /** Null when none is attached. */
  private ByteBuffer sink;

  EngineConnection(EngineContext context) {
    this.context = context;
  }

  @Override
  void open() {
    engine = context.engine();
    begun = false;
    failure = null;
    received.clear().limit(0);
    decrypted.clear().limit(0);
    kept.clear();
    sink = null;
  }

  @Override
  void free() {
    // Nobody asked.
    context.trust.takeRefusal(engine);
    engine = null;
  }

  @Override
  boolean offer(Tickets tickets) {
    throw new UnsupportedOperationException("a stack in Java resumes no session here");
  }

  @Override
  void sinkTo(Memory out, int from) {
    sink = out.bytes.slice(from, out.size - from);
  }

  @Override
  void sourceFrom(Memory in, int from, int length) {
    sink = null;
    received.compact();
    if (received.remaining() < length) {
      received = ByteBuffer.allocate(2 * (received.position() + length)).put(received.flip());
    }
    received.put(in.bytes.duplicate().limit(from + length).position(from)).flip();
  }

  @Override
  void detach() {
    sink = null;
  }

  @Override
  int sunk() {
    return sink.position();
  }

  @Override
  int unread() {
    // All of it was taken when it was attached.
    return 0;
  }

  @Override
  int pending() {
    return kept.position();
  }

  @Override
  int flushToSink() {
    kept.flip();
    int length = Math.min(kept.remaining(), sink.remaining());
    sink.put(kept.slice(kept.position(), length));
    kept.position(kept.position() + length).compact();
    return length;
  }

  /** Writes to the sink if there is one with room, and nothing that has to go out before. */
  private SSLEngineResult wrap(ByteBuffer from) throws SSLException {
    int packet = engine.getSession().getPacketBufferSize();
    ByteBuffer to = kept;
    if (sink != null && kept.position() == 0 && sink.remaining() >= packet) {
      to = sink;
    } else if (kept.remaining() < packet) {
      kept = ByteBuffer.allocate(kept.position() + 2 * packet).put(kept.flip());
      to = kept;
    }
    return engine.wrap(from, to);
  }

  private SSLEngineResult unwrap() throws SSLException {
    decrypted.compact();
    int least = engine.getSession().getApplicationBufferSize();
    if (decrypted.remaining() < least) {
      decrypted = ByteBuffer.allocate(decrypted.position() + 2 * least).put(decrypted.flip());
    }
    try {
      return engine.unwrap(received, decrypted);
    } finally {
      decrypted.flip();
    }
  }

  @Override
  int handshake() {
    try {
      if (!begun) {
        begun = true;
        engine.beginHandshake();
      }
      while (true) {
        HandshakeStatus status = engine.getHandshakeStatus();
        SSLEngineResult result;
        if (status == HandshakeStatus.NEED_TASK) {
          runTasks();
          continue;
        } else if (status == HandshakeStatus.NEED_WRAP) {
          result = wrap(NOTHING.duplicate());
        } else if (status == HandshakeStatus.NOT_HANDSHAKING
            || status == HandshakeStatus.FINISHED) {
          return engine.isInboundDone() ? closedEarly() : DONE;
        } else {
          result = unwrap();
        }
        if (result.getHandshakeStatus() == HandshakeStatus.FINISHED) {
          return DONE;
        }
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
          return WANT_READ;
        }
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
          return closedEarly();
        }
      }
    } catch (SSLException e) {
      return failed(e);
    }
  }

  private int closedEarly() {
    failure = new SSLException("the engine was closed during the handshake");
    return FAILED;
  }

  private int failed(SSLException e) {
    failure = e;
    try {
      // The alert.
      boolean more = true;
      while (more && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
        more = wrap(NOTHING.duplicate()).bytesProduced() > 0;
      }
    } catch (SSLException again) {
      // It says once more what was wrong, or has no alert to send.
      e.addSuppressed(again);
    }
    return FAILED;
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask();
        task != null;
        task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  @Override
  int write(Memory from, int offset, int length) {
    try {
      SSLEngineResult result = wrap(from.bytes.duplicate().limit(offset + length).position(offset));
      if (result.bytesConsumed() > 0) {
        return result.bytesConsumed();
      }
      return result.getStatus() == SSLEngineResult.Status.CLOSED
          ? closedEarly()
          : failed(new SSLException("the engine takes nothing: " + result));
    } catch (SSLException e) {
      return failed(e);
    }
  }

  @Override
  int read(Memory to) {
    try {
      while (!decrypted.hasRemaining()) {
        SSLEngineResult result = unwrap();
        HandshakeStatus status = engine.getHandshakeStatus();
        if (status == HandshakeStatus.NEED_TASK) {
          runTasks();
        } else if (status == HandshakeStatus.NEED_WRAP
            && result.getStatus() != SSLEngineResult.Status.CLOSED) {
          wrap(NOTHING.duplicate());
        }
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
          return decrypted.hasRemaining() ? take(to) : CLOSED;
        }
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
          return WANT_READ;
        }
      }
      return take(to);
    } catch (SSLException e) {
      return failed(e);
    }
  }

  private int take(Memory to) {
    int length = Math.min(decrypted.remaining(), to.size);
    to.bytes.duplicate().clear().put(decrypted.slice(decrypted.position(), length));
    decrypted.position(decrypted.position() + length);
    return length;
  }

  @Override
  void shutdown() {
    engine.closeOutbound();
    try {
      boolean more = true;
      while (more && !engine.isOutboundDone()) {
        more = wrap(NOTHING.duplicate()).bytesProduced() > 0;
      }
    } catch (SSLException e) {
      // Then without a goodbye: the server may have closed first.
      failure = e;
    }
  }

  @Override
  boolean reused() {
    // None is ever offered, and one of TLS 1.3 would be seen on the wire.
    return false;
  }

  @Override
  boolean tellsGroup() {
    return false;
  }

  @Override
  String group() {
    return null;
  }

  @Override
  String signatureScheme() {
    return null;
  }

  @Override
  String protocol() {
    String protocol = engine.getApplicationProtocol();
    return protocol == null || protocol.isEmpty() ? null : protocol;
  }

  @Override
  Exception failure(ServerTrust trust) {
    Exception refusal = context.trust.takeRefusal(engine);
    return refusal == null ? failure : refusal;
  }
}

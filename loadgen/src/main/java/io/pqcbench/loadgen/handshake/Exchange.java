package io.pqcbench.loadgen.handshake;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.epoll.EpollIoEvent;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.channel.unix.Socket;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.schedule.NanoClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;

/**
 * One connection from its preparation to its close: TCP, TLS, one request. It stands directly
 * between the system calls and the TLS stack, where it takes the timestamps, counts the bytes and
 * reads the plaintext part of the handshake, and it decides how the attempt ended.
 *
 * <p>Made before it is due by {@link Connector#prepare}, and used again for another connection when
 * it is closed; everything happens on its event loop's thread.
 */
public final class Exchange extends Connection implements EpollIoHandle {

  private enum State {
    CLOSED,
    READY,
    CONNECTING,
    HANDSHAKING,
    SECURED
  }

  /** Linux, include/uapi/linux/eventpoll.h. */
  private static final int EPOLLIN = 0x1;

  private static final int EPOLLOUT = 0x4;
  private static final int EPOLLERR = 0x8;
  private static final int EPOLLHUP = 0x10;
  private static final int EPOLLRDHUP = 0x2000;

  private static final int TLS_13 = 0x0304;

  /** Everything, once, and told at each change: one system call a connection instead of three. */
  private static final EpollIoOps CHANGES =
      EpollIoOps.EPOLLIN
          .with(EpollIoOps.EPOLLOUT)
          .with(EpollIoOps.EPOLLRDHUP)
          .with(EpollIoOps.EPOLLET);

  private final Connector shared;
  private final NanoClock clock;
  private final HttpReader response;

  /** The same, if it is HTTP/2; else null. */
  private final Http2Reader http2;

  private final RecordCounter recordsIn = new RecordCounter();
  private final RecordCounter recordsOut = new RecordCounter();

  /** What the server said in plaintext. */
  final HelloScanner<ServerHello> server = HelloScanner.ofServer();

  /** What we said ourselves. */
  final HelloScanner<ClientHello> client = HelloScanner.ofClient();

  private State state = State.CLOSED;
  private Socket socket;
  private IoRegistration registration;

  private final TlsConnection tls;
  private String negotiatedGroup;
  private String negotiatedProtocol;
  private String signatureScheme;

  /** When the last read system call returned. */
  private long lastReadNanos;

  /** What the TLS stack took for the beginning of the server's flight, before the rest was here. */
  private long earlyWorkNanos;

  /** Whether this connection was issued a session, or uses one that needs no successor. */
  private boolean ticketSeen;

  /** Whether the attempt is over and the connection waits for the session that comes with it. */
  private boolean awaitsTicket;

  /** Whether the connection is open and waits for {@link #request}. */
  private boolean idle;

  /** How many requests were sent over it. */
  private int requests;

  private int localPort;
  private InetSocketAddress remote;

  /** What was counted on this connection before the current request. */
  private int recordsInBefore;

  private int recordsOutBefore;
  private long retransmitsBefore;

  /** The request, or what goes before all requests; null for nothing. */
  private Memory outgoing;

  /** How much of it has been given to the TLS stack. */
  private int requestWritten;

  /** What the socket did not take; null for nothing, which is the rule. */
  private ByteBuf unsent;

  Exchange(Connector shared) {
    this.shared = shared;
    this.clock = shared.clock;
    this.tls = shared.context.connection();
    this.http2 = shared.http2 ? new Http2Reader(shared.describes, shared.answers) : null;
    this.response = http2 != null ? http2 : new ResponseReader(shared.describes);
  }

  /** Becomes another connection. */
  void open(Socket socket, IoEventLoop loop) {
    this.socket = socket;
    tls.open();
    server.reset();
    client.reset();
    response.open();
    recordsIn.reset();
    recordsOut.reset();
    negotiatedGroup = null;
    negotiatedProtocol = null;
    signatureScheme = null;
    outgoing = null;
    earlyWorkNanos = 0;
    requestWritten = 0;
    idle = false;
    requests = 0;
    recordsInBefore = 0;
    recordsOutBefore = 0;
    retransmitsBefore = 0;
    ticketSeen = false;
    awaitsTicket = false;
    state = State.READY;
    // Costs no system call: the kernel is told of the socket when it connects.
    registration = loop.register(this).getNow();
  }

  @Override
  public FileDescriptor fd() {
    return socket;
  }

  /** Connects. The only thing that is left to do when an arrival is due. */
  @Override
  public void start(long index, long plannedNanos, InetSocketAddress remote) {
    attempt.begin(index, plannedNanos);
    attempt.resumes = shared.resumes.test(index);
    attempt.setUp = shared.pooled;
    this.remote = remote;
    state = State.CONNECTING;
    attempt.mark(Milestone.STARTED, clock.nanos());
    try {
      socket.connect(remote);
      registration.submit(CHANGES);
      if (attempt.resumes) {
        // While the network connects. Without one left the handshake will be a full one, and be
        // counted as that.
        int before = shared.tickets.size();
        ticketSeen = tls.offer(shared.tickets) && shared.tickets.size() == before;
      }
    } catch (IOException | UncheckedIOException e) {
      fail(Failures.ofConnect(e), Attempt.NONE, e);
    }
  }

  @Override
  public void request(long index, long plannedNanos, boolean repeated) {
    attempt.begin(index, plannedNanos);
    attempt.repeated = repeated;
    attempt.localPort = localPort;
    attempt.cipherSuite = server.hello().cipherSuite();
    attempt.group = server.hello().group();
    recordsInBefore = recordsIn.records();
    recordsOutBefore = recordsOut.records();
    attempt.mark(Milestone.STARTED, clock.nanos());
    idle = false;
    requests++;
    outgoing = shared.request;
    requestWritten = 0;
    response.reset();
    try {
      tls.sinkTo(shared.out);
      writeRequest(0);
      if (state != State.CLOSED) {
        tls.detach();
      }
    } catch (IOException e) {
      fail(Failures.ofTransport(e), Attempt.NONE, e);
    }
  }

  @Override
  public boolean isIdle() {
    return idle;
  }

  @Override
  public boolean isConnecting() {
    return state == State.CONNECTING;
  }

  /** Returns how many requests were sent over the connection. */
  public int requests() {
    return requests;
  }

  @Override
  boolean tellsGroup() {
    return tls.tellsGroup();
  }

  @Override
  String negotiatedGroup() {
    return negotiatedGroup;
  }

  @Override
  String signatureScheme() {
    return signatureScheme;
  }

  @Override
  String negotiatedProtocol() {
    return negotiatedProtocol;
  }

  @Override
  ServerHello serverHello() {
    return server.hello();
  }

  @Override
  ClientHello clientHello() {
    return client.hello();
  }

  @Override
  int clientHelloBytes() {
    return client.recordBytes();
  }

  @Override
  String software() {
    return response.software();
  }

  @Override
  public boolean isClosed() {
    return state == State.CLOSED;
  }

  @Override
  public void expire() {
    if (state == State.CONNECTING) {
      fail(Outcome.TCP_TIMEOUT, Attempt.NONE, null);
    } else if (state == State.HANDSHAKING) {
      fail(Outcome.TLS_TIMEOUT, Attempt.NONE, null);
    } else {
      fail(Outcome.HTTP_TIMEOUT, Attempt.NONE, null);
    }
  }

  @Override
  public void abandon() {
    fail(Outcome.ABANDONED, Attempt.NONE, null);
  }

  @Override
  public void discard() {
    release();
  }

  /** The loop is being destroyed. */
  @Override
  public void close() {
    release();
  }

  @Override
  public void handle(IoRegistration registration, IoEvent event) {
    // First of all, because it is the instant at which the client can know.
    long now = clock.nanos();
    int ready = ((EpollIoEvent) event).ops().value();
    try {
      if (state == State.CONNECTING) {
        if ((ready & (EPOLLERR | EPOLLHUP)) != 0) {
          connectFailed();
          return;
        }
        if ((ready & EPOLLOUT) == 0) {
          return;
        }
        connected(now);
      } else if (unsent != null && (ready & EPOLLOUT) != 0) {
        resumeSending();
      }
      boolean ends = (ready & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
      if ((ready & EPOLLIN) != 0 || ends) {
        readAll(ends);
      }
    } catch (IOException e) {
      fail(Failures.ofTransport(e), Attempt.NONE, e);
    } catch (RuntimeException e) {
      // The loop would swallow it, sleep for a second, and forget the other events of this turn.
      fail(Outcome.ABANDONED, Attempt.NONE, e);
      release();
      shared.owner.broke(e);
    }
  }

  private void connectFailed() {
    try {
      socket.finishConnect();
      fail(Outcome.TCP_REFUSED, Attempt.NONE, null);
    } catch (IOException e) {
      fail(Failures.ofConnect(e), Attempt.NONE, e);
    }
  }

  private void connected(long now) throws IOException {
    attempt.mark(Milestone.CONNECTED, now);
    state = State.HANDSHAKING;
    // In front of the ClientHello, so that both are one write.
    int before = writeProxyHeader();
    tls.sinkTo(shared.out, before);
    int status = tls.handshake();
    int end = before + tls.sunk();
    tls.detach();
    if (status != TlsConnection.WANT_READ) {
      handshakeFailed(tls.failure(shared.trust));
      return;
    }
    count(before, end);
    // Before the write call, so that on loopback, where the receiver's work is done inside it, that
    // work is in the flight.
    attempt.mark(Milestone.HELLO_SENT, clock.nanos());
    send(end);
    if (before == 0) {
      notePort();
    }
  }

  /** Returns how long it is; 0 without one. No byte count holds it, as it is none of TLS. */
  private int writeProxyHeader() throws IOException {
    if (shared.proxyProtocol == LoadPlan.ProxyProtocol.NONE) {
      return 0;
    }
    InetSocketAddress local = notePort();
    if (local == null) {
      throw new IOException(
          "the kernel does not tell the connection's own address, which the PROXY header needs");
    }
    return ProxyHeader.write(shared.proxyProtocol, local, remote, shared.out.bytes);
  }

  /** Asked for while the server works, not before the connection is waited for. */
  private InetSocketAddress notePort() {
    InetSocketAddress local = socket.localAddress();
    if (local != null) {
      attempt.localPort = local.getPort();
    }
    return local;
  }

  /**
   * Reads until the kernel has no more. A read that does not fill the buffer has emptied the
   * socket, and epoll tells of what comes later (epoll(7), edge-triggered), so the call that would
   * find nothing is not made.
   *
   * @param toTheEnd whether the end of the stream, or an error, is known to be there as well
   */
  private void readAll(boolean toTheEnd) throws IOException {
    Memory in = shared.in;
    while (state == State.HANDSHAKING || state == State.SECURED) {
      int length = socket.recvAddress(in.address, 0, in.size);
      if (length == 0) {
        return;
      }
      if (length < 0) {
        endOfInput();
        return;
      }
      lastReadNanos = clock.nanos();
      received(length);
      if (length < in.size && !toTheEnd) {
        return;
      }
    }
  }

  private void received(int length) throws IOException {
    ByteBuf bytes = shared.in.view(0, length);
    attempt.bytesIn += length;
    recordsIn.count(bytes);
    attempt.recordsIn = recordsIn.records() - recordsInBefore;
    if (!server.settled()) {
      server.scan(bytes);
      if (server.helloComplete() && !attempt.reached(Milestone.HELLO_RECEIVED)) {
        attempt.mark(Milestone.HELLO_RECEIVED, lastReadNanos);
      }
    }
    tls.sourceFrom(shared.in, 0, length);
    long issued = shared.tickets == null ? 0 : shared.tickets.issued();
    if (state == State.HANDSHAKING) {
      shakeHands(length);
    }
    if (state == State.SECURED) {
      readPlaintext(length);
    }
    ticketSeen |= shared.tickets != null && shared.tickets.issued() != issued;
    if (awaitsTicket && ticketSeen) {
      leave();
    }
    if (state != State.CLOSED) {
      tls.detach();
      answerFrames();
    }
    if (state != State.CLOSED) {
      flush();
    }
  }

  private void shakeHands(int length) throws IOException {
    while (true) {
      int status = tls.handshake();
      if (status == TlsConnection.DONE) {
        secured(length);
        return;
      }
      if (status == TlsConnection.WANT_READ) {
        if (attempt.reached(Milestone.HELLO_RECEIVED)) {
          earlyWorkNanos += clock.nanos() - lastReadNanos;
        }
        return;
      }
      if (status != TlsConnection.WANT_WRITE) {
        handshakeFailed(tls.failure(shared.trust));
        return;
      }
      makeRoom(length);
    }
  }

  /**
   * Sends what the stack wants to send before it reads on, of which its buffer is full.
   *
   * @param length of what was read into the lane's buffer, of whose end the stack has yet to read
   */
  private void makeRoom(int length) throws IOException {
    int left = tls.unread();
    flush();
    tls.sourceFrom(shared.in, length - left, left);
  }

  /**
   * The handshake is complete on our side; our last flight is written, but not sent yet, so that it
   * goes out together with the request.
   */
  private void secured(int length) throws IOException {
    long now = clock.nanos();
    attempt.mark(Milestone.SECURED, now);
    if (server.hello().version() == TLS_13) {
      // A flight that came apart: its rest was waited for, and only the work is the client's. In
      // TLS 1.2 there is one more flight of the server's, which is no part of this one.
      long complete = lastReadNanos - earlyWorkNanos;
      attempt.flightGapNanos = complete - attempt.at(Milestone.HELLO_RECEIVED);
      attempt.mark(Milestone.HELLO_RECEIVED, complete);
    }
    int left = tls.unread();
    tls.sinkTo(shared.out);
    int flight = tls.flushToSink();
    count(0, flight);
    attempt.handshakeBytesIn = attempt.bytesIn;
    attempt.handshakeBytesOut = attempt.bytesOut;
    if (shared.describes) {
      TcpInfo.note(socket, shared.tcpInfo.bytes, attempt);
      attempt.handshakeSegmentsIn = attempt.segmentsIn;
      signatureScheme = tls.signatureScheme();
    }
    ServerHello hello = server.hello();
    attempt.cipherSuite = hello.cipherSuite();
    attempt.group = hello.group();
    negotiatedGroup = tls.group();
    boolean reused = hello.pskSelected() || tls.reused();
    Outcome wrong =
        shared.expected.check(hello, reused, attempt.resumes, negotiatedGroup, tls.tellsGroup());
    if (shared.http2 || shared.describes) {
      negotiatedProtocol = tls.protocol();
    }
    if (wrong == null && shared.http2 && !RequestBytes.H2.equals(negotiatedProtocol)) {
      wrong = Outcome.WRONG_PROTOCOL;
    }
    state = State.SECURED;
    outgoing = shared.pooled ? shared.opening : shared.request;
    if (http2 != null && !shared.pooled) {
      http2.reset();
    }
    if (client.hello().pskOffered() && !attempt.resumes) {
      tls.detach();
      fail(
          Outcome.RESUMED,
          Attempt.NONE,
          new IllegalStateException("our own ClientHello offers a session"));
    } else if (wrong == Outcome.NOT_RESUMED && shared.tickets != null && !shared.describes) {
      // The attempt is over. Its connection goes on, because it brings the session for a later one:
      // without it a server that refuses some would run the client dry.
      attempt.outcome = wrong;
      awaitsTicket = true;
      if (outgoing == null) {
        tls.detach();
        send(flight);
      } else {
        writeRequest(flight);
      }
      if (state != State.CLOSED) {
        tls.sourceFrom(shared.in, length - left, left);
      }
    } else if (wrong != null) {
      tls.detach();
      fail(wrong, wrong == Outcome.WRONG_CIPHER ? attempt.cipherSuite : Attempt.NONE, null);
    } else if (outgoing == null) {
      tls.detach();
      send(flight);
      succeed(now);
      if (state == State.SECURED) {
        tls.sourceFrom(shared.in, length - left, left);
      }
    } else {
      writeRequest(flight);
      if (state != State.CLOSED) {
        tls.sourceFrom(shared.in, length - left, left);
      }
    }
  }

  /**
   * Encrypts the request, or what goes before all requests, and sends it, as far as the socket
   * takes it.
   *
   * @param before bytes that are in the buffer already and go out first
   */
  private void writeRequest(int before) throws IOException {
    Memory request = outgoing;
    int counted = before;
    if (http2 != null && shared.opening != null && request == shared.request) {
      request.view(0, request.size).setInt(RequestBytes.STREAM_AT, http2.stream());
    }
    while (requestWritten < request.size && unsent == null) {
      int wrote = tls.write(request, requestWritten, request.size - requestWritten);
      int length = tls.sunk();
      tls.detach();
      if (wrote > 0) {
        requestWritten += wrote;
      } else if (wrote != TlsConnection.WANT_WRITE) {
        Exception failure = tls.failure(shared.trust);
        fail(Failures.ofHandshake(failure), Failures.alertOf(failure), failure);
        return;
      }
      count(counted, length);
      if (attempt.outcome == null && !attempt.setUp && !attempt.reached(Milestone.REQUEST_SENT)) {
        attempt.mark(Milestone.REQUEST_SENT, clock.nanos());
      }
      send(length);
      counted = 0;
      tls.sinkTo(shared.out);
    }
  }

  private void readPlaintext(int received) throws IOException {
    Memory plaintext = shared.plaintext;
    while (state == State.SECURED) {
      int length = tls.read(plaintext);
      if (length > 0) {
        readResponse(plaintext.view(0, length));
        continue;
      }
      if (length == TlsConnection.WANT_READ) {
        return;
      }
      if (length == TlsConnection.WANT_WRITE) {
        makeRoom(received);
      } else if (length == TlsConnection.CLOSED) {
        endOfInput();
      } else {
        Exception failure = tls.failure(shared.trust);
        fail(Failures.ofHandshake(failure), Failures.alertOf(failure), failure);
      }
    }
  }

  private void readResponse(ByteBuf bytes) {
    if (http2 != null) {
      readFrames(bytes);
      return;
    }
    if (attempt.outcome != null) {
      // More than the response was long.
      return;
    }
    if (!attempt.reached(Milestone.FIRST_BYTE)) {
      // One read may hold the end of the handshake and the first data, which then came before the
      // request.
      attempt.mark(
          Milestone.FIRST_BYTE, Math.max(lastReadNanos, attempt.at(Milestone.REQUEST_SENT)));
    }
    response.read(bytes);
    attempt.detail = response.status();
    attempt.bodyBytes = response.bodyBytes();
    if (response.failure() != null) {
      fail(Outcome.HTTP_ERROR, Attempt.NONE, new IOException(response.failure()));
    } else if (response.complete()) {
      responseComplete();
    }
  }

  /** Reads on after the response as well: the connection has affairs of its own. */
  private void readFrames(ByteBuf bytes) {
    boolean settled = http2.settled();
    http2.read(bytes);
    if (attempt.outcome != null) {
      if (idle && !http2.persistent()) {
        closedWhileIdle();
      }
      return;
    }
    // One read may hold the end of the handshake and the server's settings, as above.
    long earliest = attempt.at(attempt.setUp ? Milestone.SECURED : Milestone.REQUEST_SENT);
    if (!settled && http2.settled()) {
      attempt.mark(Milestone.SETTINGS_RECEIVED, Math.max(lastReadNanos, earliest));
    }
    if (http2.begun() && !attempt.reached(Milestone.FIRST_BYTE)) {
      attempt.mark(Milestone.FIRST_BYTE, Math.max(lastReadNanos, earliest));
    }
    attempt.detail = http2.status();
    attempt.bodyBytes = http2.bodyBytes();
    if (http2.complete()) {
      responseComplete();
    } else if (http2.failure() != null) {
      fail(
          // Only a pool sends it again.
          http2.refused() && shared.pooled ? Outcome.CLOSED_EARLY : Outcome.HTTP_ERROR,
          Attempt.NONE,
          new IOException(http2.failure()));
    } else if (attempt.setUp && http2.settled()) {
      succeed(clock.nanos());
    }
  }

  /** Sends the frames that the server's have to be answered with. */
  private void answerFrames() throws IOException {
    ByteBuf answers = shared.answers;
    if (http2 == null || !answers.isReadable()) {
      return;
    }
    tls.sinkTo(shared.out);
    int wrote = tls.write(shared.answerMemory, 0, answers.readableBytes());
    int length = tls.sunk();
    tls.detach();
    answers.clear();
    if (wrote > 0) {
      count(0, length);
      send(length);
    } else {
      Exception failure = tls.failure(shared.trust);
      fail(Failures.ofHandshake(failure), Failures.alertOf(failure), failure);
    }
  }

  private void responseComplete() {
    if (attempt.detail >= 400) {
      fail(Outcome.HTTP_ERROR, attempt.detail, null);
    } else if (shared.expectBytes >= 0 && attempt.bodyBytes != shared.expectBytes) {
      fail(
          Outcome.WRONG_LENGTH,
          Attempt.NONE,
          new IOException("bodyBytes=" + attempt.bodyBytes + " expected=" + shared.expectBytes));
    } else {
      succeed(clock.nanos());
    }
  }

  /** The server has closed its side, in TLS or in TCP. */
  private void endOfInput() {
    if (idle) {
      closedWhileIdle();
    } else if (awaitsTicket) {
      leave();
    } else if (state == State.SECURED && response.endOfInput()) {
      responseComplete();
    } else if (server.notTls()) {
      fail(Outcome.TLS_ERROR, Attempt.NONE, new NotTlsException(server.firstBytes()));
    } else {
      fail(Outcome.CLOSED_EARLY, Attempt.NONE, null);
    }
  }

  private void handshakeFailed(Exception cause) {
    tls.detach();
    try {
      // The alert that tells the server why.
      flush();
    } catch (IOException e) {
      // It has gone already; what went wrong before is what counts.
      cause.addSuppressed(e);
    }
    if (server.notTls()) {
      fail(Outcome.TLS_ERROR, Attempt.NONE, new NotTlsException(server.firstBytes()));
    } else if (server.alertDescription() >= 0) {
      fail(Outcome.TLS_ALERT, server.alertDescription(), cause);
    } else {
      fail(Failures.ofHandshake(cause), Failures.alertOf(cause), cause);
    }
  }

  private void succeed(long now) {
    attempt.mark(Milestone.DONE, now);
    attempt.outcome = Outcome.SUCCESS;
    if (shared.pooled && staysOpen()) {
      idle = true;
      finish();
    } else if (shared.tickets != null && !shared.describes && !ticketSeen) {
      awaitsTicket = true;
    } else {
      leave();
    }
  }

  private boolean staysOpen() {
    boolean more = shared.requestsPerConnection == 0 || requests < shared.requestsPerConnection;
    return (attempt.setUp || more) && response.persistent();
  }

  /** Closes a connection whose attempt has its outcome, and all that it waited for. */
  private void leave() {
    awaitsTicket = false;
    finish();
    if (shared.orderlyClose) {
      sayGoodbye();
    }
    release();
  }

  private void fail(Outcome outcome, int detail, Throwable cause) {
    if (idle) {
      closedWhileIdle();
    } else if (awaitsTicket) {
      // None has come; the attempt had its outcome before.
      leave();
    } else if (state != State.CLOSED && attempt.outcome == null) {
      attempt.outcome = outcome;
      attempt.detail = detail;
      attempt.failure = cause;
      finish();
      release();
    }
  }

  private void closedWhileIdle() {
    idle = false;
    release();
    shared.owner.closed(this);
  }

  private void finish() {
    if (attempt.localPort == Attempt.NONE) {
      notePort();
    }
    localPort = attempt.localPort;
    TcpInfo.note(socket, shared.tcpInfo.bytes, attempt);
    long retransmits = attempt.retransmits;
    attempt.retransmits -= retransmitsBefore;
    retransmitsBefore = retransmits;
    shared.owner.finished(this);
  }

  /** Sends a close_notify; without waiting for the server's, as RFC 8446, section 6.1 allows. */
  private void sayGoodbye() {
    tls.detach();
    tls.sinkTo(shared.out);
    tls.flushToSink();
    if (http2 != null && outgoing != null) {
      http2.sayGoodbye();
      tls.write(shared.answerMemory, 0, shared.answers.readableBytes());
    }
    tls.shutdown();
    int length = tls.sunk();
    tls.detach();
    try {
      send(length);
    } catch (IOException e) {
      // The server was faster: there is nobody to say it to.
      return;
    }
  }

  private void release() {
    if (state == State.CLOSED) {
      return;
    }
    state = State.CLOSED;
    idle = false;
    shared.answers.clear();
    tls.free();
    // Closed first: the kernel then forgets the registration by itself.
    Connector.close(socket);
    registration.cancel();
    if (unsent != null) {
      unsent.release();
      unsent = null;
    }
    shared.recycle(this);
  }

  /** Sends what the TLS stack has written while it was reading. */
  private void flush() throws IOException {
    while (tls.pending() > 0) {
      int length = drain();
      count(0, length);
      send(length);
    }
  }

  private int drain() {
    tls.sinkTo(shared.out);
    int length = tls.flushToSink();
    tls.detach();
    return length;
  }

  /** Counts bytes that are about to be sent. */
  private void count(int from, int to) {
    ByteBuf bytes = shared.out.view(from, to);
    attempt.bytesOut += to - from;
    recordsOut.count(bytes);
    attempt.recordsOut = recordsOut.records() - recordsOutBefore;
    client.scan(bytes);
  }

  private void send(int length) throws IOException {
    int sent = 0;
    if (unsent == null) {
      sent = socket.sendAddress(shared.out.address, 0, length);
      if (sent == length) {
        return;
      }
      unsent = Unpooled.directBuffer(length - sent);
    }
    unsent.writeBytes(shared.out.view(sent, length));
  }

  private void resumeSending() throws IOException {
    int from = unsent.readerIndex();
    int length = unsent.readableBytes();
    int sent = socket.send(unsent.nioBuffer(from, length), 0, length);
    unsent.skipBytes(sent);
    if (unsent.isReadable()) {
      return;
    }
    unsent.release();
    unsent = null;
    if (state == State.SECURED && outgoing != null && !idle) {
      tls.sinkTo(shared.out);
      writeRequest(0);
      if (state != State.CLOSED) {
        tls.detach();
      }
    }
  }
}

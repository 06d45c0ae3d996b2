package io.pqcbench.loadgen.handshake;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A TCP server that does not do what a TLS server should. */
public final class RudeServer implements AutoCloseable {

  /** What it does with a connection that it has accepted. */
  public interface Manner {
    void treat(Socket socket) throws IOException;
  }

  /** Closes at once. */
  public static final Manner CLOSES = Socket::close;

  /** Reads the ClientHello, then resets. */
  public static final Manner RESETS =
      socket -> {
        socket.getInputStream().read(new byte[16_384]);
        socket.setSoLinger(true, 0);
        socket.close();
      };

  /** Never says anything. */
  public static final Manner SILENT =
      socket -> socket.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());

  /** Answers as a plain web server does to a ClientHello. */
  public static final Manner PLAIN_HTTP =
      socket -> {
        socket.getInputStream().read(new byte[16_384]);
        socket
            .getOutputStream()
            .write(
                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII));
        socket.close();
      };

  private final ServerSocket listener;

  public RudeServer(Manner manner) throws IOException {
    listener = new ServerSocket(0, 1000, InetAddress.getLoopbackAddress());
    Thread accepting =
        new Thread(
            () -> {
              while (!listener.isClosed()) {
                try {
                  Socket socket = listener.accept();
                  Thread treating = new Thread(() -> treat(manner, socket), "rude");
                  treating.setDaemon(true);
                  treating.start();
                } catch (IOException e) {
                  return;
                }
              }
            },
            "rude-accept");
    accepting.setDaemon(true);
    accepting.start();
  }

  private static void treat(Manner manner, Socket socket) {
    try (socket) {
      manner.treat(socket);
    } catch (IOException e) {
      // The client may be rude as well.
      return;
    }
  }

  public int port() {
    return listener.getLocalPort();
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}

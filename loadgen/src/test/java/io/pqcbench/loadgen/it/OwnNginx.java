package io.pqcbench.loadgen.it;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A real nginx with servers that one test needs, beside the one that the build started. */
final class OwnNginx implements AutoCloseable {

  private final Process process;

  private OwnNginx(Process process) {
    this.process = process;
  }

  /**
   * Starts it; skips the test where there is no nginx.
   *
   * @param by the words in front of its command
   * @param directory for its files; must be there
   * @param address and a port at which it listens then
   * @param servers the rest of its configuration, with their access logs; TLS 1.3 unless they say
   *     otherwise
   */
  static OwnNginx start(List<String> by, Path directory, String address, int port, String servers)
      throws IOException {
    Nginx nginx = Nginx.require();
    Files.writeString(
        directory.resolve("nginx.conf"),
        """
        user root;
        daemon off;
        pid "%1$s/nginx.pid";
        error_log "%1$s/error.log";
        events {}
        http {
          client_body_temp_path "%1$s/body";
          proxy_temp_path "%1$s/proxy";
          fastcgi_temp_path "%1$s/fastcgi";
          uwsgi_temp_path "%1$s/uwsgi";
          scgi_temp_path "%1$s/scgi";
          ssl_protocols TLSv1.3;
          ssl_ecdh_curve X25519MLKEM768:X25519;
          ssl_session_tickets off;
          %2$s
        }
        """
            .formatted(directory, servers));
    List<String> words = new ArrayList<>(by);
    words.addAll(
        List.of(
            // The shell ends it when this process ends, whatever way: then its input does.
            "bash",
            "-c",
            """
            "$0" -p "$1" -e "$1/error.log" -c "$1/nginx.conf" >&2 & nginx=$!
            until (exec 3<>/dev/tcp/$2/$3) 2>/dev/null; do
              kill -0 $nginx && sleep 0.1 || exit
            done
            echo ready; cat >/dev/null; kill -QUIT $nginx; wait $nginx
            """,
            nginx.program().toString(),
            directory.toString(),
            address,
            Integer.toString(port)));
    Process process = new ProcessBuilder(words).redirectError(Redirect.INHERIT).start();
    String first = process.inputReader(StandardCharsets.UTF_8).readLine();
    if (!"ready".equals(first)) {
      throw new IOException(
          "nginx did not start: " + Files.readString(directory.resolve("error.log")));
    }
    return new OwnNginx(process);
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

package io.pqcbench.loadgen.handshake;

import com.sun.jna.NativeLibrary;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import io.netty.internal.tcnative.SSLContext;
import io.pqcbench.loadgen.plan.SignatureScheme;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/** What OpenSSL can and netty-tcnative has no call for. Used before the load only. */
final class LibSsl {

  /** OpenSSL, include/openssl/ssl.h: SSL_CTX_set1_sigalgs_list. */
  private static final int SSL_CTRL_SET_SIGALGS_LIST = 98;

  private LibSsl() {}

  /**
   * Has all connections of a context offer these signature schemes.
   *
   * @param context of netty-tcnative
   * @throws SSLException when the library does not know one of them
   */
  static void offer(long context, List<SignatureScheme> schemes) throws SSLException {
    String list = schemes.stream().map(SignatureScheme::label).collect(Collectors.joining(":"));
    Path file =
        NativeTls.library()
            .orElseThrow(
                () ->
                    new SSLException(
                        "--sigalgs needs /proc/self/maps, which says where libssl is: sigalgs="
                            + list));
    long accepted =
        NativeLibrary.getInstance(file.toString())
            .getFunction("SSL_CTX_ctrl")
            .invokeLong(
                new Object[] {
                  new Pointer(SSLContext.getSslCtx(context)),
                  SSL_CTRL_SET_SIGALGS_LIST,
                  new NativeLong(0),
                  list
                });
    if (accepted != 1) {
      throw new SSLException(
          "the TLS stack "
              + NativeTls.version()
              + " does not know one of these signature schemes: sigalgs="
              + list);
    }
  }
}

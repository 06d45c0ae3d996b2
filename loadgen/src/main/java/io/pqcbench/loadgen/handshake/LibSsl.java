package io.pqcbench.loadgen.handshake;

import com.sun.jna.NativeLibrary;
import com.sun.jna.NativeLong;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.netty.internal.tcnative.SSLContext;
import io.pqcbench.loadgen.plan.SignatureScheme;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.net.ssl.SSLException;

/** What OpenSSL can and netty-tcnative has no call for. Used before the load only. */
final class LibSsl {

  /** OpenSSL, include/openssl/ssl.h: SSL_CTX_set1_sigalgs_list. */
  private static final int SSL_CTRL_SET_SIGALGS_LIST = 98;

  /** The same: SSL_get0_peer_signature_name, since 3.5. */
  private static final int SSL_CTRL_GET_PEER_SIGNATURE_NAME = 141;

  private LibSsl() {}

  /** Empty where nothing says which of the machine's libraries this process has loaded. */
  private static Optional<NativeLibrary> library() {
    return NativeTls.library().map(Path::toString).map(NativeLibrary::getInstance);
  }

  /**
   * Has all connections of a context offer these signature schemes.
   *
   * @param context of netty-tcnative
   * @throws SSLException when the library does not know one of them
   */
  static void offer(long context, List<SignatureScheme> schemes) throws SSLException {
    String list = schemes.stream().map(SignatureScheme::label).collect(Collectors.joining(":"));
    long accepted =
        library()
            .orElseThrow(
                () ->
                    new SSLException(
                        "--sigalgs needs /proc/self/maps, which says where libssl is: sigalgs="
                            + list))
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

  /**
   * Returns the scheme with which the server signed a handshake, by IANA's name; null if it is not
   * known.
   *
   * @param ssl SSL* of a connection whose handshake is complete
   */
  static String signatureScheme(long ssl) {
    PointerByReference name = new PointerByReference();
    Object[] arguments = {
      new Pointer(ssl), SSL_CTRL_GET_PEER_SIGNATURE_NAME, new NativeLong(0), name
    };
    boolean known =
        library()
            .map(library -> library.getFunction("SSL_ctrl").invokeLong(arguments))
            .filter(result -> result == 1)
            .isPresent();
    return known ? name.getValue().getString(0) : null;
  }
}

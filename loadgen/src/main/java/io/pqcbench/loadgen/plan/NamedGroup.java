package io.pqcbench.loadgen.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A key exchange group of TLS, with the names that OpenSSL and BoringSSL give it.
 *
 * <p>Code points: IANA registry "TLS Supported Groups"; hybrid sizes: draft-ietf-tls-ecdhe-mlkem,
 * section 4.
 */
public enum NamedGroup {
  X25519("X25519", 0x001D, 32, 32, "boringssl openssl jdk bc", ""),
  X25519MLKEM768("X25519MLKEM768", 0x11EC, 1216, 1120, "boringssl openssl jdk27 bc", ""),
  P256("P-256", 0x0017, 65, 65, "boringssl openssl jdk bc", "prime256v1 secp256r1"),
  P384("P-384", 0x0018, 97, 97, "boringssl openssl jdk bc", "secp384r1"),
  P521("P-521", 0x0019, 133, 133, "boringssl openssl jdk bc", "secp521r1"),
  MLKEM1024("MLKEM1024", 0x0202, 1568, 1568, "boringssl openssl bc", ""),
  /** The draft that X25519MLKEM768 replaced: offered so that an old server can be named. */
  X25519KYBER768("X25519Kyber768Draft00", 0x6399, 1216, 1120, "boringssl", ""),
  SECP256R1MLKEM768("SecP256r1MLKEM768", 0x11EB, 1249, 1153, "openssl jdk27 bc", ""),
  SECP384R1MLKEM1024("SecP384r1MLKEM1024", 0x11ED, 1665, 1665, "openssl jdk27 bc", ""),
  MLKEM512("MLKEM512", 0x0200, 800, 768, "openssl bc", ""),
  MLKEM768("MLKEM768", 0x0201, 1184, 1088, "openssl bc", ""),
  X448("X448", 0x001E, 56, 56, "openssl jdk bc", "");

  /** The JDK in which JEP 527 brought the hybrid groups. */
  private static final String JDK_27 = "jdk27";

  private final String label;
  private final int codePoint;
  private final int clientShareBytes;
  private final int serverShareBytes;

  /** The options of the stacks that offer it, separated by spaces. */
  private final String stacks;

  /** Other names, separated by spaces. */
  private final String aliases;

  NamedGroup(String label, int codePoint, int client, int server, String stacks, String aliases) {
    this.label = label;
    this.codePoint = codePoint;
    this.clientShareBytes = client;
    this.serverShareBytes = server;
    this.stacks = stacks;
    this.aliases = aliases;
  }

  /** Returns the name that BoringSSL and OpenSSL take, e.g. {@code P-256}; never null. */
  public String label() {
    return label;
  }

  /** Returns the name that the stacks in Java take, e.g. {@code secp256r1}; never null. */
  public String jsseName() {
    return switch (this) {
      case X25519 -> "x25519";
      case X448 -> "x448";
      case P256 -> "secp256r1";
      case P384 -> "secp384r1";
      case P521 -> "secp521r1";
      default -> label;
    };
  }

  /** Returns the code point on the wire, e.g. 0x11EC. */
  public int codePoint() {
    return codePoint;
  }

  /** Returns the length of the client's key share in bytes. */
  public int clientShareBytes() {
    return clientShareBytes;
  }

  /** Returns the length of the server's key share in bytes. */
  public int serverShareBytes() {
    return serverShareBytes;
  }

  /** Returns whether a client can offer the group by this TLS stack. */
  public boolean offeredBy(TlsStack stack) {
    return List.of(stacks.split(" ")).contains(stack.option())
        || (stack == TlsStack.JDK && stacks.contains(JDK_27) && Runtime.version().feature() >= 27);
  }

  /** Returns whether the group needs TLS 1.3: the post-quantum ones are not defined for TLS 1.2. */
  public boolean needsTls13() {
    return name().contains("MLKEM") || this == X25519KYBER768;
  }

  /** Returns the groups that a client can offer by a TLS stack, in the order of this enum. */
  public static List<NamedGroup> offered(TlsStack stack) {
    return Arrays.stream(values()).filter(group -> group.offeredBy(stack)).toList();
  }

  /**
   * Checks that a TLS stack can offer all of these.
   *
   * @throws IllegalArgumentException which says what it can offer, and by which stack there is more
   */
  public static void requireOffered(List<NamedGroup> groups, TlsStack stack) {
    for (NamedGroup group : groups) {
      if (!group.offeredBy(stack)) {
        List<TlsStack> others = Arrays.stream(TlsStack.values()).filter(group::offeredBy).toList();
        throw new IllegalArgumentException(
            "the TLS stack "
                + stack.label()
                + (stack == TlsStack.JDK ? " " + Runtime.version().feature() : "")
                + " cannot offer this group: group="
                + group.label
                + ", it can offer: "
                + names(offered(stack))
                + "; what can: "
                + others.stream()
                    .map(other -> "--tls-stack " + other)
                    .collect(Collectors.joining(", "))
                + (group.stacks.contains(JDK_27) && stack == TlsStack.JDK ? ", or JDK 27" : ""));
      }
    }
  }

  /**
   * Finds a group by any of its names, case-insensitively.
   *
   * @param name as OpenSSL or BoringSSL write it, or the code point as {@code 0x11ec}; not null
   */
  public static Optional<NamedGroup> find(String name) {
    String wanted = name.strip();
    if (wanted.isEmpty()) {
      return Optional.empty();
    }
    return Arrays.stream(values())
        .filter(
            group ->
                group.label.equalsIgnoreCase(wanted)
                    || Arrays.stream(group.aliases.split(" ")).anyMatch(wanted::equalsIgnoreCase)
                    || wanted.equalsIgnoreCase(
                        String.format(Locale.ROOT, "0x%04x", group.codePoint)))
        .findFirst();
  }

  /**
   * Returns the group's name for a code point, or the code point in hexadecimal for one not known
   * here.
   */
  public static String nameOf(int codePoint) {
    return Arrays.stream(values())
        .filter(group -> group.codePoint == codePoint)
        .map(NamedGroup::label)
        .findFirst()
        .orElseGet(() -> String.format(Locale.ROOT, "0x%04x", codePoint));
  }

  /**
   * Parses a list of groups, separated by commas or, as OpenSSL does, by colons.
   *
   * @throws IllegalArgumentException when a name is unknown or repeated
   */
  public static List<NamedGroup> parseList(String text) {
    List<NamedGroup> groups = Arrays.stream(text.split("[,:]", -1)).map(NamedGroup::parse).toList();
    if (groups.stream().distinct().count() < groups.size()) {
      throw new IllegalArgumentException("a group is named twice: groups=" + text);
    }
    return groups;
  }

  private static NamedGroup parse(String name) {
    return find(name)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "unknown group: group='"
                        + name.strip()
                        + "', known: "
                        + names(List.of(values()))));
  }

  private static String names(List<NamedGroup> groups) {
    return groups.stream().map(NamedGroup::label).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return label;
  }
}

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
  X25519("X25519", 0x001D, 32, 32, true, ""),
  X25519MLKEM768("X25519MLKEM768", 0x11EC, 1216, 1120, true, ""),
  P256("P-256", 0x0017, 65, 65, true, "prime256v1 secp256r1"),
  P384("P-384", 0x0018, 97, 97, true, "secp384r1"),
  P521("P-521", 0x0019, 133, 133, true, "secp521r1"),
  MLKEM1024("MLKEM1024", 0x0202, 1568, 1568, true, ""),
  /** The draft that X25519MLKEM768 replaced: offered so that an old server can be named. */
  X25519KYBER768("X25519Kyber768Draft00", 0x6399, 1216, 1120, true, ""),
  SECP256R1MLKEM768("SecP256r1MLKEM768", 0x11EB, 1249, 1153, false, ""),
  SECP384R1MLKEM1024("SecP384r1MLKEM1024", 0x11ED, 1665, 1665, false, ""),
  MLKEM512("MLKEM512", 0x0200, 800, 768, false, ""),
  MLKEM768("MLKEM768", 0x0201, 1184, 1088, false, ""),
  X448("X448", 0x001E, 56, 56, false, "");

  private final String label;
  private final int codePoint;
  private final int clientShareBytes;
  private final int serverShareBytes;
  private final boolean offered;

  /** Other names, separated by spaces. */
  private final String aliases;

  NamedGroup(String label, int codePoint, int client, int server, boolean offered, String aliases) {
    this.label = label;
    this.codePoint = codePoint;
    this.clientShareBytes = client;
    this.serverShareBytes = server;
    this.offered = offered;
    this.aliases = aliases;
  }

  /** Returns the name that BoringSSL takes and gives, e.g. {@code P-256}; never null. */
  public String label() {
    return label;
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

  /** Returns whether this client's TLS stack (BoringSSL) can offer the group. */
  public boolean offered() {
    return offered;
  }

  /** Returns whether the group needs TLS 1.3: the post-quantum ones are not defined for TLS 1.2. */
  public boolean needsTls13() {
    return name().contains("MLKEM") || this == X25519KYBER768;
  }

  /** Returns the groups that this client can offer, in the order of this enum. */
  public static List<NamedGroup> allOffered() {
    return Arrays.stream(values()).filter(NamedGroup::offered).toList();
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
   * @throws IllegalArgumentException when a name is unknown, repeated, or of a group that this
   *     client cannot offer
   */
  public static List<NamedGroup> parseList(String text) {
    List<NamedGroup> groups = Arrays.stream(text.split("[,:]", -1)).map(NamedGroup::parse).toList();
    if (groups.stream().distinct().count() < groups.size()) {
      throw new IllegalArgumentException("a group is named twice: groups=" + text);
    }
    return groups;
  }

  private static NamedGroup parse(String name) {
    NamedGroup group =
        find(name)
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        "unknown group: group='" + name.strip() + "', known: " + known()));
    if (!group.offered) {
      throw new IllegalArgumentException(
          "the TLS stack of this client (BoringSSL) cannot offer this group: group="
              + group.label
              + ", it can offer: "
              + known());
    }
    return group;
  }

  private static String known() {
    return allOffered().stream().map(NamedGroup::label).collect(Collectors.joining(", "));
  }

  @Override
  public String toString() {
    return label;
  }
}

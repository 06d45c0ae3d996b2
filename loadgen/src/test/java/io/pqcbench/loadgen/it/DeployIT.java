package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The scripts of deploy/. nginx.conf.template is what the nginx of all these tests runs on, with
 * certificates of certs.sh; build.sh compiles for minutes, and only what comes before is run here.
 */
@Tag("side-by-side")
class DeployIT {

  private static final Path DEPLOY =
      Path.of(System.getProperty("loadgen.launcher.script")).resolve("../../../deploy").normalize();
  private static final String ZEROS = "0".repeat(64);

  private static Nginx nginx;
  @TempDir private Path directory;

  @BeforeAll
  static void findNginx() throws IOException {
    nginx = Nginx.require();
  }

  /** Runs a script of deploy/ with the folder "bin" of this test before all others on the PATH. */
  private Command run(String script, String... arguments) throws IOException {
    List<String> words =
        new ArrayList<>(
            List.of(
                "env",
                "PATH=" + directory.resolve("bin") + ":" + System.getenv("PATH"),
                DEPLOY.resolve(script).toString()));
    words.addAll(List.of(arguments));
    return Command.of(words.toArray(new String[0]));
  }

  private static String port(String hostAndPort) {
    return hostAndPort.substring(hostAndPort.indexOf(':') + 1);
  }

  private Command prove(String... listeners) throws IOException {
    String ports = String.join(",", Stream.of(listeners).map(DeployIT::port).toList());
    String loadgen = Path.of("bin", "loadgen").toAbsolutePath().toString();
    String openssl = nginx.openssl().toString();
    return run("nginx/prove.sh", "--ports", ports, "--openssl", openssl, "--loadgen", loadgen);
  }

  /** Puts a program of this name before the real one. */
  private void fake(String name, String body) throws IOException {
    Path file = Files.createDirectories(directory.resolve("bin")).resolve(name);
    Files.writeString(file, "#!/bin/bash\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** One network interface, eth0, with the default route, and eth1; tc's arguments go to a file. */
  private void fakeNetwork(String rootDiscipline) throws IOException {
    fake(
        "ip",
        """
        case "$*" in
          'link show dev eth0' | 'link show dev eth1' | 'link show dev lo') ;;
          '-o link show') printf '1: lo: <UP>\\n2: eth0: <UP>\\n3: eth1@if4: <UP>\\n' ;;
          '-4 route show default') echo 'default via 10.0.0.1 dev eth0 proto dhcp metric 100' ;;
          '-6 route show default') ;;
          *) exit 1 ;;
        esac\
        """);
    fake(
        "tc",
        "if [[ $1 == qdisc && $2 == show ]]; then echo '%s'; else echo \"$*\" >>'%s'; fi"
            .formatted(rootDiscipline, directory.resolve("tc.log")));
  }

  private String tcCalls() throws IOException {
    Path log = directory.resolve("tc.log");
    return Files.exists(log) ? Files.readString(log).strip() : "";
  }

  @Test
  void shellcheckHasNoObjections() throws Exception {
    Needs.that(
        Command.of("bash", "-c", "command -v shellcheck").exitCode() == 0,
        "shellcheck (apt-get install shellcheck)");
    List<String> words = new ArrayList<>(List.of("shellcheck", "-x"));
    try (Stream<Path> files = Files.walk(DEPLOY)) {
      files.map(Path::toString).filter(name -> name.endsWith(".sh")).sorted().forEach(words::add);
    }
    assertThat(words).anyMatch(word -> word.endsWith("/build.sh"));
    Command command = Command.of(words.toArray(new String[0]));
    assertThat(command.exitCode()).as(command.out()).isZero();
  }

  @Test
  void allFiveListenersOfTheTemplateAnswerAsConfigured() throws Exception {
    Command command =
        prove(nginx.target(), nginx.tickets(), nginx.mldsa(), nginx.rsa(), nginx.chain());
    assertThat(command.exitCode()).as(command.out() + command.err()).isZero();
    assertThat(command.out())
        .contains("X25519MLKEM768, mldsa65, no session")
        .contains("X25519, rsa_pss_rsae_sha256, no session")
        .contains("ok      ML-DSA-65 with an intermediate (" + port(nginx.chain()) + "): two")
        .contains("offered its session again: Reused")
        .containsPattern("ok +RSA-2048 .*: loadgen probe, X25519MLKEM768")
        .containsPattern("ok +ML-DSA-65 .*: loadgen probe")
        .doesNotContain("FAILED");
  }

  @Test
  void theProofFailsWhenListenersAreMixedUp() throws Exception {
    Command command =
        prove(nginx.tickets(), nginx.target(), nginx.rsa(), nginx.mldsa(), nginx.mldsa());
    assertThat(command.exitCode()).isEqualTo(1);
    assertThat(command.out())
        .contains("FAILED  ML-DSA-65 (" + port(nginx.rsa()))
        .contains("FAILED  RSA-2048 (" + port(nginx.mldsa()))
        .contains("FAILED  ML-DSA-65 with an intermediate (" + port(nginx.mldsa()) + "): two")
        .contains("FAILED  full handshakes (" + port(nginx.tickets()) + "): offered its session")
        .contains("FAILED  tickets (" + port(nginx.target()) + "): offered its session");
    assertThat(command.err()).contains("failures=");
  }

  @Test
  void certificatesOfEachKindVerifyAsSelfSignedAndAsAChain() throws Exception {
    String openssl = nginx.openssl().toString();
    String out = directory.resolve("certs").toString();
    String[] arguments = {
      "--out", out, "--openssl", openssl, "--name", "bench.test", "--name", "::1"
    };
    Command command = run("nginx/certs.sh", arguments);
    assertThat(command.exitCode()).as(command.err()).isZero();

    for (String kind : List.of("p256", "rsa2048", "mldsa65")) {
      String file = out + "/" + kind;
      String chain = file + "-chain.pem";
      for (List<String> trust :
          List.of(
              List.of("-CAfile", file + ".pem", file + ".pem"),
              List.of("-CAfile", file + "-root.pem", "-untrusted", chain, chain))) {
        List<String> words = new ArrayList<>(List.of(openssl, "verify", "-purpose", "sslserver"));
        words.addAll(List.of("-verify_hostname", "bench.test"));
        words.addAll(trust);
        Command verify = Command.of(words.toArray(new String[0]));
        assertThat(verify.exitCode()).as(verify.err()).isZero();
      }
      assertThat(
              PosixFilePermissions.toString(Files.getPosixFilePermissions(Path.of(file + ".key"))))
          .isEqualTo("rw-------");
    }
    try (Stream<Path> files = Files.list(Path.of(out))) {
      assertThat(files.map(file -> file.getFileName().toString()).filter(n -> n.endsWith(".key")))
          .as("the authorities' keys are gone")
          .containsExactlyInAnyOrder(
              "p256.key",
              "p256-chain.key",
              "rsa2048.key",
              "rsa2048-chain.key",
              "mldsa65.key",
              "mldsa65-chain.key");
    }

    Path certificate = Path.of(out, "p256.pem");
    String before = Files.readString(certificate);
    assertThat(run("nginx/certs.sh", arguments).exitCode()).isZero();
    assertThat(certificate).as("kept").hasContent(before);
    Files.delete(Path.of(out, "p256.key"));
    assertThat(run("nginx/certs.sh", arguments).exitCode()).isZero();
    assertThat(Files.readString(certificate)).as("its key was gone").isNotEqualTo(before);

    before = Files.readString(certificate);
    arguments[5] = "other.test";
    assertThat(run("nginx/certs.sh", arguments).exitCode()).isZero();
    assertThat(Files.readString(certificate)).as("for another name").isNotEqualTo(before);
  }

  @Test
  void certificatesNeedAnOpenSslThatHasMlDsa() throws Exception {
    fake("openssl", "echo 'OpenSSL 3.0.0'");
    Command command = run("nginx/certs.sh", "--out", directory.resolve("certs").toString());
    assertThat(command.exitCode()).isEqualTo(1);
    assertThat(command.err()).contains("no ML-DSA-65 in openssl=openssl (OpenSSL 3.0.0)");
    assertThat(directory.resolve("certs")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--openssl 3.4.1 --openssl-sha256 " + "ZEROS | limit 3.5.0: openssl=3.4.1",
        "--openssl 3.5.99 | no SHA-256 is known for openssl-3.5.99.tar.gz",
        "--nginx latest | not a version such as 3.5.0: nginx=latest",
        "--nginx-sha256 123 | not 64 hexadecimal digits: nginx-sha256=123",
        "--nginx-tarball /no/such/file | cannot be read: nginx-tarball=/no/such/file",
        "--ports 443,444,445,446 | not five ports: ports=443,444,445,446",
        "--ports 443,444,445,446,70000 | port=70000, limit 65535",
        "--jobs 0 | not a number of compilers: jobs=0",
        "--prefix relative | not an absolute path of plain characters: prefix=relative",
        "--groups X25519; | not a list of groups: groups=X25519;",
        "--address ::1 | not an IPv4 address: address=::1",
        "--prefix | --prefix needs a value",
        "--frobnicate | unknown option: --frobnicate"
      })
  void buildRefusesWhatItCannotDo(String options, String message) throws Exception {
    Command command = run("nginx/build.sh", options.replace("ZEROS", ZEROS).split(" "));
    assertThat(command.exitCode()).isEqualTo(2);
    assertThat(command.err()).contains(message);
  }

  @Test
  void buildUnpacksNothingWhoseChecksumIsWrong() throws Exception {
    // What arrives instead of the file: no network is asked.
    fake("curl", "while [[ $1 != -o ]]; do shift; done; echo 'not the file' >\"$2\"");
    Path prefix = directory.resolve("prefix");
    Command download =
        run("nginx/build.sh", "--no-systemd", "--no-packages", "--prefix", prefix.toString());
    assertThat(download.exitCode()).as(download.err()).isEqualTo(1);
    assertThat(download.err()).contains("expected 344d0a79f1a9b08029b0744e2cc401a43f9c90acd1044d");
    assertThat(prefix.resolve("build/openssl")).doesNotExist();

    Path tarball = Files.writeString(directory.resolve("openssl.tar.gz"), "not the file either");
    Command local =
        run(
            "nginx/build.sh",
            "--no-systemd",
            "--no-packages",
            "--prefix",
            prefix.toString(),
            "--openssl-tarball",
            tarball.toString());
    assertThat(local.exitCode()).as(local.err()).isEqualTo(1);
    assertThat(local.err()).contains("SHA-256 of " + tarball + " is sha256=");
    assertThat(prefix.resolve("build/openssl")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "set eth1 --rtt 50ms                    | dev eth1 root netem limit 200000 delay 50000us",
        "set eth1 --rtt 0.5ms --loss 0.1%       | dev eth1 root netem limit 200000 delay 500us loss"
            + " 0.1%",
        "set eth1 --rtt 1.5s --half             | dev eth1 root netem limit 200000 delay 750000us",
        "set eth0 --rtt 50ms --force            | dev eth0 root netem limit 200000 delay 50000us",
        "set lo --rtt 50ms                      | dev lo root netem limit 200000 delay 25000us"
      })
  void netemSetsWhatWasAsked(String arguments, String call) throws Exception {
    fakeNetwork("qdisc mq 0: root");
    Command command = run("netem.sh", arguments.split(" "));
    assertThat(command.exitCode()).as(command.err()).isZero();
    assertThat(tcCalls()).isEqualTo("qdisc replace " + call);
    assertThat(command.err()).contains("undo: netem.sh clear");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "set eth0 --rtt 50ms                | 3 | the default route goes over interface=eth0",
        "set eth7 --rtt 50ms                | 1 | interface=eth7; there are: lo eth0 eth1",
        "set eth1                           | 2 | --rtt is missing",
        "set eth1 --rtt 50                  | 2 | not a time such as 50ms: rtt=50",
        "set eth1 --rtt 0ms                 | 2 | out of range: rtt=0ms",
        "set eth1 --rtt 11s                 | 2 | out of range: rtt=11s",
        "set eth1 --rtt 50ms --loss 0.1     | 2 | not a percentage such as 0.1%: loss=0.1",
        "set eth1 --rtt 50ms --loss 51%     | 2 | out of range: loss=51%",
        "set lo --rtt 50ms --half           | 2 | on lo both directions leave it",
        "set eth1;reboot --rtt 50ms         | 2 | not the name of an interface",
        "set                                | 2 | set needs an interface",
        "clear eth1                         | 1 | no netem on interface=eth1",
        "clear                              | 2 | clear needs one interface",
        "start eth1                         | 2 | command=start"
      })
  void netemChangesNothingWhenItRefuses(String arguments, int exitCode, String message)
      throws Exception {
    fakeNetwork("qdisc mq 0: root");
    Command command = run("netem.sh", arguments.split(" "));
    assertThat(command.exitCode()).as(command.err()).isEqualTo(exitCode);
    assertThat(command.err()).contains(message);
    assertThat(tcCalls()).isEmpty();
  }

  @Test
  void netemLeavesAQueueingDisciplineOfTheUserAlone() throws Exception {
    fakeNetwork("qdisc htb 1: root refcnt 2");
    Command command = run("netem.sh", "set", "eth1", "--rtt", "50ms");
    assertThat(command.exitCode()).isEqualTo(3);
    assertThat(command.err()).contains("qdisc=htb 1:");
    assertThat(tcCalls()).isEmpty();
  }

  @Test
  void netemClearsItsOwnAndSetsAnew() throws Exception {
    fakeNetwork("qdisc netem 8001: root refcnt 2 limit 200000 delay 50ms");
    assertThat(run("netem.sh", "set", "eth1", "--rtt", "80ms").exitCode()).isZero();
    assertThat(run("netem.sh", "clear", "eth1").exitCode()).isZero();
    assertThat(tcCalls().lines())
        .containsExactly(
            "qdisc replace dev eth1 root netem limit 200000 delay 80000us",
            "qdisc del dev eth1 root");
  }
}

package io.pqcbench.loadgen.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SpecVersion;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What can be said of terraform/ without an account and without the provider. */
@Tag("side-by-side")
class TerraformIT {

  private static final Path PROJECT = Stubs.PROJECT;
  private static final Path TERRAFORM = PROJECT.resolve("terraform");
  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  @TempDir private Path directory;

  private static List<Path> files(Path folder, String ending) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(file -> !file.toString().contains("/.terraform/"))
          .filter(file -> file.toString().endsWith(ending))
          .sorted()
          .toList();
    }
  }

  private Stubs stubs() {
    return new Stubs(directory);
  }

  // The configuration

  @Test
  void everyNameIsDeclaredAndWhatIsDeclaredIsUsed() throws Exception {
    for (Path folder : List.of(TERRAFORM, TERRAFORM.resolve("site"))) {
      Hcl module = Hcl.read(folder);
      Map<String, Boolean> declared = module.declared();
      Set<String> referenced = module.referenced();

      assertThat(declared).as("blocks of " + folder).hasSizeGreaterThan(10);
      assertThat(declared.keySet()).as(folder.toString()).containsAll(referenced);
      declared.values().removeIf(mustBeUsed -> !mustBeUsed);
      assertThat(referenced).as(folder.toString()).containsAll(declared.keySet());
    }
  }

  @Test
  void theModuleIsGivenExactlyItsVariablesAndAskedOnlyForItsOutputs() throws Exception {
    Hcl root = Hcl.read(TERRAFORM);
    Hcl site = Hcl.read(TERRAFORM.resolve("site"));
    Set<String> variables = new TreeSet<>();
    site.blocks("variable").forEach(variable -> variables.add(variable.labels().get(0)));
    Set<String> outputs = new TreeSet<>();
    site.blocks("output").forEach(output -> outputs.add(output.labels().get(0)));

    assertThat(root.blocks("module")).hasSize(2);
    for (Hcl.Block module : root.blocks("module")) {
      Set<String> given = module.attributes();
      given.removeAll(Set.of("source", "count", "providers"));
      assertThat(given).isEqualTo(variables);
    }
    Set<String> asked = new TreeSet<>();
    Pattern pattern = Pattern.compile("module\\.\\w+(?:\\[0\\])?\\.(\\w+)");
    for (Hcl.Block block : root.blocks()) {
      pattern.matcher(block.code()).results().forEach(found -> asked.add(found.group(1)));
    }
    assertThat(asked).isEqualTo(outputs);
  }

  @Test
  void aNameThatNothingDeclaresAndABracketWithoutItsEndAreFound() {
    Hcl module = new Hcl();
    module.add(
        "a.tf",
        """
        # var.commented
        variable "used" {
        }
        variable "unused" {
          validation {
            condition = var.unused != ""
          }
        }
        resource "aws_vpc" "v" {
          tags = { Name = "var.text ${var.used}-${upper("${local.gone}")} $${var.escaped}" }
        }
        """);
    assertThat(module.referenced()).containsExactly("local.gone", "var.used");
    assertThat(module.declared()).containsOnlyKeys("aws_vpc.v", "var.unused", "var.used");

    assertThatThrownBy(() -> new Hcl().add("b.tf", "locals {\n  a = [1\n}\n"))
        .hasMessageContaining("b.tf:3");
    assertThatThrownBy(() -> new Hcl().add("b.tf", "locals {\n  a = \"1\n}\n"))
        .hasMessageContaining("b.tf:2");
  }

  @Test
  void theFilesAreFormattedAsTerraformDoesIt() throws Exception {
    List<Path> files = new ArrayList<>(files(TERRAFORM, ".tf"));
    files.addAll(files(TERRAFORM, ".hcl"));
    assertThat(files).hasSizeGreaterThan(7);
    for (Path file : files) {
      assertThat(Hcl.unformatted(file.toString(), Files.readString(file))).isEmpty();
    }
    assertThat(Hcl.unformatted("a", "a = 1\nbb = 2\n")).hasSize(1);
    assertThat(Hcl.unformatted("a", "a {\n    b = 1 \n}\n")).hasSize(2);
    // The rules above are some of terraform's own; with it, all of them.
    Command terraform = Stubs.bash(Map.of(), "! command -v terraform || terraform --version");
    if (terraform.exitCode() == 0 && terraform.out().contains("Terraform v")) {
      Command fmt = Command.of("terraform", "fmt", "-check", "-recursive", TERRAFORM.toString());
      assertThat(fmt.exitCode()).as(fmt.out() + fmt.err()).isZero();
    }
  }

  // What runs on the machines

  @Test
  void theScriptsAreCleanForShellcheck() throws Exception {
    Needs.that(Stubs.bash(Map.of(), "command -v shellcheck").exitCode() == 0, "shellcheck");
    List<String> words = new ArrayList<>(List.of("shellcheck"));
    for (Path folder : List.of(TERRAFORM, PROJECT.resolve("samples/ci"))) {
      files(folder, ".sh").forEach(file -> words.add(file.toString()));
    }
    assertThat(words).hasSizeGreaterThan(5);
    Command shellcheck = Command.of(words.toArray(String[]::new));
    assertThat(shellcheck.exitCode()).as(shellcheck.out()).isZero();
  }

  /** The lines of machine.env that a machine of this role gets, with values as they may be. */
  private static Map<String, String> environment(String role) throws IOException {
    Map<String, String> environment = new TreeMap<>();
    for (String name : settings()) {
      environment.put(name, "");
    }
    environment.putAll(
        Map.of(
            "PQC_GIT_REF", "main",
            "PQC_GIT_URL", "https://git.example/pqcbench.git",
            "PQC_MACHINE", role.equals("server") ? role : "client-0",
            "PQC_MAX_HOURS", "6",
            "PQC_NAME", "pqcbench",
            "PQC_RESULTS", ":s3,provider=AWS,env_auth=true,region=us-east-1:bucket",
            "PQC_ROLE", role,
            "PQC_SERVER", "10.77.0.10",
            "PQC_SHARDS", "1",
            "PQC_SPOT", "true"));
    environment.put("PQC_EXPERIMENT", "part1");
    return environment;
  }

  private static Set<String> settings() throws IOException {
    return find(Files.readString(TERRAFORM.resolve("main.tf")), "(PQC_[A-Z0-9_]+) +=");
  }

  private static Set<String> find(String text, String pattern) {
    Set<String> found = new TreeSet<>();
    for (MatchResult result : Pattern.compile(pattern).matcher(text).results().toList()) {
      found.add(result.group(1));
    }
    return found;
  }

  private String rendered(String role) throws Exception {
    StringBuilder lines = new StringBuilder();
    environment(role).forEach((name, value) -> lines.append(name + "=" + value + "\n"));
    Path environment = Files.writeString(directory.resolve("machine.env"), lines);
    Command render =
        Command.of(
            TERRAFORM.resolve("render.sh").toString(),
            environment.toString(),
            PROJECT.resolve("samples/part1.yaml").toString());
    assertThat(render.exitCode()).as(render.err()).isZero();
    return render.out();
  }

  @Test
  void everySettingThatAScriptReadsIsSetAndEveryOneThatIsSetIsRead() throws Exception {
    Set<String> read = new TreeSet<>();
    for (String script : List.of("install.sh", "run.sh", "spot.sh")) {
      String text = Files.readString(TERRAFORM.resolve("machine").resolve(script));
      read.addAll(find(text, "\\b(PQC_[A-Z0-9_]+)\\b"));
    }
    // They are there for tests, and have defaults.
    read.removeAll(Set.of("PQC_CONFIG", "PQC_METADATA", "PQC_STATE"));
    assertThat(read).isEqualTo(settings());
  }

  @Test
  void theTemplateNamesExactlyWhatTerraformGivesIt() throws Exception {
    String main = Files.readString(TERRAFORM.resolve("main.tf"));
    String call = main.substring(main.indexOf("user-data.yaml.tftpl"), main.indexOf("module "));
    String template = Files.readString(TERRAFORM.resolve("machine/user-data.yaml.tftpl"));
    String body = template.substring(template.indexOf("write_files:"));
    assertThat(find(body, "\\$\\{(\\w+)}")).isEqualTo(find(call, "(?m)^ {6}(\\w+) +="));
    for (String file : find(call, "/(machine/[\\w.-]+)\"")) {
      assertThat(TERRAFORM.resolve(file)).exists();
    }
  }

  @Test
  void theUserDataOfBothRolesIsWhatCloudInitAcceptsAndWhatEc2Takes() throws Exception {
    Path schema = cloudInitSchema();
    for (String role : List.of("server", "client")) {
      String text = rendered(role);
      assertThat(text).startsWith("#cloud-config\n");
      JsonNode data = YAML.readTree(text);
      var errors =
          JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V4)
              .getSchema(Files.readString(schema))
              .validate(data);
      assertThat(errors).as(role).isEmpty();

      List<String> paths = new ArrayList<>();
      for (JsonNode file : data.get("write_files")) {
        paths.add(file.get("path").asText());
        byte[] content = Base64.getDecoder().decode(file.get("content").asText());
        assertThat(new String(content, StandardCharsets.UTF_8)).as(paths.toString()).isNotBlank();
        if (file.path("permissions").asText().equals("0755")) {
          Path script = Files.write(directory.resolve("script"), content);
          Command check = Command.of("bash", "-n", script.toString());
          assertThat(check.exitCode()).as(check.err()).isZero();
        }
      }
      assertThat(paths).contains(data.at("/runcmd/0/0").asText()).doesNotHaveDuplicates();

      ByteArrayOutputStream compressed = new ByteArrayOutputStream();
      try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
        gzip.write(text.getBytes(StandardCharsets.UTF_8));
      }
      assertThat(compressed.size()).as("bytes of user data").isLessThan(16_384);
    }
  }

  @Test
  void theSchemaRefusesWhatIsNoCloudConfig() throws Exception {
    var errors =
        JsonSchemaFactory.getInstance(SpecVersion.VersionFlag.V4)
            .getSchema(Files.readString(cloudInitSchema()))
            .validate(YAML.readTree("write_files: [{pathh: /etc/x}]\nruncmd: 3\n"));
    assertThat(errors).hasSizeGreaterThanOrEqualTo(2);
  }

  private static Path cloudInitSchema() {
    String inside = "usr/lib/python3/dist-packages/cloudinit/config/schemas";
    Path unpacked = PROJECT.resolve("loadgen/target/cloud-init");
    for (Path root : List.of(Path.of("/"), unpacked)) {
      Path schema = root.resolve(inside).resolve("schema-cloud-config-v1.json");
      if (Files.exists(schema)) {
        return schema;
      }
    }
    Needs.that(
        false,
        "cloud-init's schema: apt-get download cloud-init && dpkg-deb -x cloud-init_*.deb "
            + unpacked);
    throw new AssertionError("unreachable");
  }

  @Test
  void theNoticeThatASpotInstanceIsTakenAwayEndsTheExperimentAndNothingElseDoes() throws Exception {
    List<String> asked = new ArrayList<>();
    HttpServer metadata =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    String notice =
        "{\"action\": \"terminate\", \"time\": \"%s\"}"
            .formatted(Instant.now().plusSeconds(78).truncatedTo(ChronoUnit.SECONDS));
    metadata.createContext(
        "/latest/",
        exchange -> {
          String token = exchange.getRequestHeaders().getFirst("X-aws-ec2-metadata-token");
          boolean wantsToken = exchange.getRequestMethod().equals("PUT");
          int code = 200;
          if (!wantsToken) {
            // Refuses those that do not speak version 2, and has no notice the first time.
            code = !"t0k3n".equals(token) ? 401 : asked.isEmpty() ? 404 : 200;
            asked.add(code + " " + exchange.getRequestURI());
          }
          byte[] body =
              (wantsToken ? "t0k3n" : code == 200 ? notice : "").getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(code, body.length == 0 ? -1 : body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    metadata.start();
    try {
      Path trials = directory.resolve("results/experiment/trials.jsonl");
      Files.createDirectories(trials.getParent());
      Files.writeString(trials, "{}\n");
      stubs().put("systemctl", "");
      Command spot =
          Stubs.bash(
              Map.of(
                  "PATH", stubs().path(),
                  "PQC_STATE", directory.toString(),
                  "PQC_METADATA", "http://127.0.0.1:" + metadata.getAddress().getPort()),
              TERRAFORM.resolve("machine/spot.sh").toString());
      assertThat(spot.exitCode()).as(spot.err() + spot.out()).isZero();

      assertThat(asked)
          .containsExactly(
              "404 /latest/meta-data/spot/instance-action",
              "200 /latest/meta-data/spot/instance-action");
      assertThat(stubs().told().lines())
          .containsExactly(
              "systemctl is-active --quiet pqcbench-experiment",
              "systemctl stop pqcbench-experiment pqcbench-shard*");
      assertThat(spot.out()).contains("the trial cannot end in time");
      assertThat(directory.resolve("interrupted")).exists();
    } finally {
      metadata.stop(0);
    }
  }

  /** Runs what the unit runs, with a folder in the place of the bucket. */
  private Command experiment(String rclone) throws IOException {
    Path config = Files.createDirectories(directory.resolve("config"));
    Map<String, String> settings = environment("client");
    settings.put("PQC_RESULTS", directory.resolve("store").toString());
    settings.put("PQC_SERVER", "127.0.0.1");
    StringBuilder lines = new StringBuilder();
    settings.forEach((name, value) -> lines.append(name + "=" + value + "\n"));
    Files.writeString(config.resolve("machine.env"), lines);
    stubs().put("loadgen", "");
    stubs().put("rclone", rclone);
    // The port is fixed to the server's, which nobody has here.
    String script =
        Files.readString(TERRAFORM.resolve("machine/run.sh"))
            .replace("/dev/tcp/$PQC_SERVER/443", "/dev/null");
    Path run = Files.writeString(directory.resolve("run.sh"), script);
    return Stubs.bash(
        Map.of(
            "PATH", stubs().path(),
            "PQC_CONFIG", config.toString(),
            "PQC_STATE", directory.resolve("state").toString()),
        "bash " + run + " experiment");
  }

  private String begins() {
    return "loadgen experiment "
        + directory.resolve("config/experiment.yaml")
        + " --set target=127.0.0.1:443 ";
  }

  @Test
  void anExperimentBeginsWithTheServerAndGoesOnWhereAMachineBeforeItStopped() throws Exception {
    String copy =
        "[[ -d ${@: -2:1} ]] || { echo directory not found >&2; exit 3; }\n"
            + "mkdir -p \"${@: -1}\"; cp -r \"${@: -2:1}/.\" \"${@: -1}\"";
    String out = directory.resolve("state/results/part1").toString();

    Command first = experiment(copy);
    assertThat(first.exitCode()).as(first.err()).isZero();
    assertThat(first.err()).contains("nothing to go on with");
    assertThat(stubs().told()).endsWith(begins() + "--out " + out + "\n");

    // Of another experiment, which is none of this one's business.
    Path other = Files.createDirectories(directory.resolve("store/pqcbench/client-0/quick"));
    Files.writeString(other.resolve("experiment.json"), "{}");
    assertThat(experiment(copy).exitCode()).isZero();
    assertThat(stubs().told()).endsWith(begins() + "--out " + out + "\n");

    Path left = Files.createDirectories(directory.resolve("store/pqcbench/client-0/part1"));
    Files.writeString(left.resolve("experiment.json"), "{}");
    assertThat(experiment(copy).exitCode()).isZero();
    assertThat(stubs().told()).endsWith(begins() + "--resume " + out + "\n");
    assertThat(Path.of(out, "experiment.json")).exists();
  }

  @Test
  void anExperimentDoesNotBeginWhereTheBucketCannotSayWhatItHas() throws Exception {
    // A part of it has arrived.
    Command failed =
        experiment(
            "mkdir -p \"${@: -1}\"; echo '{}' >\"${@: -1}/experiment.json\"\n"
                + "echo AccessDenied >&2; exit 1");
    assertThat(failed.exitCode()).isEqualTo(4);
    assertThat(failed.err()).contains("rclone=1 AccessDenied");
    assertThat(stubs().told()).contains("rclone copy ").doesNotContain("loadgen");
    assertThat(directory.resolve("state/results/part1")).doesNotExist();
  }

  @Test
  void noCommandOfTheOutputsHasADoubleQuote() throws Exception {
    // Terraform would print a backslash before it, and what it prints is to be pasted.
    assertThat(Files.readString(TERRAFORM.resolve("outputs.tf"))).doesNotContain("\\\"");
  }

  // What is for everybody's eyes

  private static final Pattern SECRET =
      Pattern.compile(
          String.join(
              "|",
              "\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b",
              "-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\\s+[A-Za-z0-9+/=]{40}",
              "\\bgh[pousr]_[A-Za-z0-9]{36}",
              "\\bxox[abpr]-[0-9A-Za-z-]{10,}",
              "(?i:aws_secret_access_key|secret_key|password|passwd)\\s*[=:]\\s*[\"']?[A-Za-z0-9/+]{16,}",
              "://[^/\\s:@\"'$<>]+:[^/\\s@\"'$<>]+@",
              // An account id, as it stands in the name of a resource or by itself.
              "(?<![\\w.])(?!099720109477)\\d{12}(?![\\w.])"));

  private static List<String> secrets(Path top) throws IOException {
    List<String> found = new ArrayList<>();
    Files.walkFileTree(
        top,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
            boolean notOurs =
                Set.of(".git", "target", ".terraform", "bundles")
                    .contains(folder.getFileName().toString());
            return notOurs && !folder.equals(top)
                ? FileVisitResult.SKIP_SUBTREE
                : FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            // Bytes as they are: a file need not be UTF-8 to have a secret.
            String text = Files.readString(file, StandardCharsets.ISO_8859_1);
            for (MatchResult match : SECRET.matcher(text).results().toList()) {
              // Twelve digits are also times in nanoseconds; accounts are named only here.
              boolean digits = match.group().matches("\\d{12}");
              if (!digits || file.startsWith(TERRAFORM) || !file.startsWith(PROJECT)) {
                found.add(file + ": " + match.group());
              }
            }
            return FileVisitResult.CONTINUE;
          }
        });
    return found;
  }

  @Test
  void nothingInTheProjectIsASecretOrAnAccount() throws Exception {
    assertThat(secrets(PROJECT)).isEmpty();
  }

  @Test
  void theScanFindsWhatItIsFor() throws Exception {
    // Put together here, since this file is scanned too.
    List<String> planted =
        List.of(
            "AKIA" + "ABCDEFGHIJKLMNOP",
            "-----BEGIN PRIVATE" + " KEY-----\n" + "A".repeat(64),
            "ghp" + "_" + "a".repeat(36),
            "aws_secret_access_key" + " = " + "b".repeat(40),
            "https://me" + ":pass@host/",
            "arn:aws:iam::" + "123456" + "789012:role/x");
    for (String secret : planted) {
      Files.writeString(directory.resolve("planted"), "text " + secret + " text");
      assertThat(secrets(directory)).as(secret).hasSize(1);
    }
    Files.writeString(directory.resolve("planted"), "owners = [\"099720109477\"], 1733176800.123");
    assertThat(secrets(directory)).isEmpty();
  }

  /** Blocks that name the whole world, and may not. */
  private static List<String> open(Hcl module) {
    // What the machines begin themselves, and the way there.
    Set<String> outward = Set.of("aws_route.out", "aws_vpc_security_group_egress_rule.out");
    Predicate<Hcl.Block> world = block -> block.text().lines().anyMatch(TerraformIT::namesTheWorld);
    // These have rules inside, which nobody would find.
    Predicate<Hcl.Block> inline = block -> block.text().matches("(?s).*\\n\\s*ingress \\{.*");
    return module.blocks().stream()
        .filter(world.and(block -> !outward.contains(block.address())).or(inline))
        .map(Hcl.Block::address)
        .toList();
  }

  private static boolean namesTheWorld(String line) {
    return (line.contains("0.0.0.0/0") || line.contains("::/0"))
        && !line.strip().startsWith("error_message");
  }

  @Test
  void noPortIsOpenToTheWorld() throws Exception {
    Hcl site = Hcl.read(TERRAFORM.resolve("site"));
    assertThat(open(site)).isEmpty();
    assertThat(open(Hcl.read(TERRAFORM))).isEmpty();
    List<String> ports = new ArrayList<>();
    for (Hcl.Block rule : site.blocks("resource")) {
      if (rule.labels().get(0).equals("aws_vpc_security_group_ingress_rule")) {
        String from = rule.code().replaceAll("(?s).*\\n\\s*from_port\\s*= (\\S+).*", "$1");
        String source =
            find(rule.code(), "((?:cidr_ipv4|referenced_security_group_id)\\s+= \\S+)").toString();
        ports.add(from + " " + source.replaceAll("\\s+", " "));
      }
    }
    assertThat(ports)
        .containsExactlyInAnyOrder(
            "443 [referenced_security_group_id = aws_security_group.machine.id]",
            "443 [cidr_ipv4 = var.peer_cidr]",
            "22 [cidr_ipv4 = var.ssh.cidr]");
    // Without a value of the user's there is no rule for ssh at all.
    assertThat(find(site.blocks().toString(), "(count\\s+= var.ssh == null \\? 0 : 1)"))
        .isNotEmpty();

    Hcl bad = new Hcl();
    bad.add(
        "bad.tf",
        """
        resource "aws_vpc_security_group_ingress_rule" "all" {
          cidr_ipv4 = "0.0.0.0/0"
        }
        resource "aws_security_group" "inline" {
          ingress {
            from_port = 22
          }
        }
        """);
    assertThat(open(bad))
        .containsExactly("aws_vpc_security_group_ingress_rule.all", "aws_security_group.inline");
  }

  @Test
  void everyMachineHasEncryptedDisksTheSecondMetadataServiceAndAnEnd() throws Exception {
    Hcl site = Hcl.read(TERRAFORM.resolve("site"));
    Hcl.Block machine =
        site.blocks("resource").stream()
            .filter(block -> block.address().equals("aws_instance.machine"))
            .findFirst()
            .orElseThrow();
    assertThat(machine.text().replaceAll(" += ", " = "))
        .contains("http_tokens = \"required\"")
        .contains("encrypted = true")
        .contains("volume_type = \"gp3\"")
        .contains("instance_initiated_shutdown_behavior = \"terminate\"");
  }
}

package io.pqcbench.loadgen.cli;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.pqcbench.loadgen.bundle.Bundle;
import io.pqcbench.loadgen.handshake.StackFacts;
import io.pqcbench.loadgen.plan.LoadPlan;
import io.pqcbench.loadgen.plan.TlsStack;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code loadgen stacks}. */
@Command(
    name = "stacks",
    mixinStandardHelpOptions = true,
    versionProvider = Loadgen.Versions.class,
    sortOptions = false,
    usageHelpWidth = 110,
    description =
        "Says what each TLS stack can offer here, read from the ClientHellos that it makes:"
            + " versions, groups, cipher suites of TLS 1.3, signature schemes; or why it cannot be"
            + " used.")
final class StacksCommand implements Callable<Integer> {

  @Option(
      names = "--openssl-lib",
      paramLabel = "DIR",
      description = "Folder of libssl.so.3 and libcrypto.so.3. Default: the machine's")
  private Path opensslLib;

  @Option(names = "--json", description = "Print what was found as JSON")
  private boolean json;

  @Option(names = "--only", paramLabel = "STACK", hidden = true)
  private TlsStack only;

  @Override
  public Integer call() throws Exception {
    List<StackFacts> stacks = new ArrayList<>();
    for (TlsStack stack : only == null ? TlsStack.values() : new TlsStack[] {only}) {
      // A process can load one of OpenSSL and BoringSSL, which the other stacks come with.
      stacks.add(stack == TlsStack.OPENSSL && only == null ? inProcessOfItsOwn() : facts(stack));
    }
    System.out.print(json ? Bundle.toJson(stacks) + "\n" : render(stacks));
    return 0;
  }

  private StackFacts facts(TlsStack stack) {
    return StackFacts.of(
        new LoadPlan.Stack(
            stack, stack == TlsStack.OPENSSL ? opensslLib : null, List.of(), List.of()));
  }

  private StackFacts inProcessOfItsOwn() throws IOException, InterruptedException {
    List<String> words =
        ServerProcess.java(
            List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            List.of("stacks", "--json", "--only", TlsStack.OPENSSL.option()));
    if (opensslLib != null) {
      words.add("--openssl-lib=" + opensslLib);
    }
    Process process =
        new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int exitCode = process.waitFor();
    if (exitCode != 0) {
      throw new IOException(
          "the process that looks at OpenSSL ended with an error, see above: exitCode=" + exitCode);
    }
    return new ObjectMapper().readValue(answer, StackFacts[].class)[0];
  }

  private static String render(List<StackFacts> stacks) {
    StringBuilder text = new StringBuilder();
    for (StackFacts stack : stacks) {
      line(
          text,
          stack.stack(),
          stack.available() ? stack.version() : "not available: " + stack.reason());
      if (stack.available()) {
        line(text, "  versions", String.join(", ", stack.protocols()));
        line(text, "  groups", String.join(", ", stack.groups()));
        line(text, "  suites", String.join(", ", stack.cipherSuites()));
        line(text, "  schemes", String.join(", ", stack.signatureSchemes()));
      }
      stack.limits().forEach(limit -> line(text, "  limit", limit));
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format(Locale.ROOT, "%-10s %s%n", name, value));
  }
}

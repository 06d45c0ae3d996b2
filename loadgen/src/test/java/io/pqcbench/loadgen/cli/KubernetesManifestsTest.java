package io.pqcbench.loadgen.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.pqcbench.loadgen.plan.LoadPlan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The manifests of deploy/kubernetes, by the types of the API and by the command that they run. */
class KubernetesManifestsTest {

  private static final Path BASE = Path.of("..", "deploy", "kubernetes");

  /** Without the classes' catch-all for fields that they do not know. */
  private static final ObjectMapper STRICT =
      YAMLMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .annotationIntrospector(
              new JacksonAnnotationIntrospector() {
                private static final long serialVersionUID = 1;

                @Override
                public Boolean hasAnySetter(Annotated annotated) {
                  return false;
                }
              })
          .build();

  private static <T> T read(String name, Class<T> type) throws Exception {
    return STRICT.readValue(BASE.resolve(name).toFile(), type);
  }

  private static Job job() throws Exception {
    return read("job.yaml", Job.class);
  }

  private static Container container() throws Exception {
    return job().getSpec().getTemplate().getSpec().getContainers().get(0);
  }

  private static Map<String, String> settings() throws Exception {
    Properties properties = new Properties();
    try (var in = Files.newInputStream(BASE.resolve("loadgen.env"))) {
      properties.load(in);
    }
    Map<String, String> settings = new HashMap<>();
    properties.forEach((name, value) -> settings.put((String) name, (String) value));
    return settings;
  }

  @Test
  void aFieldThatTheApiDoesNotKnowIsRefused() throws Exception {
    String wrong =
        Files.readString(BASE.resolve("job.yaml")).replace("completionMode:", "completionsMode:");
    assertThatThrownBy(() -> STRICT.readValue(wrong, Job.class))
        .isInstanceOf(UnrecognizedPropertyException.class)
        .hasMessageContaining("completionsMode");
    String deep =
        Files.readString(BASE.resolve("job.yaml")).replace("runAsNonRoot:", "runAsNoRoot:");
    assertThatThrownBy(() -> STRICT.readValue(deep, Job.class)).hasMessageContaining("runAsNoRoot");
  }

  @Test
  void thePodsAreTheShardsOfOneRun() throws Exception {
    Job job = job();
    assertThat(job.getApiVersion() + " " + job.getKind()).isEqualTo("batch/v1 Job");
    assertThat(job.getSpec().getCompletionMode()).isEqualTo("Indexed");
    assertThat(job.getSpec().getParallelism()).isEqualTo(job.getSpec().getCompletions());
    assertThat(container().getEnv())
        .filteredOn(variable -> variable.getName().equals("SHARD_COUNT"))
        .extracting(EnvVar::getValue)
        .containsExactly(job.getSpec().getCompletions().toString());
    assertThat(job.getSpec().getBackoffLimit()).isZero();
    assertThat(job.getSpec().getTemplate().getSpec().getRestartPolicy()).isEqualTo("Never");
  }

  @Test
  void theirQualityOfServiceIsGuaranteedWithWholeProcessors() throws Exception {
    PodSpec pod = job().getSpec().getTemplate().getSpec();
    assertThat(pod.getContainers()).hasSize(1);
    assertThat(pod.getInitContainers()).isEmpty();
    Map<String, Quantity> requests = container().getResources().getRequests();
    assertThat(requests).containsOnlyKeys("cpu", "memory");
    assertThat(requests).isEqualTo(container().getResources().getLimits());
    assertThat(requests.get("cpu").toString()).matches("[1-9][0-9]*");
  }

  @Test
  void nothingRunsAsRootOrMayBecomeIt() throws Exception {
    PodSpec pod = job().getSpec().getTemplate().getSpec();
    assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
    assertThat(pod.getSecurityContext().getRunAsUser()).isPositive();
    assertThat(pod.getAutomountServiceAccountToken()).isFalse();
    assertThat(container().getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
    assertThat(container().getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
  }

  @Test
  void theServiceIsHeadlessAndFindsThePodsAndPrometheusTheirPort() throws Exception {
    Service service = read("service.yaml", Service.class);
    PodTemplateSpec pods = job().getSpec().getTemplate();
    assertThat(service.getSpec().getClusterIP()).isEqualTo("None");
    assertThat(pods.getMetadata().getLabels())
        .containsAllEntriesOf(service.getSpec().getSelector());
    assertThat(pods.getSpec().getSubdomain()).isEqualTo(service.getMetadata().getName());
    int port = container().getPorts().get(0).getContainerPort();
    assertThat(service.getSpec().getPorts().get(0).getPort()).isEqualTo(port);
    assertThat(pods.getMetadata().getAnnotations())
        .containsEntry("prometheus.io/scrape", "true")
        .containsEntry("prometheus.io/port", String.valueOf(port))
        .containsEntry("prometheus.io/path", "/metrics");
    assertThat(container().getArgs()).contains("--prometheus=0.0.0.0:" + port);
  }

  @Test
  void theBundlesGoToTheVolume() throws Exception {
    PersistentVolumeClaim claim = read("claim.yaml", PersistentVolumeClaim.class);
    PodSpec pod = job().getSpec().getTemplate().getSpec();
    assertThat(claim.getSpec().getAccessModes()).containsExactly("ReadWriteMany");
    assertThat(pod.getVolumes().get(0).getPersistentVolumeClaim().getClaimName())
        .isEqualTo(claim.getMetadata().getName());
    assertThat(container().getVolumeMounts().get(0).getName())
        .isEqualTo(pod.getVolumes().get(0).getName());
    assertThat(container().getArgs())
        .filteredOn(argument -> argument.startsWith("--out="))
        .singleElement()
        .asString()
        .startsWith("--out=" + container().getVolumeMounts().get(0).getMountPath() + "/")
        .contains("$(JOB_COMPLETION_INDEX)");
  }

  @Test
  void theBaseNamesAllManifestsAndTheSettingsOfTheJob() throws Exception {
    JsonNode base = STRICT.readTree(BASE.resolve("kustomization.yaml").toFile());
    List<String> resources = new ArrayList<>();
    base.get("resources").forEach(resource -> resources.add(resource.asText()));
    assertThat(resources).containsExactlyInAnyOrder("service.yaml", "claim.yaml", "job.yaml");
    assertThat(base.at("/configMapGenerator/0/envs/0").asText()).isEqualTo("loadgen.env");
    assertThat(container().getEnvFrom().get(0).getConfigMapRef().getName())
        .isEqualTo(base.at("/configMapGenerator/0/name").asText());
  }

  @Test
  void theCommandLineIsOneThatLoadgenTakes() throws Exception {
    Map<String, String> environment = settings();
    // Empty as it stands, so that a run that nobody has set up is refused.
    assertThat(environment.get("START_AT")).isEmpty();
    Instant soon = Instant.now().plusSeconds(3_600);
    environment.put("START_AT", soon.toString());
    environment.put("JOB_COMPLETION_INDEX", "1");
    for (EnvVar variable : container().getEnv()) {
      if (variable.getValue() != null) {
        environment.put(variable.getName(), variable.getValue());
      }
    }
    List<String> arguments = new ArrayList<>();
    for (String argument : container().getArgs()) {
      String expanded = argument;
      for (Map.Entry<String, String> variable : environment.entrySet()) {
        expanded = expanded.replace("$(" + variable.getKey() + ")", variable.getValue());
      }
      assertThat(expanded).doesNotContain("$(");
      // The variables of the pod, not of this process.
      arguments.add(
          expanded.equals("--shard=auto")
              ? "--shard=" + ShardOption.shard("auto", environment)
              : expanded);
    }
    assertThat(arguments.remove(0)).isEqualTo("run");

    RunCommand command = new RunCommand();
    Loadgen.configure(new CommandLine(command)).parseArgs(arguments.toArray(String[]::new));
    LoadPlan plan = command.plan();
    assertThat(plan.pace().shard()).isEqualTo(new LoadPlan.Shard(1, 2));
    assertThat(plan.pace().startAt()).isEqualTo(soon);
    assertThat(plan.target().host()).isEqualTo("server");
    assertThat(plan.pace().ownRatePerSecond()).isEqualTo(500);
  }
}

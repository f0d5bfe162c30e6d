package org.example.coordinator;

import com.github.dockerjava.api.command.InspectContainerResponse;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * The image kafka-group-coordinator: an emulator of Kafka's group coordinator, in place of a Kafka container.
 *
 * <p>A broker tells its clients the address that they connect to, and Docker chooses that port as the container starts. So the container
 * first waits for a file with its address, which is copied into it once the port is known.
 */
public class KafkaGroupCoordinatorContainer extends GenericContainer<KafkaGroupCoordinatorContainer> {
    private static final int CLIENT_PORT = 9092;
    private static final int CONTROL_PORT = 8080;
    private static final String ADDRESS_FILE = "/tmp/address";
    /** Waits for the whole file (it ends in an empty line), takes its lines as variables, and becomes the emulator. */
    private static final String START = """
            import os, time
            text = ""
            while not text.endswith("\\n\\n"):
                time.sleep(0.02)
                text = open("%1$s").read() if os.path.exists("%1$s") else ""
            os.environ.update(line.split("=", 1) for line in text.split())
            command = ["python3", "-m", "coordinator", "serve", "--from-environment", "--allow-remote"]
            os.execvp(command[0], command)
            """.formatted(ADDRESS_FILE);

    private final String controlToken = UUID.randomUUID().toString();
    private final Map<String, Integer> topics = new TreeMap<>();
    private final Map<String, String> users = new TreeMap<>();

    public KafkaGroupCoordinatorContainer(String image) {
        this(DockerImageName.parse(image));
    }

    public KafkaGroupCoordinatorContainer(DockerImageName image) {
        super(image);
        withExposedPorts(CLIENT_PORT, CONTROL_PORT);
        withEnv("COORDINATOR_CONTROL_TOKEN", controlToken);
        withCreateContainerCmdModifier(create -> create.withEntrypoint("python3", "-c", START));
        waitingFor(Wait.forLogMessage(".*ready: .*\\n", 1).withStartupTimeout(Duration.ofMinutes(1)));
    }

    /** A topic that is there from the start. */
    public KafkaGroupCoordinatorContainer withTopic(String name, int partitions) {
        topics.put(name, partitions);
        return this;
    }

    /** A broker configuration by Kafka's name, such as group.max.size. */
    public KafkaGroupCoordinatorContainer withConfig(String name, String value) {
        return withEnv(variable(name), value);
    }

    /** A user who logs in by PLAIN, without TLS; with one, nobody is served without logging in. */
    public KafkaGroupCoordinatorContainer withUser(String name, String password) {
        users.put(name, password);
        return this;
    }

    /** What clients have as bootstrap.servers, on the machine of the tests. */
    public String getBootstrapServers() {
        return getHost() + ":" + getMappedPort(CLIENT_PORT);
    }

    /** The address of the control port, http://host:port. */
    public String getControlUrl() {
        return "http://" + getHost() + ":" + getMappedPort(CONTROL_PORT);
    }

    /** The token that the control port asks for: {@code Authorization: Bearer TOKEN}. */
    public String getControlToken() {
        return controlToken;
    }

    @Override
    protected void configure() {
        withEnv("KAFKA_LISTENERS", protocol() + "://0.0.0.0:" + CLIENT_PORT);
        if (!topics.isEmpty()) {
            withEnv("COORDINATOR_TOPICS", topics.entrySet().stream()
                    .map(topic -> topic.getKey() + ":" + topic.getValue())
                    .collect(Collectors.joining(",")));
        }
        if (!users.isEmpty()) {
            withConfig("listener.name.sasl_plaintext.plain.sasl.jaas.config", users.entrySet().stream()
                    .map(user -> " user_" + user.getKey() + "=" + quoted(user.getValue()))
                    .collect(Collectors.joining("", "org.apache.kafka.common.security.plain.PlainLoginModule required", ";")));
        }
    }

    @Override
    protected void containerIsStarting(InspectContainerResponse container, boolean reused) {
        if (!reused) {
            copyFileToContainer(Transferable.of("KAFKA_ADVERTISED_LISTENERS=%s://%s\nCOORDINATOR_CONTROL_ADVERTISE=%s\n\n"
                    .formatted(protocol(), getBootstrapServers(), getHost())), ADDRESS_FILE);
        }
    }

    private String protocol() {
        return users.isEmpty() ? "PLAINTEXT" : "SASL_PLAINTEXT";
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** The variable of a broker configuration, as the image reads it: num.partitions is KAFKA_NUM_PARTITIONS. */
    private static String variable(String name) {
        return "KAFKA_" + name.replace("_", "__").replace("-", "___").replace(".", "_").toUpperCase(Locale.ROOT);
    }
}

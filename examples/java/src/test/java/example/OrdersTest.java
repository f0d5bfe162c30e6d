package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = "COORDINATOR_CONTROL", matches = "http.*")
class OrdersTest {
    private final Control kafka = new Control(System.getenv("COORDINATOR_CONTROL"), System.getenv("COORDINATOR_CONTROL_TOKEN"));

    /** The consumer application under test. */
    private static final class Application implements AutoCloseable {
        final List<String> processed = new CopyOnWriteArrayList<>();
        private final KafkaConsumer<String, String> consumer;
        private final Thread thread = new Thread(this::run);

        Application(String servers) {
            consumer = new KafkaConsumer<>(Map.of(
                    "bootstrap.servers", servers, "group.id", "billing", "auto.offset.reset", "earliest", "enable.auto.commit", false,
                    "heartbeat.interval.ms", 100, "fetch.max.wait.ms", 100), new StringDeserializer(), new StringDeserializer());
            thread.start();
        }

        private void run() {
            try (consumer) {
                consumer.subscribe(List.of("orders"));
                while (true) {
                    var records = consumer.poll(Duration.ofSeconds(1));
                    records.forEach(record -> processed.add(record.value()));
                    if (!records.isEmpty()) {
                        consumer.commitSync();
                    }
                }
            } catch (WakeupException closing) {
                // close() asked for it
            }
        }

        @Override
        public void close() throws InterruptedException {
            consumer.wakeup();
            thread.join();
        }
    }

    @BeforeEach
    void emptyBroker() throws Exception {
        kafka.post("/reset", "{}");
        kafka.post("/topics", "{\"name\": \"orders\", \"partitions\": 4}");
    }

    @Test
    void handsOverCleanly() throws Exception {
        kafka.post("/topics/orders/records", "{\"values\": [\"coffee\", \"tea\"], \"partition\": 0}");
        try (var application = new Application(kafka.bootstrapServers())) {
            kafka.post("/groups/billing/wait", """
                    {"state": "Stable", "members": 1, "assigned": "all", "committed": {"orders-0": 2}}""");
            // A simulated member: a rebalance without a second consumer.
            var peer = kafka.post("/peers", """
                    {"group": "billing", "topics": ["orders"], "config": {"heartbeat.interval.ms": 100}}""").get("peer_id");
            kafka.post("/groups/billing/wait", "{\"state\": \"Stable\", \"members\": 2, \"assigned\": \"all\"}");
            kafka.post("/peers/" + peer + "/stop", "{}");
            kafka.post("/groups/billing/wait", "{\"state\": \"Stable\", \"members\": 1, \"assigned\": \"all\"}");
            var verdict = kafka.post("/groups/billing/verify", """
                    {"checks": [{"check": "single_owner"}, {"check": "no_stale_commit"}, {"check": "rebalances", "at_least": 3}]}""");
            assertTrue(verdict.get("holds").asBoolean(), verdict::toPrettyString);
            assertEquals(List.of("coffee", "tea"), application.processed);
        }
    }

    @Test
    void commitsAgainWhileTheCoordinatorLoads() throws Exception {
        var fault = kafka.post("/faults", """
                {"action": "fail", "api": "OffsetCommit", "error": "COORDINATOR_LOAD_IN_PROGRESS", "group": "billing", "times": 1}""");
        try (var application = new Application(kafka.bootstrapServers())) {
            kafka.post("/groups/billing/wait", "{\"state\": \"Stable\", \"members\": 1}");
            kafka.post("/topics/orders/records", "{\"values\": [\"coffee\"], \"partition\": 0}");
            kafka.post("/groups/billing/wait", "{\"committed\": {\"orders-0\": 1}}");
            assertEquals(1, kafka.get("/faults/" + fault.get("fault_id")).get("hits").asInt());
            assertEquals(List.of("coffee"), application.processed);
        }
    }

    @Test
    void isToldWhatIsWrong() {
        var refused = assertThrows(AssertionError.class, () -> kafka.post("/faults", "{\"action\": \"hold\", \"api\": \"JoinGrup\"}"));
        assertTrue(refused.getMessage().contains("did you mean JoinGroup"), refused.getMessage());
    }
}

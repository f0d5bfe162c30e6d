package org.example.coordinator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.testcontainers.DockerClientFactory;

class KafkaGroupCoordinatorContainerTest {
    private static final String IMAGE = System.getenv().getOrDefault("COORDINATOR_IMAGE", "kafka-group-coordinator:0.1.0");

    @Test
    void aGroupReadsWhatWasWrittenAndTheControlPortKnowsIt() throws Exception {
        assumeTrue(DockerClientFactory.instance().isDockerAvailable(), "no Docker here");
        try (var kafka = new KafkaGroupCoordinatorContainer(IMAGE).withTopic("orders", 4).withUser("billing", "secret \"quoted\"")) {
            kafka.start();
            Map<String, Object> clients = Map.of(
                    "bootstrap.servers", kafka.getBootstrapServers(),
                    "security.protocol", "SASL_PLAINTEXT",
                    "sasl.mechanism", "PLAIN",
                    "sasl.jaas.config", "org.apache.kafka.common.security.plain.PlainLoginModule required "
                            + "username=\"billing\" password=\"secret \\\"quoted\\\"\";");
            try (var producer = new KafkaProducer<>(clients, new StringSerializer(), new StringSerializer())) {
                assertEquals(4, producer.partitionsFor("orders").size());
                producer.send(new ProducerRecord<>("orders", "coffee")).get();
            }
            Map<String, Object> settings = new HashMap<>(clients);
            settings.putAll(Map.of("group.id", "billing", "auto.offset.reset", "earliest"));
            try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
                consumer.subscribe(List.of("orders"));
                List<String> seen = new ArrayList<>();
                while (seen.isEmpty()) {
                    consumer.poll(Duration.ofSeconds(1)).forEach(record -> seen.add(record.value()));
                }
                assertEquals(List.of("coffee"), seen);
                var ask = HttpRequest.newBuilder(URI.create(kafka.getControlUrl() + "/groups/billing"))
                        .header("Authorization", "Bearer " + kafka.getControlToken())
                        .build();
                assertEquals(200, HttpClient.newHttpClient().send(ask, BodyHandlers.ofString()).statusCode());
            }
        }
    }
}

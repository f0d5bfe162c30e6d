import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * A word count in two instances, one of which is closed midway: Words ADDRESS GROUP_PROTOCOL PROCESSING_GUARANTEE.
 * With the protocol "streams" one instance is started, and what it fails with is printed; with "share" two share consumers, one after
 * the other, and what each was given.
 */
public class Words {
    private static final long LIMIT_S = 240;
    private static String address;

    public static void main(String[] given) throws Exception {
        address = given[0];
        String name = "words-" + given[1] + "-" + given[2];
        if (given[1].equals("share")) {
            share(name);
            return;
        }
        topics(name);
        if (given[1].equals("streams")) {
            fails(name, given[1], given[2]);
        } else {
            count(name, given[1], given[2]);
        }
    }

    private static void topics(String name) throws Exception {
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", address))) {
            admin.createTopics(List.of(new NewTopic(name + "-in", 4, (short) 1), new NewTopic(name + "-out", 2, (short) 1))).all().get();
        }
    }

    private static KafkaStreams instance(String name, String protocol, String guarantee, int number) throws Exception {
        Properties properties = new Properties();
        properties.put("application.id", name);
        properties.put("client.id", name + "-" + number);
        properties.put("bootstrap.servers", address);
        properties.put("group.protocol", protocol);
        properties.put("processing.guarantee", guarantee);
        properties.put("commit.interval.ms", 100);
        properties.put("num.stream.threads", 1);
        properties.put("replication.factor", 1);
        properties.put("default.key.serde", Serdes.StringSerde.class.getName());
        properties.put("default.value.serde", Serdes.StringSerde.class.getName());
        properties.put("consumer.auto.offset.reset", "earliest");
        properties.put("state.dir", Files.createTempDirectory("streams").toString());
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(name + "-in").flatMapValues(line -> Arrays.asList(line.split(" "))).groupBy((key, word) -> word)
            .count(Materialized.as(Stores.inMemoryKeyValueStore("store"))).toStream().mapValues(String::valueOf).to(name + "-out");
        return new KafkaStreams(builder.build(), properties);
    }

    private static void fails(String name, String protocol, String guarantee) throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        KafkaStreams streams = instance(name, protocol, guarantee, 0);
        streams.setUncaughtExceptionHandler(failure -> {
            Throwable cause = failure;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            if (ended.getCount() > 0) {
                System.out.println(cause);
            }
            ended.countDown();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        if (!ended.await(LIMIT_S, TimeUnit.SECONDS)) {
            System.out.println("no failure");
        }
        streams.close(Duration.ofSeconds(LIMIT_S));
    }

    private static void share(String name) throws Exception {
        topics(name);
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", address))) {
            AlterConfigOp earliest = new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET);
            admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, name), List.of(earliest))).all().get();
        }
        taken(name, "a", "b", "c");
        taken(name, "d");
    }

    /** What a share consumer gets of values that were just sent, and accepts. */
    private static void taken(String name, String... values) throws Exception {
        Map<String, Object> writes = Map.of("bootstrap.servers", address, "key.serializer", StringSerializer.class.getName(),
            "value.serializer", StringSerializer.class.getName());
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(writes)) {
            for (String value : values) {
                producer.send(new ProducerRecord<>(name + "-in", value, value)).get();
            }
        }
        Map<String, Object> reads = Map.of("bootstrap.servers", address, "group.id", name,
            "key.deserializer", StringDeserializer.class.getName(), "value.deserializer", StringDeserializer.class.getName());
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
        List<String> got = new ArrayList<>();
        try (KafkaShareConsumer<String, String> consumer = new KafkaShareConsumer<>(reads)) {
            consumer.subscribe(List.of(name + "-in"));
            while (got.size() < values.length && System.nanoTime() < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> got.add(record.value() + " " + record.deliveryCount().orElse((short) 0)));
            }
            consumer.commitSync();
        }
        System.out.println(new TreeSet<>(got));
    }

    private static void count(String name, String protocol, String guarantee) throws Exception {
        List<KafkaStreams> instances = new ArrayList<>();
        CountDownLatch running = new CountDownLatch(2);
        for (int number = 0; number < 2; number++) {
            KafkaStreams streams = instance(name, protocol, guarantee, number);
            streams.setStateListener((now, before) -> {
                if (now == KafkaStreams.State.RUNNING) {
                    running.countDown();
                }
            });
            streams.setUncaughtExceptionHandler(failure -> {
                System.out.println("failed: " + failure);
                return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            instances.add(streams);
        }
        running.await(LIMIT_S, TimeUnit.SECONDS);
        Map<String, String> seen = new TreeMap<>();
        Map<String, Object> reads = Map.of("bootstrap.servers", address, "group.id", name + "-reader", "auto.offset.reset", "earliest",
            "isolation.level", "read_committed", "key.deserializer", StringDeserializer.class.getName(),
            "value.deserializer", StringDeserializer.class.getName());
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(reads)) {
            consumer.subscribe(List.of(name + "-out"));
            write(name, "red green");
            read(consumer, seen, counts -> "100".equals(counts.get("red")) && "100".equals(counts.get("green")));
            System.out.println(seen);
            instances.get(0).close(Duration.ofSeconds(LIMIT_S));
            write(name, "red");
            read(consumer, seen, counts -> "200".equals(counts.get("red")));
            System.out.println(seen);
        }
        try (Admin admin = Admin.create(Map.<String, Object>of("bootstrap.servers", address))) {
            TreeSet<String> topics = new TreeSet<>(admin.listTopics().names().get());
            topics.removeIf(topic -> !topic.startsWith(name));
            System.out.println(topics);
        }
        instances.get(1).close(Duration.ofSeconds(LIMIT_S));
    }

    private static void write(String name, String line) {
        Map<String, Object> properties = Map.of("bootstrap.servers", address, "key.serializer", StringSerializer.class.getName(),
            "value.serializer", StringSerializer.class.getName());
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(properties)) {
            for (int number = 0; number < 100; number++) {
                producer.send(new ProducerRecord<>(name + "-in", number % 4, "key", line));
            }
        }
    }

    private static void read(KafkaConsumer<String, String> consumer, Map<String, String> seen, Predicate<Map<String, String>> done) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_S);
        while (!done.test(seen) && System.nanoTime() < end) {
            consumer.poll(Duration.ofMillis(200)).forEach(record -> seen.put(record.key(), record.value()));
        }
    }
}

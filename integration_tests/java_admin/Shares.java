import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicIdPartition;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * What Java's share consumers are given and told, with implicit and with explicit acknowledgement; argument: a broker's address.
 *
 * <p>Names are new in every run. A line is printed once what it is about is determined, so two brokers that do the same lead to the
 * same lines.
 */
public final class Shares {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final String run = UUID.randomUUID().toString().substring(0, 8);
    private final String address;
    private final Admin admin;
    private final KafkaProducer<String, String> producer;
    private String topic;
    private String group;

    private Shares(String address) {
        this.address = address;
        this.admin = Admin.create(Map.of("bootstrap.servers", address));
        this.producer = new KafkaProducer<>(Map.of("bootstrap.servers", address), new StringSerializer(), new StringSerializer());
    }

    public static void main(String[] arguments) throws Exception {
        Shares shares = new Shares(arguments[0]);
        shares.implicit();
        shares.explicit();
        shares.renewed();
        shares.limited();
        shares.lost();
        Runtime.getRuntime().halt(0);
    }

    // -- the stories

    /** The next poll and commitSync accept what was polled before; close gives it back. */
    private void implicit() throws Exception {
        begin("implicit", Map.of());
        produce("a", "b", "c");
        KafkaShareConsumer<String, String> first = consumer(Map.of());
        say("polled", polled(first, 3));
        say("acquisitionLockTimeoutMs", first.acquisitionLockTimeoutMs());
        say("commitSync", first.commitSync());
        say("commitSync of nothing", first.commitSync());
        call("acknowledge", () -> {
            first.acknowledge(topic, 0, 0, AcknowledgeType.ACCEPT);
            return "taken";
        });
        first.close();
        produce("d", "e");
        // A consumer of its own: a fetch of the first may still wait at the broker, and would bring the one without the other.
        KafkaShareConsumer<String, String> second = consumer(Map.of());
        say("polled", polled(second, 2));
        second.close();
        lag(2);
        produce("f");
        KafkaShareConsumer<String, String> third = consumer(Map.of());
        say("polled by another", polled(third, 1));
        third.close();
        lag(3);
        describe();
    }

    /** Each record gets a word: accepted, released, rejected; none may be left out. */
    private void explicit() throws Exception {
        begin("explicit", Map.of());
        produce("a", "b", "c", "d");
        KafkaShareConsumer<String, String> consumer = consumer(Map.of("share.acknowledgement.mode", "explicit"));
        Map<String, String> told = new TreeMap<>();
        consumer.setAcknowledgementCommitCallback((offsets, error) -> offsets.forEach(
                (partition, of) -> told.merge(partition.partition() + " " + new TreeSet<>(of), error == null ? "taken" : nameOf(error),
                        (one, other) -> one + ", " + other)));
        List<ConsumerRecord<String, String>> records = taken(consumer, 4);
        say("polled", shown(records));
        call("poll with records in hand", () -> consumer.poll(Duration.ofMillis(10)).count());
        consumer.acknowledge(records.get(0));
        consumer.acknowledge(records.get(1), AcknowledgeType.RELEASE);
        consumer.acknowledge(records.get(2), AcknowledgeType.REJECT);
        consumer.acknowledge(records.get(3), AcknowledgeType.RELEASE);
        call("acknowledge by offset", () -> {
            consumer.acknowledge(topic, 0, 3, AcknowledgeType.RELEASE);
            return "taken";
        });
        call("acknowledge again", () -> {
            consumer.acknowledge(records.get(0), AcknowledgeType.REJECT);
            return "taken";
        });
        call("acknowledge what was never polled", () -> {
            consumer.acknowledge(topic, 0, 99, AcknowledgeType.ACCEPT);
            return "taken";
        });
        say("commitSync", consumer.commitSync());
        List<ConsumerRecord<String, String>> again = taken(consumer, 2);
        say("polled again", shown(again));
        for (ConsumerRecord<String, String> record : again) {
            consumer.acknowledge(record);
        }
        consumer.commitSync();
        consumer.poll(Duration.ofMillis(10));
        say("callback", told);
        consumer.close();
        lag(0);
    }

    /** A lock is renewed, and the record is still in hand. */
    private void renewed() throws Exception {
        begin("renewed", Map.of());
        produce("a", "b");
        KafkaShareConsumer<String, String> consumer = consumer(Map.of("share.acknowledgement.mode", "explicit"));
        List<ConsumerRecord<String, String>> records = taken(consumer, 2);
        consumer.acknowledge(records.get(0), AcknowledgeType.RENEW);
        consumer.acknowledge(records.get(1));
        say("commitSync", consumer.commitSync());
        List<ConsumerRecord<String, String>> kept = taken(consumer, 1);
        say("polled again", shown(kept));
        kept.forEach(consumer::acknowledge);
        say("commitSync of the renewed", consumer.commitSync());
        consumer.close();
        lag(0);
    }

    /** No more than max.poll.records at a time with record_limit; a record is delivered so often and no more. */
    private void limited() throws Exception {
        begin("limited", Map.of("share.delivery.count.limit", "2"));
        produce("a", "b", "c");
        KafkaShareConsumer<String, String> consumer = consumer(
                Map.of("share.acknowledgement.mode", "explicit", "max.poll.records", "2", "share.acquire.mode", "record_limit"));
        for (int round = 0; round < 2; round++) {
            List<ConsumerRecord<String, String>> records = taken(consumer, 2);
            say("polled", shown(records));
            records.forEach(record -> consumer.acknowledge(record, AcknowledgeType.RELEASE));
            consumer.commitSync();
        }
        List<ConsumerRecord<String, String>> last = taken(consumer, 1);
        say("polled", shown(last));
        last.forEach(consumer::acknowledge);
        consumer.close();
        lag(0);
    }

    /** Whoever closes with records in hand that it said nothing of gives them back. */
    private void lost() throws Exception {
        begin("lost", Map.of());
        produce("a", "b");
        KafkaShareConsumer<String, String> first = consumer(Map.of("share.acknowledgement.mode", "explicit"));
        List<ConsumerRecord<String, String>> records = taken(first, 2);
        first.acknowledge(records.get(0));
        first.close();
        KafkaShareConsumer<String, String> second = consumer(Map.of());
        say("polled by another", polled(second, 1));
        second.unsubscribe();
        call("poll without a subscription", () -> second.poll(Duration.ofMillis(10)).count());
        second.close();
        call("poll once closed", () -> second.poll(Duration.ofMillis(10)).count());
        lag(0);
    }

    // -- what they are made of

    private void begin(String story, Map<String, String> settings) throws Exception {
        topic = "jobs-" + story + "-" + run;
        group = "workers-" + story + "-" + run;
        System.out.println("# " + story);
        admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get();
        Map<String, String> all = new TreeMap<>(settings);
        all.put("share.auto.offset.reset", "earliest");
        ConfigResource of = new ConfigResource(ConfigResource.Type.GROUP, group);
        List<AlterConfigOp> changes = new ArrayList<>();
        all.forEach((name, value) -> changes.add(new AlterConfigOp(new ConfigEntry(name, value), OpType.SET)));
        admin.incrementalAlterConfigs(Map.of(of, changes)).all().get();
        until(() -> admin.describeConfigs(List.of(of)).all().get().get(of).entries().stream()
                .filter(entry -> entry.source() == ConfigEntry.ConfigSource.DYNAMIC_GROUP_CONFIG).count() == all.size());
    }

    private KafkaShareConsumer<String, String> consumer(Map<String, String> settings) {
        Properties all = new Properties();
        all.putAll(settings);
        all.put("bootstrap.servers", address);
        all.put("group.id", group);
        KafkaShareConsumer<String, String> made = new KafkaShareConsumer<>(all, new StringDeserializer(), new StringDeserializer());
        made.subscribe(Set.of(topic));
        return made;
    }

    /** One after the other, so that each is a batch of its own. */
    private void produce(String... values) throws Exception {
        for (String value : values) {
            producer.send(new ProducerRecord<>(topic, 0, null, value)).get();
        }
    }

    /** So many records, however many polls that takes; each poll accepts what came before. */
    private String polled(KafkaShareConsumer<String, String> consumer, int count) throws Exception {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        until(() -> {
            consumer.poll(Duration.ofMillis(500)).forEach(found::add);
            return found.size() >= count;
        });
        return shown(found);
    }

    /** The records of the first poll that has any; they must be so many. */
    private List<ConsumerRecord<String, String>> taken(KafkaShareConsumer<String, String> consumer, int count) throws Exception {
        List<ConsumerRecord<String, String>> found = new ArrayList<>();
        until(() -> {
            consumer.poll(Duration.ofMillis(500)).forEach(found::add);
            return !found.isEmpty();
        });
        if (found.size() != count) {
            System.out.println("polled " + found.size() + " records where " + count + " were expected");
        }
        return found;
    }

    private static String shown(List<ConsumerRecord<String, String>> records) {
        List<String> found = new ArrayList<>();
        records.forEach(record -> found.add(record.offset() + " " + record.value() + " x" + record.deliveryCount().orElse((short) 0)));
        return found.toString();
    }

    /** The group's lag, once it has come so far. */
    private void lag(long wanted) throws Exception {
        TopicPartition at = new TopicPartition(topic, 0);
        until(() -> {
            var all = admin.listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(group).get();
            return all.containsKey(at) && all.get(at).lag().equals(Optional.of(wanted));
        });
        say("lag", wanted);
    }

    private void describe() throws Exception {
        var found = admin.describeShareGroups(List.of(group)).all().get(30, TimeUnit.SECONDS).get(group);
        say("described", found.groupState() + ", members " + found.members().size());
    }

    private void say(String label, Object what) {
        System.out.println(label + " -> " + plain(what));
        System.out.flush();
    }

    private void call(String label, Callable<Object> call) {
        Object said;
        try {
            said = call.call();
        } catch (Throwable thrown) {
            said = nameOf(thrown) + ": " + thrown.getMessage();
        }
        say(label, said);
    }

    private String plain(Object what) {
        if (what instanceof Map) {
            Map<String, String> sorted = new TreeMap<>();
            ((Map<?, ?>) what).forEach((key, value) -> sorted.put(plain(key), plain(value)));
            return sorted.toString();
        }
        if (what instanceof TopicIdPartition) {
            return plain(((TopicIdPartition) what).topicPartition());
        }
        if (what instanceof Optional && ((Optional<?>) what).orElse(null) instanceof KafkaException) {
            return nameOf((Throwable) ((Optional<?>) what).get());
        }
        return String.valueOf(what).replace("-" + run, "");
    }

    private static String nameOf(Throwable thrown) {
        return thrown.getClass().getSimpleName();
    }

    /** Brokers learn of a change a moment after it is acknowledged. */
    private static void until(Callable<Boolean> seen) throws Exception {
        for (long end = System.nanoTime() + LONG.toNanos(); !seen.call(); Thread.sleep(20)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("a change is not seen after " + LONG);
            }
        }
    }
}

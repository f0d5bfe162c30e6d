import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** The player of Java's KafkaConsumer, in a group of the classic or the consumer protocol. */
final class Player implements Stage.Member {
    private final String address;
    private final String group;
    private final String topic;
    private final KafkaConsumer<String, String> consumer;
    private KafkaProducer<String, String> producer;

    private Player(String[] wanted) {
        address = wanted[0];
        group = wanted[1];
        topic = wanted[2];
        Properties settings = Stage.settings(wanted);
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("isolation.level", "read_committed");
        if (wanted[3].equals("consumer")) {
            settings.put("group.protocol", "consumer");
        } else {
            settings.put("heartbeat.interval.ms", "200");
            settings.put("session.timeout.ms", "300000");
        }
        if (wanted.length > 4) {
            settings.put("group.instance.id", wanted[4]);
        }
        consumer = new KafkaConsumer<>(settings);
        consumer.subscribe(List.of(topic));
    }

    public static void main(String[] wanted) throws Exception {
        Stage.play(new Player(wanted));
    }

    @Override
    public Iterable<ConsumerRecord<String, String>> poll() {
        return consumer.poll(Duration.ofMillis(100));
    }

    @Override
    public void commit() {
        consumer.commitSync();
    }

    @Override
    public void release() {
        throw new UnsupportedOperationException();
    }

    @Override
    public void transact(String out, List<ConsumerRecord<String, String>> read, boolean commits) {
        if (producer == null) {
            Properties settings = new Properties();
            settings.put("bootstrap.servers", address);
            settings.put("transactional.id", group);
            settings.put("key.serializer", "org.apache.kafka.common.serialization.StringSerializer");
            settings.put("value.serializer", "org.apache.kafka.common.serialization.StringSerializer");
            producer = new KafkaProducer<>(settings);
            producer.initTransactions();
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        producer.beginTransaction();
        for (ConsumerRecord<String, String> record : read) {
            producer.send(new ProducerRecord<>(out, record.value()));
            offsets.merge(
                    new TopicPartition(topic, record.partition()),
                    new OffsetAndMetadata(record.offset() + 1),
                    (one, other) -> one.offset() > other.offset() ? one : other);
        }
        producer.flush(); // else an abort has nothing to abort
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        if (commits) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    @Override
    public void close() {
        consumer.close();
    }
}

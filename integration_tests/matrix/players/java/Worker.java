import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;

/** The player of Java's KafkaShareConsumer, which acknowledges each record by itself. */
final class Worker implements Stage.Member {
    private final KafkaShareConsumer<String, String> consumer;
    private final List<ConsumerRecord<String, String>> held = new ArrayList<>();

    private Worker(String[] wanted) {
        Properties settings = Stage.settings(wanted);
        settings.put("share.acknowledgement.mode", "explicit");
        consumer = new KafkaShareConsumer<>(settings);
        consumer.subscribe(List.of(wanted[2]));
    }

    public static void main(String[] wanted) throws Exception {
        Stage.play(new Worker(wanted));
    }

    @Override
    public Iterable<ConsumerRecord<String, String>> poll() {
        if (!held.isEmpty()) {
            rest();
            return List.of();
        }
        consumer.poll(Duration.ofMillis(100)).forEach(held::add);
        return List.copyOf(held);
    }

    private static void rest() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void acknowledge(AcknowledgeType type) {
        held.forEach(record -> consumer.acknowledge(record, type));
        held.clear();
        consumer.commitSync();
    }

    @Override
    public void commit() {
        acknowledge(AcknowledgeType.ACCEPT);
    }

    @Override
    public void release() {
        acknowledge(AcknowledgeType.RELEASE);
    }

    @Override
    public void transact(String out, List<ConsumerRecord<String, String>> read, boolean commits) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        consumer.close();
    }
}

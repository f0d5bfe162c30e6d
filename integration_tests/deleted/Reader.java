import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;

/** The reader of Java's KafkaConsumer; __init__.py has its words. */
final class Reader {
    private Reader() {}

    public static void main(String[] arguments) {
        for (int at = 1; at < arguments.length; at++) {
            String[] words = arguments[at].split("\\|");
            String found = words[0].equals("read") ? read(arguments[0], words) : times(arguments[0], words);
            System.out.println(words[1] + ": " + found);
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static Properties settings(String address) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("fetch.max.wait.ms", "100");
        settings.put("enable.auto.commit", "false");
        settings.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        settings.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        return settings;
    }

    private static String read(String address, String[] words) {
        TopicPartition partition = new TopicPartition(words[2], 0);
        long until = Long.parseLong(words[6]);
        Properties settings = settings(address);
        settings.put("group.id", words[3]);
        settings.put("auto.offset.reset", words[4]);
        settings.put("isolation.level", words[5]);
        StringBuilder read = new StringBuilder("read");
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.subscribe(List.of(words[2]));
            while (!consumer.assignment().contains(partition) || consumer.position(partition) < until) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    read.append(' ').append(record.offset());
                }
            }
        } catch (OffsetOutOfRangeException told) {
            return "OffsetOutOfRangeException at " + told.offsetOutOfRangePartitions().get(partition);
        }
        return read.toString();
    }

    private static String times(String address, String[] words) {
        TopicPartition partition = new TopicPartition(words[2], 0);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings(address))) {
            OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(partition, Long.valueOf(words[3]))).get(partition);
            return found == null ? "found nothing" : "found " + found.offset();
        }
    }
}

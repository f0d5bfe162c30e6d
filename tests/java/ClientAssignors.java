import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Asks Kafka's client-side assignors. One question a line on stdin, one answer a line on stdout, in order.
 *
 * Words are separated by one blank. Texts are the hexadecimal digits of their UTF-16 units behind an "s", bytes those of the bytes;
 * "-" is null. tests/assignors/client_java.py writes the questions, and says what is in them.
 */
public final class ClientAssignors {
    private final Map<String, ConsumerPartitionAssignor> assignors = new HashMap<>();
    private String[] words;
    private int next;

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII), 1 << 16);
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.US_ASCII), 1 << 16);
        System.setOut(System.err); // loggers may not speak in between
        ClientAssignors asked = new ClientAssignors();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write(asked.answer(line));
            out.newLine();
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }

    private String answer(String line) {
        words = line.split(" ");
        next = 0;
        switch (word()) {
            case "release":
                return String.valueOf(Runtime.version().feature());
            case "new":
                assignors.clear();
                assignors.put("", create(word()));
                return "ok";
            case "assign":
                try {
                    return assigned(assignors.get(""));
                } catch (RuntimeException thrown) {
                    return "threw " + thrown.getClass().getSimpleName();
                }
            case "remember":
                return remembered(assignors.get(""));
            default:
                throw new IllegalArgumentException(line);
        }
    }

    private static ConsumerPartitionAssignor create(String name) {
        switch (name) {
            case "range":
                return new RangeAssignor();
            case "roundrobin":
                return new RoundRobinAssignor();
            case "sticky":
                return new StickyAssignor();
            default:
                return new CooperativeStickyAssignor();
        }
    }

    private String assigned(ConsumerPartitionAssignor assignor) {
        List<PartitionInfo> partitions = new ArrayList<>();
        Map<String, Node> nodes = new HashMap<>();
        for (int topics = number(); topics > 0; topics--) {
            String topic = text();
            int count = number();
            boolean racks = number() == 1;
            for (int i = 0; i < count; i++) {
                Node[] replicas = new Node[racks ? number() : 0];
                for (int j = 0; j < replicas.length; j++) {
                    String rack = text();
                    replicas[j] = nodes.computeIfAbsent(String.valueOf(rack), k -> new Node(nodes.size(), "host", 9092, rack));
                }
                partitions.add(new PartitionInfo(topic, i, replicas.length == 0 ? null : replicas[0], replicas, replicas));
            }
        }
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (int members = number(); members > 0; members--) {
            String id = text();
            List<String> topics = new ArrayList<>();
            for (int n = number(); n > 0; n--) {
                topics.add(text());
            }
            byte[] userData = bytes();
            List<TopicPartition> owned = partitions();
            int generation = number();
            String instance = text();
            Subscription subscription = new Subscription(
                topics, userData == null ? null : ByteBuffer.wrap(userData), owned, generation, Optional.ofNullable(text()));
            subscription.setGroupInstanceId(Optional.ofNullable(instance));
            subscriptions.put(id, subscription);
        }
        Cluster cluster = new Cluster("c", nodes.values(), partitions, Collections.emptySet(), Collections.emptySet());
        Map<String, Assignment> plan = assignor.assign(cluster, new GroupSubscription(subscriptions)).groupAssignment();
        StringBuilder answer = new StringBuilder("gave");
        for (Map.Entry<String, Assignment> member : plan.entrySet()) {
            answer.append(' ').append(hex(member.getKey())).append(' ');
            ByteBuffer userData = member.getValue().userData();
            answer.append(userData == null ? "-" : HexFormat.of().formatHex(userData.array())).append(' ');
            answer.append(member.getValue().partitions().size());
            for (TopicPartition partition : member.getValue().partitions()) {
                answer.append(' ').append(hex(partition.topic())).append(' ').append(partition.partition());
            }
        }
        return answer.toString();
    }

    private String remembered(ConsumerPartitionAssignor assignor) {
        List<TopicPartition> partitions = partitions();
        assignor.onAssignment(new Assignment(partitions), new ConsumerGroupMetadata("g", number(), "m", Optional.empty()));
        ByteBuffer userData = assignor.subscriptionUserData(Collections.emptySet());
        return userData == null ? "-" : "b" + HexFormat.of().formatHex(userData.array());
    }

    private List<TopicPartition> partitions() {
        List<TopicPartition> partitions = new ArrayList<>();
        for (int n = number(); n > 0; n--) {
            String topic = text();
            partitions.add(new TopicPartition(topic, number()));
        }
        return partitions;
    }

    private String word() {
        return words[next++];
    }

    private int number() {
        return Integer.parseInt(word());
    }

    private String text() {
        String word = word();
        if (word.equals("-")) {
            return null;
        }
        byte[] units = HexFormat.of().parseHex(word.substring(1));
        char[] chars = new char[units.length / 2];
        for (int i = 0; i < chars.length; i++) {
            chars[i] = (char) ((units[2 * i] & 0xff) << 8 | units[2 * i + 1] & 0xff);
        }
        return new String(chars);
    }

    private byte[] bytes() {
        String word = word();
        return word.equals("-") ? null : HexFormat.of().parseHex(word.substring(1));
    }

    private static String hex(String text) {
        StringBuilder digits = new StringBuilder("s");
        for (int i = 0; i < text.length(); i++) {
            digits.append(String.format("%04x", (int) text.charAt(i)));
        }
        return digits.toString();
    }
}

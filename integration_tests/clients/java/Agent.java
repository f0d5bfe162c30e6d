import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.internals.AppInfoParser;

/**
 * Many Java consumers in one process, told what to do by lines of JSON; what is said is agent_protocol.py's business.
 *
 * <p>Owns the lines in and out, the producers, and which members there are. Each member has a thread of its own (Member).
 */
public final class Agent {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Comparator<TopicPartition> ORDER =
            Comparator.comparing(TopicPartition::topic).thenComparingInt(TopicPartition::partition);

    private final PrintStream out;
    private final Map<String, Member> members = new HashMap<>();
    private final Map<String, Producer> producers = new HashMap<>();

    private Agent(PrintStream out) {
        this.out = out;
    }

    public static void main(String[] arguments) throws Exception {
        Agent agent = new Agent(new PrintStream(System.out, false, StandardCharsets.UTF_8));
        System.setOut(System.err); // whatever a library prints must not stand among the lines
        ObjectNode ready = JSON.createObjectNode();
        agent.say(ready.put("ready", "kafka-clients " + AppInfoParser.getVersion()));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode command = JSON.readTree(line);
            try {
                agent.pass(command);
            } catch (RuntimeException wrong) {
                agent.fail(command, wrong);
            }
        }
        Runtime.getRuntime().halt(0); // no consumer says good-bye
    }

    /** Hand a command to whoever carries it out. */
    private void pass(JsonNode command) {
        String what = command.get("do").asText();
        if (what.equals("produce")) {
            producers.computeIfAbsent(command.get("bootstrap").asText(), address -> new Producer(this, address)).later(command);
            return;
        }
        String name = command.get("member").asText();
        Member member = members.get(name);
        if (what.equals("create") && (member == null || member.isGone())) {
            member = new Member(this, name);
            members.put(name, member);
            member.start();
        } else if (member == null || what.equals("create")) {
            throw new IllegalStateException(member == null ? "there is no member " + name : "there is a member " + name + " already");
        } else if (what.equals("wakeup")) {
            reply(command, null); // first, or else the poll that is woken up might be told of first
            member.wakeup();
            return;
        }
        member.later(command);
    }

    void say(ObjectNode line) {
        String text = line.toString();
        synchronized (out) {
            out.print(text + "\n");
            out.flush();
        }
    }

    void reply(JsonNode command, JsonNode result) {
        ObjectNode line = JSON.createObjectNode();
        line.set("reply", command.get("id"));
        line.set("result", result);
        say(line);
    }

    /** The reply of what went wrong; errors of our own (no member, a word the protocol lacks) are explained on standard error. */
    void fail(JsonNode command, Throwable thrown) {
        System.err.println(command + ": " + thrown);
        ObjectNode line = JSON.createObjectNode();
        line.set("reply", command.get("id"));
        say(line.put("error", nameOf(thrown)));
    }

    /** Kafka's name of the error; what no broker knows has its class's. A bare KafkaException or a future's stands for its cause. */
    static String nameOf(Throwable thrown) {
        if ((thrown.getClass() == KafkaException.class || thrown instanceof ExecutionException) && thrown.getCause() != null) {
            return nameOf(thrown.getCause());
        }
        Errors error = Errors.forException(thrown);
        String known = thrown.getClass().getSimpleName().replaceFirst("(Exception|Error)$", "");
        return error == Errors.UNKNOWN_SERVER_ERROR ? known : error.name();
    }

    static TopicPartition partition(JsonNode pair) {
        return new TopicPartition(pair.get(0).asText(), pair.get(1).asInt());
    }

    static List<TopicPartition> partitions(JsonNode pairs) {
        List<TopicPartition> found = new ArrayList<>();
        pairs.forEach(pair -> found.add(partition(pair)));
        return found;
    }

    static ArrayNode told(Collection<TopicPartition> partitions) {
        ArrayNode list = JSON.createArrayNode();
        partitions.stream().sorted(ORDER).forEach(p -> list.addArray().add(p.topic()).add(p.partition()));
        return list;
    }

    /** Offsets by partition, as the protocol lists them; null where there is none. */
    static ArrayNode told(Map<TopicPartition, Long> offsets) {
        ArrayNode list = JSON.createArrayNode();
        offsets.keySet().stream().sorted(ORDER).forEach(p -> list.addArray().add(p.topic()).add(p.partition()).add(offsets.get(p)));
        return list;
    }

    /** The producer of one address, on a thread of its own. */
    private static final class Producer {
        private final Agent agent;
        private final KafkaProducer<String, String> producer;
        private final ExecutorService thread = Executors.newSingleThreadExecutor(work -> {
            Thread made = new Thread(work, "producer");
            made.setDaemon(true);
            return made;
        });

        Producer(Agent agent, String address) {
            this.agent = agent;
            this.producer = new KafkaProducer<>(
                    Map.of("bootstrap.servers", address, "acks", "all", "linger.ms", "0"), new StringSerializer(), new StringSerializer());
        }

        void later(JsonNode command) {
            thread.submit(() -> {
                try {
                    agent.reply(command, produce(command.get("records")));
                } catch (Exception failed) {
                    agent.fail(command, failed);
                }
            });
        }

        private ArrayNode produce(JsonNode records) throws Exception {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode record : records) {
                Long timestamp = record.get(3).isNull() ? null : record.get(3).asLong();
                sent.add(producer.send(
                        new ProducerRecord<>(record.get(0).asText(), record.get(1).asInt(), timestamp, null, record.get(2).asText())));
            }
            producer.flush();
            Map<TopicPartition, long[]> ends = new TreeMap<>(ORDER);
            for (Future<RecordMetadata> each : sent) {
                RecordMetadata at = each.get();
                ends.computeIfAbsent(new TopicPartition(at.topic(), at.partition()), p -> new long[] {at.offset(), 0})[1] = at.offset();
            }
            ArrayNode list = JSON.createArrayNode();
            ends.forEach((p, range) -> list.addArray().add(p.topic()).add(p.partition()).add(range[0]).add(range[1]));
            return list;
        }
    }
}

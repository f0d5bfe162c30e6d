import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** One consumer and its thread: carries out its commands in their order, polls in between, tells what its listener is told. */
final class Member extends Thread {
    private static final int POLL_MS = 100;
    private static final Map<String, String> ASSIGNORS = Map.of(
            "range", RangeAssignor.class.getName(),
            "roundrobin", RoundRobinAssignor.class.getName(),
            "sticky", StickyAssignor.class.getName(),
            "cooperative-sticky", CooperativeStickyAssignor.class.getName());

    private final Agent agent;
    private final String name;
    private final BlockingQueue<JsonNode> commands = new LinkedBlockingQueue<>();
    private volatile KafkaConsumer<String, String> consumer;
    private volatile boolean gone;
    private boolean polling;
    private String lastFailure = "";

    Member(Agent agent, String name) {
        super("member-" + name);
        setDaemon(true);
        this.agent = agent;
        this.name = name;
    }

    boolean isGone() {
        return gone;
    }

    void later(JsonNode command) {
        commands.add(command);
    }

    /** The only thing that another thread may ask of a consumer. */
    void wakeup() {
        KafkaConsumer<String, String> made = consumer;
        if (made != null) {
            made.wakeup();
        }
    }

    @Override
    public void run() {
        try {
            while (!gone) {
                JsonNode command = polling ? commands.poll() : commands.take();
                if (command != null) {
                    carryOut(command);
                } else {
                    pollOnce();
                }
            }
            for (JsonNode late = commands.poll(); late != null; late = commands.poll()) {
                agent.fail(late, new IllegalStateException("member " + name + " is gone"));
            }
        } catch (Throwable unexpected) {
            StringWriter trace = new StringWriter();
            unexpected.printStackTrace(new PrintWriter(trace));
            agent.say(event("odd").put("text", trace.toString()));
        }
    }

    private void pollOnce() throws InterruptedException {
        try {
            ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(POLL_MS));
            lastFailure = "";
            if (!records.isEmpty()) {
                tell(records);
            }
        } catch (RuntimeException thrown) {
            String failure = Agent.nameOf(thrown);
            if (!failure.equals(lastFailure)) {
                agent.say(event("poll failed").put("error", failure));
            }
            lastFailure = failure;
            TimeUnit.MILLISECONDS.sleep(POLL_MS);
        }
    }

    private void tell(ConsumerRecords<String, String> records) {
        ObjectNode event = event("records");
        ArrayNode list = event.putArray("records");
        for (ConsumerRecord<String, String> record : records) {
            list.addArray().add(record.topic()).add(record.partition()).add(record.offset()).add(record.value());
        }
        agent.say(event);
    }

    private void carryOut(JsonNode command) {
        JsonNode result;
        try {
            result = result(command);
        } catch (Exception thrown) {
            gone = gone || consumer == null;
            agent.fail(command, thrown);
            return;
        }
        agent.reply(command, result);
    }

    /** What a command results in; null where the protocol says of none. */
    private JsonNode result(JsonNode command) {
        String what = command.get("do").asText();
        switch (what) {
            case "create":
                consumer = new KafkaConsumer<>(translated(command.get("config")), new StringDeserializer(), new StringDeserializer());
                return null;
            case "poll":
                polling = command.get("on").asBoolean();
                return null;
            case "subscribe":
                subscribe(command);
                return null;
            case "assign":
                consumer.assign(Agent.partitions(command.get("partitions")));
                return null;
            case "unsubscribe":
                consumer.unsubscribe();
                return null;
            case "commit":
                commit(command.get("offsets"));
                return null;
            case "close":
                gone = true;
                consumer.close();
                return null;
            case "seek":
                consumer.seek(Agent.partition(command.get("partition")), command.get("offset").asLong());
                return null;
            case "offsets_for_times":
                return offsetsForTimes(command.get("times"));
            default:
                return command.has("partitions") ? ofPartitions(what, Agent.partitions(command.get("partitions"))) : told(what);
        }
    }

    private JsonNode ofPartitions(String what, List<TopicPartition> partitions) {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        switch (what) {
            case "pause":
                consumer.pause(partitions);
                return null;
            case "resume":
                consumer.resume(partitions);
                return null;
            case "seek_to_beginning":
                consumer.seekToBeginning(partitions);
                return null;
            case "seek_to_end":
                consumer.seekToEnd(partitions);
                return null;
            case "committed":
                consumer.committed(new HashSet<>(partitions)).forEach((p, at) -> offsets.put(p, at == null ? null : at.offset()));
                return Agent.told(offsets);
            case "position":
                partitions.forEach(p -> offsets.put(p, consumer.position(p)));
                return Agent.told(offsets);
            case "beginning_offsets":
                return Agent.told(consumer.beginningOffsets(partitions));
            case "end_offsets":
                return Agent.told(consumer.endOffsets(partitions));
            default:
                throw new UnsupportedOperationException(what);
        }
    }

    private JsonNode told(String what) {
        switch (what) {
            case "assignment":
                return Agent.told(consumer.assignment());
            case "paused":
                return Agent.told(consumer.paused());
            case "subscription":
                ArrayNode topics = Agent.JSON.createArrayNode();
                consumer.subscription().stream().sorted().forEach(topics::add);
                return topics;
            case "member_id":
                return Agent.JSON.getNodeFactory().textNode(consumer.groupMetadata().memberId());
            default:
                throw new UnsupportedOperationException(what);
        }
    }

    private JsonNode offsetsForTimes(JsonNode times) {
        Map<TopicPartition, Long> asked = new HashMap<>();
        times.forEach(time -> asked.put(Agent.partition(time), time.get(2).asLong()));
        Map<TopicPartition, Long> offsets = new HashMap<>();
        consumer.offsetsForTimes(asked).forEach((p, at) -> offsets.put(p, at == null ? null : at.offset()));
        return Agent.told(offsets);
    }

    private void subscribe(JsonNode command) {
        Told listener = new Told(command.path("on_revoked").asText().equals("commit"));
        if (command.has("pattern")) {
            consumer.subscribe(Pattern.compile(command.get("pattern").asText()), listener);
        } else {
            List<String> topics = new ArrayList<>();
            command.get("topics").forEach(topic -> topics.add(topic.asText()));
            consumer.subscribe(topics, listener);
        }
    }

    private void commit(JsonNode offsets) {
        if (offsets == null) {
            consumer.commitSync();
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> given = new HashMap<>();
        offsets.forEach(each -> given.put(Agent.partition(each), new OffsetAndMetadata(each.get(2).asLong())));
        consumer.commitSync(given);
    }

    /** The stage's configuration as Java wants it; the keys are Kafka's own, and the protocol is the classic one. */
    private static Map<String, Object> translated(JsonNode config) {
        Map<String, Object> translated = new HashMap<>();
        config.properties().forEach(entry -> translated.put(entry.getKey(), entry.getValue().asText()));
        translated.computeIfPresent("partition.assignment.strategy",
                (key, assignor) -> ASSIGNORS.getOrDefault(assignor, (String) assignor));
        translated.putIfAbsent("group.protocol", "classic");
        return translated;
    }

    private ObjectNode event(String what) {
        return Agent.JSON.createObjectNode().put("event", what).put("member", name);
    }

    /** Tells of every call; commits inside the revoked one if asked to. */
    private final class Told implements ConsumerRebalanceListener {
        private final boolean commits;

        Told(boolean commits) {
            this.commits = commits;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            tell("assigned", partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            tell("lost", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            tell("revoked", partitions);
            if (!commits) {
                return;
            }
            ObjectNode event = event("committed in revoked");
            try {
                consumer.commitSync();
                event.putNull("result");
            } catch (RuntimeException thrown) {
                event.put("error", Agent.nameOf(thrown));
            }
            agent.say(event);
        }

        private void tell(String what, Collection<TopicPartition> partitions) {
            ObjectNode event = event(what);
            event.set("partitions", Agent.told(partitions));
            agent.say(event);
        }
    }
}

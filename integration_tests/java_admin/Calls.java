import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreatePartitionsOptions;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DeleteTopicsOptions;
import org.apache.kafka.clients.admin.DeletedRecords;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListConfigResourcesOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListConsumerGroupsOptions;
import org.apache.kafka.clients.admin.ListGroupsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.NewPartitionReassignment;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.quota.ClientQuotaFilterComponent;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Calls the Java clients' API, admin first, and prints a line for what each call says; argument: a broker's address.
 *
 * <p>Names are new in every run; they, ids that chance makes, and addresses are printed by what they stand for, and maps and sets in
 * order. So two brokers that do the same lead to the same lines.
 */
public final class Calls {
    private static final Duration LONG = Duration.ofSeconds(20);
    /** Young enough for any retention. */
    private static final long T0 = System.currentTimeMillis() / 1000 * 1000 - 60_000;

    private final String run = UUID.randomUUID().toString().substring(0, 8);
    private final String topic = "orders-" + run;
    private final String group = "group-" + run;
    private final String address;
    private final Admin admin;
    private final Map<String, String> standFor = new TreeMap<>();

    private Calls(String address) {
        this.address = address;
        this.admin = Admin.create(Map.of("bootstrap.servers", address));
        standFor.put("-" + run, "");
    }

    public static void main(String[] arguments) throws Exception {
        Calls calls = new Calls(arguments[0]);
        calls.cluster();
        calls.topics();
        calls.records();
        calls.configs();
        calls.administration();
        calls.consumer();
        calls.group();
        calls.emptyGroup();
        calls.deletions();
        Runtime.getRuntime().halt(0);
    }

    // -- what is printed

    private void call(String label, Callable<Object> call) {
        String said;
        try {
            Object result = call.call();
            said = shown(result instanceof KafkaFuture ? ((KafkaFuture<?>) result).get(30, TimeUnit.SECONDS) : result);
        } catch (Throwable thrown) {
            Throwable cause = thrown.getCause() == null ? thrown : thrown.getCause();
            said = cause.getClass().getSimpleName() + ": " + plain(String.valueOf(cause.getMessage()));
        }
        System.out.println(label + " -> " + said);
        System.out.flush();
    }

    private String shown(Object value) {
        if (value instanceof Map) {
            Map<String, String> sorted = new TreeMap<>();
            ((Map<?, ?>) value).forEach((key, each) -> sorted.put(shown(key), shown(each)));
            return sorted.toString();
        }
        if (value instanceof List) {
            return ((List<?>) value).stream().map(this::shown).collect(Collectors.toList()).toString();
        }
        if (value instanceof Collection) {
            return ((Collection<?>) value).stream().map(this::shown).sorted().collect(Collectors.toList()).toString();
        }
        if (value instanceof DeletedRecords) {
            return "before " + ((DeletedRecords) value).lowWatermark();
        }
        return plain(String.valueOf(value));
    }

    private String plain(String text) {
        for (Map.Entry<String, String> known : standFor.entrySet()) {
            text = text.replace(known.getKey(), known.getValue());
        }
        text = text.replaceAll("\\(id: (\\d+) rack", "(id $1 rack").replaceAll("[\\w.]+:\\d{2,5} \\(id", "ADDRESS (id")
                .replaceAll("host=/[\\d.]+", "host=HOST");
        text = Pattern.compile("timestamp=(\\d{13})").matcher(text)
                .replaceAll(found -> "timestamp=T0+" + (Long.parseLong(found.group(1)) - T0));
        return Pattern.compile("(?<=authorizedOperations=\\[|topicPartitions=)[\\w, -]*").matcher(text)
                .replaceAll(found -> sorted(found.group()));
    }

    private static String sorted(String list) {
        return Stream.of(list.split(", ?")).sorted().collect(Collectors.joining(", "));
    }

    /** Each key's future by itself: what it comes to, or the error. */
    private void each(String label, Map<?, ? extends KafkaFuture<?>> futures) {
        Map<String, KafkaFuture<?>> sorted = new TreeMap<>();
        futures.forEach((key, future) -> sorted.put(shown(key), future));
        sorted.forEach((key, future) -> call(label + " " + key, () -> future));
    }

    /** Brokers learn of a change a moment after it is acknowledged. */
    private static void until(Callable<Boolean> seen) throws Exception {
        for (long end = System.nanoTime() + LONG.toNanos(); !seen.call(); Thread.sleep(20)) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("a change is not seen after " + LONG);
            }
        }
    }

    private TopicPartition at(int partition) {
        return new TopicPartition(topic, partition);
    }

    // -- the calls

    private void cluster() {
        DescribeClusterOptions all = new DescribeClusterOptions().includeAuthorizedOperations(true).includeFencedBrokers(true);
        call("describeCluster nodes", () -> admin.describeCluster(all).nodes());
        call("describeCluster controller", () -> admin.describeCluster().controller().get().id());
        call("describeCluster operations", () -> admin.describeCluster(all).authorizedOperations());
        call("describeCluster id length", () -> admin.describeCluster().clusterId().get().length());
    }

    private void topics() throws Exception {
        NewTopic made = new NewTopic(topic, 3, (short) 1).configs(Map.of("retention.ms", "100000000", "cleanup.policy", "compact,delete"));
        each("createTopics only validated", admin.createTopics(List.of(made), new CreateTopicsOptions().validateOnly(true)).values());
        call("createTopics partitions", () -> admin.createTopics(List.of(made)).numPartitions(topic));
        each("createTopics again", admin.createTopics(List.of(made)).values());
        NewTopic defaults = new NewTopic("defaults-" + run, Optional.empty(), Optional.empty());
        call("createTopics replication", () -> admin.createTopics(List.of(defaults)).replicationFactor(defaults.name()));
        NewTopic placed = new NewTopic("placed-" + run, Map.of(0, List.of(1), 1, List.of(1)));
        each("createTopics placed", admin.createTopics(List.of(placed)).values());
        until(() -> admin.listTopics().names().get().containsAll(Set.of(topic, "defaults-" + run, "placed-" + run)));
        each("createTopics badly", admin.createTopics(List.of(
                new NewTopic("many-" + run, 1, (short) 3), new NewTopic("none-" + run, 0, (short) 1),
                new NewTopic("bad name", 1, (short) 1),
                new NewTopic("config-" + run, 1, (short) 1).configs(Map.of("retention.ms", "x")),
                new NewTopic("strange-" + run, 1, (short) 1).configs(Map.of("strange", "x")))).values());
        call("listTopics", () -> admin.listTopics().names().get().stream().filter(name -> name.endsWith(run)).collect(Collectors.toSet()));
        each("describeTopics", admin.describeTopics(
                List.of(topic, "defaults-" + run, "placed-" + run, "nobody-" + run),
                new DescribeTopicsOptions().includeAuthorizedOperations(true)).topicNameValues());
        CreatePartitionsOptions unchanged = new CreatePartitionsOptions().validateOnly(true);
        each("createPartitions only validated", admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(9)), unchanged).values());
        each("createPartitions", admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(4))).values());
        each("createPartitions badly", admin.createPartitions(Map.of(
                topic, NewPartitions.increaseTo(4), "placed-" + run, NewPartitions.increaseTo(1),
                "nobody-" + run, NewPartitions.increaseTo(2))).values());
        until(() -> admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size() == 4);
    }

    private void records() throws Exception {
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(Map.of("bootstrap.servers", address), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < 15; i++) {
                int number = i;
                int partition = i < 12 ? i % 2 : 3;
                call("send", () -> producer.send(new ProducerRecord<>(topic, partition, T0 + 1000 * number, "k" + number, "v")).get());
            }
            call("partitionsFor", () -> producer.partitionsFor(topic).stream().map(Object::toString).sorted().collect(Collectors.toList()));
        }
        listOffsets("before deletion");
        each("deleteRecords", admin.deleteRecords(
                Map.of(at(0), RecordsToDelete.beforeOffset(2), at(1), RecordsToDelete.beforeOffset(1),
                        at(2), RecordsToDelete.beforeOffset(1), at(3), RecordsToDelete.beforeOffset(-1))).lowWatermarks());
        listOffsets("after deletion");
    }

    private void listOffsets(String when) {
        Map<String, OffsetSpec> specs = new TreeMap<>(Map.of(
                "earliest", OffsetSpec.earliest(), "latest", OffsetSpec.latest(), "maxTimestamp", OffsetSpec.maxTimestamp(),
                "in time", OffsetSpec.forTimestamp(T0 + 2500), "too late", OffsetSpec.forTimestamp(T0 + 1_000_000),
                "earliestLocal", OffsetSpec.earliestLocal(), "latestTiered", OffsetSpec.latestTiered()));
        specs.put("earliestPendingUpload", OffsetSpec.earliestPendingUpload());
        ListOffsetsOptions committed = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
        specs.forEach((name, spec) -> {
            for (int i = 0; i < 4; i++) {
                TopicPartition partition = at(i);
                call("listOffsets " + when + " " + name + " " + i,
                        () -> admin.listOffsets(Map.of(partition, spec), committed).partitionResult(partition));
            }
        });
    }

    private void configs() throws Exception {
        ConfigResource orders = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        ConfigResource nobody = new ConfigResource(ConfigResource.Type.TOPIC, "nobody-" + run);
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        ConfigResource everyBroker = new ConfigResource(ConfigResource.Type.BROKER, "");
        each("describeConfigs", admin.describeConfigs(List.of(nobody, everyBroker)).values());
        told("describeConfigs", orders, false);
        each("incrementalAlterConfigs", admin.incrementalAlterConfigs(Map.of(
                orders, List.of(op("retention.ms", "200000000", OpType.SET), op("cleanup.policy", "delete", OpType.SUBTRACT)),
                nobody, List.of(op("retention.ms", "5", OpType.SET)))).values());
        for (AlterConfigOp wrong : List.of(
                op("retention.ms", "x", OpType.SET), op("retention.ms", "5", OpType.APPEND), op("strange", "5", OpType.SET))) {
            each("incrementalAlterConfigs " + wrong.opType() + " " + wrong.configEntry().name(),
                    admin.incrementalAlterConfigs(Map.of(orders, List.of(wrong))).values());
        }
        until(() -> configs(orders).get("cleanup.policy").value().equals("compact"));
        told("describeConfigs changed", orders, true);
        each("incrementalAlterConfigs back",
                admin.incrementalAlterConfigs(Map.of(orders, List.of(op("retention.ms", "", OpType.DELETE)))).values());
        until(() -> configs(orders).get("retention.ms").source() == ConfigEntry.ConfigSource.DEFAULT_CONFIG);
        told("describeConfigs", broker, false);
    }

    private Config configs(ConfigResource resource) throws Exception {
        return admin.describeConfigs(List.of(resource), new DescribeConfigsOptions().includeSynonyms(true)).all().get().get(resource);
    }

    /** What one unsecured broker answers to administrators of clusters. */
    private void administration() {
        TopicPartition nobody = new TopicPartition("nobody-" + run, 0);
        call("describeLogDirs", () -> admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).values().stream()
                .map(folder -> folder.error() + " " + folder.replicaInfos().containsKey(at(0))).collect(Collectors.toList()));
        call("electLeaders", () -> admin.electLeaders(ElectionType.PREFERRED, Set.of(at(0), nobody)).partitions());
        call("listPartitionReassignments", () -> admin.listPartitionReassignments(Set.of(at(0))).reassignments());
        Map<TopicPartition, Optional<NewPartitionReassignment>> moves = Map.of(
                at(0), Optional.empty(), at(1), Optional.of(new NewPartitionReassignment(List.of(7))), nobody, Optional.empty());
        each("alterPartitionReassignments", admin.alterPartitionReassignments(moves).values());
        call("describeMetadataQuorum", () -> admin.describeMetadataQuorum().quorumInfo().get().leaderId());
        call("describeClientQuotas", () -> admin.describeClientQuotas(ClientQuotaFilter.contains(
            List.of(ClientQuotaFilterComponent.ofEntity("client-id", "nobody")))).entities());
        call("describeUserScramCredentials", () -> admin.describeUserScramCredentials(List.of("nobody")).description("nobody"));
        call("describeAcls", () -> admin.describeAcls(AclBindingFilter.ANY).values());
        call("describeDelegationToken", () -> admin.describeDelegationToken().delegationTokens());
        call("unregisterBroker", () -> admin.unregisterBroker(7).all());
        ListConfigResourcesOptions plain = new ListConfigResourcesOptions();
        call("listConfigResources", () -> admin.listConfigResources(Set.of(ConfigResource.Type.TOPIC), plain).all().get().stream()
                .filter(resource -> resource.name().endsWith(run)).collect(Collectors.toSet()));
        call("listConfigResources others", () -> admin.listConfigResources(
                Set.of(ConfigResource.Type.CLIENT_METRICS, ConfigResource.Type.GROUP), plain).all().get().stream()
                .filter(resource -> resource.name().endsWith(run)).collect(Collectors.toSet()));
    }

    /** A topic's entries all in all; a broker's that are its groups'. */
    private void told(String label, ConfigResource resource, boolean changed) throws Exception {
        Map<String, ConfigEntry> sorted = new TreeMap<>();
        configs(resource).entries().forEach(entry -> sorted.put(entry.name(), entry));
        sorted.forEach((name, entry) -> {
            boolean own = entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG;
            if (resource.type() == ConfigResource.Type.TOPIC ? own || !changed
                    : name.matches("group\\.(initial|m).*|offset[^.]*\\.[^t].*")) {
                call(label + " " + resource.type() + " " + name, () -> List.of(
                        Objects.toString(entry.value()), entry.source(), entry.isReadOnly(), entry.isSensitive(), entry.type(),
                        entry.synonyms().stream().map(s -> s.name() + "=" + s.value() + " " + s.source()).collect(Collectors.toList())));
            }
        });
    }

    private static AlterConfigOp op(String name, String value, OpType type) {
        return new AlterConfigOp(new ConfigEntry(name, value), type);
    }

    private KafkaConsumer<String, String> consumer(String client, Map<String, String> more) {
        Map<String, Object> config = new TreeMap<>(Map.of(
                "bootstrap.servers", address, "group.id", group, "client.id", client, "group.protocol", "classic",
                "auto.offset.reset", "earliest", "enable.auto.commit", "false", "session.timeout.ms", "30000",
                ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, CooperativeStickyAssignor.class.getName()));
        config.putAll(more);
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }

    private void consumer() {
        try (KafkaConsumer<String, String> consumer = consumer("alone", Map.of("max.poll.records", "5"))) {
            List<TopicPartition> two = List.of(at(0), at(1));
            call("consumer.partitionsFor",
                    () -> consumer.partitionsFor(topic).stream().map(Object::toString).sorted().collect(Collectors.toList()));
            call("consumer.partitionsFor nobody", () -> consumer.partitionsFor("nobody two"));
            call("consumer.listTopics", () -> consumer.listTopics().get(topic).size());
            call("consumer.beginningOffsets", () -> consumer.beginningOffsets(two));
            call("consumer.endOffsets", () -> consumer.endOffsets(two));
            call("consumer.offsetsForTimes", () -> consumer.offsetsForTimes(Map.of(at(0), T0, at(1), T0 + 6000, at(2), T0)));
            call("consumer.committed none", () -> consumer.committed(Set.copyOf(two)));
            consumer.assign(two);
            call("consumer.position", () -> consumer.position(at(0)));
            List<String> seen = new ArrayList<>();
            while (seen.size() < 9) {
                for (ConsumerRecord<String, String> record : consumer.poll(LONG)) {
                    seen.add(record.partition() + "/" + record.offset() + "=" + record.key() + " " + (record.timestamp() - T0)
                            + " " + record.timestampType() + " " + record.leaderEpoch());
                }
            }
            seen.sort(null);
            call("consumer.poll", () -> seen);
            call("consumer.currentLag", () -> {
                OptionalLong lag = consumer.currentLag(at(0));
                return lag.isPresent() ? lag.getAsLong() : "unknown";
            });
            call("consumer.groupMetadata", () -> consumer.groupMetadata());
            call("consumer.enforceRebalance", () -> {
                consumer.enforceRebalance("why not");
                return "ok";
            });
            call("consumer.commitSync", () -> {
                consumer.commitSync(Map.of(at(0), new OffsetAndMetadata(3, Optional.of(0), "note"), at(1), new OffsetAndMetadata(6)));
                return consumer.committed(Set.copyOf(two));
            });
            call("consumer.commitSync too long", () -> {
                consumer.commitSync(Map.of(at(0), new OffsetAndMetadata(3, "x".repeat(5000))));
                return "ok";
            });
        }
    }

    private void group() throws Exception {
        KafkaConsumer<String, String> fixed = consumer("fixed", Map.of("group.instance.id", "one"));
        List<String> told = new ArrayList<>();
        fixed.subscribe(List.of(topic), new Told(told));
        while (told.isEmpty()) {
            fixed.poll(Duration.ofMillis(100));
        }
        call("static member's listener", () -> told);
        standFor.put(fixed.groupMetadata().memberId(), "MEMBER");
        call("groupMetadata", () -> fixed.groupMetadata());
        describe("stable");
        call("alterConsumerGroupOffsets of a live group",
                () -> admin.alterConsumerGroupOffsets(group, Map.of(at(0), new OffsetAndMetadata(1))).all());
        call("deleteConsumerGroupOffsets of a live group",
                () -> admin.deleteConsumerGroupOffsets(group, Set.of(at(0))).partitionResult(at(0)));
        call("deleteConsumerGroupOffsets of another topic",
                () -> admin.deleteConsumerGroupOffsets(group, Set.of(new TopicPartition("placed-" + run, 0))).all());
        each("deleteConsumerGroups of a live group", admin.deleteConsumerGroups(List.of(group)).deletedGroups());
        fixed.enforceRebalance("story");
        call("enforceRebalance", () -> {
            int before = fixed.groupMetadata().generationId();
            long end = System.nanoTime() + LONG.toNanos();
            while (fixed.groupMetadata().generationId() <= before && System.nanoTime() < end) {
                fixed.poll(Duration.ofMillis(100));
            }
            return fixed.groupMetadata().generationId() - before + " " + told;
        });
        RemoveMembersFromConsumerGroupOptions stranger = new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove("two")));
        call("removeMembers stranger", () -> admin.removeMembersFromConsumerGroup(group, stranger).all());
        fixed.close();
        describe("static member closed");
        call("removeMembers static", () -> admin.removeMembersFromConsumerGroup(
                group, new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove("one")))).all());
        KafkaConsumer<String, String> other = consumer("other", Map.of());
        other.subscribe(List.of(topic), new Told(told));
        for (int before = told.size(); told.size() == before; ) {
            other.poll(Duration.ofMillis(100));
        }
        call("removeMembers all", () -> admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions()).all());
        call("commitSync of one removed", () -> {
            other.commitSync(Map.of(at(0), new OffsetAndMetadata(1)));
            return "ok";
        });
        other.close(CloseOptions.timeout(Duration.ZERO));
        call("listeners", () -> told);
    }

    private void describe(String when) {
        DescribeConsumerGroupsOptions all = new DescribeConsumerGroupsOptions().includeAuthorizedOperations(true);
        each("describeConsumerGroups " + when, admin.describeConsumerGroups(List.of(group, "nobody-" + run), all).describedGroups());
        each("describeClassicGroups " + when, admin.describeClassicGroups(List.of(group, "nobody-" + run)).describedGroups());
        call("listGroups " + when, () -> ours(new ListGroupsOptions()));
        call("listGroups classic " + when,
                () -> ours(new ListGroupsOptions().withTypes(Set.of(GroupType.CLASSIC)).inGroupStates(Set.of(GroupState.STABLE))));
        call("listGroups consumer type " + when, () -> ours(new ListGroupsOptions().withTypes(Set.of(GroupType.CONSUMER))));
        call("listGroups empty " + when, () -> ours(new ListGroupsOptions().inGroupStates(Set.of(GroupState.EMPTY))));
        call("listGroups protocol " + when, () -> ours(new ListGroupsOptions().withProtocolTypes(Set.of("consumer"))));
        call("listConsumerGroups " + when, this::listedConsumers);
    }

    @SuppressWarnings({"deprecation", "removal"})
    private Object listedConsumers() throws Exception {
        ListConsumerGroupsOptions known = new ListConsumerGroupsOptions().inGroupStates(Set.of(GroupState.STABLE, GroupState.EMPTY));
        return admin.listConsumerGroups(known).all().get().stream().filter(g -> g.groupId().equals(group)).collect(Collectors.toList());
    }

    private Object ours(ListGroupsOptions options) throws Exception {
        return admin.listGroups(options).all().get().stream().filter(g -> g.groupId().equals(group)).collect(Collectors.toList());
    }

    private void emptyGroup() throws Exception {
        describe("empty");
        Map<TopicPartition, OffsetAndMetadata> wanted = Map.of(
                at(0), new OffsetAndMetadata(1, Optional.of(7), "by hand"), at(3), new OffsetAndMetadata(0),
                new TopicPartition("nobody-" + run, 0), new OffsetAndMetadata(5));
        List<TopicPartition> sorted = new ArrayList<>(wanted.keySet());
        sorted.sort(Comparator.comparing(TopicPartition::toString));
        for (TopicPartition partition : sorted) {
            call("alterConsumerGroupOffsets " + plain(partition.toString()),
                    () -> admin.alterConsumerGroupOffsets(group, wanted).partitionResult(partition));
        }
        call("listConsumerGroupOffsets", () -> admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
        Map<String, ListConsumerGroupOffsetsSpec> specs = Map.of(
                group, new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(at(0), at(2))),
                "nobody-" + run, new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(at(1))));
        call("listConsumerGroupOffsets some", () -> admin.listConsumerGroupOffsets(specs).all());
        call("deleteConsumerGroupOffsets", () -> admin.deleteConsumerGroupOffsets(group, Set.of(at(0), at(2))).all());
        call("listConsumerGroupOffsets left", () -> admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata());
        call("alterConsumerGroupOffsets of a new group",
                () -> admin.alterConsumerGroupOffsets("new-" + run, Map.of(at(1), new OffsetAndMetadata(4))).all());
        each("describeConsumerGroups new", admin.describeConsumerGroups(List.of("new-" + run)).describedGroups());
        call("deleteConsumerGroupOffsets of nobody", () -> admin.deleteConsumerGroupOffsets("nobody-" + run, Set.of(at(0))).all());
        call("removeMembers of nobody",
                () -> admin.removeMembersFromConsumerGroup("nobody-" + run, new RemoveMembersFromConsumerGroupOptions()).all());
        each("deleteConsumerGroups", admin.deleteConsumerGroups(List.of(group, "nobody-" + run, "new-" + run)).deletedGroups());
        describe("deleted");
    }

    private void deletions() throws Exception {
        Uuid id = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).topicId();
        call("describeTopics by id", () -> admin.describeTopics(TopicCollection.ofTopicIds(List.of(id))).allTopicIds().get().get(id));
        Uuid nobody = Uuid.fromString("AAAAAAAAAAAAAAAAAAAAFA");
        each("deleteTopics by id", admin.deleteTopics(TopicCollection.ofTopicIds(List.of(nobody))).topicIdValues());
        call("deleteTopics by its id", () -> admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id))).all());
        each("deleteTopics", admin.deleteTopics(
                List.of("placed-" + run, "defaults-" + run, "nobody-" + run),
                new DeleteTopicsOptions().retryOnQuotaViolation(false)).topicNameValues());
    }

    /** A listener's calls, one after the other. */
    private final class Told implements ConsumerRebalanceListener {
        private final List<String> told;

        Told(List<String> told) {
            this.told = told;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            told.add("assigned " + shown(Set.copyOf(partitions)));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            told.add("revoked " + shown(Set.copyOf(partitions)));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            told.add("lost " + shown(Set.copyOf(partitions)));
        }
    }
}

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

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

/**
 * Times one of Kafka's client assignors on an input of benchmarks/assignors.py, in this order: from nothing, then again with what was
 * assigned as everybody's memory and one member gone. Prints, for each of the two: milliseconds of the first call,
 * milliseconds when warm (median), digest of the answer. Arguments: assignor, members, topics, partitions each,
 * equal or half, seconds to spend on warm calls.
 */
public final class BenchAssignors {
    private static final int GENERATION = 1;

    public static void main(String[] args) throws Exception {
        String name = args[0];
        int members = Integer.parseInt(args[1]);
        int topics = Integer.parseInt(args[2]);
        int partitions = Integer.parseInt(args[3]);
        double seconds = Double.parseDouble(args[5]);
        Cluster cluster = cluster(topics, partitions);
        Map<String, Subscription> fresh = new HashMap<>();
        subscriptions(members, topics, args[4].equals("equal")).forEach((member, wanted) -> fresh.put(member, new Subscription(wanted)));
        Map<String, Assignment> assigned = measure(name, cluster, fresh, seconds);

        Map<String, Subscription> remembering = new HashMap<>();
        String leaver = new TreeSet<>(fresh.keySet()).stream().skip(members / 2).findFirst().orElseThrow();
        for (String member : new TreeSet<>(fresh.keySet())) {
            if (!member.equals(leaver)) {
                remembering.put(member, remembering(name, fresh.get(member), assigned.get(member)));
            }
        }
        measure(name, cluster, remembering, seconds);
    }

    private static Map<String, Assignment> measure(String name, Cluster cluster, Map<String, Subscription> group, double seconds)
            throws Exception {
        long began = System.nanoTime();
        Map<String, Assignment> answer = assign(name, cluster, group);
        double first = (System.nanoTime() - began) / 1e6;
        List<Double> calls = new ArrayList<>();
        for (double spent = first; spent < seconds * 1000 && calls.size() < 2000; ) {
            began = System.nanoTime();
            assign(name, cluster, group);
            calls.add((System.nanoTime() - began) / 1e6);
            spent += calls.get(calls.size() - 1);
        }
        List<Double> warm = new ArrayList<>(calls.subList(calls.size() / 2, calls.size()));
        Collections.sort(warm);
        double median = warm.isEmpty() ? first : warm.get(warm.size() / 2);
        System.out.printf("%.3f %.3f %s%n", first, median, digest(answer));
        System.out.flush();
        return answer;
    }

    private static Map<String, Assignment> assign(String name, Cluster cluster, Map<String, Subscription> group) {
        return assignor(name).assign(cluster, new GroupSubscription(group)).groupAssignment();
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        return switch (name) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Subscription remembering(String name, Subscription before, Assignment assigned) {
        ConsumerPartitionAssignor own = assignor(name);
        own.onAssignment(assigned, new ConsumerGroupMetadata("bench", GENERATION, "", Optional.empty()));
        return new Subscription(before.topics(), own.subscriptionUserData(Set.copyOf(before.topics())), assigned.partitions(), GENERATION,
            Optional.empty());
    }

    private static Cluster cluster(int topics, int partitions) {
        Node node = new Node(0, "localhost", 9092);
        List<PartitionInfo> all = new ArrayList<>();
        for (int t = 0; t < topics; t++) {
            String topic = String.format("t%04d", t);
            for (int p = 0; p < partitions; p++) {
                all.add(new PartitionInfo(topic, p, node, new Node[] {node}, new Node[] {node}));
            }
        }
        return new Cluster("bench", List.of(node), all, Set.of(), Set.of());
    }

    private static Map<String, List<String>> subscriptions(int members, int topics, boolean equal) {
        Map<String, List<String>> wanted = new java.util.LinkedHashMap<>();
        int x = 42;
        for (int m = 0; m < members; m++) {
            List<String> mine = new ArrayList<>();
            for (int t = 0; t < topics; t++) {
                x = (int) ((x * 1103515245L + 12345) & 0x7fffffff);
                if (equal || ((x >> 16) & 1) == 1) {
                    mine.add(String.format("t%04d", t));
                }
            }
            if (mine.isEmpty()) {
                mine.add(String.format("t%04d", m % topics));
            }
            wanted.put(String.format("m%05d", m), mine);
        }
        return wanted;
    }

    private static String digest(Map<String, Assignment> answer) throws Exception {
        MessageDigest sha = MessageDigest.getInstance("SHA-256");
        for (Map.Entry<String, Assignment> entry : answer.entrySet()) {
            StringBuilder line = new StringBuilder(entry.getKey()).append(':');
            entry.getValue().partitions().forEach(tp -> line.append(tp.topic()).append('-').append(tp.partition()).append(','));
            sha.update(line.append('\n').toString().getBytes(StandardCharsets.UTF_8));
        }
        return HexFormat.of().formatHex(Arrays.copyOf(sha.digest(), 8));
    }
}

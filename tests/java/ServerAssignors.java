import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.AbstractSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.StringTokenizer;
import java.util.ArrayList;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * Answers cases, one a line, with Kafka's own server-side assignors, one line each. The order of everything is kept:
 * what comes in iterates as it was written (only the members go through a HashMap), what goes out stands as Java iterates it.
 * The words of a line: see tests/assignors/server_cases.py.
 */
public final class ServerAssignors {
    private static final Map<String, PartitionAssignor> ASSIGNORS =
        Map.of("uniform", new UniformAssignor(), "range", new RangeAssignor(), "simple", new SimpleAssignor());

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = switch (line.split(" ", 2)[0]) {
                    case "release" -> String.valueOf(Runtime.version().feature());
                    case "table" -> table(line.split(" "));
                    default -> answer(new StringTokenizer(line, " "));
                };
            } catch (Exception e) {
                answer = "! " + e.getClass().getSimpleName();
            }
            out.println(answer);
            out.flush();
        }
    }

    private static String answer(StringTokenizer words) throws Exception {
        PartitionAssignor assignor = ASSIGNORS.get(words.nextToken());
        SubscriptionType type = words.nextToken().equals("1") ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        Map<Uuid, Integer> sizes = new HashMap<>();
        for (int n = number(words); n > 0; n--) {
            Uuid topic = uuid(words);
            sizes.put(topic, number(words));
        }
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> inverted = new HashMap<>();
        for (int n = number(words); n > 0; n--) {
            String id = words.nextToken();
            Optional<String> instance = optional(words);
            Optional<String> rack = optional(words);
            Set<Uuid> topics = subscription(words);
            Map<Uuid, Set<Integer>> owned = owned(words);
            invert(inverted, owned, id);
            members.put(id, new MemberSubscriptionAndAssignmentImpl(rack, instance, topics, new Assignment(owned)));
        }
        invert(inverted, owned(words), "somebody else");
        GroupSpec spec = new GroupSpecImpl(members, type, inverted);
        Map<String, MemberAssignment> result = assignor.assign(spec, new Describer(sizes)).members();
        return written(result);
    }

    /** A HashMap of the named capacity after some puts (+), computeIfAbsents (?) and removals (-): its keys as it iterates. */
    private static String table(String[] words) {
        Map<Object, Boolean> table = new HashMap<>(Integer.parseInt(words[1]));
        for (int i = 2; i < words.length; i++) {
            String text = words[i].substring(2);
            Object key = words[i].charAt(1) == 'i' ? (Object) Integer.valueOf(text) : text;
            switch (words[i].charAt(0)) {
                case '+' -> table.put(key, true);
                case '?' -> table.computeIfAbsent(key, absent -> true);
                default -> table.remove(key);
            }
        }
        StringBuilder text = new StringBuilder().append(table.size());
        table.keySet().forEach(key -> text.append(' ').append(key));
        return text.toString();
    }

    private static String written(Map<String, MemberAssignment> result) {
        StringBuilder text = new StringBuilder().append(result.size());
        result.forEach((member, assignment) -> {
            text.append(' ').append(member).append(' ').append(assignment.partitions().size());
            assignment.partitions().forEach((topic, partitions) -> {
                text.append(' ').append(hex(topic)).append(' ').append(partitions.size());
                for (int partition : partitions) {
                    text.append(' ').append(partition);
                }
            });
        });
        return text.toString();
    }

    /** A set that claims the size of the subscribed names and iterates over the ids that could be found, as TopicIds does. */
    private static Set<Uuid> subscription(StringTokenizer words) {
        int names = number(words);
        List<Uuid> ids = new ArrayList<>();
        for (int n = number(words); n > 0; n--) {
            ids.add(uuid(words));
        }
        Set<Uuid> known = new LinkedHashSet<>(ids);
        return new AbstractSet<>() {
            @Override public int size() {
                return names;
            }

            @Override public boolean contains(Object topic) {
                return known.contains(topic);
            }

            @Override public Iterator<Uuid> iterator() {
                return ids.iterator();
            }
        };
    }

    private static Map<Uuid, Set<Integer>> owned(StringTokenizer words) {
        Map<Uuid, Set<Integer>> owned = new LinkedHashMap<>();
        for (int n = number(words); n > 0; n--) {
            Set<Integer> partitions = new LinkedHashSet<>();
            owned.put(uuid(words), partitions);
            for (int m = number(words); m > 0; m--) {
                partitions.add(number(words));
            }
        }
        return owned;
    }

    private static void invert(Map<Uuid, Map<Integer, String>> inverted, Map<Uuid, Set<Integer>> owned, String member) {
        owned.forEach((topic, partitions) ->
            partitions.forEach(partition -> inverted.computeIfAbsent(topic, t -> new HashMap<>()).put(partition, member)));
    }

    private static int number(StringTokenizer words) {
        return Integer.parseInt(words.nextToken());
    }

    private static Optional<String> optional(StringTokenizer words) {
        String word = words.nextToken();
        return word.equals("-") ? Optional.empty() : Optional.of(word);
    }

    private static Uuid uuid(StringTokenizer words) {
        String hex = words.nextToken();
        return new Uuid(Long.parseUnsignedLong(hex.substring(0, 16), 16), Long.parseUnsignedLong(hex.substring(16), 16));
    }

    private static String hex(Uuid topic) {
        return String.format("%016x%016x", topic.getMostSignificantBits(), topic.getLeastSignificantBits());
    }

    private record Describer(Map<Uuid, Integer> sizes) implements SubscribedTopicDescriber {
        @Override public int numPartitions(Uuid topic) {
            return sizes.getOrDefault(topic, -1);
        }

        @Override public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}

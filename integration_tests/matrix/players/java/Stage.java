import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** The words of a player (players/__init__.py): orders in, answers out, polls in between. */
final class Stage {
    /** A member of a group. */
    interface Member {
        Iterable<ConsumerRecord<String, String>> poll();

        void commit();

        void release();

        void transact(String out, List<ConsumerRecord<String, String>> read, boolean commits);

        void close();
    }

    private Stage() {}

    static void play(Member member) throws Exception {
        LinkedBlockingQueue<String> orders = new LinkedBlockingQueue<>();
        Thread listener = new Thread(() -> listen(orders));
        listener.setDaemon(true);
        listener.start();
        try {
            obey(member, orders);
        } catch (Exception failure) {
            System.out.println("failed " + failure.toString().replace('\n', ' '));
            throw failure;
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static void listen(LinkedBlockingQueue<String> orders) {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        in.lines().forEach(orders::add);
        orders.add("leave");
    }

    private static void obey(Member member, LinkedBlockingQueue<String> orders) {
        List<ConsumerRecord<String, String>> read = new ArrayList<>();
        while (true) {
            for (ConsumerRecord<String, String> record : member.poll()) {
                read.add(record);
                System.out.println("read " + record.partition() + " " + record.offset() + " " + record.value());
            }
            String order = orders.poll();
            if (order == null) {
                continue;
            }
            String[] words = order.split(" ");
            switch (words[0]) {
                case "commit":
                    member.commit();
                    read.clear();
                    break;
                case "release":
                    member.release();
                    read.clear();
                    break;
                case "transact":
                    boolean commits = words[2].equals("commit");
                    member.transact(words[1], read, commits);
                    if (commits) {
                        read.clear();
                    }
                    break;
                default:
                    member.close();
                    return;
            }
            System.out.println("done");
        }
    }

    static Properties settings(String[] wanted) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", wanted[0]);
        settings.put("group.id", wanted[1]);
        settings.put("client.id", "player");
        settings.put("fetch.max.wait.ms", "100");
        settings.put("key.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        settings.put("value.deserializer", "org.apache.kafka.common.serialization.StringDeserializer");
        return settings;
    }
}

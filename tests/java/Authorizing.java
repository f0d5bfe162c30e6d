import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/**
 * What Kafka's StandardAuthorizer decides. A question: whether everybody may what no ACL is about, super users, ACLs and
 * requests, each part behind a bar; texts are hex. An answer: a letter for each request, A allowed or D denied; "?" and why
 * for what cannot be asked.
 */
public class Authorizing {
    private static final HexFormat HEX = HexFormat.of();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(line.split("\\|", -1)));
        }
    }

    private static String answer(String[] parts) {
        // Metrics of its own: authorizers that share them share a sensor, and each request is counted in the metrics of all before.
        try (Metrics metrics = new Metrics(); StandardAuthorizer authorizer = new StandardAuthorizer()) {
            authorizer.withPluginMetrics(new PluginMetricsImpl(metrics, new LinkedHashMap<>()));
            authorizer.configure(Map.of("super.users", text(parts[1]), "allow.everyone.if.no.acl.found", parts[0]));
            Map<Uuid, StandardAcl> acls = new HashMap<>();
            for (String one : items(parts[2])) {
                String[] of = one.split(",", -1);
                acls.put(Uuid.randomUuid(), new StandardAcl(ResourceType.fromCode(code(of[0])), text(of[2]),
                    PatternType.fromCode(code(of[1])), text(of[3]), text(of[4]), AclOperation.fromCode(code(of[5])),
                    AclPermissionType.fromCode(code(of[6]))));
            }
            authorizer.loadSnapshot(acls);
            authorizer.completeInitialLoad();
            StringBuilder said = new StringBuilder();
            for (String one : items(parts[3])) {
                String[] of = one.split(",", -1);
                AuthorizableRequestContext who = context(text(of[0]), text(of[1]));
                AclOperation operation = AclOperation.fromCode(code(of[2]));
                ResourceType type = ResourceType.fromCode(code(of[3]));
                AuthorizationResult result = of[4].isEmpty()
                    ? authorizer.authorizeByResourceType(who, operation, type)
                    : authorizer.authorize(who, List.of(new Action(operation,
                        new ResourcePattern(type, text(of[4]), PatternType.LITERAL), 1, false, false))).get(0);
                said.append(result == AuthorizationResult.ALLOWED ? 'A' : 'D');
            }
            return said.toString();
        } catch (Throwable fault) {
            return "?" + fault.toString().replaceAll("[^ -~]", " ");
        }
    }

    private static String[] items(String text) {
        return text.isEmpty() ? new String[0] : text.split(";", -1);
    }

    private static byte code(String number) {
        return Byte.parseByte(number);
    }

    private static String text(String hex) {
        return new String(HEX.parseHex(hex), StandardCharsets.UTF_8);
    }

    private static AuthorizableRequestContext context(String user, String host) throws Exception {
        KafkaPrincipal principal = new KafkaPrincipal("User", user);
        InetAddress address = InetAddress.getByName(host);
        return new AuthorizableRequestContext() {
            @Override public String listenerName() {
                return "SASL";
            }

            @Override public SecurityProtocol securityProtocol() {
                return SecurityProtocol.SASL_PLAINTEXT;
            }

            @Override public KafkaPrincipal principal() {
                return principal;
            }

            @Override public InetAddress clientAddress() {
                return address;
            }

            @Override public int requestType() {
                return 3;
            }

            @Override public int requestVersion() {
                return 9;
            }

            @Override public String clientId() {
                return "test";
            }

            @Override public int correlationId() {
                return 1;
            }
        };
    }
}

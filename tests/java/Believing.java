import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.oauthbearer.BrokerJwtValidator;
import org.apache.kafka.common.security.oauthbearer.JwtValidatorException;
import org.jose4j.jwk.EcJwkGenerator;
import org.jose4j.jwk.EllipticCurveJsonWebKey;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jws.AlgorithmIdentifiers;
import org.jose4j.jws.JsonWebSignature;
import org.jose4j.keys.EllipticCurves;

/**
 * Which signed tokens Kafka's BrokerJwtValidator believes. A question: clock.skew.seconds and claims with instants beside
 * now, in seconds, such as "30 exp=-30 iat=-100". An answer: A believed, D not; and the token's end beside now in
 * milliseconds. The clock is the machine's: a token is signed and judged within one of its seconds.
 */
public class Believing {
    private static final Map<String, BrokerJwtValidator> VALIDATORS = new HashMap<>();
    private static EllipticCurveJsonWebKey key;
    private static Path keys;

    public static void main(String[] arguments) throws Exception {
        key = EcJwkGenerator.generateJwk(EllipticCurves.P256);
        key.setKeyId("one");
        keys = Files.createTempFile("keys", ".json");
        keys.toFile().deleteOnExit();
        Files.writeString(keys, new JsonWebKeySet(key).toJson(JsonWebKey.OutputControlLevel.PUBLIC_ONLY));
        System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", keys.toUri().toString());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            String answer = null;
            while (answer == null) {
                answer = judged(words);
            }
            System.out.println(answer);
        }
    }

    /** What is said of a token; null when another second began meanwhile. */
    private static String judged(String[] words) throws Exception {
        BrokerJwtValidator validator = validator(words[0]);
        long now = now();
        String token = signed(words, now);
        String answer;
        try {
            answer = "A " + (validator.validate(token).lifetimeMs() - now * 1000);
        } catch (JwtValidatorException refused) {
            answer = "D";
        }
        return now() == now ? answer : null;
    }

    private static long now() {
        return System.currentTimeMillis() / 1000;
    }

    private static String signed(String[] words, long now) throws Exception {
        StringBuilder claims = new StringBuilder("{\"sub\": \"alice\", \"aud\": \"kafka\", \"iss\": \"issuer\"");
        for (int i = 1; i < words.length; i++) {
            String[] of = words[i].split("=");
            claims.append(", \"").append(of[0]).append("\": ");
            claims.append(of[1].contains(".") ? String.format("%d.%s", now + Long.parseLong(of[1].split("\\.")[0]),
                of[1].split("\\.")[1]) : Long.toString(now + Long.parseLong(of[1])));
        }
        JsonWebSignature signature = new JsonWebSignature();
        signature.setPayload(claims.append("}").toString());
        signature.setKey(key.getPrivateKey());
        signature.setKeyIdHeaderValue(key.getKeyId());
        signature.setAlgorithmHeaderValue(AlgorithmIdentifiers.ECDSA_USING_P256_CURVE_AND_SHA256);
        return signature.getCompactSerialization();
    }

    private static BrokerJwtValidator validator(String skew) {
        return VALIDATORS.computeIfAbsent(skew, seconds -> {
            Map<String, Object> configs = new HashMap<>();
            configs.put("sasl.oauthbearer.jwks.endpoint.url", keys.toUri().toString());
            configs.put("sasl.oauthbearer.clock.skew.seconds", Integer.parseInt(seconds));
            configs.put("sasl.oauthbearer.expected.audience", List.of("kafka"));
            configs.put("sasl.oauthbearer.expected.issuer", "issuer");
            configs.put("sasl.oauthbearer.scope.claim.name", "scope");
            configs.put("sasl.oauthbearer.sub.claim.name", "sub");
            BrokerJwtValidator made = new BrokerJwtValidator();
            made.configure(configs, "OAUTHBEARER", List.of(new AppConfigurationEntry("module",
                AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, Map.of())));
            return made;
        });
    }
}

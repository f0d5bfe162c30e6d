package example;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** An emulator's control port: `coordinator serve --control 127.0.0.1:8080`, or the container's port 8080. */
final class Control {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final String url;
    private final String token;

    Control(String url, String token) {
        this.url = url;
        this.token = token;
    }

    String bootstrapServers() throws Exception {
        return get("/").get("bootstrap_servers").asText();
    }

    JsonNode get(String path) throws Exception {
        return send(path, HttpRequest.newBuilder().GET());
    }

    /** Asks for something; fails with the sentence of the problem document if it is refused. `body` is JSON. */
    JsonNode post(String path, String body) throws Exception {
        return send(path, HttpRequest.newBuilder().POST(BodyPublishers.ofString(body)).header("Content-Type", "application/json"));
    }

    private JsonNode send(String path, HttpRequest.Builder request) throws Exception {
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        var response = client.send(request.uri(URI.create(url + path)).build(), BodyHandlers.ofString());
        var answer = JSON.readTree(response.body());
        if (response.statusCode() >= 400) {
            throw new AssertionError(path + ": " + answer.get("detail").asText());
        }
        return answer;
    }
}

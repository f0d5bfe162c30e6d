package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import control.ApiClient;
import control.ApiException;
import control.api.FaultsApi;
import control.api.GroupsApi;
import control.api.PeersApi;
import control.api.TopicsApi;
import control.model.FaultList200ResponseFaultsInnerFault;
import control.model.FaultList200ResponseFaultsInnerFault.ActionEnum;
import control.model.FaultList200ResponseFaultsInnerFault.ApiEnum;
import control.model.GroupWaitRequest;
import control.model.PeerStartRequest;
import control.model.TopicCreateRequest;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

@EnabledIfEnvironmentVariable(named = "COORDINATOR_CONTROL", matches = "http.*")
class GeneratedClientTest {
    @Test
    void aGeneratedClient() throws ApiException {
        ApiClient client = new ApiClient();
        client.updateBaseUri(System.getenv("COORDINATOR_CONTROL"));
        String token = System.getenv("COORDINATOR_CONTROL_TOKEN");
        client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
        String name = "generated-java";

        TopicsApi topics = new TopicsApi(client);
        topics.topicCreate(new TopicCreateRequest().name(name).partitions(6));
        ApiException twice = assertThrows(ApiException.class, () -> topics.topicCreate(new TopicCreateRequest().name(name)));
        assertEquals(409, twice.getCode());

        FaultsApi faults = new FaultsApi(client);
        var added = faults.faultAdd(new FaultList200ResponseFaultsInnerFault()
            .action(ActionEnum.FAIL).error("COORDINATOR_LOAD_IN_PROGRESS").api(ApiEnum.JOIN_GROUP).group(name).times(1));
        new PeersApi(client).peerStart(new PeerStartRequest().group(name).topics(List.of(name)));
        new GroupsApi(client).groupWait(name, new GroupWaitRequest().state("Stable").members(1));
        assertEquals(1, faults.faultDescribe(String.valueOf(added.getFaultId())).getHits());
    }
}

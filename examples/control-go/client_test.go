package main

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"testing"

	"example.org/control/control"
)

func TestAGeneratedClient(t *testing.T) {
	url := os.Getenv("COORDINATOR_CONTROL")
	if url == "" {
		t.Skip("set COORDINATOR_CONTROL to the address that `coordinator serve --control` prints")
	}
	token := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("COORDINATOR_CONTROL_TOKEN"))
		return nil
	}
	kafka, err := control.NewClientWithResponses(url, control.WithRequestEditorFn(token))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()

	partitions := 6
	made, err := kafka.TopicCreateWithResponse(ctx, control.TopicCreateJSONRequestBody{Name: "generated-go", Partitions: &partitions})
	if err != nil || made.JSON200 == nil {
		t.Fatal(err, made.Status())
	}
	again, err := kafka.TopicCreateWithResponse(ctx, control.TopicCreateJSONRequestBody{Name: "generated-go"})
	if err != nil || again.ApplicationproblemJSONDefault == nil || again.StatusCode() != http.StatusConflict {
		t.Fatal(err, again.Status())
	}

	group, once := "generated-go", 1
	api := control.FaultAddJSONBodyApi("JoinGroup")
	added, err := kafka.FaultAddWithResponse(ctx, control.FaultAddJSONRequestBody{
		Action: "fail", Error: "COORDINATOR_LOAD_IN_PROGRESS", Api: &api, Group: &group, Times: &once,
	})
	if err != nil || added.JSON200 == nil {
		t.Fatal(err, added.Status(), string(added.Body))
	}

	topics := []string{"generated-go"}
	peer, err := kafka.PeerStartWithResponse(ctx, control.PeerStartJSONRequestBody{Group: group, Topics: &topics})
	if err != nil || peer.JSON200 == nil {
		t.Fatal(err, peer.Status(), string(peer.Body))
	}
	state, members := "Stable", 1
	waited, err := kafka.GroupWaitWithResponse(ctx, group, control.GroupWaitJSONRequestBody{State: &state, Members: &members})
	if err != nil || waited.JSON200 == nil {
		t.Fatal(err, waited.Status(), string(waited.Body))
	}
	hit, err := kafka.FaultDescribeWithResponse(ctx, strconv.Itoa(added.JSON200.FaultId))
	if err != nil || hit.JSON200 == nil || hit.JSON200.Hits != 1 {
		t.Fatal(err, hit.Status(), string(hit.Body))
	}
}

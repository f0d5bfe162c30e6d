package coordinatorcontainer

import (
	"context"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func TestAGroupReadsWhatWasWrittenAndTheControlPortKnowsIt(t *testing.T) {
	testcontainers.SkipIfProviderIsNotHealthy(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	image := os.Getenv("COORDINATOR_IMAGE")
	if image == "" {
		image = "kafka-group-coordinator:0.1.0"
	}
	password := `secret "quoted"`
	kafka, err := Run(ctx, image, Options{Topics: map[string]int{"orders": 4}, Users: map[string]string{"billing": password}})
	testcontainers.CleanupContainer(t, kafka)
	if err != nil {
		t.Fatal(err)
	}
	servers, err := kafka.BootstrapServers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(servers), kgo.SASL(plain.Auth{User: "billing", Pass: password}.AsMechanism()),
		kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("coffee")}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	fetched := client.PollFetches(ctx)
	if records := fetched.Records(); fetched.Err() != nil || len(records) != 1 || string(records[0].Value) != "coffee" {
		t.Fatal(fetched.Err(), records)
	}
	control, err := kafka.ControlURL(ctx)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, control+"/groups/billing", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+kafka.ControlToken())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status)
	}
}

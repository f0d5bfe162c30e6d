package orders

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// application is the consumer application under test: it processes records and commits behind them.
type application struct {
	client    *kgo.Client
	done      sync.WaitGroup
	mu        sync.Mutex
	processed []string
}

func start(t *testing.T, servers string) *application {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(servers), kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.HeartbeatInterval(100*time.Millisecond), kgo.FetchMaxWait(100*time.Millisecond),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		t.Fatal(err)
	}
	app := &application{client: client}
	app.done.Add(1)
	go app.run()
	t.Cleanup(func() {
		client.Close()
		app.done.Wait()
	})
	return app
}

func (a *application) run() {
	defer a.done.Done()
	for {
		fetches := a.client.PollFetches(context.Background())
		if fetches.IsClientClosed() {
			return
		}
		fetches.EachRecord(func(record *kgo.Record) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.processed = append(a.processed, string(record.Value))
		})
		a.client.CommitUncommittedOffsets(context.Background())
	}
}

func TestHandsOverCleanly(t *testing.T) {
	k := connect(t)
	k.call("POST", "/topics", map[string]any{"name": "orders", "partitions": 4})
	k.call("POST", "/topics/orders/records", map[string]any{"values": []string{"coffee", "tea"}, "partition": 0})
	app := start(t, k.bootstrapServers())
	first := k.wait("billing", map[string]any{"state": "Stable", "members": 1, "assigned": "all", "committed": map[string]int{"orders-0": 2}})

	// A simulated member: a rebalance without a second consumer.
	peer := k.call("POST", "/peers", map[string]any{"group": "billing", "topics": []string{"orders"}, "config": map[string]any{"heartbeat.interval.ms": 100}})
	path := "/peers/" + string(mustJSON(t, peer["peer_id"]))
	k.wait("billing", map[string]any{"state": "Stable", "members": 2, "assigned": "all", "generation_above": first["generation"]})
	k.call("POST", path+"/stop", nil)
	k.wait("billing", map[string]any{"state": "Stable", "members": 1, "assigned": "all"})

	verdict := k.call("POST", "/groups/billing/verify", map[string]any{"checks": []map[string]any{
		{"check": "single_owner"}, {"check": "committed", "offsets": map[string]int{"orders-0": 2}},
	}})
	if verdict["holds"] != true {
		t.Fatal(verdict)
	}
	app.mu.Lock()
	defer app.mu.Unlock()
	if len(app.processed) != 2 {
		t.Fatalf("processed %v", app.processed)
	}
}

func TestACommitThatFailsIsTriedAgain(t *testing.T) {
	k := connect(t)
	k.call("POST", "/topics", map[string]any{"name": "orders", "partitions": 1})
	fault := k.call("POST", "/faults", map[string]any{
		"action": "fail", "api": "OffsetCommit", "error": "COORDINATOR_LOAD_IN_PROGRESS", "group": "billing", "times": 1,
	})
	start(t, k.bootstrapServers())
	k.wait("billing", map[string]any{"state": "Stable", "members": 1})
	k.call("POST", "/topics/orders/records", map[string]any{"values": []string{"coffee"}, "partition": 0})
	k.call("POST", "/faults/"+string(mustJSON(t, fault["fault_id"]))+"/wait", nil)
	k.call("POST", "/topics/orders/records", map[string]any{"values": []string{"tea"}, "partition": 0})
	k.wait("billing", map[string]any{"committed": map[string]int{"orders-0": 2}})
}

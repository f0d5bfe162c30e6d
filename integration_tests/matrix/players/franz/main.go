// The player of franz-go; players/__init__.py has its words.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// member is one member of a group, as the protocol of the group wants it.
type member interface {
	poll(context.Context) kgo.Fetches
	commit(context.Context) error
	release(context.Context) error
	transact(ctx context.Context, out string, read []*kgo.Record, commits bool) error
	close()
}

func check(err error) {
	if err != nil {
		fmt.Println("failed", strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

func main() {
	address, group, topic, protocol := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	options := []kgo.Opt{
		kgo.SeedBrokers(address), kgo.ClientID("player"), kgo.ConsumeTopics(topic), kgo.FetchMaxWait(100 * time.Millisecond),
	}
	if len(os.Args) > 5 {
		options = append(options, kgo.InstanceID(os.Args[5]))
	}
	if protocol == "share" {
		obey(newWorker(group, options))
		return
	}
	options = append(options,
		kgo.ConsumerGroup(group), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.HeartbeatInterval(200*time.Millisecond), kgo.SessionTimeout(5*time.Minute), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.TransactionalID(fmt.Sprint(group, os.Getpid())), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	)
	if protocol == "consumer" {
		options = append(options, consumerProtocol()...)
	}
	session, err := kgo.NewGroupTransactSession(options...)
	check(err)
	obey(&consumer{session})
}

func obey(m member) {
	orders := make(chan string, 10)
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			orders <- lines.Text()
		}
		orders <- "leave"
	}()
	ctx := context.Background()
	var read []*kgo.Record
	for {
		for _, record := range polled(ctx, m) {
			read = append(read, record)
			fmt.Println("read", record.Partition, record.Offset, string(record.Value))
		}
		select {
		case order := <-orders:
			words := strings.Fields(order)
			switch words[0] {
			case "commit":
				check(m.commit(ctx))
				read = nil
			case "release":
				check(m.release(ctx))
				read = nil
			case "transact":
				commits := words[2] == "commit"
				check(m.transact(ctx, words[1], read, commits))
				if commits {
					read = nil
				}
			default:
				m.close()
				return
			}
			fmt.Println("done")
		default:
		}
	}
}

// polled is what came within a tenth of a second.
func polled(ctx context.Context, m member) []*kgo.Record {
	within, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	fetches := m.poll(within)
	for _, failure := range fetches.Errors() {
		if failure.Err != context.DeadlineExceeded {
			check(failure.Err)
		}
	}
	return fetches.Records()
}

// consumer is a member of a group of the classic or the consumer protocol.
type consumer struct{ session *kgo.GroupTransactSession }

func (c *consumer) poll(ctx context.Context) kgo.Fetches { return c.session.PollFetches(ctx) }

func (c *consumer) commit(ctx context.Context) error {
	return c.session.Client().CommitUncommittedOffsets(ctx)
}

func (c *consumer) release(context.Context) error { panic("there is nothing to release") }

// transact writes what was read. An abort sets the session back to what is committed, so the same is read once more.
func (c *consumer) transact(ctx context.Context, out string, read []*kgo.Record, commits bool) error {
	if err := c.session.Begin(); err != nil {
		return err
	}
	for _, record := range read {
		if err := c.session.ProduceSync(ctx, &kgo.Record{Topic: out, Value: record.Value}).FirstErr(); err != nil {
			return err
		}
	}
	committed, err := c.session.End(ctx, kgo.TransactionEndTry(commits))
	if err != nil || committed != commits {
		return fmt.Errorf("the transaction ended with commit %v: %w", committed, err)
	}
	for again := 0; !commits && again < len(read); {
		again += len(polled(ctx, c))
	}
	return nil
}

func (c *consumer) close() {
	c.session.Client().LeaveGroup()
	c.session.Close()
}

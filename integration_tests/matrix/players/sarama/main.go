// The player of sarama; players/__init__.py has its words.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

func check(err error) {
	if err != nil {
		fmt.Println("failed", strings.Join(strings.Fields(err.Error()), " "))
		os.Exit(1)
	}
}

// player is what sarama calls for each generation; what it has read stands until it is committed.
type player struct {
	address, group, topic string
	config                *sarama.Config
	mu                    sync.Mutex
	session               sarama.ConsumerGroupSession
	read                  []*sarama.ConsumerMessage
	producer              sarama.AsyncProducer
}

func (p *player) Setup(session sarama.ConsumerGroupSession) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = session
	return nil
}

func (p *player) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (p *player) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			p.mu.Lock()
			p.read = append(p.read, message)
			fmt.Println("read", message.Partition, message.Offset, string(message.Value))
			p.mu.Unlock()
		case <-session.Context().Done():
			return nil
		}
	}
}

func main() {
	config := sarama.NewConfig()
	config.ClientID = "player"
	config.Version = sarama.V2_8_0_0
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.IsolationLevel = sarama.ReadCommitted
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	config.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	config.Consumer.Group.Session.Timeout = 5 * time.Minute
	if len(os.Args) > 5 {
		config.Consumer.Group.InstanceId = os.Args[5]
	}
	p := &player{address: os.Args[1], group: os.Args[2], topic: os.Args[3], config: config}
	group, err := sarama.NewConsumerGroup([]string{p.address}, p.group, config)
	check(err)
	ctx, cancel := context.WithCancel(context.Background())
	var consuming sync.WaitGroup
	consuming.Add(1)
	go func() {
		defer consuming.Done()
		for ctx.Err() == nil {
			check(group.Consume(ctx, []string{p.topic}, p))
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if words[0] == "leave" {
			break
		}
		p.obey(words)
	}
	cancel()
	consuming.Wait()
	check(group.Close())
}

func (p *player) obey(words []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch words[0] {
	case "commit":
		for _, message := range p.read {
			p.session.MarkMessage(message, "")
		}
		p.session.Commit()
		p.read = nil
	case "transact":
		commits := words[2] == "commit"
		p.transact(words[1], commits)
		if commits {
			p.read = nil
		}
	default:
		check(fmt.Errorf("it cannot %s", words[0]))
	}
	fmt.Println("done")
}

func (p *player) transact(out string, commits bool) {
	if p.producer == nil {
		config := *p.config
		config.Producer.Idempotent = true
		config.Producer.Transaction.ID = p.group
		config.Producer.RequiredAcks = sarama.WaitForAll
		config.Producer.Return.Successes = true
		config.Net.MaxOpenRequests = 1
		producer, err := sarama.NewAsyncProducer([]string{p.address}, &config)
		check(err)
		p.producer = producer
	}
	check(p.producer.BeginTxn())
	for _, message := range p.read {
		p.producer.Input() <- &sarama.ProducerMessage{Topic: out, Value: sarama.ByteEncoder(message.Value)}
		select {
		case <-p.producer.Successes():
		case failure := <-p.producer.Errors():
			check(failure)
		}
	}
	for _, message := range p.read {
		check(p.producer.AddMessageToTxn(message, p.group, nil))
	}
	if commits {
		check(p.producer.CommitTxn())
	} else {
		check(p.producer.AbortTxn())
	}
}

// The reader of franz-go; ../__init__.py has its words.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

func check(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func number(word string) int64 {
	value, err := strconv.ParseInt(word, 10, 64)
	check(err)
	return value
}

func main() {
	address := os.Args[1]
	for _, task := range os.Args[2:] {
		words := strings.Split(task, "|")
		found := ""
		if words[0] == "read" {
			found = read(address, words)
		} else {
			found = times(address, words)
		}
		fmt.Printf("%s: %s\n", words[1], found)
	}
}

// reset is the library's word for a value of auto.offset.reset.
func reset(policy string) kgo.Offset {
	switch policy {
	case "earliest":
		return kgo.NewOffset().AtStart()
	case "latest":
		return kgo.NewOffset().AtEnd()
	case "by_duration:P1D":
		return kgo.NewOffset().AfterMilli(time.Now().Add(-24 * time.Hour).UnixMilli())
	default:
		return kgo.NoResetOffset()
	}
}

// read has no position to look at: with latest it writes until it reads what it wrote itself, behind all that was there.
func read(address string, words []string) string {
	isolation := kgo.ReadUncommitted()
	if words[5] == "read_committed" {
		isolation = kgo.ReadCommitted()
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(address), kgo.ConsumeTopics(words[2]), kgo.ConsumerGroup(words[3]), kgo.ConsumeResetOffset(reset(words[4])),
		kgo.FetchIsolationLevel(isolation), kgo.DisableAutoCommit(), kgo.FetchMaxWait(100*time.Millisecond), kgo.DefaultProduceTopic(words[2]),
	)
	check(err)
	defer client.Close()
	until, given := number(words[6]), "read"
	for {
		within, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		fetches := client.PollFetches(within)
		cancel()
		for _, failure := range fetches.Errors() {
			var told *kerr.Error
			if errors.As(failure.Err, &told) {
				return told.Message
			}
			if !errors.Is(failure.Err, context.DeadlineExceeded) {
				check(failure.Err)
			}
		}
		for _, record := range fetches.Records() {
			if record.Offset < until {
				given += fmt.Sprint(" ", record.Offset)
			}
			if record.Offset >= until-1 {
				return given
			}
		}
		if words[4] == "latest" {
			check(client.ProduceSync(context.Background(), kgo.StringRecord("behind all")).FirstErr())
		}
	}
}

func times(address string, words []string) string {
	client, err := kgo.NewClient(kgo.SeedBrokers(address))
	check(err)
	defer client.Close()
	listed, err := kadm.NewClient(client).ListOffsetsAfterMilli(context.Background(), number(words[3]), words[2])
	check(err)
	found, _ := listed.Lookup(words[2], 0)
	check(found.Err)
	if found.Timestamp < 0 {
		return fmt.Sprint("found the end, ", found.Offset)
	}
	return fmt.Sprint("found ", found.Offset)
}

//go:build !older

package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// consumerProtocol asks for a group of KIP-848.
func consumerProtocol() []kgo.Opt {
	return []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer())}
}

// worker is a member of a share group.
type worker struct {
	client *kgo.Client
	held   bool
}

func newWorker(group string, options []kgo.Opt) *worker {
	client, err := kgo.NewClient(append(options, kgo.ShareGroup(group))...)
	check(err)
	return &worker{client: client}
}

// poll takes more records only after it is told what becomes of those it has: a poll accepts them.
func (w *worker) poll(ctx context.Context) kgo.Fetches {
	if w.held {
		time.Sleep(20 * time.Millisecond)
		return nil
	}
	fetches := w.client.PollFetches(ctx)
	w.held = fetches.NumRecords() > 0
	return fetches
}

func (w *worker) acknowledge(ctx context.Context, status kgo.AckStatus) error {
	w.client.MarkAcks(status)
	w.held = false
	return w.client.FlushAcks(ctx)
}

func (w *worker) commit(ctx context.Context) error { return w.acknowledge(ctx, kgo.AckAccept) }

func (w *worker) release(ctx context.Context) error { return w.acknowledge(ctx, kgo.AckRelease) }

func (w *worker) transact(context.Context, string, []*kgo.Record, bool) error {
	panic("share groups have no transactions")
}

func (w *worker) close() {
	w.client.LeaveGroup()
	w.client.Close()
}

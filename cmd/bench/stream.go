package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"connectrpc.com/connect"

	"rampart/transport/api"
	"rampart/transport/client"
)

// A stream is a number of clients that submit all the time, each with the patience of a
// user command: it tries other replicas until its budget ends.
type stream struct {
	mu     sync.Mutex
	acks   []ack
	failed []error
}

// An ack is a job that was acknowledged to a client.
type ack struct {
	client int
	at     time.Time
	job    string
}

// run submits from n clients until ctx ends; each pauses between two submissions.
func (s *stream) run(ctx context.Context, w *world, addresses []string, n int, pause time.Duration, m *api.SubmitRequest) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			at := i % len(addresses)
			c := client.New(client.Options{
				Replicas: slices.Concat(addresses[at:], addresses[:at]), Identity: w.id, User: w.user,
			})
			defer c.Close()
			s.one(ctx, c, i, n, pause, m)
		})
	}
	wg.Wait()
}

func (s *stream) one(ctx context.Context, c *client.Client, i, n int, pause time.Duration, m *api.SubmitRequest) {
	batch := c.Batch()
	wait(ctx, pause*time.Duration(i)/time.Duration(n)) // they are spread over the pause
	for ctx.Err() == nil {
		next := time.Now().Add(pause)
		reply, err := batch.Submit(ctx, connect.NewRequest(m))
		switch {
		case err == nil:
			s.acked(ack{i, time.Now(), reply.Msg.GetJob()})
		case ctx.Err() == nil:
			s.fail(err)
		}
		wait(ctx, time.Until(next))
	}
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(max(d, 0)):
	}
}

func (s *stream) acked(a ack) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acks = append(s.acks, a)
}

func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = append(s.failed, err)
}

// after returns the acknowledgements since a time, in their order.
func (s *stream) after(t time.Time) []ack {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []ack
	for _, a := range s.acks {
		if a.at.After(t) {
			all = append(all, a)
		}
	}
	return all
}

// failures returns how many submissions failed, and one of the errors.
func (s *stream) failures() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) == 0 {
		return 0, nil
	}
	return len(s.failed), s.failed[0]
}

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"rampart/transport/api"
)

// clients is how many ask in a stream.
const clients = 8

// transfer hands leadership over again and again under a dense stream of submissions.
func (b *bench) transfer(ctx context.Context) error {
	w, stop, err := b.start(ctx, "--moms", "0")
	if err != nil {
		return err
	}
	defer stop()
	var s stream
	moments, err := b.underStream(ctx, w, &s, job("true"), 10*time.Millisecond, func() (all []time.Time, err error) {
		for range b.few(b.transfers) {
			all = append(all, time.Now())
			if _, err := w.Output(ctx, "rampart", "cluster", "transfer"); err != nil {
				return nil, err
			}
			if err := w.settled(ctx, 3); err != nil {
				return nil, err
			}
			wait(ctx, 700*time.Millisecond)
		}
		return all, nil
	})
	if err != nil {
		return err
	}
	var gaps times
	for _, at := range moments {
		gaps = append(gaps, s.gap(at, at.Add(time.Second)))
	}
	failed, why := s.failures()
	b.note(row{
		fmt.Sprintf("graceful transfer, gap in a stream of 8 clients, %d transfers", len(gaps)),
		gaps.millis() + fmt.Sprintf("; %d failed of %d", failed, len(s.acks)+failed), "", "", "p99 <= 200 ms, none failed",
	})
	if why != nil {
		fmt.Fprintf(os.Stderr, "a submission failed: %v\n", why)
	}
	return nil
}

// gap returns the longest time without an acknowledgement that begins between two times.
func (s *stream) gap(from, until time.Time) (longest time.Duration) {
	last := from
	for _, a := range s.after(from) {
		if last.After(until) {
			break
		}
		longest = max(longest, a.at.Sub(last))
		last = a.at
	}
	return longest
}

// underStream does something to the cluster while clients submit.
func (b *bench) underStream(ctx context.Context, w *world, s *stream, m *api.SubmitRequest, pause time.Duration, do func() ([]time.Time, error)) ([]time.Time, error) {
	all, err := w.Status(ctx)
	if err != nil {
		return nil, err
	}
	var addresses []string
	for _, r := range all {
		addresses = append(addresses, r.Address)
	}
	streaming, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.run(streaming, w, addresses, clients, pause, m)
	}()
	wait(ctx, 2*time.Second)
	moments, err := do()
	wait(ctx, time.Second)
	end()
	<-ended
	return moments, err
}

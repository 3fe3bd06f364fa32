package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// transfer hands leadership over again and again under a dense stream of submissions.
func (b *bench) transfer(ctx context.Context) error {
	w, stop, err := b.start(ctx, "--moms", "0")
	if err != nil {
		return err
	}
	defer stop()
	var s stream
	moments, err := b.underStream(ctx, w, &s, job("true"), 10*time.Millisecond, func() (all []time.Time, err error) {
		for range b.few(20) {
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

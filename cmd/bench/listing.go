package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rampart/transport/api"
)

// follower asks a follower for one job, 500 times a second, and now and then by qstat.
func (b *bench) follower(ctx context.Context) error {
	l, err := b.queue(ctx, b.sizes()[0])
	if err != nil {
		return err
	}
	r, err := l.replica(ctx, "follower")
	if err != nil {
		return err
	}
	id := "1." + "srv"
	idle, _, err := b.oneByOne(ctx, func(ctx context.Context) error { return l.through(r.Name).quiet(ctx, "qstat", id) })
	if err != nil {
		return err
	}
	var busy times
	var fault error
	var wg sync.WaitGroup
	asking, stop := context.WithCancel(ctx)
	wg.Go(func() {
		for asking.Err() == nil && fault == nil {
			began := time.Now()
			fault = l.through(r.Name).quiet(ctx, "qstat", id)
			busy = append(busy, time.Since(began))
			wait(asking, 100*time.Millisecond)
		}
	})
	asked, err := b.askSteadily(ctx, l.world, r.Address, id, 500)
	stop()
	wg.Wait()
	if err := errors.Join(err, fault); err != nil {
		return err
	}
	b.note(row{"one job's status at a follower, linearizable, 500/s asked", asked.millis(), "", "", "p99 <= 10 ms"})
	b.note(row{"qstat ID (process) at a follower, idle", idle.millis(), "Slurm 4.2 ms, elsewhere", ratio(idle.at(0.5).Seconds()*1000, 4.2), ""})
	b.note(row{"qstat ID (process) at a follower, 500/s asked beside it", busy.millis(), "", "", "p99 <= 10 ms"})
	return nil
}

// askSteadily asks n times a second, whether or not the earlier ones were answered, and
// counts from when a question was due: a queue does not hide.
func (b *bench) askSteadily(ctx context.Context, w *world, address, id string, n int) (times, error) {
	total := n * 10
	if b.quick {
		total = n * 2
	}
	c := direct(w.id, address, b.user)
	defer c.http.CloseIdleConnections()
	took := make(times, total)
	faults := make([]error, total)
	var wg sync.WaitGroup
	began := time.Now()
	for i := range total {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(n))
		wait(ctx, time.Until(due))
		wg.Go(func() {
			var found int
			found, _, faults[i] = c.list(ctx, &api.ListRequest{Kind: api.ObjectKind_OBJECT_KIND_JOB, Names: []string{id}})
			took[i] = time.Since(due)
			if faults[i] == nil && found != 1 {
				faults[i] = fmt.Errorf("%d jobs are named %s", found, id)
			}
		})
	}
	wg.Wait()
	return took, errors.Join(faults...)
}

// list measures qstat of all jobs, from a follower.
func (b *bench) list(ctx context.Context) error {
	for _, n := range b.sizes() {
		l, err := b.queue(ctx, n)
		if err != nil {
			return err
		}
		r, err := l.replica(ctx, "follower")
		if err != nil {
			return err
		}
		at := l.through(r.Name)
		short, err := b.listing(ctx, at, l.jobs+2, "qstat")
		if err != nil {
			return err
		}
		full, err := b.listing(ctx, at, l.jobs, "qstat", "-f")
		if err != nil {
			return err
		}
		reference, aim, fullReference, fullAim := listingAims(n)
		b.note(row{"qstat of " + thousands(l.jobs) + " queued jobs, from a follower", sec(short), "OpenPBS " + sec(reference) + ", elsewhere", ratio(short.Seconds(), reference.Seconds()), aim})
		b.note(row{"qstat -f of " + thousands(l.jobs) + " queued jobs, from a follower", sec(full), "OpenPBS " + sec(fullReference) + ", elsewhere", ratio(full.Seconds(), fullReference.Seconds()), fullAim})
		if err := b.chosen(ctx, l, at, r.Address); err != nil {
			return err
		}
	}
	return nil
}

// listingAims returns what design section 12 names for n jobs; it names qstat -f for
// 100,000 only.
func listingAims(n int) (reference time.Duration, aim string, fullReference time.Duration, fullAim string) {
	if n >= 100_000 {
		return 480 * time.Millisecond, "<= 0.40 s", 6500 * time.Millisecond, "<= 3 s"
	}
	return 240 * time.Millisecond, "<= 0.06 s", 650 * time.Millisecond, "<= 0.30 s"
}

// listing runs a command some times and returns the median; the output must be whole.
func (b *bench) listing(ctx context.Context, w *world, least int, name string, args ...string) (time.Duration, error) {
	var all times
	for range 5 {
		lines := &lineCounter{}
		cmd := w.Command(ctx, name, args...)
		cmd.Stdout = lines
		began := time.Now()
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, time.Since(began))
		if lines.n < least {
			return 0, fmt.Errorf("%s printed %d lines, want at least %d", name, lines.n, least)
		}
	}
	return all.at(0.5), nil
}

type lineCounter struct{ n int }

// Write implements io.Writer.
func (c *lineCounter) Write(p []byte) (int, error) {
	for _, b := range p {
		if b == '\n' {
			c.n++
		}
	}
	return len(p), nil
}

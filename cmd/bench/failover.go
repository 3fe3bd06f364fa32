package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"rampart/transport/api"
)

const (
	clients = 8
	// pace is how long each client waits between two submissions: slow enough that the
	// jobs run at once, so that a gap is the cluster's and not a queue's.
	pace = 250 * time.Millisecond
	// tooEarly: what happens this soon after a kill is still the dead leader's doing, an
	// answer in a socket or an order at a mom; followers wait 300 ms for a heartbeat.
	tooEarly = 200 * time.Millisecond
)

// failover kills the leader again and again under a stream of submissions.
func (b *bench) failover(ctx context.Context) error {
	w, stop, err := b.start(ctx, "--mom", "borg:ncpus=64,mem=64gb")
	if err != nil {
		return err
	}
	defer stop()
	marks := filepath.Join(w.Dir, "marks")
	if err := errors.Join(os.Mkdir(marks, 0o777), os.Chmod(marks, 0o777)); err != nil {
		return err
	}
	kills := b.kills
	if b.quick {
		kills = min(kills, 3)
	}
	var s stream
	killed, err := b.underStream(ctx, w, &s, program("/bin/sh", "-c", "echo >> "+marks+"/$PBS_JOBID"), pace, func() ([]time.Time, error) {
		return w.killLeaders(ctx, &s, kills)
	})
	if err != nil {
		return err
	}
	if err := w.drained(ctx); err != nil {
		return err
	}
	started, twice, err := starts(marks)
	if err != nil {
		return err
	}
	b.noteFailover(&s, killed, started)
	return b.nothingLost(ctx, w, &s, started, twice)
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

// killLeaders kills the leader n times, each time when all three are level again, and
// returns when.
func (w *world) killLeaders(ctx context.Context, s *stream, n int) (killed []time.Time, err error) {
	for range n {
		if err := w.settled(ctx, 3); err != nil {
			return nil, err
		}
		wait(ctx, 500*time.Millisecond+rand.N(500*time.Millisecond))
		leader, err := w.Leader(ctx)
		if err != nil {
			return nil, err
		}
		at := time.Now()
		if err := w.Signal(leader, syscall.SIGKILL); err != nil {
			return nil, err
		}
		killed = append(killed, at)
		err = poll(ctx, 10*time.Millisecond, func() error {
			if len(s.after(at.Add(tooEarly))) == 0 {
				return errors.New("nothing was acknowledged since the leader was killed")
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		wait(ctx, 500*time.Millisecond) // the next job starts before the machine is busy with a restart
		if err := w.Restart(ctx, leader); err != nil {
			return nil, err
		}
	}
	return killed, nil
}

func (b *bench) noteFailover(s *stream, killed []time.Time, started map[string]time.Time) {
	var acked, everybody, run times
	for i, at := range killed {
		next := s.after(at.Add(tooEarly))
		acked = append(acked, next[0].at.Sub(at))
		if last, ok := allServed(next); ok {
			everybody = append(everybody, last.Sub(at))
		}
		until := time.Now()
		if i+1 < len(killed) {
			until = killed[i+1]
		}
		if first, ok := firstBetween(started, at.Add(tooEarly), until); ok {
			run = append(run, first.Sub(at))
		}
	}
	n := fmt.Sprintf(", %d kills", len(killed))
	b.note(row{"leader killed to next acknowledged submission" + n, acked.seconds(), "raft alone p50 0.65 s, max 0.86 s", ratio(acked.at(0.5).Seconds(), 0.65), "p50 <= 0.8 s, p99 <= 2 s"})
	b.note(row{"leader killed to all 8 clients served again", everybody.seconds(), "", "", ""})
	b.note(row{"leader killed to next job started", run.seconds(), "", "", "p50 <= 1.5 s"})
}

// allServed returns when the last of the clients was served.
func allServed(acks []ack) (time.Time, bool) {
	seen := map[int]bool{}
	for _, a := range acks {
		if seen[a.client] = true; len(seen) == clients {
			return a.at, true
		}
	}
	return time.Time{}, false
}

func firstBetween(started map[string]time.Time, from, until time.Time) (first time.Time, ok bool) {
	for _, at := range started {
		if at.After(from) && at.Before(until) && (!ok || at.Before(first)) {
			first, ok = at, true
		}
	}
	return first, ok
}

// starts reads the marks that jobs left: when each ran, and which ran twice.
func starts(marks string) (at map[string]time.Time, twice []string, err error) {
	entries, err := os.ReadDir(marks)
	if err != nil {
		return nil, nil, err
	}
	at = map[string]time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, nil, err
		}
		at[e.Name()] = info.ModTime()
		if info.Size() != 1 {
			twice = append(twice, e.Name())
		}
	}
	return at, twice, nil
}

// nothingLost wants of every acknowledged job a run and a record in each ledger (L1, L10),
// and of no job two runs (L2).
func (b *bench) nothingLost(ctx context.Context, w *world, s *stream, started map[string]time.Time, twice []string) error {
	all, err := w.Status(ctx)
	if err != nil {
		return err
	}
	var lost []string
	for _, r := range all {
		lines, err := w.Accounting(r.Name)
		if err != nil {
			return err
		}
		queued := map[string]bool{}
		for _, l := range lines {
			if fields := strings.SplitN(l, ";", 4); len(fields) == 4 && fields[1] == "Q" {
				queued[fields[2]] = true
			}
		}
		for _, a := range s.acks {
			if _, ran := started[a.job]; !ran || !queued[a.job] {
				lost = append(lost, a.job+" at "+r.Name)
			}
		}
	}
	failed, why := s.failures()
	b.note(row{"of the acknowledged jobs: lost, run twice; failed submissions", fmt.Sprintf("of %d: %d, %d; %d", len(s.acks), len(lost), len(twice), failed), "", "", "nothing lost"})
	if why != nil {
		fmt.Fprintf(os.Stderr, "a submission failed: %v\n", why)
	}
	if len(lost)+len(twice) > 0 {
		return fmt.Errorf("L1, L2: lost %v, run twice %v", lost, twice)
	}
	return nil
}

// drained waits until no job is left.
func (w *world) drained(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return poll(ctx, 200*time.Millisecond, func() error {
		out, err := w.Output(ctx, "qstat")
		if err == nil && out != "" {
			err = fmt.Errorf("%d lines of qstat", strings.Count(out, "\n")+1)
		}
		return err
	})
}

package sched_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/pbs"
)

// TestLoop_Await: who waits for a cycle has it at once, and what was queued before has started by then; who waits for nothing
// new does not wait, nor does anybody for a cycle that does not come.
func TestLoop_Await(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		rounds := sched.NewRounds()
		ctx, cancel := context.WithCancel(t.Context())
		loop := sched.New(sched.Options{
			Source: l, Proposer: l, Log: l, Rounds: rounds, Asker: pbs.User{Name: "Scheduler", Host: "s1"}, Logger: slog.New(slog.DiscardHandler),
		})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		await := func(want time.Duration) {
			t.Helper()
			began := time.Now()
			rounds.Await(ctx, l.View().Index())
			if waited := time.Since(began); waited != want {
				t.Errorf("waited %v, want %v", waited, want)
			}
		}
		synctest.Wait()
		time.Sleep(time.Minute)

		var first, second pbs.JobID
		l.now(func() {
			l.host("hosta", "hosta:ncpus=4")
			first = l.submit("ncpus=1")
		})
		await(0)
		if s := l.state(first); s != "R" {
			t.Errorf("after its cycle the job is %s", s)
		}
		for range 500 { // what they have had at once nobody makes up for
			l.now(func() { l.do(scheduling("True")) })
			await(0)
		}
		l.now(func() { first = l.submit("ncpus=1") })
		time.Sleep(20 * time.Millisecond)
		synctest.Wait()
		if s := l.state(first); s != "R" {
			t.Errorf("after many cycles that were waited for a job is %s", s)
		}
		l.now(func() { l.do(scheduling("False")) })
		l.now(func() { second = l.submit("ncpus=1") })
		await(0)
		time.Sleep(time.Minute)
		if s := l.state(second); s != "Q" {
			t.Errorf("what came afterwards is %s", s)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}

		began := time.Now()
		rounds.Await(t.Context(), l.View().Index()+1)
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("without a loop it waited %v", waited)
		}
		(*sched.Rounds)(nil).Await(t.Context(), 1)
	})
}

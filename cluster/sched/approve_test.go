package sched_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster/sched"
	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// A hook that takes its time holds no cycle, and one that refuses a job leaves its place to
// the next one.
func TestLoop_RunjobHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		asked := map[pbs.JobID]int{}
		var bad pbs.JobID
		loop := sched.New(sched.Options{
			Source: l, Proposer: l, Log: l, Asker: pbs.User{Name: "Scheduler", Host: "s1"}, Logger: slog.New(slog.DiscardHandler),
			Approve: func(_ context.Context, _ *state.View, starts []sched.Start, say func(pbs.JobID, sched.Verdict)) {
				time.Sleep(3 * time.Second)
				l.mu.Lock()
				defer l.mu.Unlock()
				for _, one := range starts {
					asked[one.Job]++
					say(one.Job, sched.Verdict{Why: map[bool]string{true: "not now"}[one.Job == bad]})
				}
			},
		})
		done := make(chan error, 1)
		go func() { done <- loop.Run(ctx) }()
		var good pbs.JobID
		l.now(func() {
			l.do(&command.ManageHook{Verb: command.VerbCreate, Name: "h", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "event", Value: "runjob"}}}})
			l.do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
			l.host("hosta", "hosta:ncpus=4")
			bad, good = l.submit("ncpus=4"), l.submit("ncpus=4")
		})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if b, g := l.state(bad), l.state(good); b != "Q" || g != "Q" {
			t.Errorf("while the hook runs they are %s and %s", b, g)
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		j, _ := l.View().Job(bad)
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		if b, g := l.state(bad), l.state(good); b != "Q" || g != "R" || j.CommentText() != "Not Running: PBS Error: not now" {
			t.Errorf("after it they are %s (%s) and %s", b, j.CommentText(), g)
		}
		if asked[bad] != 1 || asked[good] != 1 {
			t.Errorf("asked %v", asked)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What hooks approve begins at once, though they still look at another start of the same decision,
// and a start that they come to no word about is planned again.
func TestLoop_RunjobHooksOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		ctx, cancel := context.WithCancel(t.Context())
		var slow, good pbs.JobID
		calls := 0
		loop := sched.New(sched.Options{
			Source: l, Proposer: l, Log: l, Asker: pbs.User{Name: "Scheduler", Host: "s1"}, Logger: slog.New(slog.DiscardHandler),
			Approve: func(_ context.Context, _ *state.View, starts []sched.Start, say func(pbs.JobID, sched.Verdict)) {
				calls++
				for _, one := range starts {
					if one.Job == slow {
						defer time.Sleep(30 * time.Second)
						continue
					}
					say(one.Job, sched.Verdict{})
				}
				if calls > 1 {
					say(slow, sched.Verdict{})
				}
			},
		})
		done := make(chan error, 1)
		l.now(func() {
			l.do(&command.ManageHook{Verb: command.VerbCreate, Name: "h", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "event", Value: "runjob"}}}})
			l.do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
			l.host("hosta", "hosta:ncpus=4")
			slow, good = l.submit("ncpus=2"), l.submit("ncpus=2")
		})
		go func() { done <- loop.Run(ctx) }()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if s, g := l.state(slow), l.state(good); s != "Q" || g != "R" || calls != 1 {
			t.Errorf("while hooks look at one they are %s and %s after %d calls", s, g, calls)
		}
		time.Sleep(30 * time.Second)
		l.now(func() {}) // whatever comes
		time.Sleep(time.Second)
		synctest.Wait()
		if s := l.state(slow); s != "R" || calls != 2 {
			t.Errorf("of which nothing was said is %s after %d calls", s, calls)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

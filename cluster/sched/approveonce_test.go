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

// The hooks of runjob are asked once about each decision: one that comes to nothing, for another has
// the vnode by then, or for the leader has died since, is made anew, and asked about anew.
func TestLoop_RunjobHooksOncePerDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leader{bench: newBench(t), changed: make(chan struct{})}
		asked := map[pbs.JobID]int{}
		var meanwhile func()          // what happens while the hooks run
		var die context.CancelFunc    // ends the present leader
		lead := func() (end func()) { // and waits for its end
			ctx, cancel := context.WithCancel(t.Context())
			die = cancel
			loop := sched.New(sched.Options{
				Source: l, Proposer: l, Log: l, Asker: pbs.User{Name: "Scheduler", Host: "s1"}, Logger: slog.New(slog.DiscardHandler),
				Approve: func(_ context.Context, _ *state.View, starts []sched.Start, say func(pbs.JobID, sched.Verdict)) {
					time.Sleep(3 * time.Second)
					l.mu.Lock()
					defer l.mu.Unlock()
					for _, one := range starts {
						asked[one.Job]++
					}
					if meanwhile != nil {
						meanwhile()
						meanwhile = nil
					}
					for _, one := range starts {
						say(one.Job, sched.Verdict{})
					}
				},
			})
			done := make(chan error, 1)
			go func() { done <- loop.Run(ctx) }()
			return func() {
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		}
		offline := func(value string) {
			l.do(&command.ManageVnode{Verb: command.VerbSet, Vnode: "hosta", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "state", Value: value}}}})
		}
		var first, second pbs.JobID
		l.now(func() {
			l.do(&command.ManageHook{Verb: command.VerbCreate, Name: "h", Changes: []command.AttrChange{{Entry: attr.Entry{Name: "event", Value: "runjob"}}}})
			l.do(&command.ImportHook{Name: "h", Kind: state.HookScript, Body: []byte("pass")})
			l.host("hosta", "hosta:ncpus=4")
			first, second = l.submit("ncpus=2"), l.submit("ncpus=2")
			meanwhile = func() { offline("offline") }
		})
		end := lead()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if l.state(first) != "Q" || asked[first] != 1 || asked[second] != 1 {
			t.Errorf("the vnode is gone: %s, asked %v", l.state(first), asked)
		}
		l.now(func() {
			offline("free")
			meanwhile = die // between the word of the hooks and the commit
		})
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if l.state(first) != "Q" || asked[first] != 2 {
			t.Errorf("the leader has died: %s, asked %v", l.state(first), asked)
		}
		end()
		end = lead()
		defer end()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		for _, id := range []pbs.JobID{first, second} {
			if j, _ := l.View().Job(id); j.State != pbs.Running || j.RunCount != 1 || asked[id] != 3 {
				t.Errorf("%s is %s in run %d, asked about %d times", id, j.State.Letter(), j.RunCount, asked[id])
			}
		}
	})
}

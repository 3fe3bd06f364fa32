package service

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"rampart/cluster"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/mom/hook"
	"rampart/transport"
	"rampart/transport/api"
)

// directory is slow: who asks it waits until it is opened, or goes away.
type directory struct {
	accounts
	open chan struct{}
}

func (d directory) ByName(ctx context.Context, name string) (transport.Account, error) {
	select {
	case <-d.open:
		return d.accounts.ByName(ctx, name)
	case <-ctx.Done():
		return transport.Account{}, ctx.Err()
	}
}

// submitted is what one of several submissions was told.
type submitted struct {
	job string
	err error
}

func (b *bench) submitLater(ctx context.Context, script string, id pbs.RequestID) <-chan submitted {
	out := make(chan submitted, 1)
	go func() {
		r, err := b.Batch.Submit(ctx, request(&api.SubmitRequest{Script: []byte(script)}, id))
		if err != nil {
			out <- submitted{err: err}
			return
		}
		out <- submitted{job: r.Msg.GetJob()}
	}()
	synctest.Wait()
	return out
}

// TestRepeats_JoinBeforeTheProposal: the repeat of a request that still waits for
// what comes before its proposal does nothing of its own, and another body under its
// id is refused at once (L8).
func TestRepeats_JoinBeforeTheProposal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, opened := newBench(t), make(chan struct{})
		b.Batch.Accounts = directory{open: opened}
		id := transport.NewRequestID()
		first := b.submitLater(b.as("ann@h"), "x", id)
		second := b.submitLater(b.as("ann@h"), "x", id)
		if other := <-b.submitLater(b.as("ann@h"), "y", id); pbs.CodeOf(other.err) != pbs.ReusedRequest {
			t.Errorf("another body: %v", other.err)
		}
		proposals := b.index
		close(opened)
		one, two := <-first, <-second
		if one.err != nil || two.err != nil || one.job != two.job || b.index != proposals+1 {
			t.Errorf("twins: %+v and %+v, %d proposals", one, two, b.index-proposals)
		}
		if theirs := <-b.submitLater(b.as("bob@h"), "y", id); theirs.err != nil || theirs.job == one.job {
			t.Errorf("the id of another asker: %+v", theirs)
		}
	})
}

// TestRepeats_ThroughAnotherHost: a command whose daemon died with its replica asks
// again through the daemon of another host; one qsub is one job (L8).
func TestRepeats_ThroughAnotherHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, opened := newBench(t), make(chan struct{})
		b.Batch.Accounts = directory{open: opened}
		id := transport.NewRequestID()
		first := b.submitLater(b.as("ann@h1"), "x", id)
		second := b.submitLater(b.as("ann@h2"), "x", id)
		close(opened)
		one, two := <-first, <-second
		three := <-b.submitLater(b.as("ann@h3"), "x", id)
		if one.err != nil || two != one || three != one {
			t.Errorf("through three hosts: %+v, %+v, %+v", one, two, three)
		}
		b.behind = b.store.View()
		id = transport.NewRequestID()
		one, two = <-b.submitLater(b.as("ann@h1"), "x", id), <-b.submitLater(b.as("ann@h2"), "x", id)
		if one.err != nil || two != one {
			t.Errorf("at a leader that is behind: %+v, %+v", one, two)
		}
	})
}

// TestRepeats_OutliveTheFirstAsker: a client whose first attempt was cut off asks
// again, and gets an outcome, not the end of the first attempt (L8).
func TestRepeats_OutliveTheFirstAsker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, opened := newBench(t), make(chan struct{})
		b.Batch.Accounts = directory{open: opened}
		id := transport.NewRequestID()
		gone, leave := context.WithCancel(b.as("ann@h"))
		first := b.submitLater(gone, "x", id)
		second := b.submitLater(b.as("ann@h"), "x", id)
		impatient, giveUp := context.WithCancel(b.as("ann@h"))
		third := b.submitLater(impatient, "x", id)
		giveUp()
		if r := <-third; !errors.Is(r.err, cluster.ErrOutcomeUnknown) {
			t.Errorf("who joined and left: %v", r.err)
		}
		leave()
		if r := <-first; r.err == nil {
			t.Errorf("who left: %+v", r)
		}
		synctest.Wait()
		close(opened)
		if r := <-second; r.err != nil || r.job == "" {
			t.Errorf("who stayed: %+v", r)
		}
		if n := b.store.View().JobCount(); n != 1 {
			t.Errorf("%d jobs", n)
		}
	})
}

// TestRepeats_AfterDefaultsChanged: what a request led to depends on defaults and
// accounts; a repeat is known by what was asked (L8).
func TestRepeats_AfterDefaultsChanged(t *testing.T) {
	b := newBench(t)
	id := transport.NewRequestID()
	ask := func() (string, error) {
		r, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: []byte("x")}, id))
		if err != nil {
			return "", err
		}
		return r.Msg.GetJob(), nil
	}
	first, err := ask()
	if err != nil {
		t.Fatal(err)
	}
	b.do(&command.ManageQueue{Verb: command.VerbCreate, Queue: "night"},
		&command.ManageServer{Verb: command.VerbSet, Changes: []command.AttrChange{{Entry: entry("default_queue", "night")}}})
	if again, err := ask(); err != nil || again != first {
		t.Errorf("the repeat: %q, %v; the first: %q", again, err, first)
	}
	b.do(&command.ManageQueue{Verb: command.VerbSet, Queue: "workq", Changes: []command.AttrChange{{Entry: entry("enabled", "False")}}})
	if again, err := ask(); err != nil || again != first {
		t.Errorf("the repeat to a queue that takes no jobs any more: %q, %v", again, err)
	}
}

// TestRepeats_AtALeaderThatIsBehind: a new leader may be asked before its own view
// holds what was done under the id; the state knows (L8).
func TestRepeats_AtALeaderThatIsBehind(t *testing.T) {
	b := newBench(t)
	b.behind = b.store.View()
	id := transport.NewRequestID()
	for want := range 2 {
		r, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: []byte("x")}, id))
		if err != nil || r.Msg.GetJob() != "0.srv" {
			t.Fatalf("attempt %d: %v, %v", want, r, err)
		}
	}
	if _, err := b.Batch.Submit(b.as("ann@h"), request(&api.SubmitRequest{Script: []byte("y")}, id)); pbs.CodeOf(err) != pbs.ReusedRequest {
		t.Errorf("another body: %v", err)
	}
}

// TestRepeats_HooksTakeTheirTime: the time of a request stands still while a hook looks at it,
// that of its repeat, too.
func TestRepeats_HooksTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := hookedBench(t, "queuejob", func(*hook.Event) *hook.Outcome {
			time.Sleep(10 * time.Minute)
			return accepted(nil)
		})
		id := transport.NewRequestID()
		var told []<-chan submitted
		for range 2 {
			ctx, cancel := transport.WithBudget(b.as("ann@h"), 5*time.Second)
			defer cancel()
			told = append(told, b.submitLater(ctx, "x", id))
		}
		one, two := <-told[0], <-told[1]
		if one.err != nil || two != one || len(s.seen) != 1 {
			t.Errorf("twins: %+v and %+v, the hook was asked %d times", one, two, len(s.seen))
		}
	})
}

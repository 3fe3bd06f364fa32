package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// fakeLog takes entries and answers them when told.
type fakeLog struct {
	t       *testing.T
	entries []command.Entry
	answer  chan error
}

func (l *fakeLog) apply(data []byte) raft.ApplyFuture {
	e, err := command.Decode(data)
	if err != nil {
		l.t.Error(err)
	}
	l.entries = append(l.entries, e)
	return fakeApply{l, len(e.Proposals)}
}

type fakeApply struct {
	l *fakeLog
	n int
}

func (f fakeApply) Error() error  { return <-f.l.answer }
func (f fakeApply) Response() any { return make([]command.Outcome, f.n) }
func (f fakeApply) Index() uint64 { return 0 }

func proposal(commands, bytes int) command.Proposal {
	p := command.Proposal{}
	for range commands {
		text := strings.Repeat("x", bytes)
		p.Commands = append(p.Commands, &command.PutReplica{Replica: state.Replica{Name: "n", Version: text}})
	}
	return p
}

func TestBatcher_SizesOfEntries(t *testing.T) {
	small, plan, script := proposal(1, 10), proposal(200, 10), proposal(1, 200<<10)
	huge := proposal(1, 1<<20)
	cases := []struct {
		name    string
		queued  []command.Proposal
		entries []int // proposals in each
	}{
		{"all that wait go together", []command.Proposal{small, small, small}, []int{3}},
		{"at most 256 commands", []command.Proposal{plan, small, plan, small}, []int{2, 2}},
		{"at most 256 KiB", []command.Proposal{script, small, script}, []int{2, 1}},
		{"a bigger one goes alone", []command.Proposal{small, huge, small}, []int{1, 1, 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &fakeLog{t: t, answer: make(chan error)}
				close(l.answer)
				b := newBatcher(l.apply, entryClock(time.Now))
				b.accept()
				for _, p := range c.queued {
					if _, err := b.add(p); err != nil {
						t.Fatal(err)
					}
				}
				runFor(t, b, time.Second)
				var sizes []int
				for _, e := range l.entries {
					sizes = append(sizes, len(e.Proposals))
				}
				if len(sizes) != len(c.entries) {
					t.Fatalf("entries of %v proposals, want %v", sizes, c.entries)
				}
				for i := range sizes {
					if sizes[i] != c.entries[i] {
						t.Errorf("entries of %v proposals, want %v", sizes, c.entries)
					}
				}
			})
		})
	}
}

func runFor(t *testing.T, b *batcher, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	b.run(ctx)
}

func TestBatcher_TwoEntriesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &fakeLog{t: t, answer: make(chan error)}
		b := newBatcher(l.apply, entryClock(time.Now))
		b.accept()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			b.run(ctx)
		}()
		var all []*request
		for range 5 {
			r, err := b.add(proposal(1, 1))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
			synctest.Wait()
		}
		if n := len(l.entries); n != entriesInFlight {
			t.Errorf("%d entries in flight", n)
		}
		l.answer <- nil
		synctest.Wait()
		if n := len(l.entries); n != 3 || len(l.entries[2].Proposals) != 3 {
			t.Errorf("%d entries; what waited did not go together", n)
		}
		late, _ := b.add(proposal(1, 1))
		cancel()
		synctest.Wait()
		if <-late.done; !errors.Is(late.err, ErrNotLeader) {
			t.Errorf("what was not sent: %v", late.err)
		}
		l.answer <- raft.ErrLeadershipLost
		l.answer <- raft.ErrNotLeader
		<-ended
		lost, refused := 0, 0
		for _, r := range all {
			<-r.done
			switch {
			case errors.Is(r.err, ErrOutcomeUnknown):
				lost++
			case errors.Is(r.err, ErrNotLeader):
				refused++
			}
		}
		if lost == 0 || refused == 0 || lost+refused != 4 {
			t.Errorf("%d unknown, %d not leader", lost, refused)
		}
		if _, err := b.add(proposal(1, 1)); !errors.Is(err, ErrNotLeader) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestBatcher_FullQueueRefuses(t *testing.T) {
	b := newBatcher(nil, nil)
	b.accept()
	for range maxWaiting {
		if _, err := b.add(proposal(1, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.add(proposal(1, 1)); !errors.Is(err, ErrBusy) || pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("the queue is full: %v", err)
	}
}

func TestBatcher_AProposalThatCannotBeEncoded(t *testing.T) {
	b := newBatcher(nil, nil)
	b.accept()
	if _, err := b.add(command.Proposal{Commands: []command.Command{nil}}); err == nil {
		t.Error("no error")
	}
}

func TestEntryClock_NeverRunsBackwards(t *testing.T) {
	at := time.Unix(1000, 0)
	clock := entryClock(func() time.Time { return at })
	first := clock()
	at = at.Add(-time.Hour)
	if second := clock(); second < first {
		t.Errorf("%d after %d", second, first)
	}
}

func TestEntryError(t *testing.T) {
	harmless := []error{raft.ErrNotLeader, raft.ErrLeadershipTransferInProgress}
	for _, err := range harmless {
		if got := entryError(err); !errors.Is(got, ErrNotLeader) || errors.Is(got, ErrOutcomeUnknown) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
	for _, err := range []error{raft.ErrLeadershipLost, raft.ErrRaftShutdown, raft.ErrAbortedByRestore, errors.New("disk")} {
		if got := entryError(err); !errors.Is(got, ErrOutcomeUnknown) || errors.Is(got, ErrNotLeader) {
			t.Errorf("%v becomes %v", err, got)
		}
	}
}

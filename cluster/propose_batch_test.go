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
	small, plan, script := proposal(1, 10), proposal(200, 10), proposal(1, 800<<10)
	huge := proposal(1, 2<<20)
	cases := []struct {
		name    string
		queued  []command.Proposal
		entries []int // proposals in each
	}{
		{"all that wait go together", []command.Proposal{small, small, small}, []int{3}},
		{"at most 256 commands", []command.Proposal{plan, small, plan, small}, []int{2, 2}},
		{"at most 1 MiB", []command.Proposal{script, small, script}, []int{2, 1}},
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
					if _, err := b.add(p, func(error) {}); err != nil {
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
			r, err := b.add(proposal(1, 1), func(error) {})
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
		late, _ := b.add(proposal(1, 1), func(error) {})
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
		if _, err := b.add(proposal(1, 1), func(error) {}); !errors.Is(err, ErrNotLeader) {
			t.Errorf("after the end: %v", err)
		}
	})
}

func TestBatcher_FullQueueRefuses(t *testing.T) {
	b := newBatcher(nil, nil)
	b.accept()
	for range maxWaiting {
		if _, err := b.add(proposal(1, 1), func(error) {}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.add(proposal(1, 1), func(error) {}); !errors.Is(err, ErrBusy) || pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Errorf("the queue is full: %v", err)
	}
}

// One user's requests do not take all that may wait, and say whose they are; what was sent or
// given up counts no more.
func TestBatcher_OneUserDoesNotFillTheLine(t *testing.T) {
	b := newBatcher(nil, nil)
	b.accept()
	of := func(user string) command.Proposal {
		p := proposal(1, entryBytes-1000)
		p.Asker.Name = user
		return p
	}
	n := 0
	var err error
	for ; err == nil; n++ {
		_, err = b.add(of("alice"), func(error) {})
	}
	if n-1 != userWaitingBytes/entryBytes || !errors.Is(err, ErrBusy) || pbs.CodeOf(err) != pbs.ResourceBusy {
		t.Fatalf("after %d: %v", n-1, err)
	}
	if want := "16 MiB of requests of alice wait to be committed"; !strings.Contains(err.Error(), want) {
		t.Errorf("the refusal: %v", err)
	}
	for _, user := range []string{"bob", ""} {
		if _, err := b.add(of(user), func(error) {}); err != nil {
			t.Errorf("%q is refused for alice: %v", user, err)
		}
	}
	b.take()
	if _, err := b.add(of("alice"), func(error) {}); err != nil {
		t.Errorf("after one was sent: %v", err)
	}
	b.refuse()
	b.accept()
	if _, err := b.add(of("alice"), func(error) {}); err != nil || len(b.users) != 1 || b.bytes != b.users["alice"] {
		t.Errorf("in the next term: %v, %v of %d", err, b.users, b.bytes)
	}
}

func TestBatcher_AProposalLargerThanAny(t *testing.T) {
	b := newBatcher(nil, nil)
	b.accept()
	if _, err := b.add(proposal(1, proposalBytes+1), func(error) {}); pbs.CodeOf(err) != pbs.InvalidRequest {
		t.Errorf("%v", err)
	}
	if _, err := b.add(proposal(1, command.MaxHookFile), func(error) {}); err != nil {
		t.Errorf("a hook's file: %v", err)
	}
}

func TestBatcher_AProposalThatCannotBeEncoded(t *testing.T) {
	b := newBatcher(nil, nil)
	b.accept()
	if _, err := b.add(command.Proposal{Commands: []command.Command{nil}}, func(error) {}); err == nil {
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

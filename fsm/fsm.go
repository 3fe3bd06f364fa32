// Package fsm adapts the replicated state to Raft: Apply, Snapshot, Restore. It is
// thin: what entries mean is in fsm/command, what is kept in fsm/state, how it lies
// in a file in fsm/snapshot. Raft calls Apply, Snapshot and Restore from one
// goroutine; View, Wait and Changed may be called from any.
package fsm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"rampart/fsm/command"
	"rampart/fsm/snapshot"
	"rampart/fsm/state"
)

// Options connect the state machine with what follows the log.
type Options struct {
	// OnEvents is called after each entry that had events, in the order of the log,
	// with the view that the entry left. While it waits, so does Apply.
	OnEvents func(v *state.View, events []state.Event)
	// OnEntry is called with each entry when it has been applied, to be counted; it must
	// not be kept.
	OnEntry func(e command.Entry)
	// Check verifies the laws after every entry. It is for tests: its cost grows with
	// the state.
	Check bool
	// CheckRecords is how many entries lie between two checks that read every record
	// again; those between see the laws, indexes and sums. Zero reads them every time.
	CheckRecords uint64
	// FeatureLevel is what the machine passes for; 0: command.FeatureLevel. Tests set it:
	// a lower one stops at kinds of commands that such a build does not know.
	FeatureLevel uint32
}

// FSM is the state machine of a replica.
type FSM struct {
	opts  Options
	store atomic.Pointer[state.Store]

	stopped chan struct{}

	mu      sync.Mutex // guards what follows
	changed chan struct{}
	err     error          // why it stopped
	marks   []command.Mark // never written to, only replaced
}

var (
	_ raft.FSM                = (*FSM)(nil)
	_ raft.BatchingFSM        = (*FSM)(nil)
	_ raft.ConfigurationStore = (*FSM)(nil)
)

// New returns a state machine with an empty state.
func New(opts Options) *FSM {
	if opts.FeatureLevel == 0 {
		opts.FeatureLevel = command.FeatureLevel
	}
	f := &FSM{opts: opts, changed: make(chan struct{}), stopped: make(chan struct{})}
	f.store.Store(state.NewStore())
	return f
}

// View returns the latest published state.
func (f *FSM) View() *state.View { return f.store.Load().View() }

// Changed returns a channel that is closed when the next view is published. Take
// it before looking at the view that it should differ from.
func (f *FSM) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// Wait returns a view that holds at least the entry at index.
func (f *FSM) Wait(ctx context.Context, index uint64) (*state.View, error) {
	for {
		changed := f.Changed()
		if v := f.View(); v.Index() >= index {
			return v, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for index %d, now at %d: %w", index, f.View().Index(), ctx.Err())
		}
	}
}

// Apply changes the state by one log entry, the same way on every replica. It
// returns the outcomes of the entry's proposals, a []command.Outcome.
func (f *FSM) Apply(l *raft.Log) any { return f.ApplyBatch([]*raft.Log{l})[0] }

// ApplyBatch applies entries that were committed together and publishes one view
// for each. Once the machine has stopped it applies none, and answers nil.
func (f *FSM) ApplyBatch(logs []*raft.Log) []any {
	answers := make([]any, len(logs))
	for i, l := range logs {
		if f.Err() != nil {
			break
		}
		if l.Type != raft.LogCommand {
			f.skip(l.Index, l.Term)
			continue
		}
		e, err := command.Decode(l.Data)
		if err != nil {
			// To skip what we cannot read is to drift from the replicas that can (L4).
			_ = f.stop(fmt.Errorf("log entry %d: %w", l.Index, err))
			break
		}
		if err := f.checkKinds(l.Index, e); err != nil {
			break
		}
		answers[i] = f.apply(l.Index, l.Term, e)
	}
	f.announce()
	return answers
}

func (f *FSM) apply(index, term uint64, e command.Entry) []command.Outcome {
	s := f.store.Load()
	e.LendReader(ReadSnapshot)
	outcomes, events := command.Run(s, index, term, e)
	v := s.Publish()
	if f.opts.Check {
		if err := f.check(v); err != nil {
			panic(fmt.Sprintf("fsm: after log entry %d: %v", index, err))
		}
	}
	if f.opts.OnEntry != nil {
		f.opts.OnEntry(e)
	}
	if f.opts.OnEvents != nil && len(events) > 0 {
		f.opts.OnEvents(v, events)
	}
	if c := e.Comparison(); c != nil {
		f.compare(c, v)
	}
	_ = f.checkLevel(v)
	return outcomes
}

func (f *FSM) check(v *state.View) error {
	if n := f.opts.CheckRecords; n > 0 && v.Index()%n != 0 {
		return v.CheckLaws()
	}
	return v.Check()
}

// skip moves the state's own index over an entry that holds no commands.
func (f *FSM) skip(index, term uint64) {
	s := f.store.Load()
	s.Begin(index, term, 0)
	s.Publish()
}

func (f *FSM) announce() {
	f.mu.Lock()
	close(f.changed)
	f.changed = make(chan struct{})
	f.mu.Unlock()
}

// StoreConfiguration notes that an entry of Raft's own was applied, so that reads
// that wait for its index end (L11).
func (f *FSM) StoreConfiguration(index uint64, _ raft.Configuration) {
	if f.Err() != nil {
		return
	}
	f.skip(index, f.View().Term())
	f.announce()
}

// Snapshot captures the present view; the writing happens in Persist. A machine that
// has stopped gives none: Raft would take it for newer than it is.
func (f *FSM) Snapshot() (raft.FSMSnapshot, error) {
	if err := f.Err(); err != nil {
		return nil, err
	}
	return &capture{view: f.View()}, nil
}

// Restore replaces the state by that of a snapshot, or leaves it alone when the
// snapshot is corrupt or of a newer build.
func (f *FSM) Restore(r io.ReadCloser) error {
	defer func() { _ = r.Close() }()
	if err := f.Err(); err != nil {
		return err
	}
	s, _, err := snapshot.Read(r)
	if errors.Is(err, command.ErrTooOld) {
		return f.stop(err)
	}
	if err != nil {
		return err
	}
	if err := f.checkLevel(s.View()); err != nil {
		return err
	}
	f.mu.Lock()
	f.marks = nil // they were of another past
	f.mu.Unlock()
	f.store.Store(s)
	f.announce()
	return nil
}

// ReadSnapshot reads a snapshot file, for commands.
func ReadSnapshot(r io.Reader) (*state.Store, error) {
	s, _, err := snapshot.Read(r)
	return s, err
}

// capture is a view on its way to disk.
type capture struct{ view *state.View }

// Persist writes the snapshot.
func (c *capture) Persist(sink raft.SnapshotSink) error {
	if err := snapshot.Write(sink, c.view); err != nil {
		_ = sink.Cancel()
		return err
	}
	return sink.Close()
}

// Release has nothing to give back: the view goes with its last reader.
func (c *capture) Release() {}

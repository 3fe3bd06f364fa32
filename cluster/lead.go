package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rampart/cluster/member"
	"rampart/fsm/command"
)

const (
	tickEvery  = 10 * time.Second
	retryEvery = 100 * time.Millisecond
)

// lead is one spell of leadership: it starts the term, then does the duties until
// ctx ends. term.Run sees to it that there is never a second one beside it.
func (r *Replica) lead(ctx context.Context) error {
	n := r.raft.node.Load()
	r.spell.begin(ctx)
	defer r.spell.end()
	r.proposals.batch.accept()
	defer r.proposals.batch.refuse()

	term, ok := r.startTerm(ctx, n)
	if !ok {
		return nil
	}
	r.drift.forget()
	r.disk.takeAll()
	defer r.disk.takeAll()
	r.spell.start(term)
	r.cfg.Logger.Info("leading", "term", term)
	defer r.cfg.Logger.Info("no longer leading", "term", term)
	return r.duties(ctx, n, term)
}

// duties runs what a leader does, until ctx ends or Work fails.
func (r *Replica) duties(ctx context.Context, n *node, term uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() { r.proposals.batch.run(ctx) })
	wg.Go(func() { r.tick(ctx, n) })
	wg.Go(func() { r.wake(ctx) })
	wg.Go(func() { r.members.keep(ctx, n, term) })
	wg.Go(func() {
		if r.cfg.Work == nil {
			return
		}
		if failed = r.workByEpoch(ctx, term); failed != nil {
			cancel()
		}
	})
	wg.Wait()
	if failed != nil {
		return fmt.Errorf("duties of term %d: %w", term, failed)
	}
	return nil
}

// startTerm commits TermStarted, and tries until that is done or ctx ends. A
// leader whose clock is off hands over instead, and tries that, too, for as long
// as it leads.
func (r *Replica) startTerm(ctx context.Context, n *node) (uint64, bool) {
	for ctx.Err() == nil {
		term, err := r.tryStartTerm(ctx, n)
		if err == nil {
			return term, true
		}
		if ctx.Err() == nil {
			r.cfg.Logger.Warn("cannot start the term", "term", n.raft.CurrentTerm(), "err", err)
		}
		if errors.Is(err, errClockOff) {
			r.handover.leave(ctx, n)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
	return 0, false
}

// replayed waits until the state has all that is in the log, if what is wished for the first term depends on it:
// after a restart the state may be empty until this term has committed something.
func (r *Replica) replayed(ctx context.Context, n *node) error {
	if !r.cfg.Hot && r.cfg.Rename == nil {
		return nil
	}
	if err := r.raft.await(ctx, n, n.raft.Barrier(0)); err != nil {
		return entryError(err)
	}
	return nil
}

// hot tells whether the term that begins starts jobs again that have ended with the servers.
func (r *Replica) hot() bool {
	return r.cfg.Hot && r.cfg.Machine.View().Cluster().FeatureLevel >= command.LevelObjects
}

// rename returns the name that the server gets with the term that begins; empty: it stays.
func (r *Replica) rename(n *node) string {
	cl := r.cfg.Machine.View().Cluster()
	if r.cfg.Rename == nil || cl.ID == "" || cl.FeatureLevel < command.LevelObjects {
		return ""
	}
	name := *r.cfg.Rename
	if name == "" && len(cl.Former) > 0 {
		name = cl.Former[0]
	}
	if name == "" || name == cl.Name {
		return ""
	}
	if len(n.servers()) > 1 {
		r.cfg.Logger.Warn("the server keeps its name, for there are other replicas", "name", cl.Name, "wanted", name)
		return ""
	}
	return name
}

func (r *Replica) tryStartTerm(ctx context.Context, n *node) (uint64, error) {
	term := n.raft.CurrentTerm()
	clocks, err := r.readClocks(ctx, n)
	if err != nil {
		return 0, err
	}
	if err := clocks.check(); err != nil {
		return 0, err
	}
	if err := r.found(clocks.median()); err != nil {
		return 0, err
	}
	if err := r.replayed(ctx, n); err != nil {
		return 0, err
	}
	started := &command.TermStarted{Leader: r.cfg.Self.Name, Host: r.cfg.Self.Host, Clocks: clocks.times(), Hot: r.hot(), Name: r.rename(n)}
	if err := r.proposals.alone(command.Entry{Time: clocks.median()}, started); err != nil {
		return 0, err
	}
	if err := r.rescue.beginEpoch(clocks.median(), r.proposals.alone); err != nil {
		return 0, err
	}
	if !n.leads(term) {
		// It was committed, in a later term perhaps: which one, nobody can tell.
		return 0, fmt.Errorf("%w: term %d is over", ErrNotLeader, term)
	}
	return term, nil
}

// tick moves the log's time on, checks the clock that all entries get their time
// from, and has the voters' states compared.
func (r *Replica) tick(ctx context.Context, n *node) {
	every := time.NewTicker(tickEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		clocks, err := r.readClocks(ctx, n)
		if err == nil {
			err = clocks.check()
		}
		if errors.Is(err, errClockOff) {
			r.cfg.Logger.Error("handing over", "err", err)
			r.handover.leave(ctx, n)
			continue
		}
		if err == nil {
			found := r.drift.compare(func() []member.Answer { return r.census.look(ctx, n) })
			r.drift.act(found)
			err = r.proposals.alone(command.Entry{Time: r.proposals.batch.now()}, &command.TimeTick{}, &found.compare)
		}
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.Warn("time tick failed", "err", err)
		}
	}
}

// spell is the present time of leadership: readers learn from it whether this replica leads, and
// since when it may answer.
type spell struct {
	mu      sync.Mutex
	ctx     context.Context // of the spell; nil: we do not lead
	term    uint64          // 0: not started yet
	changed chan struct{}
}

func newSpell() *spell { return &spell{changed: make(chan struct{})} }

func (s *spell) begin(ctx context.Context) { s.change(func() { s.ctx = ctx }) }

func (s *spell) start(term uint64) { s.change(func() { s.term = term }) }

func (s *spell) end() { s.change(func() { s.ctx, s.term = nil, 0 }) }

func (s *spell) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *spell) now() (context.Context, uint64, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ctx, s.term, s.changed
}

// enter waits until the term of a leader has started, and returns it with a
// context that ends with the term; done releases it.
func (s *spell) enter(ctx context.Context) (_ context.Context, term uint64, done func(), err error) {
	for {
		lead, term, changed := s.now()
		if lead == nil {
			return nil, 0, nil, ErrNotLeader
		}
		if term != 0 {
			joined, cancel := context.WithCancelCause(ctx)
			stop := context.AfterFunc(lead, func() { cancel(ErrNotLeader) })
			return joined, term, func() { stop(); cancel(nil) }, nil
		}
		select {
		case <-ctx.Done():
			return nil, 0, nil, fmt.Errorf("%w: term not started: %w", ErrNotLeader, ctx.Err())
		case <-changed:
		}
	}
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"rampart/cluster/member"
	"rampart/fsm/command"
	"rampart/fsm/state"
)

const (
	tickEvery  = 10 * time.Second
	retryEvery = 100 * time.Millisecond
)

// leadership is what this replica does while it leads: it starts each term and has the duties done.
type leadership struct {
	self      state.Replica
	raft      *localRaft
	spell     *spell
	proposals *proposals
	logger    *slog.Logger

	clocks   *voterClocks
	founding *founding
	wishes   *wishes
	rescue   *rescue
	drift    *drift
	disk     *diskWatch
	census   *census
	handover *handover
	members  *membership
	wakes    *wakes
	work     *work
}

// run is one spell of leadership: it starts the term, then does the duties until
// ctx ends. term.Run sees to it that there is never a second one beside it.
func (l *leadership) run(ctx context.Context) error {
	n := l.raft.node.Load()
	l.spell.begin(ctx)
	defer l.spell.end()
	l.proposals.batch.accept()
	defer l.proposals.batch.refuse()

	term, ok := l.startTerm(ctx, n)
	if !ok {
		return nil
	}
	l.drift.forget()
	l.disk.takeAll()
	defer l.disk.takeAll()
	l.spell.start(term)
	l.logger.Info("leading", "term", term)
	defer l.logger.Info("no longer leading", "term", term)
	return l.duties(ctx, n, term)
}

// duties runs what a leader does, until ctx ends or Work fails.
func (l *leadership) duties(ctx context.Context, n *node, term uint64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() { l.proposals.batch.run(ctx) })
	wg.Go(func() { l.tick(ctx, n) })
	wg.Go(func() { l.wakes.run(ctx) })
	wg.Go(func() { l.members.keep(ctx, n, term) })
	wg.Go(func() {
		if failed = l.work.run(ctx, term); failed != nil {
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
func (l *leadership) startTerm(ctx context.Context, n *node) (uint64, bool) {
	for ctx.Err() == nil {
		term, err := l.tryStartTerm(ctx, n)
		if err == nil {
			return term, true
		}
		if ctx.Err() == nil {
			l.logger.Warn("cannot start the term", "term", n.raft.CurrentTerm(), "err", err)
		}
		if errors.Is(err, errClockOff) {
			l.handover.leave(ctx, n)
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryEvery):
		}
	}
	return 0, false
}

func (l *leadership) tryStartTerm(ctx context.Context, n *node) (uint64, error) {
	term := n.raft.CurrentTerm()
	clocks, err := l.clocks.read(ctx, n)
	if err != nil {
		return 0, err
	}
	if err := clocks.check(); err != nil {
		return 0, err
	}
	if err := l.founding.found(clocks.median()); err != nil {
		return 0, err
	}
	if err := l.wishes.replayed(ctx, n); err != nil {
		return 0, err
	}
	started := &command.TermStarted{Leader: l.self.Name, Host: l.self.Host, Clocks: clocks.times(), Hot: l.wishes.hot(), Name: l.wishes.name(n)}
	if err := l.proposals.alone(command.Entry{Time: clocks.median()}, started); err != nil {
		return 0, err
	}
	if err := l.rescue.beginEpoch(clocks.median(), l.proposals.alone); err != nil {
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
func (l *leadership) tick(ctx context.Context, n *node) {
	every := time.NewTicker(tickEvery)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		clocks, err := l.clocks.read(ctx, n)
		if err == nil {
			err = clocks.check()
		}
		if errors.Is(err, errClockOff) {
			l.logger.Error("handing over", "err", err)
			l.handover.leave(ctx, n)
			continue
		}
		if err == nil {
			found := l.drift.compare(func() []member.Answer { return l.census.look(ctx, n) })
			l.drift.act(found)
			err = l.proposals.alone(command.Entry{Time: l.proposals.batch.now()}, &command.TimeTick{}, &found.compare)
		}
		if err != nil && ctx.Err() == nil {
			l.logger.Warn("time tick failed", "err", err)
		}
	}
}

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"rampart/cluster/identity"
	"rampart/cluster/store"
	"rampart/cluster/term"
	"rampart/fsm/command"
)

// Replica is one member of the cluster: it holds the state, and may lead. It opens the stores, starts
// and stops Raft, and passes on what is asked of it: each subject has a type with its state and its
// rules, which of the others has what it was given (see DESIGN.md).
type Replica struct {
	cfg     Config
	store   *store.Store
	pace    pace
	meter   *meter
	machine *observed
	raft    *localRaft

	proposals *proposals
	reads     *reads
	snapshots *snapshots
	disk      *diskWatch
	starts    *starts
	rescue    *rescue
	drift     *drift

	report   *report
	census   *census
	members  *membership
	removals *removals
	handover *handover
	lead     *leadership

	stopped chan struct{} // closed when Run returns
	ran     atomic.Bool
	ends    atomic.Pointer[context.CancelCauseFunc] // ends Run
}

// Open opens the stores and finds out who this replica is. It starts nothing;
// whoever does not call Run calls Close.
func Open(cfg Config) (*Replica, error) {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Self.FeatureLevel == 0 {
		cfg.Self.FeatureLevel = command.FeatureLevel
	}
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("open replica: %w", err)
	}
	backend, err := cfg.Stores()
	if err != nil {
		return nil, fmt.Errorf("open replica %s: %w", cfg.Self.Name, err)
	}
	silence := newSilence()
	stores, err := store.Open(backend, store.Options{
		Deadline: storeDeadline, Overdue: silence.overdue, Logger: cfg.Logger, Registry: cfg.Registry,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open replica %s: %w", cfg.Self.Name, err), backend.Close())
	}
	r := &Replica{cfg: cfg, store: stores, meter: newMeter(cfg.Registry), stopped: make(chan struct{})}
	silence.logger, silence.count = cfg.Logger, r.meter.stalls
	r.raft = &localRaft{silence: silence, known: stores.Members().Servers}
	record, err := r.identify()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open replica %s: %w", cfg.Self.Name, err), backend.Close())
	}
	r.compose(record)
	if err := r.rescue.resume(); err != nil {
		return nil, errors.Join(fmt.Errorf("open replica %s: %w", cfg.Self.Name, err), backend.Close())
	}
	r.report.register(cfg.Registry)
	return r, nil
}

// identify reads the identity from the store. This start is written there when
// the others have not objected to it.
func (r *Replica) identify() (*identity.Record, error) {
	record, err := identity.Open(r.store, r.cfg.Self.Name, r.cfg.Machine.View, r.cfg.Logger)
	if err != nil {
		return nil, err
	}
	this := record.Last().Next()
	r.raft.id, r.pace = record.ID(), pace{cmp.Or(record.Class(), r.cfg.Class).OrLan()}
	r.cfg.Self.ServerID, r.cfg.Self.Generation, r.cfg.Self.Start = string(r.raft.id), this.Generation, this.Token
	return record, nil
}

// Close closes the stores of a replica that was never run.
func (r *Replica) Close() error {
	if r.ran.Swap(true) {
		return nil
	}
	r.reads.end()
	close(r.stopped)
	return r.store.Backend.Close()
}

// Run takes part in the cluster until ctx ends; then it stops the duties, hands
// leadership over, and stops Raft. An error that wraps store.ErrFailed means that the
// process must end (L12), one that wraps ErrAgain that a replica is to be opened and run
// anew on the same stores.
func (r *Replica) Run(ctx context.Context) error {
	if r.ran.Swap(true) {
		return errors.New("run replica: it was run or closed already")
	}
	defer close(r.stopped)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	r.ends.Store(&end)
	defer r.ends.Store(nil)
	defer context.AfterFunc(ctx, r.store.Abandon)()
	base, release := context.WithCancel(context.WithoutCancel(ctx))
	defer release()
	n, err := r.start(ctx, base)
	if err != nil {
		r.reads.end()
		if ctx.Err() != nil { // told to stop while it waited for the others
			return errors.Join(wantsAgain(ctx), r.store.Close())
		}
		if stopped := r.cfg.Machine.Err(); stopped != nil {
			err = stopped // Raft tells of its consequences only
		}
		return errors.Join(fmt.Errorf("run replica %s: %w", r.cfg.Self.Name, r.rescue.beginAnew(err)), r.store.Close())
	}
	r.raft.node.Store(n)

	var services sync.WaitGroup
	services.Go(func() { r.reads.fresh.run(base) })
	services.Go(func() { r.reads.local.run(base) })
	services.Go(func() { r.snapshots.run(base, n) })
	twice := make(chan error, 1)
	services.Go(func() { r.starts.watch(base, n, twice) })
	services.Go(func() { r.disk.watch(base) })

	leading, resign := context.WithCancel(ctx)
	defer resign()
	led := make(chan error, 1)
	go func() { led <- term.Run(leading, r.raft.leads(leading, n), r.lead.run) }()

	err = r.attend(ctx, led, twice)
	r.store.Abandon()
	resign()
	killed := errors.Is(context.Cause(ctx), ErrKilled)
	if killed {
		_ = n.layer.Close() // before anything else gets out
	}
	err = errors.Join(err, <-led)
	if !killed && r.store.Err() == nil {
		r.handover.leave(base, n)
	}
	release()
	services.Wait()
	r.raft.end()
	err = errors.Join(r.rescue.beginAnew(err), n.stop(), wantsAgain(ctx))
	return errors.Join(err, r.drift.quarantine(err), r.store.Close())
}

// restart returns what ends Run, nil if it does not run.
func (r *Replica) restart() context.CancelCauseFunc {
	if end := r.ends.Load(); end != nil {
		return *end
	}
	return nil
}

// attend waits for a reason to stop. It leaves led with something to read.
func (r *Replica) attend(ctx context.Context, led, twice chan error) error {
	select {
	case <-ctx.Done():
	case err := <-twice:
		return err
	case <-r.store.Failed():
	case <-r.cfg.Machine.Stopped():
		return r.cfg.Machine.Err()
	case err := <-led:
		led <- nil
		return err
	}
	if err := r.store.Err(); !errors.Is(err, store.ErrAbandoned) {
		return err
	}
	return nil // we were told to stop, and the disk has nothing to do with it
}

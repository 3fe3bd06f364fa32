package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/cluster/store"
	"rampart/cluster/term"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// Replica is one member of the cluster: it holds the state, and may lead.
type Replica struct {
	cfg       Config
	id        raft.ServerID
	store     *store.Store
	silence   *silence
	identity  *identity.Record
	spell     *spell
	machine   *observed
	snapshots *snapshots
	disk      *diskWatch
	stopped   chan struct{} // closed when Run returns

	raft *localRaft
	pace pace

	meter      *meter
	drift      *drift
	proposals  *proposals
	reads      *reads
	starts     *starts
	rescue     *rescue
	report     *report
	census     *census
	handover   *handover
	removals   *removals
	members    *membership
	leadership *leadership

	ran  atomic.Bool
	ends atomic.Pointer[context.CancelCauseFunc] // ends Run
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
	r := &Replica{
		cfg: cfg, store: stores, silence: silence, raft: &localRaft{silence: silence, known: stores.Members().Servers},
		spell: newSpell(), stopped: make(chan struct{}),
	}
	r.meter = newMeter(cfg.Registry)
	silence.logger, silence.count = cfg.Logger, r.meter.stalls
	r.machine = observe(cfg.Machine, cfg.Ledger, cmp.Or(cfg.SnapshotAfter, snapshotProposals), r.meter)
	r.snapshots = &snapshots{
		store: stores, machine: r.machine, trailing: cmp.Or(cfg.TrailingLogs, trailingLogs), logger: cfg.Logger,
		requests: make(chan saveRequest), stopped: r.stopped,
	}
	r.disk = &diskWatch{name: cfg.Self.Name, store: stores, machine: r.machine, logger: cfg.Logger}
	r.drift = &drift{machine: cfg.Machine, store: stores, logger: cfg.Logger}
	r.proposals = &proposals{
		raft: r.raft, machine: cfg.Machine, meter: r.meter, batch: newBatcher(r.raft.apply, entryClock(cfg.Clock)),
		gates: []func(command.Proposal) error{r.drift.refuse, r.disk.roomTo},
	}
	if err := r.identify(); err != nil {
		return nil, errors.Join(fmt.Errorf("open replica %s: %w", cfg.Self.Name, err), backend.Close())
	}
	r.reads = &reads{
		raft: r.raft, machine: cfg.Machine, peers: cfg.Peers, spell: r.spell, silence: silence, pace: r.pace, clock: cfg.Clock,
	}
	r.reads.begin(r.meter)
	r.starts = &starts{
		self: r.cfg.Self, identity: r.identity, raft: r.raft, machine: cfg.Machine, peers: cfg.Peers,
		pace: r.pace, age: r.reads.age, logger: cfg.Logger,
	}
	r.report = &report{
		self: r.cfg.Self, class: r.pace.class, machine: cfg.Machine, store: stores, raft: r.raft, age: r.reads.age,
		scripts: cfg.Scripts, others: cfg.Alarms, silence: silence, drift: r.drift, starts: r.starts, disk: r.disk, snapshots: r.snapshots,
	}
	r.report.register(cfg.Registry)
	r.census = &census{
		address: cfg.Self.Address, raft: r.raft, machine: cfg.Machine, peers: cfg.Peers, pace: r.pace,
		own: r.report.status, removed: func() bool { return r.starts.gone.Load() != nil },
	}
	r.handover = &handover{self: cfg.Self.Name, raft: r.raft, census: r.census, logger: cfg.Logger}
	r.removals = &removals{
		raft: r.raft, machine: cfg.Machine, proposals: r.proposals, census: r.census, handover: r.handover, logger: cfg.Logger,
	}
	r.members = &membership{
		level: cfg.Self.FeatureLevel, class: cfg.Class, raft: r.raft, machine: cfg.Machine, identity: r.identity, pace: r.pace, logger: cfg.Logger,
		proposals: r.proposals, census: r.census, handover: r.handover, removals: r.removals, disk: r.disk,
	}
	r.leadership = r.lead()
	return r, nil
}

// identify reads the identity from the store. This start is written there when
// the others have not objected to it.
func (r *Replica) identify() error {
	record, err := identity.Open(r.store, r.cfg.Self.Name, r.cfg.Machine.View, r.cfg.Logger)
	if err != nil {
		return err
	}
	this := record.Last().Next()
	r.identity, r.id, r.pace = record, record.ID(), pace{cmp.Or(record.Class(), r.cfg.Class).OrLan()}
	r.raft.id = r.id
	r.cfg.Self.ServerID, r.cfg.Self.Generation, r.cfg.Self.Start = string(r.id), this.Generation, this.Token
	r.rescue = &rescue{
		self: r.cfg.Self, store: r.store, identity: record, raft: r.raft, machine: r.cfg.Machine, peers: r.cfg.Peers,
		pace: r.pace, clock: r.cfg.Clock, again: r.restart, logger: r.cfg.Logger,
	}
	return r.rescue.resume()
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

// lead composes what this replica does while it leads.
func (r *Replica) lead() *leadership {
	cfg, alone := &r.cfg, r.proposals.alone
	return &leadership{
		self: cfg.Self, raft: r.raft, spell: r.spell, proposals: r.proposals, logger: cfg.Logger,
		clocks:   &voterClocks{peers: cfg.Peers, pace: r.pace, clock: cfg.Clock},
		founding: &founding{init: cfg.Init, beginning: cfg.Beginning, level: cfg.Self.FeatureLevel, machine: cfg.Machine, propose: alone, logger: cfg.Logger},
		wishes:   &wishes{restart: cfg.Hot, rename: cfg.Rename, raft: r.raft, machine: cfg.Machine, logger: cfg.Logger},
		rescue:   r.rescue,
		drift:    r.drift,
		disk:     r.disk,
		census:   r.census,
		handover: r.handover,
		members:  r.members,
		wakes:    &wakes{machine: cfg.Machine, clock: cfg.Clock, now: r.proposals.batch.now, propose: alone, logger: cfg.Logger},
		work:     &work{do: cfg.Work, machine: cfg.Machine, logger: cfg.Logger},
	}
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
	go func() { led <- term.Run(leading, r.raft.leads(leading, n), r.leadership.lead) }()

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
	return errors.Join(err, r.drift.setAside(err), r.store.Close())
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

// Snapshot takes a snapshot now and opens it. Apply goes on meanwhile: only a
// pointer is taken between two entries.
func (r *Replica) Snapshot(ctx context.Context) (*Saved, error) { return r.snapshots.take(ctx) }

// RoomFor refuses what would leave the disk of this replica too little room for its log.
func (r *Replica) RoomFor(bytes int64) error { return r.disk.roomFor(bytes) }

// Propose commits a proposal and returns its outcome. The error wraps one of: a
// refusal (*pbs.Error), which the outcome holds as well; ErrNotLeader, when the
// proposal never entered the log; ErrOutcomeUnknown, when it may yet take effect.
// A repeat is answered by the state, which remembers (L8).
func (r *Replica) Propose(ctx context.Context, p command.Proposal) (command.Outcome, error) {
	return r.proposals.propose(ctx, p)
}

// Voters names the servers that vote; "" before Raft runs here.
func (r *Replica) Voters() string { return r.raft.voters() }

// Read returns a view of the state (L11), on leader and follower alike. The error
// of a fresh read wraps ErrNotLeader if no leader confirms it in time.
func (r *Replica) Read(ctx context.Context, mode Mode) (*state.View, error) {
	return r.reads.view(ctx, mode)
}

// Changed returns a channel that is closed when this replica has a newer state. Take it
// before reading the state that it should differ from.
func (r *Replica) Changed() <-chan struct{} { return r.cfg.Machine.Changed() }

// ReadIndex answers a follower: which index has a read to wait for that began
// before the call? Only a leader in its started term answers.
func (r *Replica) ReadIndex(ctx context.Context) (index, term uint64, err error) {
	return r.reads.index(ctx)
}

// Age tells how far back a stale read may lie: the time since this replica heard
// of its leader, 0 at a leader. Before the first contact it is the time since the
// last entry.
func (r *Replica) Age() time.Duration { return r.reads.age() }

// LastStart answers another replica's question, before Raft runs here too.
func (r *Replica) LastStart(ctx context.Context, q identity.Question) (identity.Answer, error) {
	return r.starts.last(ctx, q)
}

// Recover makes the cluster go on without a quorum. It asks every member how far its log
// reaches and relays the request to the furthest; that one writes down what it will do and
// starts again, as the only voter (Run returns ErrAgain). It refuses while a quorum answers
// or leads, while somebody who was named as lost answers, and while somebody does not who
// was not named.
func (r *Replica) Recover(ctx context.Context, d recovery.Disaster) (recovery.Rescue, error) {
	return r.rescue.begin(ctx, d)
}

// LogEnd returns how far the log of this replica reaches, as it is on the disk. It needs
// neither a leader nor that Raft runs.
func (r *Replica) LogEnd() (recovery.LogEnd, error) { return r.rescue.logEnd() }

// Status returns what this replica knows of itself. It needs no leader.
func (r *Replica) Status() member.Status { return r.report.status() }

// Statuses asks every member; those that do not answer in time are unreachable. Before
// Raft runs here, the members are those that the disk knows. One that was removed knows of
// nobody but itself: it is not answered any more.
func (r *Replica) Statuses(ctx context.Context) []member.Status { return r.census.statuses(ctx) }

// Leader returns the address of the leader, and whether we are it; not ok if none
// is known.
func (r *Replica) Leader() (addr string, self, ok bool) { return r.raft.leader() }

// IsLeader reports whether this replica believes to lead.
func (r *Replica) IsLeader() bool { return r.raft.leading() != nil }

// Term returns the present term, 0 before Run.
func (r *Replica) Term() uint64 { return r.raft.term() }

// Silent reports whether this replica can neither lead nor hear a leader now, since its store does
// not answer.
func (r *Replica) Silent() bool { return r.silence.kept() }

// Runs reports whether Raft runs here: nothing speaks against this disk, and it may ask
// to become a member.
func (r *Replica) Runs() bool { return r.raft.node.Load() != nil }

// Self returns what this replica announces of itself.
func (r *Replica) Self() state.Replica { return r.cfg.Self }

// Class returns with the times of which class this replica runs. It takes up another one when
// it is started next: Raft cannot change the lease of its leader while it runs.
func (r *Replica) Class() pbs.RTTClass { return r.pace.class }

// AddReplica makes a replica, whose store is new, a non-voter; it becomes a voter
// when it has caught up. A member with the same name and another disk is removed
// first: it is the same host without its memory, and must not be counted twice.
// Only the leader does this; repeating it does no harm.
func (r *Replica) AddReplica(ctx context.Context, joined state.Replica) error {
	return r.members.add(ctx, joined)
}

// Transfer hands leadership to the named replica, or to the best one if the name
// is empty, and returns when this replica no longer leads.
func (r *Replica) Transfer(ctx context.Context, to pbs.ReplicaName) error {
	return r.handover.ask(ctx, to)
}

// Members returns the replicas of the cluster; nobody before Raft runs here.
func (r *Replica) Members() []Member { return r.raft.members() }

// MayRemove refuses to remove a replica when those that are left, and answer, would be no
// quorum.
func (r *Replica) MayRemove(ctx context.Context, name pbs.ReplicaName) error {
	return r.removals.may(ctx, name)
}

// Withdraw takes the votes from a replica whose removal is on record, so that it counts no
// more; FinishRemoval does the rest. Only the leader does this; repeating it does no harm.
func (r *Replica) Withdraw(ctx context.Context, name pbs.ReplicaName) error {
	return r.removals.each(name, func(n *node, x state.Removal) error { return r.removals.withdraw(ctx, n, x) })
}

// FinishRemoval does all that is left to do for a replica whose removal is on record: it is
// off the record, and cut off, when it returns. Only the leader does this; repeating it
// does no harm.
func (r *Replica) FinishRemoval(ctx context.Context, name pbs.ReplicaName) error {
	return r.removals.each(name, func(n *node, x state.Removal) error { return r.removals.finish(ctx, n, x) })
}

package cluster

import (
	"context"
	"time"

	"rampart/cluster/identity"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

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

// ReadIndex tells a follower which index a read that began before the call must wait for.
// Only a leader in its started term answers.
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

// IsLeader reports whether this replica believes that it leads.
func (r *Replica) IsLeader() bool { return r.raft.leading() != nil }

// Term returns the present term, 0 before Run.
func (r *Replica) Term() uint64 { return r.raft.term() }

// Silent reports whether this replica can neither lead nor hear a leader now, since its store does
// not answer.
func (r *Replica) Silent() bool { return r.raft.silence.kept() }

// Runs reports whether Raft runs here: this disk was accepted, and the replica may ask
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

// MayRemove returns an error if the replicas that would be left, and answer, are no quorum.
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

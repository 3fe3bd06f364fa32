package service

import (
	"context"
	"log/slog"
	"time"

	"rampart/cluster"
	"rampart/cluster/identity"
	"rampart/cluster/load"
	"rampart/cluster/member"
	"rampart/cluster/recovery"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
	"rampart/transport"
	"rampart/transport/api"
	"rampart/transport/api/apiconnect"
)

// Replica is what the services need of a replica; *cluster.Replica is one.
type Replica interface {
	Propose(ctx context.Context, p command.Proposal) (command.Outcome, error)
	Read(ctx context.Context, mode cluster.Mode) (*state.View, error)
	ReadIndex(ctx context.Context) (index, term uint64, err error)
	Age() time.Duration
	Changed() <-chan struct{} // closed when the state is a newer one
	Status() member.Status
	Statuses(ctx context.Context) []member.Status
	Leader() (address string, self, ok bool)
	Transfer(ctx context.Context, to pbs.ReplicaName) error
	Voters() string // the servers that vote
	Snapshot(ctx context.Context) (*cluster.Saved, error)
	AddReplica(ctx context.Context, joined state.Replica) error
	MayRemove(ctx context.Context, name pbs.ReplicaName) error
	Withdraw(ctx context.Context, name pbs.ReplicaName) error
	FinishRemoval(ctx context.Context, name pbs.ReplicaName) error
	LastStart(ctx context.Context, q identity.Question) (identity.Answer, error)
	LogEnd() (recovery.LogEnd, error)
	Recover(ctx context.Context, d recovery.Disaster) (recovery.Rescue, error)
}

var _ Replica = (*cluster.Replica)(nil)

// Ledger holds the records: other replicas may lack some, and people look at those of a job.
type Ledger interface {
	Records(first, last uint64, yield func(*api.LedgerRecord) error) error
	// Kept is the number of the lowest record that is kept here.
	Kept() uint64
	// WaitSynced returns when the records up to a number are on disk for good.
	WaitSynced(ctx context.Context, number uint64) error
	// OfJob returns the lines of a job's records in the days first to last, YYYYMMDD; with
	// newest it reads back from the last one to that on which the job was queued.
	OfJob(ctx context.Context, id, first, last string, newest bool) ([][]byte, error)
}

// Leases hears of each lease that this leader answered.
type Leases interface {
	Renewed(host pbs.HostName)
}

// Log takes lines of the server log: refusals are logged where they are decided, and where the request was asked.
type Log interface {
	Write(at time.Time, event uint16, class, object, text string) error
}

// Logins issues the tokens of `rampart login`.
type Logins interface {
	Issue(user pbs.User, ttl time.Duration) (token string, expires time.Time, err error)
}

// Hooks runs the scripts of hooks.
type Hooks interface {
	// Compile returns a *hook.SyntaxError for a script that cannot be read.
	Compile(ctx context.Context, name string, script []byte) error
	// Run runs the hooks of an event, one after the other.
	Run(ctx context.Context, v *state.View, e *hook.Event) *hook.Outcome
}

// Config holds what the services need of the replica. Each service takes from it what it needs, and no more.
type Config struct {
	Replica  Replica
	Accounts transport.Accounts
	Log      Log
	Hooks    Hooks // runs scripts; nil: there is nothing to run them
	Logger   *slog.Logger
	Clock    func() time.Time // reads the wall clock; nil: time.Now

	CA     CA
	Keys   Keys
	Logins Logins
	// GossipBehind names the members that do not have the present gossip keys yet; nil: nobody.
	GossipBehind func() []string

	Ledger  Ledger
	Leases  func() Leases  // of the present term; nil while this replica does not lead
	Loads   *load.Table    // what moms say of their hosts; nil: one that nobody else reads
	Blobs   BlobKeeper     // has the scripts of jobs that are too large for the log
	Backups func() Backups // that this replica has made on schedule; nil: it makes none
	Home    string         // PBS_HOME, for those who ask where files are
	// Resolve asks the name service for the addresses of a host; nil: there is none.
	Resolve func(ctx context.Context, host string) ([]string, error)
	// OutputHost is where output goes of jobs that name no host: PBS_OUTPUT_HOST_NAME of pbs.conf; empty: where they were submitted.
	OutputHost string
	// Moms tells what the moms run that gossip hears; nil: nothing is known.
	Moms func() []Build
	// Agent returns the client of a host's mom at HOST:PORT; nil: none can be reached.
	Agent     func(host, address string) apiconnect.AgentClient
	Scheduler Scheduler

	// EndReplica asks a replica to end, this one too, perhaps with the schedulers of its host; EndSelf ends this one in a while. nil: they
	// cannot be ended so.
	EndReplica func(ctx context.Context, r *state.Replica, scheds bool) error
	// EndMom asks the mom of a host to end; nil: moms cannot be asked.
	EndMom  func(ctx context.Context, h *state.Host, r *api.EndMomRequest) error
	EndSelf func(after time.Duration)
	// EndScheds ends the processes of schedulers on this host; nil: there are none.
	EndScheds func()
}

// Scheduler holds what requests ask of the scheduler of this replica. Without one all of it is nil.
type Scheduler struct {
	// Place finds vnodes for a job that is to start at somebody's wish, or who has to make way for it, or says why there
	// are none; nil: only who names vnodes can start one.
	Place func(v *state.View, j *state.Job) (execVnode string, makeWay []*command.PreemptJob, why string)
	// Explain says what keeps a queued job waiting.
	Explain func(v *state.View, j *state.Job) *api.Obstacle
	// SchedLog returns the log of a scheduler.
	SchedLog func(sched string) Log
	// Shares returns the tree of fair share of the scheduler whose view it is.
	Shares func(v *state.View) []state.ShareNode
	// Turn takes from a scheduler the right to plan with what is free until it is given back.
	Turn func(ctx context.Context, sched string) (end func())
	// AwaitCycle returns when a cycle of a scheduler, empty for the default one, has planned with the state of an index; it has that cycle begin at once.
	AwaitCycle func(ctx context.Context, sched string, index uint64)
	// InCycle reports whether a scheduler is in a cycle.
	InCycle func(sched string) bool
}

// Services are the services of a replica.
type Services struct {
	Batch     *Batch
	Blobs     *Blobs
	Cluster   *Cluster
	Members   *Members
	Halt      *Halt
	Recovery  *Recovery
	Report    *Report
	Snapshots *Snapshots
	Staging   *Staging
	Trust     *Trust
}

// New returns the services.
func New(c Config) Services {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Loads == nil {
		c.Loads = load.NewTable()
	}
	b := base{c.Replica, c.Accounts, c.Log, c.Logger, c.Clock, newRequests(), newTurns()}
	batch := &Batch{base: b, Scheduler: c.Scheduler, Agent: c.Agent, Blobs: c.Blobs, Loads: c.Loads, Home: c.Home, OutputHost: c.OutputHost, Resolve: c.Resolve}
	batch.serverHooks = &serverHooks{&batch.base, c.Hooks}
	batch.reservations = reservations{&batch.base, batch.serverHooks}
	held := &deadlines{held: map[pbs.HostName]int64{}}
	return Services{
		Batch:     batch,
		Blobs:     &Blobs{base: b, keeper: c.Blobs},
		Cluster:   &Cluster{base: b, CA: c.CA, Logins: c.Logins, Ledger: c.Ledger, Blobs: c.Blobs, Moms: c.Moms},
		Halt:      &Halt{base: b, EndReplica: c.EndReplica, EndSelf: c.EndSelf, EndScheds: c.EndScheds, EndMom: c.EndMom, deadlines: held},
		Members:   &Members{b},
		Recovery:  &Recovery{b},
		Report:    &Report{base: b, Blobs: c.Blobs, Leases: c.Leases, Loads: c.Loads, deadlines: held},
		Snapshots: &Snapshots{base: b, Blobs: c.Blobs, Backups: c.Backups},
		Staging:   &Staging{b},
		Trust:     &Trust{base: b, Keys: c.Keys, GossipBehind: c.GossipBehind},
	}
}

var (
	_ apiconnect.BatchHandler     = (*Batch)(nil)
	_ apiconnect.BlobsHandler     = (*Blobs)(nil)
	_ apiconnect.ClusterHandler   = (*Cluster)(nil)
	_ apiconnect.MembersHandler   = (*Members)(nil)
	_ apiconnect.HaltHandler      = (*Halt)(nil)
	_ apiconnect.RecoveryHandler  = (*Recovery)(nil)
	_ apiconnect.ReportHandler    = (*Report)(nil)
	_ apiconnect.SnapshotsHandler = (*Snapshots)(nil)
	_ apiconnect.StagingHandler   = (*Staging)(nil)
	_ apiconnect.TrustHandler     = (*Trust)(nil)
)

// base is what every service needs: to know who asks, to read the state and to change it, once for each request, and to
// say so in the log.
type base struct {
	Replica  Replica
	Accounts transport.Accounts
	Log      Log
	Logger   *slog.Logger
	clock    func() time.Time

	requests *requests // of all services together
	turns    *turns    // of jobs
}

// now reads the wall clock.
func (c *base) now() pbs.Time { return pbs.Time(c.clock().UnixNano()) }

// present returns the state as this replica knows it now. Changes are permitted
// by it: they are done at the leader, whose state is the newest there is, and
// Apply looks again.
func (c *base) present(ctx context.Context) (*state.View, error) {
	return c.Replica.Read(ctx, cluster.Stale)
}

// commit proposes what is nobody's repeatable request: a mom's report, an enrolment.
func (c *base) commit(ctx context.Context, asker pbs.User, commands ...command.Command) (state.Result, error) {
	return c.propose(ctx, command.Proposal{Asker: asker, Commands: commands})
}

func (c *base) propose(ctx context.Context, p command.Proposal) (state.Result, error) {
	out, err := c.Replica.Propose(ctx, p)
	if err != nil {
		return state.Result{}, err
	}
	return out.Result, out.Err()
}

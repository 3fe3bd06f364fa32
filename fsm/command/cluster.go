package command

import (
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// InitCluster makes the cluster: it is the first command of every log.
type InitCluster struct {
	ID        string    `cbor:"1,keyasint"`
	Name      string    `cbor:"2,keyasint"` // server name
	Epoch     uint64    `cbor:"3,keyasint"`
	GossipKey []byte    `cbor:"4,keyasint,omitempty"`
	Server    attr.List `cbor:"5,keyasint,omitempty"` // server attributes to begin with
}

// Apply sets up an empty state with the default queue (specification: drop-in
// section 2); a second one is refused.
func (c *InitCluster) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	if tx.Cluster().ID != "" {
		return pbs.Errorf(pbs.InvalidRequest, "init: the cluster %s exists already", tx.Cluster().Name)
	}
	cl := tx.EditCluster()
	cl.ID, cl.Name, cl.Epoch, cl.FeatureLevel = c.ID, c.Name, c.Epoch, 1
	cl.HookGeneration = 1 // moms are told what there is when they register, if it is nothing, too
	if len(c.GossipKey) > 0 {
		cl.GossipKeys = [][]byte{c.GossipKey}
	}
	tx.PutQueue(&state.Queue{Name: "workq", Seq: tx.NextSeq(), Enabled: true, Started: true})
	server := attr.Defaults(attr.Server)
	for _, e := range c.Server {
		server = server.Set(e.Name, e.Resource, e.Value)
	}
	tx.PutServer(&state.Server{Attrs: server})
	return nil
}

// TermStarted is the first command of each leader: what is committed before it is
// applied before it, and no-op entries never reach the state (L11). Its entry
// alone may move the log's time ahead by any amount.
type TermStarted struct {
	Leader pbs.ReplicaName `cbor:"1,keyasint"`
	Host   pbs.HostName    `cbor:"2,keyasint,omitempty"`
	Clocks []pbs.Time      `cbor:"3,keyasint,omitempty"` // of a majority of the voters; the entry's time is their median
	Hot    bool            `cbor:"4,keyasint,omitempty"` // jobs that have ended with the servers start again first
	Name   string          `cbor:"5,keyasint,omitempty"` // of the server from now on; empty: as before
}

// Apply notes who leads.
func (c *TermStarted) Apply(tx *state.Tx, m Meta, res *state.Result) error {
	cl := tx.EditCluster()
	cl.Term, cl.Leader, cl.LeaderHost = m.Term, c.Leader, c.Host
	res.Epoch = cl.Epoch
	rename(tx, c.Name)
	if c.Hot {
		startHot(tx, m)
	}
	resume(tx, m, true)
	tx.Emit(state.Event{Kind: state.LeaderChanged, Object: string(c.Leader)})
	return nil
}

// TimeTick moves the log's time on, and drops what has had its time.
type TimeTick struct{}

// Apply drops tombstones, finished jobs and tokens that are old enough.
func (c *TimeTick) Apply(tx *state.Tx, m Meta, _ *state.Result) error {
	tx.Expire(historyKept(tx))
	tx.ExpireTokens()
	wake(tx, m.At)
	countLicenses(tx)
	tx.FadeShares()
	routeWaiting(tx, m)
	if err := turnReservations(tx); err != nil {
		return err
	}
	expireParts(tx)
	resume(tx, m, false)
	endHot(tx, m)
	return nil
}

// historyKept returns how long finished jobs stay in the history: job_history_duration; where there is none, not at all.
func historyKept(tx *state.Tx) pbs.Time {
	if !tx.Server().KeepsHistory() {
		return 0
	}
	return pbs.Time(tx.Server().Seconds("job_history_duration")) * pbs.Time(time.Second)
}

// retire removes a job that has just ended, or keeps it and drops such as have
// been kept for long enough.
func retire(tx *state.Tx, id pbs.JobID, forget bool) {
	if forget || !tx.Server().KeepsHistory() {
		tx.DeleteJob(id)
		return
	}
	tx.ExpireHistory(historyKept(tx))
}

// PutReplica tells the cluster what a member announced of itself.
type PutReplica struct {
	Replica state.Replica `cbor:"1,keyasint"`
}

// Apply stores it. What an older copy of the replica's disk announces, or a second
// one beside it, is refused (design section 4, amnesia); so is a server that was removed.
func (c *PutReplica) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	if c.Replica.Name == "" {
		return pbs.Errorf(pbs.InvalidRequest, "a replica needs a name")
	}
	r := c.Replica
	if tx.Barred(r.ServerID) {
		return pbs.Errorf(pbs.InvalidRequest, "replica %s was removed", r.Name)
	}
	if known, ok := tx.Replica(r.Name); ok && known.ServerID == r.ServerID && known.Generation >= r.Generation &&
		known.Start != "" && known.Start != r.Start {
		return pbs.Errorf(pbs.InvalidRequest, "replica %s has been started %d times, not %d times", r.Name, known.Generation, r.Generation)
	}
	tx.PutReplica(&r)
	return nil
}

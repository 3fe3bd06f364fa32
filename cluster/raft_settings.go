package cluster

import (
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/raft"

	"rampart/cluster/raftlog"
)

// The figures that failover, throughput and snapshots rest on (design section 12).
const (
	heartbeatTimeout = 300 * time.Millisecond // below 200 ms is unsafe on small machines
	electionTimeout  = 300 * time.Millisecond
	leaseTimeout     = 150 * time.Millisecond
	commitTimeout    = 20 * time.Millisecond
	maxAppendEntries = 64 // entries are big
	trailingLogs     = 2000

	// A replica takes a snapshot after this many proposals or snapshotBytes applied.
	snapshotProposals = 50_000
	// In a calm it takes one sooner, so that its next start applies little again: after a
	// calmShare-th of the proposals, when at most a calmRate-th of them came within calmLook.
	calmShare = 10
	calmRate  = 50
	calmLook  = 10 * time.Second

	// rpcTimeout bounds one Raft call; a snapshot gets more by its size.
	rpcTimeout = 5 * time.Second
	// connections kept to each replica: one for heartbeats, one for votes and the rest.
	connsPerPeer = 3

	// storeDeadline is how long a write to log or stable store may take before the replica
	// falls silent, in time in which this process gets to run.
	storeDeadline = time.Second
)

func (r *Replica) raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = r.raft.id
	c.HeartbeatTimeout, c.ElectionTimeout = r.pace.far(heartbeatTimeout), r.pace.far(electionTimeout)
	c.LeaderLeaseTimeout, c.CommitTimeout = r.pace.far(leaseTimeout), commitTimeout
	c.MaxAppendEntries, c.BatchApplyCh = maxAppendEntries, true
	c.TrailingLogs = r.snapshots.trailing
	// The replica itself asks for snapshots.
	c.SnapshotInterval, c.SnapshotThreshold = 24*time.Hour, math.MaxUint64
	// A removed replica stays and says so; its process is not Raft's to end.
	c.ShutdownOnRemove = false
	c.NoLegacyTelemetry = true
	c.Logger = raftlog.New(r.cfg.Logger)
	return c
}

// assertPreVote refuses a configuration in which a replica that comes back from a
// partition could depose a healthy leader. Raft itself only warns.
func assertPreVote(c *raft.Config, t raft.Transport) error {
	if _, ok := t.(raft.WithPreVote); !ok || c.PreVoteDisabled {
		return fmt.Errorf("raft: pre-vote is off")
	}
	return nil
}

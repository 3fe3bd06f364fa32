package cluster

import (
	"fmt"

	"github.com/hashicorp/raft"

	"rampart/fsm/pbs"
)

// RoomFor refuses what would leave the disk of this replica too little room for its log.
func (r *Replica) RoomFor(bytes int64) error {
	free, err := r.stores.Room()
	if err != nil || free-bytes >= roomLow {
		return nil // what cannot be told is found out by the write
	}
	return fmt.Errorf("%w: %w", ErrNoRoom, pbs.Errorf(pbs.ResourceBusy,
		"no room for a job script of %s: %s are left on the disk of %s", megabytes(bytes), megabytes(free), r.cfg.Self.Name))
}

// A Member is a replica as Raft has it.
type Member struct {
	Name    pbs.ReplicaName
	Address string
	Voter   bool
	Self    bool
}

// Members returns the replicas of the cluster; nobody before Raft runs here.
func (r *Replica) Members() []Member {
	n := r.node.Load()
	if n == nil {
		return nil
	}
	var all []Member
	for _, s := range n.servers() {
		all = append(all, Member{Name: nameOf(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter, Self: s.ID == r.id})
	}
	return all
}

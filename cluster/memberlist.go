package cluster

import (
	"github.com/hashicorp/raft"

	"rampart/cluster/member"
	"rampart/fsm/pbs"
)

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
		all = append(all, Member{Name: member.NameOf(s.ID), Address: string(s.Address), Voter: s.Suffrage == raft.Voter, Self: s.ID == r.id})
	}
	return all
}

package transport

import (
	"slices"
	"sync"
)

// Replicas knows where the replicas are and which of them to ask first: the
// leader for what only it can do, else one that has answered.
type Replicas struct {
	mu        sync.Mutex
	addresses []string
	first     int
	leader    string
	rumours   []string // asked last: see Rumour
}

// mostRumours bounds what is kept of what gossip says, the latest.
const mostRumours = 16

// NewReplicas returns the replicas at HOST:PORT, or a gateway at unix:PATH each.
func NewReplicas(addresses ...string) *Replicas {
	return &Replicas{addresses: slices.Clone(addresses)}
}

// Set replaces the addresses when the membership has changed.
func (r *Replicas) Set(addresses []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Equal(r.addresses, addresses) {
		r.addresses, r.first = slices.Clone(addresses), 0
	}
}

// Rumour notes where gossip says that a replica is. Such a one is asked when none of the others answers: a daemon that was
// enrolled at one replica may not have heard of the others when that one dies. Whoever answers there has to prove that he is one.
func (r *Replicas) Rumour(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if address == "" {
		return
	}
	r.rumours = slices.DeleteFunc(r.rumours, func(a string) bool { return a == address })
	r.rumours = append(r.rumours, address)
	r.rumours = r.rumours[max(0, len(r.rumours)-mostRumours):]
}

// Addresses returns the present ones.
func (r *Replicas) Addresses() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.addresses)
}

// order returns the addresses in the order in which to try them.
func (r *Replicas) order(at Place) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []string
	if at == AtLeader && r.leader != "" {
		all = append(all, r.leader)
	}
	for i := range r.addresses {
		if a := r.addresses[(r.first+i)%len(r.addresses)]; !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	for _, a := range r.rumours {
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all
}

// heard notes what a reply says of the leader.
func (r *Replicas) heard(leader string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if leader != "" {
		r.leader = leader
	}
}

// failed puts an address behind the others.
func (r *Replicas) failed(address string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leader == address {
		r.leader = ""
	}
	if len(r.addresses) > 0 && r.addresses[r.first] == address {
		r.first = (r.first + 1) % len(r.addresses)
	}
}

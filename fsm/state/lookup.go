package state

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Cluster returns what there is once: identity, clocks, counters.
func (t *tables) Cluster() *Cluster { return t.cluster }

// Server returns the server's attributes.
func (t *tables) Server() *Server { return t.server }

// Queue returns a queue.
func (t *tables) Queue(name pbs.QueueName) (*Queue, bool) { return t.queues.get(&Queue{Name: name}) }

// Queues yields the queues by name.
func (t *tables) Queues() iter.Seq[*Queue] { return t.queues.all() }

// Vnode returns a vnode.
func (t *tables) Vnode(name pbs.VnodeName) (*Vnode, bool) {
	v, ok := t.vnodes.get(&Vnode{Name: name})
	return t.present(v), ok
}

// Vnodes yields the vnodes in the order of their creation.
func (t *tables) Vnodes() iter.Seq[*Vnode] { return t.presented(t.scoped()) }

// VnodesOf yields the vnodes of a host in the order of their creation.
func (t *tables) VnodesOf(host pbs.HostName) iter.Seq[*Vnode] {
	return t.onHost(host, &t.byHost)
}

// takersOf yields those vnodes of a host that a run has to itself, in the order of their creation.
func (t *tables) takersOf(host pbs.HostName) iter.Seq[*Vnode] { return t.onHost(host, &t.takers) }

func (t *tables) onHost(host pbs.HostName, of *index[Vnode]) iter.Seq[*Vnode] {
	return func(yield func(*Vnode) bool) {
		for v := range of.from(&Vnode{Host: host}) {
			if v.Host != host || !yield(t.present(v)) {
				return
			}
		}
	}
}

func byHost(a, b *Vnode) bool {
	return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Seq, b.Seq)) < 0
}

// VnodesChanged yields the vnodes that entries after index changed, in the order of these; what runs hold less of as time passes is no
// change.
func (t *tables) VnodesChanged(index uint64) iter.Seq[*Vnode] {
	return t.presented(t.altered.from(&Vnode{Modified: index + 1}))
}

// NewestVnode returns the sequence number of the vnode that was created last, 0 if there is none.
func (t *tables) NewestVnode() uint64 {
	v, ok := t.bySeq.items.Max()
	if !ok {
		return 0
	}
	return v.Seq
}

// VnodeCount returns the number of vnodes.
func (t *tables) VnodeCount() int { return t.vnodes.count() }

// Host returns an execution host.
func (t *tables) Host(name pbs.HostName) (*Host, bool) { return t.hosts.get(&Host{Name: name}) }

// Hosts yields the execution hosts by name.
func (t *tables) Hosts() iter.Seq[*Host] { return t.hosts.all() }

// Job returns a job, finished ones of the history included.
func (t *tables) Job(id pbs.JobID) (*Job, bool) {
	j, ok := t.jobs.get(&Job{Seq: id.Seq(), Sub: id.Sub()})
	if !ok || j.ID != id {
		return nil, false
	}
	return j, true
}

// Called returns the identifier of the job that somebody names by its number and one of the server's names: that of
// the server when the job came.
func (t *tables) Called(id pbs.JobID) pbs.JobID {
	number, server, _ := strings.Cut(string(id), ".")
	if server != t.cluster.Name && !slices.Contains(t.cluster.Former, server) {
		return id
	}
	for _, former := range t.cluster.Former {
		was := pbs.JobID(number + "." + former)
		if _, there := t.Job(was.Parent()); there {
			return was
		}
	}
	return pbs.JobID(number + "." + t.cluster.Name)
}

// Jobs yields all jobs in the order of their ids, finished ones of the history included.
func (t *tables) Jobs() iter.Seq[*Job] { return t.jobs.all() }

// JobsFrom yields the jobs from a sequence number on, and there from the subjob with the
// index sub-1 on.
func (t *tables) JobsFrom(seq uint64, sub uint32) iter.Seq[*Job] {
	return t.jobs.from(&Job{Seq: seq, Sub: sub})
}

// JobCount returns the number of jobs, finished ones of the history included.
func (t *tables) JobCount() int { return t.jobs.count() }

// Running yields the jobs in states R and E in the order of their ids.
func (t *tables) Running() iter.Seq[*Job] { return t.mine(t.running.all()) }

// AllRunning yields the jobs that Running yields of all schedulers.
func (t *tables) AllRunning() iter.Seq[*Job] { return t.running.all() }

// Awaiting yields the jobs with earlier runs whose end is not known, in the order of their ids.
func (t *tables) Awaiting() iter.Seq[*Job] { return t.awaiting.all() }

// Due yields the jobs in state W in the order of their times.
func (t *tables) Due() iter.Seq[*Job] { return t.due.all() }

// Script returns the script of a job; subjobs have that of their array.
func (t *tables) Script(id pbs.JobID) (*Script, bool) {
	return t.scripts.get(&Script{Job: id.Parent()})
}

// Orders yields the open orders of a mom in the order of their ids.
func (t *tables) Orders(host pbs.HostName) iter.Seq[*Order] {
	return func(yield func(*Order) bool) {
		for o := range t.orders.from(&Order{Host: host}) {
			if o.Host != host || !yield(o) {
				return
			}
		}
	}
}

// OpenOrder returns an order that is not confirmed yet.
func (t *tables) OpenOrder(host pbs.HostName, id pbs.OrderID) (*Order, bool) {
	return t.orders.get(&Order{Host: host, ID: id})
}

// HostsWithOrders yields the hosts whose moms have open orders, by name.
func (t *tables) HostsWithOrders() iter.Seq[pbs.HostName] {
	return func(yield func(pbs.HostName) bool) {
		o, ok := t.orders.first()
		for ok {
			if !yield(o.Host) {
				return
			}
			var next *Order
			for n := range t.orders.from(&Order{Host: o.Host, ID: ^pbs.OrderID(0)}) {
				next = n
				break
			}
			o, ok = next, next != nil
		}
	}
}

// Request returns the remembered outcome of a request.
func (t *tables) Request(asker pbs.User, id pbs.RequestID) (*Request, bool) {
	return t.requests.get(&Request{Asker: asker, ID: id})
}

// JobsChanged yields the jobs in the order of the entries that changed them last, from
// the job with sequence number seq, and its subjob sub-1, among those of the entry at
// index on. Jobs that are gone have tombstones.
func (t *tables) JobsChanged(index, seq uint64, sub uint32) iter.Seq[*Job] {
	return t.changed.from(&Job{Modified: index, Seq: seq, Sub: sub})
}

// Tombstones yields the jobs that entries after index deleted, in the order of these.
func (t *tables) Tombstones(index uint64) iter.Seq[*Tombstone] {
	return t.tombstones.from(&Tombstone{Index: index + 1})
}

// Tombstone returns what is left of a job that was deleted lately.
func (t *tables) Tombstone(id pbs.JobID) (*Tombstone, bool) {
	return t.buried.items.Get(&Tombstone{Job: id})
}

// Remembers reports whether every deletion after index still has its tombstone.
func (t *tables) Remembers(index uint64) bool { return index >= t.cluster.Forgotten }

// Token returns an enrolment token by the hash of its secret.
func (t *tables) Token(hash string) (*Token, bool) { return t.tokens.get(&Token{Hash: hash}) }

// Identity returns an enrolled key.
func (t *tables) Identity(keyHash string) (*Identity, bool) {
	return t.identities.get(&Identity{KeyHash: keyHash})
}

// Identities yields all enrolled keys.
func (t *tables) Identities() iter.Seq[*Identity] { return t.identities.all() }

// Replica returns a member of the cluster.
func (t *tables) Replica(name pbs.ReplicaName) (*Replica, bool) {
	return t.replicas.get(&Replica{Name: name})
}

// Replicas yields the members of the cluster by name.
func (t *tables) Replicas() iter.Seq[*Replica] { return t.replicas.all() }

// Resource returns the definition of a resource, built in or custom.
func (t *tables) Resource(name string) (resource.Def, bool) {
	builtin, known := (resource.Builtins{}).Resource(name)
	if known && !resource.Creatable(name) {
		return builtin, true
	}
	if d, ok := t.resources.get(&ResourceDef{Def: resource.Def{Name: name}}); ok {
		return d.Def, true
	}
	return builtin, known
}

// CustomResources yields the resources that the site defined, by name.
func (t *tables) CustomResources() iter.Seq[resource.Def] {
	return func(yield func(resource.Def) bool) {
		for d := range t.resources.all() {
			if !yield(d.Def) {
				return
			}
		}
	}
}

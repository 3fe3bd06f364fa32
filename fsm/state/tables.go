package state

import (
	"cmp"
	"iter"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// tables is the whole state. It is copied by value; the copies share their trees
// until one of them is edited.
type tables struct {
	cluster *Cluster
	server  *Server
	sums    struct{ cluster, server uint64 }
	digest  uint64

	interner *interner // the writer's

	queues     table[Queue]
	vnodes     table[Vnode]
	hosts      table[Host]
	jobs       table[Job]
	scripts    table[Script]
	orders     table[Order]
	requests   table[Request]
	tombstones table[Tombstone]
	tokens     table[Token]
	identities table[Identity]
	replicas   table[Replica]
	resources  table[ResourceDef]
	parts      table[Part]
	hooks      table[Hook]
	hookFiles  table[HookFile]
	hookTasks  table[HookTask]
	mails      table[Mail]
	shares     table[Share]

	queued     tree[waiting]    // jobs in state Q by class, then in the order in which they are considered
	running    index[Job]       // jobs in states R and E
	suspended  index[Job]       // running jobs that are suspended
	releasing  index[Job]       // running jobs that have a release open
	returned   index[Job]       // subjobs that were started and are to start again
	awaiting   index[Job]       // jobs with earlier runs whose end is not known
	due        index[Job]       // jobs in state W, by their time
	aged       index[Job]       // jobs that may start, those that wait longest first
	ousted     index[Job]       // jobs in state Q that were preempted, by the time of that
	history    index[Job]       // finished jobs, by their end
	changed    index[Job]       // all jobs, by the entry that changed them last
	buried     index[Tombstone] // tombstones by job
	bySeq      index[Vnode]     // vnodes in the order of their creation
	byHost     index[Vnode]     // vnodes by host, then creation
	requestAge index[Request]   // requests, oldest first
	counts     table[counted]   // jobs by queue and state; derived, no part of the digest
	routing    index[Job]       // jobs in routing queues, by queue
	tallies    tree[*tallied]   // jobs and what they ask for, by whose they are; derived
	limited    []string         // resources that tallies count, sorted; replaced, never written to
	whose      bool             // a limit on running jobs counts by user, group or project

	undo *undo // of the transaction under way; its trees have it too
}

// counted is how many jobs of a queue are in which state.
type counted struct {
	queue    pbs.QueueName
	counts   Counts
	assigned resource.List // consumables of the jobs in states R and E
}

// Counts is how many jobs there are by state; finished ones count in no total.
type Counts [8]int32

// Of returns the number of jobs in the state.
func (c *Counts) Of(s pbs.JobState) int { return int(c[s]) }

// Total returns the number of jobs that are not finished.
func (c *Counts) Total() int {
	n := 0
	for _, s := range pbs.JobStates() {
		if s != pbs.Finished {
			n += int(c[s])
		}
	}
	return n
}

func newTables() tables { return newTablesUnder(new(undo)) }

func newTablesUnder(u *undo) tables {
	t := tables{
		undo:     u,
		interner: new(interner),
		cluster:  &Cluster{},
		server:   &Server{},
		queues:   newTable(u, 1, func(a, b *Queue) bool { return a.Name < b.Name }),
		vnodes:   newTable(u, 2, func(a, b *Vnode) bool { return a.Name < b.Name }),
		hosts:    newTable(u, 3, func(a, b *Host) bool { return a.Name < b.Name }),
		jobs:     newTable(u, 4, bySeqAndSub),
		scripts:  newTable(u, 5, func(a, b *Script) bool { return a.Job < b.Job }),
		orders: newTable(u, 6, func(a, b *Order) bool {
			return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.ID, b.ID)) < 0
		}),
		requests: newTable(u, 7, func(a, b *Request) bool {
			return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Asker.Name, b.Asker.Name), cmp.Compare(a.Asker.Host, b.Asker.Host)) < 0
		}),
		tombstones: newTable(u, 8, func(a, b *Tombstone) bool {
			return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Job, b.Job)) < 0
		}),
		tokens:     newTable(u, 9, func(a, b *Token) bool { return a.Hash < b.Hash }),
		identities: newTable(u, 10, func(a, b *Identity) bool { return a.KeyHash < b.KeyHash }),
		replicas:   newTable(u, 11, func(a, b *Replica) bool { return a.Name < b.Name }),
		resources:  newTable(u, 12, func(a, b *ResourceDef) bool { return a.Def.Name < b.Def.Name }),
		parts:      newTable(u, 20, func(a, b *Part) bool { return a.Number < b.Number }),
		hooks:      newTable(u, 13, func(a, b *Hook) bool { return a.Name < b.Name }),
		hookFiles: newTable(u, 14, func(a, b *HookFile) bool {
			return cmp.Or(cmp.Compare(a.Hook, b.Hook), cmp.Compare(a.Kind, b.Kind)) < 0
		}),
		hookTasks: newTable(u, 15, func(a, b *HookTask) bool { return a.Seq < b.Seq }),
		mails:     newTable(u, 16, func(a, b *Mail) bool { return a.Seq < b.Seq }),
		shares:    newTable(u, 30, func(a, b *Share) bool { return a.Entity < b.Entity }),

		queued:  newTree(u, waiting.less),
		running: newIndex(u, bySeqAndSub), returned: newIndex(u, bySeqAndSub), awaiting: newIndex(u, bySeqAndSub), suspended: newIndex(u, bySeqAndSub), releasing: newIndex(u, bySeqAndSub),
		due: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.ExecAt, b.ExecAt), cmp.Compare(a.Seq, b.Seq)) < 0
		}),
		aged: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Eligible, b.Eligible), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		ousted: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Preempted.At, b.Preempted.At), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		history: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		changed: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Modified, b.Modified), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		buried: newIndex(u, func(a, b *Tombstone) bool { return a.Job < b.Job }),
		bySeq:  newIndex(u, func(a, b *Vnode) bool { return a.Seq < b.Seq }),
		byHost: newIndex(u, func(a, b *Vnode) bool {
			return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Seq, b.Seq)) < 0
		}),
		requestAge: newIndex(u, func(a, b *Request) bool { return a.Seq < b.Seq }),
		counts:     newTable(u, 0, func(a, b *counted) bool { return a.queue < b.queue }),
		routing: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Seq, b.Seq)) < 0
		}),
		tallies: newTree(u, func(a, b *tallied) bool { return a.compare(b) < 0 }),
	}
	t.sums.cluster, t.sums.server = recordSum(tagCluster, t.cluster), recordSum(tagServer, t.server)
	t.digest = t.sums.cluster + t.sums.server
	return t
}

// bySeqAndSub is the order of jobs by their ids: an array is followed by its subjobs.
func bySeqAndSub(a, b *Job) bool {
	return a.Seq < b.Seq || a.Seq == b.Seq && a.Sub < b.Sub
}

// The tags of the two records that are no tables.
const (
	tagCluster = 100
	tagServer  = 101
)

// disown makes every tree foreign, so that the next write copies it first.
func (t *tables) disown() {
	for _, tree := range []interface{ disown() }{
		&t.queues, &t.vnodes, &t.hosts, &t.jobs, &t.scripts, &t.orders, &t.requests, &t.tombstones, &t.tokens,
		&t.identities, &t.replicas, &t.resources, &t.parts, &t.hooks, &t.hookFiles, &t.hookTasks, &t.mails, &t.shares,
		&t.queued, &t.running, &t.suspended, &t.releasing, &t.returned, &t.awaiting, &t.due, &t.aged, &t.ousted, &t.history, &t.changed, &t.buried, &t.bySeq, &t.byHost, &t.requestAge, &t.counts,
		&t.tallies, &t.routing,
	} {
		tree.disown()
	}
}

// Cluster returns what there is once: identity, clocks, counters.
func (t *tables) Cluster() *Cluster { return t.cluster }

// Server returns the server's attributes.
func (t *tables) Server() *Server { return t.server }

// Queue returns a queue.
func (t *tables) Queue(name pbs.QueueName) (*Queue, bool) { return t.queues.get(&Queue{Name: name}) }

// Queues yields the queues by name.
func (t *tables) Queues() iter.Seq[*Queue] { return t.queues.all() }

// Vnode returns a vnode.
func (t *tables) Vnode(name pbs.VnodeName) (*Vnode, bool) { return t.vnodes.get(&Vnode{Name: name}) }

// Vnodes yields the vnodes in the order of their creation.
func (t *tables) Vnodes() iter.Seq[*Vnode] { return t.bySeq.all() }

// VnodesOf yields the vnodes of a host in the order of their creation.
func (t *tables) VnodesOf(host pbs.HostName) iter.Seq[*Vnode] {
	return func(yield func(*Vnode) bool) {
		for v := range t.byHost.from(&Vnode{Host: host}) {
			if v.Host != host || !yield(v) {
				return
			}
		}
	}
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
func (t *tables) Running() iter.Seq[*Job] { return t.running.all() }

// Awaiting yields the jobs with earlier runs whose end is not known, in the order of their ids.
func (t *tables) Awaiting() iter.Seq[*Job] { return t.awaiting.all() }

// Due yields the jobs in state W in the order of their times.
func (t *tables) Due() iter.Seq[*Job] { return t.due.all() }

// Script returns the body of a job's script; subjobs have that of their array.
func (t *tables) Script(id pbs.JobID) ([]byte, bool) {
	s, ok := t.scripts.get(&Script{Job: id.Parent()})
	if !ok {
		return nil, false
	}
	return s.Body, true
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

// Remembers tells whether every deletion after index still has its tombstone.
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
	if d, ok := (resource.Builtins{}).Resource(name); ok {
		return d, true
	}
	if d, ok := t.resources.get(&ResourceDef{Def: resource.Def{Name: name}}); ok {
		return d.Def, true
	}
	return resource.Def{}, false
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

// CountsOf returns how many jobs of a queue are in which state.
func (t *tables) CountsOf(queue pbs.QueueName) Counts {
	c, ok := t.counts.get(&counted{queue: queue})
	if !ok {
		return Counts{}
	}
	return c.counts
}

// AllCounts returns how many jobs are in which state, over all queues.
func (t *tables) AllCounts() Counts {
	var sum Counts
	for c := range t.counts.all() {
		for i, n := range c.counts {
			sum[i] += n
		}
	}
	return sum
}

var _ resource.Table = (*tables)(nil)

// attrValue returns an attribute of the server, its default if it is not set.
func attrValue(o attr.Object, list attr.List, name string) string {
	if v, ok := list.Get(name, ""); ok {
		return v
	}
	d, ok := attr.Lookup(o, name)
	switch {
	case !ok:
		return ""
	case d.Default != "":
		return d.Default
	}
	return d.Implied
}

package state

import (
	"cmp"

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

	unhashed []*Job // wide ones that this entry has stored: hashed when it is over

	interner *interner // the writer's

	queues       table[Queue]
	vnodes       table[Vnode]
	hosts        table[Host]
	jobs         table[Job]
	scripts      table[Script]
	orders       table[Order]
	requests     table[Request]
	tombstones   table[Tombstone]
	tokens       table[Token]
	identities   table[Identity]
	replicas     table[Replica]
	resources    table[ResourceDef]
	parts        table[Part]
	hooks        table[Hook]
	hookFiles    table[HookFile]
	hookTasks    table[HookTask]
	mails        table[Mail]
	shares       table[Share]
	accounts     table[Account]
	reservations table[Reservation]
	lsf          table[LSF] // one record, or none

	queued      tree[waiting]            // jobs in state Q by class, then in the order in which they are considered
	firsts      tree[waiting]            // the first one of each class
	running     index[Job]               // jobs in states R and E
	suspended   index[Job]               // running jobs that are suspended
	releasing   index[Job]               // running jobs that have a release open
	returned    index[Job]               // subjobs that were started and are to start again
	awaiting    index[Job]               // jobs with earlier runs whose end is not known
	due         index[Job]               // jobs in state W, by their time
	aged        index[Job]               // jobs that may start, those that wait longest first
	foreseen    index[Job]               // jobs that wait, and of whose start something was said
	pendings    index[Job]               // jobs that wait and that have, or have had, something kept for them
	kept        tree[keptOn]             // what is kept for them, by vnode
	ousted      index[Job]               // jobs in state Q that were preempted, by the time of that
	history     index[Job]               // finished jobs, by their end
	changed     index[Job]               // all jobs, by the entry that changed them last
	buried      index[Tombstone]         // tombstones by job
	blobs       index[Script]            // scripts that are blobs, by content
	bySeq       index[Vnode]             // vnodes in the order of their creation
	byHost      index[Vnode]             // vnodes by host, then creation
	altered     index[Vnode]             // vnodes, by the entry that changed them last
	sharers     index[Vnode]             // vnodes that share amounts of others, in the order of their creation
	requestAge  index[Request]           // requests, oldest first
	unseen      index[HookTask]          // events of postqueuejob that wait for their hooks, by job
	counts      table[counted]           // jobs by queue and state; derived, no part of the digest
	routing     index[Job]               // jobs in routing queues, by queue
	namesakes   tree[namesake]           // jobs that are not over, by owner and name
	tallies     tree[*tallied]           // jobs and what they ask for, by whose they are; derived
	limited     []string                 // resources that tallies count, sorted; replaced, never written to
	whose       bool                     // a limit on running jobs counts by user, group or project
	inPartition index[Vnode]             // vnodes that are in a partition, by that, then creation
	takers      index[Vnode]             // vnodes that a run has to itself, by host, then creation
	ofQueue     index[Vnode]             // vnodes that only jobs of one queue may have, by that, then creation
	partitionOf map[pbs.QueueName]string // partitions of queues that are in one; replaced, never written to
	scope       *scope                   // of a view that is one scheduler's; nil: of all

	promised tree[*booking]     // what reservations have of vnodes; derived
	moments  index[Reservation] // reservations by the time at which something is due of them
	amended  index[Reservation] // reservations, by the entry that changed them last
	insiders index[Job]         // jobs in reservations that are not over, by reservation

	fading   index[Vnode] // vnodes of which runs hold less as time passes, in the order of their creation
	at       pbs.Time     // of a view that is of another time than its log; 0: it is none
	presents Presents

	undo *undo // of the transaction under way; its trees have it too
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
		hookTasks:    newTable(u, 15, func(a, b *HookTask) bool { return a.Seq < b.Seq }),
		mails:        newTable(u, 16, func(a, b *Mail) bool { return a.Seq < b.Seq }),
		shares:       newTable(u, 30, (*Share).less),
		accounts:     newTable(u, 31, func(a, b *Account) bool { return a.Name < b.Name }),
		reservations: newTable(u, 32, func(a, b *Reservation) bool { return a.Seq < b.Seq }),
		lsf:          newTable(u, 33, func(_, _ *LSF) bool { return false }),
		promised:     newTree(u, func(a, b *booking) bool { return a.compare(b) < 0 }),
		moments: newIndex(u, func(a, b *Reservation) bool {
			return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.Seq, b.Seq)) < 0
		}),
		insiders: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Reservation, b.Reservation), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),

		queued:  newTree(u, waiting.less),
		firsts:  newTree(u, func(a, b waiting) bool { return a.class.compare(b.class) < 0 }),
		running: newIndex(u, bySeqAndSub), returned: newIndex(u, bySeqAndSub), awaiting: newIndex(u, bySeqAndSub), suspended: newIndex(u, bySeqAndSub), releasing: newIndex(u, bySeqAndSub),
		due: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.ExecAt, b.ExecAt), cmp.Compare(a.Seq, b.Seq)) < 0
		}),
		aged: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Eligible, b.Eligible), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		foreseen: newIndex(u, topsFirst),
		pendings: newIndex(u, bySeqAndSub), kept: newTree(u, keptOn.less),
		ousted: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Ousted.At, b.Ousted.At), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		history: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Ended, b.Ended), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		changed: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Modified, b.Modified), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Sub, b.Sub)) < 0
		}),
		buried:  newIndex(u, func(a, b *Tombstone) bool { return a.Job < b.Job }),
		blobs:   newIndex(u, byBlob),
		bySeq:   newIndex(u, func(a, b *Vnode) bool { return a.Seq < b.Seq }),
		sharers: newIndex(u, func(a, b *Vnode) bool { return a.Seq < b.Seq }),
		fading:  newIndex(u, func(a, b *Vnode) bool { return a.Seq < b.Seq }),
		byHost:  newIndex(u, byHost),
		takers:  newIndex(u, byHost),
		altered: newIndex(u, func(a, b *Vnode) bool {
			return a.Modified < b.Modified || a.Modified == b.Modified && a.Seq < b.Seq
		}),
		amended: newIndex(u, func(a, b *Reservation) bool {
			return a.Modified < b.Modified || a.Modified == b.Modified && a.Seq < b.Seq
		}),
		requestAge:  newIndex(u, func(a, b *Request) bool { return a.Seq < b.Seq }),
		inPartition: newIndex(u, byPartition),
		ofQueue:     newIndex(u, byQueue),
		unseen: newIndex(u, func(a, b *HookTask) bool {
			return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Seq, b.Seq)) < 0
		}),
		counts: newTable(u, 0, func(a, b *counted) bool { return a.queue < b.queue }),
		routing: newIndex(u, func(a, b *Job) bool {
			return cmp.Or(cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Seq, b.Seq)) < 0
		}),
		namesakes: newTree(u, namesake.less),
		tallies:   newTree(u, func(a, b *tallied) bool { return a.compare(b) < 0 }),
	}
	t.sums.cluster, t.sums.server = recordSum(tagCluster, t.cluster), recordSum(tagServer, t.server)
	t.digest = t.sums.cluster + t.sums.server
	return t
}

// bySeqAndSub reports whether one job stands before another by their ids: an array is followed by its subjobs.
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
		&t.identities, &t.replicas, &t.resources, &t.parts, &t.hooks, &t.hookFiles, &t.hookTasks, &t.mails, &t.shares, &t.accounts, &t.reservations, &t.lsf, &t.promised, &t.moments, &t.insiders,
		&t.queued, &t.firsts, &t.running, &t.suspended, &t.releasing, &t.returned, &t.awaiting, &t.due, &t.aged, &t.foreseen, &t.pendings, &t.kept, &t.ousted, &t.history, &t.changed, &t.buried, &t.blobs, &t.bySeq, &t.byHost, &t.takers, &t.inPartition, &t.ofQueue, &t.altered, &t.amended, &t.sharers, &t.fading, &t.requestAge, &t.unseen, &t.counts,
		&t.tallies, &t.routing, &t.namesakes,
	} {
		tree.disown()
	}
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

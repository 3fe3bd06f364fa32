package state

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Tx is one proposal's change of the state. It reads like a View, its own writes
// included. One goroutine uses it; it leaves no trace unless it is committed.
type Tx struct {
	tables
	index      uint64
	events     []Event
	ownCluster bool // tx.cluster is this transaction's own copy

	touchedVnodes       []pbs.VnodeName     // promised ones whose conditions have changed
	touchedReservations []pbs.ReservationID // whose jobs have changed
}

// Index returns the index of the log entry that is being applied.
func (tx *Tx) Index() uint64 { return tx.index }

// Now returns the time of the entry.
func (tx *Tx) Now() pbs.Time { return tx.cluster.Time }

// EditCluster returns the record of what there is once, for changes; slices in it
// are replaced, never written to.
func (tx *Tx) EditCluster() *Cluster {
	if !tx.ownCluster {
		c := *tx.cluster
		tx.cluster, tx.ownCluster = &c, true
	}
	return tx.cluster
}

// seal settles what was left for the end of the transaction.
func (tx *Tx) seal() {
	if tx.ownCluster {
		sum := recordSum(tagCluster, tx.cluster)
		tx.digest += sum - tx.sums.cluster
		tx.sums.cluster, tx.ownCluster = sum, false
	}
}

// PutServer replaces the server's attributes.
func (tx *Tx) PutServer(s *Server) {
	sum := recordSum(tagServer, s)
	tx.digest += sum - tx.sums.server
	tx.server, tx.sums.server = s, sum
	tx.relimit()
}

// PutQueue stores a queue.
func (tx *Tx) PutQueue(q *Queue) {
	q.Modified = tx.index
	_, delta := tx.queues.put(q)
	tx.digest += delta
	tx.relimit()
}

// DeleteQueue removes a queue.
func (tx *Tx) DeleteQueue(name pbs.QueueName) {
	_, delta := tx.queues.remove(&Queue{Name: name})
	tx.digest += delta
	tx.relimit()
}

// PutVnode stores a vnode, and counts at others what its jobs hold of them.
func (tx *Tx) PutVnode(v *Vnode) {
	old, ok := tx.Vnode(v.Name)
	if ok {
		v.Lent = old.Lent
	} else {
		old, v.Lent = nil, tx.lentBy(v.Name)
	}
	tx.store(old, v)
	tx.lend(old, v)
}

func (tx *Tx) store(old, v *Vnode) {
	v.Modified = tx.index
	_, delta := tx.vnodes.put(v)
	tx.digest += delta
	tx.indexVnode(old, v)
	if old != nil && old.Flags != v.Flags {
		tx.Emit(Event{Kind: VnodeChanged, Object: string(v.Name), Text: changedState(old, v)})
	}
	if old == nil || old.Flags != v.Flags || old.InMaintenance() != v.InMaintenance() || !sameItems(old.Reported, v.Reported) || !sameItems(old.Configured, v.Configured) || old.Sharing != v.Sharing {
		tx.touchVnode(v.Name)
	}
	if tx.HasHooksAt("modifyvnode") && old != nil && old.State() != v.State() {
		tx.PutHookTask(&HookTask{Event: "modifyvnode", Vnode: v.Name, Attrs: tx.VnodeAttributes(v), Old: tx.VnodeAttributes(old)})
	}
}

// indexVnode has the indices of vnodes follow a change; old is nil for a new one, v for one that is removed.
func (tx *Tx) indexVnode(old, v *Vnode) {
	tx.bySeq.move(old, v, always)
	tx.byHost.move(old, v, always)
	tx.altered.move(old, v, always)
	tx.inPartition.move(old, v, (*Vnode).hasPartition)
	tx.ofQueue.move(old, v, (*Vnode).isOfQueue)
	tx.sharers.move(old, v, (*Vnode).anyIndirect)
	tx.fading.move(old, v, (*Vnode).fades)
	tx.takers.move(old, v, (*Vnode).Exclusive)
}

func always(*Vnode) bool { return true }

// sameItems reports whether two lists are one, as most are of a vnode that changes: those that are equal by chance cost a look.
func sameItems(a, b resource.List) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// DeleteVnode removes a vnode.
func (tx *Tx) DeleteVnode(name pbs.VnodeName) {
	old, delta := tx.vnodes.remove(&Vnode{Name: name})
	tx.digest += delta
	tx.indexVnode(old, nil)
	tx.lend(old, nil)
}

// PutHost stores an execution host.
func (tx *Tx) PutHost(h *Host) {
	h.Modified = tx.index
	_, delta := tx.hosts.put(h)
	tx.digest += delta
}

// DeleteHost removes an execution host.
func (tx *Tx) DeleteHost(name pbs.HostName) {
	_, delta := tx.hosts.remove(&Host{Name: name})
	tx.digest += delta
}

// PutJob stores a job and keeps the indexes and counts in step.
func (tx *Tx) PutJob(j *Job) {
	j.Modified = tx.index
	j.Changed = tx.Now()
	switch j.State {
	case pbs.Queued, pbs.Held, pbs.Waiting:
	default:
		j.Wait = nil // it waits no more
	}
	if !j.MayStart() {
		j.DropPending()
	}
	tx.accrue(j)
	old, delta := tx.storeJob(j)
	tx.digest += delta
	tx.reindexJob(old, j)
	if j.State == pbs.Running && (old == nil || old.State != pbs.Running) {
		tx.noteUsed(j)
	}
	tx.chargeShare(old, j)
	tx.countSuspended(old, j)
}

// wideFrom is from how many sisters or dependencies on a job is hashed once for an entry. Such a
// record is long, and an entry may tell of the end of its part on 256 hosts, or of 256 jobs that
// are to wait for it.
const wideFrom = 64

func (j *Job) wide() bool {
	n := len(j.LastRun().Sisters)
	for _, d := range j.Depends {
		n += len(d.Jobs)
	}
	return n >= wideFrom
}

func (tx *Tx) storeJob(j *Job) (old *Job, delta uint64) {
	if !j.wide() {
		return tx.jobs.put(j)
	}
	tx.unhashed = append(tx.unhashed, j)
	return tx.jobs.deferred(j)
}

// DeleteJob removes a job and its script and leaves a tombstone.
func (tx *Tx) DeleteJob(id pbs.JobID) {
	j, ok := tx.Job(id)
	if !ok {
		return
	}
	old, delta := tx.jobs.remove(&Job{Seq: j.Seq, Sub: j.Sub})
	tx.digest += delta
	tx.reindexJob(old, nil)
	tx.DeleteScript(id)
	status, exited := j.Exit()
	tx.bury(&Tombstone{
		Job: id, Index: tx.index, At: tx.Now(), ExitStatus: status, HasExited: exited, Owner: j.Owner,
		Finished: j.State == pbs.Finished && j.Modified < tx.index,
	})
	tx.expireTombstones(2) // two out for one in: the ticks alone do not keep up with a busy cluster
}

// bury stores the tombstone of a job, of which there is one.
func (tx *Tx) bury(t *Tombstone) {
	if earlier, ok := tx.Tombstone(t.Job); ok {
		tx.exhume(earlier)
	}
	_, delta := tx.tombstones.put(t)
	tx.digest += delta
	tx.buried.set(t)
}

func (tx *Tx) exhume(t *Tombstone) {
	_, delta := tx.tombstones.remove(t)
	tx.digest += delta
	tx.buried.drop(t)
}

func (tx *Tx) reindexJob(old, j *Job) {
	tx.touchReservation(old)
	tx.touchReservation(j)
	tx.indexJob(old, j)
	tx.tally(old, j)
	if old != nil && j != nil && old.Queue == j.Queue && old.State == j.State && old.Suspended() == j.Suspended() && old.LastRun().Phases == j.LastRun().Phases &&
		(!j.Live() || slices.Equal(old.Resources, j.Resources)) { // what a run reserves may be changed
		return
	}
	tx.countJob(old, false)
	tx.countJob(j, true)
}

func (t *tables) indexJob(old, j *Job) {
	t.queue(old, j)
	t.indexName(old, j)
	t.running.move(old, j, (*Job).Live)
	t.suspended.move(old, j, (*Job).Suspended)
	t.releasing.move(old, j, func(j *Job) bool { return j.LastRun().Release != nil })
	t.returned.move(old, j, (*Job).returned)
	t.awaiting.move(old, j, func(j *Job) bool { return len(j.Unconfirmed) > 0 })
	t.routing.move(old, j, t.inRouting)
	t.due.move(old, j, func(j *Job) bool { return j.State == pbs.Waiting })
	t.aged.move(old, j, (*Job).Startable)
	t.foreseen.move(old, j, (*Job).foreseen)
	t.pendings.move(old, j, func(j *Job) bool { return j.Pending != nil })
	t.keeps(old, j)
	t.ousted.move(old, j, (*Job).ousted)
	t.history.move(old, j, func(j *Job) bool { return j.State == pbs.Finished })
	t.changed.move(old, j, func(*Job) bool { return true })
	t.insiders.move(old, j, func(j *Job) bool { return j.Reservation != "" && j.State != pbs.Finished })
}

// countJob adds a job to the counts of its queue, or takes it away.
func (t *tables) countJob(j *Job, in bool) {
	if j == nil {
		return
	}
	c := &counted{queue: j.Queue}
	if old, ok := t.counts.get(c); ok {
		*c = *old
	}
	by, sum := int32(-1), resource.Sub
	if in {
		by, sum = 1, resource.Add
	}
	c.counts[j.State] += by
	if j.Live() {
		if assigned, err := sum(c.assigned, t.charged(j), t); err == nil {
			c.assigned = assigned
		}
	}
	if c.counts == (Counts{}) {
		t.counts.drop(row{rec: c})
		return
	}
	t.counts.set(row{rec: c})
}

// Order adds an order for a mom, under that mom's next id, and returns it.
func (tx *Tx) Order(o Order) *Order {
	host, ok := tx.Host(o.Host)
	if !ok {
		host = &Host{Name: o.Host}
	}
	next := *host
	next.NextOrder++
	o.ID, o.Created = next.NextOrder, tx.Now()
	tx.PutHost(&next)
	_, delta := tx.orders.put(&o)
	tx.digest += delta
	return &o
}

// DeleteOrder removes an order that was confirmed or has become void.
func (tx *Tx) DeleteOrder(host pbs.HostName, id pbs.OrderID) {
	_, delta := tx.orders.remove(&Order{Host: host, ID: id})
	tx.digest += delta
}

// PutToken stores an enrolment token.
func (tx *Tx) PutToken(t *Token) {
	_, delta := tx.tokens.put(t)
	tx.digest += delta
}

// DeleteToken removes an enrolment token.
func (tx *Tx) DeleteToken(hash string) {
	_, delta := tx.tokens.remove(&Token{Hash: hash})
	tx.digest += delta
}

// PutIdentity stores an enrolled key.
func (tx *Tx) PutIdentity(i *Identity) {
	_, delta := tx.identities.put(i)
	tx.digest += delta
}

// PutReplica stores a member of the cluster.
func (tx *Tx) PutReplica(r *Replica) {
	_, delta := tx.replicas.put(r)
	tx.digest += delta
}

// DeleteReplica removes a member of the cluster.
func (tx *Tx) DeleteReplica(name pbs.ReplicaName) {
	_, delta := tx.replicas.remove(&Replica{Name: name})
	tx.digest += delta
}

// PutResource stores the definition of a custom resource.
func (tx *Tx) PutResource(d *ResourceDef) {
	_, delta := tx.resources.put(d)
	tx.digest += delta
}

// DeleteResource removes the definition of a custom resource.
func (tx *Tx) DeleteResource(name string) {
	pivot := &ResourceDef{}
	pivot.Def.Name = name
	_, delta := tx.resources.remove(pivot)
	tx.digest += delta
}

// NextJob takes the next sequence number for a job or a reservation. After max_job_sequence_id it begins again at 0
// and leaves out those in use; when all of them are, it goes on beyond.
func (tx *Tx) NextJob() uint64 {
	c := tx.EditCluster()
	most := uint64(max(0, tx.Server().Int("max_job_sequence_id")))
	n, again := c.NextJob, false
	for {
		switch {
		case n > most && !again:
			n, again = 0, true
		case tx.numbered(n):
			n++
		default:
			c.NextJob, c.NumbersAgain = n+1, c.NumbersAgain || again
			return n
		}
	}
}

// numbered reports whether a job or a reservation has the sequence number.
func (tx *Tx) numbered(n uint64) bool {
	if j, ok := tx.jobs.after(&Job{Seq: n}); ok && j.Seq == n {
		return true
	}
	r, ok := tx.reservations.after(&Reservation{Seq: n})
	return ok && r.Seq == n
}

// NextSeq takes the next number of the order of creation.
func (tx *Tx) NextSeq() uint64 {
	c := tx.EditCluster()
	c.NextSeq++
	return c.NextSeq
}

func (tx *Tx) putRequest(r *Request) {
	r.Asker = tx.interner.user(r.Asker)
	old, delta := tx.requests.put(r)
	tx.digest += delta
	tx.requestAge.move(old, r, func(*Request) bool { return true })
}

func (tx *Tx) deleteRequest(r *Request) {
	old, delta := tx.requests.remove(r)
	tx.digest += delta
	tx.requestAge.move(old, nil, func(*Request) bool { return true })
}

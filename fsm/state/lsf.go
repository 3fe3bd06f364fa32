package state

import (
	"strconv"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
)

// LSF is what badmin reconfig has read last: there is one record of it, or none.
type LSF struct {
	Config lsf.Config `cbor:"1,keyasint"`
	// Written is what was set then on the server and on queues; what hosts get follows from Config. What of it nobody has changed since
	// is taken back by the next reconfiguration that does not say it again.
	Written []Written `cbor:"2,keyasint,omitempty"`
	// Revision is the index of the entry that has brought it; 0: nobody has configured anything.
	Revision uint64 `cbor:"3,keyasint"`
	// Planned is the revision by which the scheduler has planned a cycle last.
	Planned uint64 `cbor:"4,keyasint,omitempty"`
}

// Written is what a configuration has set on one object.
type Written struct {
	Object string    `cbor:"1,keyasint"` // its kind: "queue"
	Name   string    `cbor:"2,keyasint,omitempty"`
	Attrs  attr.List `cbor:"3,keyasint,omitempty"`
	Made   bool      `cbor:"4,keyasint,omitempty"` // the object is there by it
	Ended  bool      `cbor:"5,keyasint,omitempty"` // and was to go with its last job
}

// WrittenOn returns what a configuration has set on an object, and whether it has named it.
func (l *LSF) WrittenOn(o attr.Object, name string) (Written, bool) {
	for _, w := range l.Written {
		if w.Object == o.String() && w.Name == name {
			return w, true
		}
	}
	return Written{}, false
}

// unconfigured is what holds before anybody has configured anything. It is no part of the state.
var unconfigured = &LSF{Config: *lsf.Unconfigured()}

// Reconfigured returns what badmin reconfig has read last; without that, what the specification sets for a site that has configured nothing.
func (t *tables) Reconfigured() *LSF {
	if l, ok := t.lsf.first(); ok {
		return l
	}
	return unconfigured
}

// LSF returns what a site has configured in the files of LSF, never nil, and not to be written to.
func (t *tables) LSF() *lsf.Config { return &t.Reconfigured().Config }

// PutLSF replaces the configuration, for which the scheduler looks at the jobs that wait anew.
func (tx *Tx) PutLSF(l *LSF) {
	l.Revision = tx.index
	_, delta := tx.lsf.put(l)
	tx.digest += delta
	tx.relimit()
}

// Unplanned reports whether the scheduler has not planned a cycle yet by what badmin reconfig has read: what it has said of jobs that wait is of
// the time before (specification: reservation section 8.7).
func (t *tables) Unplanned() bool {
	l := t.Reconfigured()
	return l.Planned < l.Revision
}

// PlanLSF notes that the scheduler has planned a cycle by a revision of the configuration.
func (tx *Tx) PlanLSF(revision uint64) {
	if l, ok := tx.lsf.first(); ok && l.Planned < revision && revision <= l.Revision {
		next := *l
		next.Planned = revision
		_, delta := tx.lsf.put(&next)
		tx.digest += delta
	}
}

// unready reports whether a job waits for the first cycle after a reconfiguration.
func (t *tables) unready(j *Job) bool { return j.State == pbs.Queued && j.Wait != nil && t.Unplanned() }

// limitsSlots reports whether the queue bounds the slots of its jobs on hosts.
func (q *Queue) limitsSlots() bool {
	return q.Get(lsf.QueueCPULimit) != "" || q.Get(lsf.QueueHostLimit) != ""
}

// SlotQueues returns what queues say of the slots of their jobs. Of how many there may be in all those are asked whose jobs keep slots
// while they wait, and those that a configuration of LSF has made: max_run_res alone bounds the others.
func (t *tables) SlotQueues() (queues []lsf.QueueSlots) {
	for q := range t.Queues() {
		s := lsf.QueueSlots{Name: string(q.Name), PerCPU: q.Get(lsf.QueueCPULimit), PerHost: q.Get(lsf.QueueHostLimit)}
		turns, _ := q.Reserves()
		if made, _ := t.Reconfigured().WrittenOn(attr.Queue, s.Name); turns > 0 || made.Made {
			all, _ := q.Attrs.Get("max_run_res", "ncpus")
			s.InAll, s.PerUser = lsf.SlotLimit(all, lsf.Everybody), lsf.SlotLimit(all, lsf.EachUser)
		}
		if s != (lsf.QueueSlots{Name: s.Name}) {
			queues = append(queues, s)
		}
	}
	return queues
}

// Reserves returns for how many dispatch turns a pending job of the queue may hold what it reserves, and whether that is
// memory beside slots; 0: nothing is reserved. Where a queue has both attributes resource_reserve
// governs (specification: reservation section 5.5).
func (q *Queue) Reserves() (turns int64, memory bool) {
	if turns, _ = strconv.ParseInt(q.Get("resource_reserve"), 10, 64); turns > 0 {
		return turns, true
	}
	turns, _ = strconv.ParseInt(q.Get("slot_reserve"), 10, 64)
	return turns, false
}

// Requires returns the requirement of a job of LSF as it counts: with what its queue and its application want, and of its alternatives the
// one that it got. It is empty for others.
func (j *Job) Requires() (text string) {
	for _, name := range [...]string{lsf.JobRequirement, lsf.JobCombined, lsf.JobEffective} {
		if said, ok := j.Attrs.Get(name, ""); ok {
			text = said
		}
	}
	return text
}

// More returns what the requirement of a job asks of hosts that its select cannot say: its selection, of that what the queue wants,
// its alternatives, the order of its hosts, how its chunks stand on them, and which it was submitted to, each in a line; empty: nothing.
func (j *Job) More() string {
	if _, ok := j.Attrs.Get(lsf.JobRequirement, ""); !ok {
		return ""
	}
	where, _ := j.Attrs.Get(lsf.JobSelect, "")
	alternatives, _ := j.Attrs.Get(lsf.JobAlternatives, "")
	order, _ := j.Attrs.Get(lsf.JobOrder, "")
	layout, _ := j.Attrs.Get(lsf.JobLayout, "")
	hosts, _ := j.Attrs.Get(lsf.JobHosts, "")
	if where == "" && alternatives == "" && order == "" && layout == "" && hosts == "" {
		return ""
	}
	queue, _ := j.Attrs.Get(lsf.JobQueueSelect, "")
	more := where + "\n" + queue + "\n" + alternatives
	if order != "" || layout != "" || hosts != "" {
		more += "\n" + order
	}
	if layout != "" || hosts != "" {
		more += "\n" + layout
	}
	if hosts != "" {
		more += "\n" + hosts
	}
	return more
}

// FreeOfServer returns what is left of an amount of the server, as it is measured; false: it has none.
func (t *tables) FreeOfServer(name string) (left int64, ok bool) {
	def, known := t.Resource(name)
	value, has := t.server.Attrs.Get("resources_available", name)
	if !known || !has {
		return 0, false
	}
	used, _ := t.assignedWhole().Get(name)
	return def.Measure(value) - def.Measure(used), true
}

// RunReference returns the host or model by which run limits of LSF's count that name none (specification: reservation section 6.2).
func (t *tables) RunReference() string {
	there := func(host string) bool {
		for range t.VnodesOf(pbs.HostName(host)) {
			return true
		}
		return false
	}
	return t.LSF().Reference(there, func(yield func(string) bool) {
		for v := range t.Vnodes() {
			if !yield(string(v.Host)) {
				return
			}
		}
	})
}

package sched

import (
	"cmp"
	"slices"

	"github.com/tidwall/btree"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// wholeRuns are the runs that have of what a queue has, or the server, kept from one cycle to the next: those are read anew that have changed
// since, or have another end by now.
type wholeRuns struct {
	consumed      []resource.Def // what their holds were read of
	at            pbs.Time       // when they were looked at last
	index, digest uint64         // of the view of that
	runs          map[pbs.JobID]*wholeRun
	order         *btree.BTreeG[*wholeRun] // by when their holds are others
	sum           calendar.Vnode           // of their holds

	gone map[*calendar.Hold]bool // since the sum was made
	come []*calendar.Hold
}

// A wholeRun is a run as it was when its hold was read.
type wholeRun struct {
	job  *state.Job
	hold *calendar.Hold
	till pbs.Time // from then on the hold is another one, though nothing has changed
}

func (r *wholeRun) before(o *wholeRun) bool {
	return cmp.Or(cmp.Compare(r.till, o.till), cmp.Compare(r.job.Seq, o.job.Seq), cmp.Compare(r.job.Sub, o.job.Sub)) < 0
}

// Above manyOthers runs that are others than before, and one in othersOf of all, all are summed up anew: to change the sum takes time for each.
const manyOthers, othersOf = 64, 16

// runsOf returns the calendar of the runs that have of what a queue has, or the server: who asks must not change it.
func (c *cycle) runsOf(queue pbs.QueueName, consumed []resource.Def) *calendar.Vnode {
	kept := &c.future.kept.wholes
	w := (*kept)[queue]
	if w == nil || !w.precedes(c, consumed) {
		w = &wholeRuns{consumed: consumed, runs: map[pbs.JobID]*wholeRun{}, gone: map[*calendar.Hold]bool{}}
		w.order = btree.NewBTreeGOptions((*wholeRun).before, btree.Options{NoLocks: true})
		if *kept == nil {
			*kept = map[pbs.QueueName]*wholeRuns{}
		}
		(*kept)[queue] = w
		for j := range c.view.AllRunning() {
			w.read(c, queue, j)
		}
	} else {
		w.follow(c, queue)
	}
	w.at, w.index, w.digest = c.now, c.view.Index(), c.view.Digest()
	if others := len(w.gone) + len(w.come); others > manyOthers && others*othersOf > len(w.runs) {
		all := make([]*calendar.Hold, 0, len(w.runs))
		w.order.Scan(func(r *wholeRun) bool {
			all = append(all, r.hold)
			return true
		})
		w.sum, w.come = calendar.Vnode{}, all
	} else if len(w.gone) > 0 {
		w.sum.Take(func(h *calendar.Hold) bool { return w.gone[h] })
	}
	w.sum.AddAll(w.come)
	clear(w.gone)
	w.come = nil
	return &w.sum
}

// precedes reports whether what is kept can be brought up to a cycle.
func (w *wholeRuns) precedes(c *cycle, consumed []resource.Def) bool {
	v := c.view
	return c.now >= w.at && slices.Equal(w.consumed, consumed) && v.Remembers(w.index) &&
		(v.Index() > w.index || v.Index() == w.index && v.Digest() == w.digest)
}

// follow reads the runs anew that have changed.
func (w *wholeRuns) follow(c *cycle, queue pbs.QueueName) {
	for j := range c.view.JobsChanged(w.index+1, 0, 0) {
		w.read(c, queue, j)
	}
	for t := range c.view.Tombstones(w.index) {
		if _, ok := c.view.Job(t.Job); !ok {
			w.drop(t.Job)
		}
	}
	var due []*wholeRun
	w.order.Scan(func(r *wholeRun) bool {
		if r.till <= c.now {
			due = append(due, r)
		}
		return r.till <= c.now
	})
	for _, r := range due {
		w.drop(r.job.ID)
		w.read(c, queue, r.job)
	}
}

// read looks at what a run has, unless that is known.
func (w *wholeRuns) read(c *cycle, queue pbs.QueueName, j *state.Job) {
	if run := w.runs[j.ID]; run != nil && run.job == j {
		return
	}
	w.drop(j.ID)
	if !j.Live() || j.Suspended() || !c.countsIn(queue, j) {
		return
	}
	if hold, till := c.wholeHold(j, w.consumed); hold != nil {
		run := &wholeRun{j, hold, till}
		w.runs[j.ID], w.come = run, append(w.come, hold)
		w.order.Set(run)
	}
}

// drop forgets a run.
func (w *wholeRuns) drop(id pbs.JobID) {
	run := w.runs[id]
	if run == nil {
		return
	}
	w.gone[run.hold] = true
	w.order.Delete(run)
	delete(w.runs, id)
}

// wholeHold returns what a run has of what is consumed, nil if it has nothing of it, and from when on that is another hold.
func (c *cycle) wholeHold(r *state.Job, consumed []resource.Def) (*calendar.Hold, pbs.Time) {
	h := holdOf(calendar.Run, r, 0, span{endOf(r, c.now), c.future.endOf(r)})
	if h.Items = amountsOf(consumed, r.Resources); len(h.Items) == 0 {
		return nil, calendar.Forever
	}
	since := r.RunningSince(c.now)
	if since+walltime(r) <= c.now || r.RunningSince(c.now+1) != since { // it ends later at each look: it goes on, or stands still
		return &h, c.now + 1
	}
	return &h, h.End()
}

// consumedOf returns what of a list is consumed at server or queue.
func (c *cycle) consumedOf(list resource.List) (all []resource.Def) {
	for _, it := range list {
		if def, known := c.view.Resource(it.Name); known && def.Type.Numeric() && def.Flags&resource.PerQueue != 0 {
			all = append(all, def)
		}
	}
	return all
}

// amountsOf returns what somebody asks for of what is consumed.
func amountsOf(consumed []resource.Def, asked resource.List) (all []calendar.Amount) {
	for _, def := range consumed {
		if text, asks := asked.Get(def.Name); asks {
			all = append(all, calendar.Amount{Resource: def.Name, Amount: max(0, min(def.Measure(text), mostWhole))})
		}
	}
	return all
}

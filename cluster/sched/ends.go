package sched

import (
	"cmp"
	"slices"

	"github.com/tidwall/btree"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A finish is a run and what it gives back when it ends.
type finish struct {
	end pbs.Time // as its job says; foreverMore: nobody knows it
	seq uint64
	sub uint32
	job *state.Job // of one that is kept
	of  []giving   // by node

	begun     bool    // in the cycle, or of a reservation: the following is known
	exclusive bool    // some vnode is for it alone
	bounds    *bounds // of its slots
}

// giving holds what a run gives back of a node.
type giving struct {
	node       int32
	slots, mem int64
	amounts    []amountOf // of all that it has there
	alone      bool       // it has the vnode for itself
}

// amountOf is an amount of a resource.
type amountOf struct {
	name   string
	amount int64
}

// add has a finish give back some more, in the order of the nodes.
func (f *finish) add(v *state.View, node int32, items resource.List, alone bool) {
	l := giving{node: node, alone: alone, amounts: make([]amountOf, 0, len(items))}
	for _, it := range items {
		def, known := v.Resource(it.Name)
		if !known {
			continue
		}
		amount := needed(def, it.Value)
		l.amounts = append(l.amounts, amountOf{it.Name, amount})
		switch it.Name {
		case "ncpus":
			l.slots = amount
		case "mem":
			l.mem = amount
		}
	}
	at, _ := slices.BinarySearchFunc(f.of, node+1, func(l giving, node int32) int { return cmp.Compare(l.node, node) })
	f.of = slices.Insert(f.of, at, l)
}

// ends are the runs of all vnodes, in the order in which they are expected to end. They are kept from one cycle to the next: what has
// changed of vnodes and jobs is read anew.
type ends struct {
	noted         notes
	index, digest uint64 // of the view of which it is
	rows          *rows  // and what it goes by beside that
	speeds        []lsf.Thousandths
	byJob         map[pbs.JobID]*finish
	on            [][]*finish // by node
	order         *btree.BTreeG[*finish]
	stopped       map[pbs.JobID]*finish // those of runs whose ends move as time passes, which are not in the order
	reserved      []int32               // nodes of which reservations have something
}

// follow brings the ends up to a view, of which a world is.
func (e *ends) follow(v *state.View, w *world, by *rows) {
	switch {
	case e.noted.lost, e.rows != by, by != nil && !slices.Equal(e.speeds, by.speeds), len(e.on) != len(w.nodes), v.Index() < e.index, v.Index() == e.index && v.Digest() != e.digest:
		e.byJob, e.on, e.stopped, e.reserved = map[pbs.JobID]*finish{}, make([][]*finish, len(w.nodes)), map[pbs.JobID]*finish{}, nil
		e.order = btree.NewBTreeGOptions(func(a, b *finish) bool { return due{a.end, a}.compare(due{b.end, b}) < 0 }, btree.Options{NoLocks: true})
		if e.rows = by; by != nil {
			e.speeds = by.speeds
		}
		for i := range w.nodes {
			e.read(v, int32(i), w.nodes[i].vnode)
		}
	default:
		for _, i := range e.noted.nodes {
			e.read(v, i, w.nodes[i].vnode)
		}
		for j := range v.JobsChanged(e.index+1, 0, 0) {
			if f := e.byJob[j.ID]; f != nil {
				e.put(f, j)
			}
		}
	}
	e.noted.forget()
	e.index, e.digest = v.Index(), v.Digest()
}

// read looks at what runs on a vnode.
func (e *ends) read(v *state.View, i int32, vn *state.Vnode) {
	for _, f := range e.on[i] {
		f.of = slices.DeleteFunc(f.of, func(l giving) bool { return l.node == i })
		if len(f.of) == 0 {
			e.take(f)
			delete(e.byJob, f.job.ID)
		}
	}
	e.on[i] = e.on[i][:0]
	for k := range vn.Jobs {
		held := &vn.Jobs[k]
		j, ok := v.Job(held.Job)
		if _, inside := vn.ReservedFor(held.Reservation); !ok || held.Suspended || inside {
			continue
		}
		f := e.byJob[held.Job]
		if f == nil {
			f = &finish{seq: j.Seq, sub: j.Sub}
			e.byJob[held.Job] = f
		}
		f.add(v, i, held.Items, held.Exclusive)
		if !slices.Contains(e.on[i], f) {
			e.on[i] = append(e.on[i], f)
		}
		e.put(f, j)
	}
	at, has := slices.BinarySearch(e.reserved, i)
	switch {
	case has && len(vn.Reserved) == 0:
		e.reserved = slices.Delete(e.reserved, at, at+1)
	case !has && len(vn.Reserved) > 0:
		e.reserved = slices.Insert(e.reserved, at, i)
	}
}

// put has a finish be where its job says that it ends.
func (e *ends) put(f *finish, j *state.Job) {
	if f.job == j {
		return
	}
	e.take(f)
	f.job, f.end = j, foreverMore
	if long, known := e.rows.runtime(j); known {
		f.end = wholeSecond(j.RunningSince(0) + long)
		if j.LastRun().StoppedAt != 0 {
			e.stopped[j.ID] = f
			return
		}
	}
	e.order.Set(f)
}

// take takes it out of the order.
func (e *ends) take(f *finish) {
	if f.job == nil {
		return
	}
	delete(e.stopped, f.job.ID)
	if was, ok := e.order.Get(f); ok && was == f {
		e.order.Delete(f)
	}
}

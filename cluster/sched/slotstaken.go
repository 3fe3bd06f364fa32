package sched

import (
	"iter"

	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// slotUse counts in a world what such limits count.
type slotUse struct {
	of    *slotLimits // what is counted; nil: nothing
	extra map[cell]int64
	took  []bite // by the present attempt
}

// A bite is what an attempt takes of a host.
type bite struct {
	host     int
	resource string
	amount   int64
}

// allowed returns how many more slots a host may give to jobs with some bounds, and by which of them that is so; nil: by none.
func (w *world) allowed(h int, b *bounds) (least int64, by *counter) {
	least = unbounded
	if b == nil || w.idle || w.slots.of == nil {
		return least, nil
	}
	for _, c := range b.all {
		if c.Resource != "" {
			continue
		}
		if left := w.room(c, h); left < least {
			least, by = left, c
		}
	}
	return least, by
}

// overAmount returns the limit of which a host may give less than needs to jobs with some bounds; nil: none.
func (w *world) overAmount(h int, b *bounds, needs []need) *counter {
	if b == nil || len(b.amounts) == 0 || w.idle || w.slots.of == nil {
		return nil
	}
	for _, n := range needs {
		if left, by := w.allowedOf(h, b, n.def.Name); by != nil && n.amount > 0 && left < n.amount {
			return by
		}
	}
	return nil
}

// allowedOf returns how much more of a resource a host may give to jobs with some bounds, and by which of them that is so; nil: by none.
func (w *world) allowedOf(h int, b *bounds, name string) (least int64, by *counter) {
	least = unbounded
	if b == nil || w.idle || w.slots.of == nil {
		return least, nil
	}
	for _, c := range b.amounts {
		if c.Resource != name || c.shared() {
			continue
		}
		if left := w.room(c, h); left < least {
			least, by = left, c
		}
	}
	return least, by
}

// room returns how much more a counter allows on a host.
func (w *world) room(c *counter, h int) int64 {
	at, bounded := w.slots.of.cell(c, h)
	if !bounded {
		return unbounded
	}
	left := w.slots.of.most(c.slotRule, h) - w.slots.of.used[at] - w.slots.extra[at]
	for _, t := range w.slots.took {
		if _, counts := w.slots.of.cell(c, t.host); counts && t.resource == c.def.Name && (!c.EachHost || t.host == h) {
			left -= t.amount
		}
	}
	return left
}

// takesOn notes that the present attempt takes slots of a host.
func (w *world) takesOn(h int, b *bounds, slots int64) { w.takesOf(h, b, "ncpus", slots) }

// takesOf notes that the present attempt takes some of a resource of a host.
func (w *world) takesOf(h int, b *bounds, name string, amount int64) {
	if b == nil || amount == 0 {
		return
	}
	for i := range w.slots.took {
		if t := &w.slots.took[i]; t.host == h && t.resource == name {
			t.amount += amount
			return
		}
	}
	w.slots.took = append(w.slots.took, bite{h, name, amount})
}

// takesAmounts notes what the present attempt takes beside slots, as far as that is bounded.
func (w *world) takesAmounts(h int, b *bounds, needs []need) {
	if b == nil || len(b.amounts) == 0 {
		return
	}
	for _, n := range needs {
		if !isSlots(n) {
			w.takesOf(h, b, n.def.Name, n.amount)
		}
	}
}

// settleSlots counts what the present attempt has taken.
func (w *world) settleSlots(b *bounds) {
	if b == nil {
		return
	}
	for _, t := range w.slots.took {
		w.countOn(b, t.host, t.resource, t.amount)
	}
	w.slots.took = w.slots.took[:0]
}

// countPlaced counts what was placed, or with a negative sign what is gone.
func (w *world) countPlaced(b *bounds, placed spec.ExecVnode, sign int64) {
	if b == nil || w.slots.of == nil {
		return
	}
	for _, ch := range placed {
		for _, part := range ch.Parts {
			if i, ok := w.byVnode[part.Vnode]; ok {
				for _, c := range b.all {
					w.countIn(c, w.nodes[i].host, sign*charged(c.def, part.Items))
				}
			}
		}
	}
}

// goingOn yields what a suspended job takes again of hosts by the limits that count it there. Wherever hosts do not matter it counts all along.
func (w *world) goingOn(b *bounds, gone []state.Left) iter.Seq2[*counter, bite] {
	return func(yield func(*counter, bite) bool) {
		if b == nil || w.slots.of == nil {
			return
		}
		for _, l := range gone {
			i, ok := w.byVnode[l.Vnode.Name]
			if !ok {
				continue
			}
			for _, c := range b.all {
				if amount := charged(c.def, l.Items); !c.Wide() && !c.shared() && amount > 0 && !yield(c, bite{w.nodes[i].host, c.def.Name, amount}) {
					return
				}
			}
		}
	}
}

// overBack returns the limit by which a suspended job may not take back what it gave, and the host; nil: there is none.
func (w *world) overBack(b *bounds, gone []state.Left) (*counter, int) {
	w.slots.took = w.slots.took[:0]
	want := map[cell]int64{}
	for c, of := range w.goingOn(b, gone) {
		if at, bounded := w.slots.of.cell(c, of.host); bounded {
			if want[at] += of.amount; want[at] > w.room(c, of.host) {
				return c, of.host
			}
		}
	}
	return nil, 0
}

// countOn counts some of a resource of a host.
func (w *world) countOn(b *bounds, h int, name string, amount int64) {
	if b == nil || w.slots.of == nil {
		return
	}
	for _, c := range b.all {
		if c.def.Name == name {
			w.countIn(c, h, amount)
		}
	}
}

func (w *world) countIn(c *counter, h int, amount int64) {
	if at, bounded := w.slots.of.cell(c, h); bounded && amount != 0 {
		if w.slots.extra == nil {
			w.slots.extra = map[cell]int64{}
		}
		w.slots.extra[at] += amount
	}
}

// countWhole counts what a job that is about to start has as a whole.
func (c *cycle) countWhole(j *state.Job) {
	if b := c.planner.boundsOf(j); b != nil && len(c.free.hosts) > 0 {
		for _, counter := range b.amounts {
			if counter.shared() {
				c.free.countIn(counter, 0, charged(counter.def, j.Resources))
			}
		}
	}
}

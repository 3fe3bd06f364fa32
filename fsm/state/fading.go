package state

import (
	"iter"
	"math"
	"slices"
	"time"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/rusage"
)

// A Fade says for how long a run holds what it was given of a resource of its vnodes (specification: reservation section 3).
// What the run is charged with stays the whole amount: what is held of that is a function of the time.
type Fade struct {
	Resource string `cbor:"1,keyasint"`
	Duration int64  `cbor:"2,keyasint"` // seconds
	Decay    bool   `cbor:"3,keyasint,omitempty"`
}

// Ran returns for how many seconds the run of a job has gone on, those not counted in which it was suspended. Times are compared
// in whole seconds, as those of starts and ends are.
func (j *Job) Ran(now pbs.Time) int64 {
	r, second := j.LastRun(), pbs.Time(time.Second)
	if r.StoppedAt != 0 {
		now = r.StoppedAt
	}
	return max(0, int64(now/second-j.Started/second-r.StoppedFor/second))
}

// Until returns when what the run of a job holds of a resource is over, if it is not suspended until then.
func (f Fade) Until(j *Job) pbs.Time {
	second := pbs.Time(time.Second)
	return (j.Started/second + j.LastRun().StoppedFor/second + pbs.Time(f.Duration)) * second
}

// fades reports whether a run holds less of the vnode as time passes.
func (v *Vnode) fades() bool {
	return slices.ContainsFunc(v.Jobs, func(held VnodeJob) bool { return held.Fades })
}

// Fading yields the vnodes of which runs hold less as time passes, in the order of their creation.
func (t *tables) Fading() iter.Seq[*Vnode] { return t.presented(t.fading.all()) }

// Fades reports whether there are any.
func (t *tables) Fades() bool { return t.fading.items.Len() > 0 }

// HeldAt returns what the run of a job holds at a time of items that it was charged with.
func (t *tables) HeldAt(j *Job, items resource.List, at pbs.Time) resource.List {
	var out resource.List
	for _, f := range j.LastRun().Fades {
		text, has := items.Get(f.Resource)
		def, known := t.Resource(f.Resource)
		if !has || !known {
			continue
		}
		if out == nil {
			out = slices.Clone(items)
		}
		out = out.Set(f.Resource, def.Measured(f.left(def, def.Measure(text), j.Ran(at))))
	}
	if out == nil {
		return items
	}
	return out
}

// left returns what is held of an amount as it is measured, rounded up: what is free is never more than there is.
func (f Fade) left(def resource.Def, amount, ran int64) int64 {
	unit := int64(resreq.One) // of what is held exactly, in one of what is measured
	if def.Type == resource.Float {
		unit = 1
	}
	if amount > math.MaxInt64/unit {
		return amount
	}
	held := int64(rusage.Held(resreq.Amount(amount*unit), f.Duration, f.Decay, ran))
	return (held + unit - 1) / unit
}

// Holds returns what a run holds of a vnode at a time.
func (t *tables) Holds(held VnodeJob, at pbs.Time) resource.List {
	items := held.Items
	if held.Charged != nil {
		items = held.Charged
	}
	if j, ok := t.Job(held.Job); held.Fades && ok {
		return t.HeldAt(j, items, at)
	}
	return items
}

// clock returns the time of which amounts are: that of the log, or that a view is At.
func (t *tables) clock() pbs.Time { return max(t.cluster.Time, t.at) }

// faded returns the vnode as it is at a time: with what its runs hold then, and those of the vnodes that share its amounts.
func (t *tables) faded(v *Vnode, at pbs.Time) *Vnode {
	if t.at != 0 || !t.Fades() {
		return v
	}
	next := t.fadedOwn(v, at)
	if len(next.Lent) == 0 {
		return next
	}
	lent := next.Lent
	for s := range t.fading.all() {
		before := s.borrowed(v.Name, t)
		if s.Name == v.Name || len(before) == 0 {
			continue
		}
		after := t.fadedOwn(s, at).borrowed(v.Name, t)
		if less, err := resource.Sub(lent, before, t); err == nil {
			if lent, err = resource.Add(less, after, t); err != nil {
				return next
			}
		}
	}
	copied := *next
	copied.Lent = lent
	return &copied
}

// fadedOwn is faded but for what others have of the vnode.
func (t *tables) fadedOwn(v *Vnode, at pbs.Time) *Vnode {
	if !v.fades() {
		return v
	}
	next := *v
	next.Jobs = slices.Clone(v.Jobs)
	for i, held := range v.Jobs {
		if !held.Fades {
			continue
		}
		now := t.Holds(held, at)
		less, err := resource.Sub(next.Assigned, held.Items, t)
		if err == nil {
			less, err = resource.Add(less, now, t)
		}
		if err != nil {
			return v
		}
		next.Assigned, next.Jobs[i].Items, next.Jobs[i].Charged = less, now, held.Items
	}
	return &next
}

// Presents are vnodes as they are at the time of a view, where that differs from their records.
type Presents map[pbs.VnodeName]presentVnode

type presentVnode struct{ recorded, now *Vnode }

// Presents returns those of the view.
func (t *tables) Presents() Presents { return t.presents }

// present returns a recorded vnode as it is at the time of the view.
func (t *tables) present(v *Vnode) *Vnode {
	if t.at == 0 || v == nil {
		return v
	}
	if p, ok := t.presents[v.Name]; ok {
		return p.now
	}
	return v
}

// presented yields vnodes as they are at the time of the view.
func (t *tables) presented(all iter.Seq[*Vnode]) iter.Seq[*Vnode] {
	if t.at == 0 {
		return all
	}
	return func(yield func(*Vnode) bool) {
		for v := range all {
			if !yield(t.present(v)) {
				return
			}
		}
	}
}

// At returns the view as it is at a time that is not before its own, if nothing happens until then: of their vnodes runs hold what
// is left for them to hold. Vnodes that are as in an earlier such view have the same records.
func (v *View) At(at pbs.Time, earlier Presents) *View {
	if v.at != 0 || !v.Fades() {
		return v
	}
	at = max(at, v.cluster.Time)
	next := *v
	next.presents = Presents{}
	add := func(recorded *Vnode) {
		if _, met := next.presents[recorded.Name]; met {
			return
		}
		p := presentVnode{recorded, v.faded(recorded, at)}
		if p.now == recorded {
			return
		}
		if was, ok := earlier[recorded.Name]; ok && was.recorded == recorded && was.now.holdsAs(p.now) {
			p = was
		}
		next.presents[recorded.Name] = p
	}
	for recorded := range v.fading.all() {
		add(recorded)
		for _, it := range recorded.Available() {
			if target, ok := recorded.Indirect(it.Name); ok {
				if lends, found := v.vnodes.get(&Vnode{Name: target}); found {
					add(lends)
				}
			}
		}
	}
	next.at = at
	return &next
}

// holdsAs reports whether as much is held of a vnode as of another state of it.
func (v *Vnode) holdsAs(o *Vnode) bool {
	return slices.Equal(v.Assigned, o.Assigned) && slices.Equal(v.Lent, o.Lent) && slices.EqualFunc(v.Jobs, o.Jobs, func(a, b VnodeJob) bool {
		return slices.Equal(a.Items, b.Items)
	})
}

// stillAssigned returns of what jobs of a queue are charged with, or of all queues, what they hold at the time of the view.
func (t *tables) stillAssigned(queue pbs.QueueName, sum resource.List) resource.List {
	if t.at == 0 {
		return sum
	}
	for v := range t.Fading() {
		for _, held := range v.Jobs {
			j, ok := t.Job(held.Job)
			if held.Charged == nil || !ok || queue != "" && j.Queue != queue {
				continue
			}
			less, err := resource.Sub(sum, resource.Only(held.Charged, t, resource.PerQueue), t)
			if err == nil {
				less, err = resource.Add(less, resource.Only(held.Items, t, resource.PerQueue), t)
			}
			if err == nil {
				sum = less
			}
		}
	}
	return sum
}

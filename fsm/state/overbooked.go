package state

import (
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

const (
	// unending is how long a run without a walltime is taken to last.
	unending = pbs.Time(5 * 365 * 24 * time.Hour)
	// overtime is how long one is taken to last that has had its walltime.
	overtime = pbs.Time(time.Minute)
)

// Lasts returns when a run of the job that begins at a time is expected to be over: with its walltime; the run of a job
// without one never is. One that has had its time is expected to be over in a minute.
func (j *Job) Lasts(from, now pbs.Time) pbs.Time {
	long, limited := spanOf(j.Resources, "walltime")
	switch {
	case !limited:
		return never
	case j.Live() && from+long <= now:
		return now + overtime
	}
	return from + long
}

// Ends returns when the live run of the job is expected to be over: see Lasts.
func (j *Job) Ends(now pbs.Time) pbs.Time { return j.Lasts(j.RunningSince(now), now) }

// SoftSpan returns how long a run of the job is expected to last that has gone on for some time: soft_walltime, when that is
// over as long again, and so on up to its walltime. ok is false for a job without soft_walltime.
func (j *Job) SoftSpan(ran pbs.Time) (span pbs.Time, ok bool) {
	soft, ok := spanOf(j.Resources, "soft_walltime")
	if !ok || soft == 0 {
		return 0, false
	}
	span = (max(0, ran)/soft + 1) * soft
	if hard, limited := spanOf(j.Resources, "walltime"); limited {
		span = min(span, hard)
	}
	return span, true
}

// estimates returns the attributes of the job with estimated.soft_walltime as it is now: a run that has outlasted its soft_walltime is
// expected to last longer from that moment on, which nothing is written for.
func (j *Job) estimates(now pbs.Time) attr.List {
	if j.State != pbs.Running || j.Run == nil {
		return j.Attrs
	}
	span, ok := j.SoftSpan(now - j.RunningSince(now))
	if soft, _ := spanOf(j.Resources, "soft_walltime"); !ok || span <= soft {
		return j.Attrs
	}
	def := resource.Def{Type: resource.Time}
	if text, told := j.Attrs.Get("estimated", "soft_walltime"); told && Span(def.Measure(text)) > span {
		return j.Attrs
	}
	return j.Attrs.Set("estimated", "soft_walltime", def.Measured(int64(span/Span(1))))
}

// spanOf reads a time that is among what a job asks for.
func spanOf(asked resource.List, name string) (pbs.Time, bool) {
	text, _ := asked.Get(name)
	q, err := resource.Parse(resource.Time, text)
	return Span(q.Int()), err == nil
}

// EndsInside is Ends for a job of a reservation, which ends its jobs with itself.
func (t *tables) EndsInside(j *Job) pbs.Time {
	now := t.cluster.Time
	end := j.Ends(now)
	r, ok := t.Reservation(j.Reservation)
	switch {
	case !ok:
		return end
	case r.End <= now: // they are on their way
		return min(end, now+overtime)
	}
	return min(end, r.End)
}

// Span returns so many seconds as a time that can be added to any moment: five years at most, which is as good as for ever.
func Span(seconds int64) pbs.Time {
	return pbs.Time(max(0, min(seconds, int64(unending/pbs.Time(time.Second))))) * pbs.Time(time.Second)
}

// A Hold is a wish to have amounts of a vnode for a time.
type Hold struct {
	From, Until pbs.Time
	Items       resource.List
	Alone       bool // without anybody else on the vnode
}

// Overbooked reports what forbids a hold of a vnode: nil if at every instant of its time the vnode has the amounts, beside
// the runs that are expected to last and what reservations have or are to have (L15). A run in a reservation counts with what
// its reservation does not name. Those that apart names do not count.
func (t *tables) Overbooked(v *Vnode, h Hold, apart func(*Promise) bool) *resource.Shortage {
	if t.hostPromised(v, h, apart) {
		return &resource.Shortage{Resource: "host"}
	}
	var others []*Promise
	for p := range t.PromisesIn(v.Name, h.From, h.Until) {
		if !apart(p) {
			others = append(others, p)
		}
	}
	if short := t.overbookedAt(v, h, h.From, others); short != nil {
		return short
	}
	for _, p := range others { // what is held rises at these instants only
		if p.From > h.From {
			if short := t.overbookedAt(v, h, p.From, others); short != nil {
				return short
			}
		}
	}
	return nil
}

// InsidersStay reports what forbids that a reservation that runs ends at a time: what its jobs use of resources that it does not
// name, others may have been promised by then (L15).
func (t *tables) InsidersStay(r *Reservation, end pbs.Time) *resource.Shortage {
	own := func(p *Promise) bool { return p.Reservation.ID == r.ID }
	now := t.cluster.Time
	for j := range t.Insiders(r.ID) {
		for _, s := range t.Stakes(j) {
			held := s.Held()
			share, ok := s.Vnode.ReservedFor(r.ID)
			rest := share.Beyond(held.Items)
			if !ok || held.Reservation != r.ID || len(rest) == 0 {
				continue
			}
			hold := Hold{From: now, Until: min(end, j.Ends(now)), Items: rest}
			if short := t.Overbooked(s.Vnode.Without([]int{s.At}), hold, own); short != nil {
				return short
			}
		}
	}
	return nil
}

// Promising reports whether there is any reservation that has, or is to have, a vnode.
func (t *tables) Promising() bool { return t.promised.items.Len() > 0 }

// hostPromised reports whether a reservation is to have the whole host of the vnode, by another vnode of it, in the time of a hold.
func (t *tables) hostPromised(v *Vnode, h Hold, apart func(*Promise) bool) bool {
	if !t.Promising() {
		return false
	}
	word := v.HostWord()
	for other := range t.VnodesOf(v.Host) {
		if other.Name == v.Name || other.HostWord() != word {
			continue
		}
		for p := range t.PromisesIn(other.Name, h.From, h.Until) {
			if p.HostAloneOn(other) && !apart(p) {
				return true
			}
		}
	}
	return false
}

// HostInUse reports whether a run that is expected to last beyond a time has the whole host of the vnode, by another vnode of it. A run in a
// reservation has what that was promised.
func (t *tables) HostInUse(v *Vnode, beyond pbs.Time) bool {
	for o := range t.takersOf(v.Host) {
		if o.Name == v.Name || o.HostWord() != v.HostWord() {
			continue
		}
		for _, held := range o.Jobs {
			j, ok := t.Job(held.Job)
			if ok && held.Exclusive && !held.Suspended && held.Reservation == "" && o.HostAloneFor(j.Placement()) && j.Ends(t.cluster.Time) > beyond {
				return true
			}
		}
	}
	return false
}

// NeighborsPromised reports whether a reservation has, or is to have, something of the other vnodes of a host in a period.
func (t *tables) NeighborsPromised(v *Vnode, from, until pbs.Time) bool {
	for o := range t.VnodesOf(v.Host) {
		if o.Name == v.Name || o.HostWord() != v.HostWord() {
			continue
		}
		for range t.PromisesIn(o.Name, from, until) {
			return true
		}
	}
	return false
}

// overbookedAt is Overbooked at one instant.
func (t *tables) overbookedAt(v *Vnode, h Hold, at pbs.Time, others []*Promise) *resource.Shortage {
	var used resource.List
	alone := &resource.Shortage{Resource: "host"}
	add := func(items resource.List) {
		if sum, err := resource.Add(used, v.Own(items), t); err == nil {
			used = sum
		}
	}
	for _, held := range v.Jobs {
		j, ok := t.Job(held.Job)
		switch {
		case !ok:
			continue
		case held.Reservation != "":
			if share, begun := v.ReservedFor(held.Reservation); begun && t.EndsInside(j) > at {
				add(share.Beyond(held.Items))
			}
			continue
		case j.Ends(t.cluster.Time) <= at:
			continue
		}
		if !held.Suspended && (h.Alone || held.Exclusive) {
			return alone
		}
		add(t.Holds(held, at))
	}
	for _, p := range others {
		if p.From > at || p.Until <= at {
			continue
		}
		if h.Alone || p.AloneOn(v) {
			return alone
		}
		add(p.Items)
	}
	return resource.Fits(v.Own(h.Items), v.Available(), used, t)
}

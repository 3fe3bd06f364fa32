// Package calendar knows what of a vnode is held when, and by whom: runs until they
// are expected to end, reservations from their start to their end, and jobs that come
// next at the time that they were given. Runs that are expected to end before they have to count until the one or the
// other, as is asked. It answers how much is held at most in a time,
// and by whom, each hold with its reason. It does not know what a vnode has, nor who is to get it (cluster/sched does).
//
// Concurrency: a Vnode is used by one goroutine.
package calendar

import (
	"cmp"
	"math"
	"slices"

	"rampart/fsm/pbs"
)

// Forever is later than anything.
const Forever = pbs.Time(math.MaxInt64)

// A Kind is what a hold is for.
type Kind uint8

// The kinds.
const (
	Run         Kind = iota + 1
	Suspended        // what a suspended run did not give back: it uses nothing of the vnode itself
	Reservation      // begun or ahead
	Top              // a job that comes next
	Released         // what a run gives back and has not left yet: no time is known for that but the end of the run
	Pending          // a reservation that was decided and has not been told
	Dedicated        // time for jobs of certain queues only; who may run then is not the calendar's to say
	Offline          // the vnode cannot be used
	Kept             // what is kept for a job that waits, and what that will have when it has started
	Fading           // what a run holds for a time only: it uses nothing of the vnode itself
)

// String returns the reason in words.
func (k Kind) String() string {
	switch k {
	case Run:
		return "running job"
	case Suspended:
		return "suspended job"
	case Reservation:
		return "reservation"
	case Top:
		return "top job"
	case Released:
		return "released by a running job"
	case Pending:
		return "pending reservation"
	case Dedicated:
		return "dedicated time"
	case Offline:
		return "vnode offline"
	case Kept:
		return "kept for a job that waits"
	case Fading:
		return "held for a time by a running job"
	}
	return ""
}

// Runs reports whether the hold reduces what is free now: it is a run's that uses the vnode, or counts as one.
func (k Kind) Runs() bool { return k == Run || k == Released || k == Kept }

// Uses reports whether the hold uses the vnode itself, and not only amounts of it.
func (k Kind) Uses() bool { return k != Suspended && k != Fading }

// Waits reports whether the hold is for a waiting job.
func (k Kind) Waits() bool { return k == Top || k == Kept }

// Reserves reports whether the hold is a reservation's, which has it or is to have it.
func (k Kind) Reserves() bool { return k == Reservation || k == Pending }

// A Hold is what somebody has of a vnode from a time on until before another one.
type Hold struct {
	From, Until pbs.Time
	Expected    pbs.Time // when it is expected to end, if that is before Until; 0: then
	Kind        Kind
	By          string // the id of the job or reservation; of a vnode that is offline its state
	Items       []Amount
	Alone, Host bool // it has the vnode, or the whole host, for itself

	// Left is how much of what Items counts for all of the time is held at an instant of it; nil: all of it.
	Left func(at pbs.Time) []Amount
}

// An Amount is so much of a resource.
type Amount struct {
	Resource string
	Amount   int64
}

// End returns when the hold is expected to end.
func (h *Hold) End() pbs.Time {
	if h.Expected != 0 && h.Expected < h.Until {
		return h.Expected
	}
	return h.Until
}

// A Count says until when holds count, and which of them do. A job that waits counts until it is expected to end, or not at all.
type Count uint8

// The counts. What reservations have counts in all of them.
const (
	Likely  Count = 1 << usual                    // runs until they are expected to end, and no jobs that wait
	Planned       = Likely | 1<<tops              // and jobs that wait
	Certain       = Likely | 1<<overdue           // runs until they end at the latest, and no jobs that wait
	All           = Likely | 1<<overdue | 1<<tops // and jobs that wait
)

// Layers of a calendar: each of its holds is in one of them, or until it is expected to end in the first one and then in overdue.
const (
	usual = iota
	overdue
	tops
	layers
)

// A Vnode is the calendar of one vnode. Its zero value holds nothing.
type Vnode struct {
	holds []*Hold // by From
	usual layer
	more  [layers - 1]*layer // most vnodes have none; nil: it has nothing
	apart int                // holds that are not in the first layer alone
}

// Alike reports whether all counts are the same.
func (v *Vnode) Alike() bool { return v.apart == 0 }

// A layer adds up some of the holds.
type layer struct {
	sums   []sum
	users  profile // how many holds there are, those of suspended runs not counted
	alone  profile // those of them that have the vnode for themselves
	hosted profile // and their hosts
}

type sum struct {
	resource string
	held     profile
}

// Add notes a hold. One that is over before it begins is none.
func (v *Vnode) Add(h *Hold) {
	if h.Until <= h.From {
		return
	}
	at, _ := slices.BinarySearchFunc(v.holds, h.From+1, func(o *Hold, from pbs.Time) int { return cmp.Compare(o.From, from) })
	v.holds = slices.Insert(v.holds, at, h)
	v.count(h, 1, (*profile).add)
}

// few is the part of the holds up to which it takes less time to add some one after the other than to sum up all anew.
const few = 32

// AddAll adds holds, in bulk if they are many.
func (v *Vnode) AddAll(all []*Hold) {
	if len(all)*few < len(v.holds) || len(all) < few && len(v.holds) > 0 {
		for _, h := range all {
			v.Add(h)
		}
		return
	}
	all = slices.DeleteFunc(slices.Concat(v.holds, all), func(h *Hold) bool { return h.Until <= h.From })
	v.Clear()
	slices.SortStableFunc(all, func(a, b *Hold) int { return cmp.Compare(a.From, b.From) })
	v.holds = all
	for _, h := range all { // the profiles stay where they are from then on
		v.count(h, 0, func(*profile, pbs.Time, pbs.Time, int64) {})
	}
	changes := map[*profile][]step{}
	for _, h := range all {
		v.count(h, 1, func(p *profile, from, until pbs.Time, by int64) {
			changes[p] = append(changes[p], step{from, by}, step{until, -by})
		})
	}
	for p, by := range changes {
		p.sum(by)
	}
}

// Take removes the holds of which that is wanted, and returns them.
func (v *Vnode) Take(wanted func(*Hold) bool) (taken []*Hold) {
	v.holds = slices.DeleteFunc(v.holds, func(h *Hold) bool {
		if !wanted(h) {
			return false
		}
		v.count(h, -1, (*profile).add)
		taken = append(taken, h)
		return true
	})
	return taken
}

// Clear removes all holds. The storage is kept for reuse.
func (v *Vnode) Clear() {
	clear(v.holds)
	v.holds, v.apart = v.holds[:0], 0
	for n := range layers {
		if l := v.layer(n); l != nil {
			l.clear()
		}
	}
}

func (l *layer) clear() {
	l.users, l.alone, l.hosted = l.users[:0], l.alone[:0], l.hosted[:0]
	for i := range l.sums {
		l.sums[i].held = l.sums[i].held[:0]
	}
}

// Clone returns a calendar with the same holds, which changes for itself.
func (v *Vnode) Clone() Vnode {
	c := Vnode{holds: slices.Clone(v.holds), usual: v.usual.clone(), apart: v.apart}
	for i, l := range v.more {
		if l != nil {
			same := l.clone()
			c.more[i] = &same
		}
	}
	return c
}

func (l *layer) clone() layer {
	c := layer{slices.Clone(l.sums), slices.Clone(l.users), slices.Clone(l.alone), slices.Clone(l.hosted)}
	for i := range c.sums {
		c.sums[i].held = slices.Clone(c.sums[i].held)
	}
	return c
}

// layer returns a layer, nil if it has nothing.
func (v *Vnode) layer(n int) *layer {
	if n == usual {
		return &v.usual
	}
	return v.more[n-1]
}

// count adds a hold to the layers that it is in, or takes it out.
func (v *Vnode) count(h *Hold, sign int64, add func(p *profile, from, until pbs.Time, by int64)) {
	end := h.End()
	if h.Kind.Waits() || end < h.Until {
		v.apart += int(sign)
	}
	if h.Kind.Waits() {
		v.countIn(tops, h, span{h.From, end}, sign, add)
		return
	}
	v.countIn(usual, h, span{h.From, end}, sign, add)
	v.countIn(overdue, h, span{max(h.From, end), h.Until}, sign, add)
}

type span struct{ from, until pbs.Time }

func (v *Vnode) countIn(n int, h *Hold, in span, sign int64, add func(p *profile, from, until pbs.Time, by int64)) {
	if in.until <= in.from {
		return
	}
	l := v.layer(n)
	if l == nil {
		l = &layer{}
		v.more[n-1] = l
	}
	for _, it := range h.Items {
		if it.Amount != 0 {
			add(l.profile(it.Resource), in.from, in.until, sign*it.Amount)
		}
	}
	if !h.Kind.Uses() {
		return
	}
	add(&l.users, in.from, in.until, sign)
	if h.Alone {
		add(&l.alone, in.from, in.until, sign)
	}
	if h.Host {
		add(&l.hosted, in.from, in.until, sign)
	}
}

func (l *layer) profile(resource string) *profile {
	if held := l.of(resource); held != nil {
		return held
	}
	if l.sums == nil {
		l.sums = make([]sum, 0, usualResources)
	}
	l.sums = append(l.sums, sum{resource: resource})
	return &l.sums[len(l.sums)-1].held
}

// of returns what is held of a resource, nil if nothing is.
func (l *layer) of(resource string) *profile {
	for i := range l.sums {
		if l.sums[i].resource == resource {
			return &l.sums[i].held
		}
	}
	return nil
}

// Holds returns all holds in the order of their beginning.
func (v *Vnode) Holds() []*Hold { return v.holds }

// During returns the holds that there are in a time, in the order of their beginning.
func (v *Vnode) During(from, until pbs.Time) (all []*Hold) {
	for _, h := range v.holds {
		if h.From >= until {
			break
		}
		if h.Until > from {
			all = append(all, h)
		}
	}
	return all
}

// Held returns how much of a resource is held at most at an instant of a time.
func (v *Vnode) Held(resource string, from, until pbs.Time) int64 {
	return v.HeldOf(All, resource, from, until)
}

// Use tells how many use the vnode at most at an instant of a time, and whether one of them has the vnode, or its host, for itself.
func (v *Vnode) Use(from, until pbs.Time) (users int, alone, host bool) {
	return v.UseOf(All, from, until)
}

// HeldOf is Held of what counts.
func (v *Vnode) HeldOf(c Count, resource string, from, until pbs.Time) int64 {
	p := v.held(c, resource)
	return p.most(from, until)
}

// UseOf is Use of what counts.
func (v *Vnode) UseOf(c Count, from, until pbs.Time) (users int, alone, host bool) {
	var p, lone, hosted profiles
	for n := range layers {
		if l := v.layer(n); l != nil && c&(1<<n) != 0 {
			p.add(l.users)
			lone.add(l.alone)
			hosted.add(l.hosted)
		}
	}
	return int(p.most(from, until)), lone.most(from, until) > 0, hosted.most(from, until) > 0
}

func (v *Vnode) held(c Count, resource string) (p profiles) {
	for n := range layers {
		if l := v.layer(n); l != nil && c&(1<<n) != 0 {
			if held := l.of(resource); held != nil {
				p.add(*held)
			}
		}
	}
	return p
}

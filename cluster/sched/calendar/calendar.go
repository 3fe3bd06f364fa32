// Package calendar knows what of a vnode is held when, and by whom: runs until they
// are expected to end, reservations from their start to their end, and jobs that come
// next at the time that they were given. It answers how much is held at most in a time,
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

// Runs tells whether it is a run that uses the vnode, or what counts as one: it is taken of what is free.
func (k Kind) Runs() bool { return k == Run || k == Released || k == Kept }

// Uses tells whether the vnode itself is used, and not but amounts of it.
func (k Kind) Uses() bool { return k != Suspended && k != Fading }

// Reserves tells whether it is what a reservation has, or is to have.
func (k Kind) Reserves() bool { return k == Reservation || k == Pending }

// A Hold is what somebody has of a vnode from a time on until before another one.
type Hold struct {
	From, Until pbs.Time
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

// A Vnode is the calendar of one vnode. Its zero value holds nothing.
type Vnode struct {
	holds  []*Hold // by From
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
	v.count(h, 1)
}

// Take removes the holds of which that is wanted, and returns them.
func (v *Vnode) Take(wanted func(*Hold) bool) (taken []*Hold) {
	v.holds = slices.DeleteFunc(v.holds, func(h *Hold) bool {
		if !wanted(h) {
			return false
		}
		v.count(h, -1)
		taken = append(taken, h)
		return true
	})
	return taken
}

// Clear removes all holds. What it had room for stays.
func (v *Vnode) Clear() {
	clear(v.holds)
	v.holds, v.users, v.alone, v.hosted = v.holds[:0], v.users[:0], v.alone[:0], v.hosted[:0]
	for i := range v.sums {
		v.sums[i].held = v.sums[i].held[:0]
	}
}

// Clone returns a calendar with the same holds, which changes for itself.
func (v *Vnode) Clone() Vnode {
	c := Vnode{slices.Clone(v.holds), slices.Clone(v.sums), slices.Clone(v.users), slices.Clone(v.alone), slices.Clone(v.hosted)}
	for i := range c.sums {
		c.sums[i].held = slices.Clone(c.sums[i].held)
	}
	return c
}

func (v *Vnode) count(h *Hold, sign int64) {
	for _, it := range h.Items {
		if it.Amount != 0 {
			v.profile(it.Resource).add(h.From, h.Until, sign*it.Amount)
		}
	}
	if !h.Kind.Uses() {
		return
	}
	v.users.add(h.From, h.Until, sign)
	if h.Alone {
		v.alone.add(h.From, h.Until, sign)
	}
	if h.Host {
		v.hosted.add(h.From, h.Until, sign)
	}
}

func (v *Vnode) profile(resource string) *profile {
	for i := range v.sums {
		if v.sums[i].resource == resource {
			return &v.sums[i].held
		}
	}
	if v.sums == nil {
		v.sums = make([]sum, 0, usualResources)
	}
	v.sums = append(v.sums, sum{resource: resource})
	return &v.sums[len(v.sums)-1].held
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
	for i := range v.sums {
		if v.sums[i].resource == resource {
			return v.sums[i].held.most(from, until)
		}
	}
	return 0
}

// Rise returns how much more of a resource is held at most in a time than at its beginning.
func (v *Vnode) Rise(resource string, from, until pbs.Time) int64 {
	for i := range v.sums {
		if p := &v.sums[i]; p.resource == resource {
			return p.held.most(from, until) - p.held.most(from, from+1)
		}
	}
	return 0
}

// Use tells how many use the vnode at most at an instant of a time, and whether one of them has the vnode, or its host, for itself.
func (v *Vnode) Use(from, until pbs.Time) (users int, alone, host bool) {
	return int(v.users.most(from, until)), v.alone.most(from, until) > 0, v.hosted.most(from, until) > 0
}

// What most vnodes have, so that their calendars need not grow.
const (
	usualResources = 2
	usualSteps     = 8
)

// A profile is a sum over time: it changes at each step, and is 0 before the first one.
type profile []step

type step struct {
	at  pbs.Time
	sum int64 // from then on
}

// find returns the place of the first step that is not before a time.
func (p profile) find(at pbs.Time) int {
	i, _ := slices.BinarySearchFunc(p, at, func(s step, at pbs.Time) int { return cmp.Compare(s.at, at) })
	return i
}

// most returns the greatest sum in a time.
func (p profile) most(from, until pbs.Time) int64 {
	i := p.find(from)
	var most int64
	switch {
	case i < len(p) && p[i].at == from:
		most = p[i].sum
	case i > 0:
		most = p[i-1].sum
	}
	for ; i < len(p) && p[i].at < until; i++ {
		most = max(most, p[i].sum)
	}
	return most
}

// add adds to the sums of a time.
func (p *profile) add(from, until pbs.Time, by int64) {
	first := p.split(from)
	last := p.split(until)
	for i := first; i < last; i++ {
		(*p)[i].sum += by
	}
	p.join(last)
	p.join(first)
}

// split makes a step at a time, and returns its place.
func (p *profile) split(at pbs.Time) int {
	i := p.find(at)
	if i < len(*p) && (*p)[i].at == at {
		return i
	}
	var before int64
	if i > 0 {
		before = (*p)[i-1].sum
	}
	if *p == nil {
		*p = make(profile, 0, usualSteps)
	}
	*p = slices.Insert(*p, i, step{at, before})
	return i
}

// join drops a step that changes nothing.
func (p *profile) join(i int) {
	var before int64
	if i > 0 {
		before = (*p)[i-1].sum
	}
	if (*p)[i].sum == before {
		*p = slices.Delete(*p, i, i+1)
	}
}

package calendar

import (
	"cmp"
	"slices"

	"rampart/fsm/pbs"
)

// Capacities that suffice for most vnodes, so that their calendars need not grow.
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

// sum makes the profile of changes, which are in no order.
func (p *profile) sum(changes []step) {
	slices.SortFunc(changes, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	*p = (*p)[:0]
	var sum, before int64
	for i, c := range changes {
		sum += c.sum
		if i+1 < len(changes) && changes[i+1].at == c.at || sum == before {
			continue
		}
		*p, before = append(*p, step{c.at, sum}), sum
	}
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

// profiles are added up.
type profiles struct {
	of [layers]profile
	n  int
}

func (p *profiles) add(one profile) {
	if len(one) > 0 {
		p.of[p.n] = one
		p.n++
	}
}

// most returns the greatest sum in a time.
func (p *profiles) most(from, until pbs.Time) int64 {
	switch p.n {
	case 0:
		return 0
	case 1:
		return p.of[0].most(from, until)
	}
	var rest [layers]profile
	var sums [layers]int64
	most := int64(0)
	for i, one := range p.of[:p.n] {
		sums[i] = one.most(from, from+1)
		rest[i] = one[one.find(from+1):]
		most += sums[i]
	}
	for sum := most; ; most = max(most, sum) {
		next := -1
		for i := range p.n {
			if len(rest[i]) > 0 && (next < 0 || rest[i][0].at < rest[next][0].at) {
				next = i
			}
		}
		if next < 0 || rest[next][0].at >= until {
			return most
		}
		at := rest[next][0].at
		for i := range p.n {
			if len(rest[i]) > 0 && rest[i][0].at == at {
				sum += rest[i][0].sum - sums[i]
				sums[i], rest[i] = rest[i][0].sum, rest[i][1:]
			}
		}
	}
}

package sched

import (
	"math"
	"slices"
	"strconv"

	"rampart/fsm/attr"
	"rampart/fsm/state"
)

// shares is the tree of fair share in one cycle: what entities have used, and what the jobs
// are going to use that start.
type shares struct {
	view    *state.View
	root    *sharer
	unknown *sharer
	byName  map[string]*sharer
	enforce bool // who has no shares gets nothing
}

// leastUsage is what each entity and group has used to begin with, as in PBS.
const leastUsage = state.LeastUsage

// A sharer is an entity, or a group of them.
type sharer struct {
	parent *sharer
	shares int64
	below  int64   // shares of all that are directly below it
	usage  float64 // of it and all below it
	perc   float64 // its part of all, from 0 to 1; of the cycle
	known  bool    // perc is computed
	grows  bool    // more may come below it
	path   []*sharer
}

// newShares returns the tree, nil without fair share.
func newShares(v *state.View, set settings) *shares {
	if set.get("fair_share") != "True" {
		return nil
	}
	return sharesOf(v)
}

func sharesOf(v *state.View) *shares {
	s := v.Server()
	t := &shares{view: v, root: &sharer{perc: 1, known: true, usage: leastUsage}, byName: map[string]*sharer{}}
	t.enforce = s.SchedGet("fairshare_enforce_no_shares") == "True"
	unknown, _ := strconv.ParseInt(s.SchedGet("unknown_shares"), 10, 64)
	t.byName[attr.RootShares] = t.root
	t.unknown = t.add(attr.UnknownShares, t.root, unknown)
	t.unknown.grows = true
	for _, l := range attr.ShareLines(s.SchedGet("resource_group")) {
		t.add(l.Name, t.byName[l.Parent], l.Shares)
	}
	for _, j := range v.Classes() { // who is unknown counts from the beginning
		t.of(j)
	}
	for used := range v.Shares() {
		e := t.entity(used.Entity)
		e.usage = float64(used.Usage)
		e.parent.use(e.usage)
	}
	return t
}

func (t *shares) add(name string, parent *sharer, n int64) *sharer {
	e := &sharer{parent: parent, shares: n, usage: leastUsage}
	e.path = append(slices.Clone(parent.path), e)
	parent.below += n
	t.byName[name] = e
	return e
}

// entity returns who is called so; who is not in the tree is one of the unknown.
func (t *shares) entity(name string) *sharer {
	e, ok := t.byName[name]
	if !ok {
		e = t.add(name, t.unknown, 1)
	}
	return e
}

func (t *shares) of(j *state.Job) *sharer { return t.entity(t.view.ShareEntity(j)) }

// use adds to what an entity has used, and to what its groups have.
func (e *sharer) use(amount float64) {
	for ; e != nil; e = e.parent {
		e.usage += amount
	}
}

// percentage returns which part of everything is the entity's.
func (e *sharer) percentage() float64 {
	if !e.known {
		e.known, e.perc = !e.parent.grows, 0
		if e.parent.below > 0 {
			e.perc = float64(e.shares) / float64(e.parent.below) * e.parent.percentage()
		}
	}
	return e.perc
}

// compare tells which entity has used less of its share, group by group from the top: the one that comes first is
// less. An entity without a share comes last.
func (e *sharer) compare(o *sharer) int {
	for i := range min(len(e.path), len(o.path)) {
		a, b := e.path[i], o.path[i]
		if a == b {
			continue
		}
		pa, pb := a.percentage(), b.percentage()
		switch {
		case pa <= 0 && pb <= 0:
		case pa <= 0:
			return 1
		case pb <= 0:
			return -1
		case a.usage/pa < b.usage/pb:
			return -1
		case a.usage/pa > b.usage/pb:
			return 1
		}
	}
	return 0
}

// part returns how much of all usage is the entity's, from 0 to 1.
func (t *shares) part(e *sharer) float64 {
	return e.usage / t.root.usage
}

// treeUsage is PBS's fairshare_tree_usage: the usage of an entity, and some of its group's.
func (t *shares) treeUsage(e *sharer) float64 {
	used := t.part(e)
	if e.parent == nil || e.parent == t.root || e.parent.below <= 0 {
		return used
	}
	return used + (t.treeUsage(e.parent)-used)*float64(e.shares)/float64(e.parent.below)
}

// factor is PBS's fairshare_factor: 1 for an entity that has used nothing, 0.5 for one that has used its share.
func (t *shares) factor(e *sharer) float64 {
	perc := e.percentage()
	if perc <= 0 {
		return 0
	}
	return math.Pow(2, -t.treeUsage(e)/perc)
}

// over reports whether an entity has used more than its part.
func (t *shares) over(e *sharer) bool { return t.part(e) > e.percentage() }

// value returns what a name of fair share in a formula stands for.
func (t *shares) value(j *state.Job, name string) float64 {
	if t == nil {
		return 0
	}
	e := t.of(j)
	switch name {
	case "fairshare_perc", "fair_share_perc":
		return e.percentage()
	case "fairshare_tree_usage":
		return t.treeUsage(e)
	}
	return t.factor(e)
}

// denies reports whether the owner of a job has no shares, where that keeps it from starting.
func (t *shares) denies(j *state.Job) bool {
	return t != nil && t.enforce && t.of(j).percentage() <= 0
}

// charge counts what a job is going to use that starts: the next one may be another's.
func (t *shares) charge(j *state.Job) {
	if t != nil {
		t.of(j).use(float64(t.view.ShareAmount(j.Resources)))
	}
}

package sched

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A placement set is the vnodes that share a value of a resource. Those of a job are made by its own place=group, else by
// the node_group_key of its queue, else by that of the server. A job has all of its vnodes in one set, the smallest that has
// room; one that would fit in none of them, if nothing ran, may span them, unless it has asked for a group itself or
// do_not_span_psets is set.

// grouping says which resources make placement sets in a cycle, besides the jobs' own requests.
type grouping struct {
	server   string
	queues   map[pbs.QueueName]string // of those that have keys of their own
	explicit bool                     // vnodes without a value make no set
	whole    bool                     // no job spans sets
}

func newGrouping(v *state.View) grouping {
	s := v.Server()
	g := grouping{explicit: s.SchedGet("only_explicit_psets") == "True", whole: s.SchedGet("do_not_span_psets") == "True"}
	if !s.Bool("node_group_enable") {
		return g
	}
	g.server = s.Get("node_group_key")
	for q := range v.Queues() {
		if keys := q.Get("node_group_key"); keys != "" {
			if g.queues == nil {
				g.queues = map[pbs.QueueName]string{}
			}
			g.queues[q.Name] = keys
		}
	}
	return g
}

// same reports whether two make the same sets.
func (g grouping) same(o grouping) bool {
	return g.server == o.server && g.explicit == o.explicit && g.whole == o.whole && maps.Equal(g.queues, o.queues)
}

// used reports whether there are sets that no job has asked for.
func (g grouping) used() bool { return g.server != "" || len(g.queues) > 0 }

// of returns the keys for jobs of a queue, separated by commas.
func (g grouping) of(queue pbs.QueueName) string {
	if keys, own := g.queues[queue]; own {
		return keys
	}
	return g.server
}

// keysOf returns the resources that keys name; those that are not known make no sets.
func keysOf(keys string, t resource.Table) []resource.Def {
	var all []resource.Def
	for name := range strings.SplitSeq(strings.Trim(keys, `"`), ",") {
		if def, known := t.Resource(strings.TrimSpace(name)); known {
			all = append(all, def)
		}
	}
	return all
}

// A pset is one placement set.
type pset struct {
	name  string // as in RESOURCE=VALUE, of several resources separated by commas
	nodes []int  // in their order
	hosts []int  // on which they are, in their order
	ncpus int64  // that are offered
	mem   int64

	first string // of a set that has one value of each of several resources: that of the first one
	rest  string // and those of the others
}

// has reports whether a node is in the set; all are in none.
func (s *pset) has(i int) bool {
	if s == nil {
		return true
	}
	_, ok := slices.BinarySearch(s.nodes, i)
	return ok
}

// groups are the resources that make the placement sets of a class.
type groups struct {
	keys string // their names
	defs []resource.Def
	own  bool // the jobs have asked for it
	rest bool // vnodes without a value make a set, too

	together bool // a set has one value of each of them
}

// id tells pools apart.
func (g groups) id() string {
	if g.rest {
		return g.keys + " and the rest"
	}
	return g.keys
}

// sets returns the placement sets of groups, the smallest first: a job must not break up a set that a bigger one needs.
// Of sets of one size those come first of which less is free.
func (w *world) sets(g groups) []*pset {
	all := w.grouped(g)
	if distinct(all) {
		return all
	}
	type left struct {
		set        *pset
		ncpus, mem int64
	}
	sorted := make([]left, len(all))
	for k, s := range all {
		sorted[k] = left{s, w.freeIn(s, "ncpus"), w.freeIn(s, "mem")}
	}
	slices.SortStableFunc(sorted, func(a, b left) int {
		return cmp.Or(a.set.size(b.set), cmp.Compare(a.ncpus, b.ncpus), cmp.Compare(a.mem, b.mem))
	})
	all = make([]*pset, len(sorted))
	for k, l := range sorted {
		all[k] = l.set
	}
	return all
}

// grouped returns the sets of groups by their sizes.
func (w *world) grouped(g groups) []*pset {
	all, known := w.psets[g.id()]
	if !known {
		all = w.group(g)
		w.psets[g.id()] = all
	}
	return all
}

// distinct reports whether no two sets, in the order of their sizes, are of one size.
func distinct(all []*pset) bool {
	for k := 1; k < len(all); k++ {
		if all[k].size(all[k-1]) == 0 {
			return false
		}
	}
	return true
}

func (s *pset) size(o *pset) int {
	return cmp.Or(cmp.Compare(s.ncpus, o.ncpus), cmp.Compare(s.mem, o.mem))
}

// freeIn returns what the usable vnodes of a set have free together.
func (w *world) freeIn(s *pset, name string) int64 {
	c := w.columns.of(name)
	if c == nil {
		return 0
	}
	var sum int64
	for _, i := range s.nodes {
		if w.nodes[i].usable && !w.hosts[w.nodes[i].host].shut {
			sum = plus(sum, c.left(i))
		}
	}
	return sum
}

// measured makes sure that the columns are there by which sets are ordered.
func (w *world) measured() {
	for _, name := range [...]string{"ncpus", "mem"} {
		if def, ok := w.view.Resource(name); ok {
			w.column(def)
		}
	}
}

// group makes the placement sets of groups.
func (w *world) group(g groups) []*pset {
	w.measured()
	if g.together {
		return w.agreeing(g.defs)
	}
	var all []*pset
	for _, def := range g.defs {
		named := map[string]*pset{}
		for i := range w.nodes {
			n := &w.nodes[i]
			values := n.values(def)
			if len(values) == 0 && g.rest {
				values = []string{`""`}
			}
			for _, value := range values {
				s := named[value]
				if s == nil {
					s = &pset{name: def.Name + "=" + value}
					s.first = s.name
					named[value], all = s, append(all, s)
				}
				s.add(w, i)
			}
		}
	}
	return bySize(all)
}

// bySize completes sets, and sorts them in place.
func bySize(all []*pset) []*pset {
	for _, s := range all {
		slices.Sort(s.hosts)
		s.hosts = slices.Compact(s.hosts)
	}
	slices.SortStableFunc(all, (*pset).size)
	return all
}

func (s *pset) add(w *world, i int) {
	if k := len(s.nodes); k > 0 && s.nodes[k-1] == i {
		return // it has the value twice
	}
	s.nodes, s.hosts = append(s.nodes, i), append(s.hosts, w.nodes[i].host)
	for name, sum := range map[string]*int64{"ncpus": &s.ncpus, "mem": &s.mem} {
		if c := w.columns.of(name); c != nil {
			*sum = plus(*sum, c.total[i])
		}
	}
}

// values returns what a vnode has of a resource that groups vnodes.
func (n *node) values(group resource.Def) []string {
	offer, ok := n.offer.Get(group.Name)
	switch {
	case !ok || offer == "":
		return nil
	case group.Type == resource.StringArray:
		return strings.Split(offer, ",")
	}
	return []string{offer}
}

// on reports whether some of a host's nodes are in the set; all hosts are in none.
func (s *pset) on(h int) bool {
	if s == nil {
		return true
	}
	_, ok := slices.BinarySearch(s.hosts, h)
	return ok
}

// nextIn is next for the hosts of a placement set.
func (w *world) nextIn(s *pset, h int, needs []need) int {
	if !w.mayHave(needs) {
		return -1
	}
	from, _ := slices.BinarySearch(s.hosts, h)
	for _, h := range s.hosts[from:] {
		if w.suffices(h, needs) {
			return h
		}
	}
	return -1
}

// mayHave reports whether for each need there is a host that has enough.
func (w *world) mayHave(needs []need) bool {
	return !slices.ContainsFunc(needs, func(n need) bool { return w.column(n.def).tree[1] < n.amount })
}

// suffices reports whether a host has enough of everything, added up over its vnodes, in the present window, too.
func (w *world) suffices(h int, needs []need) bool {
	return w.hasOn(h, needs) && (w.look(h) || w.hasOn(h, needs))
}

// mayHold reports whether a host has enough for each chunk, wherever that is.
func (w *world) mayHold(c *class) bool {
	return !slices.ContainsFunc(c.chunks, func(ch chunk) bool { return !w.mayHave(ch.needs) })
}

// findGrouped finds room in the first placement set that has it, or anywhere if the class may span sets.
func (w *world) findGrouped(c *class) (spec.ExecVnode, bool) {
	if !w.mayHold(c) {
		return nil, false
	}
	all := w.sets(c.groups)
	for _, s := range all {
		if c.unit && !w.unused(w.unitOf(c, s)) {
			continue
		}
		w.set = s
		placed, ok := w.findIn(c)
		if w.set = nil; !ok {
			continue
		}
		if c.unit {
			placed = w.fillUp(w.unitOf(c, s), c, placed)
		}
		w.foundIn = s.name
		return placed, true
	}
	switch {
	case c.units != nil && c.place.Arrangement != spec.Pack:
		return w.overUnits(c, all)
	case c.groups.own || !c.spans && len(all) > 0:
		return nil, false
	}
	return w.findIn(c)
}

// widen lets a class span placement sets if it would fit in none of them when nothing ran.
func (p *Planner) widen(c *class) {
	if c.groups.own || p.grouping.whole || len(c.groups.defs) == 0 || c.spanAge == p.idleAge {
		return
	}
	c.spans = false
	_, ok := p.idle.fits(c)
	c.spans, c.spanAge = !ok, p.idleAge
}

// kept reports whether a class that fits nowhere would if it could span placement sets.
func (w *world) kept(c *class) bool {
	if !c.inSets() {
		return false
	}
	free := *c
	free.groups, free.units, free.agree = groups{}, nil, nil
	_, ok := w.fits(&free)
	return ok
}

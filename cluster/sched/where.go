package sched

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// What a requirement of LSF asks of hosts that chunks cannot say, such as a comparison of numbers, is a condition that each host is asked for,
// with what is available there at that moment (specification: reservation section 1.4). Its alternatives are classes of their own, which are
// tried one after the other (section 2.8); all that is promised or kept for a job is of the first.

// where holds what a class asks of hosts.
type where struct {
	all, queue resreq.Select   // queue: what of it the queue wants
	never      bool            // it names what is not there any more
	hosts      *lsf.HostChoice // that the job was submitted to; nil: any
}

// asked holds what a requirement says of hosts beside chunks and their place.
type asked struct {
	where        *where    // nil: nothing
	by           *ordering // nil: as the world has them
	terms        []ofTerm  // where that is of each term; none: it is of all
	alternatives []lsf.Alternative
	rising       bool // they are one request for ever more slots
	layout       lsf.Layout
}

// ofTerm holds what a term asks of its hosts, and by what they are ordered.
type ofTerm struct {
	where *where
	by    *ordering
}

// of returns what is said of the hosts of a term.
func (a *asked) of(term int) ofTerm {
	if term > 0 && term <= len(a.terms) {
		return a.terms[term-1]
	}
	return ofTerm{where: a.where}
}

// prefer has hosts come before others that a choice prefers, which was made of some words, unless the job prefers some itself.
func (a *asked) prefer(choice lsf.HostChoice, words string) {
	if a.by.prefers() {
		return
	}
	a.by = a.by.preferring(choice, words)
	for i := range a.terms {
		a.terms[i].by = a.terms[i].by.preferring(choice, words)
	}
}

// moreOf reads state.Class.More; what cannot be read any more, since a resource is gone, no host has.
func moreOf(v *state.View, more string) (a asked) {
	if more == "" {
		return a
	}
	lines := append(strings.Split(more, "\n"), "", "", "", "", "")
	site := v.LSF().Site(slices.Collect(v.CustomResources()))
	wheres, known := lsf.ReadWhere(lines[0], site)
	orders, _ := lsf.ReadOrder(lines[3], site)
	var queue resreq.Select
	if all, _ := lsf.ReadWhere(lines[1], site); len(all) == 1 {
		queue = all[0] // a part of it
	}
	a = asked{alternatives: lsf.ReadAlternatives(lines[2]), rising: lsf.Rising(lines[2]), layout: lsf.ReadLayout(lines[4])}
	if len(wheres) == 1 || !known {
		a.where = &where{queue: queue, never: !known}
		if known {
			a.where.all = wheres[0]
		}
	}
	if len(orders) == 1 {
		a.by = newOrdering(orders[0], lines[3], site)
	}
	for i := range max(len(wheres), len(orders)) {
		t := ofTerm{where: a.where, by: a.by}
		if len(wheres) > 1 && i < len(wheres) && wheres[i].Given() {
			t.where = &where{all: wheres[i], queue: queue}
		}
		if len(orders) > 1 && i < len(orders) {
			t.by = newOrdering(orders[i], resreq.PrintOrder(orders[i]), site)
		}
		a.terms = append(a.terms, t)
	}
	if len(a.terms) == 1 {
		a.terms = nil
	}
	if hosts := strings.Fields(lines[5]); len(hosts) > 0 {
		choice := v.LSF().HostChoice(hosts)
		a.where = cmp.Or(a.where, new(where))
		a.where.hosts = &choice
		for i := range a.terms {
			t := &a.terms[i]
			t.where = cmp.Or(t.where, a.where)
			t.where.hosts = &choice
		}
		a.prefer(choice, lines[5])
	}
	return a
}

// completed returns a select with what chunks have by default, as that of a job that waits has it.
func completed(v *state.View, queue pbs.QueueName, text string) string {
	sel, err := spec.ParseSelect(text)
	if err != nil {
		return text
	}
	var chunks resource.List
	if q, ok := v.Queue(queue); ok {
		chunks = q.Resources("default_chunk")
	}
	for _, it := range v.Server().Resources("default_chunk") {
		if _, said := chunks.Get(it.Name); !said {
			chunks = chunks.Set(it.Name, it.Value)
		}
	}
	whole, err := spec.Complete(sel, chunks, v)
	if err != nil {
		return text
	}
	return whole.String()
}

// meets reports whether a host satisfies a condition.
func (w *world) meets(h int, of *where) bool {
	return !of.never && (of.hosts == nil || of.hosts.Has(w.hosts[h].names()...)) && of.all.Holds(hostValues{w, h}, "")
}

// names returns the names by which a host may be asked for.
func (h *host) names() []string { return []string{h.key.word, string(h.key.mom)} }

// hostValues is a host as conditions and thresholds see it: lsf.ValueOf asks it.
type hostValues struct {
	world *world
	host  int
}

// Value returns what is available of a resource.
func (s hostValues) Value(name string) (resreq.Value, bool) { return lsf.ValueOf(s, name) }

// Resource returns the definition of a resource.
func (s hostValues) Resource(name string) (resource.Def, bool) { return s.world.view.Resource(name) }

// Word returns the name of the host.
func (s hostValues) Word() string { return s.world.hosts[s.host].key.word }

// Row returns what the files of LSF say of the host.
func (s hostValues) Row() lsf.Host { return s.world.rows.of(s.mom()) }

// Status returns the status that lsload shows; empty where no loads are reported.
func (s hostValues) Status() string {
	w := s.world
	if w.loads == nil {
		return ""
	}
	if _, known := w.loads.Of(s.mom()); !known {
		return lsf.StatusUnavailable
	}
	host, _ := w.view.Host(s.mom())
	if w.gate != nil && w.gate.busy[s.mom()] || host != nil && host.Busy {
		return lsf.StatusBusy
	}
	return lsf.StatusOK
}

// Offer returns a value that the host is configured with.
func (s hostValues) Offer(def resource.Def) (value string, has bool) {
	for _, i := range s.world.hosts[s.host].nodes {
		if value, has = s.world.nodes[i].offer.Get(def.Name); has && value != "" {
			return value, true
		}
	}
	return "", false
}

// Left returns how much of a resource is left, and how much there is in all: on the vnodes of the host, or of the whole cluster if it is a
// server-wide resource.
func (s hostValues) Left(def resource.Def) (left, total int64, has bool) {
	w := s.world
	if !def.AtVnodes() {
		left, has = w.leftOfServer(def.Name)
		return left, left, has
	}
	c := w.column(def)
	var seen []int
	for _, i := range w.hosts[s.host].nodes {
		if _, offers := w.nodes[i].offer.Get(def.Name); !offers && !def.Raises() || c.met(i, &seen) {
			continue
		}
		if at := c.at(i); at >= 0 {
			left, total, has = plus(left, c.free[at]), plus(total, c.total[at]), true
		}
	}
	return left, total, has
}

// Told returns what the host has reported of an index.
func (s hostValues) Told(index string) (value float64, said bool) {
	if s.world.loads == nil {
		return 0, false
	}
	values, _ := s.world.loads.Of(s.mom())
	told, said := values[index]
	return told.Shown(index), said
}

// ByAgent reports whether what is free of some vnode of the host is known from its mom.
func (s hostValues) ByAgent() bool {
	return s.world.agents > 0 && slices.ContainsFunc(s.world.hosts[s.host].nodes, func(i int) bool { return goesByAgent(s.world.nodes[i].vnode) })
}

func (s hostValues) mom() pbs.HostName { return s.world.hosts[s.host].key.mom }

// leftOfServer is FreeOfServer, found out once for a view.
func (w *world) leftOfServer(name string) (left int64, has bool) {
	if w.server.view != w.view {
		w.server = leftOfServer{view: w.view, of: map[string]int64{}}
	}
	left, known := w.server.of[name]
	if !known {
		if left, has = w.view.FreeOfServer(name); !has {
			left = -1
		}
		w.server.of[name] = left
	}
	return max(left, 0), left >= 0
}

// leftOfServer is what is left of amounts of the server in a view, -1 of what it has none.
type leftOfServer struct {
	view *state.View
	of   map[string]int64
}

// rows holds what the files of LSF say of hosts.
type rows struct {
	config *lsf.Config
	byName map[string]lsf.Host

	speeds  []lsf.Thousandths // by which hosts differ, the slowest first; none: run limits are the same on all
	seen    *world            // of which they are
	slowest lsf.Thousandths   // slower hosts are closed for now; 0: none is
}

// of returns what is said of a host.
func (r *rows) of(host pbs.HostName) lsf.Host {
	if r == nil {
		return lsf.Host{}
	}
	return r.byName[string(host)]
}

// followRows reads again what the files say of hosts where that has changed.
func (p *Planner) followRows(v *state.View) {
	config := &v.Reconfigured().Config
	if p.rows != nil && p.rows.config == config {
		if p.rows.seen != p.all && p.rows.followSpeeds(p.all) {
			p.renew()
		}
		return
	}
	before := p.rows
	if p.rows != nil && !(reflect.DeepEqual(p.rows.config.HostGroups, config.HostGroups) && reflect.DeepEqual(p.rows.config.Units, config.Units)) {
		p.renew() // classes know their hosts
	}
	p.rows = &rows{config: config, byName: make(map[string]lsf.Host, len(config.Hosts))}
	for _, h := range config.Hosts {
		p.rows.byName[h.Name] = h
	}
	if p.rows.followSpeeds(p.all) || before != nil && len(before.speeds) > 0 {
		p.renew() // classes know for how long their jobs run
	}
	p.given.lost = true // whoever selects hosts by what they are may have room now
}

// unmet reports whether no host satisfies what a class asks them for, and by whose requirement.
func (c *cycle) unmet(cl *class) (name string, unmet bool) {
	for i := range cl.chunks {
		one := cl.chunks[i].where
		if one == nil || i > 0 && one == cl.chunks[i-1].where {
			continue
		}
		if name, unmet := c.unmetBy(one); unmet {
			return name, true
		}
	}
	return "", false
}

func (c *cycle) unmetBy(one *where) (name string, unmet bool) {
	name = lsf.JobSelect
	for h := range c.free.hosts {
		switch {
		case c.free.meets(h, one):
			return "", false
		case !one.queue.Holds(hostValues{c.free, h}, ""):
			name = lsf.JobQueueSelect
		}
	}
	return name, true
}

// asks reports whether it depends on what hosts have and say at the moment which of them a class may have.
func (c *class) asks() bool {
	return slices.ContainsFunc(c.chunks, func(ch chunk) bool { return ch.where != nil })
}

// looksAtHosts reports whether that, or which hosts it has first, does.
func (c *class) looksAtHosts() bool {
	return c.by != nil || c.asks() || slices.ContainsFunc(c.chunks, func(ch chunk) bool { return ch.by != nil })
}

// placeChoice is placeShrunk for the first alternative of a job, but the preferred one, for which there is room.
func (c *cycle) placeChoice(j *state.Job, id pbs.JobID, cl *class) (choice int, placed string, long pbs.Time, ok bool) {
	text, _ := j.Attrs.Get(lsf.JobAlternatives, "")
	all := lsf.ReadAlternatives(text)
	for i, one := range cl.choice {
		other := c.instead(j, cl, all, i+1)
		if _, reached := c.reached(other, id); reached {
			continue
		}
		if placed, long, ok, _ = c.placeShrunk(other, one); ok {
			return i + 1, placed, long, true
		}
	}
	return 0, "", 0, false
}

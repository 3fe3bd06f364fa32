package sched

import (
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

// where is what hosts are asked for.
type where struct {
	all, queue resreq.Select // queue: what of it the queue wants
	never      bool          // it names what is not there any more
}

// moreOf reads state.Class.More; what cannot be read any more, since a resource is gone, no host has.
func moreOf(v *state.View, more string) (w *where, alternatives []lsf.Alternative) {
	if more == "" {
		return nil, nil
	}
	lines := append(strings.Split(more, "\n"), "", "")
	site := v.LSF().Site(slices.Collect(v.CustomResources()))
	read := func(text string) (s resreq.Select, ok bool) {
		if text == "" {
			return s, true
		}
		r, err := resreq.Parse("select["+text+"]", site)
		if err != nil || len(r.Terms) == 0 {
			return s, false
		}
		return r.Terms[0].Select, true
	}
	if lines[0] != "" {
		all, known := read(lines[0])
		queue, _ := read(lines[1]) // a part of it
		w = &where{all: all, queue: queue, never: !known}
	}
	return w, lsf.ReadAlternatives(lines[2])
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

// meets tells whether a host satisfies a condition.
func (w *world) meets(h int, of *where) bool { return !of.never && of.all.Holds(hostValues{w, h}, "") }

// hostValues is a host as a condition sees it.
type hostValues struct {
	world *world
	host  int
}

// Value returns what is available of a resource.
func (s hostValues) Value(name string) (resreq.Value, bool) {
	w := s.world
	number := func(n float64) (resreq.Value, bool) { return resreq.Value{Number: n}, true }
	model := name
	switch name {
	case "hname":
		return resreq.Value{Text: w.hosts[s.host].key.word}, true
	case "type":
		model = "arch"
	case "ncpus", "maxmem", "maxswp", "maxtmp":
		model = strings.TrimPrefix(name, "max")
	}
	def, known := w.view.Resource(model)
	switch {
	case !known:
		return w.index(s.host, name)
	case !def.AtHost():
		left, has := w.view.FreeOfServer(def.Name)
		return resreq.Value{Number: shownAs(def, left)}, has
	case def.AtVnodes():
		left, total, has := s.amount(def)
		if model != name || name == "ncpus" {
			left = total
		}
		return resreq.Value{Number: shownAs(def, left)}, has
	}
	for _, i := range w.hosts[s.host].nodes {
		value, has := w.nodes[i].offer.Get(def.Name)
		switch {
		case !has || value == "":
		case def.Type == resource.Boolean && strings.EqualFold(value, "true"):
			return number(1)
		case def.Type == resource.Boolean:
			return number(0)
		case def.Type.Numeric():
			return number(shownAs(def, def.Measure(value)))
		default:
			return resreq.Value{Text: value}, true
		}
	}
	return resreq.Value{}, false
}

// amount returns what the vnodes of the host have left of what is consumed there, and what they have in all.
func (s hostValues) amount(def resource.Def) (left, total int64, has bool) {
	c := s.world.column(def)
	var seen []int
	for _, i := range s.world.hosts[s.host].nodes {
		if _, offers := s.world.nodes[i].offer.Get(def.Name); !offers || c.met(i, &seen) {
			continue
		}
		if at := c.at(i); at >= 0 {
			left, total, has = plus(left, c.free[at]), plus(total, c.total[at]), true
		}
	}
	return left, total, has
}

// shownAs returns an amount as it is compared: of mem, swp and tmp in megabytes.
func shownAs(def resource.Def, amount int64) float64 {
	switch {
	case def.Type == resource.Float:
		return float64(amount) / millionths
	case resreq.Unit(def.Name) == resreq.Megabyte:
		return float64(amount) / 1024
	}
	return float64(amount)
}

// index returns the value of a load index of a host, as the host has told it.
func (w *world) index(h int, name string) (resreq.Value, bool) {
	if w.loads == nil {
		return resreq.Value{}, false
	}
	values, _ := w.loads.Of(w.hosts[h].key.mom)
	value, said := values[name]
	return resreq.Value{Number: value.Shown(name)}, said
}

// unmet tells whether no host satisfies what a class asks them for, and by whose requirement.
func (c *cycle) unmet(cl *class) (name string, unmet bool) {
	if cl.where == nil {
		return "", false
	}
	name = lsf.JobSelect
	for h := range c.free.hosts {
		switch {
		case c.free.meets(h, cl.where):
			return "", false
		case !cl.where.queue.Holds(hostValues{c.free, h}, ""):
			name = lsf.JobQueueSelect
		}
	}
	return name, true
}

// placeChoice is placeShrunk for the first alternative of a job, but the preferred one, for which there is room.
func (c *cycle) placeChoice(j *state.Job, id pbs.JobID, cl *class) (choice int, placed string, long pbs.Time, ok bool) {
	text, _ := j.Attrs.Get(lsf.JobAlternatives, "")
	all := lsf.ReadAlternatives(text)
	for i, one := range cl.choice {
		other := *j
		other.Resources = lsf.Instead(j.Resources, all, i+1)
		if _, reached := c.reached(&other, id); reached {
			continue
		}
		if placed, long, ok, _ = c.placeShrunk(&other, one); ok {
			return i + 1, placed, long, true
		}
	}
	return 0, "", 0, false
}

package sched

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"rampart/fsm/attr"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// Limits on slots, and on amounts of resources (specification: reservation section 7), count what jobs hold, and what is kept for those that
// wait, by whose they are and on which host they are. What a counter has is counted once, and again for vnodes that have changed; worlds keep what they have
// placed, or taken away, beside that.

// unbounded is how many slots there may be where nothing bounds them.
const unbounded = math.MaxInt64 / 4

// slotLimits are the limits of slots of a view, with what counts for them.
type slotLimits struct {
	of     *state.LSF
	queues []lsf.QueueSlots
	rules  []*slotRule
	owners map[lsf.SlotOwner]*bounds
	all    map[counterKey]*counter

	world *world // whose hosts are counted
	nodes []slotsOn
	used  map[cell]int64
}

// A slotRule is a rule with what it allows on each host of a world.
type slotRule struct {
	lsf.SlotRule
	at   int
	def  resource.Def // of what is counted
	most []int64      // unbounded: it does not bound the host
}

// shared reports whether what is counted belongs to no host.
func (r *slotRule) shared() bool { return !r.def.AtVnodes() }

// A counter counts the slots of some owners together, or what they have of a resource.
type counter struct {
	*slotRule
	whom lsf.SlotOwner
	id   string
}

type counterKey struct {
	rule int
	whom lsf.SlotOwner
}

// bounds are the counters that the jobs of an owner count for.
type bounds struct {
	id      string
	all     []*counter
	amounts []*counter // those of them that count no slots
}

// A cell is what a counter counts on a host; with host -1 on all of them together.
type cell struct {
	of   *counter
	host int
}

// slotsOn are the slots of the runs on a node as they were counted.
type slotsOn struct {
	vnode *state.Vnode
	runs  []slotsOf
}

type slotsOf struct {
	of         *bounds
	host       int
	held, full resource.List // full: with what a suspended run has given back
	whole      resource.List // of its first vnode: what the job has as a whole
}

// followSlots brings what limits slots up to the view.
func (p *Planner) followSlots(v *state.View) {
	of, queues := v.Reconfigured(), v.SlotQueues()
	if p.slots == nil || p.slots.of != of || !slices.Equal(p.slots.queues, queues) {
		had := p.slots.any()
		p.slots = &slotLimits{of: of, queues: queues, owners: map[lsf.SlotOwner]*bounds{}, all: map[counterKey]*counter{}}
		for at, r := range of.Config.SlotRules(queues) {
			if def, known := v.Resource(cmp.Or(r.Resource, "ncpus")); known {
				p.slots.rules = append(p.slots.rules, &slotRule{SlotRule: r, at: at, def: def})
			}
		}
		if had || p.slots.any() {
			p.renew()
		}
	}
	if !p.slots.any() {
		p.all.slots = slotUse{}
		return
	}
	p.slots.count(v, p.all)
	p.all.slots = slotUse{of: p.slots}
}

func (s *slotLimits) any() bool { return s != nil && len(s.rules) > 0 }

// ownerOf returns whose slots those of a job are.
func ownerOf(j *state.Job) lsf.SlotOwner {
	s := j.Subjects()
	return slotOwner(s[1].Name, s[2].Name, s[3].Name, j.Queue)
}

func slotOwner(user, group, project string, queue pbs.QueueName) lsf.SlotOwner {
	if project == attr.DefaultProject {
		project = "default" // as LSF calls it
	}
	return lsf.SlotOwner{User: user, Group: group, Project: project, Queue: string(queue)}
}

// boundsOf returns what bounds the slots of an owner, nil if nothing does.
func (s *slotLimits) boundsOf(o lsf.SlotOwner) *bounds {
	b, known := s.owners[o]
	if known {
		return b
	}
	for _, r := range s.rules {
		whom, bounded := r.Whom(o)
		if !bounded {
			continue
		}
		k := counterKey{r.at, whom}
		c := s.all[k]
		if c == nil {
			c = &counter{slotRule: r, whom: whom, id: strconv.Itoa(len(s.all)) + ","}
			s.all[k] = c
		}
		if b == nil {
			b = &bounds{}
		}
		if b.id, b.all = b.id+c.id, append(b.all, c); r.Resource != "" {
			b.amounts = append(b.amounts, c)
		}
	}
	s.owners[o] = b
	return b
}

// count counts what runs on vnodes that have changed.
func (s *slotLimits) count(v *state.View, w *world) {
	if s.world != w || len(s.nodes) != len(w.nodes) {
		s.world, s.nodes, s.used = w, make([]slotsOn, len(w.nodes)), map[cell]int64{}
		for _, r := range s.rules {
			r.most = nil
		}
	}
	for i := range w.nodes {
		n, was := &w.nodes[i], &s.nodes[i]
		if was.vnode == n.vnode {
			continue
		}
		for _, run := range was.runs {
			s.add(run, -1)
		}
		for _, r := range s.rules {
			if r.most != nil {
				r.most[n.host] = s.mostOn(r, n.host)
			}
		}
		was.vnode, was.runs = n.vnode, was.runs[:0]
		for _, held := range n.vnode.Jobs {
			j, ok := v.Job(held.Job)
			if !ok {
				continue
			}
			run := slotsOf{of: s.boundsOf(ownerOf(j)), host: n.host, held: held.Items}
			if run.of == nil {
				continue
			}
			if held.Charged != nil {
				run.held = held.Charged // a limit counts the whole amount
			}
			parts := j.LastRun().ExecVnode
			if run.full = run.held; held.Suspended {
				run.full = givenOn(parts, n.vnode.Name, v)
			}
			if len(run.of.amounts) > 0 && len(parts) > 0 && parts[0].Parts[0].Vnode == n.vnode.Name {
				run.whole = j.Resources
			}
			if len(run.full) > 0 || run.whole != nil {
				s.add(run, 1)
				was.runs = append(was.runs, run)
			}
		}
	}
}

// slotsIn returns the slots among the items of a vnode.
func slotsIn(items resource.List) int64 {
	def, _ := resource.Lookup("ncpus")
	return charged(def, items)
}

// givenOn returns what a run was given of a vnode.
func givenOn(parts spec.ExecVnode, vnode pbs.VnodeName, t resource.Table) (sum resource.List) {
	for _, ch := range parts {
		for _, part := range ch.Parts {
			if part.Vnode != vnode {
				continue
			}
			if more, err := resource.Add(sum, part.Items, t); err == nil {
				sum = more
			}
		}
	}
	return sum
}

// add counts what a run has. What it has given back counts only where hosts do not matter.
func (s *slotLimits) add(run slotsOf, sign int64) {
	for _, c := range run.of.all {
		items := run.held
		switch {
		case c.shared():
			items = run.whole
		case c.Wide():
			items = run.full
		}
		if at, bounded := s.cell(c, run.host); bounded {
			s.used[at] += sign * charged(c.def, items)
		}
	}
}

// cell returns where the slots of a host count, false if they do not.
func (s *slotLimits) cell(c *counter, host int) (cell, bool) {
	if s.most(c.slotRule, host) == unbounded {
		return cell{}, false
	}
	if !c.EachHost || c.shared() {
		host = -1
	}
	return cell{c, host}, true
}

// most returns how many slots a rule allows on a host, or with it.
func (s *slotLimits) most(r *slotRule, host int) int64 {
	if r.most == nil {
		r.most = make([]int64, len(s.world.hosts))
		for h := range r.most {
			r.most[h] = s.mostOn(r, h)
		}
	}
	return r.most[host]
}

func (s *slotLimits) mostOn(r *slotRule, h int) int64 {
	host := &s.world.hosts[h]
	var cpus int64
	for _, i := range host.nodes {
		vn := s.world.nodes[i].vnode
		if n := slotsIn(vn.Reported); n > 0 {
			cpus += n // what there are, whatever the slots
		} else {
			cpus += slotsIn(vn.Available())
		}
	}
	most, bounded := r.Most(string(host.key.mom), cpus)
	switch {
	case r.shared(): // wherever the job is
		return charged(r.def, r.Amount(r.def))
	case !bounded:
		return unbounded
	case r.Resource != "":
		return charged(r.def, r.Amount(r.def))
	}
	return most
}

// boundsOf returns what bounds the slots of a job, nil if nothing does. What a reservation has was granted as a whole.
func (p *Planner) boundsOf(j *state.Job) *bounds {
	if !p.slots.any() || p.reserved.names[j.Queue] {
		return nil
	}
	return p.slots.boundsOf(ownerOf(j))
}

package sched

import (
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

// Limits on slots (specification: reservation section 7) count what jobs hold, and what is kept for those that wait, by whose they are
// and on which host they are. What a counter has is counted once, and again for vnodes that have changed; worlds keep what they have
// placed, or taken away, beside that.

// unbounded is how many slots there may be where nothing bounds them.
const unbounded = math.MaxInt64 / 4

// slotLimits are those of a view, with what counts for them.
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
	most []int64 // unbounded: it does not bound the host
}

// A counter counts the slots of some owners together.
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
	id  string
	all []*counter
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
	held, full int64 // full: with those that a suspended run has given back
}

// slotUse is what a world knows of slots.
type slotUse struct {
	of    *slotLimits // what is counted; nil: nothing
	extra map[cell]int64
	took  []berth // by the present attempt, by host
}

// followSlots brings what limits slots up to the view.
func (p *Planner) followSlots(v *state.View) {
	of, queues := v.Reconfigured(), v.SlotQueues()
	if p.slots == nil || p.slots.of != of || !slices.Equal(p.slots.queues, queues) {
		had := p.slots.any()
		p.slots = &slotLimits{of: of, queues: queues, owners: map[lsf.SlotOwner]*bounds{}, all: map[counterKey]*counter{}}
		for at, r := range of.Config.SlotRules(queues) {
			p.slots.rules = append(p.slots.rules, &slotRule{SlotRule: r, at: at})
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
		b.id, b.all = b.id+c.id, append(b.all, c)
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
			run := slotsOf{of: s.boundsOf(ownerOf(j)), host: n.host, held: slotsIn(held.Items)}
			if run.full = run.held; held.Suspended {
				run.full = max(run.held, slotsOfRun(j, n.vnode.Name))
			}
			if run.of != nil && run.full > 0 {
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

// slotsOfRun returns the slots of a vnode that a run was given.
func slotsOfRun(j *state.Job, vnode pbs.VnodeName) (n int64) {
	for _, ch := range j.LastRun().ExecVnode {
		for _, part := range ch.Parts {
			if part.Vnode == vnode {
				n += slotsIn(part.Items)
			}
		}
	}
	return n
}

// add counts slots of a run. Those that it has given back count only where hosts do not matter.
func (s *slotLimits) add(run slotsOf, sign int64) {
	for _, c := range run.of.all {
		n := run.held
		if c.Wide() {
			n = run.full
		}
		if at, bounded := s.cell(c, run.host); bounded {
			s.used[at] += sign * n
		}
	}
}

// cell returns where the slots of a host count, false if they do not.
func (s *slotLimits) cell(c *counter, host int) (cell, bool) {
	if s.most(c.slotRule, host) == unbounded {
		return cell{}, false
	}
	if !c.EachHost {
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
	if most, bounded := r.Most(string(host.key.mom), cpus); bounded {
		return most
	}
	return unbounded
}

// allowed returns how many more slots a host may give to jobs with some bounds, and by which of them that is so; nil: by none.
func (w *world) allowed(h int, b *bounds) (least int64, by *counter) {
	least = unbounded
	if b == nil || w.idle || w.slots.of == nil {
		return least, nil
	}
	for _, c := range b.all {
		if left := w.room(c, h); left < least {
			least, by = left, c
		}
	}
	return least, by
}

// room returns how many more slots a counter allows on a host.
func (w *world) room(c *counter, h int) int64 {
	at, bounded := w.slots.of.cell(c, h)
	if !bounded {
		return unbounded
	}
	left := w.slots.of.most(c.slotRule, h) - w.slots.of.used[at] - w.slots.extra[at]
	for _, t := range w.slots.took {
		if _, counts := w.slots.of.cell(c, int(t.host)); counts && (!c.EachHost || int(t.host) == h) {
			left -= t.slots
		}
	}
	return left
}

// takesOn notes that the present attempt takes slots of a host.
func (w *world) takesOn(h int, b *bounds, slots int64) {
	if b == nil || slots == 0 {
		return
	}
	for i := range w.slots.took {
		if t := &w.slots.took[i]; int(t.host) == h {
			t.slots += slots
			return
		}
	}
	w.slots.took = append(w.slots.took, berth{host: int64(h), slots: slots})
}

// settleSlots counts what the present attempt has taken.
func (w *world) settleSlots(b *bounds) {
	if b == nil {
		return
	}
	for _, t := range w.slots.took {
		w.countOn(b, int(t.host), t.slots)
	}
	w.slots.took = w.slots.took[:0]
}

// countPlaced counts what was placed, or with a negative sign what is gone.
func (w *world) countPlaced(b *bounds, placed spec.ExecVnode, sign int64) {
	if b == nil || w.slots.of == nil {
		return
	}
	for _, ch := range placed {
		for _, part := range ch.Parts {
			if i, ok := w.byVnode[part.Vnode]; ok {
				w.countOn(b, w.nodes[i].host, sign*slotsIn(part.Items))
			}
		}
	}
}

func (w *world) countOn(b *bounds, h int, slots int64) {
	if b == nil || w.slots.of == nil || slots == 0 {
		return
	}
	for _, c := range b.all {
		if at, bounded := w.slots.of.cell(c, h); bounded {
			if w.slots.extra == nil {
				w.slots.extra = map[cell]int64{}
			}
			w.slots.extra[at] += slots
		}
	}
}

// boundsOf returns what bounds the slots of a job, nil if nothing does. What a reservation has was granted as a whole.
func (p *Planner) boundsOf(j *state.Job) *bounds {
	if !p.slots.any() || p.reserved.names[j.Queue] {
		return nil
	}
	return p.slots.boundsOf(ownerOf(j))
}

package sched

import (
	"maps"
	"slices"

	"rampart/fsm/state"
)

// A moment is the state that something was brought up to.
type moment struct {
	index, digest uint64
	vnodes        int
	reservations  int
	newest        uint64 // of the vnodes that there were, by their creation
	fades         bool   // vnodes may be otherwise than their records
	scope         string // of the scheduler whose view it is
}

func momentOf(v *state.View) moment {
	return moment{v.Index(), v.Digest(), v.VnodeCount(), v.ReservationCount(), v.NewestVnode(), v.Fades(), v.Scope()}
}

// before reports whether a view is of the same history, then or later.
func (m moment) before(v *state.View) bool {
	return m.index > 0 && (v.Index() > m.index || v.Index() == m.index && v.Digest() == m.digest)
}

// reserves reports whether a reservation has come or changed since.
func (m moment) reserves(v *state.View) bool {
	for range v.ReservationsChanged(m.index) {
		return true
	}
	return false
}

// follow brings a world up to a later view, and reports whether it can: not if
// vnodes have come or gone, or stand in another order.
func (w *world) follow(v *state.View, sortedBy string) bool {
	w.view = v
	if w.order.text != sortedBy {
		return false
	}
	changed, ok := w.changed(v)
	if !ok {
		return false
	}
	w.at = momentOf(v)
	dirty := map[int]bool{}
	for _, vn := range changed {
		i := w.byVnode[vn.Name]
		w.renew(i, vn)
		dirty[w.nodes[i].host] = true
	}
	w.reshut(dirty)
	for h := range dirty {
		w.reset(h)
	}
	return true
}

// changed returns the vnodes that are not as the world has them, false if it has others.
func (w *world) changed(v *state.View) (changed []*state.Vnode, same bool) {
	created := w.order.created(w.idle)
	if w.at.before(v) && w.at.vnodes == v.VnodeCount() && w.at.scope == v.Scope() && !w.at.fades && !v.Fades() {
		for vn := range v.VnodesChanged(w.at.index) {
			i, known := w.byVnode[vn.Name]
			sees := v.PlansFor(vn)
			if stale := vn.Flags&state.VnodeStale != 0; (!sees || w.idle && stale) && !known && vn.Seq <= w.at.newest {
				continue // a new one may stand for one that is gone, and the number of vnodes tells nothing
			} else if !sees || w.idle && stale || !known || !w.nodes[i].stands(vn) || !w.follows(i, vn) {
				return nil, false
			}
			changed = append(changed, vn)
		}
		return changed, true
	}
	n := 0
	for vn := range v.Vnodes() {
		if created && n < len(w.nodes) && w.nodes[n].vnode == vn {
			n++
			continue // most have not changed: their records are not even read
		}
		if w.idle && vn.Flags&state.VnodeStale != 0 {
			continue
		}
		i := n
		if !created {
			var ok bool
			if i, ok = w.byVnode[vn.Name]; !ok {
				return nil, false
			}
		}
		if i == len(w.nodes) || !w.nodes[i].stands(vn) || !w.follows(i, vn) {
			return nil, false
		}
		if w.nodes[i].vnode != vn {
			changed = append(changed, vn)
		}
		n++
	}
	return changed, n == len(w.nodes)
}

// follows reports whether a vnode that has changed stands where it stood.
func (w *world) follows(i int, vn *state.Vnode) bool {
	old := w.nodes[i].vnode
	return old == vn || w.order.stays(old, vn, w.idle) && !sharesAnew(old, vn)
}

// stands reports whether the node is the one of a vnode.
func (n *node) stands(vn *state.Vnode) bool {
	return n.vnode == vn || n.vnode.Name == vn.Name && n.vnode.Host == vn.Host && n.vnode.Seq == vn.Seq && n.vnode.HostWord() == vn.HostWord()
}

// renew reads one vnode again.
func (w *world) renew(i int, vn *state.Vnode) {
	n := &w.nodes[i]
	old, now := n.vnode, *n.fixed
	now.vnode = vn
	if !slices.Equal(old.Reported, vn.Reported) || !slices.Equal(old.Configured, vn.Configured) {
		now.offer = vn.Available()
		w.offersNew = true
		if len(w.psets) > 0 {
			w.psets = map[string][]*pset{}
		}
		for _, c := range w.columns {
			c.offer(i, offered(c.def, now.offer))
		}
	}
	now.tie = tieOf(vn)
	w.counts(n.fixed, -1)
	w.counts(&now, 1)
	for _, n := range w.noters {
		n.note(int32(i), len(w.nodes))
	}
	w.offersNew = w.offersNew || old.Sharing != vn.Sharing || n.tie != now.tie
	n.fixed = &now
	if !w.idle {
		if was, is := goesByAgent(old), goesByAgent(vn); was != is {
			w.agents += map[bool]int{true: 1, false: -1}[is]
		}
		jobs, held := n.jobs, n.held
		n.read(vn)
		w.hosts[n.host].jobs += n.jobs - jobs
		w.hosts[n.host].held += n.held - held
	}
	for _, c := range w.columns {
		c.free[i] = w.left(c, i)
		c.moved = c.moved || c.pools != nil && c.pools.shared[i]
	}
}

// offer notes what a vnode offers now.
func (c *column) offer(i int, amount int64) {
	c.total[i], c.allTotal = amount, 0
	for _, t := range c.total {
		c.allTotal = plus(c.allTotal, t)
	}
}

// reshut finds the hosts again that a job or a reservation has for itself; those where that has
// changed become dirty.
func (w *world) reshut(dirty map[int]bool) {
	if w.idle {
		return
	}
	shut := map[int]bool{}
	for i := range w.nodes {
		if n := &w.nodes[i]; (n.alone || n.held > 0) && w.takesHost(n.vnode) {
			shut[n.host] = true
		}
	}
	for h := range w.hosts {
		if w.hosts[h].shut != shut[h] {
			w.hosts[h].shut, dirty[h] = shut[h], true
		}
	}
}

// copyTo makes dst, or a new world if it is nil, a copy in which jobs can be placed.
func (w *world) copyTo(dst *world) *world {
	if dst == nil {
		dst = &world{}
	}
	dst.view, dst.idle, dst.tried = w.view, w.idle, w.tried // its nodes know the numbers of attempts
	dst.ranks = w.ranks.copyTo(dst.ranks)
	dst.order, dst.extra, dst.inside, dst.unnamed = w.order, maps.Clone(w.extra), w.inside, w.unnamed
	dst.orderings = w.orderings
	dst.gate, dst.reported, dst.loads, dst.rows, dst.agents, dst.server = w.gate, w.reported, w.loads, w.rows, w.agents, w.server
	dst.slots = slotUse{of: w.slots.of, extra: maps.Clone(w.slots.extra)}
	dst.byHost, dst.byVnode, dst.psets = w.byHost, w.byVnode, w.psets // the same as long as no vnode comes or goes
	dst.nodes = append(dst.nodes[:0], w.nodes...)
	dst.hosts = append(dst.hosts[:0], w.hosts...)
	had := dst.columns
	dst.columns = make(columns, 0, len(w.columns))
	for _, from := range w.columns {
		to := had.of(from.def.Name)
		if to == nil {
			to = &column{}
		}
		dst.columns = append(dst.columns, to)
		free, tree := append(to.free[:0], from.free...), append(to.tree[:0], from.tree...)
		*to = *from
		to.free, to.tree = free, tree
	}
	return dst
}

package sched

import (
	"maps"
	"slices"

	"rampart/fsm/state"
)

// follow brings a world up to a later view, and tells whether it can: not if
// vnodes have come or gone, or stand in another order.
func (w *world) follow(v *state.View, sortedBy string) bool {
	w.view = v
	if w.order.text != sortedBy {
		return false
	}
	created := w.order.created(w.idle)
	var changed []*state.Vnode
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
				return false
			}
		}
		if i == len(w.nodes) || !w.nodes[i].stands(vn) {
			return false
		}
		if old := w.nodes[i].vnode; old != vn {
			if !w.order.stays(old, vn, w.idle) || sharesAnew(old, vn) {
				return false
			}
			changed = append(changed, vn)
		}
		n++
	}
	if n < len(w.nodes) {
		return false
	}
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

// stands tells whether the node is the one of a vnode.
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

package sched

import (
	"slices"
	"strconv"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// tie is what a vnode's own attributes say about who may use it.
type tie struct {
	queue pbs.QueueName // only jobs of this queue; empty: those of all that have no vnodes of their own
	most  int           // max_running; 0: any number
}

func tieOf(vn *state.Vnode) tie {
	if len(vn.Attrs) == 0 && len(vn.ReportedAttrs) == 0 {
		return tie{}
	}
	most, _ := strconv.Atoi(vn.Get("max_running"))
	return tie{pbs.QueueName(vn.Get("queue")), most}
}

// tied returns the queues that have vnodes of their own, sorted.
func (w *world) tied() []pbs.QueueName {
	var all []pbs.QueueName
	for i := range w.nodes {
		if q := w.nodes[i].tie.queue; q != "" && !slices.Contains(all, q) {
			all = append(all, q)
		}
	}
	slices.Sort(all)
	return all
}

// key returns what makes the requests of two jobs the same: where vnodes belong to queues,
// the queue too.
func (p *Planner) key(sel, place string, queue pbs.QueueName) key {
	k := key{sel: sel, place: place}
	if slices.Contains(p.tied, queue) {
		k.queue = queue
	}
	return k
}

// lets tells whether a vnode is for jobs of the class, as far as its queue and the number
// of its jobs say.
func (n *node) lets(c *class, tried int) bool {
	if n.tie == (tie{}) && c.queue == "" {
		return true
	}
	return n.tie.queue == c.queue && (n.tie.most == 0 || n.jobs < n.tie.most || n.mine == tried)
}

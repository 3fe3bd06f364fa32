package sched

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// tie holds what a vnode's own attributes say about who may use it.
type tie struct {
	queue     pbs.QueueName // only jobs of this queue; empty: those of all that have no vnodes of their own
	partition string        // only jobs of queues of it; empty: of those that are in none
	most      int           // max_running; 0: any number
	ofUser    int           // max_user_run; 0: any number
	ofGroup   int           // max_group_run; 0: any number
	single    bool          // only jobs of one chunk: no_multinode_jobs
}

func tieOf(vn *state.Vnode) tie {
	if len(vn.Attrs) == 0 && len(vn.ReportedAttrs) == 0 {
		return tie{}
	}
	number := func(name string) int {
		n, _ := strconv.Atoi(vn.Get(name))
		return n
	}
	return tie{
		queue: pbs.QueueName(vn.Get("queue")), partition: vn.Get("partition"),
		single: vn.Get("no_multinode_jobs") == "True",
		most:   number("max_running"), ofUser: number("max_user_run"), ofGroup: number("max_group_run"),
	}
}

// counts reports whether the vnode bounds the jobs of each user or group.
func (t tie) counts() bool { return t.ofUser > 0 || t.ofGroup > 0 }

// tied returns the queues that have vnodes of their own, sorted, and whether a vnode bounds
// the jobs of each user or group.
func (w *world) tied() (all []pbs.QueueName, counts bool) {
	if w.ties == 0 {
		return nil, false
	}
	for i := range w.nodes {
		t := &w.nodes[i].tie
		if t.queue != "" && !slices.Contains(all, t.queue) {
			all = append(all, t.queue)
		}
		counts = counts || t.counts()
	}
	slices.Sort(all)
	return all, counts
}

// partitionsOf returns the partitions of queues that are in one.
func partitionsOf(v *state.View) map[pbs.QueueName]string {
	var all map[pbs.QueueName]string
	for q := range v.Queues() {
		if p := q.Get("partition"); p != "" && q.Reservation == "" {
			if all == nil {
				all = map[pbs.QueueName]string{}
			}
			all[q.Name] = p
		}
	}
	return all
}

// hostsOfQueues are the hosts of queues that are for some only (HOSTS of lsb.queues).
type hostsOfQueues struct {
	config *lsf.Config                // that has told who is in groups
	words  map[pbs.QueueName]string   // lsf_hosts
	chosen map[string]*lsf.HostChoice // by words, so that keys of queues with the same ones are equal
}

// follow reads the hosts again where queues or groups have changed, and reports whether it has.
func (h *hostsOfQueues) follow(v *state.View) bool {
	var words map[pbs.QueueName]string
	for q := range v.Queues() {
		if hosts := q.Get(lsf.QueueHosts); hosts != "" && q.Reservation == "" {
			if words == nil {
				words = map[pbs.QueueName]string{}
			}
			words[q.Name] = hosts
		}
	}
	if maps.Equal(words, h.words) && (len(words) == 0 || h.config == v.LSF()) {
		return false
	}
	*h = hostsOfQueues{config: v.LSF(), words: words, chosen: map[string]*lsf.HostChoice{}}
	for _, hosts := range words {
		if h.chosen[hosts] == nil {
			choice := v.LSF().HostChoice(strings.Split(hosts, ","))
			h.chosen[hosts] = &choice
		}
	}
	return true
}

// of returns those of a queue; nil: it has all.
func (h *hostsOfQueues) of(queue pbs.QueueName) *lsf.HostChoice { return h.chosen[h.words[queue]] }

// key returns what makes the requests of two jobs the same: where vnodes belong to queues,
// the queue too, and its partition.
func (p *Planner) key(sel, place string, queue pbs.QueueName) key {
	if p.reserved.names[queue] {
		return key{sel: sel, place: place, queue: queue} // it has vnodes of its own, whatever they are for otherwise
	}
	k := key{sel: sel, place: place, partition: p.partitions[queue], hosts: p.hosts.of(queue), thresholds: p.thresholds[queue], groups: p.grouping.of(queue)}
	if slices.Contains(p.tied, queue) {
		k.queue = queue
	}
	return k
}

// classFor returns the class of a job among those of its owner, where vnodes bound the jobs
// of each user or group, or limits the slots that some have.
func (p *Planner) classFor(j *state.Job, c *class) *class {
	b := p.boundsOf(j)
	if !p.counts && b == c.bounds {
		return c
	}
	k := c.key
	if p.counts {
		s := j.Subjects()
		k.user, k.group = s[1].Name, s[2].Name
	}
	return p.owned(c, k, b)
}

// owned returns the class of those jobs of a class that have a key and bounds of their own.
func (p *Planner) owned(c *class, k key, b *bounds) *class {
	if k.slots = ""; b != nil {
		k.slots = b.id
	}
	if k == c.key {
		return c
	}
	own, ok := p.classes[k]
	if !ok {
		fresh := *c
		own = &fresh
		own.key, own.bounds, own.stuck = k, b, 0
		for i, one := range c.choice {
			bounded := *one
			bounded.bounds = b
			own.choice = append(own.choice[:i:i], &bounded)
		}
		p.classes[k] = own
	}
	own.cycle, own.spans = p.cycle, c.spans
	return own
}

// lets reports whether a vnode is for jobs of the class, as far as its attributes and their queue say.
func (w *world) lets(n *node, c *class) bool {
	switch {
	case !c.key.has(n.vnode.Host), n.mine != w.tried && w.gate.shuts(n.vnode.Host, c.key.thresholds):
		return false
	case n.tie == (tie{}):
		return c.key.queue == "" && c.key.partition == ""
	case n.tie.queue != c.key.queue || n.tie.partition != c.key.partition, n.tie.single && c.several:
		return false
	case n.mine == w.tried:
		return true
	}
	return (n.tie.most == 0 || n.jobs < n.tie.most) &&
		(n.tie.ofUser == 0 || w.jobsOf(n, 'u', c.key.user) < n.tie.ofUser) &&
		(n.tie.ofGroup == 0 || w.jobsOf(n, 'g', c.key.group) < n.tie.ofGroup)
}

// has reports whether the queue of the jobs has the host.
func (k key) has(host pbs.HostName) bool { return k.hosts == nil || k.hosts.Has(string(host)) }

// onNode is somebody on a vnode.
type onNode struct {
	vnode pbs.VnodeName
	kind  byte
	name  string
}

// jobsOf counts the jobs of a user or group on a vnode, those planned in this cycle too.
func (w *world) jobsOf(n *node, kind byte, name string) int {
	sum := w.extra[onNode{n.vnode.Name, kind, name}]
	if !w.idle {
		sum += w.view.JobsOn(n.vnode, kind, name)
	}
	return sum
}

// note counts a job of the class on a vnode.
func (w *world) note(n *node, c *class) {
	if !n.tie.counts() {
		return
	}
	if w.extra == nil {
		w.extra = map[onNode]int{}
	}
	w.extra[onNode{n.vnode.Name, 'u', c.key.user}]++
	w.extra[onNode{n.vnode.Name, 'g', c.key.group}]++
}

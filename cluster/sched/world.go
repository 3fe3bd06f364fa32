package sched

import (
	"math"
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A world is the vnodes of a view and what is free on them, in the order of
// their creation, or of node_sort_key; hosts stand in the order of their first vnode. Placing a class
// takes from it.
type world struct {
	view    *state.View
	at      moment // of what was read last
	idle    bool   // nothing runs, everything is up
	nodes   []node
	hosts   []host
	byHost  map[hostKey]int
	byVnode map[pbs.VnodeName]int
	columns columns
	tried   int    // number of the present attempt
	touched []int  // hosts of which it has taken
	set     *pset  // in which its vnodes must be; nil: any
	lone    int    // the only host that is looked at, counted from 1; 0: all are
	foundIn string // name of the set in which the last one was found; empty: in none

	psets map[string][]*pset // by what makes them

	avoid []pbs.HostName // hosts that may not be taken

	order     nodeOrder      // in which the nodes stand
	ranks     *ranks         // of the hosts, where each start may change their order; else nil
	best      []int          // the hosts in the order of the class that is being placed; nil: it has none
	orderings *orderings     // of classes that have one; nil: they count for nothing here
	extra     map[onNode]int // jobs that were placed on vnodes that bound those of users or groups

	offersNew bool // what idle vnodes offer has changed since it was looked at

	win     *window // in which it is looked at; nil: as it is now
	looked  []int32 // by host: the number of the look at it in a window
	looks   int32
	inside  bool                                          // its vnodes are shares of a reservation
	unnamed func(vn *state.Vnode, def resource.Def) int64 // what they may have of what the reservation does not name

	slots slotUse
	loads *Loads // what hosts say; nil: nothing
	rows  *rows  // what the files of LSF say of hosts

	server leftOfServer

	gate     *gate                      // keeps jobs from hosts by their load; nil: nothing does
	agents   int                        // vnodes whose hosts say what is free of them
	reported map[pbs.VnodeName]reported // what hosts say is free of vnodes

	watch   *freed   // hosts that have changed; nil: nobody asks
	changes int      // that were noted there
	noters  []*notes // of those who keep something of vnodes

	enforcing int // vnodes that offer what moms enforce
	ties      int // vnodes with attributes that say who may use them
}

// A node is a vnode and who uses it.
type node struct {
	*fixed
	usable bool
	alone  bool // a job has it for itself
	jobs   int
	held   int // reservations that have of it, or more users of a window
	mine   int // the attempt that took of it last
}

// fixed holds what no job changes of a node. Copies of a world share it: what changes becomes another one.
type fixed struct {
	vnode *state.Vnode
	offer resource.List
	host  int
	tie   tie

	shareOf *alloc.Reserved // in the world of a reservation: what that has of the vnode
}

// hostKey is a host: vnodes of one mom may call theirs differently.
type hostKey struct {
	mom  pbs.HostName
	word string
}

type host struct {
	key   hostKey
	nodes []int
	shut  bool // a job has the host for itself
	jobs  int
	held  int
	mine  int // the attempt that took of it last
	term  int // for which it did
}

func newWorld(v *state.View, idle bool, sortedBy string, said map[pbs.VnodeName]reported) *world {
	w := &world{
		view: v, at: momentOf(v), idle: idle, reported: said, psets: map[string][]*pset{},
		byHost: map[hostKey]int{}, byVnode: map[pbs.VnodeName]int{},
	}
	w.order = nodeOrderOf(v, sortedBy)
	for _, vn := range w.order.sorted(v, idle) {
		w.add(vn)
	}
	if w.order.moves && !idle {
		w.ranks = newRanks(w)
	}
	return w
}

func (w *world) add(vn *state.Vnode) {
	key := hostKey{vn.Host, vn.HostWord()}
	h, ok := w.byHost[key]
	if !ok {
		h = len(w.hosts)
		w.byHost[key] = h
		w.hosts = append(w.hosts, host{key: key})
	}
	n := node{fixed: &fixed{vnode: vn, offer: vn.Available(), host: h, tie: tieOf(vn)}, usable: true}
	w.counts(n.fixed, 1)
	if !w.idle {
		if goesByAgent(vn) {
			w.agents++
		}
		n.read(vn)
		w.hosts[h].jobs += n.jobs
		w.hosts[h].held += n.held
		w.hosts[h].shut = w.hosts[h].shut || w.takesHost(vn)
	}
	w.byVnode[vn.Name] = len(w.nodes)
	w.hosts[h].nodes = append(w.hosts[h].nodes, len(w.nodes))
	w.nodes = append(w.nodes, n)
}

// counts counts a vnode, or with a negative sign what it was.
func (w *world) counts(f *fixed, sign int) {
	if value, ok := f.offer.Get(enforced); ok && value != "" {
		w.enforcing += sign
	}
	if f.tie != (tie{}) {
		w.ties += sign
	}
}

// read notes who uses the vnode.
func (n *node) read(vn *state.Vnode) {
	n.jobs, n.held = vn.Active(), len(vn.Reserved)
	n.alone = vn.Exclusive() || slices.ContainsFunc(vn.Reserved, func(r alloc.Reserved) bool { return r.Exclusive })
	n.usable = vn.Usable() && !n.alone
}

// takesHost reports whether a job or a reservation has the vnode and its whole host for itself.
func (w *world) takesHost(vn *state.Vnode) bool {
	return w.view.TakesHost(vn) || slices.ContainsFunc(vn.Reserved, func(res alloc.Reserved) bool {
		r, ok := w.view.Reservation(res.Reservation)
		return ok && r.Claim().HostAloneOn(vn)
	})
}

// open reports whether the class may use the node.
func (w *world) open(n *node, c *class) bool {
	if !n.usable || w.hosts[n.host].shut || !w.lets(n, c) || slices.Contains(w.avoid, n.vnode.Host) || w.rows.tooSlow(n.vnode.Host) {
		return false
	}
	if n.mine == w.tried {
		return true // an earlier chunk of this job was allowed to
	}
	return n.vnode.Lets(w.use(n), c.place)
}

// use returns who uses a node and its host.
func (w *world) use(n *node) alloc.Use {
	h := &w.hosts[n.host]
	return alloc.Use{Here: n.jobs + n.held, OnHost: h.jobs + h.held, Alone: n.alone, HostAlone: h.shut}
}

// column returns what the nodes have of one resource; it is made when the first
// class asks for the resource.
func (w *world) column(def resource.Def) *column {
	if c := w.columns.of(def.Name); c != nil {
		return c
	}
	c := &column{def: def, free: make([]int64, len(w.nodes)), total: make([]int64, len(w.nodes))}
	for i := range w.nodes {
		n := &w.nodes[i]
		c.total[i] = offered(def, n.offer)
		c.allTotal = plus(c.allTotal, c.total[i])
		c.free[i] = w.left(c, i)
	}
	w.pool(c)
	c.grow(len(w.hosts))
	for h := range w.hosts {
		c.set(h, w.freeOn(h, c))
	}
	w.columns = append(w.columns, c)
	return c
}

// left returns what a vnode has of a resource beside what runs there.
func (w *world) left(c *column, i int) int64 {
	if w.idle {
		return c.total[i]
	}
	vn := w.nodes[i].vnode
	if of := w.nodes[i].shareOf; of != nil && !of.Names(c.def.Name) && !c.def.Raises() {
		return min(c.total[i], w.unnamed(vn, c.def))
	}
	total := c.total[i]
	if said, ok := w.reported[vn.Name]; ok {
		total = min(total, said.of(c.def.Name))
	}
	return max(0, total-taken(c.def, vn)-charged(c.def, vn.Lent))
}

// freeOn returns what a host's usable vnodes have of a resource together.
func (w *world) freeOn(h int, c *column) int64 {
	if w.hosts[h].shut {
		return 0
	}
	var sum int64
	var seen []int
	for _, i := range w.hosts[h].nodes {
		if !w.nodes[i].usable || c.met(i, &seen) {
			continue
		}
		sum = plus(sum, max(0, c.left(i))) // where others begin before they are over a vnode may have less than nothing
	}
	return sum
}

func offered(def resource.Def, list resource.List) int64 {
	if def.Raises() {
		return endless
	}
	text, ok := list.Get(def.Name)
	if !ok {
		return 0
	}
	q, err := def.Parse(text)
	if err != nil {
		return 0
	}
	return measure(def, q, down)
}

// endless is what each vnode offers of an index that jobs raise: more than they can have, and little enough to be summed over all vnodes.
const endless = math.MaxInt64 >> 16

// taken returns what is charged of a vnode for a resource, as alloc.Account.Charged sums it up.
func taken(def resource.Def, vn *state.Vnode) int64 {
	sum := int64(0)
	for amount := range vn.ChargedOf(def.Name) {
		sum = plus(sum, needed(def, amount))
	}
	return sum
}

func charged(def resource.Def, list resource.List) int64 {
	text, ok := list.Get(def.Name)
	if !ok {
		return 0
	}
	return needed(def, text)
}

func needed(def resource.Def, amount string) int64 {
	q, err := def.Parse(amount)
	if err != nil {
		return 0
	}
	return measure(def, q, up)
}

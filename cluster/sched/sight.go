package sched

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/alloc"
	"rampart/fsm/pbs"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A sight holds what hosts are judged by: the vnodes with what they have, and what is held of each when.
type sight struct {
	world *world
	held  func(i int) *calendar.Vnode
	end   pbs.Time // of all of it; 0: it does not end
}

// outside is the sight of a job of no reservation.
func (c *cycle) outside() *sight {
	return &sight{world: c.free, held: func(i int) *calendar.Vnode { return &c.future.of(c.free.nodes[i].vnode, true).Vnode }}
}

// sightOf is the sight of a job of a reservation: its vnodes, and the jobs that it has there; what it does not name others have, too.
func (c *cycle) sightOf(in *inside) *sight {
	known := map[int]*calendar.Vnode{}
	return &sight{world: in.idle, end: in.of.End, held: func(i int) *calendar.Vnode {
		if s, ok := known[i]; ok {
			return s
		}
		vn, s := in.idle.nodes[i].vnode, &calendar.Vnode{}
		own := map[string]bool{}
		for _, held := range vn.Jobs {
			if held.Reservation == in.of.ID {
				own[string(held.Job)] = true
				h, _ := c.future.runOf(vn, held)
				h.Items = c.future.amounts(vn, vn, held.Items)
				s.Add(&h)
			}
		}
		real, _ := c.view.Vnode(vn.Name)
		for _, h := range c.future.of(real, true).Holds() {
			rest := *h
			rest.Alone, rest.Host = false, false
			rest.Items = slices.DeleteFunc(slices.Clone(h.Items), func(it calendar.Amount) bool { return in.idle.nodes[i].shareOf.Names(it.Resource) })
			if !own[h.By] && len(rest.Items) > 0 {
				s.Add(&rest)
			}
		}
		known[i] = s
		return s
	}}
}

// A spot is a host, and those of its vnodes that may serve a chunk.
type spot struct {
	*sight
	class *class
	host  int
	nodes []int
}

// look finds the hosts that come nearest to having room.
func (c *cycle) look(e *Explanation, j *state.Job, cl *class, s *sight) {
	if cl.bad != "" || len(cl.chunks) == 0 {
		return
	}
	unit := c.lacked(cl, s)
	e.Chunk, e.Chunks = unit.words(), 1
	if unit != cl {
		e.Chunks = cl.total()
	}
	rows := c.planner.rows
	now, long := &window{from: c.now, span: spanFrom(c.now, rows.expected(j), rows.walltime(j)), whole: true}, lengths{rows.expected(j), rows.walltime(j)}
	for h := range s.world.hosts {
		at := s.spot(unit, h)
		switch {
		case !at.everFits():
			e.Ineligible++
		case at.fits(now) && at.allowed() == nil:
			if len(e.Room) < mostNear {
				e.Room = append(e.Room, at.names()...)
			}
		default:
			e.Near = append(e.Near, at.near(now, c, long))
		}
	}
	slices.SortStableFunc(e.Near, func(a, b Near) int { return cmp.Compare(uint64(a.At-1), uint64(b.At-1)) }) // 0 comes last
	if len(e.Near) > mostNear {
		e.More = len(e.Near) - mostNear
		e.Near = e.Near[:mostNear]
	}
	if e.Start == 0 && s.end != 0 && e.Chunks == 1 && len(e.Near) > 0 && e.Near[0].At < s.end {
		e.Start = e.Near[0].At
	}
}

// lacked returns the chunk of a class that does not fit by itself, or its first one; all of it if it has to be on one host.
func (c *cycle) lacked(cl *class, s *sight) *class {
	if cl.place.Arrangement == spec.Pack || cl.total() == 1 {
		return cl
	}
	first := cl.alone(cl.chunks[0])
	for _, ch := range cl.chunks {
		one := cl.alone(ch)
		open := func(h int) bool {
			return s.spot(one, h).fits(&window{from: c.now, span: spanFrom(c.now, 1, 1), whole: true})
		}
		if !slices.ContainsFunc(s.hosts(), open) {
			return one
		}
	}
	return first
}

func (s *sight) hosts() []int {
	all := make([]int, len(s.world.hosts))
	for h := range all {
		all[h] = h
	}
	return all
}

// words returns what a class asks of one host.
func (cl *class) words() string {
	var all []string
	for _, n := range cl.sums {
		all = append(all, n.def.Name+"="+text(n.def, n.amount))
	}
	for _, ch := range cl.chunks {
		for _, p := range ch.props {
			all = append(all, p.def.Name+"="+p.want.String())
		}
		if ch.host != "" {
			all = append(all, "host="+ch.host)
		}
		if ch.vnode != "" {
			all = append(all, "vnode="+string(ch.vnode))
		}
	}
	return strings.Join(slices.Compact(all), ":")
}

// spot returns the vnodes of a host that are for a class.
func (s *sight) spot(cl *class, h int) *spot {
	at := &spot{sight: s, class: cl, host: h}
	w := s.world
	for _, i := range w.hosts[h].nodes {
		n := &w.nodes[i]
		if n.tie.queue != cl.key.queue || n.tie.partition != cl.key.partition || !cl.key.has(n.vnode.Host) || n.tie.single && cl.several {
			continue
		}
		if slices.ContainsFunc(cl.chunks, func(ch chunk) bool { return w.isMeantBy(i, ch) }) {
			at.nodes = append(at.nodes, i)
		}
	}
	return at
}

// isMeantBy reports whether a vnode has the properties that a chunk asks for.
func (w *world) isMeantBy(i int, ch chunk) bool {
	if h, ok := w.namedBy(ch); !ok || h >= 0 && h != w.nodes[i].host || ch.vnode != "" && ch.vnode != w.nodes[i].vnode.Name {
		return false
	}
	return w.hasProps(i, ch)
}

// everFits reports whether there is enough if nobody has any of it.
func (at *spot) everFits() bool {
	if len(at.nodes) == 0 {
		return false
	}
	return !slices.ContainsFunc(at.class.sums, func(n need) bool { return at.total(n) < n.amount })
}

func (at *spot) total(n need) int64 {
	return at.sum(n, func(i int) int64 { return at.world.column(n.def).total[i] })
}

// sum adds up over the vnodes what each has, and once what some of them share.
func (at *spot) sum(n need, has func(i int) int64) (sum int64) {
	col := at.world.column(n.def)
	var seen []int
	for _, i := range at.nodes {
		if own := col.at(i); own >= 0 && !col.met(i, &seen) {
			sum = plus(sum, has(own))
		}
	}
	return sum
}

// left returns how much of a need the host has at every instant of a time, on vnodes that take jobs of the class then or, if it
// is for all, on all that can be used.
func (at *spot) left(n need, win *window, all bool) int64 {
	open := spot{sight: at.sight, class: at.class, host: at.host}
	for _, i := range at.nodes {
		if all && sound(at.world.nodes[i].vnode) || at.open(i, win) {
			open.nodes = append(open.nodes, i)
		}
	}
	col := at.world.column(n.def)
	return open.sum(n, func(i int) int64 { return max(0, col.total[i]-win.missing(at.held(i), n.def.Name)) })
}

// open reports whether a vnode takes jobs of the class in a time.
func (at *spot) open(i int, win *window) bool {
	vn := at.world.nodes[i].vnode
	users, alone, _ := win.use(at.held(i))
	if !sound(vn) || !vn.Lets(alloc.Use{Here: users, Alone: alone}, at.class.place) {
		return false
	}
	hostAlone := vn.HostAloneFor(at.class.place)
	return !slices.ContainsFunc(at.world.hosts[at.host].nodes, func(o int) bool {
		users, _, host := win.use(at.held(o))
		return !alloc.Use{OnHost: users, HostAlone: host}.Lets(false, hostAlone)
	})
}

// fits reports whether there is room for a time.
func (at *spot) fits(win *window) bool {
	return slices.ContainsFunc(at.nodes, func(i int) bool { return at.open(i, win) }) &&
		!slices.ContainsFunc(at.class.sums, func(n need) bool { return at.left(n, win, false) < n.amount })
}

// allowed returns what limits on slots and other amounts leave of what the job wants of the host, if that is too little.
func (at *spot) allowed() *Lack {
	at.world.slots.took = at.world.slots.took[:0]
	left, by := at.world.allowed(at.host, at.class.bounds)
	if want := at.class.slots(); by != nil && left < want {
		return &Lack{"slots", strconv.FormatInt(want, 10), strconv.FormatInt(max(0, left), 10), strconv.FormatInt(at.world.slots.of.most(by.slotRule, at.host), 10)}
	}
	if over := at.world.overAmount(at.host, at.class.bounds, at.class.sums); over != nil {
		i := slices.IndexFunc(at.class.sums, func(n need) bool { return n.def.Name == over.def.Name })
		left, most := at.world.room(over, at.host), at.world.slots.of.most(over.slotRule, at.host)
		return &Lack{over.def.Name, text(over.def, at.class.sums[i].amount), text(over.def, max(0, left)), text(over.def, most)}
	}
	return nil
}

func (at *spot) names() (names []string) {
	for _, i := range at.nodes {
		names = append(names, string(at.world.nodes[i].vnode.Name))
	}
	return names
}

// near says what a host lacks, until when, and for whom.
func (at *spot) near(now *window, c *cycle, long lengths) Near {
	n := Near{Vnodes: at.names()}
	lacking := map[string]bool{}
	for _, want := range at.class.sums {
		if left := at.left(want, now, true); left < want.amount {
			lacking[want.def.Name] = true
			n.Lacks = append(n.Lacks, Lack{want.def.Name, text(want.def, want.amount), text(want.def, left), text(want.def, at.total(want))})
		}
	}
	if short := at.allowed(); short != nil {
		n.Lacks = append(n.Lacks, *short)
	}
	closed := !slices.ContainsFunc(at.nodes, func(i int) bool { return idleEnough(at.world.nodes[i].vnode) })
	if closed {
		n.Closed, n.Lacks = at.world.nodes[at.nodes[0]].vnode.State(), nil
	}
	var ends []pbs.Time
	for _, i := range at.world.hosts[at.host].nodes {
		vn := at.world.nodes[i].vnode
		alone := vn.AloneFor(at.class.place) || vn.HostAloneFor(at.class.place)
		for _, h := range at.held(i).Holds() {
			if end := c.endOf(h); end > c.now {
				ends = append(ends, end)
			}
			takes := slices.ContainsFunc(h.Items, func(it calendar.Amount) bool { return it.Amount > 0 && lacking[it.Resource] })
			until := now.last
			if h.Kind == calendar.Top {
				until = now.expected
			}
			if h.From < until && h.Until > c.now && (takes || h.Alone || h.Host || alone && h.Kind.Uses()) {
				n.Holds = append(n.Holds, c.inTheWay(vn, h))
			}
		}
	}
	slices.SortStableFunc(n.Holds, func(a, b InTheWay) int { return cmp.Compare(uint64(a.Until-1), uint64(b.Until-1)) })
	if len(n.Holds) > mostHolds {
		n.Others = len(n.Holds) - mostHolds
		n.Holds = n.Holds[:mostHolds]
	}
	if closed {
		return n
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for _, end := range ends[:min(len(ends), mostEnds)] {
		if at.fits(&window{from: end, span: spanFrom(end, long.expected, long.most), whole: true, likely: true}) {
			n.At = end
			break
		}
	}
	return n
}

// endOf returns when a hold is expected to end; 0: nobody knows.
func (c *cycle) endOf(h *calendar.Hold) pbs.Time {
	if end := h.End(); end < c.now+unending/2 || h.Kind.Reserves() && end < calendar.Forever {
		return end
	}
	return 0
}

// inTheWay tells of a hold.
func (c *cycle) inTheWay(vn *state.Vnode, h *calendar.Hold) InTheWay {
	way := InTheWay{Kind: h.Kind.String(), kind: h.Kind, By: h.By, Vnode: string(vn.Name), From: h.From, Until: c.endOf(h)}
	if j, ok := c.view.Job(pbs.JobID(h.By)); ok && (h.Kind.Runs() || !h.Kind.Uses()) {
		way.From = j.Started
	}
	var all []string
	for _, it := range h.Items {
		if def, ok := c.view.Resource(it.Resource); ok && it.Amount > 0 {
			all = append(all, it.Resource+"="+text(def, it.Amount))
		}
	}
	way.What = strings.Join(all, ":")
	return way
}

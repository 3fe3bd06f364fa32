package sched

import (
	"maps"
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A Planner plans one cycle after the other. It keeps what it has read of vnodes
// and requests, and reads again only what has changed; what it plans does not
// depend on what it keeps. One goroutine uses it.
type Planner struct {
	limits
	custom []resource.Def  // of the view that it has seen last
	tied   []pbs.QueueName // queues with vnodes of their own, in that view
	// partitions of queues, and whether vnodes bound the jobs of each user, in that view.
	partitions map[pbs.QueueName]string
	hosts      hostsOfQueues // in that view
	counts     bool
	reserved   queuesOfReservations // in that view
	considered considered           // in that view
	grouping   grouping             // in that view

	loads      *Loads                   // what hosts say; nil: nothing
	thresholds map[pbs.QueueName]string // of queues, in that view
	gate       *gate                    // of the cycle; nil: no host is kept from jobs
	unjudged   notes                    // of the gate
	wishes     bool                     // it plans what an operator wishes, whatever thresholds say
	rows       *rows                    // what the files of LSF say of hosts, in that view
	goesByLoad bool                     // jobs waited in the cycle, and load was looked at

	dynamic       map[string]string  // what there is of the resources of server_dyn_res, in the next cycle
	barred        map[pbs.JobID]bool // jobs that must not start in the next cycle, whatever is free
	nonPreempting map[pbs.JobID]bool // jobs that preempt nobody, since hooks have refused to start them
	ahead         pbs.Time           // how much later it is than the view says
	detailed      bool               // somebody reads all messages
	sparing       bool               // jobs that wait hear in the next cycle only what changes their accrue_type
	late          func() bool        // whether the time of the next cycle is over; nil: it takes what it takes
	classes       map[key]*class
	// requests are classes by what the state has for them.
	requests map[*state.Class]*class
	age      uint64 // how often all classes were forgotten
	cycle    uint64
	all      *world // free and full, as in the view
	scratch  *world // of the cycle: jobs are placed here
	idle     *world // nil before it was needed
	bare     *world // idle, of a cycle: on which reservations are placed
	ends     ends   // of runs
	walk     walk   // of the cycle, to ends of runs
	order    order  // of the cycle
	hours    *hours // of the cycle
	// sortedBy is by what vnodes are sorted in the cycle.
	sortedBy string
	idleAge  uint64              // changes of idle that may change what fits there
	slots    *slotLimits         // in the last view
	kept     kept                // of the calendars
	hasty    map[*state.Job]bool // jobs of the cycle that come before the others of their classes
	madeFor  map[*state.Job]int  // how many runs were just suspended for jobs that come before all others
	lineup   lineup
	waits    []line // of the cycle
	reasons  map[*class]*reason
	said     int            // lines for the log in the last cycle
	before   state.Presents // vnodes of which runs held less in the last cycle than they were given
	given    freed          // what was freed since the last cycle planned, and what that one has changed
	taken    freed          // what the cycle itself has changed
	index    uint64         // of the view of which the lengths of jobs are known
	digest   uint64
}

// NewPlanner returns a planner that knows nothing yet.
func NewPlanner() *Planner {
	p := &Planner{limits: usual, reasons: map[*class]*reason{}}
	p.renew()
	return p
}

// renew forgets the requests that it has read.
func (p *Planner) renew() {
	p.classes, p.requests = map[key]*class{}, map[*state.Class]*class{}
	p.age++
}

// Plan plans one cycle: jobs by priority, then in the order of their submission;
// vnodes in the order of their creation. When a job does not fit, no job with the
// same request is tried.
func (p *Planner) Plan(v *state.View, now pbs.Time) Plan {
	v = v.At(now+p.ahead, p.before)
	p.before = v.Presents()
	waits := p.prepare(v, now)
	n := len(waits)
	byLoad := p.loads != nil && (p.gate != nil || p.all.agents > 0 || slices.ContainsFunc(waits, func(l line) bool { return l.class.looksAtHosts() }))
	c := p.begin(v, now)
	c.run(newLanes(waits, p.lineup.sorted, &p.order))
	c.stopForLoad()
	c.settle()
	c.demote()
	if n > 0 {
		c.plan.Fade = c.nextFade()
	}
	if p.goesByLoad = n > 0 && byLoad || p.goesByStops(v); p.goesByLoad {
		c.plan.pause(p.gate.opens())
	}
	p.waits, p.said = waits[:0], len(c.plan.Lines)
	p.forget(n)
	return c.plan
}

// prepare brings what the planner keeps up to the view.
func (p *Planner) prepare(v *state.View, now pbs.Time) []line {
	p.cycle++
	p.hours = newHours(v, now)
	set := p.hours.settings(v)
	p.sortedBy = vnodesBy(set)
	p.order = newOrder(v, now, set)
	if custom := slices.Collect(v.CustomResources()); !slices.Equal(custom, p.custom) {
		p.custom, p.all, p.idle = custom, nil, nil
		p.renew()
		p.kept.forget()
	}
	p.turn()
	if p.all == nil || !p.all.follow(v, p.sortedBy) {
		p.renewWorld(v, nil)
	}
	if said := p.reportedOf(p.all); !maps.Equal(said, p.all.reported) {
		p.renewWorld(v, said)
	}
	p.followSlots(v)
	p.followRows(v)
	p.all.rows, p.hours.rows = p.rows, p.rows
	p.followLoad(v, now+p.ahead)
	if now := newConsidered(set, p.all); !now.same(p.considered) {
		p.considered = now
		p.renew()
	}
	if now := newGrouping(v); !now.same(p.grouping) {
		p.grouping = now
		p.renew()
	}
	if p.grouping.used() {
		p.empty(v)
	}
	p.reserved.follow(v)
	tied, counts := p.all.tied()
	if now := partitionsOf(v); !slices.Equal(tied, p.tied) || !maps.Equal(now, p.partitions) || counts != p.counts {
		p.tied, p.partitions, p.counts = tied, now, counts
		p.renew()
	}
	if p.hosts.follow(v) {
		p.renew()
	}
	p.given.lost = p.given.lost || counts
	for range v.Sharers() {
		p.given.lost = true // more hosts than these have changed
		break
	}
	p.followTimes(v)
	return p.lineUp(v)
}

// renewWorld reads all vnodes again.
func (p *Planner) renewWorld(v *state.View, said map[pbs.VnodeName]reported) {
	p.all, p.given.lost = newWorld(v, false, p.sortedBy, said), true
	p.all.watch, p.all.loads = &p.given, p.loads
	p.all.noters = []*notes{&p.kept.timeline.noted, &p.unjudged, &p.ends.noted}
	for _, n := range p.all.noters {
		n.lost = true
	}
}

// line returns the jobs of a class that wait, j first or, where jobs have scores, the best.
func (p *Planner) line(v *state.View, of *state.Class, j *state.Job) line {
	l := line{of: of, class: p.known(v, of), inside: p.reserved.names[of.Queue]}
	l.begin(j)
	if !p.order.scores() {
		l.rank = p.order.rank(j)
		return l
	}
	all := p.order.jobsOf(of, j)
	l.begin(all[0].job)
	l.rank, l.rest = all[0].rank, all[1:]
	return l
}

// class returns the request of a class, parsed when it is new.
func (p *Planner) class(v *state.View, of *state.Class) *class {
	k := p.key(of.Select, of.Place, of.Queue)
	if k.more = of.More; of.Queue == "" { // of a reservation
		k.partition = of.Partition
	}
	c, ok := p.classes[k]
	if !ok {
		asks := moreOf(v, of.More)
		if k.hosts != nil { // what a job prefers counts instead of what its queue does
			asks.prefer(*k.hosts, p.hosts.words[of.Queue])
		}
		c = newClass(k, v, p.considered, !p.grouping.explicit, asks)
		c.rising = asks.rising
		for i, a := range asks.alternatives {
			if i > 0 {
				one := k
				one.sel = completed(v, of.Queue, a.Select)
				c.choice = append(c.choice, newClass(one, v, p.considered, !p.grouping.explicit, asks))
			}
		}
		p.classes[k] = c
	}
	return p.asked(c)
}

// known is class for a class that the state keeps.
func (p *Planner) known(v *state.View, of *state.Class) *class {
	if c, ok := p.requests[of]; ok && !p.reserved.names[of.Queue] {
		return p.asked(c)
	}
	c := p.class(v, of)
	if p.slots.any() && !p.reserved.names[of.Queue] {
		c = p.owned(c, c.key, p.slots.boundsOf(slotOwner(of.Whose[0], of.Whose[1], of.Whose[2], of.Queue)))
	}
	p.requests[of] = c
	return c
}

// asked makes sure that the columns are there that a class asks for.
func (p *Planner) asked(c *class) *class {
	if c.cycle != p.cycle {
		c.cycle = p.cycle
		for _, one := range append([]*class{c}, c.choice...) {
			for _, n := range one.sums {
				p.all.column(n.def)
			}
		}
		if c.inSets() {
			p.all.measured()
			p.widen(c)
		}
	}
	return c
}

func (p *Planner) begin(v *state.View, now pbs.Time) *cycle {
	p.scratch = p.all.copyTo(p.scratch)
	p.scratch.watch, p.scratch.orderings = &p.taken, &orderings{of: p.all, list: map[string][]int{}}
	clear(p.reasons)
	f := newFuture(&p.kept, v, now, p.rows)
	if v.ReservationCount() > 0 {
		p.ready(v)
	}
	return &cycle{
		future: f, reserving: p.reserving(v, now),
		hours: p.hours, limits: p.limits, view: v, now: now, planner: p, free: p.scratch,
		queues: map[pbs.QueueName]bool{}, reasons: p.reasons, limiter: newLimiter(), rooms: map[uint64]*int{},
		order: &p.order, softs: map[pbs.QueueName]bool{}, fills: map[pbs.QueueName]bool{}, topsOf: map[pbs.QueueName]int{}, foreseen: map[pbs.JobID]bool{}, blocked: map[pbs.QueueName]*state.Job{}, begun: map[uint64]uint32{}, hopeless: map[*class]bool{}, outrun: map[pbs.JobID]bool{},
	}
}

// forget lets go of the view, which would keep its records in memory, and of
// classes that no job has any more, when they are many.
func (p *Planner) forget(lines int) {
	for _, w := range []*world{p.all, p.scratch, p.idle, p.bare, p.walk.now, p.kept.scratch} {
		if w != nil {
			w.view, w.server = nil, leftOfServer{}
		}
	}
	p.order.view, p.order.shares, p.order.tree, p.hasty, p.madeFor = nil, nil, nil, nil, nil
	p.kept.letGo()
	p.walk.of = nil
	if len(p.requests) > 2*lines+100 {
		clear(p.requests)
	}
	if len(p.classes) < 2*lines+100 {
		return
	}
	clear(p.requests)
	for i := range p.lineup.lines {
		p.lineup.lines[i].class.cycle = p.cycle
	}
	for k, c := range p.classes {
		if c.cycle != p.cycle {
			delete(p.classes, k)
		}
	}
}

// ready makes the worlds in which reservations are decided, which takes longer than to follow them.
func (p *Planner) ready(v *state.View) {
	if p.bare == nil {
		p.laid(p.empty(v))
	}
}

// laid returns the world on which reservations are placed, as the idle one is.
func (p *Planner) laid(idle *world) *world {
	for _, c := range p.all.columns { // of what jobs ask for reservations will, too
		idle.column(c.def)
	}
	p.bare = idle.copyTo(p.bare)
	return p.bare
}

// empty returns the world of the view as if nothing ran.
func (p *Planner) empty(v *state.View) *world {
	if p.idle == nil || !p.idle.follow(v, p.sortedBy) {
		p.idle = newWorld(v, true, p.sortedBy, nil)
		p.idle.loads = p.loads
		p.idleAge++
	}
	p.idle.rows = p.rows
	if p.idle.offersNew {
		p.idle.offersNew = false
		p.idleAge++
	}
	return p.idle
}

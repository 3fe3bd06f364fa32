package sched

import (
	"maps"
	"math"
	"slices"
	"time"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// Loads is what hosts say of their load (specification: reservation section 1.5). It counts now and is in no state, so plans depend on it.
type Loads struct {
	// Of returns what holds of a host, by load index; false: nothing is known of it.
	Of func(host pbs.HostName) (map[string]resreq.Amount, bool)
	// Since returns the hosts of which something else holds than when so many things had changed, and how many have by now; false: it may be
	// any of them. Nil: nobody knows that.
	Since func(changes uint64) (hosts []pbs.HostName, now uint64, ok bool)
	// Fresh reports whether hosts of which nothing is known may still say something.
	Fresh func() bool
	// Look has hosts tell often, for a while.
	Look func()
}

// loadEvery is how often jobs are looked at that wait while load decides.
const loadEvery = 5 * time.Second

// A gate keeps jobs from hosts by what these say of their load, and for a while after they were given a job (JOB_ACCEPT_INTERVAL).
type gate struct {
	site   resreq.Site
	queues map[string][]lsf.Threshold // by the value of lsf_thresholds
	stops  bool                       // some threshold or condition suspends jobs

	conditions map[pbs.QueueName]conditions // of the queues that have some
	stopWhen   []resreq.Select              // those of them that suspend jobs

	settling settling
	paging   resreq.Amount // idle time (it) in minutes from which on paging hurts nobody: PG_SUSP_IT

	now     pbs.Time
	recent  map[pbs.HostName]pbs.Time          // when hosts were given their last job, in this cycle and before
	reports map[pbs.HostName]report            // of the cycle
	shut    map[string]map[pbs.HostName]string // why hosts take no jobs: "" of any queue, else of queues with these thresholds
	busy    map[pbs.HostName]bool              // beyond thresholds of their own, or crowded

	basis
	byMom map[pbs.HostName][]int // hosts of the world
	again map[pbs.HostName]bool  // judged in the last cycle by what that one has changed
}

type report struct {
	values map[string]resreq.Amount
	known  bool
}

// thresholdsOf returns the thresholds of the queues that have some.
func thresholdsOf(v *state.View) map[pbs.QueueName]string {
	var all map[pbs.QueueName]string
	for q := range v.Queues() {
		if text := q.Get(lsf.QueueThresholds); text != "" && q.Reservation == "" {
			if all == nil {
				all = map[pbs.QueueName]string{}
			}
			all[q.Name] = text
		}
	}
	return all
}

// followLoad finds out anew which hosts take jobs. Where that has changed, whoever fitted nowhere may fit now.
func (p *Planner) followLoad(v *state.View, now pbs.Time) {
	thresholds, config := thresholdsOf(v), &v.Reconfigured().Config
	stopped := conditionsOf(v)
	if !maps.Equal(thresholds, p.thresholds) {
		p.thresholds = thresholds
		p.renew()
	}
	interval := pbs.Time(config.AcceptInterval*config.Turn()) * pbs.Time(time.Second)
	balances := p.hours.settings(v).get("load_balancing") == "True"
	if p.loads == nil || p.wishes || !balances && len(thresholds)+len(stopped) == 0 && interval == 0 && !slices.ContainsFunc(config.Hosts, func(h lsf.Host) bool { return len(h.Thresholds) > 0 }) {
		p.given.lost = p.given.lost || p.gate != nil
		p.gate, p.all.gate = nil, nil
		return
	}
	on := basis{thresholds: thresholds, stopped: stopped, balances: balances, interval: interval, rows: p.rows, loads: p.loads}
	if changed, followed := p.gate.follow(p, on, now); followed {
		p.given.lost = p.given.lost || changed
		return
	}
	g := p.newGate(v, on, now)
	p.given.lost = p.given.lost || p.gate == nil || !sameShut(p.gate.shut, g.shut)
	p.gate, p.all.gate = g, g
}

// newGate judges all hosts.
func (p *Planner) newGate(v *state.View, on basis, now pbs.Time) *gate {
	config := &v.Reconfigured().Config
	g := &gate{
		basis: on, site: config.Site(slices.Collect(v.CustomResources())), queues: map[string][]lsf.Threshold{}, byMom: map[pbs.HostName][]int{}, again: map[pbs.HostName]bool{},
		now: now, recent: map[pbs.HostName]pbs.Time{}, reports: map[pbs.HostName]report{}, shut: map[string]map[pbs.HostName]string{"": {}}, busy: map[pbs.HostName]bool{},
	}
	for _, text := range on.thresholds {
		g.queues[text], _ = lsf.ParseThresholds(text, g.site) // of a resource that is there no more: it keeps nobody away
		g.shut[text] = map[pbs.HostName]string{}
		g.stops = g.stops || anyStops(g.queues[text])
	}
	g.stopBy(on.stopped)
	if g.stops = g.stops || slices.ContainsFunc(config.Hosts, func(h lsf.Host) bool { return anyStops(h.Thresholds) }); g.stops {
		g.settling = newSettling(config.Turn(), now, p.gate)
		g.paging = resreq.Amount(min(config.PagingCounts(), math.MaxInt32)) * resreq.One / 60
	}
	if g.interval > 0 {
		g.remember(v, p.gate)
	}
	p.unjudged.forget()
	g.begins(v)
	for h := range p.all.hosts {
		mom := p.all.hosts[h].key.mom
		g.byMom[mom] = append(g.byMom[mom], h)
		g.judge(p.all, h)
	}
	return g
}

func sameShut(a, b map[string]map[pbs.HostName]string) bool {
	return maps.EqualFunc(a, b, func(x, y map[pbs.HostName]string) bool { return maps.Equal(x, y) })
}

// thresholds returns those of a host, or of all hosts without a row.
func (g *gate) thresholds(host string) []lsf.Threshold {
	if row := g.rows.byName[host]; row.Listed {
		return row.Thresholds
	}
	return g.rows.byName[lsf.DefaultHost].Thresholds
}

// remember notes which hosts were given a job lately. Jobs that have ended since are known from the cycles in which they ran.
func (g *gate) remember(v *state.View, before *gate) {
	note := func(host pbs.HostName, at pbs.Time) {
		if at+g.interval > g.now {
			g.recent[host] = max(g.recent[host], at)
		}
	}
	if before != nil {
		for host, at := range before.recent {
			note(host, at)
		}
	}
	for vn := range v.Vnodes() {
		for _, held := range vn.Jobs {
			if j, ok := v.Job(held.Job); ok {
				note(vn.Host, min(j.Started, g.now))
			}
		}
	}
}

// opens returns when the first host may be given a job again, 0 if none waits for that.
func (g *gate) opens() (at pbs.Time) {
	if g == nil {
		return 0
	}
	for _, given := range g.recent {
		if due := given + g.interval; due > g.now && (at == 0 || due < at) {
			at = due
		}
	}
	return at
}

// judge finds out whether a host takes jobs.
func (g *gate) judge(w *world, h int) {
	host := w.hosts[h].key.mom
	set := func(by, why string) {
		delete(g.shut[by], host)
		if why != "" {
			g.shut[by][host] = why
		}
	}
	own := g.beyond(w, h, g.thresholds(string(host)))
	if by, ok := w.view.Host(host); own == "" && g.balances && !(ok && by.JudgesLoad) {
		own = g.crowded(w, h)
	}
	if delete(g.busy, host); own != "" {
		g.busy[host] = true
	}
	if given, ok := g.recent[host]; ok && g.interval > 0 && given+g.interval > g.now {
		own = lsf.ReasonRecent
	}
	set("", own)
	for text, of := range g.queues {
		set(text, g.beyond(w, h, of))
	}
}

// crowded returns why a host takes no jobs for its load average of a minute, as in a PBS whose moms say nothing of $max_load.
func (g *gate) crowded(w *world, h int) string {
	const index = "r1m"
	r := g.reportOf(w.hosts[h].key.mom)
	var cpus int64
	if def, ok := w.view.Resource("ncpus"); ok {
		c := w.column(def)
		for _, i := range w.hosts[h].nodes {
			cpus += c.total[i]
		}
	}
	if g.silent(w.hosts[h].key.mom) || r.values[index] > resreq.Amount(cpus)*resreq.One {
		return lsf.ReasonLoad(index)
	}
	return ""
}

// beyond returns why a host takes no jobs by thresholds; empty: it does.
func (g *gate) beyond(w *world, h int, all []lsf.Threshold) string {
	for _, t := range all {
		if t.Keeps(hostValues{w, h}, g.site, g.silent(w.hosts[h].key.mom)) {
			return lsf.ReasonLoad(t.Index)
		}
	}
	return ""
}

func (g *gate) reportOf(host pbs.HostName) report {
	r, ok := g.reports[host]
	if !ok {
		r.values, r.known = g.loads.Of(host)
		g.reports[host] = r
	}
	return r
}

// silent reports whether nothing is known of a host yet that may still say something.
func (g *gate) silent(host pbs.HostName) bool { return !g.reportOf(host).known && g.loads.Fresh() }

// shuts reports whether a host takes no jobs of a class.
func (g *gate) shuts(host pbs.HostName, thresholds string) bool {
	return g != nil && g.why(host, thresholds) != ""
}

// why returns why a host takes no jobs of a class; empty: it does.
func (g *gate) why(host pbs.HostName, thresholds string) string {
	if why := g.shut[""][host]; why != "" || thresholds == "" {
		return why
	}
	return g.shut[thresholds][host]
}

// gave notes that hosts are given a job in this cycle.
func (c *cycle) gave(placed string) {
	g := c.planner.gate
	if g == nil {
		return
	}
	chunks, err := spec.ParseExecVnode(placed)
	if err != nil {
		return
	}
	for _, name := range chunks.Vnodes() {
		i, ok := c.free.byVnode[name]
		if !ok {
			continue
		}
		h := c.free.nodes[i].host
		if g.interval > 0 {
			g.recent[c.free.hosts[h].key.mom] = g.now
		}
		g.judge(c.free, h)
		g.again[c.free.hosts[h].key.mom] = true
	}
}

// atGate returns why load keeps a class from hosts that have what it asks for, if there are such hosts.
func (c *cycle) atGate(cl *class) (state.Wait, bool) {
	g := c.planner.gate
	if g == nil || cl.bad != "" || len(cl.chunks) == 0 {
		return state.Wait{}, false
	}
	reason, hosts := "", []string(nil)
	for h := range c.free.hosts {
		host := c.free.hosts[h].key.mom
		why := g.why(host, cl.key.thresholds)
		if why == "" || reason != "" && why != reason || !c.free.wouldServe(h, cl) {
			continue
		}
		reason, hosts = why, append(hosts, string(host))
	}
	if reason == "" {
		return state.Wait{}, false
	}
	return state.Wait{Code: state.WaitLoad, Words: lsf.AtHosts(reason, hosts)}, true
}

// wouldServe reports whether a host has enough for some chunk of a class, whatever its load.
func (w *world) wouldServe(h int, cl *class) bool {
	return slices.ContainsFunc(cl.chunks, func(ch chunk) bool {
		return w.hasOn(h, ch.needs) && slices.ContainsFunc(w.hosts[h].nodes, func(i int) bool { return w.nodes[i].usable && w.isMeantBy(i, ch) })
	})
}

// goesByAgent reports whether what is free of a vnode is known from its host (load_source; specification: reservation section 1.3).
func goesByAgent(vn *state.Vnode) bool {
	source, _ := vn.Attrs.Get(lsf.LoadSource, "")
	return source == lsf.SourceAgent
}

// A free amount of memory, swap space or room for temporary files, in KB, as a host reports it; unbounded: nothing is said.
type reported struct{ mem, swp, tmp int64 }

// of returns what is reported of a resource.
func (r reported) of(name string) int64 {
	switch name {
	case "mem":
		return r.mem
	case "swp":
		return r.swp
	case "tmp":
		return r.tmp
	}
	return unbounded
}

// reportedOf returns what hosts report of the vnodes whose free amounts are known from them. Of one that may still say something there
// is nothing yet.
func (p *Planner) reportedOf(w *world) map[pbs.VnodeName]reported {
	if p.loads == nil || w.agents == 0 {
		return nil
	}
	all := map[pbs.VnodeName]reported{}
	for i := range w.nodes {
		vn := w.nodes[i].vnode
		if !goesByAgent(vn) {
			continue
		}
		values, known := p.loads.Of(vn.Host)
		amount := func(name string) int64 {
			switch told, said := values[name]; {
			case said:
				return int64(told / resreq.One)
			case !known && p.loads.Fresh():
				return 0
			}
			return unbounded
		}
		all[vn.Name] = reported{amount("mem"), amount("swp"), amount("tmp")}
	}
	return all
}

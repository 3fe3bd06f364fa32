package sched

import (
	"maps"
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A gate is kept from one cycle to the next: a host is judged anew when something has changed of it, or of what it reports. All are where
// it depends on more than that which of them take jobs.

// basis holds what a gate was made from, beside hosts.
type basis struct {
	thresholds map[pbs.QueueName]string
	stopped    map[pbs.QueueName]said
	balances   bool     // load_balancing: a host with more in its run queue than it has cpus takes no jobs, unless its mom judges that
	interval   pbs.Time // 0: a host may be given one job after the other
	rows       *rows
	loads      *Loads

	known   uint64 // changes of what hosts report that are known
	follows bool   // each host is judged by what it has and reports alone
}

func (b *basis) same(o *basis) bool {
	return maps.Equal(b.thresholds, o.thresholds) && maps.Equal(b.stopped, o.stopped) && b.balances == o.balances && b.interval == o.interval && b.rows == o.rows && b.loads == o.loads
}

// begins notes what is known of the reports of hosts before they are judged, and whether that can be followed.
func (g *gate) begins(v *state.View) {
	if g.loads.Since == nil {
		return
	}
	_, g.known, _ = g.loads.Since(0)
	for range v.Sharers() {
		return // of what another host has
	}
	g.follows = !g.balances && g.interval == 0 && !g.loads.Fresh() && g.eachAlone(v)
}

// eachAlone reports whether no threshold is of what the server has.
func (g *gate) eachAlone(v *state.View) bool {
	own := func(all []lsf.Threshold) bool {
		return !slices.ContainsFunc(all, func(t lsf.Threshold) bool {
			def, known := v.Resource(strings.TrimPrefix(t.Index, "max"))
			return known && ofServer(def)
		})
	}
	for _, all := range g.queues {
		if !own(all) {
			return false
		}
	}
	for _, row := range g.rows.byName {
		if !own(row.Thresholds) {
			return false
		}
	}
	return true
}

// ofServer reports whether a host has no amount of its own of a resource.
func ofServer(def resource.Def) bool {
	return !def.AtVnodes() && (def.Consumable() || !def.AtHost())
}

// follow brings a gate up to a cycle, and reports whether another host takes jobs than before; false: it has to be made anew.
func (g *gate) follow(p *Planner, on basis, now pbs.Time) (changed, followed bool) {
	if g == nil || !g.follows || p.unjudged.lost || !g.same(&on) {
		return false, false
	}
	hosts, known, ok := g.loads.Since(g.known)
	if !ok || g.loads.Fresh() {
		return false, false
	}
	g.known, g.now = known, now
	if g.stops {
		g.settling = newSettling(g.rows.config.Turn(), now, g)
	}
	for _, mom := range hosts {
		delete(g.reports, mom)
		g.again[mom] = true
	}
	for _, i := range p.unjudged.nodes {
		g.again[p.all.hosts[p.all.nodes[i].host].key.mom] = true
	}
	p.unjudged.forget()
	for mom := range g.again {
		was := g.whys(mom)
		for _, h := range g.byMom[mom] {
			g.judge(p.all, h)
		}
		changed = changed || !maps.Equal(was, g.whys(mom))
	}
	clear(g.again)
	return changed, true
}

// whys returns why the hosts of a mom take no jobs, as shut has it.
func (g *gate) whys(mom pbs.HostName) map[string]string {
	var all map[string]string
	for by, of := range g.shut {
		if why, ok := of[mom]; ok {
			if all == nil {
				all = map[string]string{}
			}
			all[by] = why
		}
	}
	return all
}

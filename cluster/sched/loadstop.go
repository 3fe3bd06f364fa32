package sched

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"rampart/fsm/command"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resreq"
	"rampart/fsm/state"
)

// A LoadStop suspends a running job because the load of one of its hosts exceeds loadStop (specification: reservation section 9.7).
type LoadStop struct {
	Job      pbs.JobID
	RunCount pbs.RunCount
	Host     pbs.HostName
	Indices  []string
}

const (
	// loadSettles is how long the load of a host is left to follow what was changed there, if a dispatch turn is shorter: by then a host of
	// which anything is known was heard again.
	loadSettles = pbs.Time(15 * time.Second)
	// typing is the idle time (it) in minutes below which people use a host.
	typing = resreq.One
)

// settling holds what a gate knows of hosts on which runs were suspended or resumed by load.
type settling struct {
	length  pbs.Time
	changed map[pbs.HostName]pbs.Time // in earlier cycles, and in this one
}

// newSettling remembers the changes of earlier cycles: of runs that are over since the state says nothing.
func newSettling(turn int64, now pbs.Time, before *gate) settling {
	s := settling{max(pbs.Time(turn)*pbs.Time(time.Second), loadSettles), map[pbs.HostName]pbs.Time{}}
	if before != nil {
		maps.Copy(s.changed, before.settling.changed)
		maps.DeleteFunc(s.changed, func(_ pbs.HostName, at pbs.Time) bool { return now-at >= s.length })
	}
	return s
}

// settled reports whether nothing was changed by load on any of the hosts so lately that their load may not show it yet. A new leader
// finds that in the runs that are there.
func (c *cycle) settled(hosts []pbs.HostName) bool {
	g := c.planner.gate
	for _, host := range hosts {
		at := g.settling.changed[host]
		for vn := range c.view.VnodesOf(host) {
			for _, held := range vn.Jobs {
				if j, ok := c.view.Job(held.Job); ok && held.Of(j) {
					at = max(at, j.LastRun().ChangedByLoad())
				}
			}
		}
		if at != 0 && g.now-at < g.settling.length {
			return false
		}
	}
	return true
}

// changes notes that a run on hosts is suspended or resumed by load.
func (c *cycle) changes(hosts []pbs.HostName) {
	for _, host := range hosts {
		c.planner.gate.settling.changed[host] = c.planner.gate.now
	}
}

// thresholdsFor returns the thresholds that hold for jobs of a queue on a host.
func (c *cycle) thresholdsFor(host pbs.HostName, queue pbs.QueueName) [][]lsf.Threshold {
	g := c.planner.gate
	return [][]lsf.Threshold{g.thresholds(string(host)), g.queues[c.planner.thresholds[queue]]}
}

// anyStops reports whether some threshold suspends jobs.
func anyStops(all []lsf.Threshold) bool {
	return slices.ContainsFunc(all, func(t lsf.Threshold) bool { return t.Stop != nil })
}

// goesByStops reports whether load may suspend or resume somebody.
func (p *Planner) goesByStops(v *state.View) bool {
	if p.gate == nil || !p.gate.stops {
		return false
	}
	for range v.Running() {
		return true
	}
	for range v.Suspensions() {
		return true
	}
	return false
}

// stopForLoad plans to suspend jobs by the load of their hosts: of each host one, of those on hosts whose load has settled the one of the
// lowest queue that was started last.
func (c *cycle) stopForLoad() {
	g := c.planner.gate
	if g == nil || !g.stops {
		return
	}
	going, waits := map[pbs.JobID]bool{}, map[pbs.JobID]bool{} // jobs that are preempted or suspended, and that are on hosts that have not settled
	for _, p := range c.plan.Preempts {
		going[p.Job] = true
	}
	looked := map[pbs.HostName]bool{}
	for h := range c.planner.all.hosts {
		host := c.planner.all.hosts[h].key.mom
		if looked[host] || !g.mayStop(host) && !c.mayStopBy(host) {
			continue
		}
		looked[host] = true
		switch {
		case len(c.plan.LoadStops) == c.starts:
			return
		case !c.settled([]pbs.HostName{host}):
			continue
		}
		all, alone := c.suspendables(host, going)
		for _, s := range all {
			indices := c.overload(host, s.job.Queue, alone)
			if len(indices) == 0 && !c.goesOnAlone(host, alone) && c.stopsBy(host, s.job.Queue) {
				indices = []string{lsf.StopCondition}
			}
			if len(indices) == 0 || waits[s.job.ID] {
				continue
			}
			hosts := s.job.Hosts()
			if waits[s.job.ID] = !c.settled(hosts); waits[s.job.ID] {
				continue
			}
			c.changes(hosts)
			going[s.job.ID] = true
			c.plan.LoadStops = append(c.plan.LoadStops, LoadStop{s.job.ID, s.job.RunCount, host, indices})
			break
		}
	}
}

// mayStop reports whether the load of a host is beyond some loadStop, whoever's.
func (g *gate) mayStop(host pbs.HostName) bool {
	r := g.reportOf(host)
	if !r.known {
		return false
	}
	over := func(all []lsf.Threshold) bool {
		return slices.ContainsFunc(all, func(t lsf.Threshold) bool { return g.beyondStop(r, t) })
	}
	if over(g.thresholds(string(host))) {
		return true
	}
	for _, all := range g.queues {
		if over(all) {
			return true
		}
	}
	return false
}

// beyondStop reports whether what a host reports of an index is beyond its loadStop.
func (g *gate) beyondStop(r report, t lsf.Threshold) bool {
	value, said := r.values[t.Index]
	index, known := g.site.Resource(t.Index)
	return said && known && t.Stops(value, index.Increasing)
}

// A suspendable is a running job that load may suspend.
type suspendable struct {
	job      *state.Job
	priority int64 // of its queue
}

// suspendables returns the jobs on a host that load may suspend, in the order in which it does; alone: no more than one runs there.
func (c *cycle) suspendables(host pbs.HostName, going map[pbs.JobID]bool) (all []suspendable, alone bool) {
	running := map[pbs.JobID]bool{}
	for vn := range c.view.VnodesOf(host) {
		for _, held := range vn.Jobs {
			j, ok := c.view.Job(held.Job)
			if !ok || running[held.Job] || !held.Of(j) || j.State != pbs.Running || j.Suspended() || j.LastRun().StoppedByLoad() != nil || going[j.ID] {
				continue
			}
			running[j.ID] = true
			if j.Substate != pbs.SubRunning || j.Preempting() || j.LastRun().Checkpointing() || j.Run.Release != nil || j.Reservation != "" ||
				c.view.SchedulerOf(j.Queue) != c.view.SchedulerName() {
				continue
			}
			all = append(all, suspendable{j, c.priority(j.Queue)})
		}
	}
	slices.SortFunc(all, func(a, b suspendable) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.job.Started, a.job.Started), cmp.Compare(b.job.Seq, a.job.Seq), cmp.Compare(b.job.ID.Sub(), a.job.ID.Sub()))
	})
	return all, len(running) == 1
}

// priority returns the Priority of a queue.
func (c *cycle) priority(name pbs.QueueName) int64 {
	q, ok := c.view.Queue(name)
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(q.Get("Priority"), 10, 64)
	return n
}

// goesOnAlone reports whether a host's load suspends no job because one job runs there alone and nobody types.
func (c *cycle) goesOnAlone(host pbs.HostName, alone bool) bool {
	idle, said := c.planner.gate.reportOf(host).values["it"]
	return alone && !(said && idle < typing)
}

// overload returns the indices of a host that suspend jobs of a queue there, in the order in which commands show them. While somebody
// types there all do; else one that runs there alone goes on, and paging is passed over.
func (c *cycle) overload(host pbs.HostName, queue pbs.QueueName, alone bool) (indices []string) {
	g := c.planner.gate
	r := g.reportOf(host)
	idle, said := r.values["it"]
	if c.goesOnAlone(host, alone) {
		return nil
	}
	for _, all := range c.thresholdsFor(host, queue) {
		for _, t := range all {
			if t.Index == "pg" && !(said && idle < g.paging) {
				continue
			}
			if g.beyondStop(r, t) && !slices.Contains(indices, t.Index) {
				indices = append(indices, t.Index)
			}
		}
	}
	place := func(index string) int {
		if at := slices.Index(lsf.LoadIndices[:], index); at >= 0 {
			return at
		}
		return len(lsf.LoadIndices)
	}
	slices.SortFunc(indices, func(a, b string) int { return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b)) })
	return indices
}

// calm reports whether the load of its hosts lets a job go on that load has suspended: it is within loadSched again, or within loadStop of
// an index that has no loadSched, on all of them. RESUME_COND stands in the place of loadSched.
func (c *cycle) calm(j *state.Job) bool {
	by, g := j.LastRun().StoppedByLoad(), c.planner.gate
	if by == nil || g == nil || !g.stops {
		return true
	}
	paged, bySched := slices.Contains(by.Indices, "pg"), g.conditions[j.Queue].resume == nil
	for _, host := range j.Hosts() {
		r := g.reportOf(host)
		if !r.known {
			return false
		}
		idle, said := r.values["it"]
		typed := said && idle < g.paging
		if paged && host == by.Host && typed || !c.calmBy(host, j.Queue) {
			return false
		}
		for _, all := range c.thresholdsFor(host, j.Queue) {
			for _, t := range all {
				value, told := r.values[t.Index]
				index, known := g.site.Resource(t.Index)
				if told && known && !(t.Index == "pg" && !typed) && (bySched && t.Shuts(value, index.Increasing) || t.Stops(value, index.Increasing)) {
					return false
				}
			}
		}
	}
	return true
}

// goesOn plans to resume a job that has what it wants back. One that load has suspended keeps it until the load of its hosts shows what was
// changed there last.
func (c *cycle) goesOn(j *state.Job) {
	if g := c.planner.gate; j.LastRun().StoppedByLoad() != nil && g != nil && g.stops {
		if !c.settled(j.Hosts()) {
			return
		}
		c.changes(j.Hosts())
	}
	c.plan.Resumes = append(c.plan.Resumes, j.ID)
	c.planned(j)
}

// stopForLoad proposes to suspend jobs by the load of their hosts.
func (l *Loop) stopForLoad(ctx context.Context, all []LoadStop) {
	var g errgroup.Group
	g.SetLimit(inFlight)
	for _, s := range all {
		g.Go(func() error {
			stop := &command.StopForLoad{Job: s.Job, RunCount: s.RunCount, Host: s.Host, Indices: s.Indices}
			l.proposeFor(ctx, s.Job, stop, "Not suspended: ", lsf.LoadComment(pbs.ShortHost(string(s.Host)), s.Indices))
			return nil
		})
	}
	_ = g.Wait()
}

package trace

import (
	"fmt"
	"time"

	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// answering is how long a mom takes to do what it is ordered.
const answering = pbs.Time(15 * time.Millisecond)

// deliver brings orders to hosts, which answer after a while.
func (e *engine) deliver() {
	v := e.view()
	for host := range v.HostsWithOrders() {
		for o := range v.Orders(host) {
			if o.ID <= e.given[host] && e.given[host] != 0 {
				continue
			}
			e.given[host] = o.ID
			e.later(e.at+answering, func() []command.Proposal { return e.obey(o) })
		}
	}
}

// fact returns the next thing that a host reports.
func (e *engine) fact(host pbs.HostName) command.Source {
	if _, known := e.acked[host]; !known {
		if h, ok := e.view().Host(host); ok {
			e.acked[host] = h.Acked
		}
	}
	e.acked[host]++
	return command.Source{Host: host, Spool: e.spoolOf(host), Seq: e.acked[host]}
}

func (e *engine) spoolOf(host pbs.HostName) string {
	if h, ok := e.view().Host(host); ok {
		return h.SpoolID
	}
	return spool
}

// obey does what a host was ordered, and returns what it reports.
func (e *engine) obey(o *state.Order) []command.Proposal {
	if _, open := e.view().OpenOrder(o.Host, o.ID); !open {
		return nil
	}
	if h, ok := e.view().Host(o.Host); !ok || !h.Up {
		return nil // nobody hears it
	}
	confirmed := &command.OrderConfirmed{Host: o.Host, Order: o.ID}
	all := []command.Proposal{{Commands: []command.Command{confirmed}}}
	j, ok := e.view().Job(o.Job)
	present := ok && j.Is(o.RunCount)
	l := e.lives[o.Job]
	if l == nil && present && e.adopts {
		l = e.adopt(j)
	}
	switch o.Kind {
	case state.OrderRun:
		if !present || l == nil {
			return all
		}
		e.session++
		all = append(all, command.Proposal{Commands: []command.Command{&command.JobStarted{Source: e.fact(o.Host), Job: o.Job, RunCount: o.RunCount, Session: e.session}}})
		e.begin(l, j)
	case state.OrderSignal:
		switch {
		case !present || l == nil:
		case o.Signal == command.Suspend || o.Signal == command.AdminSuspend:
			l.ran, l.on, l.due = l.time(e.at), false, 0
			e.wantPlan()
		case o.Signal == command.Resume || o.Signal == command.AdminResume:
			e.goOn(l, e.at)
		}
	case state.OrderKill:
		end := &command.JobEnded{Source: e.fact(o.Host), Job: o.Job, RunCount: o.RunCount, ExitStatus: pbs.ExitTerminated}
		if present && j.Run.MS == o.Host && l != nil {
			end.Used, l.due = l.used(e.at), 0
			l.ran, l.on = l.time(e.at), false
		}
		all = append(all, command.Proposal{Commands: []command.Command{end}})
		e.wantPlan()
	case state.OrderCheckpoint:
		confirmed.Refusal = pbs.Refuse(pbs.NotSupported) // no host has a script for it
		e.wantPlan()
	}
	return all
}

// begin starts the program of a run, at the time at which its vnodes were given to it.
func (e *engine) begin(l *life, j *state.Job) {
	l.run, l.ran = j.RunCount, 0
	l.runs++
	e.goOn(l, j.Started)
	for _, a := range l.job.Altered {
		if a.Running && a.Runs == l.runs {
			e.later(max(e.at, j.Started+pbs.Time(a.After)), func() []command.Proposal { return e.alter(l, a) })
		}
	}
}

// length returns how long its present run takes, and whether it is put back then.
func (l *life) length() (time.Duration, bool) {
	if n := l.runs - 1; n >= 0 && n < len(l.job.Requeued) {
		return l.job.Requeued[n], true
	}
	return l.job.Runs, false
}

// alter changes a job as it was recorded, if it has come as far as it had then.
func (e *engine) alter(l *life, a Alteration) []command.Proposal {
	j, ok := e.view().Job(l.id)
	if !ok || l.runs != a.Runs || j.Live() != a.Running {
		return nil
	}
	if err := e.do(&command.AlterJob{Job: l.id, Changes: a.Changes}); err != nil {
		e.troubles.add(l.job.File, l.job.Line, "an alteration is refused", fmt.Sprintf(": job %s: %v", l.job.Name, err), false)
		return nil
	}
	if l.on { // its end may be another now
		l.ran = l.time(e.at)
		e.goOn(l, e.at)
	}
	e.wantPlan()
	return nil
}

// goOn lets the program of a job go on since a time, until it ends or has had its walltime.
func (e *engine) goOn(l *life, since pbs.Time) {
	l.goes, l.on = since, true
	left, requeued := l.length()
	limited := false
	left -= l.ran
	if j, ok := e.view().Job(l.id); ok {
		if text, has := j.Resources.Get("walltime"); has {
			if q, err := resource.Parse(resource.Time, text); err == nil && q.Int() < int64(longestRun/time.Second) {
				if most := time.Duration(q.Int())*time.Second - l.ran; most < left {
					left, limited, requeued = most, true, false
				}
			}
		}
	}
	at := max(since+pbs.Time(left), e.at+1)
	ev := e.later(at, func() []command.Proposal {
		if requeued && e.do(&command.RerunJob{Job: l.id}) == nil {
			return nil
		}
		return e.ended(l, limited)
	})
	ev.due, l.due = l, ev.seq
}

// ended returns the end of a program.
func (e *engine) ended(l *life, limited bool) []command.Proposal {
	j, ok := e.view().Job(l.id)
	if !ok || !j.Is(l.run) {
		return nil
	}
	end := &command.JobEnded{Source: e.fact(j.Run.MS), Job: l.id, RunCount: l.run, ExitStatus: l.job.Exit, Used: l.used(e.at)}
	if limited {
		end.ExitStatus = pbs.ExitWalltime
		e.tally.limited++
	}
	l.ran, l.on, l.due = l.time(e.at), false, 0
	e.wantPlan()
	return []command.Proposal{{Commands: []command.Command{end}}}
}

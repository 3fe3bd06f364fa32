package world

import (
	"context"
	"fmt"
	"syscall"

	"connectrpc.com/connect"

	"rampart/chaos/check"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/proc"
	"rampart/transport/api"
)

// standing is a run of a job that is suspended.
type standing struct {
	job string
	run uint32
}

// stand notes which jobs are suspended from now on, and which are not any more. The lock is held.
func (k *book) stand(now map[standing]check.Way) {
	for p, way := range now {
		if _, known := k.standing[p]; !known {
			k.standing[p] = len(k.stood)
			k.stood = append(k.stood, check.Stood{Job: p.job, Count: p.run, Way: way, Span: check.Span{From: k.since(), To: check.Never}})
		}
	}
	for p, n := range k.standing {
		if _, still := now[p]; !still {
			k.stood[n].To = k.since()
			delete(k.standing, p)
		}
	}
}

// wayOf tells for whom a job is suspended, and in which wait of that one this was decided.
func wayOf(j *state.Job) check.Way {
	p := j.LastRun().Preemption
	if p == nil || j.Substate != pbs.SubSchedSuspended {
		return check.Way{}
	}
	way := check.Way{For: string(p.For)}
	for _, w := range p.Ways {
		if w.For == p.For {
			way.Turn = w.Turn
		}
	}
	return way
}

// noteHalt writes down that a program was stopped, or goes on.
func (p *programs) noteHalt(h proc.Handle, sig syscall.Signal) {
	p.mu.Lock()
	n, known := p.runs[h]
	p.mu.Unlock()
	if !known || sig != syscall.SIGSTOP && sig != syscall.SIGCONT {
		return
	}
	p.w.book.halt(n, sig == syscall.SIGSTOP)
}

// halt notes that a program was stopped, or goes on.
func (k *book) halt(n int, stop bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := &k.runs[n]
	last := len(r.Halts) - 1
	stopped := last >= 0 && r.Halts[last].To == check.Never
	switch {
	case stop && !stopped:
		r.Halts = append(r.Halts, check.Span{From: k.since(), To: check.Never})
	case !stop && stopped:
		r.Halts[last].To = k.since()
	}
}

// resume lets every job go on that somebody has suspended, and tells which are suspended. Those that
// made way for others are the scheduler's to resume.
func (n resting) resume(ctx context.Context) string {
	r := n.leader()
	if r == nil {
		return "there is no leader"
	}
	text := ""
	for j := range r.machine.View().Suspensions() {
		text = fmt.Sprintf("%s is suspended", j.ID)
		if j.Substate == pbs.SubSchedSuspended {
			continue
		}
		if _, err := n.manager.Signal(ctx, connect.NewRequest(&api.SignalRequest{Job: string(j.ID), Signal: "resume"})); err != nil {
			text += ": " + err.Error()
		}
	}
	return text
}

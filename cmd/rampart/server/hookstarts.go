package server

import (
	"context"
	"sync"
	"time"

	"rampart/cluster/sched"
	"rampart/cluster/service"
	"rampart/fsm/pbs"
	"rampart/fsm/state"
	"rampart/mom/hook"
)

const (
	// runjobLanes bounds the processes that look at the starts of one scheduling decision.
	runjobLanes = 8
	// runjobPatience is how long hooks may look at one start before the others get another lane.
	runjobPatience = 100 * time.Millisecond
)

// approve asks the hooks of runjob about the starts of a scheduling decision; it is sched.Approve.
// One call of the interpreter looks at all of them. Hooks that take their time, up to their alarm,
// hold up no other start: there are more lanes then.
func (h *hooks) approve(ctx context.Context, v *state.View, starts []sched.Start, say func(id pbs.JobID, said sched.Verdict)) {
	runs := h.runs(ctx, v, v.HooksAt("runjob"))
	inLanes(starts, runjobLanes, runjobPatience, func(next func() (sched.Start, bool)) {
		session := h.runtime.Session()
		defer session.Close()
		for one, ok := next(); ok && ctx.Err() == nil; one, ok = next() {
			j, known := v.Named(one.Job)
			if !known {
				continue
			}
			out := h.sequence(ctx, session, runs, service.RunjobEvent(v, j, one.ExecVnode), false)
			if ctx.Err() == nil { // else nobody has decided
				said, err := verdictOf(v, j, out)
				if err != nil {
					h.write(pbs.LogJob, "Job", string(one.Job), err.Error())
				}
				say(one.Job, said)
			}
		}
	})
}

// verdictOf reads what the hooks of runjob say of a start. What they may not have is a refusal, and the error.
func verdictOf(v *state.View, j *state.Job, out *hook.Outcome) (sched.Verdict, error) {
	changes, again, err := service.RunjobChanges(v, j, out)
	switch {
	case out.Rejected != nil:
		return sched.Verdict{Why: orThis(out.Message, "runjob request rejected by '"+out.Rejected.Name+"'"), Changes: changes}, nil
	case err != nil:
		return sched.Verdict{Why: err.Error()}, err
	}
	return sched.Verdict{Changes: changes, Again: again}, nil
}

// inLanes has all items worked off by lanes, which take one after the other by next. There is one
// lane, and another for as long as no item is taken within patience, at most most.
func inLanes[T any](items []T, most int, patience time.Duration, lane func(next func() (T, bool))) {
	var mu sync.Mutex
	var lanes sync.WaitGroup
	taken := make(chan struct{}, 1)
	next := func() (one T, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(items) == 0 {
			return one, false
		}
		one, items = items[0], items[1:]
		select {
		case taken <- struct{}{}:
		default:
		}
		return one, true
	}
	left := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(items) > 0
	}
	lanes.Go(func() { lane(next) })
	stuck := time.NewTimer(patience)
	defer stuck.Stop()
	for n := 1; n < most && left(); {
		select {
		case <-taken:
		case <-stuck.C:
			n++
			lanes.Go(func() { lane(next) })
		}
		stuck.Reset(patience)
	}
	lanes.Wait()
}

package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// orderEnds has the moms end the runs of before that do not live on. The jobs of them that
// are there wait for it, unless the host was given up: there none lives (L2).
func (r *restoring) orderEnds() {
	for h := range r.before.Hosts() {
		for _, t := range r.openRuns(h.Name) {
			r.orderEnd(h, t)
		}
	}
}

func (r *restoring) orderEnd(h *state.Host, t ReportedTask) {
	if j, ok := r.next.Job(t.Job); ok && partOf(j, h.Name, t.RunCount) {
		return
	}
	if h.GivenUp {
		r.next.Order(state.Order{Host: h.Name, Kind: state.OrderKill, Job: t.Job, RunCount: t.RunCount})
		return
	}
	(&HostUp{Host: h.Name}).endTask(r.next, t)
}

// openRuns returns the runs of a host that may live, each once, in an order that follows
// from the state.
func (r *restoring) openRuns(host pbs.HostName) []ReportedTask {
	var all []ReportedTask
	seen := map[ReportedTask]bool{}
	add := func(job pbs.JobID, run pbs.RunCount) {
		if t := (ReportedTask{job, run}); !seen[t] {
			seen[t] = true
			all = append(all, t)
		}
	}
	for o := range r.before.Orders(host) {
		if o.Kind == state.OrderKill || o.Kind == state.OrderRun {
			add(o.Job, o.RunCount)
		}
	}
	for _, t := range r.live()[host] {
		add(t.Job, t.RunCount)
	}
	return all
}

// live returns the runs of before by host: those that are on, and those of earlier runs
// whose end is waited for.
func (r *restoring) live() map[pbs.HostName][]ReportedTask {
	if r.runs == nil {
		r.runs = map[pbs.HostName][]ReportedTask{}
		for j := range r.before.Jobs() {
			if j.Live() {
				for _, host := range j.Hosts() {
					if partOf(j, host, j.RunCount) {
						r.runs[host] = append(r.runs[host], ReportedTask{j.ID, j.RunCount})
					}
				}
			}
			for _, u := range j.Unconfirmed {
				r.runs[u.Host] = append(r.runs[u.Host], ReportedTask{j.ID, u.RunCount})
			}
		}
	}
	return r.runs
}

// orders gives the orders that are still good their numbers in the new epoch.
func (r *restoring) orders() {
	for h := range r.before.Hosts() {
		for o := range r.before.Orders(h.Name) {
			r.order(o)
		}
	}
	for h := range r.file.Hosts() {
		if r.here(h.Name) {
			continue
		}
		for o := range r.file.Orders(h.Name) {
			r.order(o)
		}
	}
}

// order takes over an order: those for runs that live on, and those to forget runs.
func (r *restoring) order(o *state.Order) {
	j, ok := r.next.Job(o.Job)
	lives := ok && partOf(j, o.Host, o.RunCount)
	if lives || o.Kind == state.OrderForget || o.Kind == state.OrderKill && !r.here(o.Host) {
		r.next.Order(*o)
	}
	if ok && !j.Live() && o.Kind == state.OrderForget {
		r.numberAfter(j, o.RunCount)
	}
}

// numberAfter gives the next run of a job a higher number than a run that the file does not have: a mom may know
// that one still, and would take the new one for it (L2).
func (r *restoring) numberAfter(j *state.Job, run pbs.RunCount) {
	if j.RunCount < run {
		next := *j
		next.RunCount = run
		r.next.KeepJob(&next)
	}
}

// tell tells accounting of the jobs that are gone, of the runs that are ended, and of the
// jobs that are there again after they had been closed.
func (r *restoring) tell() {
	for now := range r.before.Jobs() {
		j, ok := r.next.Job(now.ID)
		switch {
		case now.State == pbs.Finished:
		case !ok, j.State == pbs.Finished:
			r.close(now)
		case now.Live() && !j.Is(now.RunCount) && now.Run.Session != 0:
			r.requeued(now)
		}
	}
	if r.founding {
		return
	}
	for j := range r.next.Jobs() {
		now, ok := r.before.Job(j.ID)
		if j.State != pbs.Finished && j.ID.Sub() == 0 && (!ok || now.State == pbs.Finished) {
			r.res.Requeued++
			r.next.Emit(state.Event{Kind: state.JobQueued, Job: j, By: r.meta.Asker})
		}
	}
}

// close tells of a job that ends because the file does not have it.
func (r *restoring) close(j *state.Job) {
	r.res.Finished++
	if !j.Live() || j.Run.Session == 0 {
		r.next.Emit(state.Event{Kind: state.JobAborted, Job: j, Text: "Job gone, the state was put back from a snapshot without it"})
		return
	}
	ended := *j
	run := ended.EditRun()
	ended.Ended, run.ExitStatus, run.HasExited = r.meta.At, pbs.ExitTerminated, true
	r.next.Emit(state.Event{Kind: state.JobEnded, Job: &ended})
}

func (r *restoring) requeued(j *state.Job) {
	ended := *j
	ended.Ended = r.meta.At
	r.next.Emit(state.Event{Kind: state.JobRequeued, Job: &ended, Text: "Job requeued, the state was put back from a snapshot"})
}

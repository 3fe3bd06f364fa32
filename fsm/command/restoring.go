package command

import (
	"cmp"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// restoring is a Restore under way.
//
// Of hosts that are registered it is known which runs live: those of before. One that the
// file knows, too, lives on, and its job stays as it is. One that the file does not know is
// ended, and its job, if the file has it, waits for that (L2). One that only the file has is
// over: its job is queued again, or ended if it is not rerunnable. Of hosts that only the
// file knows nothing is known: what it says of them stands until they have registered, or
// their fence has fallen.
type restoring struct {
	next     *state.Tx // what comes of it
	before   *state.Tx // what there is
	file     *state.View
	meta     Meta
	res      *state.Result
	founding bool

	runs map[pbs.HostName][]ReportedTask // of before; made by live
}

// objects takes over what people have set.
func (r *restoring) objects() {
	for d := range r.file.CustomResources() {
		r.next.PutResource(&state.ResourceDef{Def: d})
	}
	for q := range r.file.Queues() {
		next := *q
		r.next.PutQueue(&next)
	}
	for resv := range r.file.Reservations() {
		next := *resv
		r.next.PutReservation(&next)
	}
	if l := r.file.Reconfigured(); l.Revision > 0 {
		r.next.PutLSF(l)
	}
	r.hooks()
	for s := range r.file.Shares() {
		r.next.PutShare(cmp.Or(s.Sched, state.DefaultScheduler), s.Entity, s.Usage)
	}
	server := *r.file.Server()
	server.FenceChanged = r.meta.Index
	if mine := r.before.Server().Get("managers"); r.founding && mine != "" { // who has founded the cluster must be able to lead it
		all := append(server.List("managers"), r.before.Server().List("managers")...)
		slices.Sort(all)
		server.Attrs = server.Attrs.Set("managers", "", strings.Join(slices.Compact(all), ","))
	}
	r.next.PutServer(&server)
}

// hooks takes over the hooks and their files.
func (r *restoring) hooks() {
	for h := range r.file.Hooks() {
		if h.Seq == 0 {
			continue // built in, and as it was made
		}
		next := *h
		r.next.PutHook(&next)
		for _, kind := range []state.HookFileKind{state.HookScript, state.HookConfig} {
			if body, ok := r.file.HookFile(h.Name, kind); ok {
				r.next.PutHookFile(&state.HookFile{Hook: h.Name, Kind: kind, Body: body})
			}
		}
	}
	r.next.RecountHooks()
}

// hosts numbers orders above all that moms have had, and takes in the hosts that only the
// file knows.
func (r *restoring) hosts() {
	var all []*state.Host
	for h := range r.before.Hosts() {
		next := *h
		if old, ok := r.file.Host(h.Name); ok {
			next.NextOrder = max(h.NextOrder, old.NextOrder)
		}
		all = append(all, &next)
	}
	for h := range r.file.Hosts() {
		if !r.here(h.Name) {
			next := *h
			next.Up, next.Changed = false, r.meta.At
			all = append(all, &next)
		}
	}
	for _, h := range all {
		h.NextOrder += EpochSkip
		r.next.PutHost(h)
	}
	lengthenFences(r.next, r.next.Server().Fence())
}

// here reports whether the present state knows the host's runs.
func (r *restoring) here(host pbs.HostName) bool {
	_, ok := r.before.Host(host)
	return ok
}

// vnodes takes over the vnodes as the file has them; what moms report of them is as now.
func (r *restoring) vnodes() {
	for v := range r.file.Vnodes() {
		next := *v
		now, ok := r.before.Vnode(v.Name)
		switch {
		case ok && now.Host == v.Host:
			next.Reported = now.Reported
			setFlags(&next, v.Flags&state.VnodeDecided|now.Flags&^state.VnodeDecided, r.meta.At)
		default: // until its mom has registered in the new epoch
			setFlags(&next, v.Flags&state.VnodeDecided|state.VnodeDown|state.VnodeUnknown, r.meta.At)
		}
		next.OverCommitted = overCommitted(r.next, &next)
		r.next.PutVnode(&next)
	}
}

// jobs takes over the jobs and their scripts.
func (r *restoring) jobs() {
	for j := range r.file.Jobs() {
		next := *j
		if now, ok := r.before.Job(j.ID); ok && !j.Live() {
			next.RunCount = max(j.RunCount, now.RunCount)
		}
		next.Unconfirmed = nil
		for _, run := range j.Unconfirmed {
			if !r.here(run.Host) { // of the others it is known now
				next.Unconfirmed = append(next.Unconfirmed, run)
			}
		}
		r.next.KeepJob(&next)
		if s, ok := r.file.Script(j.ID); ok {
			r.next.PutScript(*s)
		}
	}
}

// survivor returns the job as it is now if a run of the file lives.
func (r *restoring) survivor(j *state.Job) (*state.Job, bool) {
	if !j.Live() {
		return nil, false
	}
	if !r.here(j.Run.MS) {
		return j, true
	}
	now, ok := r.before.Job(j.ID)
	if !ok || !now.Is(j.RunCount) || now.Run.MS != j.Run.MS {
		return nil, false
	}
	return now, true
}

// endRuns puts back, or ends, the jobs whose runs are over. Accounting has been told.
func (r *restoring) endRuns() error {
	for j := range r.file.Running() {
		if _, lives := r.survivor(j); lives {
			continue
		}
		j, _ := r.next.Job(j.ID)
		if err := r.next.Silently(func() error { return r.endRun(j) }); err != nil {
			return err
		}
	}
	return nil
}

func (r *restoring) endRun(j *state.Job) error {
	next := *j
	run := next.EditRun()
	run.Sisters, run.Over = nil, nil // orderEnds sees to them
	now, ok := r.before.Job(j.ID)
	if !j.NotRerunnable {
		if err := putBack(r.next, r.meta, &next, state.JobRequeued, "Job requeued, it was not running when the state was put back"); err != nil {
			return err
		}
		if again, there := r.next.Job(j.ID); ok && there {
			r.numberAfter(again, now.RunCount)
		}
		return nil
	}
	run.ExitStatus, run.HasExited = pbs.ExitAborted, true
	if ok && now.State == pbs.Finished {
		run.ExitStatus, run.HasExited = now.Exit()
		next.Ended = now.Ended
	}
	return finish(r.next, &next, "Job ended after the snapshot was taken")
}

// keepRuns leaves the jobs whose runs live as they are, and their vnodes with them. Who waits
// for them is as in the file, and is judged by what they have done since.
func (r *restoring) keepRuns() {
	for j := range r.file.Running() {
		now, lives := r.survivor(j)
		if !lives || !r.here(j.Run.MS) {
			continue
		}
		kept := *now
		if then, ok := r.next.Job(j.ID); ok {
			kept.Depends = then.Depends
			if kept.Reservation != then.Reservation { // it has come to one since that is not there
				kept.Queue, kept.Reservation, kept.ReservedName = then.Queue, then.Reservation, then.ReservedName
			}
		}
		r.next.KeepJob(&kept)
		followSet(r.next, &kept)
		judgeDependents(r.next, &kept)
	}
	for v := range r.next.Vnodes() {
		r.share(v)
	}
	for v := range r.before.Vnodes() {
		if _, ok := r.next.Vnode(v.Name); !ok && len(r.held(v)) > 0 {
			next := *v
			next.Seq = r.next.NextSeq()
			r.next.PutVnode(&next)
			r.share(&next)
		}
	}
}

// held returns the shares of a vnode of before that runs hold which live on.
func (r *restoring) held(v *state.Vnode) []state.VnodeJob {
	var all []state.VnodeJob
	for _, h := range v.Jobs {
		if j, ok := r.next.Job(h.Job); ok && h.Of(j) {
			all = append(all, h)
		}
	}
	return all
}

// share gives a vnode the shares that runs hold now; those of hosts that only the file
// knows stand.
func (r *restoring) share(v *state.Vnode) {
	shares := v.Jobs
	next := *v
	next.Jobs, next.Assigned, next.Reserved = nil, nil, nil
	for _, share := range v.Reserved {
		if _, ok := r.next.Reservation(share.Reservation); !ok {
			continue
		}
		share.Used = nil
		if more, err := next.Reserve(share, r.next); err == nil {
			next = *more
		}
	}
	shares = slices.DeleteFunc(slices.Clone(shares), func(h state.VnodeJob) bool {
		j, ok := r.next.Job(h.Job)
		return !ok || !j.Live() || r.here(j.Run.MS)
	})
	if now, ok := r.before.Vnode(v.Name); ok {
		shares = append(shares, r.held(now)...)
	}
	for _, h := range shares {
		j, _ := r.next.Job(h.Job)
		if h.Reservation = j.Reservation; h.Reservation != "" {
			if _, has := next.ReservedFor(h.Reservation); !has {
				h.Reservation = ""
			}
		}
		if more, err := next.Charge(h, r.next); err == nil {
			next = *more
		}
	}
	next.OverCommitted = overCommitted(r.next, &next)
	r.next.PutVnode(&next)
}

package service

import (
	"context"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/transport"
	"rampart/transport/api"
)

// hookWishes reads what a hook on a mom wants. What it may not have, Apply leaves out.
func hookWishes(source command.Source, w *api.HookWishes) *command.HookWishes {
	c := &command.HookWishes{
		Source: source, Hook: w.GetHook(), Offline: w.GetOffline(), Clear: w.GetClear(), Restart: w.GetRestart(),
		Rerun: hookRuns(w.GetRerun()), Delete: hookRuns(w.GetDelete()), Kept: hookRuns(w.GetKept()), Stopped: hookRuns(w.GetStopped()), Why: w.GetWhy(),
	}
	for _, v := range w.GetVnodes() {
		c.Vnodes = append(c.Vnodes, command.HookVnode{
			Name: pbs.VnodeName(v.GetName()), Set: hookList(v.GetSet()), Unset: v.GetUnset(), Types: hookList(v.GetTypes()),
		})
	}
	for _, j := range w.GetJobs() {
		c.Jobs = append(c.Jobs, command.HookJob{
			Job: pbs.JobID(j.GetJob()), RunCount: pbs.RunCount(j.GetRunCount()), Set: hookList(j.GetSet()), Unset: j.GetUnset(),
		})
	}
	return c
}

func hookRuns(list []*api.TaskReport) []command.ReportedTask {
	var all []command.ReportedTask
	for _, t := range list {
		all = append(all, command.ReportedTask{Job: pbs.JobID(t.GetJob()), RunCount: pbs.RunCount(t.GetRunCount())})
	}
	return all
}

func hookList(list []*api.Attribute) attr.List {
	var out attr.List
	for _, a := range list {
		out = out.Set(a.GetName(), a.GetResource(), a.GetValue())
	}
	return out
}

// boundOwners takes the vnodes from what a hook wants that has run as the owner of a job, unless that
// is a Manager or an Operator (specification: hooks section 5).
func (c *Report) boundOwners(ctx context.Context, w *command.HookWishes) error {
	if len(w.Vnodes) == 0 || w.Run == nil {
		w.Vnodes = nil
		return nil
	}
	v, err := c.present(ctx)
	if err != nil {
		return err
	}
	j, ok := v.Job(w.Run.Job)
	if ok && permOf(v, transport.Caller{User: j.Owner}) >= attr.Operator {
		return nil
	}
	w.Vnodes = nil
	if ok && c.Log != nil {
		text := "Not allowed to update vnodes, if run as a non-manager/operator user " + j.Owner.String()
		if err := c.Log.Write(time.Now(), pbs.LogDebug, "Hook", w.Hook, text); err != nil {
			c.Logger.Error("write the server log", "error", err)
		}
	}
	return nil
}

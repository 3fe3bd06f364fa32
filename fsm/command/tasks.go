package command

import (
	"slices"

	"rampart/fsm/pbs"
	"rampart/fsm/state"
)

// endUnknown orders the end of runs that the mom has and that do not count: they were
// given up while it was away, or the state is older than they are. Their jobs do not
// start before the mom has confirmed that (L2).
func (c *HostUp) endUnknown(tx *state.Tx) {
	ending := map[ReportedTask]bool{}
	for o := range tx.Orders(c.Host) {
		if o.Kind == state.OrderKill || o.Kind == state.OrderForget {
			ending[ReportedTask{o.Job, o.RunCount}] = true
		}
	}
	for _, t := range c.Tasks {
		if !ending[t] {
			c.endTask(tx, t)
		}
	}
}

func (c *HostUp) endTask(tx *state.Tx, t ReportedTask) {
	j, ok := tx.Job(t.Job)
	if ok && partOf(j, c.Host, t.RunCount) {
		return
	}
	if !ok {
		j, ok = awaited(tx, t.Job)
	}
	again := ok && j.State != pbs.Finished
	tx.Order(state.Order{Host: c.Host, Kind: state.OrderKill, Job: t.Job, RunCount: t.RunCount, Requeue: again})
	if !again {
		return
	}
	next := *j
	run := state.HostRun{Host: c.Host, RunCount: t.RunCount}
	next.Unconfirmed = append(without(j.Unconfirmed, run), run)
	if !j.Live() {
		next.RunCount = max(j.RunCount, t.RunCount)
	}
	tx.PutJob(&next)
}

// endForgotten ends the runs of which a mom does not know that has a new disk, or is new
// to the epoch: what was left of them it has killed before it registered, or it was told that
// their end is on record. Those that it was not yet told to run are still to come, and those
// whose facts are on their way end by them.
func (c *HostUp) endForgotten(tx *state.Tx, m Meta, why string, res *state.Result) error {
	spared := make(map[ReportedTask]bool, len(c.Tasks)+len(c.Ending))
	for _, t := range slices.Concat(c.Tasks, c.Ending) {
		spared[t] = true
	}
	for o := range tx.Orders(c.Host) {
		if o.Kind == state.OrderRun {
			spared[ReportedTask{o.Job, o.RunCount}] = true
		}
	}
	return giveUp(tx, m, loss{host: c.Host, why: why, spared: spared}, res)
}

// without returns a copy of the list in which a run is not.
func without(list []state.HostRun, run state.HostRun) []state.HostRun {
	var rest []state.HostRun
	for _, r := range list {
		if !r.Same(run) {
			rest = append(rest, r)
		}
	}
	return rest
}

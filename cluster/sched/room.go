package sched

import (
	"sort"

	"rampart/cluster/sched/calendar"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// hasRoom reports whether placeBeside would place a job, and takes nothing.
func (c *cycle) hasRoom(j *state.Job, cl *class, long pbs.Time) bool {
	rows := c.planner.rows
	if !rows.scales(j) {
		return c.hasRoomOver(j, cl, long)
	}
	for as := range rows.paced(j) {
		if c.hasRoomOver(as, cl, walltime(as)) {
			return true
		}
	}
	return false
}

// hasRoomOver is hasRoom for a job that may run so long wherever it is.
func (c *cycle) hasRoomOver(j *state.Job, cl *class, long pbs.Time) bool {
	if c.roomBesideTops(j, cl, long) {
		return true
	}
	if c.reserving == nil || !c.backfills(j.Queue) {
		return false
	}
	runs, known := c.runtime(j)
	if !known {
		return false
	}
	lent := c.lendFor(runs)
	ok := len(lent) > 0 && c.roomBesideTops(j, cl, long)
	for _, k := range lent {
		c.withhold(k)
	}
	return ok
}

// roomBesideTops is hasRoom beside what is kept for jobs that wait.
func (c *cycle) roomBesideTops(j *state.Job, cl *class, long pbs.Time) bool {
	f, free := c.future, c.free
	end := f.end(j, long)
	if c.waitsForTops(j) {
		end.expected = calendar.Forever
	}
	if f.tooLong[cl].stops(end) {
		return false
	}
	if f.before(end) != (met{}) {
		free = f.lasting(c.free, end)
	}
	placed, ok := free.findFor(j, cl)
	if ok {
		free.undo(placed)
	}
	return ok
}

// sized returns a job that may have several numbers of slots as one with the largest for which there is room, its class, and the number of
// that alternative. What has room for many has room for fewer, so few of them are tried.
func (c *cycle) sized(j *state.Job, id pbs.JobID, cl *class) (as *state.Job, its *class, choice int) {
	if j.Checkpointed() || !c.hasRoom(j, cl, c.longest(j)) { // it goes on where its checkpoint is
		return j, cl, 0
	}
	text, _ := j.Attrs.Get(lsf.JobAlternatives, "")
	all := lsf.ReadAlternatives(text)
	choice = sort.Search(len(cl.choice), func(i int) bool {
		next := c.instead(j, cl, all, i+1)
		_, reached := c.reached(next, id)
		return reached || !c.hasRoom(next, cl.choice[i], c.longest(next))
	})
	if choice == 0 {
		return j, cl, 0
	}
	return c.instead(j, cl, all, choice), cl.choice[choice-1], choice
}

// instead returns a job of a class that asks for another of its alternatives, with what that has in sum.
func (c *cycle) instead(j *state.Job, cl *class, all []lsf.Alternative, choice int) *state.Job {
	next := *j
	next.Resources = lsf.Instead(j.Resources, all, choice)
	for _, it := range c.sums(cl) {
		next.Resources = next.Resources.Unset(it.Name)
	}
	for _, it := range c.sums(cl.choice[choice-1]) {
		next.Resources = next.Resources.Set(it.Name, it.Value)
	}
	return &next
}

// sums returns what the chunks of a class have in sum.
func (c *cycle) sums(cl *class) resource.List {
	sel, err := spec.ParseSelect(cl.key.sel)
	if err != nil {
		return nil
	}
	all, err := spec.Sum(sel, c.view)
	if err != nil {
		return nil
	}
	return all
}

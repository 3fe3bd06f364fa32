package sched

import (
	"slices"
	"sort"
	"time"

	"rampart/fsm/attr"
	"rampart/fsm/command"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// A job that names min_walltime is shrink-to-fit: it runs for max_walltime, or for less where something comes before that
// end, but for no less than min_walltime. Its walltime is set when it starts.

// shrinks returns the bounds of what a shrink-to-fit job that waits may run; false for all others.
func shrinks(j *state.Job) (least, most pbs.Time, ok bool) {
	if j.State == pbs.Running || j.State == pbs.Exiting {
		return 0, 0, false
	}
	if least, ok = length(j, "min_walltime"); !ok {
		return 0, 0, false
	}
	if most, ok = length(j, "max_walltime"); !ok {
		most = unending
	}
	return least, max(least, most), true
}

func length(j *state.Job, name string) (pbs.Time, bool) {
	text, ok := j.Resources.Get(name)
	if !ok {
		return 0, false
	}
	q, err := resource.Parse(resource.Time, text)
	if err != nil {
		return 0, false
	}
	return min(pbs.Time(min(q.Int(), int64(unending/pbs.Time(time.Second))))*pbs.Time(time.Second), unending), true
}

// crosses tells why a job would run on into a time that is not for it, 0 if it would not, however short it is made.
func (c *cycle) crosses(j *state.Job) state.WaitCode {
	code := c.hours.crosses(j)
	if code == 0 {
		return 0
	}
	if least, _, ok := shrinks(j); ok && c.now+least <= c.hours.until(j) {
		return 0
	}
	return code
}

// placeShrunk is placeBeside for a job of any length; it returns for how long the job is to run.
func (c *cycle) placeShrunk(j *state.Job, cl *class) (placed string, long pbs.Time, ok, fits bool) {
	long = c.longest(j)
	least, _, may := shrinks(j)
	where, ok, fits := c.placeBeside(j, cl, long)
	if may && !ok && fits {
		where, long, ok = c.shrinkAhead(j, cl, least, long)
	}
	return where.String(), long, ok, fits
}

// longest returns for how long a job runs that starts now and is not made shorter for anybody.
func (c *cycle) longest(j *state.Job) pbs.Time {
	long := c.planner.rows.walltime(j)
	if _, _, may := shrinks(j); may {
		if until := c.hours.until(j); until != 0 {
			long = min(long, until-c.now)
		}
	}
	return long
}

// shrinkAhead is placeBeside for a job that ends when something begins: as late as it can, but not before it has run for
// its least time. What fits for some time fits for less, so of very many beginnings few are tried.
func (c *cycle) shrinkAhead(j *state.Job, cl *class, least, most pbs.Time) (placed spec.ExecVnode, long pbs.Time, ok bool) {
	begins := c.future.beginning(c.future.end(j, most))
	begins = slices.DeleteFunc(begins, func(at pbs.Time) bool { return at-c.now < least })
	n := sort.Search(len(begins), func(i int) bool { return !c.hasRoom(j, cl, begins[i]-c.now) })
	if n == 0 {
		return nil, most, false
	}
	long = begins[n-1] - c.now
	placed, ok, _ = c.placeBeside(j, cl, long)
	return placed, long, ok
}

// shrunk returns what sets the walltime of a shrink-to-fit job that starts, and tells of it.
func (c *cycle) shrunk(j *state.Job, id pbs.JobID, long pbs.Time) []command.AttrChange {
	if _, _, ok := shrinks(j); !ok {
		return nil
	}
	text := resource.Seconds(int64(long / pbs.Time(time.Second))).String()
	c.log(pbs.LogSched, id, "Job will run for duration="+text)
	return []command.AttrChange{{Entry: attr.Entry{Name: "Resource_List", Resource: "walltime", Value: text}}}
}

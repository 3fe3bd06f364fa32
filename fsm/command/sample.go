package command

import (
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// UsageSample brings the latest usage of the jobs of one mom.
type UsageSample struct {
	Host pbs.HostName `cbor:"1,keyasint"`
	Jobs []JobUsage   `cbor:"2,keyasint"`
}

// JobUsage is what one run has used so far.
type JobUsage struct {
	Job      pbs.JobID     `cbor:"1,keyasint"`
	RunCount pbs.RunCount  `cbor:"2,keyasint"`
	Used     resource.List `cbor:"3,keyasint"`
	Present  resource.List `cbor:"4,keyasint,omitempty"` // of it, what is the hosts' that were not released
}

// Apply takes over the values of runs that are the present ones.
func (c *UsageSample) Apply(tx *state.Tx, _ Meta, _ *state.Result) error {
	for _, u := range c.Jobs {
		j, ok := tx.Job(u.Job)
		if !ok || !j.Is(u.RunCount) || j.Run.MS != c.Host {
			continue
		}
		next := *j
		next.EditRun().Used = usedNow(tx, j, u.Used)
		presentUsed(tx, &next, u.Present)
		outlast(&next)
		tx.PutJob(&next)
	}
	return nil
}

// outlast notes for how long the job is expected to run by now, once it has outlasted its soft_walltime.
func outlast(j *state.Job) {
	time := resource.Def{Type: resource.Time}
	text, _ := j.Run.Used.Get("walltime")
	soft, _ := j.Resources.Get("soft_walltime")
	span, ok := j.SoftSpan(state.Span(time.Measure(text)))
	if !ok || span <= state.Span(time.Measure(soft)) {
		return
	}
	if text := time.Measured(int64(span / state.Span(1))); text != "" {
		j.Attrs = j.Attrs.Set("estimated", "soft_walltime", text)
	}
}

// presentUsed notes what the hosts have used that a job still has. The cpus of those that it
// has released count in the total.
func presentUsed(tx *state.Tx, j *state.Job, present resource.List) {
	if j.Run.Phases == nil {
		return
	}
	run := j.EditRun()
	if n, ok := run.Phases.Orig.Resources.Get("ncpus"); ok {
		run.Used = run.Used.Set("ncpus", n)
	}
	if len(present) == 0 {
		return
	}
	p := *run.Phases
	p.Present = nil // all of it is told
	p.Present = overlaid(p.Present, present)
	run.Phases = &p
}

// usedNow returns what a run has used by what its mother superior tells, which is all that there is to tell: what it does
// not name any more cannot be united over the hosts, or was taken back by a hook (specification: resources-used
// section 4). A mom whose host was booted may have forgotten what it told before: the walltime of a run never falls, and
// its cput not below what its phases have used.
func usedNow(tx *state.Tx, j *state.Job, told resource.List) resource.List {
	if len(told) == 0 {
		return overlaid(j.Run.Used, told)
	}
	used := overlaid(overlaid(nothingUsed(), cpusOf(j)), told)
	used = atLeast(used, j.Run.Used, "walltime")
	if j.Run.Phases != nil {
		used = atLeast(used, j.Run.Phases.UsedAcct, "cput")
	}
	return used
}

// atLeast raises a value to what it was.
func atLeast(used, was resource.List, name string) resource.List {
	before, ok := was.Get(name)
	if !ok {
		return used
	}
	def, _ := resource.Lookup(name)
	if now, _ := used.Get(name); def.Measure(now) < def.Measure(before) {
		used = used.Set(name, before)
	}
	return used
}

func overlaid(used, latest resource.List) resource.List {
	for _, it := range latest {
		used = used.Set(it.Name, it.Value)
	}
	return used
}

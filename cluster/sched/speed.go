package sched

import (
	"iter"
	"slices"
	"time"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// A run limit of LSF's counts by the speed of hosts: how long a job may run is known when its hosts are, at its start (specification: reservation
// section 6.2), and its run has that as its walltime. While it waits it is planned with the slowest hosts first, as those give it most time; where
// something begins before that end it is tried on faster ones alone, with the time that it may have there.

// followSpeeds finds out by which factors the hosts differ that are there, and whether that is other than it was.
func (r *rows) followSpeeds(w *world) (changed bool) {
	var now []lsf.Thousandths
	if !r.config.AbsRunlimit && r.config.Uneven() {
		for h := range w.hosts {
			if f := r.factor(w.hosts[h].key.mom); !slices.Contains(now, f) {
				now = append(now, f)
			}
		}
		slices.Sort(now)
	}
	changed = !slices.Equal(now, r.speeds)
	r.speeds, r.seen = now, w
	return changed
}

func (r *rows) factor(host pbs.HostName) lsf.Thousandths {
	if f := r.byName[string(host)].Factor; f != 0 {
		return f
	}
	return 1000
}

// scales reports whether it depends on the hosts of a job that waits for how long it may run.
func (r *rows) scales(j *state.Job) bool {
	if r == nil || len(r.speeds) == 0 || j.Live() {
		return false
	}
	_, counts := j.Attrs.Get(lsf.JobReference, "")
	_, limited := j.Resources.Get("walltime")
	return counts && limited
}

// on returns a job as one that has the time that it may run on hosts of which the slowest has a factor.
func (r *rows) on(j *state.Job, slowest lsf.Thousandths) *state.Job {
	next := *j
	long := resource.Seconds(int64(r.limit(j, slowest) / pbs.Time(time.Second)))
	next.Resources, next.Attrs = j.Resources.Set("walltime", long.String()), j.Attrs.Unset(lsf.JobReference, "")
	return &next
}

func (r *rows) limit(j *state.Job, slowest lsf.Thousandths) pbs.Time {
	spec, _ := j.Attrs.Get(lsf.JobReference, "")
	reference, _ := r.config.SpecFactor(spec)
	return state.Span(lsf.Scaled(int64(walltime(j)/pbs.Time(time.Second)), reference, slowest))
}

// paced yields a job as it may run on all hosts, then on all but the slowest, and so on; in between the others are closed to it.
func (r *rows) paced(j *state.Job) iter.Seq[*state.Job] {
	return func(yield func(*state.Job) bool) {
		defer func() { r.slowest = 0 }()
		for i, f := range r.speeds {
			if i > 0 {
				r.slowest = f
			}
			if !yield(r.on(j, f)) {
				return
			}
		}
	}
}

// all reports whether hosts of all speeds are open.
func (r *rows) all() bool { return r == nil || r.slowest == 0 }

// tooSlow reports whether a host is closed for its speed.
func (r *rows) tooSlow(host pbs.HostName) bool { return !r.all() && r.factor(host) < r.slowest }

// walltime returns how long a job may run, of one that waits on the slowest host.
func (r *rows) walltime(j *state.Job) pbs.Time {
	if !r.scales(j) {
		return walltime(j)
	}
	return r.limit(j, r.speeds[0])
}

// expected returns how long a job that is to start is expected to run.
func (r *rows) expected(j *state.Job) pbs.Time {
	if soft, ok := j.SoftSpan(0); ok {
		return soft
	}
	return r.walltime(j)
}

// least returns for how long a job has to run that is to start: as long as is expected, or as short as it may be made.
func (r *rows) least(j *state.Job) pbs.Time {
	if short, _, ok := shrinks(j); ok {
		return min(short, r.expected(j))
	}
	return r.expected(j)
}

// shortest returns for how long a job runs at least that starts: as short as it may be made, or on the fastest host.
func (r *rows) shortest(j *state.Job) pbs.Time {
	if least, _, ok := shrinks(j); ok {
		return least
	}
	if r.scales(j) {
		return r.limit(j, r.speeds[len(r.speeds)-1])
	}
	return walltime(j)
}

package command

import (
	"time"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/state"
)

// The run limit of a job of LSF's is said for the cpu of a host. How long a run may last is decided where its hosts are known: the run has
// the limit that follows as its walltime, and all others, its mom among them, know that alone (specification: reservation section 6.2).

// pace gives a run the walltime that its job has on the slowest of its hosts.
func pace(tx *state.Tx, j *state.Job) {
	spec, counts := j.Attrs.Get(lsf.JobReference, "")
	said, limited := j.Resources.Get("walltime")
	if site := tx.LSF(); counts && limited && !site.AbsRunlimit && !shrinksToFit(j) {
		reference, _ := site.SpecFactor(spec)
		slowest := site.Slowest(func(yield func(string) bool) {
			for _, name := range j.Run.ExecVnode.Vnodes() {
				if v, ok := tx.Vnode(name); ok && !yield(string(v.Host)) {
					return
				}
			}
		})
		seconds := resource.Def{Type: resource.Time}.Measure(said)
		if long := lsf.Scaled(seconds, reference, slowest); long != seconds {
			long = int64(state.Span(long) / pbs.Time(time.Second))
			j.Resources = j.Resources.Set("walltime", resource.Seconds(long).String())
			j.Attrs = j.Attrs.Set(lsf.JobRunLimit, "", said)
		}
	}
}

// unpace gives a job back the limit that it had before it started.
func unpace(j *state.Job) {
	if said, paced := j.Attrs.Get(lsf.JobRunLimit, ""); paced {
		j.Resources, j.Attrs = j.Resources.Set("walltime", said), j.Attrs.Unset(lsf.JobRunLimit, "")
	}
}

// repaced drops what was said of a run limit that is altered: by PBS's rules the new one is of wall-clock time, whatever the host. It reports
// whether a run has another limit.
func repaced(j *state.Job, changes []AttrChange, byLSF bool) bool {
	if !touches(changes, "walltime") {
		return false
	}
	j.Attrs = j.Attrs.Unset(lsf.JobRunLimit, "")
	if !byLSF {
		j.Attrs = j.Attrs.Unset(lsf.JobReference, "")
	}
	return j.Live()
}

// inReference returns a run limit as it is compared with those of queues, which are said for the reference of the site.
func inReference(tx *state.Tx, j *state.Job, said string) string {
	spec, counts := j.Attrs.Get(lsf.JobReference, "")
	if !counts || tx.LSF().AbsRunlimit {
		return said
	}
	own, _ := tx.LSF().SpecFactor(spec)
	site, _ := tx.LSF().SpecFactor(tx.RunReference())
	seconds := resource.Def{Type: resource.Time}.Measure(said)
	return resource.Seconds(lsf.Scaled(seconds, own, site)).String()
}

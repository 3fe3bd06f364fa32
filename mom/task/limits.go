package task

import (
	"fmt"
	"time"

	"rampart/fsm/pbs"
)

// Enforce is which limits a mom sees to besides those of time, which it always does.
type Enforce struct {
	Mem, VMem, PMem bool
	// Average ends jobs that use more cpus than they have on the average, once they have run for Trial: more
	// than ncpus by AverageFactor and AverageOver per cent of a cpu. Burst does so at any moment.
	Average, Burst             bool
	AverageFactor, AverageOver float64
	BurstFactor, BurstOver     float64
	Trial                      time.Duration
}

// PBSEnforce is PBS's default: no more than the limits of time.
func PBSEnforce() Enforce {
	return Enforce{AverageFactor: 1.025, AverageOver: 50, BurstFactor: 1.05, BurstOver: 50, Trial: 120 * time.Second}
}

// firstLook is how long a job has run when its memory is first held to a limit, as with PBS's $min_check_poll: a shell, or an interpreter,
// that goes on to become a small program is none of the job's, and whether it is seen would be chance.
const firstLook = 10 * time.Second

// breach is a limit that a job has exceeded: PBS's words, and the exit status.
type breach struct {
	words string
	exit  int
}

// exceeded returns the first limit that the job is over, nil if there is none.
func (t mother) exceeded(e Enforce) *breach {
	above := func(name, unit string, used int64, exit int) *breach {
		if limit, ok := t.limit(name); ok && used > limit {
			return &breach{fmt.Sprintf("%s %d%s exceeded limit %d%s", name, used, unit, limit, unit), exit}
		}
		return nil
	}
	total := t.Reckoning().total()
	checks := []*breach{
		above("walltime", "", int64(t.Peak.Wall/time.Second), pbs.ExitWalltime),
		above("cput", "", int64(total.CPU/time.Second), pbs.ExitCPUTime),
		t.tooBusy(e, total),
	}
	if t.Peak.Wall < firstLook {
		e.Mem, e.VMem, e.PMem = false, false, false
	}
	if e.Mem {
		checks = append(checks, above("mem", "kb", total.RSS/1024, pbs.ExitMem))
	}
	if e.VMem {
		checks = append(checks, above("vmem", "kb", total.VSize/1024, pbs.ExitVMem))
	}
	if e.PMem {
		checks = append(checks, above("pmem", "kb", total.Largest/1024, pbs.ExitMem))
	}
	for _, o := range checks {
		if o != nil {
			return o
		}
	}
	return nil
}

// timed reports whether the walltime of the job goes on.
func (t Task) timed() bool { return t.State() == Running && !t.Suspension.stands() }

// limitedOtherwise reports whether it is to be looked at anew when the walltime will be over.
func limitedOtherwise(before, after Task) bool {
	was, is := before.Attrs.Resource("Resource_List", "walltime"), after.Attrs.Resource("Resource_List", "walltime")
	return was != is || before.Suspension.stands() != after.Suspension.stands()
}

// tooBusy reports whether the job uses more cpus than it has, where the site minds.
func (t mother) tooBusy(e Enforce, total Peak) *breach {
	n, ok := t.limit("ncpus")
	if !ok {
		return nil
	}
	if wall := t.Peak.Wall; e.Average && wall > e.Trial {
		if used := total.CPU.Seconds() / wall.Seconds(); used > float64(n)*e.AverageFactor+e.AverageOver/100 {
			return &breach{fmt.Sprintf("ncpus %.1f exceeded limit %d (sum)", used, n), pbs.ExitNCPUSSum}
		}
	}
	if used := float64(total.Percent) / 100; e.Burst && used > float64(n)*e.BurstFactor+e.BurstOver/100 {
		return &breach{fmt.Sprintf("ncpus %.1f exceeded limit %d (burst)", used, n), pbs.ExitNCPUSBurst}
	}
	return nil
}

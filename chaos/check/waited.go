package check

import "time"

// A Wait is the time in which a job did not start although a host that was fit and well had room for it.
type Wait struct {
	Job    string
	Avoids bool // a host has failed to start it
	Span
}

// longestWait is how long a job may wait so.
const longestWait = 10 * time.Second

// NobodyWaits is L14: with a fit and healthy host that has room, no job waits for more than ten seconds on account of a sick one.
var NobodyWaits = Law{Name: "L14 nobody waits for a sick host", Judge: func(e *Evidence) []string {
	var f faults
	for _, w := range e.Waits {
		if to := min(w.To, e.end()); to-w.From > longestWait {
			f.add("%s waited from %.3fs to %.3fs, and a host that was fit had room", w.Job, w.From.Seconds(), to.Seconds())
		}
	}
	return f
}}

// end returns when the last wait that was seen has begun or ended: of those that are still on nothing is known after it.
func (e *Evidence) end() (last time.Duration) {
	for _, w := range e.Waits {
		last = max(last, w.From)
		if w.To != Never {
			last = max(last, w.To)
		}
	}
	return last
}

// Sickened wants that hosts have failed to start jobs: a run without it says nothing of sick ones.
var Sickened = Law{Name: "hosts failed to start jobs", Amount: true, Judge: func(e *Evidence) []string {
	for _, w := range e.Waits {
		if w.Avoids {
			return nil
		}
	}
	return []string{"no job that waits has been failed by a host"}
}}

// Elsewhere is L2 the other way round: a job whose program was never started, for a sister was lost when the run was given to its
// hosts, runs again within that time, whether the sister comes back or not.
func Elsewhere(kind string, within time.Duration) Law {
	return Law{Name: "jobs run again elsewhere", Judge: func(e *Evidence) []string {
		var f faults
		for _, h := range e.Hits {
			again := false
			for _, r := range e.Runs {
				again = again || r.Job == h.Job && r.Count > h.Count && r.Start <= h.When+within
			}
			if h.At == kind && h.Host != h.Mother && !again {
				f.add("run %d of %s was lost with %s at %.3fs, and did not run again within %s", h.Count, h.Job, h.Host, h.When.Seconds(), within)
			}
		}
		return f
	}}
}

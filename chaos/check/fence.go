package check

import "slices"

// FenceFell wants that a fence has fallen under jobs: a run about the fence in which none
// did says nothing.
var FenceFell = Law{Name: "a fence fell", Amount: true, Judge: func(e *Evidence) []string {
	var f faults
	if !slices.ContainsFunc(e.Fences, func(x Fence) bool { return x.Requeued+x.Ended > 0 }) {
		f.add("no host was given up with jobs on it: %v", e.Fences)
	}
	return f
}}

// DeadlinePassed wants that shims have ended jobs at their deadline.
var DeadlinePassed = Law{Name: "a deadline passed", Amount: true, Judge: func(e *Evidence) []string {
	var f faults
	if !slices.ContainsFunc(e.Runs, func(r Run) bool { return r.Fenced }) {
		f.add("no program was ended at its deadline")
	}
	return f
}}

// GossipLied wants that gossip has told somebody what was not so.
var GossipLied = Law{Name: "gossip lied", Amount: true, Judge: func(e *Evidence) []string {
	var f faults
	if e.Lies == 0 {
		f.add("nobody was deceived")
	}
	return f
}}

// LiveMomsAreUp is L13: a mom that answers is not down, whatever gossip says of it.
var LiveMomsAreUp = Law{Name: "L13 live moms are up", Judge: func(e *Evidence) []string { return e.Downs }}

// KilledAt wants that a leader was killed when it had applied that kind of command.
func KilledAt(kind string) Law {
	return Law{Name: "the leader died at " + kind, Amount: true, Judge: func(e *Evidence) []string {
		var f faults
		if !slices.Contains(e.Killed, kind) {
			f.add("none did, but at %q", e.Killed)
		}
		return f
	}}
}

// LostAt wants that a host of a run was lost when the leader had applied that kind of command about
// the run, and that it was the one meant: its mother superior, or a sister. A program of the run began
// nowhere else than there.
func LostAt(kind string, sister bool) Law {
	return Law{Name: "a host was lost at " + kind, Amount: true, Judge: func(e *Evidence) []string {
		var f faults
		found := false
		for _, h := range e.Hits {
			if h.At != kind {
				continue
			}
			found = true
			if (h.Host == h.Mother) == sister {
				f.add("%s was lost, the mother superior of %s is %s", h.Host, h.Job, h.Mother)
			}
			for _, r := range e.Runs {
				if r.Job == h.Job && r.Count == h.Count && !r.Part && r.Host != h.Mother {
					f.add("%s, but its mother superior was %s", r, h.Mother)
				}
			}
		}
		if !found {
			f.add("none was, but at %v", e.Hits)
		}
		return f
	}}
}

// MissedAt wants that the start went on without a sister that was lost when the leader had applied
// that kind of command about it.
func MissedAt(kind string) Law {
	return Law{Name: "a start went on without the sister lost at " + kind, Amount: true, Judge: func(e *Evidence) []string {
		var f faults
		if !e.missed(kind, func(Missed) bool { return true }) {
			f.add("of %v, without %v", e.Hits, e.Missed)
		}
		return f
	}}
}

// JoinedLate wants that such a sister has joined the run all the same: too late.
func JoinedLate(kind string) Law {
	return Law{Name: "a sister lost at " + kind + " joined late", Amount: true, Judge: func(e *Evidence) []string {
		var f faults
		if !e.missed(kind, func(m Missed) bool { return m.Late }) {
			f.add("of %v, without %v", e.Hits, e.Missed)
		}
		return f
	}}
}

// missed reports whether a start of a job went on without the sister that was lost at a kind of command, which
// was the job's only run: what is told of hosts does not say of which run.
func (e *Evidence) missed(kind string, such func(Missed) bool) bool {
	for _, h := range e.Hits {
		if h.At != kind || h.Host == h.Mother || slices.ContainsFunc(e.Runs, func(r Run) bool { return r.Job == h.Job && r.Count != h.Count }) {
			continue
		}
		if slices.ContainsFunc(e.Missed, func(m Missed) bool { return m.Job == h.Job && m.Host == h.Host && such(m) }) {
			return true
		}
	}
	return false
}

// HitsAt wants that hosts were lost so many times when the leader had applied that kind of command.
func HitsAt(kind string, times int) Law {
	return Law{Name: "hosts were lost again and again", Amount: true, Judge: func(e *Evidence) []string {
		var f faults
		n := 0
		for _, h := range e.Hits {
			if h.At == kind {
				n++
			}
		}
		if n < times {
			f.add("%d times at %s, want %d", n, kind, times)
		}
		return f
	}}
}

// Recovered wants that the cluster was recovered so many times.
func Recovered(times int) Law {
	return Law{Name: "the cluster was recovered", Amount: true, Judge: func(e *Evidence) []string {
		var f faults
		if e.Epochs != times {
			f.add("%d times, want %d", e.Epochs, times)
		}
		return f
	}}
}

// NothingRequeued is L13 with L2 for runs in which no fence may fall: no silence of a mom
// and no word of gossip makes a job run again that nobody asked to run again.
var NothingRequeued = Law{Name: "L13 nothing requeued", Judge: func(e *Evidence) []string {
	var f faults
	for _, x := range e.Fences {
		f.add("%s was given up at index %d", x.Host, x.Index)
	}
	runs := make(map[string]int)
	for _, r := range e.Runs {
		runs[r.Job]++
	}
	for _, job := range sortedKeys(runs) {
		if most := 1 + e.History.tried(Rerun, job); runs[job] > most {
			f.add("%s ran %d times, and %d at most were asked for", job, runs[job], most)
		}
	}
	return f
}}

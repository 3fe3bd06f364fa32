package check

// StandStill is L3 of suspended jobs: while others may have what such a job gave back, its program
// is stopped.
var StandStill = Law{Name: "L3 suspended jobs stand still", Judge: standStill}

func standStill(e *Evidence) []string {
	var f faults
	for _, s := range e.Stood {
		for _, r := range e.Runs {
			if r.Job == s.Job && r.Count == s.Count && !r.Part && !r.stopped(s.Span) {
				f.add("suspended from %.3fs to %.3fs was %s, stopped %v", s.From.Seconds(), s.To.Seconds(), r, r.Halts)
			}
		}
	}
	return f
}

// stopped reports whether the program did nothing all the time.
func (r Run) stopped(s Span) bool {
	s.From, s.To = max(s.From, r.Start), min(s.To, r.End)
	if s.From >= s.To {
		return true // it was not there
	}
	for _, h := range r.Halts {
		if h.From <= s.From && s.To <= h.To {
			return true
		}
	}
	return false
}

// OneWay is L5 of preemption: no run is suspended twice for one job that waits, without that having started or gone since
// the first time was decided. A plan that does not help is made again and again.
var OneWay = Law{Name: "L5 nobody makes way twice for one who waits", Judge: oneWay}

func oneWay(e *Evidence) []string {
	type made struct {
		job   string
		count uint32
		way   Way
	}
	var f faults
	before := map[made]Span{}
	for _, s := range e.Stood {
		m := made{s.Job, s.Count, s.Way}
		if s.For == "" {
			continue
		}
		if first, again := before[m]; again {
			f.add("run %d of %s was suspended for %s at %.3fs, and at %.3fs again", s.Count, s.Job, s.For, first.From.Seconds(), s.From.Seconds())
		}
		before[m] = s.Span
	}
	return f
}

// preempted counts how often a job was suspended for others.
func (e *Evidence) preempted(job string) (n int) {
	for _, s := range e.Stood {
		if s.Job == job && s.For != "" {
			n++
		}
	}
	return n
}

// Preempted wants that jobs were suspended for others: a run without it says nothing of that. What is drawn may be without one.
var Preempted = Law{Name: "jobs were preempted", Amount: true, Judge: func(e *Evidence) []string {
	for _, s := range e.Stood {
		if s.For != "" {
			return nil
		}
	}
	return []string{"no job was seen suspended for another one"}
}}

// TrueSuspensions is L10 of suspensions: z and r records take turns in a run, and there are no more z
// than somebody has asked for.
var TrueSuspensions = Law{Name: "L10 true suspensions", Judge: trueSuspensions}

func trueSuspensions(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, job := range sortedKeys(books) {
			suspended := false
			for _, rec := range books[job] {
				switch rec.kind {
				case "z", "r":
					if suspended == (rec.kind == "z") {
						f.add("%s has, when the job is suspended or not already, %s", r.Name, rec.line)
					}
					suspended = rec.kind == "z"
				case "R", "E", "D":
					suspended = false
				}
			}
			if n, most := countOf(books[job], "z"), e.History.tried(Suspend, job)+e.Asked[Wish{Suspend, job}]+e.preempted(job)+len(e.Overloaded.Stopped[job]); n > most && !isSubjob(job) {
				f.add("%s on %s has %d z records of %d suspensions", job, r.Name, n, most)
			}
		}
	}
	return f
}

// Suspended wants that jobs were suspended and resumed: a run without it says nothing of that.
var Suspended = Law{Name: "jobs were suspended", Amount: true, Judge: func(e *Evidence) []string {
	if e.History.count(Suspend, Done) > 0 && e.History.count(Resume, Done) > 0 && len(e.Stood) > 0 {
		return nil
	}
	return []string{"no suspension or no resumption was acknowledged, or no job was seen suspended"}
}}

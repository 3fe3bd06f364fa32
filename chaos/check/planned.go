package check

// Planned is what was seen of jobs that wait with a plan: a time, and vnodes of that time.
type Planned struct {
	By      map[string]bool // jobs that had a plan while no other came before them
	Started int             // of those that started
	Wrong   []string        // what has become of a plan and should not have
}

// PlansKept is L15 for the plans of jobs that wait: the job that comes first starts by the time that it was told, what is kept for it goes to no
// job that comes later and is not over by then, and it is kept no more than it was planned to have.
var PlansKept = Law{Name: "L15 plans are kept", Judge: func(e *Evidence) []string {
	var f faults
	for _, text := range e.Planned.Wrong[:min(len(e.Planned.Wrong), 5)] {
		f.add("%s", text)
	}
	return f
}}

// SomePlanned wants that a job with a plan has started: a run without it says nothing of plans.
var SomePlanned = Law{Name: "jobs with a plan start", Amount: true, Judge: func(e *Evidence) []string {
	if e.Planned.Started == 0 {
		return []string{"none did"}
	}
	return nil
}}

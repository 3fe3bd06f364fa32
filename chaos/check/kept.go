package check

// Kept is what was seen of jobs that keep what is free while they wait.
type Kept struct {
	By    map[string]bool // jobs that kept something
	Wrong []string        // what was kept and should not have been
}

// KeptIsThere is L3 for what is kept: no more than is free, once it is said, and for no longer than the queue lets its jobs.
var KeptIsThere = Law{Name: "L3 what is kept is there", Judge: func(e *Evidence) []string {
	var f faults
	for _, text := range e.Kept.Wrong[:min(len(e.Kept.Wrong), 5)] {
		f.add("%s", text)
	}
	return f
}}

// SomeKeep wants that jobs kept something: a run without it says nothing of that.
var SomeKeep = Law{Name: "jobs keep what is free", Amount: true, Judge: func(e *Evidence) []string {
	if len(e.Kept.By) == 0 {
		return []string{"nobody kept anything"}
	}
	return nil
}}

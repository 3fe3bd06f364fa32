package check

// Overloaded is what was seen of jobs that the load of their hosts has suspended.
type Overloaded struct {
	Stopped map[string]map[uint64]bool // of each job, the indices of the entries that suspend it
	Wrong   []string                   // what should not have been suspended
}

// StoppedByLoad judges suspension by load (specification: reservation section 9.7): a host of the job told a load beyond loadStop not long before, and no
// other job that has that host was suspended while its load had no time to show it.
var StoppedByLoad = Law{Name: "L5 load suspends one job of a host at a time", Judge: func(e *Evidence) []string {
	var f faults
	for _, text := range e.Overloaded.Wrong[:min(len(e.Overloaded.Wrong), 5)] {
		f.add("%s", text)
	}
	return f
}}

// SomeStopped wants that load suspended jobs: a run without it says nothing of that.
var SomeStopped = Law{Name: "load suspends jobs", Amount: true, Judge: func(e *Evidence) []string {
	if len(e.Overloaded.Stopped) == 0 {
		return []string{"load suspended nobody"}
	}
	return nil
}}

package check

// The least that must have happened for a run to say anything.
const (
	leastFaults  = 1
	leastSubmits = 5
	leastLists   = 3
	leastLooks   = 3
	leastChanges = 3 // of jobs: holds, releases, alterations, reruns
	leastRuns    = 3
)

// Busy wants that enough has happened: a run that did nothing must not be green.
var Busy = Law{Name: "enough happened", Judge: busy, Amount: true}

func busy(e *Evidence) []string {
	var f faults
	for _, x := range []struct {
		what       string
		got, least int
	}{
		{"faults", len(e.Struck), leastFaults},
		{"acknowledged submissions", e.History.count(Submit, Done), leastSubmits},
		{"answered lists", e.History.count(List, Done), leastLists},
		{"answered looks at jobs and queues", e.History.count(Look, Done) + e.History.count(LookQueues, Done), leastLooks},
		{"answered changes of jobs", e.History.answered(Hold, Release, Alter, Rerun), leastChanges},
		{"programs run", len(e.Runs), leastRuns},
		{"views compared", len(e.Views), len(e.Replicas)},
	} {
		if x.got < x.least {
			f.add("%d %s, want at least %d", x.got, x.what, x.least)
		}
	}
	return f
}

package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"rampart/fsm/pbs"
)

// SameState is L4: equal applied index, equal state, on the way and at the end.
var SameState = Law{Name: "L4 same state", Judge: sameState}

func sameState(e *Evidence) []string {
	var f faults
	seen := make(map[uint64]Digest)
	for _, d := range e.Views {
		first, ok := seen[d.Index]
		if !ok {
			seen[d.Index] = d
		} else if first.Sum != d.Sum {
			f.add("at index %d the state of %s sums to %x, that of %s to %x", d.Index, first.Replica, first.Sum, d.Replica, d.Sum)
		}
	}
	for _, r := range e.Replicas[min(1, len(e.Replicas)):] {
		first := e.Replicas[0]
		if r.Index != first.Index || r.Sum != first.Sum {
			f.add("at the end %s is at index %d with %x, %s at %d with %x", first.Name, first.Index, first.Sum, r.Name, r.Index, r.Sum)
		}
	}
	return f
}

// SnapshotIsState is L7: a state that went through a snapshot is the same. That a
// replica which took one goes on like the others, SameState sees.
var SnapshotIsState = Law{Name: "L7 snapshot is state", Judge: snapshotIsState}

func snapshotIsState(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		if r.Reread != r.Sum {
			f.add("the state of %s sums to %x, from a snapshot of it to %x", r.Name, r.Sum, r.Reread)
		}
	}
	return f
}

// LegalMoves is L5: a job moves only along the table of legal moves, in the states
// that were seen and in the records of the ledger.
var LegalMoves = Law{Name: "L5 legal moves", Judge: legalMoves}

func legalMoves(e *Evidence) []string {
	var f faults
	ways := reachable()
	last := make(map[string]Move)
	for _, m := range e.Moves {
		key := fmt.Sprint(m.Replica, " ", m.Start, " ", m.Job)
		if before, ok := last[key]; ok {
			judgeMove(&f, ways, before, m)
		}
		last[key] = m
	}
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, job := range sortedKeys(books) {
			judgeOrder(&f, r.Name, job, books[job], e.OwnBook || len(e.Fences) > 0)
		}
	}
	return f
}

func judgeMove(f *faults, ways map[[2]string]bool, before, m Move) {
	if !ways[[2]string{before.State, m.State}] && before.State != m.State {
		f.add("%s went from %s to %s on %s at index %d", m.Job, before.State, m.State, m.Replica, m.Index)
	}
	if m.Run < before.Run {
		f.add("the run count of %s fell from %d to %d on %s at index %d", m.Job, before.Run, m.Run, m.Replica, m.Index)
	}
}

// reachable returns the pairs of states between which a way of legal moves leads.
func reachable() map[[2]string]bool {
	ways := make(map[[2]string]bool)
	for _, from := range pbs.JobStates() {
		for _, ev := range pbs.Events() {
			if to, err := from.After(ev); err == nil {
				ways[[2]string{from.Letter(), to.Letter()}] = true
			}
		}
	}
	for _, via := range pbs.JobStates() {
		for _, from := range pbs.JobStates() {
			for _, to := range pbs.JobStates() {
				if ways[[2]string{from.Letter(), via.Letter()}] && ways[[2]string{via.Letter(), to.Letter()}] {
					ways[[2]string{from.Letter(), to.Letter()}] = true
				}
			}
		}
	}
	return ways
}

// mayFollow names the records that may come next in a job's life. D and a may come
// at any time before the end, M while the job waits.
var mayFollow = map[string]string{"": "Q", "Q": "SA", "S": "REusz", "R": "SA", "E": "", "A": "", "u": "c", "c": "uResz", "e": "E", "s": "uReEz", "z": "rREe", "r": "zREue"}

// judgeOrder judges the records of a job. When a host was given up, a run may be accounted
// as over of whose start nobody was told: it may have run all the same. With an own book
// of programs nobody has seen whether one was.
func judgeOrder(f *faults, replica, job string, book []record, gaveUp bool) {
	last := ""
	if isSubjob(job) { // its array was queued
		last = "Q"
	}
	for _, r := range book {
		switch {
		case (r.kind == "D" || r.kind == "a") && last != "" && last != "E" && last != "A":
			continue
		case r.kind == "M" && (last == "Q" || last == "R"):
			continue
		case gaveUp && r.kind == "R" && (last == "Q" || last == "R"):
		case len(r.kind) != 1 || !contains(mayFollow[last], r.kind):
			f.add("on %s the records of %s have %q after %q", replica, job, r.kind, last)
			return
		}
		last = r.kind
	}
}

func contains(set, letter string) bool {
	for i := range len(set) {
		if set[i:i+1] == letter {
			return true
		}
	}
	return false
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

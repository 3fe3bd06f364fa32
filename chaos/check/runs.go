package check

import (
	"cmp"
	"slices"
)

// OneRunEach is L2: one live run of a job at a time, each under a number of its
// own, and no more runs than the ledger has returns to the queue.
var OneRunEach = Law{Name: "L2 one run each", Judge: oneRunEach}

func oneRunEach(e *Evidence) []string {
	var f faults
	byJob := make(map[string][]Run)
	parts := make(map[string][]Run)
	for _, r := range e.Runs {
		if r.Part {
			parts[r.Job] = append(parts[r.Job], r)
			continue
		}
		byJob[r.Job] = append(byJob[r.Job], r)
	}
	for _, job := range sortedKeys(parts) {
		judgeParts(&f, parts[job], byJob[job])
	}
	for _, job := range sortedKeys(byJob) {
		runs := byJob[job]
		slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(a.Start, b.Start) })
		for i := 1; i < len(runs); i++ {
			judgePair(&f, runs[i-1], runs[i])
		}
	}
	for _, r := range e.Replicas {
		judgeRunCount(&f, e, r, byJob)
		for _, name := range e.History.once() {
			for _, j := range r.named(name) {
				if n := len(byJob[j.ID]); n > 1 {
					f.add("%s must not run again, and ran %d times", j.ID, n)
				}
			}
		}
	}
	return f
}

// judgeParts finds programs of a run that live beside another run, on whatever host.
func judgeParts(f *faults, parts, runs []Run) {
	for i, p := range parts {
		for _, r := range slices.Concat(runs, parts[:i]) {
			if r.Count != p.Count && r.Start < p.End && p.Start < r.End {
				f.add("two live runs: %s, and %s beside its first program", r, p)
			}
		}
	}
}

func judgePair(f *faults, before, after Run) {
	if after.Start < before.End {
		f.add("two live runs: %s, and %s", before, after)
	}
	if after.Count <= before.Count {
		f.add("%s does not follow %s", after, before)
	}
}

func judgeRunCount(f *faults, e *Evidence, r Replica, byJob map[string][]Run) {
	books := recordsByJob(r, f)
	for _, job := range sortedKeys(books) {
		if isArray(job) { // it is accounted for, and what runs are its subjobs
			continue
		}
		book, runs := books[job], len(byJob[job])
		if most := 1 + countOf(book, "R"); runs > most {
			f.add("%s ran %d times, %s has %d R records", job, runs, r.Name, most-1)
		}
		starts := countOf(book, "S")
		if e.OwnBook { // who was sent back to the queue or deleted was killed
			starts -= countOf(book, "R") + countOf(book, "D")
		}
		// A pruning is accounted for before the program, which may never come.
		starts -= min(prunings(book), countOf(book, "R")+countOf(book, "D"))
		if starts > runs {
			f.add("%s has %d S records on %s and ran %d times", job, countOf(book, "S"), r.Name, runs)
		}
		if ends := countOf(book, "E"); ends > 1 {
			f.add("%s has %d E records on %s", job, ends, r.Name)
		}
	}
}

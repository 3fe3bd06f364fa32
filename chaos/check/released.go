package check

import (
	"fmt"
	"strings"
)

// HeldUntilLeft is L2 and L3 of released hosts: their vnodes are nobody else's before nothing of
// the run lives there.
var HeldUntilLeft = Law{Name: "L3 held until left", Judge: heldUntilLeft}

func heldUntilLeft(e *Evidence) []string {
	var f faults
	for _, v := range e.Vacated {
		for _, r := range e.Runs {
			if r.Job == v.Job && r.Count == v.Count && r.Host == v.Host && r.End > v.At {
				f.add("the vnodes of %s were free at %.3fs, and there was %s", v.Host, v.At.Seconds(), r)
			}
		}
	}
	return f
}

// Released wants that hosts were released: a run without it says nothing of releases.
var Released = Law{Name: "hosts were released", Amount: true, Judge: func(e *Evidence) []string {
	if e.History.count(ReleaseNodes, Done) > 0 && len(e.Vacated) > 0 {
		return nil
	}
	return []string{"no release was acknowledged, or no host was given back"}
}}

// ReleasesStruck wants that releases were under way when something struck, and came to a good end.
var ReleasesStruck = Law{Name: "releases were struck", Amount: true, Judge: func(e *Evidence) []string {
	for _, o := range e.History {
		if o.Kind != ReleaseNodes || o.Result != Done {
			continue
		}
		for _, b := range e.Blows {
			if o.Start < b.From && b.To < o.End {
				return nil
			}
		}
	}
	return []string{"no release that was acknowledged was under way when something struck"}
}}

// TruePhases is L6 and L10 of releases: each that was acknowledged has its records, and no other.
var TruePhases = Law{Name: "L10 true phases", Judge: truePhases}

func truePhases(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, job := range sortedKeys(books) {
			least, most := 0, e.History.tried(ReleaseNodes, job)
			for _, o := range e.History {
				if o.Kind == ReleaseNodes && o.Job == job && o.Result == Done && !strings.HasPrefix(o.Value, "-k") {
					least++ // to keep what is there changes nothing
				}
			}
			cut := prunings(books[job]) // that nobody has asked for from outside
			ended, began := countOf(books[job], "u")-cut, countOf(books[job], "c")-cut
			if ended != began || began < least || began > most {
				f.add("%s on %s has %d u and %d c records of %s", job, r.Name, ended, began, releases(least, most))
			}
			judgePhases(&f, r, books[job])
		}
	}
	return f
}

func releases(least, most int) string {
	if least == most {
		return fmt.Sprintf("%d releases", least)
	}
	return fmt.Sprintf("%d to %d releases", least, most)
}

// judgePhases wants c behind each u, and e before the E of a run that has released something.
func judgePhases(f *faults, r Replica, book []record) {
	phased, before := false, ""
	for _, rec := range book {
		switch rec.kind {
		case "u":
			phased = true
		case "c":
			if before != "u" {
				f.add("%s has no u record before %s", r.Name, rec.line)
			}
		case "R":
			phased = false
		case "E":
			if phased != (before == "e") {
				f.add("%s has %q before %s", r.Name, before, rec.line)
			}
		}
		before = rec.kind
	}
}

// prunings counts the phases of a job's book that began before its program: an s record is behind
// their c.
func prunings(book []record) int {
	n := 0
	for i := range len(book) - 1 {
		if book[i].kind == "c" && book[i+1].kind == "s" {
			n++
		}
	}
	return n
}

// Pruned wants that runs were cut down when they started: without it a run says nothing of that.
var Pruned = Law{Name: "runs were pruned", Amount: true, Judge: func(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		for _, book := range recordsByJob(r, &f) {
			if prunings(book) > 0 {
				return f
			}
		}
	}
	return append(f, "no run was pruned")
}}

// PaddedRecords is L10 of padded jobs: each S has an s behind it.
var PaddedRecords = Law{Name: "L10 records of padded jobs", Judge: func(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, job := range sortedKeys(books) {
			if isArray(job) { // it is never placed itself
				continue
			}
			for i, rec := range books[job] {
				padded := rec.kind == "S" && strings.Contains(rec.line, "select_reliable_startup=")
				if padded && (i+1 == len(books[job]) || books[job][i+1].kind != "s") {
					f.add("%s has no s record behind %s", r.Name, rec.line)
				}
			}
		}
	}
	return f
}}

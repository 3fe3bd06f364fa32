package check

import (
	"bytes"
	"strings"

	"rampart/fsm/pbs"
)

// SameLedger is L10: the accounting files of all replicas are equal byte for byte,
// and hold every record that the state has numbered, once.
var SameLedger = Law{Name: "L10 same ledger", Judge: sameLedger}

func sameLedger(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		if n := uint64(len(recordsOf(r, &f))); n != r.Records {
			f.add("the ledger of %s has %d records, its state has numbered %d", r.Name, n, r.Records)
		}
		first := e.Replicas[0]
		for _, day := range sortedKeys(first.Ledger) {
			if other, ok := r.Ledger[day]; !ok || !bytes.Equal(first.Ledger[day], other) {
				f.add("the ledgers of %s and %s differ: %s", first.Name, r.Name, firstDifference(day, first.Ledger[day], other))
			}
		}
		for _, day := range sortedKeys(r.Ledger) {
			if _, ok := first.Ledger[day]; !ok {
				f.add("%s has a ledger of %s, %s has none", r.Name, day, first.Name)
			}
		}
	}
	return f
}

func firstDifference(day string, a, b []byte) string {
	left, right := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(left), len(right)) {
		if left[i] != right[i] {
			return day + ": " + left[i] + " / " + right[i]
		}
	}
	return day + ": one is longer"
}

// A record is one line of the ledger: its kind, and the job that it is about.
type record struct{ kind, job, line string }

// recordsOf returns the records of all days, in their order.
func recordsOf(r Replica, f *faults) []record {
	var all []record
	for _, day := range sortedKeys(r.Ledger) {
		for line := range strings.Lines(string(r.Ledger[day])) {
			parts := strings.SplitN(line, ";", 4)
			if len(parts) != 4 || !strings.HasSuffix(line, "\n") {
				f.add("the ledger of %s for %s has the line %q", r.Name, day, line)
				continue
			}
			all = append(all, record{kind: parts[1], job: parts[2], line: line})
		}
	}
	return all
}

// hourly is the kind of the records of licences in use, which are about no job.
const hourly = "L"

func recordsByJob(r Replica, f *faults) map[string][]record {
	books := make(map[string][]record)
	for _, rec := range recordsOf(r, f) {
		if rec.kind != hourly && !pbs.NamesReservation(rec.job) {
			books[rec.job] = append(books[rec.job], rec)
		}
	}
	return books
}

func recordsByReservation(r Replica, f *faults) map[string][]record {
	books := make(map[string][]record)
	for _, rec := range recordsOf(r, f) {
		if pbs.NamesReservation(rec.job) {
			books[rec.job] = append(books[rec.job], rec)
		}
	}
	return books
}

func countOf(book []record, kind string) int {
	n := 0
	for _, r := range book {
		if r.kind == kind {
			n++
		}
	}
	return n
}

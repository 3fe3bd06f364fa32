package check

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// A Loss is what went with replicas that were lost, and that no survivor of a disaster had:
// what was acknowledged of it is missing by the disaster's doing, not by ours.
type Loss struct {
	Entries uint64            // that the lost ones had applied
	Jobs    map[string]string // of which such an entry tells: names by id; see Touch
	Queues  bool              // such an entry tells of a queue
}

// withoutLoss returns the evidence of all that the loss does not touch. A job that it touches
// is nobody's any more, but for L2: two runs of it beside each other are as bad as ever.
func (e *Evidence) withoutLoss() *Evidence {
	if e.Loss == nil {
		return e
	}
	left := *e
	left.History = e.Loss.history(e.History)
	left.Runs = slices.DeleteFunc(slices.Clone(e.Runs), func(r Run) bool { return e.Loss.has(r.Job) })
	left.Replicas = slices.Clone(e.Replicas)
	for i := range left.Replicas {
		r := &left.Replicas[i]
		r.Jobs = slices.DeleteFunc(slices.Clone(r.Jobs), func(j Job) bool { return e.Loss.has(j.ID) })
		var gone uint64
		r.Ledger, gone = e.Loss.ledger(r.Ledger)
		r.Records -= min(gone, r.Records)
	}
	return &left
}

// Touch notes a job of which a lost entry tells. A subjob touches its whole array, which the
// clients know by one name.
func (l *Loss) Touch(id, name string) {
	l.Jobs[arrayOf(id)] = name
}

func (l *Loss) has(job string) bool {
	_, ok := l.Jobs[arrayOf(job)]
	return ok
}

// arrayOf returns the id of a subjob's array ("2[].srv" of "2[7].srv"), of another job its own.
func arrayOf(id string) string {
	number, rest, ok := strings.Cut(id, "[")
	_, server, closed := strings.Cut(rest, "]")
	if !ok || !closed {
		return id
	}
	return number + "[]" + server
}

func (l *Loss) history(h History) History {
	names := make(map[string]bool)
	for _, name := range l.Jobs {
		names[name] = true
	}
	var left History
	for _, o := range h {
		if o.Name != "" && names[o.Name] || l.has(o.Job) || l.Queues && (o.Kind == SetQueue || o.Kind == LookQueues) {
			continue
		}
		if o.Seen != nil {
			o.Seen = maps.Clone(o.Seen)
			maps.DeleteFunc(o.Seen, func(name string, _ Seen) bool { return names[name] })
		}
		left = append(left, o)
	}
	return left
}

// ledger leaves out the records of the jobs, and tells how many those were.
func (l *Loss) ledger(days map[string][]byte) (left map[string][]byte, gone uint64) {
	left = make(map[string][]byte)
	for day, text := range days {
		var kept bytes.Buffer
		for line := range bytes.Lines(text) {
			if f := strings.SplitN(string(line), ";", 4); len(f) == 4 && l.has(f[2]) {
				gone++
				continue
			}
			kept.Write(line)
		}
		left[day] = kept.Bytes()
	}
	return left, gone
}

// overlaps finds runs of lost jobs that lived beside each other.
func (l *Loss) overlaps(runs []Run) []string {
	var f faults
	for i, a := range runs {
		for _, b := range runs[i+1:] {
			if a.Job == b.Job && l.has(a.Job) && a.Start < b.End && b.Start < a.End {
				f.add("two live runs: %s, and %s", a, b)
			}
		}
	}
	return f
}

// Lost wants that something was missing after a disaster, and be it an entry.
var Lost = Law{Name: "entries were lost", Amount: true, Judge: func(e *Evidence) []string {
	var f faults
	if e.Loss == nil || e.Loss.Entries == 0 {
		f.add("none were")
	}
	return f
}}

// NothingLost is L1 of a disaster in which the last quorum held a survivor.
var NothingLost = Law{Name: "L1 nothing lost", Judge: func(e *Evidence) []string {
	var f faults
	if e.Loss != nil {
		f.add("%d entries that were applied are in no survivor's log, of the jobs %v", e.Loss.Entries, sortedKeys(e.Loss.Jobs))
	}
	return f
}}

package state

import (
	"slices"
	"strconv"
	"strings"

	"rampart/fsm/pbs"
)

// DependKind says how two jobs depend on each other. The numbers are in every log and
// snapshot: append only.
type DependKind uint8

// The kinds: what a job waits for, and, on the job that is waited for, who waits.
const (
	DependAfter DependKind = iota + 1 // has started
	DependAfterOK
	DependAfterNotOK
	DependAfterAny
	DependBefore
	DependBeforeOK
	DependBeforeNotOK
	DependBeforeAny
	DependOn        // a number of jobs that are to name this one in before...
	DependSingleton // those of the same owner and name that were submitted before it are over
	DependRunOne    // one of a set is to run: while one is under way it holds the others, and its end deletes them
)

var dependNames = [...]string{
	DependAfter: "after", DependAfterOK: "afterok", DependAfterNotOK: "afternotok", DependAfterAny: "afterany", DependBefore: "before",
	DependBeforeOK: "beforeok", DependBeforeNotOK: "beforenotok", DependBeforeAny: "beforeany", DependOn: "on",
	DependSingleton: "singleton", DependRunOne: "runone",
}

// String returns PBS's word.
func (k DependKind) String() string { return dependNames[k] }

// Waits reports whether a dependency of the kind is one that the job has asked for itself, and that
// holds it; runone holds only while it is Held.
func (k DependKind) Waits() bool { return k < DependBefore || k >= DependOn }

// Mirror returns what the other job has: afterok for beforeok, and the other way round. Those of a
// set all have runone.
func (k DependKind) Mirror() DependKind {
	if k == DependRunOne {
		return k
	}
	if k < DependBefore {
		return k + DependBefore - DependAfter
	}
	return k - DependBefore + DependAfter
}

// Dependency is all jobs that a job depends on in one way, or that depend on it.
type Dependency struct {
	Kind  DependKind  `cbor:"1,keyasint"`
	Jobs  []pbs.JobID `cbor:"2,keyasint,omitempty"`
	Count uint32      `cbor:"3,keyasint,omitempty"` // of On
	Held  bool        `cbor:"4,keyasint,omitempty"` // RunOne: another one of the set is under way
}

// ParseDepend reads KIND:ID[:ID...][,KIND:...], on:N and singleton; server completes identifiers.
// What is not of this form is refused with BadAttributeValue, a subjob too: an array is
// waited for as a whole.
func ParseDepend(text, server string) (Dependencies, error) {
	type edge struct {
		kind DependKind
		id   pbs.JobID
	}
	var list Dependencies
	seen := map[edge]bool{} // a sweep may be waited for job by job: thousands of names
	refused := pbs.Attribute(pbs.BadAttributeValue, "depend")
	for item := range strings.SplitSeq(text, ",") {
		word, rest, ok := strings.Cut(strings.TrimSpace(item), ":")
		if word == DependSingleton.String() && !ok {
			if !slices.ContainsFunc(list, func(d Dependency) bool { return d.Kind == DependSingleton }) {
				list = append(list, Dependency{Kind: DependSingleton})
			}
			continue
		}
		kind := DependKind(slices.Index(dependNames[:], word))
		if !ok || word == "" || kind > DependOn && kind != DependRunOne {
			return nil, refused
		}
		if kind == DependOn {
			n, err := strconv.ParseUint(rest, 10, 31)
			if err != nil || n == 0 {
				return nil, refused
			}
			list = append(list, Dependency{Kind: DependOn, Count: uint32(n)})
			continue
		}
		for name := range strings.SplitSeq(rest, ":") {
			id, err := pbs.ParseJobID(name, server)
			if _, some := id.Indices(); err != nil || some {
				return nil, refused
			}
			if e := (edge{kind, id}); !seen[e] {
				seen[e] = true
				list = appendDepend(list, kind, id)
			}
		}
	}
	return list, nil
}

// Dependencies are what a job depends on, and who depends on it: one Dependency of a kind. A list that a stored job has is
// replaced as a whole, never written to.
type Dependencies []Dependency

// appendDepend adds a job that is not in the list, which nobody else may have.
func appendDepend(list Dependencies, kind DependKind, id pbs.JobID) Dependencies {
	i := slices.IndexFunc(list, func(d Dependency) bool { return d.Kind == kind })
	if i < 0 {
		return append(list, Dependency{Kind: kind, Jobs: []pbs.JobID{id}})
	}
	list[i].Jobs = append(list[i].Jobs, id)
	return list
}

// of returns where the dependency of a kind stands, -1 if there is none.
func (ds Dependencies) of(kind DependKind) int {
	return slices.IndexFunc(ds, func(d Dependency) bool { return d.Kind == kind })
}

// Add adds a job to those that this one depends on, or that depend on it.
func (ds *Dependencies) Add(kind DependKind, id pbs.JobID) {
	next := slices.Clone(*ds)
	i := next.of(kind)
	switch {
	case i < 0:
		next = append(next, Dependency{Kind: kind, Jobs: []pbs.JobID{id}})
	case !slices.Contains(next[i].Jobs, id):
		jobs := make([]pbs.JobID, 0, len(next[i].Jobs)+1) // thousands may wait for one: they are copied once
		next[i].Jobs = append(append(jobs, next[i].Jobs...), id)
	}
	*ds = next
}

// Remove takes it out again, and reports whether it was there.
func (ds *Dependencies) Remove(kind DependKind, id pbs.JobID) bool {
	i := slices.IndexFunc(*ds, func(d Dependency) bool { return d.Kind == kind && slices.Contains(d.Jobs, id) })
	if i < 0 {
		return false
	}
	next := slices.Clone(*ds)
	d := next[i]
	d.Jobs = slices.DeleteFunc(slices.Clone(d.Jobs), func(other pbs.JobID) bool { return other == id })
	next[i] = d
	if len(d.Jobs) == 0 {
		next = slices.Delete(next, i, i+1)
	}
	*ds = next
	return true
}

// RemoveAll is Remove for each job of which gone tells so.
func (ds *Dependencies) RemoveAll(gone func(DependKind, pbs.JobID) bool) {
	var left Dependencies
	for _, d := range *ds {
		d.Jobs = slices.DeleteFunc(slices.Clone(d.Jobs), func(id pbs.JobID) bool { return gone(d.Kind, id) })
		if len(d.Jobs) > 0 || d.Kind == DependOn || d.Kind == DependSingleton {
			left = append(left, d)
		}
	}
	*ds = left
}

// CountDown takes one from the number of on:N, and reports whether there was one.
func (ds *Dependencies) CountDown() bool {
	i := ds.of(DependOn)
	if i < 0 {
		return false
	}
	next := slices.Clone(*ds)
	if next[i].Count--; next[i].Count == 0 {
		next = slices.Delete(next, i, i+1)
	}
	*ds = next
	return true
}

// Single reports whether the job waits for those of its owner and name.
func (ds Dependencies) Single() bool { return ds.of(DependSingleton) >= 0 }

// DropSingle takes that dependency off.
func (ds *Dependencies) DropSingle() {
	*ds = slices.DeleteFunc(slices.Clone(*ds), func(d Dependency) bool { return d.Kind == DependSingleton })
}

// RunOne returns the other jobs of the set of which one is to run; nobody may change the list.
func (ds Dependencies) RunOne() []pbs.JobID {
	if i := ds.of(DependRunOne); i >= 0 {
		return ds[i].Jobs
	}
	return nil
}

// SetRunOne makes others the rest of the job's set.
func (ds *Dependencies) SetRunOne(others []pbs.JobID) {
	next := slices.Clone(*ds)
	if i := next.of(DependRunOne); i >= 0 {
		next[i].Jobs = others
	} else {
		next = append(next, Dependency{Kind: DependRunOne, Jobs: others})
	}
	*ds = next
}

// HeldByOne reports whether another one of the job's set is under way.
func (ds Dependencies) HeldByOne() bool {
	i := ds.of(DependRunOne)
	return i >= 0 && ds[i].Held
}

// HoldByOne notes whether another one is.
func (ds *Dependencies) HoldByOne(held bool) {
	next := slices.Clone(*ds)
	next[next.of(DependRunOne)].Held = held
	*ds = next
}

// Wait reports whether one of them holds the job.
func (ds Dependencies) Wait() bool {
	return slices.ContainsFunc(ds, func(d Dependency) bool { return d.Kind.Waits() && (d.Kind != DependRunOne || d.Held) })
}

// UnderWay reports whether the job runs, or is an array of which a subjob was started and that is not over.
func (j *Job) UnderWay() bool {
	return j.Live() || j.Array != nil && j.Array.Begun && j.State != pbs.Finished
}

// Text returns the attribute depend as PBS shows it of a job.
func (ds Dependencies) Text(of pbs.JobID) string {
	_, server, _ := strings.Cut(string(of), ".")
	words := make([]string, len(ds))
	for i, d := range ds {
		words[i] = d.Kind.String()
		if d.Kind == DependOn {
			words[i] += ":" + strconv.FormatUint(uint64(d.Count), 10)
		}
		for _, id := range d.Jobs {
			words[i] += ":" + string(id) + "@" + server
		}
	}
	return strings.Join(words, ",")
}

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
func ParseDepend(text, server string) ([]Dependency, error) {
	type edge struct {
		kind DependKind
		id   pbs.JobID
	}
	var list []Dependency
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

// appendDepend adds a job that is not in the list, which nobody else may have.
func appendDepend(list []Dependency, kind DependKind, id pbs.JobID) []Dependency {
	i := slices.IndexFunc(list, func(d Dependency) bool { return d.Kind == kind })
	if i < 0 {
		return append(list, Dependency{Kind: kind, Jobs: []pbs.JobID{id}})
	}
	list[i].Jobs = append(list[i].Jobs, id)
	return list
}

// withDepend returns the list with a job in it.
func withDepend(list []Dependency, kind DependKind, id pbs.JobID) []Dependency {
	out := slices.Clone(list)
	i := slices.IndexFunc(out, func(d Dependency) bool { return d.Kind == kind })
	if i < 0 {
		return append(out, Dependency{Kind: kind, Jobs: []pbs.JobID{id}})
	}
	if !slices.Contains(out[i].Jobs, id) {
		jobs := make([]pbs.JobID, 0, len(out[i].Jobs)+1) // thousands may wait for one: they are copied once
		out[i].Jobs = append(append(jobs, out[i].Jobs...), id)
	}
	return out
}

// Depend adds a job to those that this one depends on, or that depend on it.
func (j *Job) Depend(kind DependKind, id pbs.JobID) { j.Depends = withDepend(j.Depends, kind, id) }

// Undepend takes it out again, and reports whether it was there.
func (j *Job) Undepend(kind DependKind, id pbs.JobID) bool {
	i := slices.IndexFunc(j.Depends, func(d Dependency) bool { return d.Kind == kind && slices.Contains(d.Jobs, id) })
	if i < 0 {
		return false
	}
	d := j.Depends[i]
	d.Jobs = slices.DeleteFunc(slices.Clone(d.Jobs), func(other pbs.JobID) bool { return other == id })
	j.Depends = slices.Clone(j.Depends)
	j.Depends[i] = d
	if len(d.Jobs) == 0 {
		j.Depends = slices.Delete(j.Depends, i, i+1)
	}
	return true
}

// UndependAll is Undepend for each job of which gone tells so.
func (j *Job) UndependAll(gone func(DependKind, pbs.JobID) bool) {
	var left []Dependency
	for _, d := range j.Depends {
		d.Jobs = slices.DeleteFunc(slices.Clone(d.Jobs), func(id pbs.JobID) bool { return gone(d.Kind, id) })
		if len(d.Jobs) > 0 || d.Kind == DependOn || d.Kind == DependSingleton {
			left = append(left, d)
		}
	}
	j.Depends = left
}

// CountDown takes one from the number of on:N, and reports whether there was one.
func (j *Job) CountDown() bool {
	i := slices.IndexFunc(j.Depends, func(d Dependency) bool { return d.Kind == DependOn })
	if i < 0 {
		return false
	}
	j.Depends = slices.Clone(j.Depends)
	if j.Depends[i].Count--; j.Depends[i].Count == 0 {
		j.Depends = slices.Delete(j.Depends, i, i+1)
	}
	return true
}

// Single reports whether the job waits for those of its owner and name.
func (j *Job) Single() bool {
	return slices.ContainsFunc(j.Depends, func(d Dependency) bool { return d.Kind == DependSingleton })
}

// Unsingle takes that dependency off.
func (j *Job) Unsingle() {
	j.Depends = slices.DeleteFunc(slices.Clone(j.Depends), func(d Dependency) bool { return d.Kind == DependSingleton })
}

// RunOne returns the other jobs of the set of which one is to run; nobody may change the list.
func (j *Job) RunOne() []pbs.JobID {
	if i := j.runOne(); i >= 0 {
		return j.Depends[i].Jobs
	}
	return nil
}

func (j *Job) runOne() int {
	return slices.IndexFunc(j.Depends, func(d Dependency) bool { return d.Kind == DependRunOne })
}

// SetRunOne makes others the rest of the job's set.
func (j *Job) SetRunOne(others []pbs.JobID) {
	j.Depends = slices.Clone(j.Depends)
	if i := j.runOne(); i >= 0 {
		j.Depends[i].Jobs = others
		return
	}
	j.Depends = append(j.Depends, Dependency{Kind: DependRunOne, Jobs: others})
}

// HeldByOne reports whether another one of the job's set is under way.
func (j *Job) HeldByOne() bool {
	i := j.runOne()
	return i >= 0 && j.Depends[i].Held
}

// HoldByOne notes whether another one is.
func (j *Job) HoldByOne(held bool) {
	j.Depends = slices.Clone(j.Depends)
	j.Depends[j.runOne()].Held = held
}

// UnderWay reports whether the job runs, or is an array of which a subjob was started and that is not over.
func (j *Job) UnderWay() bool {
	return j.Live() || j.Array != nil && j.Array.Begun && j.State != pbs.Finished
}

// WaitsForJobs reports whether a dependency holds the job.
func (j *Job) WaitsForJobs() bool {
	return slices.ContainsFunc(j.Depends, func(d Dependency) bool { return d.Kind.Waits() && (d.Kind != DependRunOne || d.Held) })
}

// DependText returns the attribute depend as PBS shows it.
func (j *Job) DependText() string {
	_, server, _ := strings.Cut(string(j.ID), ".")
	words := make([]string, len(j.Depends))
	for i, d := range j.Depends {
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

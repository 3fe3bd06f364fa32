package check

import (
	"slices"
	"strings"

	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// PhasesFit is L10 of what the records of releases say: each phase has what the one before it has left,
// the last one what the run ends with, E what it began with, and what the phases have used is what the
// run has.
var PhasesFit = Law{Name: "L10 phases fit", Judge: phasesFit}

func phasesFit(e *Evidence) []string {
	var f faults
	for _, r := range e.Replicas {
		books := recordsByJob(r, &f)
		for _, job := range sortedKeys(books) {
			var run phased
			for _, rec := range books[job] {
				run.next(&f, r.Name, rec)
			}
		}
	}
	return f
}

// phased is a run whose records are read.
type phased struct {
	began, now assigned
	cut        bool // it has released something
	used       map[string]int64
}

type assigned struct{ host, vnode string }

// summed are the resources of which the phases have used as much as the run.
var summed = []string{"walltime", "cput"}

func (p *phased) next(f *faults, replica string, rec record) {
	fields := fieldsOf(rec.line)
	shown := assigned{fields["exec_host"], fields["exec_vnode"]}
	switch rec.kind {
	case "S":
		*p = phased{began: shown, now: shown, used: map[string]int64{}}
	case "R":
		*p = phased{}
	}
	if p.began.vnode == "" {
		return
	}
	switch rec.kind {
	case "u", "e":
		if shown != p.now {
			f.add("%s has another assignment than the phase began with, %s: %s", replica, p.now.vnode, rec.line)
		}
		for _, name := range summed {
			p.used[name] += usedOf(fields, name)
		}
	case "c":
		if !within(shown.vnode, p.now.vnode) {
			f.add("%s has more than was left, %s: %s", replica, p.now.vnode, rec.line)
		}
		p.now, p.cut = shown, true
	case "E":
		if shown != p.began {
			f.add("%s has another assignment than the run began with, %s: %s", replica, p.began.vnode, rec.line)
		}
		for _, name := range summed {
			if got := usedOf(fields, name); p.cut && got != p.used[name] {
				f.add("%s: the phases have used %d s of %s, and the run %d: %s", replica, p.used[name], name, got, rec.line)
			}
		}
	}
}

// fieldsOf returns the values of a record by their names.
func fieldsOf(line string) map[string]string {
	fields := make(map[string]string)
	for word := range strings.FieldsSeq(strings.SplitN(line, ";", 4)[3]) {
		if name, value, ok := strings.Cut(word, "="); ok {
			fields[name] = value
		}
	}
	return fields
}

func usedOf(fields map[string]string, name string) int64 {
	def, _ := resource.Lookup(name)
	return def.Measure(fields["resources_used."+name])
}

// within reports whether each vnode of an exec_vnode is one of another.
func within(some, all string) bool {
	a, err := spec.ParseExecVnode(some)
	if err != nil {
		return false
	}
	b, err := spec.ParseExecVnode(all)
	if err != nil {
		return false
	}
	has := b.Vnodes()
	for _, v := range a.Vnodes() {
		if !slices.Contains(has, v) {
			return false
		}
	}
	return true
}

package state

import (
	"slices"
	"strings"

	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
)

// gives returns a predicate for the resources that a suspended job gives back: those that restrict_res_to_release_on_suspend of the server names
// (specification: suspend-release section 2), else all but those of which lsf.shared says RELEASE = N (reservation section 6.9); nil: all.
func (t *tables) gives() func(name string) bool {
	var names []string
	for _, name := range t.server.List("restrict_res_to_release_on_suspend") {
		names = append(names, strings.TrimSpace(name))
	}
	if len(names) > 0 {
		return func(name string) bool { return slices.Contains(names, name) }
	}
	config := t.LSF()
	if !slices.ContainsFunc(config.Resources, func(r lsf.Resource) bool { return r.Kept }) {
		return nil
	}
	return func(name string) bool { r, _ := config.Resource(name); return !r.Kept }
}

// NoteRelease notes in a job that is about to be suspended what it gives back, if that is not all.
func (t *tables) NoteRelease(j *Job) {
	gives := t.gives()
	if gives == nil {
		return
	}
	var released spec.ExecVnode
	var sum resource.List
	for _, chunk := range j.LastRun().ExecVnode {
		for _, p := range chunk.Parts {
			items := slices.DeleteFunc(slices.Clone(p.Items), func(it resource.Item) bool { return !gives(it.Name) })
			if more, err := resource.Add(sum, items, t); err == nil {
				sum = more
			}
			if len(items) == 0 {
				items = resource.List{{Name: "ncpus", Value: "0"}}
			}
			released = append(released, spec.ExecChunk{Parts: []spec.ExecPart{{Vnode: p.Vnode, Items: items}}})
		}
	}
	for _, it := range resource.Only(j.Resources, t, resource.PerQueue) {
		if _, counted := sum.Get(it.Name); gives(it.Name) && !counted {
			sum = sum.Set(it.Name, it.Value)
		}
	}
	list := make(resource.List, len(sum))
	for i, it := range sum {
		def, _ := t.Resource(it.Name)
		list[i] = resource.Item{Name: it.Name, Value: def.Measured(def.Measure(it.Value))}
	}
	j.EditRun().Suspension = &Suspension{released, list}
}

// A Left is what a run leaves of one of its vnodes to others. Those may use the vnode from then on, also if
// the run had it to itself.
type Left struct {
	Stake
	Items resource.List // that others may have
}

// LeftBySuspension returns what a job leaves while it is suspended, of which NoteRelease has noted what it gives back.
func (t *tables) LeftBySuspension(j *Job) ([]Left, error) {
	gone := j.LastRun().releasedOn()
	var all []Left
	for _, s := range t.Stakes(j) {
		items, err := resource.AddAll(gone[s.Vnode.Name], t)
		if err != nil {
			return nil, err
		}
		if t.at != 0 {
			items = t.HeldAt(j, items, t.at)
		}
		all = append(all, Left{s, items})
	}
	return all, nil
}

// LeftBySuspending returns what a running job would leave if it was suspended now.
func (t *tables) LeftBySuspending(j *Job) ([]Left, error) {
	next := *j
	t.NoteRelease(&next)
	return t.LeftBySuspension(&next)
}

// LeftByEnd returns what a job leaves that ends, or is queued again.
func (t *tables) LeftByEnd(j *Job) []Left {
	var all []Left
	for _, s := range t.Stakes(j) {
		all = append(all, Left{s, s.Held().Items})
	}
	return all
}

// releasedOn returns what a suspended run gave back of each vnode. Of those that are held it gives back the same
// resources, which are recorded of the others only (specification: ramp-down section 10).
func (r *Run) releasedOn() map[pbs.VnodeName][]resource.List {
	all := map[pbs.VnodeName][]resource.List{}
	every := func(resource.Item) bool { return true }
	recorded := r.Released()
	if recorded == nil {
		note(all, r.AllVnodes(), every)
		return all
	}
	note(all, r.Held(), func(it resource.Item) bool {
		_, listed := r.releasedList().Get(it.Name)
		return listed
	})
	note(all, recorded, every)
	return all
}

// note adds the items of chunks that are wanted, by vnode.
func note(all map[pbs.VnodeName][]resource.List, chunks spec.ExecVnode, wanted func(resource.Item) bool) {
	for _, chunk := range chunks {
		for _, p := range chunk.Parts {
			items := slices.DeleteFunc(slices.Clone(p.Items), func(it resource.Item) bool { return !wanted(it) })
			all[p.Vnode] = append(all[p.Vnode], items)
		}
	}
}

// Return counts what was left as free, by the vnode that was charged for it.
func (t *tables) Return(l Left, freed Promised) error {
	items := l.Items
	if j, ok := t.Job(l.Held().Job); ok && t.at == 0 { // a view of a time has what is held then
		items = t.HeldAt(j, items, t.clock())
	}
	for _, it := range items {
		pool := t.Pool(l.Vnode, it.Name)
		if pool == nil {
			continue
		}
		sum, err := resource.Add(freed[pool.Name], resource.List{it}, t)
		if err != nil {
			return err
		}
		freed[pool.Name] = sum
	}
	return nil
}

// Without returns the vnode as if some of its runs were not there, which are named by their places in Jobs.
func (v *Vnode) Without(gone []int) *Vnode {
	next := *v
	next.Jobs = nil
	for i, held := range v.Jobs {
		if !slices.Contains(gone, i) {
			next.Jobs = append(next.Jobs, held)
		}
	}
	return &next
}

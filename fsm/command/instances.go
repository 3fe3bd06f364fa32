package command

import (
	"slices"

	"rampart/fsm/alloc"
	"rampart/fsm/lsf"
	"rampart/fsm/pbs"
	"rampart/fsm/resource"
	"rampart/fsm/spec"
	"rampart/fsm/state"
)

// perJob returns the resources of which each instance gives something to a job once, on however many of its hosts the job is.
func perJob(j *state.Job) (names []string) {
	text, _ := j.Attrs.Get(lsf.JobLayout, "")
	for _, k := range lsf.ReadLayout(text).Kinds {
		for _, name := range k.Job {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// carried is a split after which a job still has what it has once of an instance of which it keeps a vnode.
func carried(t ReleaseTables, j *state.Job, s alloc.Split) (alloc.Split, error) {
	names := perJob(j)
	if len(names) == 0 || s.Whole() {
		return s, nil
	}
	return s.Carry(func(name pbs.VnodeName, res string) (pbs.VnodeName, bool) {
		v, ok := t.Vnode(name)
		if !ok || !slices.Contains(names, res) {
			return "", false
		}
		if pool := t.Pool(v, res); pool != nil {
			name = pool.Name
		}
		return name, true
	}, t)
}

// carry charges the vnodes that have from now on what others had for a run of their instance, and these no more. What the run has of the
// instance is the same before and after (L3).
func carry(tx *state.Tx, j *state.Job, r *state.Release) error {
	names := perJob(j)
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		def, _ := tx.Resource(name)
		by := map[pbs.VnodeName]int64{} // what a vnode gives now, less what it gave before
		count := func(chunks spec.ExecVnode, sign int64) {
			for _, c := range chunks {
				for _, p := range c.Parts {
					text, _ := p.Items.Get(name)
					by[p.Vnode] += sign * def.Measure(text)
				}
			}
		}
		count(j.Run.ExecVnode, -1)
		count(r.To.ExecVnode, 1)
		for _, h := range r.Released {
			count(h.Chunks, 1)
		}
		for _, sign := range [...]int64{-1, 1} { // one gets what another one gives back
			for _, vnode := range j.Run.ExecVnode.Vnodes() {
				if n := sign * by[vnode]; n > 0 {
					if err := chargeMore(tx, j, vnode, resource.Item{Name: name, Value: def.Measured(n)}, sign > 0); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// chargeMore charges a vnode with more for a run, or with less.
func chargeMore(tx *state.Tx, j *state.Job, name pbs.VnodeName, it resource.Item, more bool) error {
	v, ok := tx.Vnode(name)
	if !ok {
		return nil
	}
	at := heldAt(v, j)
	if at < 0 {
		return nil
	}
	change := resource.Sub
	if more {
		change = resource.Add
	}
	held := v.Jobs[at]
	items, err := change(slices.Clone(held.Items), resource.List{it}, tx)
	if err != nil {
		return err
	}
	def, _ := tx.Resource(it.Name)
	held.Items = slices.DeleteFunc(items, func(i resource.Item) bool { return i.Name == it.Name && def.Measure(i.Value) == 0 })
	next, err := v.Exchange(at, held, tx)
	if err != nil {
		return err
	}
	tx.PutSettled(next)
	return nil
}

// gave reports whether an instance, or a host, has given a resource to a chunk that came before, and notes that it has.
func (r *reserver) gave(given map[string]bool, host string, c spec.ExecChunk, res string) (before bool) {
	def, _ := r.tx.Resource(res)
	keys := []string{res + " " + host}
	for _, p := range c.Parts {
		keys = append(keys, res+"@"+string(r.pool(p.Vnode, def).vnode))
	}
	for _, key := range keys {
		before = before || given[key]
	}
	for _, key := range keys {
		given[key] = true
	}
	return before
}

package state

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"rampart/fsm/pbs"
	"rampart/fsm/resource"
)

// Target returns the vnode that the value of a resource of a vnode points to: "@VNODE" says
// that the vnode shares the amount of another one.
func Target(value string) (pbs.VnodeName, bool) {
	name, ok := strings.CutPrefix(value, "@")
	return pbs.VnodeName(name), ok
}

// Indirect returns the vnode whose amount of a resource v shares.
func (v *Vnode) Indirect(res string) (pbs.VnodeName, bool) {
	value, ok := v.Configured.Get(res)
	if !ok {
		value, _ = v.Reported.Get(res)
	}
	return Target(value)
}

func (v *Vnode) anyIndirect() bool {
	for _, l := range []resource.List{v.Configured, v.Reported} {
		for _, it := range l {
			if _, ok := Target(it.Value); ok {
				return true
			}
		}
	}
	return false
}

// Own returns of a list what is the vnode's own: without what it shares of others.
func (v *Vnode) Own(list resource.List) resource.List {
	if !v.anyIndirect() {
		return list
	}
	var own resource.List
	for _, it := range list {
		if _, ok := v.Indirect(it.Name); !ok {
			own = append(own, it)
		}
	}
	return own
}

// borrowed returns what the jobs of v hold of a target.
func (v *Vnode) borrowed(from pbs.VnodeName, t resource.Table) (items resource.List) {
	for _, it := range v.Charged(t) {
		if target, ok := v.Indirect(it.Name); ok && target == from && target != v.Name {
			items = append(items, it)
		}
	}
	return items
}

// Pool returns the vnode that is charged for a resource of v: v itself, or the one whose
// amount it shares; nil if that one has none of its own.
func (t *tables) Pool(v *Vnode, res string) *Vnode {
	name, ok := v.Indirect(res)
	if !ok {
		return v
	}
	target, found := t.Vnode(name)
	if !found {
		return nil
	}
	if _, again := target.Indirect(res); again {
		return nil
	}
	return target
}

// InUse returns what is in use of the vnode's own amounts: by its jobs, and by those of the
// vnodes that share them.
func (t *tables) InUse(v *Vnode) resource.List {
	if now, ok := t.Vnode(v.Name); ok && !slices.Equal(now.Lent, v.Lent) { // whoever changes v may have read it before a sharer was charged
		next := *v
		next.Lent, v = now.Lent, &next
	}
	v = t.faded(v, t.clock())
	own, lent := v.Own(v.Charged(t)), v.Lent
	if len(lent) == 0 {
		return own
	}
	sum, err := resource.Add(own, v.Own(lent), t)
	if err != nil {
		return own
	}
	return sum
}

// Promised is what a run is about to be charged with, by the vnode that is charged.
type Promised map[pbs.VnodeName]resource.List

// Short reports whether a vnode, and those whose amounts it shares, have what is requested
// beside what is in use and what was promised: nil, or the first resource that does not
// suffice. What fits is promised from then on.
func (t *tables) Short(v *Vnode, request resource.List, promised Promised) *resource.Shortage {
	return t.ShortAfter(v, request, promised, nil)
}

// ShortAfter is Short when some of what is in use now will be free.
func (t *tables) ShortAfter(v *Vnode, request resource.List, promised, freed Promised) *resource.Shortage {
	for _, it := range request {
		one := resource.List{it}
		pool := t.Pool(v, it.Name)
		if pool == nil {
			if short := resource.Fits(one, nil, nil, t); short != nil {
				return short
			}
			continue
		}
		used, err := resource.Add(t.InUse(pool), promised[pool.Name], t)
		if err == nil && len(freed[pool.Name]) > 0 {
			used, err = resource.Sub(used, freed[pool.Name], t)
		}
		if err != nil {
			return &resource.Shortage{Resource: it.Name}
		}
		if short := resource.Fits(one, pool.Available(), used, t); short != nil {
			return short
		}
		if sum, err := resource.Add(promised[pool.Name], one, t); err == nil {
			promised[pool.Name] = sum
		}
	}
	return nil
}

// Exceeded returns the first resource of which more is in use than the vnode has; nil if
// there is none.
func (t *tables) Exceeded(v *Vnode) *resource.Shortage {
	return resource.Fits(t.InUse(v), v.Available(), nil, t)
}

// Sharers yields the vnodes that share amounts of others, in the order of their creation.
func (t *tables) Sharers() iter.Seq[*Vnode] { return t.presented(t.sharers.all()) }

// Lends reports whether jobs of other vnodes hold something of one.
func (t *tables) Lends(v *Vnode) bool { return len(nonZero(v.Lent, t)) > 0 }

// lentBy sums up what the jobs of other vnodes hold of one.
func (t *tables) lentBy(name pbs.VnodeName) (sum resource.List) {
	for v := range t.Sharers() {
		if more, err := resource.Add(sum, v.borrowed(name, t), t); err == nil {
			sum = more
		}
	}
	return sum
}

// lend brings the vnodes whose amounts a vnode shares up to what its jobs hold; old and v are
// nil for a vnode that was not there, and for one that is deleted.
func (tx *Tx) lend(old, v *Vnode) {
	var targets []pbs.VnodeName
	moved := old == nil || v == nil
	for _, one := range []*Vnode{old, v} {
		if one == nil || !one.anyIndirect() {
			continue
		}
		for _, it := range one.Charged(tx) {
			target, ok := one.Indirect(it.Name)
			if !ok || target == one.Name || slices.Contains(targets, target) {
				continue
			}
			targets = append(targets, target)
		}
	}
	for _, name := range targets {
		var before, after resource.List
		if old != nil {
			before = old.borrowed(name, tx)
		}
		if v != nil {
			after = v.borrowed(name, tx)
		}
		target, ok := tx.Vnode(name)
		if !ok || resource.Equal(before, after, tx) {
			continue
		}
		next := *target
		less, err := resource.Sub(next.Lent, before, tx)
		if err == nil {
			less, err = resource.Add(less, after, tx)
		}
		if err != nil {
			less = tx.lentBy(name)
		}
		grown := !moved && resource.Fits(before, after, nil, tx) == nil && len(v.Jobs) > len(old.Jobs)
		next.Lent = less
		tx.store(target, &next)
		if !grown { // a run is charged only where it fits: that it does not is for the check to find
			again := next
			again.OverCommitted = tx.Exceeded(&again) != nil
			tx.store(&next, &again)
		}
	}
}

// showIndirect writes for what a vnode shares where it comes from, as PBS does.
func (v *Vnode) showIndirect(out resource.List) resource.List {
	for _, it := range v.Available() {
		if _, ok := Target(it.Value); ok {
			out = out.Set(it.Name, it.Value)
		}
	}
	return out
}

// checkLent verifies that every vnode counts as lent what the jobs of others hold of it.
func (t *tables) checkLent() error {
	want := map[pbs.VnodeName]resource.List{}
	for v := range t.Sharers() {
		for _, it := range v.Charged(t) {
			if target, ok := v.Indirect(it.Name); ok && target != v.Name {
				if sum, err := resource.Add(want[target], resource.List{it}, t); err == nil {
					want[target] = sum
				}
			}
		}
	}
	for v := range t.Vnodes() {
		if !resource.Equal(v.Lent, want[v.Name], t) {
			return fmt.Errorf("vnode %s has lent %v, others hold %v of it (L3)", v.Name, v.Lent, want[v.Name])
		}
	}
	return nil
}

package state

import (
	"iter"

	"github.com/tidwall/btree"
)

// treeDegree is the least fan-out of the trees: small, because each entry copies
// the path to what it changes.
const treeDegree = 16

// tree is a copy-on-write tree of items. The value is cheap to copy; edit makes a
// copy one's own before the first write.
type tree[T any] struct {
	items *btree.BTreeG[T]
	undo  *undo
	owned bool // nobody else reads items
}

func newTree[T any](u *undo, less func(a, b T) bool) tree[T] {
	return tree[T]{undo: u, items: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true, Degree: treeDegree})}
}

// edit returns the items for writing; what was seen of them before stays as it was.
func (t *tree[T]) edit() *btree.BTreeG[T] {
	if !t.owned {
		t.items, t.owned = t.items.IsoCopy(), true
	}
	return t.items
}

// disown makes the next write copy first.
func (t *tree[T]) disown() {
	if t.owned { // views are read by many at once: nothing is written to theirs
		t.owned = false
	}
}

// set stores item and returns what it replaced.
func (t *tree[T]) set(item T) (old T, replaced bool) {
	items := t.edit()
	old, replaced = items.Set(item)
	if t.undo.on {
		t.undo.steps = append(t.undo.steps, func() {
			if replaced {
				items.Set(old)
				return
			}
			items.Delete(item)
		})
	}
	return old, replaced
}

// drop removes the item with the key of pivot, if it is there, and returns it.
func (t *tree[T]) drop(pivot T) (old T) {
	items := t.edit()
	old, dropped := items.Delete(pivot)
	if dropped && t.undo.on {
		t.undo.steps = append(t.undo.steps, func() { items.Set(old) })
	}
	return old
}

// same reports whether two items have the same key.
func (t *tree[T]) same(a, b T) bool { return !t.items.Less(a, b) && !t.items.Less(b, a) }

// all yields the items; writing meanwhile does not disturb it.
func (t *tree[T]) all() iter.Seq[T] {
	return func(yield func(T) bool) {
		t.disown()
		t.items.Scan(yield)
	}
}

// from yields the items at and after pivot; writing meanwhile does not disturb it.
func (t *tree[T]) from(pivot T) iter.Seq[T] {
	return func(yield func(T) bool) {
		t.disown()
		t.items.Ascend(pivot, yield)
	}
}

// at returns the first item at or after pivot. Unlike from it leaves the tree to who writes to it.
func (t *tree[T]) at(pivot T) (item T, ok bool) {
	t.items.Ascend(pivot, func(i T) bool {
		item, ok = i, true
		return false
	})
	return item, ok
}

// undo is what a transaction did to trees that it shares with earlier ones of the
// same entry.
type undo struct {
	on    bool // a transaction is under way
	steps []func()
}

// run takes everything back, the last step first.
func (u *undo) run() {
	for i := len(u.steps) - 1; i >= 0; i-- {
		u.steps[i]()
	}
	u.forget()
}

// forget ends the transaction.
func (u *undo) forget() {
	clear(u.steps)
	u.on, u.steps = false, u.steps[:0]
}

package state

import (
	"iter"

	"github.com/cespare/xxhash/v2"
	"github.com/fxamacker/cbor/v2"
	"github.com/tidwall/btree"
)

// treeDegree is the least fan-out of the trees: small, because each proposal
// copies the path to what it changes.
const treeDegree = 16

// encMode writes records the same way everywhere, for digests and snapshots.
var encMode = mustEncMode()

func mustEncMode() cbor.EncMode {
	opts := cbor.CoreDetEncOptions()
	mode, err := opts.EncMode()
	if err != nil {
		panic(err)
	}
	return mode
}

// row is a record with the hash that it adds to the digest.
type row[R any] struct {
	rec *R
	sum uint64
}

// table is a copy-on-write tree of records. The value is cheap to copy; edit
// makes a copy one's own before the first write.
type table[R any] struct {
	tree  *btree.BTreeG[row[R]]
	tag   byte // sets equal records of different tables apart in the digest
	owned bool
}

func newTable[R any](tag byte, less func(a, b *R) bool) table[R] {
	tree := btree.NewBTreeGOptions(
		func(a, b row[R]) bool { return less(a.rec, b.rec) },
		btree.Options{NoLocks: true, Degree: treeDegree})
	return table[R]{tree: tree, tag: tag}
}

// edit returns the tree for writing; what was seen of it before stays as it was.
func (t *table[R]) edit() *btree.BTreeG[row[R]] {
	if !t.owned {
		t.tree, t.owned = t.tree.IsoCopy(), true
	}
	return t.tree
}

// get returns the record with the key of pivot.
func (t *table[R]) get(pivot *R) (*R, bool) {
	r, ok := t.tree.Get(row[R]{rec: pivot})
	return r.rec, ok
}

// put stores rec and returns what it replaced and by how much the digest changes.
func (t *table[R]) put(rec *R) (old *R, delta uint64) {
	r := row[R]{rec: rec, sum: recordSum(t.tag, rec)}
	prev, _ := t.edit().Set(r)
	return prev.rec, r.sum - prev.sum
}

// remove drops the record with the key of pivot.
func (t *table[R]) remove(pivot *R) (old *R, delta uint64) {
	if _, ok := t.tree.Get(row[R]{rec: pivot}); !ok {
		return nil, 0
	}
	prev, _ := t.edit().Delete(row[R]{rec: pivot})
	return prev.rec, -prev.sum
}

func (t *table[R]) all() iter.Seq[*R] {
	return func(yield func(*R) bool) {
		t.tree.Scan(func(r row[R]) bool { return yield(r.rec) })
	}
}

// from yields the records at and after pivot.
func (t *table[R]) from(pivot *R) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		t.tree.Ascend(row[R]{rec: pivot}, func(r row[R]) bool { return yield(r.rec) })
	}
}

func (t *table[R]) count() int { return t.tree.Len() }

func (t *table[R]) first() (*R, bool) {
	r, ok := t.tree.Min()
	return r.rec, ok
}

// index is a table of references to records of another: it adds nothing to the
// digest and is rebuilt on restore.
type index[R any] struct {
	tree  *btree.BTreeG[*R]
	owned bool
}

func newIndex[R any](less func(a, b *R) bool) index[R] {
	return index[R]{tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true, Degree: treeDegree})}
}

func (x *index[R]) edit() *btree.BTreeG[*R] {
	if !x.owned {
		x.tree, x.owned = x.tree.IsoCopy(), true
	}
	return x.tree
}

func (x *index[R]) all() iter.Seq[*R] {
	return func(yield func(*R) bool) { x.tree.Scan(yield) }
}

// move takes old out of the index and puts rec into it, where in says that they belong.
func (x *index[R]) move(old, rec *R, in func(*R) bool) {
	if old != nil && in(old) {
		x.edit().Delete(old)
	}
	if rec != nil && in(rec) {
		x.edit().Set(rec)
	}
}

// recordSum hashes a record for the digest.
func recordSum(tag byte, rec any) uint64 {
	b, err := encMode.Marshal(rec)
	if err != nil {
		panic("state: encode record: " + err.Error()) // a record type that cannot be encoded is a fault of the program
	}
	h := xxhash.New()
	_, _ = h.Write([]byte{tag})
	_, _ = h.Write(b)
	return h.Sum64()
}

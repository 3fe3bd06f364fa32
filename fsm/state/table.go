package state

import (
	"bytes"
	"iter"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/fxamacker/cbor/v2"
)

// encMode writes records the same way everywhere, for digests and snapshots.
var encMode = mustEncMode()

func mustEncMode() cbor.UserBufferEncMode {
	mode, err := cbor.CoreDetEncOptions().UserBufferEncMode()
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

// table is a tree of records that count in the digest.
type table[R any] struct {
	tree[row[R]]
	tag byte // sets equal records of different tables apart in the digest
}

func newTable[R any](u *undo, tag byte, less func(a, b *R) bool) table[R] {
	return table[R]{tree: newTree(u, func(a, b row[R]) bool { return less(a.rec, b.rec) }), tag: tag}
}

// get returns the record with the key of pivot.
func (t *table[R]) get(pivot *R) (*R, bool) {
	r, ok := t.items.Get(row[R]{rec: pivot})
	return r.rec, ok
}

// put stores rec and returns what it replaced and by how much the digest changes.
func (t *table[R]) put(rec *R) (old *R, delta uint64) {
	r := row[R]{rec: rec, sum: recordSum(t.tag, rec)}
	prev, _ := t.set(r)
	return prev.rec, r.sum - prev.sum
}

// remove drops the record with the key of pivot.
func (t *table[R]) remove(pivot *R) (old *R, delta uint64) {
	if _, ok := t.get(pivot); !ok {
		return nil, 0
	}
	prev := t.drop(row[R]{rec: pivot})
	return prev.rec, -prev.sum
}

func (t *table[R]) all() iter.Seq[*R] { return records(t.tree.all()) }

// from yields the records at and after pivot.
func (t *table[R]) from(pivot *R) iter.Seq[*R] { return records(t.tree.from(row[R]{rec: pivot})) }

func records[R any](rows iter.Seq[row[R]]) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for r := range rows {
			if !yield(r.rec) {
				return
			}
		}
	}
}

func (t *table[R]) count() int { return t.items.Len() }

func (t *table[R]) first() (*R, bool) {
	r, ok := t.items.Min()
	return r.rec, ok
}

// index is a tree of references to records of a table: it adds nothing to the
// digest and is rebuilt on restore.
type index[R any] struct{ tree[*R] }

func newIndex[R any](u *undo, less func(a, b *R) bool) index[R] { return index[R]{newTree(u, less)} }

// move takes old out of the index and puts rec into it, where in says that they belong.
func (x *index[R]) move(old, rec *R, in func(*R) bool) {
	stays := rec != nil && in(rec)
	if old != nil && in(old) && !(stays && x.same(old, rec)) {
		x.drop(old)
	}
	if stays {
		x.set(rec)
	}
}

// buffers are where records are encoded to be hashed.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// recordSum hashes a record for the digest.
func recordSum(tag byte, rec any) uint64 {
	b := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(b)
	b.Reset()
	b.WriteByte(tag)
	if err := encMode.MarshalToBuffer(rec, b); err != nil {
		panic("state: encode record: " + err.Error()) // a record type that cannot be encoded is a fault of the program
	}
	return xxhash.Sum64(b.Bytes())
}

package state

import (
	"bytes"
	"iter"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/fxamacker/cbor/v2"
)

// Encoding returns how records are written, for digests and snapshots: the same way everywhere, assignments as text.
func Encoding() cbor.EncOptions {
	o := cbor.CoreDetEncOptions()
	o.TextMarshaler = cbor.TextMarshalerTextString
	return o
}

var encMode = mustEncMode()

func mustEncMode() cbor.UserBufferEncMode {
	mode, err := Encoding().UserBufferEncMode()
	if err != nil {
		panic(err)
	}
	return mode
}

// row is a record with the hash that it adds to the digest. It names no type: a B-tree
// for each kind of record would make the compiled package three times as big, and dear
// for all that import it.
type row struct {
	rec any // *R
	sum uint64
}

// table is a tree of records that count in the digest.
type table[R any] struct {
	tree[row]
	tag byte // sets equal records of different tables apart in the digest
}

func newTable[R any](u *undo, tag byte, less func(a, b *R) bool) table[R] {
	return table[R]{tree: newTree(u, func(a, b row) bool { return less(a.rec.(*R), b.rec.(*R)) }), tag: tag}
}

// record returns what a row of the table holds, nil if it is none.
func (t *table[R]) record(r row) *R {
	rec, _ := r.rec.(*R)
	return rec
}

// get returns the record with the key of pivot.
func (t *table[R]) get(pivot *R) (*R, bool) {
	r, ok := t.items.Get(row{rec: pivot})
	return t.record(r), ok
}

// put stores rec and returns what it replaced and by how much the digest changes.
func (t *table[R]) put(rec *R) (old *R, delta uint64) {
	r := row{rec: rec, sum: recordSum(t.tag, rec)}
	prev, _ := t.set(r)
	return t.record(prev), r.sum - prev.sum
}

// deferred stores rec as put does, but leaves its hash to hash: it counts nothing until then.
func (t *table[R]) deferred(rec *R) (old *R, delta uint64) {
	prev, _ := t.set(row{rec: rec})
	return t.record(prev), -prev.sum
}

// hash returns what a record adds to the digest that was stored by deferred; nothing, if
// another one stands in its place by now.
func (t *table[R]) hash(rec *R) uint64 {
	r, _ := t.items.Get(row{rec: rec})
	if t.record(r) != rec || r.sum != 0 {
		return 0
	}
	r.sum = recordSum(t.tag, rec)
	t.set(r)
	return r.sum
}

// remove drops the record with the key of pivot.
func (t *table[R]) remove(pivot *R) (old *R, delta uint64) {
	if _, ok := t.get(pivot); !ok {
		return nil, 0
	}
	prev := t.drop(row{rec: pivot})
	return t.record(prev), -prev.sum
}

func (t *table[R]) all() iter.Seq[*R] { return t.records(t.tree.all()) }

// from yields the records at and after pivot.
func (t *table[R]) from(pivot *R) iter.Seq[*R] { return t.records(t.tree.from(row{rec: pivot})) }

// after returns the first record at or after pivot, as tree.at does.
func (t *table[R]) after(pivot *R) (*R, bool) {
	r, ok := t.at(row{rec: pivot})
	return t.record(r), ok
}

func (t *table[R]) records(rows iter.Seq[row]) iter.Seq[*R] {
	return func(yield func(*R) bool) {
		for r := range rows {
			if !yield(t.record(r)) {
				return
			}
		}
	}
}

func (t *table[R]) count() int { return t.items.Len() }

func (t *table[R]) first() (*R, bool) {
	r, ok := t.items.Min()
	return t.record(r), ok
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

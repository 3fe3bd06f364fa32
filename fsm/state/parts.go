package state

import (
	"bytes"
	"io"
	"iter"

	"rampart/fsm/pbs"
)

// A Part is a piece of a snapshot file that is about to be put back. The pieces go
// through the log, so that whoever leads by then can go on, and every replica reads the
// same file.
type Part struct {
	Number uint32 `cbor:"1,keyasint"` // from 0
	Data   []byte `cbor:"2,keyasint"`
}

// Staging tells of the parts.
type Staging struct {
	Key   string   `cbor:"1,keyasint"` // random: tells one attempt from another
	Parts uint32   `cbor:"2,keyasint,omitempty"`
	Bytes uint64   `cbor:"3,keyasint,omitempty"`
	At    pbs.Time `cbor:"4,keyasint,omitempty"` // when the last part came
}

// StagingTTL is how long a file waits for its next part, or to be put back, by the log's
// clock in nanoseconds.
const StagingTTL = pbs.Time(15 * 60 * 1_000_000_000)

// Parts yields the pieces of the file in their order.
func (t *tables) Parts() iter.Seq[*Part] { return t.parts.all() }

// StagedFile reads the pieces as the file that they are.
func (t *tables) StagedFile() io.Reader {
	var all []io.Reader
	for p := range t.Parts() {
		all = append(all, bytes.NewReader(p.Data))
	}
	return io.MultiReader(all...)
}

// PutPart adds the next piece to the file that is staged.
func (tx *Tx) PutPart(data []byte) {
	cl := tx.EditCluster()
	next := *cl.Staging
	_, delta := tx.parts.put(&Part{Number: next.Parts, Data: data})
	tx.digest += delta
	next.Parts, next.Bytes, next.At = next.Parts+1, next.Bytes+uint64(len(data)), tx.Now()
	cl.Staging = &next
}

// Stage begins a file and drops the one before.
func (tx *Tx) Stage(key string) {
	tx.DropParts()
	tx.EditCluster().Staging = &Staging{Key: key, At: tx.Now()}
}

// DropParts forgets the file that is staged.
func (tx *Tx) DropParts() {
	for p := range tx.Parts() {
		_, delta := tx.parts.remove(p)
		tx.digest += delta
	}
	if tx.cluster.Staging != nil {
		tx.EditCluster().Staging = nil
	}
}

package state

import (
	"bytes"
	"cmp"
	"iter"

	"rampart/fsm/pbs"
)

// BlobFresh is how long after a blob began to be handed to the replicas an entry may name it,
// in nanoseconds by the leader's clock. Whoever collects blobs keeps one that nobody names for
// longer, by the log's time: then no entry can come that names it.
const BlobFresh = pbs.Time(15_000_000_000)

// Size returns how many bytes the script has.
func (s *Script) Size() int64 {
	if s.Blob != nil {
		return s.Blob.Size
	}
	return int64(len(s.Body))
}

// byBlob reports whether one script stands before another in the order of blobs: scripts of one content stand together.
func byBlob(a, b *Script) bool {
	if c := bytes.Compare(a.Blob.Sum[:], b.Blob.Sum[:]); c != 0 {
		return c < 0
	}
	return cmp.Less(a.Job, b.Job)
}

func isBlob(s *Script) bool { return s.Blob != nil }

// Blobs yields the blobs that scripts of jobs are, each once.
func (t *tables) Blobs() iter.Seq[pbs.Blob] {
	return func(yield func(pbs.Blob) bool) {
		var last *pbs.Blob
		for s := range t.blobs.all() {
			if last != nil && last.Sum == s.Blob.Sum {
				continue
			}
			if last = s.Blob; !yield(*last) {
				return
			}
		}
	}
}

// NamesBlob reports whether the script of a job is the blob.
func (t *tables) NamesBlob(sum pbs.BlobSum) bool {
	s, ok := t.blobs.at(&Script{Blob: &pbs.Blob{Sum: sum}})
	return ok && s.Blob.Sum == sum
}

// PutScript stores the script of a job.
func (tx *Tx) PutScript(s Script) {
	s.Body = tx.interner.body(s.Body)
	old, delta := tx.scripts.put(&s)
	tx.digest += delta
	tx.blobs.move(old, &s, isBlob)
}

// DeleteScript drops the script of a job.
func (tx *Tx) DeleteScript(id pbs.JobID) {
	old, delta := tx.scripts.remove(&Script{Job: id})
	tx.digest += delta
	tx.blobs.move(old, nil, isBlob)
}

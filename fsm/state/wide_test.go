package state

import (
	"fmt"
	"testing"

	"rampart/fsm/pbs"
)

// A wide job that an entry stores several times, takes back, stores as a narrow one, or
// deletes, counts in the digest as what it is in the end.
func TestDigest_OfWideJobs(t *testing.T) {
	t.Run("sisters", func(t *testing.T) {
		testWide(t, func(j *Job) {
			for n := range wideFrom {
				j.Run.Sisters = append(j.Run.Sisters, pbs.HostName(fmt.Sprintf("h%d", n)))
			}
		})
	})
	t.Run("dependents", func(t *testing.T) {
		testWide(t, func(j *Job) {
			for n := range wideFrom {
				j.Depends.Add(DependBeforeOK, pbs.NewJobID(uint64(1000+n), "srv"))
			}
		})
	})
}

func testWide(t *testing.T, widen func(j *Job)) {
	t.Helper()
	wide := func(seq uint64, comment string) *Job {
		j := &Job{ID: pbs.NewJobID(seq, "srv"), Seq: seq, State: pbs.Running, Run: &Run{MS: "h"}, Comment: comment}
		widen(j)
		return j
	}
	s := NewStore()
	in := func(do func(tx *Tx), commit bool) {
		tx := s.Tx()
		do(tx)
		if commit {
			s.Commit(tx)
		}
	}
	put := func(j *Job) func(*Tx) { return func(tx *Tx) { tx.PutJob(j) } }
	check := func(what string) {
		t.Helper()
		if err := s.Publish().checkDigest(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	entry := func() { s.Begin(s.index+1, 1, 0) }
	entry()
	in(put(wide(1, "a")), true)
	in(put(wide(1, "b")), true)
	in(put(wide(2, "a")), true)
	in(put(wide(2, "taken back")), false)
	check("stored")
	before := s.View().Digest()
	entry()
	in(put(wide(1, "c")), false)
	in(put(wide(3, "a")), false)
	check("taken back")
	if got := s.View().Digest(); got != before {
		t.Errorf("the digest is %x, and was %x before what was taken back", got, before)
	}
	entry()
	in(put(wide(1, "d")), true)
	in(func(tx *Tx) { tx.PutJob(&Job{ID: pbs.NewJobID(1, "srv"), Seq: 1, State: pbs.Queued}) }, true)
	in(put(wide(2, "e")), true)
	in(func(tx *Tx) { tx.DeleteJob(pbs.NewJobID(2, "srv")) }, true)
	check("narrow again, and deleted")
	entry()
	in(put(wide(1, "f")), true)
	in(func(tx *Tx) { tx.KeepJob(wide(1, "g")) }, true)
	check("kept")
}

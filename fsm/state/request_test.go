package state

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rampart/fsm/pbs"
)

// TestExpire_KeepsUp lets many more jobs go between two ticks than a tick drops.
func TestExpire_KeepsUp(t *testing.T) {
	for name, end := range map[string]func(tx *Tx, id pbs.JobID){
		"tombstones": func(tx *Tx, id pbs.JobID) { tx.DeleteJob(id) },
		"history":    func(tx *Tx, _ pbs.JobID) { tx.ExpireHistory(pbs.Time(time.Hour)) },
	} {
		s := NewStore()
		for seq := range uint64(4000) {
			s.Begin(seq+1, 1, pbs.Time(time.Duration(seq+1)*5*time.Second))
			tx := s.Tx()
			id := pbs.NewJobID(seq, "srv")
			tx.PutJob(&Job{ID: id, Seq: seq, State: pbs.Finished, Ended: tx.Now()})
			end(tx, id)
			s.Commit(tx)
		}
		v := s.Publish()
		if got, most := v.JobCount()+v.tombstones.count(), 2*int(time.Hour/(5*time.Second)); got > most {
			t.Errorf("%s: %d records are left, want at most %d", name, got, most)
		}
	}
}

// TestTombstones_TellWhatTheyForgot: a deletion has its tombstone, or the state knows
// that it cannot tell.
func TestTombstones_TellWhatTheyForgot(t *testing.T) {
	s := NewStore()
	at := func(index uint64, minutes int, do func(tx *Tx)) *View {
		s.Begin(index, 1, pbs.Time(time.Duration(minutes)*time.Minute))
		tx := s.Tx()
		do(tx)
		s.Commit(tx)
		return s.Publish()
	}
	remove := func(seq uint64) func(*Tx) {
		return func(tx *Tx) { tx.DeleteJob(pbs.NewJobID(seq, "srv")) }
	}
	v := at(1, 1, func(tx *Tx) {
		for seq := range uint64(4) {
			tx.PutJob(&Job{ID: pbs.NewJobID(seq, "srv"), Seq: seq})
		}
	})
	if !v.Remembers(0) {
		t.Error("deletions are forgotten before there was one")
	}
	at(2, 2, remove(0))
	at(3, 3, remove(1))
	v = at(4, 20, func(tx *Tx) { tx.Expire(0) })
	if v.Remembers(2) || !v.Remembers(3) {
		t.Errorf("remembers from 2: %v, from 3: %v; want from 3 only", v.Remembers(2), v.Remembers(3))
	}
	v = at(5, 21, remove(2))
	if v.Remembers(2) || !v.Remembers(3) {
		t.Error("another deletion changes what is forgotten")
	}
	var told []pbs.JobID
	for g := range v.Tombstones(3) {
		told = append(told, g.Job)
	}
	if !slices.Equal(told, []pbs.JobID{pbs.NewJobID(2, "srv")}) {
		t.Errorf("deleted since entry 3: %v", told)
	}
}

// TestChanged_SinceAnEntry: vnodes and reservations are told once, at their last change, and not when they are gone.
func TestChanged_SinceAnEntry(t *testing.T) {
	s := NewStore()
	write := func(index uint64, do func(*Tx)) *View {
		s.Begin(index, 1, pbs.Time(index))
		tx := s.Tx()
		do(tx)
		s.Commit(tx)
		return s.Publish()
	}
	resv := func(seq uint64) *Reservation {
		return &Reservation{ID: pbs.NewReservationID('R', seq, "srv"), Seq: seq}
	}
	write(1, func(tx *Tx) {
		for n, name := range []pbs.VnodeName{"a", "b", "c"} {
			tx.PutVnode(&Vnode{Name: name, Seq: uint64(n + 1)})
		}
		tx.PutReservation(resv(7))
		tx.PutReservation(resv(8))
	})
	write(2, func(tx *Tx) {
		tx.PutVnode(&Vnode{Name: "b", Seq: 2, Flags: VnodeOffline})
		tx.PutReservation(resv(8))
	})
	v := write(3, func(tx *Tx) {
		tx.PutVnode(&Vnode{Name: "a", Seq: 1, Flags: VnodeOffline})
		tx.DeleteVnode("c")
		tx.DeleteReservation(resv(7))
	})
	for index, want := range map[uint64]string{0: "b a R8", 1: "b a R8", 2: "a", 3: ""} {
		var got []string
		for vn := range v.VnodesChanged(index) {
			got = append(got, string(vn.Name))
		}
		for r := range v.ReservationsChanged(index) {
			got = append(got, strings.TrimSuffix(string(r.ID), ".srv"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("changed after %d: %v, want %s", index, got, want)
		}
	}
	if v.ReservationCount() != 1 || v.VnodeCount() != 2 {
		t.Errorf("%d reservations and %d vnodes are left", v.ReservationCount(), v.VnodeCount())
	}
}

// TestJobsChanged_SinceAnEntry: each job is told once, at its last change.
func TestJobsChanged_SinceAnEntry(t *testing.T) {
	s := NewStore()
	put := func(index uint64, seqs ...uint64) *View {
		s.Begin(index, 1, pbs.Time(index))
		tx := s.Tx()
		for _, seq := range seqs {
			tx.PutJob(&Job{ID: pbs.NewJobID(seq, "srv"), Seq: seq})
		}
		s.Commit(tx)
		return s.Publish()
	}
	put(1, 0, 1, 2, 3)
	put(2, 1)
	v := put(3, 0, 2)
	for _, c := range []struct {
		index, seq uint64
		want       []uint64
	}{
		{0, 0, []uint64{3, 1, 0, 2}},
		{1, 4, []uint64{1, 0, 2}},
		{3, 0, []uint64{0, 2}},
		{3, 1, []uint64{2}},
		{3, 3, nil},
	} {
		var got []uint64
		for j := range v.JobsChanged(c.index, c.seq, 0) {
			got = append(got, j.Seq)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from job %d of entry %d: %v, want %v", c.seq, c.index, got, c.want)
		}
	}
}

// Outcomes are remembered for a time, many in any case, and never more than a bound.
func TestRemember_Bounds(t *testing.T) {
	for _, c := range []struct {
		outcomes int
		age      pbs.Time
		want     bool
	}{
		{requestKeep, 10 * requestTTL, false},
		{requestKeep + 1, requestTTL, true},
		{requestKeep + 1, requestTTL - 1, false},
		{RequestMost, requestTTL - 1, false},
		{RequestMost + 1, 0, true},
	} {
		if got := forgettable(c.outcomes, c.age); got != c.want {
			t.Errorf("%d outcomes, the oldest %d s old: %v", c.outcomes, c.age/1e9, got)
		}
	}
}

// An outcome that had to be forgotten early leaves the time of its id, so that no repeat of it is
// taken for a new request; one that was old enough leaves nothing.
func TestForget_EarlyRaisesTheFloor(t *testing.T) {
	const young, old = pbs.RequestID("00000000-03e8-7000-8000-000000000000"), pbs.RequestID("00000000-07d0-7000-8000-000000000000")
	s := NewStore()
	s.Begin(1, 1, 2*requestTTL)
	tx := s.Tx()
	tx.forget(&Request{ID: old, At: requestTTL})
	if tx.cluster.RequestFloor != 0 {
		t.Errorf("floor %d after one that was old enough", tx.cluster.RequestFloor)
	}
	tx.forget(&Request{ID: young, At: 2*requestTTL - 1})
	s.Commit(tx)
	if want := pbs.Time(time.Second) + 1; s.RequestFloor() != want {
		t.Errorf("floor %d, want %d", s.RequestFloor(), want)
	}
}

// TestRemember_WhatIsAwaited: the outcome of a request is kept as long as somebody may wait for the decision of its reservation.
func TestRemember_WhatIsAwaited(t *testing.T) {
	s := NewStore()
	asker := pbs.User{Name: "ann"}
	id := pbs.ReservationID("R1.srv")
	index := uint64(0)
	do := func(at time.Duration, change func(tx *Tx)) {
		index++
		s.Begin(index, 1, pbs.Time(at))
		tx := s.Tx()
		change(tx)
		s.Commit(tx)
	}
	flood := func(at time.Duration) {
		do(at, func(tx *Tx) {
			for i := range requestKeep + 10 {
				tx.Remember(&Request{Asker: asker, ID: pbs.RequestID(strconv.Itoa(int(index)*10*requestKeep + i))})
			}
		})
	}
	do(time.Minute, func(tx *Tx) {
		tx.PutReservation(&Reservation{ID: id, Seq: 1, State: pbs.ResvUnconfirmed, Occurrences: []Occurrence{{}}})
		tx.Remember(&Request{Asker: asker, ID: "waits", Result: Result{Reservation: id}})
		tx.Remember(&Request{Asker: asker, ID: "other", Result: Result{Reservation: "R2.srv"}})
	})
	flood(2 * time.Minute)
	for n := range 3 {
		flood(time.Duration(n+1) * time.Hour)
		if _, ok := s.Remembered(asker, "waits"); !ok {
			t.Fatalf("after %d h the outcome of a request is forgotten whose reservation is undecided", n+1)
		}
		if _, ok := s.Remembered(asker, "other"); ok {
			t.Fatal("what nobody waits for is remembered")
		}
	}
	do(4*time.Hour, func(tx *Tx) {
		r, _ := tx.Reservation(id)
		next := *r
		next.State = pbs.ResvConfirmed
		tx.PutReservation(&next)
	})
	flood(5 * time.Hour)
	flood(6 * time.Hour)
	if _, ok := s.Remembered(asker, "waits"); ok {
		t.Error("the outcome is remembered when it was decided long ago")
	}
}

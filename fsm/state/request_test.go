package state

import (
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
